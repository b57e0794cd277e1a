package quant

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of FakeQuantWithMinMaxArgs, FakeQuantWithMinMaxVars and
// FakeQuantWithMinMaxVarsPerChannel, and of their gradients. The steps in
// float32 are those of TensorFlow's fake_quant_ops_functor.h, and only
// FakeQuantWithMinMaxVars divides by the scale instead of multiplying by the
// inverse. They decide levels, so they must stay.

// levels are the integers that floats are rounded to.
type levels struct{ lowest, highest float32 }

// nudged is a range of floats, moved so that zero is one of the levels.
type nudged struct {
	min, max, scale, inverse float32
	zero                     float32 // the level of zero
}

// nudge moves a range so that zero is one of the levels.
func (l levels) nudge(least, most float32) nudged {
	n := nudged{scale: (most - least) / (l.highest - l.lowest), inverse: (l.highest - l.lowest) / (most - least)}
	zero := l.lowest - least/n.scale
	switch {
	case zero < l.lowest:
		zero = l.lowest
	case zero > l.highest:
		zero = l.highest
	default:
		zero = float32(math.Round(float64(zero)))
	}
	n.min, n.max = (l.lowest-zero)*n.scale, (l.highest-zero)*n.scale
	n.zero = floor(float32(-n.min*n.inverse) + 0.5)
	return n
}

// floor rounds down to an integer.
func floor(x float32) float32 { return float32(math.Floor(float64(x))) }

// shifted returns x, clamped to the range, minus the least number of the range.
func (n *nudged) shifted(x float32) float32 { return max(min(x, n.max), n.min) - n.min }

// prepareFake reads the levels from num_bits and narrow_range and prepares run
// with them.
func prepareFake(run func(*engine.Call, levels) error) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		bits := n.Attrs.Int("num_bits", 8)
		if bits < 2 || bits > 16 {
			return nil, fmt.Errorf("num_bits must be between 2 and 16, inclusive, it is %d", bits)
		}
		l := levels{highest: float32(int(1)<<bits - 1)}
		if n.Attrs.Bool("narrow_range") {
			l.lowest = 1
		}
		return func(c *engine.Call) error { return run(c, l) }, nil
	}
}

// single returns the elements of the inputs, which must be floats.
func single(c *engine.Call, n int) ([][]float32, error) {
	if err := c.Need(n); err != nil {
		return nil, err
	}
	out := make([][]float32, n)
	for i := range out {
		if d := c.In(i).DType(); d != tensor.Float32 {
			return nil, fmt.Errorf("input %d is %v, not float32", i, d)
		}
		out[i] = tensor.Values[float32](c.In(i))
	}
	return out, nil
}

// ofAttrs returns the range in the attributes.
func (l levels) ofAttrs(c *engine.Call) (nudged, error) {
	least, most := float32(c.Attrs().Float("min", -6)), float32(c.Attrs().Float("max", 6))
	if !(least < most) {
		return nudged{}, fmt.Errorf("min has to be smaller than max, was: %v >= %v", least, most)
	}
	return l.nudge(least, most), nil
}

// fakeArgs rounds input 0 to the levels of the range in the attributes.
func fakeArgs(c *engine.Call, l levels) error {
	in, err := single(c, 1)
	if err != nil {
		return err
	}
	n, err := l.ofAttrs(c)
	if err != nil {
		return err
	}
	out, err := c.AllocOver(0, 0, tensor.Float32, c.In(0).Shape())
	if err != nil {
		return err
	}
	y := tensor.Values[float32](out)
	c.Parallel(len(y), 3, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y[i] = floor(float32(n.shifted(in[0][i])*n.inverse)-n.zero+0.5) * n.scale
		}
	})
	return nil
}

// fakeArgsGrad passes the gradient, input 0, if input 1 is in the range.
func fakeArgsGrad(c *engine.Call, l levels) error {
	in, err := single(c, 2)
	if err != nil {
		return err
	}
	if !c.In(0).Shape().Equal(c.In(1).Shape()) {
		return fmt.Errorf("gradient and input must be the same size: %v and %v", c.In(0).Shape(), c.In(1).Shape())
	}
	n, err := l.ofAttrs(c)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.Float32, c.In(0).Shape())
	if err != nil {
		return err
	}
	for i := range in[0] {
		c.Step(i)
		tensor.Values[float32](out)[i] = n.pass(in[0][i], in[1][i])
	}
	return nil
}

