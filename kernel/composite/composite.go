// Package composite implements the kernels of ops that are computed by other
// ops. Each is a function of TensorFlow's ops, compiled for the node with the
// facts of its inputs. The function runs the kernels of these ops.
package composite

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// body is the function of an op while it is built. The first error stays.
type body struct {
	node *engine.Node
	f    *graph.Function
	err  error
}

// op adds a node and returns its outputs. in are the node's inputs; name is an
// op of TensorFlow's. After an error it does nothing more, so that builders
// need no checks.
func (b *body) op(name string, attrs graph.Attrs, in ...graph.Output) []graph.Output {
	def := graph.LookupOp(name)
	n := &graph.Node{Op: name, Def: def, In: in}
	if b.err == nil {
		facts := make([]graph.Fact, len(in))
		for i, o := range in {
			facts[i] = o.Fact()
		}
		n.Attrs, n.Out, b.err = def.Bind(attrs, facts)
	}
	if b.err == nil {
		b.err = b.f.Graph.Add(n)
	}
	out := make([]graph.Output, max(len(n.Out), len(def.Outputs)))
	for i := range out {
		out[i] = n.Output(i)
	}
	if b.err != nil {
		n.Out = make([]graph.Fact, len(out)) // so that the next nodes can be built
	}
	return out
}

// one adds a node of one output.
func (b *body) one(name string, in ...graph.Output) graph.Output { return b.op(name, nil, in...)[0] }

// constant adds a constant.
func (b *body) constant(t *tensor.Tensor) graph.Output {
	return b.op("Const", graph.Attrs{graph.Tensor("value", t), graph.Type("dtype", t.DType())})[0]
}

// number adds a scalar of type d.
func (b *body) number(d tensor.DType, v float64) graph.Output {
	t, err := tensor.Cast(tensor.Scalar(v), d)
	if err != nil && b.err == nil {
		b.err = err
	}
	if err != nil {
		t = tensor.Scalar(v)
	}
	return b.constant(t)
}

// cast adds a conversion.
func (b *body) cast(x graph.Output, d tensor.DType) graph.Output {
	if x.Fact().DType == d {
		return x
	}
	return b.op("Cast", graph.Attrs{graph.Type("DstT", d)}, x)[0]
}

// sum adds up x over dimensions.
func (b *body) sum(x graph.Output, axes ...int32) graph.Output {
	return b.one("Sum", x, b.constant(tensor.Vector(axes...)))
}

// attrs returns the node's attributes of these names, as far as it has them.
func (b *body) attrs(names ...string) graph.Attrs {
	var out graph.Attrs
	for _, name := range names {
		for _, a := range b.node.Attrs {
			if a.Name == name {
				out = append(out, a)
			}
		}
	}
	return out
}

// of returns the preparation of an op by the function that build makes. inputs is
// the number of inputs that the op must have; a negative one accepts any number.
// The error of a part is the error of the op.
func of(inputs int, build func(b *body, in []graph.Output) []graph.Output) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		if inputs >= 0 && len(n.In) != inputs {
			return nil, fmt.Errorf("takes %d inputs, %d were given", inputs, len(n.In))
		}
		if n.Functions == nil {
			return nil, fmt.Errorf("can't be prepared alone: its parts have separate kernels")
		}
		b := &body{node: n, f: graph.NewFunction("_" + n.Op)}
		in := make([]graph.Output, len(n.In))
		for i, f := range n.In {
			arg, err := b.f.AddArg("", graph.Fact{DType: f.DType})
			if err != nil {
				return nil, err
			}
			in[i] = arg
		}
		for _, o := range build(b, in) {
			b.f.AddResult("", o)
		}
		if b.err != nil {
			return nil, b.err
		}
		f, err := n.Functions.Compile(graph.Callee{Function: b.f}, n.In)
		if err != nil {
			return nil, err
		}
		return func(c *engine.Call) error {
			if c.NumIn() != len(in) {
				return fmt.Errorf("takes %d inputs, %d were given", len(in), c.NumIn())
			}
			out, err := f.Call(c, c.Refs().TakeFrom(0), nil)
			if err != nil {
				return err
			}
			for i, v := range out {
				c.Refs().Output(i, v)
			}
			return nil
		}, nil
	}
}
