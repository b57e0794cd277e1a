package sparse

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of EditDistance.

// editDistance counts the insertions, deletions and replacements that turn each
// row of one sparse tensor into that of another one. If normalize is set, the
// counts are divided by the lengths of the second tensor's rows. Rows that both
// tensors lack have the distance 0.
func editDistance(c *engine.Call) error {
	if err := c.Need(6); err != nil {
		return err
	}
	var ms [2]matrix
	for i := range ms {
		m, err := input(c, 3*i, 3*i+1, 3*i+2)
		if err == nil {
			err = m.check()
		}
		if err != nil {
			return err
		}
		if m.rank < 1 {
			return fmt.Errorf("a tensor without dimensions has no rows")
		}
		ms[i] = m
	}
	hypothesis, truth := &ms[0], &ms[1]
	if hypothesis.rank != truth.rank || hypothesis.values.DType() != truth.values.DType() {
		return fmt.Errorf("the tensors are %v of %d dimensions and %v of %d", hypothesis.values.DType(), hypothesis.rank, truth.values.DType(), truth.rank)
	}
	dims := make(tensor.Shape, truth.rank-1)
	for d := range dims {
		n := max(hypothesis.shape[d], truth.shape[d])
		if dims[d] = int(n); int64(dims[d]) != n {
			return fmt.Errorf("dimension %d has %d rows", d, n)
		}
	}
	out, err := c.AllocZero(0, tensor.Float32, dims)
	if err != nil {
		return err
	}
	equal, err := equality(hypothesis.values, truth.values)
	if err != nil {
		return err
	}
	strides := shapes.Strides(dims)
	rows := map[int][2][]int{}
	for i := range ms {
		for k := range ms[i].n {
			place := 0
			for d, s := range strides {
				place += int(ms[i].row(k)[d]) * s
			}
			r := rows[place]
			r[i] = append(r[i], k)
			rows[place] = r
		}
	}
	normalize := !c.Attrs().Has("normalize") || c.Attrs().Bool("normalize")
	v := tensor.Values[float32](out)
	for place, r := range rows {
		if err := c.Context().Err(); err != nil {
			return err
		}
		n := float32(levenshtein(c, r[0], r[1], equal))
		if normalize {
			if len(r[1]) == 0 {
				n = float32(math.Inf(1))
			} else {
				n /= float32(len(r[1]))
			}
		}
		v[place] = n
	}
	return nil
}

// levenshtein returns the least number of changes that turn the elements a into
// b.
func levenshtein(c *engine.Call, a, b []int, equal func(i, j int) bool) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		c.Check()
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if !equal(x, y) {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// equality returns a function that compares elements of two tensors of one type.
func equality(a, b *tensor.Tensor) (func(i, j int) bool, error) {
	switch a.DType() {
	case tensor.String:
		return equals(a.Strings(), b.Strings()), nil
	case tensor.Float32:
		return equals(tensor.Values[float32](a), tensor.Values[float32](b)), nil
	case tensor.Float64:
		return equals(tensor.Values[float64](a), tensor.Values[float64](b)), nil
	case tensor.Complex64:
		return equals(tensor.Values[complex64](a), tensor.Values[complex64](b)), nil
	case tensor.Complex128:
		return equals(tensor.Values[complex128](a), tensor.Values[complex128](b)), nil
	case tensor.Float16, tensor.BFloat16:
		x, err := tensor.Cast(a, tensor.Float32)
		if err != nil {
			return nil, err
		}
		y, err := tensor.Cast(b, tensor.Float32)
		if err != nil {
			return nil, err
		}
		return equals(tensor.Values[float32](x), tensor.Values[float32](y)), nil
	}
	size := a.DType().Size()
	if size == 0 {
		return nil, fmt.Errorf("%v can't be compared", a.DType())
	}
	x, y := a.Bytes(), b.Bytes()
	return func(i, j int) bool { return string(x[i*size:(i+1)*size]) == string(y[j*size:(j+1)*size]) }, nil
}

// equals returns a function that compares element i of a with j of b.
func equals[T comparable](a, b []T) func(i, j int) bool {
	return func(i, j int) bool { return a[i] == b[j] }
}
