package grad

import (
	"github.com/cairnml/cairn/ops"
)

// The rule of RGBToHSV. TensorFlow's is in image_grad.py.

// gradHue computes the gradient of a conversion of red, green and blue to hue,
// saturation and value. As in TensorFlow, red counts as the largest of equal
// channels before green and blue, and blue as the smallest before green and red.
func gradHue(s *ops.Scope, op *Op) {
	x, dy := op.In(0), op.Grad(0)
	c := ops.Unstack(s, x, 3, -1)
	d := ops.Unstack(s, dy, 3, -1)
	if s.Err() != nil {
		return
	}
	indicator := func(v *ops.Value) *ops.Value { return ops.Cast(s, v, x.DType()) }
	and := func(a, b *ops.Value) *ops.Value { return indicator(ops.And(s, a, b)) }
	mul := func(a, b *ops.Value, more ...*ops.Value) *ops.Value {
		a = ops.Mul(s, a, b)
		for _, m := range more {
			a = ops.Mul(s, a, m)
		}
		return a
	}
	r, g, b := c[0], c[1], c[2]
	largest := []*ops.Value{
		and(ops.GreaterEqual(s, r, b), ops.GreaterEqual(s, r, g)),
		and(ops.Greater(s, g, r), ops.GreaterEqual(s, g, b)),
		and(ops.Greater(s, b, r), ops.Greater(s, b, g)),
	}
	smallest := []*ops.Value{
		and(ops.Less(s, r, b), ops.Less(s, r, g)),
		and(ops.LessEqual(s, g, r), ops.Less(s, g, b)),
		and(ops.LessEqual(s, b, r), ops.LessEqual(s, b, g)),
	}
	one := ops.OnesLike(s, r)
	peak, low := ops.Maximum(s, r, ops.Maximum(s, g, b)), ops.Minimum(s, r, ops.Minimum(s, g, b))
	overPeak := ops.DivNoNan(s, one, peak)
	overRange := ops.DivNoNan(s, one, ops.Sub(s, peak, low))
	dx := make([]*ops.Value, 3)
	for i := range c {
		next, last := (i+1)%3, (i+2)%3
		positive := indicator(ops.Greater(s, c[i], 0))
		value := largest[i]
		saturation := ops.Sub(s, mul(largest[i], low, overPeak, overPeak), mul(smallest[i], overPeak))
		saturation = mul(positive, saturation)
		// The hue is a third of a circle for each channel that is the largest, plus
		// (next-last)/(largest-smallest) sixths of one.
		hue := ops.Neg(s, mul(mul(largest[i], positive), ops.Sub(s, c[next], c[last]), overRange, overRange))
		for _, k := range []int{next, last} {
			// Channel k is the largest: channel i is before or after it.
			ahead := 1.0
			if k == next {
				ahead = -1
			}
			other := 3 - i - k
			side := mul(largest[k], indicator(ops.Greater(s, c[k], 0)))
			middle := mul(side, ops.Sub(s, one, smallest[i]), overRange)
			bottom := mul(mul(side, smallest[i]), ops.Sub(s, c[k], c[other]), overRange, overRange)
			hue = ops.Add(s, hue, ops.Mul(s, ahead, ops.Add(s, middle, bottom)))
		}
		hue = ops.Div(s, hue, 6)
		dx[i] = ops.Add(s, mul(d[0], hue), ops.Add(s, mul(d[1], saturation), mul(d[2], value)))
	}
	op.Give(0, ops.Stack(s, dx, -1))
}
