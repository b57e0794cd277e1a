package xla

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of XlaConv and XlaConvV2.

// The fields of convolution_dimension_numbers.
const (
	kernelIn, kernelOut, kernelSpatial   protowire.Number = 3, 4, 6
	inputBatch, inputFeature, inputSpace protowire.Number = 7, 8, 11
	outBatch, outFeature, outSpace       protowire.Number = 9, 10, 12
)

// convolution has the attributes of a node of XlaConv, and the sizes of its inputs in a call.
type convolution struct {
	numbers   shape.XlaNumbers
	preferred tensor.DType
	batches   int // groups of images

	window         *shape.XlaWindow
	in, out        tensor.Shape // of the spatial dimensions
	n, features    int          // images and features of the input
	results, group int          // features of the output, groups of features
}

// conv prepares convolutions over any dimensions.
func conv(n *engine.Node) (func(*engine.Call) error, error) {
	l, err := shape.ParseXlaNumbers("dimension_numbers", []byte(n.Attrs.String("dimension_numbers", "")))
	if err != nil {
		return nil, err
	}
	batches := int(n.Attrs.Int("batch_group_count", 1))
	if batches < 1 || batches > 1<<30 {
		return nil, fmt.Errorf("batch_group_count is %d", batches)
	}
	preferred := n.Attrs.Type("preferred_element_type", tensor.Invalid)
	return func(c *engine.Call) error {
		v := convolution{numbers: l, preferred: preferred, batches: batches}
		return v.run(c)
	}, nil
}

// order lists the dimensions of a tensor of a rank: two single ones, then the spatial ones.
func (v *convolution) order(what string, rank int, first, second, space protowire.Number) ([]int, error) {
	order := slices.Concat([]int{v.numbers.One(first), v.numbers.One(second)}, v.numbers[space])
	sorted := slices.Clone(order)
	slices.Sort(sorted)
	for i, d := range sorted {
		if d != i || len(order) != rank {
			return nil, fmt.Errorf("the %s dimensions are %v of %d", what, order, rank)
		}
	}
	return order, nil
}

// run computes output 0. It views all tensors with the image first and the features last.
func (v *convolution) run(c *engine.Call) error {
	if err := c.Need(7); err != nil {
		return err
	}
	x, k := c.In(0), c.In(1)
	rank := len(x.Shape())
	if rank < 2 || len(k.Shape()) != rank {
		return fmt.Errorf("a kernel of shape %v for an input of shape %v", k.Shape(), x.Shape())
	}
	orderX, err := v.order("input", rank, inputBatch, inputFeature, inputSpace)
	if err != nil {
		return err
	}
	orderK, err := v.order("kernel", rank, kernelOut, kernelIn, kernelSpatial)
	if err != nil {
		return err
	}
	orderOut, err := v.order("output", rank, outBatch, outFeature, outSpace)
	if err != nil {
		return err
	}
	a, b := permuted(x, last(orderX)), permuted(k, last(orderK))
	v.n, v.features, v.results = x.Shape()[orderX[0]], x.Shape()[orderX[1]], k.Shape()[orderK[0]]
	v.in = a.dims[1 : rank-1]
	if err := v.windows(c, b.dims[1:rank-1]); err != nil {
		return err
	}
	if err := v.groups(c, k.Shape()[orderK[1]]); err != nil {
		return err
	}
	dims := make(tensor.Shape, rank)
	for i, d := range orderOut {
		dims[d] = slices.Concat(tensor.Shape{v.n / v.batches, v.results}, v.out)[i]
	}
	d := v.preferred
	if d == tensor.Invalid {
		d = x.DType()
	}
	out, err := c.Alloc(0, d, dims)
	if err != nil || out.Len() == 0 {
		return err
	}
	if err := c.Afford(16 * int64(x.Len()+k.Len()+out.Len())); err != nil {
		return err
	}
	to := permuted(out, last(orderOut))
	return v.convolve(c, out, a, b, to)
}

// last moves the second dimension of an order after the others.
func last(order []int) []int { return slices.Concat(order[:1], order[2:], order[1:2]) }