// pass returns the gradient if x is in the range, otherwise zero.
func (n *nudged) pass(dy, x float32) float32 {
	if x >= n.min && x <= n.max {
		return dy
	}
	return dy * 0
}

// ranges returns the ranges in the inputs from the given one on: one for all
// elements, or one for each channel, the last dimension of input 0. A range
// from zero to zero is nil.
func (l levels) ranges(c *engine.Call, in [][]float32, from int) ([]*nudged, error) {
	x, least, most := c.In(0).Shape(), c.In(from), c.In(from+1)
	want := tensor.Shape{}
	if c.Op() == "FakeQuantWithMinMaxVarsPerChannel" || c.Op() == "FakeQuantWithMinMaxVarsPerChannelGradient" {
		if len(x) == 0 {
			return nil, fmt.Errorf("takes inputs of at least 1 dimension")
		}
		want = x[len(x)-1:]
	}
	if !least.Shape().Equal(want) || !most.Shape().Equal(want) {
		return nil, fmt.Errorf("min and max have the shapes %v and %v, not %v", least.Shape(), most.Shape(), want)
	}
	out := make([]*nudged, least.Len())
	for i := range out {
		a, b := in[from][i], in[from+1][i]
		if a == 0 && b == 0 {
			continue
		}
		n := l.nudge(a, b)
		out[i] = &n
	}
	return out, nil
}

// fakeVars rounds input 0 to the levels of the range in inputs 1 and 2. For a
// range of zeros the result is 0, as in TensorFlow.
func fakeVars(c *engine.Call, l levels) error {
	in, err := single(c, 3)
	if err != nil {
		return err
	}
	ranges, err := l.ranges(c, in, 1)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.Float32, c.In(0).Shape())
	if err != nil {
		return err
	}
	y, perChannel := tensor.Values[float32](out), c.Op() == "FakeQuantWithMinMaxVarsPerChannel"
	c.Parallel(len(y), 3, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			n := ranges[i%len(ranges)]
			switch {
			case n == nil:
				y[i] = 0
			case perChannel:
				y[i] = floor(float32(n.shifted(in[0][i])*n.inverse)-n.zero+0.5) * n.scale
			default:
				y[i] = floor(n.shifted(in[0][i])/n.scale-n.zero+0.5) * n.scale
			}
		}
	})
	return nil
}

// fakeVarsGrad passes the gradient, input 0, if input 1 is in the range. The
// gradients of the ends are the sums of the gradients below and above. A range
// of zeros passes each gradient, as in TensorFlow.
func fakeVarsGrad(c *engine.Call, l levels) error {
	in, err := single(c, 4)
	if err != nil {
		return err
	}
	if !c.In(0).Shape().Equal(c.In(1).Shape()) {
		return fmt.Errorf("gradient and input must be the same size: %v and %v", c.In(0).Shape(), c.In(1).Shape())
	}
	ranges, err := l.ranges(c, in, 2)
	if err != nil {
		return err
	}
	var outs [3][]float32
	for i, s := range []tensor.Shape{c.In(0).Shape(), c.In(2).Shape(), c.In(2).Shape()} {
		t, err := c.AllocZero(i, tensor.Float32, s)
		if err != nil {
			return err
		}
		outs[i] = tensor.Values[float32](t)
	}
	below, above := make([]float64, len(ranges)), make([]float64, len(ranges))
	for i, dy := range in[0] {
		c.Step(i)
		k := i % len(ranges)
		n, x := ranges[k], in[1][i]
		if n == nil {
			outs[0][i] = dy
			continue
		}
		outs[0][i] = n.pass(dy, x)
		if x < n.min { // and above the other end too, if the ends are in the wrong order
			below[k] += float64(dy)
		}
		if x > n.max {
			above[k] += float64(dy)
		}
	}
	for k := range ranges {
		outs[1][k], outs[2][k] = float32(below[k]), float32(above[k])
	}
	return nil
}
