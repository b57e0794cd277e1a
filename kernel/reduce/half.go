package reduce

import (
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/tensor"
)

// steps is how half precision is reduced that TensorFlow rounds at every step. A sum then
// depends on the order of its steps, by much where it is long: the order is that of Eigen's
// reductions with vectors of eight (TensorReduction.h), in one thread.
type steps struct {
	empty float32                        // over no elements, and where a reduction begins
	join  func(a, b float32) float32     // not rounded
	round func(v float32) float32        // to the type
	halve int                            // rows of more elements are reduced in two halves; 0: none are
	begin func(v float32) float32        // before, rounded; nil: nothing
	end   func(v float32, n int) float32 // at the end, where n elements went into v; nil: nothing
}

const (
	// lanes is how many elements a vector of Eigen's has.
	lanes = 8
	// unrolled is how many vectors it adds up beside each other.
	unrolled = 4
	// unrolledRows is from how many rows on it does so where columns are reduced.
	unrolledRows = 16
	// halveF16 and halveBF16 are Eigen's LeafSize of these types, in vectors.
	halveF16, halveBF16 = 200 * lanes, 128 * lanes
)

func stepSum() *steps { return &steps{join: add, round: roundF16, halve: halveF16} }

// stepMean divides the sum in half precision too, by what is left of the count there.
func stepMean() *steps {
	s := stepSum()
	s.end = func(v float32, n int) float32 { return roundF16(v / roundF16(float32(n))) }
	return s
}

func stepProd(round func(float32) float32) *steps {
	return &steps{empty: 1, join: multiply, round: round}
}

// stepSquares adds up squares.
func stepSquares(round func(float32) float32, halve int) *steps {
	return &steps{join: add, round: round, halve: halve, begin: func(v float32) float32 { return round(v * v) }}
}

func stepNorm() *steps {
	s := stepSquares(roundF16, halveF16)
	s.end = func(v float32, _ int) float32 { return roundF16(float32(math.Sqrt(float64(v)))) }
	return s
}

// stepwiseReduction returns the kernel that reduces elements of type H so.
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
				dst[i] = s.empty
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

// joined returns the groups without those of one element, which don't tell others apart.
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

// perStep is what a step costs, in nanoseconds.
const perStep = 4

// reduce reduces groups of which none has one element.
func (s *steps) reduce(c *engine.Call, dst, src []float32, groups []group, count int) {
	switch n := len(groups); {
	case n == 0 || n == 1 && !groups[0].reduce:
		copy(dst, src)
	case n <= 2 && groups[n-1].reduce:
		c.Parallel(len(dst), perStep*float64(count), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				dst[i] = s.row(src[i*count:(i+1)*count], i*count)
			}
		})
	case n <= 3 && !groups[n-1].reduce:
		width := groups[n-1].n
		c.Parallel(len(dst)/width, perStep*float64(count*width), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				s.columns(dst[i*width:(i+1)*width], src[i*count*width:], count, i*width, len(dst))
			}
		})
	case n == 3:
		outer, kept, inner := groups[0].n, groups[1].n, groups[2].n
		c.Parallel(kept, perStep*float64(count), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				v := s.empty
				for in := range inner {
					for o := range outer {
						v = s.step(v, src[(o*kept+i)*inner+in])
					}
				}
				dst[i] = v
			}
		})
	default: // as if the reduced dimensions stood last
		kept, reduced := offsets(groups, false), offsets(groups, true)
		row, _ := engine.Scratch[float32](c, count)
		for i, from := range kept {
			for k, at := range reduced {
				row[k] = src[from+at]
			}
			dst[i] = s.row(row, i*count)
		}
	}
}

// offsets returns where the elements of the groups that are reduced, or of those that
// aren't, lie from the first one, in their order.
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

func (s *steps) step(a, b float32) float32 { return s.round(s.join(a, b)) }

// steps makes a step of each element of to with that of x.
func (s *steps) steps(to, x []float32) {
	for i, v := range x[:len(to)] {
		to[i] = s.step(to[i], v)
	}
}

// row reduces elements that lie one after the other, from the one with that number on in
// the tensor: halves of long ones are cut where a vector begins.
func (s *steps) row(x []float32, first int) float32 {
	n := len(x)
	if s.halve == 0 || n <= s.halve {
		return s.leaf(x)
	}
	cut := (first+(n+1)/2+lanes-1)/lanes*lanes - first
	if cut >= n {
		return s.step(s.empty, s.leaf(x))
	}
	return s.step(s.step(s.empty, s.row(x[:cut], first)), s.row(x[cut:], first+cut))
}

// leaf reduces elements that lie one after the other: as vectors, some beside each other,
// then one by one what is left.
func (s *steps) leaf(x []float32) float32 {
	var beside [unrolled * lanes]float32
	for i := range beside {
		beside[i] = s.empty
	}
	sum := beside[:lanes]
	if len(x) >= len(beside) {
		for ; len(x) >= len(beside); x = x[len(beside):] {
			s.steps(beside[:], x)
		}
		for k := 1; k < unrolled; k++ {
			s.steps(sum, beside[k*lanes:])
		}
	}
	for ; len(x) >= lanes; x = x[lanes:] {
		s.steps(sum, x)
	}
	rest := s.empty
	for _, v := range x {
		rest = s.step(rest, v)
	}
	// The elements of the vector are joined without rounding in between.
	for k := lanes / 2; k > 0; k /= 2 {
		for i := range k {
			sum[i] = s.join(sum[i], sum[k+i])
		}
	}
	return s.step(rest, s.round(sum[0]))
}

// columns reduces the columns of n rows to dst, whose first element has that number among
// all results. Those that make whole vectors of the results are reduced as vectors, from some
// number of rows on some rows beside each other.
func (s *steps) columns(dst, src []float32, n, first, all int) {
	width := len(dst)
	for i := 0; i < width; {
		at, k := first+i, 1
		if at%lanes == 0 && i+lanes <= width && at+lanes <= all {
			k = lanes
		}
		var beside [unrolled * lanes]float32
		for j := range beside {
			beside[j] = s.empty
		}
		row := 0
		if k == lanes && n >= unrolledRows {
			for ; row+unrolled <= n; row += unrolled {
				for u := range unrolled {
					s.steps(beside[u*lanes:][:lanes], src[(row+u)*width+i:])
				}
			}
			for u := 1; u < unrolled; u++ {
				s.steps(beside[:lanes], beside[u*lanes:])
			}
		}
		for ; row < n; row++ {
			s.steps(beside[:k], src[row*width+i:])
		}
		i += copy(dst[i:], beside[:k])
	}
}
