package composite

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of Conv, as a graph of Conv2D or Conv3D.

// prepareConv prepares Conv, which is Conv2D or Conv3D over images in any number of
// batch dimensions.
func prepareConv(n *engine.Node) (func(*engine.Call) error, error) {
	attrs, op, err := shape.ConvAttrs(n.Attrs)
	if err != nil {
		return nil, err
	}
	batch := n.Attrs.Int("batch_dims", 1)
	if batch < 0 || batch > tensor.MaxRank {
		return nil, fmt.Errorf("batch_dims is %d", batch)
	}
	return of(2, func(b *body, in []graph.Output) []graph.Output {
		x, filter := in[0], in[1]
		if batch == 1 {
			return b.op(op, attrs, x, filter)
		}
		dims := b.one("Shape", x)
		flat := b.one("Reshape", x, b.joined(b.product(b.part(dims, 0, int32(batch))), b.part(dims, int32(batch), -1)))
		y := b.op(op, attrs, flat, filter)[0]
		return []graph.Output{b.one("Reshape", y, b.joined(b.part(dims, 0, int32(batch)), b.part(b.one("Shape", y), 1, -1)))}
	})(n)
}

// part adds the elements of a vector from an index on, n of them or all.
func (b *body) part(v graph.Output, from, n int32) graph.Output {
	return b.one("Slice", v, b.constant(tensor.Vector(from)), b.constant(tensor.Vector(n)))
}

// joined returns the vectors x and y, one after the other.
func (b *body) joined(x, y graph.Output) graph.Output {
	return b.one("ConcatV2", x, y, b.constant(tensor.Scalar(int32(0))))
}

// product adds the product of a vector, as a vector.
func (b *body) product(v graph.Output) graph.Output {
	return b.op("Prod", graph.Attrs{graph.Bool("keep_dims", true)}, v, b.constant(tensor.Vector[int32](0)))[0]
}
