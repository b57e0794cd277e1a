package sparse

import (
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of SparseCountSparseOutput, DenseCountSparseOutput,
// RaggedCountSparseOutput, SparseBincount and RaggedBincount. Numbers from
// maxlength or the number of bins on aren't counted, and negative ones are
// errors, as in TensorFlow.

// counted is rows of numbers to count.
type counted struct {
	numbers []int64
	row     func(i int) int // the row of a number
	rows    int
	flat    bool // there is one row, which isn't a dimension
}

// splitRows returns the rows into which splits cut n values.
func splitRows(c *engine.Call, t *tensor.Tensor, n int) (rows int, row func(int) int, err error) {
	s, err := shapes.Ints(t, "the splits")
	if err != nil {
		return 0, nil, err
	}
	if len(s) == 0 || s[0] != 0 || s[len(s)-1] != int64(n) {
		return 0, nil, fmt.Errorf("the splits %v don't go from 0 to the %d values", s, n)
	}
	of := make([]int, n)
	for i := 1; i < len(s); i++ {
		if s[i] < s[i-1] || s[i] > int64(n) {
			return 0, nil, fmt.Errorf("the splits fall from %d to %d", s[i-1], s[i])
		}
		for k := s[i-1]; k < s[i]; k++ {
			c.Step(int(k))
			of[k] = i - 1
		}
	}
	return len(s) - 1, func(i int) int { return of[i] }, nil
}

// sparseRows returns the rows of a sparse tensor's values: its first of two
// dimensions, or one row.
func sparseRows(c *engine.Call) (x counted, err error) {
	m, err := input(c, 0, 1, 2)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return x, err
	}
	if x.numbers, err = shapes.AllInts(m.values, "the numbers"); err != nil {
		return x, err
	}
	switch m.rank {
	case 1:
		x.rows, x.flat, x.row = 1, true, func(int) int { return 0 }
	case 2:
		if x.rows = int(m.shape[0]); int64(x.rows) != m.shape[0] {
			return x, fmt.Errorf("there are %d rows", m.shape[0])
		}
		x.row = func(i int) int { return int(m.row(i)[0]) }
	default:
		return x, fmt.Errorf("the tensor has %d dimensions, not 1 or 2", m.rank)
	}
	return x, nil
}

// raggedRows returns the rows of a ragged tensor: splits and values.
func raggedRows(c *engine.Call) (x counted, err error) {
	if len(c.In(1).Shape()) != 1 {
		return x, fmt.Errorf("the values have shape %v, not a vector's", c.In(1).Shape())
	}
	if x.numbers, err = shapes.AllInts(c.In(1), "the numbers"); err == nil {
		x.rows, x.row, err = splitRows(c, c.In(0), len(x.numbers))
	}
	return x, err
}

// denseRows returns the rows of a vector or a matrix.
func denseRows(c *engine.Call) (x counted, err error) {
	if x.numbers, err = shapes.AllInts(c.In(0), "the numbers"); err != nil {
		return x, err
	}
	switch s := c.In(0).Shape(); len(s) {
	case 1:
		x.rows, x.flat, x.row = 1, true, func(int) int { return 0 }
	case 2:
		x.rows, x.row = s[0], func(i int) int { return i / s[1] }
	default:
		return x, fmt.Errorf("the numbers have shape %v, not one of 1 or 2 dimensions", s)
	}
	return x, nil
}

// countable has the types of weights and counts.
type countable interface {
	float32 | float64 | int32 | int64
}

// countTypes returns a table by the weights' type.
func countTypes(f32, f64, i32, i64 elementwise.Func) elementwise.ByType {
	return elementwise.ByType{tensor.Float32: f32, tensor.Float64: f64, tensor.Int32: i32, tensor.Int64: i64}
}

// counts returns the kernel of an op that counts to a sparse tensor. The weights
// are its last input.
func counts(op string, n int, rows func(*engine.Call) (counted, error)) engine.Kernel {
	t := countTypes(countTo[float32](rows), countTo[float64](rows), countTo[int32](rows), countTo[int64](rows))
	return engine.Kernel{Op: op, Precision: engine.Accumulated, Run: func(c *engine.Call) error {
		if err := c.Need(n); err != nil {
			return err
		}
		return t.RunAs(c, c.In(n-1).DType())
	}}
}

