package quant

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of UniformRequantize, UniformQuantizedAdd,
// UniformQuantizedClipByValue, UniformQuantizedDot and
// UniformQuantizedDotHybrid. The fixed-point steps are those of TensorFlow's
// uniform_quant_ops/math_utils; they decide codes, so they must stay.

// grid has the floats that integers represent: scales and the integers of zero,
// one pair for all or one for each slice along an axis.
type grid struct {
	axis   int
	scales []float32
	zeros  []int32
}

// gridAt returns the grid in inputs i and i+1 for codes of a shape. prefix is
// that of its attributes' names.
func gridAt(c *engine.Call, i int, s tensor.Shape, prefix string) (g grid, err error) {
	axis := c.Attrs().Int(prefix+"quantization_axis", -1)
	if axis < -1 || axis >= int64(len(s)) {
		return g, fmt.Errorf("%squantization_axis is %d, of a tensor of %d dimensions", prefix, axis, len(s))
	}
	want := tensor.Shape{}
	if g.axis = int(axis); axis >= 0 {
		want = tensor.Shape{s[axis]}
	}
	v, z := c.In(i), c.In(i+1)
	if v.DType() != tensor.Float32 || z.DType() != tensor.Int32 || !v.Shape().Equal(want) || !z.Shape().Equal(want) {
		return g, fmt.Errorf("scales are %v%v and zero_points %v%v; their shape has to be %v", v.DType(), v.Shape(), z.DType(), z.Shape(), want)
	}
	g.scales, g.zeros = tensor.Values[float32](v), tensor.Values[int32](z)
	for _, x := range g.scales {
		if !(x > 0) || math.IsInf(float64(x), 0) {
			return g, fmt.Errorf("a scale is %v; they must be positive and finite", x)
		}
	}
	return g, nil
}

// of returns the slice of element i of a tensor of shape s.
func (g *grid) of(s tensor.Shape, i int) int {
	if g.axis < 0 {
		return 0
	}
	return i / shapes.Count(s[g.axis+1:]) % s[g.axis]
}

// multiplier is a positive number as a fixed-point number with 31 fraction
// bits, and a shift.
type multiplier struct {
	by    int64
	shift int
}

// multiplierOf returns v as a multiplier. Numbers that are too small become 0,
// too large ones the largest.
func multiplierOf(v float64) (multiplier, error) {
	if !(v > 0) || math.IsInf(v, 0) {
		return multiplier{}, fmt.Errorf("the scales have the ratio %v, which is no positive number", v)
	}
	q, shift := math.Frexp(v)
	by := int64(math.Round(q * (1 << 31)))
	if by == 1<<31 {
		by, shift = by/2, shift+1
	}
	switch {
	case shift < -31:
		by, shift = 0, 0
	case shift > 30:
		by, shift = 1<<31-1, 30
	}
	return multiplier{by, shift}, nil
}

// of returns a product, rounded once.
func (m multiplier) of(v int32) int32 {
	places := uint(31 - m.shift)
	r := (int64(v)*m.by + 1<<(places-1)) >> places
	return int32(max(math.MinInt32, min(r, math.MaxInt32)))
}

// bounds are the codes that outputs are clamped to.
type bounds struct{ lowest, highest int32 }

// boundsOf reads the bounds from the attributes whose names begin with prefix.
func boundsOf(c *engine.Call, prefix string) bounds {
	a := c.Attrs()
	return bounds{int32(a.Int(prefix+"quantization_min_val", math.MinInt32)), int32(a.Int(prefix+"quantization_max_val", math.MaxInt32))}
}

// of clamps v to the bounds.
func (b bounds) of(v int32) int32 { return max(min(v, b.highest), b.lowest) }

