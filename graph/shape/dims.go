package shape

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// In this file a negative size is unknown. A result that depends on one is a new
// unknown size ([graph.NewDim]).

// AddDims returns the sum of two sizes. A sum that doesn't fit an int is an
// error.
func AddDims(a, b int) (int, error) {
	switch {
	case a == 0:
		return b, nil
	case b == 0:
		return a, nil
	case a < 0 || b < 0:
		return graph.NewDim(), nil
	case a > math.MaxInt-b:
		return 0, fmt.Errorf("a dimension of %d and %d elements overflows", a, b)
	}
	return a + b, nil
}

// SubDims returns a size less another one. The result must not be negative.
func SubDims(a, b int) (int, error) {
	switch {
	case b == 0:
		return a, nil
	case graph.SameDim(a, b):
		return 0, nil
	case a < 0 || b < 0:
		return graph.NewDim(), nil
	case b > a:
		return 0, fmt.Errorf("%d elements are more than the dimension's %d", b, a)
	}
	return a - b, nil
}

// MulDims returns the product of two sizes. A product that doesn't fit an int
// is an error.
func MulDims(a, b int) (int, error) {
	switch {
	case a == 0 || b == 0:
		return 0, nil
	case a == 1:
		return b, nil
	case b == 1:
		return a, nil
	case a < 0 || b < 0:
		return graph.NewDim(), nil
	case a > math.MaxInt/b:
		return 0, fmt.Errorf("a dimension of %d times %d elements overflows", a, b)
	}
	return a * b, nil
}

// DivDims returns the n-th part of a size, which must be divisible by n.
func DivDims(a, n int) (int, error) {
	switch {
	case n == 1:
		return a, nil
	case a < 0 || n < 0:
		return graph.NewDim(), nil
	case n == 0 || a%n != 0:
		return 0, fmt.Errorf("a dimension of %d elements can't be divided to %d equal parts", a, n)
	}
	return a / n, nil
}

// MinDims returns the smaller of two sizes.
func MinDims(a, b int) int {
	switch {
	case a == 0 || b == 0:
		return 0
	case graph.SameDim(a, b):
		return a
	case a < 0 || b < 0:
		return graph.NewDim()
	}
	return min(a, b)
}

// product returns the product of sizes. An unknown product has a new identity.
func product(s tensor.Shape) (int, error) {
	n, err := 1, error(nil)
	for _, d := range s {
		if d == 0 {
			return 0, nil
		}
	}
	for _, d := range s {
		if n, err = MulDims(n, d); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// insert returns the shape with size d before dimension at.
func insert(s tensor.Shape, at, d int) tensor.Shape {
	out := make(tensor.Shape, 0, len(s)+1)
	return append(append(append(out, s[:at]...), d), s[at:]...)
}

// remove returns the shape without dimension at.
func remove(s tensor.Shape, at int) tensor.Shape {
	out := make(tensor.Shape, 0, len(s))
	return append(append(out, s[:at]...), s[at+1:]...)
}

// Axis returns axis i of a tensor of the given rank; negative ones count from
// the end.
func Axis(i int64, rank int) (int, error) {
	j := i
	if j < 0 {
		j += int64(rank)
	}
	if j < 0 || j >= int64(rank) {
		return 0, fmt.Errorf("axis %d of a tensor of %d dimensions", i, rank)
	}
	return int(j), nil
}

// Axes marks the axes in list, which must be distinct.
func Axes(list []int64, rank int) ([]bool, error) {
	marked := make([]bool, rank)
	for _, i := range list {
		a, err := Axis(i, rank)
		if err != nil {
			return nil, err
		}
		if marked[a] {
			return nil, fmt.Errorf("axis %d is named twice", i)
		}
		marked[a] = true
	}
	return marked, nil
}
