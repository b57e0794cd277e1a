package array

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/tensor"
)

// The comparisons must stay those of std::lower_bound and std::upper_bound in C++, which
// TensorFlow calls: the indices of NaN depend on them. The table of this package lists
// the kernels for package kernel.

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