// multipliers returns the factors from codes of one grid to those of another,
// by slice.
func multipliers(from, to *grid) ([]multiplier, error) {
	n := max(len(from.scales), len(to.scales))
	out := make([]multiplier, n)
	for i := range out {
		var err error
		if out[i], err = multiplierOf(float64(from.scales[i%len(from.scales)]) / float64(to.scales[i%len(to.scales)])); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// uniformCodes has the types that UniformRequantize reads.
var uniformCodes = engine.ByType[codesOf]{tensor.QInt8: codesType[tensor.Q8](), tensor.QInt32: codesType[tensor.Q32]()}

// uniformRequantize converts codes from one grid to another.
func uniformRequantize(c *engine.Call) error {
	if err := c.Need(5); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	d := c.Attrs().Type("Tout", tensor.QInt8)
	read, err := uniformCodes.Of(x.DType())
	if err != nil {
		return err
	}
	if d != tensor.QInt8 {
		return &engine.UnsupportedTypeError{Attr: "Tout", Type: d, Known: []tensor.DType{tensor.QInt8}}
	}
	from, err := gridAt(c, 1, s, "input_")
	if err != nil {
		return err
	}
	to, err := gridAt(c, 3, s, "output_")
	if err != nil {
		return err
	}
	if from.axis >= 0 && to.axis >= 0 && from.axis != to.axis {
		return fmt.Errorf("the axes of the input's and the output's scales are %d and %d", from.axis, to.axis)
	}
	by, err := multipliers(&from, &to)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, d, s)
	if err != nil {
		return err
	}
	b := boundsOf(c, "output_")
	for i := range x.Len() {
		c.Step(i)
		k := max(from.of(s, i), to.of(s, i))
		v := by[k].of(int32(read.from(x, i))-from.zeros[k%len(from.zeros)]) + to.zeros[k%len(to.zeros)]
		tensor.Values[tensor.Q8](out)[i] = tensor.Q8(b.of(v))
	}
	return nil
}

// uniformAdd adds codes in the output's scale.
func uniformAdd(c *engine.Call) error {
	if err := c.Need(8); err != nil {
		return err
	}
	for i := range 2 {
		if d := c.In(i).DType(); d != tensor.QInt32 {
			return &engine.UnsupportedTypeError{Attr: "T", Type: d, Known: []tensor.DType{tensor.QInt32}}
		}
	}
	var out []tensor.Q32
	var dims tensor.Shape
	var in [2]grid
	var to grid
	var by [2][]multiplier
	b := boundsOf(c, "output_")
	x, y := tensor.Values[tensor.Q32](c.In(0)), tensor.Values[tensor.Q32](c.In(1))
	part := func(k int, v tensor.Q32, i int) int32 {
		at := in[k].of(c.In(k).Shape(), i)
		return by[k][at%len(by[k])].of(int32(v) - in[k].zeros[at])
	}
	return broadcast(c, func(i, p, q int) {
		out[i] = tensor.Q32(b.of(part(0, x[p], p) + part(1, y[q], q) + to.zeros[to.of(dims, i)]))
	}, func(s tensor.Shape) error {
		dims = s
		var err error
		if to, err = gridAt(c, 6, s, "output_"); err != nil {
			return err
		}
		for k, prefix := range []string{"lhs_", "rhs_"} {
			if in[k], err = gridAt(c, 2+2*k, c.In(k).Shape(), prefix); err != nil {
				return err
			}
			if to.axis >= 0 && (in[k].axis < 0 || len(c.In(k).Shape())-in[k].axis != len(s)-to.axis) {
				return fmt.Errorf("the %sscales must be along the axis of the output's", prefix)
			}
			if to.axis < 0 && in[k].axis >= 0 {
				return fmt.Errorf("the output must have scales along an axis where the %sscales do", prefix)
			}
			if by[k], err = multipliers(&in[k], &to); err != nil {
				return err
			}
		}
		return wideOut(c, &out)(s)
	})
}

// uniformClip clamps codes to those in inputs 1 and 2, one pair for all or one for
// each slice.
func uniformClip(c *engine.Call) error {
	if err := c.Need(5); err != nil {
		return err
	}
	x := c.In(0)
	g, err := gridAt(c, 3, x.Shape(), "")
	if err != nil {
		return err
	}
	for i := 0; i < 3; i++ {
		if t := c.In(i); t.DType() != tensor.QInt32 || i > 0 && !t.Shape().Equal(c.In(3).Shape()) {
			return fmt.Errorf("input %d is %v%v for codes of %v%v and scales of %v", i, t.DType(), t.Shape(), x.DType(), x.Shape(), c.In(3).Shape())
		}
	}
	lo, hi := tensor.Values[tensor.Q32](c.In(1)), tensor.Values[tensor.Q32](c.In(2))
	out, err := c.Alloc(0, tensor.QInt32, x.Shape())
	if err != nil {
		return err
	}
	for i, v := range tensor.Values[tensor.Q32](x) {
		c.Step(i)
		k := g.of(x.Shape(), i)
		tensor.Values[tensor.Q32](out)[i] = min(max(v, lo[k]), hi[k])
	}
	return nil
}

// productSizes checks two matrices and returns the sizes of their product: m
// rows, n columns, each a sum of k products.
func productSizes(c *engine.Call) (m, k, n int, err error) {
	s, t := c.In(0).Shape(), c.In(1).Shape()
	if len(s) != 2 || len(t) != 2 || s[1] != t[0] {
		return 0, 0, 0, fmt.Errorf("matrices of shapes %v and %v can't be multiplied", s, t)
	}
	return s[0], s[1], t[1], nil
}

// uniformDot multiplies matrices of codes.
func uniformDot(c *engine.Call) error {
	if err := c.Need(8); err != nil {
		return err
	}
	m, k, n, err := productSizes(c)
	if err != nil {
		return err
	}
	if a, b := c.In(0).DType(), c.In(1).DType(); a != tensor.QInt8 || b != tensor.QInt8 {
		return fmt.Errorf("matrices of %v and %v; qint8 is needed", a, b)
	}
	left, err := gridAt(c, 2, c.In(0).Shape(), "lhs_")
	if err != nil {
		return err
	}
	right, err := gridAt(c, 4, c.In(1).Shape(), "rhs_")
	if err != nil {
		return err
	}
	to, err := gridAt(c, 6, tensor.Shape{m, n}, "output_")
	if err != nil {
		return err
	}
	if left.axis != -1 || right.axis == 0 || to.axis == 0 || to.axis == 1 && right.axis != 1 {
		return fmt.Errorf("scales along the axes %d, %d and %d: the left matrix has one, the others may have one a column, the output where the right one has", left.axis, right.axis, to.axis)
	}
	by := make([]multiplier, n)
	for j := range by {
		if by[j], err = multiplierOf(float64(left.scales[0]) * float64(right.scales[j%len(right.scales)]) / float64(to.scales[j%len(to.scales)])); err != nil {
			return err
		}
	}
	var out []tensor.Q32
	if err := wideOut(c, &out)(tensor.Shape{m, n}); err != nil {
		return err
	}
	a, b, limit := tensor.Values[tensor.Q8](c.In(0)), tensor.Values[tensor.Q8](c.In(1)), boundsOf(c, "output_")
	c.Parallel(m, float64(n)*float64(k)*2, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range n {
				zero := right.zeros[j%len(right.zeros)]
				var sum int32
				for p := range k {
					sum += (int32(a[i*k+p]) - left.zeros[0]) * (int32(b[p*n+j]) - zero)
				}
				out[i*n+j] = tensor.Q32(limit.of(by[j].of(sum) + to.zeros[j%len(to.zeros)]))
			}
		}
	})
	return nil
}

