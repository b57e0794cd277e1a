package random

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/kernel/internal/draws"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of RandomUniform, RandomStandardNormal, TruncatedNormal and
// RandomUniformInt.

// stateful are the ops whose nodes have a random state each. The first call
// draws from the state of the seeds, each later one from the state after the
// call before.
var stateful = []engine.Kernel{
	{Op: "RandomUniform", Types: engine.Types{"dtype": elementwise.Floating()}, Prepare: drawing(uniform, noLimits)},
	{Op: "RandomStandardNormal", Types: engine.Types{"dtype": elementwise.Floating()}, Prepare: drawing(normal, noLimits), Precision: engine.Rounded},
	{Op: "TruncatedNormal", Types: engine.Types{"dtype": elementwise.Floating()}, Prepare: drawing(truncated, noLimits), Precision: engine.Rounded},
	{Op: "RandomUniformInt", Types: engine.Types{"Tout": wholes}, Prepare: drawing(uniformIntOf(1), limitsAt(1))},
}

// drawing prepares an op that fills a tensor whose shape is input 0. An error of
// check leaves the state unchanged, as in TensorFlow.
func drawing(f draw, check func(*engine.Call, tensor.DType) error) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		find := draws.Of(n)
		d := n.Attrs.Type("dtype", tensor.Float32)
		if n.Op == "RandomUniformInt" {
			d = n.Attrs.Type("Tout", tensor.Int32)
		}
		return func(c *engine.Call) error {
			if err := c.NeedTensors(0); err != nil {
				return err
			}
			if c.NumIn() == 0 {
				return fmt.Errorf("takes a shape")
			}
			dims, err := shapes.Dims(c.In(0), "the shape", 0)
			if err != nil {
				return err
			}
			out, err := c.Alloc(0, d, dims)
			if err != nil || out.Len() == 0 {
				return err
			}
			if err := check(c, d); err != nil {
				return err
			}
			return f(c, find(c).Reserve(uint64(out.Len())*philox.Reserved), out)
		}, nil
	}
}

// uniformIntOf draws integers between the scalars in inputs at and at+1.
func uniformIntOf(at int) draw {
	check := limitsAt(at)
	return func(c *engine.Call, g philox.Generator, out *tensor.Tensor) error {
		if out.Len() == 0 {
			return nil // of any range, as in TensorFlow
		}
		if err := check(c, out.DType()); err != nil {
			return err
		}
		return between(c, g, out, c.In(at), c.In(at+1))
	}
}

// limitsAt checks that the last two inputs, at and at+1, limit a range of integers of
// a type.
func limitsAt(at int) func(*engine.Call, tensor.DType) error {
	return func(c *engine.Call, d tensor.DType) error {
		if c.NumIn() != at+2 {
			return fmt.Errorf("takes %d inputs, %d were given", at+2, c.NumIn())
		}
		return limits(d, c.In(at), c.In(at+1))
	}
}

// noLimits returns nil, for draws that have no parameters.
func noLimits(*engine.Call, tensor.DType) error { return nil }
