package random

import (
	"fmt"
	"math/rand/v2"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// A state is an int64 vector: the lower half of the counter, its upper half,
// and the key. That of StatefulStandardNormal has the number of the algorithm
// before these. The layout, and 256 blocks for each number (philox.Reserved),
// are TensorFlow's and must stay: checkpoints contain states.

// resources are the ops whose state is in a variable: the counter and the key,
// as in tf.random.Generator. The last one draws first states and has none.
var resources = []engine.Kernel{
	{Op: "StatefulUniform", Types: engine.Types{"dtype": elementwise.Floating()}, Run: fromVariable(uniform, noLimits)},
	{Op: "StatefulStandardNormalV2", Types: engine.Types{"dtype": elementwise.Floating()}, Run: fromVariable(normal, noLimits), Precision: engine.Rounded},
	{Op: "StatefulTruncatedNormal", Types: engine.Types{"dtype": elementwise.Floating()}, Run: fromVariable(truncated, noLimits), Precision: engine.Rounded},
	{Op: "StatefulUniformInt", Types: engine.Types{"dtype": wholes[:2]}, Run: fromVariable(uniformIntOf(3), limitsAt(3))},
	{Op: "StatefulUniformFullInt", Types: engine.Types{"dtype": wholes}, Run: fromVariable(fullInt, noLimits)},
	{Op: "StatefulStandardNormal", Types: engine.Types{"dtype": elementwise.Floating()}, Run: fromTagged, Precision: engine.Rounded},
	{Op: "RngReadAndSkip", Run: readAndSkip},
	{Op: "RngSkip", Run: rngSkip},
	{Op: "NonDeterministicInts", Types: engine.Types{"dtype": wholes}, Run: nonDeterministic},
}

// advance calls f with the state in a variable, from its element at on, and
// advances the state by the blocks that f returns. It returns the generator of
// the state before. After an error of its own or of f the state is unchanged.
func advance(v *trackable.Variable, at int, f func(state []int64) (blocks uint64, err error)) (g philox.Generator, err error) {
	err = v.Update(func(t *tensor.Tensor) error {
		if t.DType() != tensor.Int64 || len(t.Shape()) != 1 || t.Len() < at+3 {
			return fmt.Errorf("the state is %v%v, not int64[%d]", t.DType(), t.Shape(), at+3)
		}
		state := tensor.Values[int64](t)
		n, err := f(state)
		if err != nil {
			return err
		}
		state = state[at:]
		g = philox.New(uint64(state[2]), uint64(state[0]), uint64(state[1]))
		next := g
		next.Skip(n)
		_, lo, hi := next.Words()
		state[0], state[1] = int64(lo), int64(hi)
		return nil
	})
	return g, err
}

// fromVariable runs a draw of an op whose inputs are a variable, an algorithm
// and a shape. An error of check leaves the state unchanged, as in TensorFlow.
func fromVariable(f draw, check func(*engine.Call, tensor.DType) error) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if c.NumIn() < 3 {
			return fmt.Errorf("takes a variable, an algorithm and a shape, %d inputs were given", c.NumIn())
		}
		if err := c.NeedTensors(1); err != nil {
			return err
		}
		if err := needPhilox(c.In(1)); err != nil {
			return err
		}
		return drawFrom(c, f, 2, 0, check, func([]int64) error { return nil })
	}
}

// fromTagged draws normal numbers by a state whose first element is the
// algorithm.
func fromTagged(c *engine.Call) error {
	if c.NumIn() != 2 {
		return fmt.Errorf("takes a variable and a shape, %d inputs were given", c.NumIn())
	}
	if err := c.NeedTensors(1); err != nil {
		return err
	}
	return drawFrom(c, normal, 1, 1, noLimits, func(state []int64) error { return needPhilox(tensor.Scalar(state[0])) })
}

// drawFrom fills an output, whose shape is an input, by the state in variable 0
// from its element at on. check gets the type of the numbers, and known the state. The
// state advances before the numbers are drawn, so a draw that fails after these checks
// has used up its numbers.
func drawFrom(c *engine.Call, f draw, shape, at int, check func(*engine.Call, tensor.DType) error, known func(state []int64) error) error {
	v, err := c.NeedVar(0)
	if err != nil {
		return err
	}
	dims, err := shapes.Dims(c.In(shape), "the shape", 0)
	if err != nil {
		return err
	}
	d := c.Attrs().Type("dtype", tensor.Float32)
	if c.NumIn() == 5 { // StatefulUniformInt: the limits of the range have the type
		d = c.In(3).DType()
	} else if c.Op() == "StatefulUniformFullInt" {
		d = c.Attrs().Type("dtype", tensor.Uint64)
	}
	if err := check(c, d); err != nil {
		return err
	}
	out, err := c.Alloc(0, d, dims)
	if err != nil {
		return err
	}
	g, err := advance(v, at, func(state []int64) (uint64, error) {
		return uint64(out.Len()) * philox.Reserved, known(state)
	})
	if err != nil {
		return err
	}
	c.Refs().Settle()
	return f(c, g, out)
}

// stateVariable returns the variable that holds the state of an op's generator, the
// first of n inputs; the second one is the algorithm.
func stateVariable(c *engine.Call, n int) (*trackable.Variable, error) {
	v, err := c.NeedTarget(n)
	if err != nil {
		return nil, err
	}
	return v, needPhilox(c.In(1))
}

// readAndSkip returns a generator's state, and advances it by 256 blocks for
// each number to draw. It returns the state from before.
func readAndSkip(c *engine.Call) error {
	out, err := c.AllocZero(0, tensor.Int64, tensor.Shape{3})
	if err != nil {
		return err
	}
	return skip(c, tensor.Uint64, func(state []int64) { copy(tensor.Values[int64](out), state) })
}

// rngSkip advances a generator's state by the same blocks as [readAndSkip].
func rngSkip(c *engine.Call) error { return skip(c, tensor.Int64, func([]int64) {}) }

// skip advances the state in variable 0 as a draw of n numbers does. n is input 2, a
// scalar of type d. It calls read with the state before.
func skip(c *engine.Call, d tensor.DType, read func(state []int64)) error {
	v, err := stateVariable(c, 3)
	if err != nil {
		return err
	}
	delta := c.In(2)
	if delta.DType() != d || delta.Len() != 1 {
		return fmt.Errorf("delta is %v%v, not a scalar of %v", delta.DType(), delta.Shape(), d)
	}
	n, err := words64(delta)
	if err != nil {
		return err
	}
	_, err = advance(v, 0, func(state []int64) (uint64, error) {
		read(state[:3])
		return n[0] * philox.Reserved, nil
	})
	return err
}

// nonDeterministic returns unpredictable numbers, from which generators make
// their first states.
func nonDeterministic(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	dims, err := shapes.Dims(c.In(0), "the shape", 0)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, c.Attrs().Type("dtype", tensor.Int64), dims)
	if err != nil {
		return err
	}
	return fullInt(c, philox.New(rand.Uint64(), rand.Uint64(), rand.Uint64()), out)
}