// uniformDotHybrid multiplies floats by codes. It first converts each row of
// floats to codes of the row's range.
func uniformDotHybrid(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	m, k, n, err := productSizes(c)
	if err != nil {
		return err
	}
	if a, b := c.In(0).DType(), c.In(1).DType(); a != tensor.Float32 || b != tensor.QInt8 {
		return fmt.Errorf("matrices of %v and %v; float32 and qint8 are needed", a, b)
	}
	right, err := gridAt(c, 2, c.In(1).Shape(), "rhs_")
	if err != nil {
		return err
	}
	if right.axis == 0 {
		return fmt.Errorf("rhs_quantization_axis must be -1 or 1")
	}
	out, err := c.Alloc(0, tensor.Float32, tensor.Shape{m, n})
	if err != nil {
		return err
	}
	a, b, y := tensor.Values[float32](c.In(0)), tensor.Values[tensor.Q8](c.In(1)), tensor.Values[float32](out)
	c.Parallel(m, float64(n)*float64(k)*2, func(lo, hi int) {
		codes := make([]int32, k)
		for i := lo; i < hi; i++ {
			scale, zero := asymmetric(codes, a[i*k:][:k])
			for j := range n {
				at := j % len(right.scales)
				var sum int32
				for p := range k {
					sum += (codes[p] - zero) * (int32(b[p*n+j]) - right.zeros[at])
				}
				y[i*n+j] = float32(sum) * (scale * right.scales[at])
			}
		}
	})
	return nil
}

// asymmetric converts floats to signed 8-bit codes, of the range of the floats
// and zero.
func asymmetric(codes []int32, x []float32) (scale float32, zero int32) {
	const lowest, highest = -128, 127
	var least, most float32
	for _, v := range x {
		least, most = min(least, v), max(most, v)
	}
	if least == most {
		clear(codes)
		return 1, 0
	}
	wide := float64(most-least) / (highest - lowest)
	scale = float32(wide)
	zero = asymmetricZero(float64(least), float64(most), float64(scale))
	by := float32(1 / wide)
	for i, v := range x {
		codes[i] = max(min(truncated(floor(float32(v*by)+0.5))+zero, highest), lowest)
	}
	return scale, zero
}

// asymmetricZero returns the code of zero, computed from the end of the range
// with the smaller error.
func asymmetricZero(least, most, scale float64) int32 {
	const lowest, highest = -128, 127
	v := highest - most/scale
	if -lowest+math.Abs(least/scale) < highest+math.Abs(most/scale) {
		v = lowest - least/scale
	}
	return int32(math.Round(max(lowest, min(v, highest))))
}
