package reduce

import (
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/stepwise"
	"github.com/cairnml/cairn/tensor"
)

// Reductions in half precision for reduce.go. The order of steps and their
// roundings are those of TensorFlow's compiled loops
// (kernel/internal/stepwise); they must stay.

// steps is a reduction whose every step is rounded to half precision.
type steps struct {
	*stepwise.Steps
	begin func(v float32) float32        // for each element, with rounding; nil: none
	end   func(v float32, n int) float32 // for each result v of n elements; nil: none
}

// stepSum sums.
func stepSum[H elementwise.Half]() *steps { return &steps{Steps: stepwise.Sum[H]()} }

// stepMean divides the sum in half precision, by the count rounded to it.
func stepMean[H elementwise.Half]() *steps {
	s := stepSum[H]()
	s.end = func(v float32, n int) float32 { return s.Round(v / s.Round(float32(n))) }
	return s
}

// stepProd multiplies.
func stepProd[H elementwise.Half]() *steps { return &steps{Steps: stepwise.Prod[H]()} }

// stepSquares sums squares.
func stepSquares[H elementwise.Half]() *steps {
	s := stepSum[H]()
	s.begin = func(v float32) float32 { return s.Round(v * v) }
	return s
}

// stepNorm returns the root of the sum of squares.
func stepNorm[H elementwise.Half]() *steps {
	s := stepSquares[H]()
	s.end = func(v float32, _ int) float32 { return s.Round(float32(math.Sqrt(float64(v)))) }
	return s
}

// stepwiseReduction returns the kernel for elements of type H.
func stepwiseReduction[H elementwise.Half](s *steps) elementwise.Func {
	return func(c *engine.Call) error {
		groups, out, count, err := begin(c)
		if err != nil {
			return err
		}
		src, dst := elementwise.Widened[H](c, c.In(0)), elementwise.Wide(c, out.Len())
		if s.begin != nil {
			for i, v := range src {
				src[i] = s.begin(v)
			}
		}
		if len(src) == 0 {
			for i := range dst {
				dst[i] = s.Empty
			}
			count = 0
		} else {
			s.reduce(c, dst, src, joined(groups), count)
		}
		if s.end != nil {
			for i, v := range dst {
				dst[i] = s.end(v, count)
			}
		}
		elementwise.Narrow(tensor.Values[H](out), dst)
		return nil
	}
}

// joined returns the groups without those of one element, and joins the
// neighbours of these.
func joined(groups []group) []group {
	var out []group
	for _, g := range groups {
		if g.n == 1 {
			continue
		}
		if k := len(out) - 1; k >= 0 && out[k].reduce == g.reduce {
			out[k].n *= g.n
			continue
		}
		out = append(out, g)
	}
	return out
}

// perStep is about the time of a step, in nanoseconds.
const perStep = 4

// reduce reduces groups of which none has one element.
func (s *steps) reduce(c *engine.Call, dst, src []float32, groups []group, count int) {
	switch n := len(groups); {
	case n == 0 || n == 1 && !groups[0].reduce:
		copy(dst, src)
	case n <= 2 && groups[n-1].reduce:
		c.Parallel(len(dst), perStep*float64(count), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				dst[i] = s.Row(src[i*count:(i+1)*count], i*count)
			}
		})
	case n <= 3 && !groups[n-1].reduce:
		width := groups[n-1].n
		c.Parallel(len(dst)/width, perStep*float64(count*width), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				s.Columns(dst[i*width:(i+1)*width], src[i*count*width:], count, i*width, len(dst))
			}
		})
	case n == 3:
		outer, kept, inner := groups[0].n, groups[1].n, groups[2].n
		c.Parallel(kept, perStep*float64(count), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				v := s.Empty
				for in := range inner {
					for o := range outer {
						v = s.Step(v, src[(o*kept+i)*inner+in])
					}
				}
				dst[i] = v
			}
		})
	default: // as if the reduced dimensions came last
		kept, reduced := offsets(groups, false), offsets(groups, true)
		row, _ := engine.Scratch[float32](c, count)
		for i, from := range kept {
			for k, at := range reduced {
				row[k] = src[from+at]
			}
			dst[i] = s.Row(row, i*count)
		}
	}
}

// offsets returns the offsets of the elements of the reduced groups, or of the
// others, from the first element, in order.
func offsets(groups []group, reduce bool) []int {
	out, stride := []int{0}, 1
	for i := len(groups) - 1; i >= 0; i-- {
		g := groups[i]
		if g.reduce == reduce {
			more := make([]int, 0, g.n*len(out))
			for k := range g.n {
				for _, at := range out {
					more = append(more, k*stride+at)
				}
			}
			out = more
		}
		stride *= g.n
	}
	return out
}
