// Package stepwise reduces and multiplies numbers of half precision as TensorFlow does: every step is rounded
// to the type, so that results depend on the order of the steps.
package stepwise

import (
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/tensor"
)

// Steps is how half precision is reduced. A sum depends on the order of its steps, by much
// where it is long: the order is that of Eigen's reductions with vectors of eight
// (TensorReduction.h), in one thread.
type Steps struct {
	Empty float32                    // over no elements, and where a reduction begins
	Join  func(a, b float32) float32 // not rounded
	Round func(v float32) float32    // to the type
	Halve int                        // rows of more elements are reduced in two halves; 0: none are
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

// Sum adds numbers of type H up.
func Sum[H elementwise.Half]() *Steps {
	s := &Steps{Join: func(a, b float32) float32 { return a + b }, Round: Rounding[H](), Halve: halveF16}
	if tensor.TypeOf[H]() == tensor.BFloat16 {
		s.Halve = halveBF16
	}
	return s
}

// Prod multiplies numbers of type H.
func Prod[H elementwise.Half]() *Steps {
	return &Steps{Empty: 1, Join: func(a, b float32) float32 { return a * b }, Round: Rounding[H]()}
}

// Rounding returns what rounds to type H.
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

// Row reduces elements that lie one after the other, from the one with that number on in
// the tensor: halves of long ones are cut where a vector begins.
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

// leaf reduces elements that lie one after the other: as vectors, some beside each other,
// then one by one what is left.
func (s *Steps) leaf(x []float32) float32 {
	var beside [unrolled * lanes]float32
	for i := range beside {
		beside[i] = s.Empty
	}
	sum := beside[:lanes]
	if len(x) >= len(beside) {
		for ; len(x) >= len(beside); x = x[len(beside):] {
			s.each(beside[:], x)
		}
		for k := 1; k < unrolled; k++ {
			s.each(sum, beside[k*lanes:])
		}
	}
	for ; len(x) >= lanes; x = x[lanes:] {
		s.each(sum, x)
	}
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

// Columns reduces the columns of n rows to dst, whose first element has that number among
// all results. Those that make whole vectors of the results are reduced as vectors, from some
// number of rows on some rows beside each other.
func (s *Steps) Columns(dst, src []float32, n, first, all int) {
	width := len(dst)
	for i := 0; i < width; {
		at, k := first+i, 1
		if at%lanes == 0 && i+lanes <= width && at+lanes <= all {
			k = lanes
		}
		var beside [unrolled * lanes]float32
		for j := range beside {
			beside[j] = s.Empty
		}
		row := 0
		if k == lanes && n >= unrolledRows {
			for ; row+unrolled <= n; row += unrolled {
				for u := range unrolled {
					s.each(beside[u*lanes:][:lanes], src[(row+u)*width+i:])
				}
			}
			for u := 1; u < unrolled; u++ {
				s.each(beside[:lanes], beside[u*lanes:])
			}
		}
		for ; row < n; row++ {
			s.each(beside[:k], src[row*width+i:])
		}
		i += copy(dst[i:], beside[:k])
	}
}
