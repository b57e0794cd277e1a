package ragged

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of RaggedRange.

// rangeTypes has ranges by the type of the numbers.
var rangeTypes = elementwise.ByType{
	tensor.Int32: ranges[int32], tensor.Int64: ranges[int64], tensor.Float32: ranges[float32], tensor.Float64: ranges[float64],
}

// ranges makes a row of equally spaced numbers of every start, limit and step.
// A scalar applies to all rows. Each number is the one before plus the step, as
// in TensorFlow; a product instead would change the last bits of floats.
func ranges[T int32 | int64 | float32 | float64](c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	rows := -1
	var v [3][]T
	for i := range v {
		t := c.In(i)
		if t.DType() != tensor.TypeOf[T]() || len(t.Shape()) > 1 {
			return fmt.Errorf("input %d is %v%v", i, t.DType(), t.Shape())
		}
		v[i] = tensor.Values[T](t)
		if len(t.Shape()) == 1 {
			if rows >= 0 && rows != t.Len() {
				return fmt.Errorf("there are %d and %d rows", rows, t.Len())
			}
			rows = t.Len()
		}
	}
	if rows < 0 {
		rows = 1
	}
	splits := make([]int64, rows+1)
	pick := func(i, row int) T {
		if len(c.In(i).Shape()) == 0 {
			return v[i][0]
		}
		return v[i][row]
	}
	for r := range rows {
		n, err := steps(pick(0, r), pick(1, r), pick(2, r))
		if err != nil {
			return err
		}
		splits[r+1] = splits[r] + n
		if err := c.Afford(splits[r+1] * 8); err != nil {
			return err
		}
	}
	if splits[rows] > math.MaxInt32*64 {
		return fmt.Errorf("there are %d numbers", splits[rows])
	}
	if err := shapes.SetInts(c, 0, c.Attrs().Type("Tsplits", tensor.Int64), splits); err != nil {
		return err
	}
	out, err := c.Alloc(1, tensor.TypeOf[T](), tensor.Shape{int(splits[rows])})
	if err != nil {
		return err
	}
	dst := tensor.Values[T](out)
	for r := range rows {
		x, step := pick(0, r), pick(2, r)
		for k := splits[r]; k < splits[r+1]; k++ {
			dst[k] = x
			x += step
		}
	}
	return nil
}

// steps returns the number of elements of a range.
func steps[T int32 | int64 | float32 | float64](start, limit, step T) (int64, error) {
	switch {
	case step == 0 || step != step || start != start || limit != limit:
		return 0, fmt.Errorf("a range from %v to %v by %v", start, limit, step)
	case step > 0 && limit <= start, step < 0 && limit >= start:
		return 0, nil
	}
	var n float64
	if _, wide := any(start).(int64); wide { // float64 doesn't have all of them
		distance, by := uint64(limit)-uint64(start), uint64(step)
		if step < 0 {
			distance, by = -distance, -by
		}
		n = float64((distance-1)/by + 1)
	} else {
		n = math.Ceil(math.Abs((float64(limit) - float64(start)) / float64(step)))
	}
	if !(n < 1<<40) {
		return 0, fmt.Errorf("a range from %v to %v by %v is too long", start, limit, step)
	}
	return int64(n), nil
}
