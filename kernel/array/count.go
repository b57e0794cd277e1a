package array

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// Weights must be added in the order of the numbers, because sums of floats depend on it.
// The table of this package lists the kernels for package kernel.

// binTypes makes a table with a Func for each type of weights.
func binTypes(f32, f64, i32, i64 elementwise.Func) elementwise.ByType {
	return elementwise.ByType{tensor.Float32: f32, tensor.Float64: f64, tensor.Int32: i32, tensor.Int64: i64}
}

// bincountOf is the kernel of Bincount and DenseBincount, by the type of the weights.
var bincountOf = binTypes(bincount[float32], bincount[float64], bincount[int32], bincount[int64])

// count counts the occurrences of each number below a size, or sums their
// weights. The output has the weights' type.
func count(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	return bincountOf.RunAs(c, c.In(2).DType())
}

func bincount[T float32 | float64 | int32 | int64](c *engine.Call) error {
	x, weights := c.In(0), tensor.Values[T](c.In(2))
	numbers, err := shapes.AllInts(x, "the numbers")
	if err != nil {
		return err
	}
	size, err := shapes.Int(c.In(1), "the number of bins")
	if err != nil {
		return err
	}
	if size < 0 || size != int64(int(size)) {
		return fmt.Errorf("the number of bins is %d", size)
	}
	if len(weights) != 0 && (len(weights) != x.Len() || c.Op() != "Bincount" && !c.In(2).Shape().Equal(x.Shape())) {
		return fmt.Errorf("the weights have shape %v, the numbers %v", c.In(2).Shape(), x.Shape())
	}
	dims, rows := tensor.Shape{int(size)}, 1
	if c.Op() == "DenseBincount" {
		switch s := x.Shape(); len(s) {
		case 0, 1:
		case 2:
			rows, dims = s[0], tensor.Shape{s[0], int(size)}
		default:
			return fmt.Errorf("the numbers have %d dimensions, more than 2", len(s))
		}
	}
	out, err := c.AllocZero(0, tensor.TypeOf[T](), dims)
	if err != nil {
		return err
	}
	bins := tensor.Values[T](out)
	binary := c.Attrs().Bool("binary_output")
	for i, k := range numbers {
		switch {
		case k < 0:
			return fmt.Errorf("the number %d is below 0", k)
		case k >= size:
			continue
		}
		bin := &bins[i/(len(numbers)/rows)*int(size)+int(k)]
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

// lowerBound and upperBound are the kernels of LowerBound and UpperBound.
var (
	lowerBound = sortedTypes(false)
	upperBound = sortedTypes(true)
)

func sortedTypes(upper bool) elementwise.ByType {
	return elementwise.ByType{
		tensor.Float32: searchSorted[float32](upper), tensor.Float64: searchSorted[float64](upper), tensor.Int8: searchSorted[int8](upper),
		tensor.Int16: searchSorted[int16](upper), tensor.Int32: searchSorted[int32](upper), tensor.Int64: searchSorted[int64](upper),
		tensor.Uint8: searchSorted[uint8](upper), tensor.Uint16: searchSorted[uint16](upper), tensor.Uint32: searchSorted[uint32](upper),
		tensor.Uint64: searchSorted[uint64](upper), tensor.Float16: searchHalves[tensor.F16](upper), tensor.BFloat16: searchHalves[tensor.BF16](upper),
	}
}

// searchHalves searches float16 and bfloat16, as float32.
func searchHalves[H elementwise.Half](upper bool) elementwise.Func {
	run := searchSorted[float32](upper)
	return func(c *engine.Call) error {
		if err := elementwise.Same(c); err != nil {
			return err
		}
		for i := range 2 {
			x, err := tensor.New(elementwise.Widened[H](c, c.In(i)), c.In(i).Shape()...)
			if err != nil {
				return err
			}
			c.Substitute(i, x)
		}
		return run(c)
	}
}

// searchSorted returns the indices at which values would be inserted in sorted
// rows: before equal ones, or after them if upper is set.
func searchSorted[T float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](upper bool) elementwise.Func {
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		rows, x := c.In(0), c.In(1)
		if len(rows.Shape()) != 2 || len(x.Shape()) != 2 || rows.Shape()[0] != x.Shape()[0] || rows.DType() != x.DType() {
			return fmt.Errorf("takes two matrices of as many rows, not %v%v and %v%v", rows.DType(), rows.Shape(), x.DType(), x.Shape())
		}
		sorted, values := tensor.Values[T](rows), tensor.Values[T](x)
		n, m := rows.Shape()[1], x.Shape()[1]
		places := make([]int64, len(values))
		for i, v := range values {
			row := sorted[i/m*n : (i/m+1)*n]
			lo, hi := 0, n
			for lo < hi {
				mid := int(uint(lo+hi) / 2)
				if row[mid] < v || upper && !(v < row[mid]) {
					lo = mid + 1
				} else {
					hi = mid
				}
			}
			places[i] = int64(lo)
		}
		t, err := tensor.New(places, x.Shape()...)
		if err == nil {
			t, err = tensor.Cast(t, c.Attrs().Type("out_type", tensor.Int32))
		}
		if err == nil {
			c.Set(0, t)
		}
		return err
	}
}