// countTo counts the occurrences of each number in each row, or sums their
// weights.
func countTo[T countable](rows func(*engine.Call) (counted, error)) elementwise.Func {
	return func(c *engine.Call) error {
		x, err := rows(c)
		if err != nil {
			return err
		}
		w := c.In(c.NumIn() - 1)
		weights := tensor.Values[T](w)
		if len(weights) > 0 && len(weights) != len(x.numbers) {
			return fmt.Errorf("there are %d weights for %d numbers", len(weights), len(x.numbers))
		}
		if x.rows < 0 || x.rows > math.MaxInt/8 {
			return fmt.Errorf("there are %d rows", x.rows)
		}
		if err := c.Afford(int64(x.rows) * 8); err != nil {
			return err
		}
		as := c.Attrs()
		least, most, binary := as.Int("minlength", -1), as.Int("maxlength", -1), as.Bool("binary_output")
		bins := make([]map[int64]T, x.rows)
		top := int64(0)
		for i, k := range x.numbers {
			if k < 0 {
				return fmt.Errorf("the number %d is below 0", k)
			}
			if most >= 0 && k >= most {
				continue
			}
			row := x.row(i)
			if bins[row] == nil {
				bins[row] = map[int64]T{}
			}
			top = max(top, k+1)
			switch {
			case binary:
				bins[row][k] = 1
			case len(weights) > 0:
				bins[row][k] += weights[i]
			default:
				bins[row][k]++
			}
		}
		width := max(top, least, 1)
		if most >= 0 {
			width = most
		}
		var at []int64
		var out []T
		for row, bin := range bins {
			var keys []int64
			for k := range bin {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			for _, k := range keys {
				if !x.flat {
					at = append(at, int64(row))
				}
				at, out = append(at, k), append(out, bin[k])
			}
		}
		shape := []int64{int64(x.rows), width}
		if x.flat {
			shape = shape[1:]
		}
		if err := setInts(c, 0, at, len(out), len(shape)); err != nil {
			return err
		}
		c.Set(1, tensor.Vector(out...))
		return setInts(c, 2, shape, len(shape))
	}
}

// bincounts returns the kernel of an op that counts to a dense tensor. Input at
// is its size, the next one the weights.
func bincounts(op string, at int, rows func(*engine.Call) (counted, error)) engine.Kernel {
	t := countTypes(bincountTo[float32](at, rows), bincountTo[float64](at, rows), bincountTo[int32](at, rows), bincountTo[int64](at, rows))
	return engine.Kernel{Op: op, Precision: engine.Accumulated, Run: func(c *engine.Call) error {
		if err := c.Need(at + 2); err != nil {
			return err
		}
		return t.RunAs(c, c.In(at+1).DType())
	}}
}

// bincountTo counts the numbers of each row in the bins [rows, size], or [size]
// for a flat input.
func bincountTo[T countable](at int, rows func(*engine.Call) (counted, error)) elementwise.Func {
	return func(c *engine.Call) error {
		x, err := rows(c)
		if err != nil {
			return err
		}
		size, err := shapes.Int(c.In(at), "the number of bins")
		if err != nil {
			return err
		}
		if size < 0 || size != int64(int(size)) {
			return fmt.Errorf("the number of bins is %d", size)
		}
		weights := tensor.Values[T](c.In(at + 1))
		if len(weights) > 0 && len(weights) != len(x.numbers) {
			return fmt.Errorf("there are %d weights for %d numbers", len(weights), len(x.numbers))
		}
		dims := tensor.Shape{x.rows, int(size)}
		if x.flat {
			dims = dims[1:]
		}
		out, err := c.AllocZero(0, tensor.TypeOf[T](), dims)
		if err != nil {
			return err
		}
		bins, binary := tensor.Values[T](out), c.Attrs().Bool("binary_output")
		for i, k := range x.numbers {
			if k < 0 {
				return fmt.Errorf("the number %d is below 0", k)
			}
			if k >= size {
				continue
			}
			bin := &bins[x.row(i)*int(size)+int(k)]
			switch {
			case binary:
				*bin = 1
			case len(weights) > 0:
				*bin += weights[i]
			default:
				*bin++
			}
		}
		return nil
	}
}