// windows reads the inputs that describe the window.
func (v *convolution) windows(c *engine.Call, size tensor.Shape) error {
	w, err := windowOf(c, len(size), -1, 2, 4, 5, 3)
	if err != nil {
		return err
	}
	w.Size = make([]int64, len(size))
	for d, n := range size {
		w.Size[d] = int64(n)
	}
	v.window = w
	v.out, err = w.Result(v.in)
	return err
}

// groups reads the number of groups and checks it against the sizes.
func (v *convolution) groups(c *engine.Call, taken int) error {
	n, err := shapes.Int(c.In(6), "feature_group_count")
	if err != nil {
		return err
	}
	v.group = int(n)
	switch {
	case n < 1 || n > 1<<30 || v.features != taken*v.group:
		return fmt.Errorf("%d groups of %d features for an input of %d", n, taken, v.features)
	case v.results%v.group != 0 || v.results%v.batches != 0 || v.n%v.batches != 0:
		return fmt.Errorf("%d outputs and %d images can't be cut into %d and %d groups", v.results, v.n, v.group, v.batches)
	case v.group > 1 && v.batches > 1:
		return fmt.Errorf("feature_group_count is %d and batch_group_count is %d; only one can be above 1", v.group, v.batches)
	}
	return nil
}

// convolve computes in double precision.
func (v *convolution) convolve(c *engine.Call, out *tensor.Tensor, a, b, to view) error {
	x, err := a.t.Float64s()
	if err != nil {
		return err
	}
	y, err := b.t.Float64s()
	if err != nil {
		return err
	}
	return storeFloats(out, v.convolved(c, to, gathered(a, x), gathered(b, y)))
}

// convolved returns the elements of the output in the order of its computation.
// x has features last, y its input features.
func (v *convolution) convolved(c *engine.Call, to view, x, y []float64) []float64 {
	out := engine.Zeroed[float64](c, shapes.Count(to.dims))
	places, taps, taken := shapes.Count(v.out), shapes.Count(sizes(v.window.Size)), v.features/v.group
	perImage := shapes.Count(v.in) * v.features
	c.Parallel(v.n/v.batches*places, float64(taps*v.results*max(1, taken))*2, func(lo, hi int) {
		index, at, tap := make([]int, len(to.dims)), make([]int, len(v.out)), make([]int, len(v.out))
		for p := lo; p < hi; p++ {
			unravel(p%places, v.out, at)
			index[0] = p / places
			copy(index[1:], at)
			for f := range v.results {
				image := index[0]
				if v.batches > 1 {
					image += f / (v.results / v.batches) * (v.n / v.batches)
				}
				from := f / (v.results / v.group) * taken
				var sum float64
				for t := range taps {
					unravel(t, sizes(v.window.Size), tap)
					if q, ok := v.source(at, tap); ok {
						row := x[image*perImage+q*v.features+from:][:taken]
						for i, w := range y[(f*taps+t)*taken:][:taken] {
							sum += row[i] * w
						}
					}
				}
				index[len(index)-1] = f
				out[place(index, to.strides)] = sum
			}
		}
	})
	return out
}

// source returns the index in the input of a window's tap, or false if the tap
// is padding.
func (v *convolution) source(at, tap []int) (int, bool) {
	place, w := 0, v.window
	for d, n := range v.in {
		i := int64(at[d])*w.Stride[d] + int64(tap[d])*w.Dilation[d] - w.Low[d]
		if i < 0 || i%w.Base[d] != 0 || i/w.Base[d] >= int64(n) {
			return 0, false
		}
		place = place*n + int(i/w.Base[d])
	}
	return place, true
}

// sizes returns a list as a shape.
func sizes(list []int64) tensor.Shape {
	out := make(tensor.Shape, len(list))
	for i, n := range list {
		out[i] = int(n)
	}
	return out
}

// unravel writes the index of element i of a tensor.
func unravel(i int, dims tensor.Shape, index []int) {
	for d := len(dims) - 1; d >= 0; d-- {
		index[d] = i % dims[d]
		i /= dims[d]
	}
}
