// Package stepwise reduces and multiplies numbers of half precision as TensorFlow does: every step is rounded
// to the type, so that results depend on the order of the steps. Many packages of kernels use it.
package stepwise

import (
	"slices"

	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/simd"
	"github.com/cairnml/cairn/tensor"
)

// Steps is a reduction in half precision. A sum depends on the order of its steps, and a long one depends on it much. The
// order is that of Eigen's reductions with vectors of eight (TensorReduction.h), in one thread.
type Steps struct {
	Empty float32                    // the result for no elements, and the first value of a reduction
	Join  func(a, b float32) float32 // not rounded
	Round func(v float32) float32    // to the type
	Halve int                        // rows of more elements are reduced in two halves; 0: none are

	adds bool // Join adds, so that package simd has the loops
	to   simd.Rounding
}

const (
	// lanes is how many elements a vector of Eigen's has.
	lanes = 8
	// unrolled is the number of vectors that it sums in parallel.
	unrolled = 4
	// mostColumns is how many columns are reduced at once.
	mostColumns = 8 * lanes
	// unrolledRows is the least number of rows for which it does so when it reduces columns.
	unrolledRows = 16
	// halveF16 and halveBF16 are Eigen's LeafSize of these types, in vectors.
	halveF16, halveBF16 = 200 * lanes, 128 * lanes
)

// Sum returns the reduction that adds numbers of type H.
func Sum[H elementwise.Half]() *Steps {
	s := &Steps{Join: func(a, b float32) float32 { return a + b }, Round: Rounding[H](), Halve: halveF16, adds: true, to: simd.ToFloat16}
	if tensor.TypeOf[H]() == tensor.BFloat16 {
		s.Halve, s.to = halveBF16, simd.ToBFloat16
	}
	return s
}

// Prod returns the reduction that multiplies numbers of type H.
func Prod[H elementwise.Half]() *Steps {
	return &Steps{Empty: 1, Join: func(a, b float32) float32 { return a * b }, Round: Rounding[H]()}
}

// Rounding returns a function that rounds to type H.
func Rounding[H elementwise.Half]() func(float32) float32 {
	if tensor.TypeOf[H]() == tensor.BFloat16 {
		return func(v float32) float32 { return tensor.ToBF16(v).Float() }
	}
	return func(v float32) float32 { return tensor.ToF16(v).Float() }
}

// Step joins two numbers and rounds.
func (s *Steps) Step(a, b float32) float32 { return s.Round(s.Join(a, b)) }

// each makes a step of each element of to with that of x.
func (s *Steps) each(to, x []float32) {
	for i, v := range x[:len(to)] {
		to[i] = s.Step(to[i], v)
	}
}

// ones are the factors with which products are sums.
var ones = slices.Repeat([]float32{1}, 1<<10)

// rows makes a step of each element of to with those of n rows of src, one row after the other. The rows are stride elements
// apart.
func (s *Steps) rows(to, src []float32, n, stride int) {
	for n > 0 && s.adds {
		some := min(n, len(ones))
		if !simd.Products(to, ones[:some], src, simd.Steps{To: s.to, Step: 1, Stride: stride}) {
			break
		}
		if n -= some; n > 0 {
			src = src[some*stride:]
		}
	}
	for ; n > 0; n-- {
		s.each(to, src)
		if n > 1 {
			src = src[stride:]
		}
	}
}

// Row reduces contiguous elements; first is the index of x[0] in the tensor. Halves of long ones are cut at the beginning of
// a vector.
func (s *Steps) Row(x []float32, first int) float32 {
	n := len(x)
	if s.Halve == 0 || n <= s.Halve {
		return s.leaf(x)
	}
	cut := (first+(n+1)/2+lanes-1)/lanes*lanes - first
	if cut >= n {
		return s.Step(s.Empty, s.leaf(x))
	}
	return s.Step(s.Step(s.Empty, s.Row(x[:cut], first)), s.Row(x[cut:], first+cut))
}

// leaf reduces contiguous elements: as vectors, some in parallel, then the remaining ones one by
// one. The order of the joins is Eigen's and must stay.
func (s *Steps) leaf(x []float32) float32 {
	var beside [unrolled * lanes]float32
	for i := range beside {
		beside[i] = s.Empty
	}
	sum := beside[:lanes]
	if len(x) >= len(beside) {
		n := len(x) / len(beside)
		s.rows(beside[:], x, n, len(beside))
		x = x[n*len(beside):]
		for k := 1; k < unrolled; k++ {
			s.each(sum, beside[k*lanes:])
		}
	}
	n := len(x) / lanes
	s.rows(sum, x, n, lanes)
	x = x[n*lanes:]
	rest := s.Empty
	for _, v := range x {
		rest = s.Step(rest, v)
	}
	// The elements of the vector are joined without rounding in between.
	for k := lanes / 2; k > 0; k /= 2 {
		for i := range k {
			sum[i] = s.Join(sum[i], sum[k+i])
		}
	}
	return s.Step(rest, s.Round(sum[0]))
}

// Columns reduces the columns of n rows to dst, whose first element has index first among all results. Columns that fill
// whole vectors of the results are reduced as vectors; if there are enough rows, some rows in parallel.
func (s *Steps) Columns(dst, src []float32, n, first, all int) {
	width := len(dst)
	for i := 0; i < width; {
		at, k := first+i, 1
		if at%lanes == 0 && i+lanes <= width && at+lanes <= all {
			k = min(mostColumns, width-i, all-at) &^ (lanes - 1)
		}
		var room [unrolled * mostColumns]float32
		for j := range room {
			room[j] = s.Empty
		}
		beside := func(u int) []float32 { return room[u*mostColumns:][:k] }
		row := 0
		if k >= lanes && n >= unrolledRows {
			for u := range unrolled {
				s.rows(beside(u), src[u*width+i:], n/unrolled, unrolled*width)
			}
			row = n / unrolled * unrolled
			for u := 1; u < unrolled; u++ {
				s.each(beside(0), beside(u))
			}
		}
		if row < n {
			s.rows(beside(0), src[row*width+i:], n-row, width)
		}
		i += copy(dst[i:], beside(0))
	}
}
