package ragged

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

var rangeTypes = elementwise.ByType{
	tensor.Int32: ranges[int32], tensor.Int64: ranges[int64], tensor.Float32: ranges[float32], tensor.Float64: ranges[float64],
}

// ranges makes a row of equally spaced numbers of every start, limit and step;
// one of them may stand for all rows.
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
		n, err := steps(float64(pick(0, r)), float64(pick(1, r)), float64(pick(2, r)))
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

// steps returns how many numbers a range has.
func steps(start, limit, step float64) (int64, error) {
	switch {
	case step == 0 || step != step || start != start || limit != limit:
		return 0, fmt.Errorf("a range from %v to %v by %v", start, limit, step)
	case step > 0 && limit <= start, step < 0 && limit >= start:
		return 0, nil
	}
	n := math.Ceil(math.Abs((limit - start) / step))
	if !(n < 1<<40) {
		return 0, fmt.Errorf("a range from %v to %v by %v is too long", start, limit, step)
	}
	return int64(n), nil
}

// nested reads the splits of inputs from at on, outermost first, above n values.
func nested(c *engine.Call, at, count, n int) ([][]int64, error) {
	levels := make([][]int64, count)
	for i := count - 1; i >= 0; i-- {
		v, err := shapes.Ints(c.In(at+i), "the splits")
		if err != nil {
			return nil, err
		}
		if err := checkSplits(v, n); err != nil {
			return nil, err
		}
		levels[i], n = v, len(v)-1
	}
	return levels, nil
}

// toSparse gives the values of a ragged tensor their indices.
func toSparse(c *engine.Call) error {
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	count := c.NumIn() - 1
	if count < 1 || len(c.In(count).Shape()) < 1 {
		return fmt.Errorf("takes splits and values with rows")
	}
	values := c.In(count)
	levels, err := nested(c, 0, count, values.Shape()[0])
	if err != nil {
		return err
	}
	inner := values.Shape()[1:]
	rank := 1 + count + len(inner)
	if rank > tensor.MaxRank {
		return fmt.Errorf("there are %d dimensions", rank)
	}
	out, err := c.Alloc(0, tensor.Int64, tensor.Shape{values.Len(), rank})
	if err != nil {
		return err
	}
	dims := make([]int64, 0, rank)
	dims = append(dims, int64(len(levels[0])-1))
	for _, splits := range levels {
		longest := int64(0)
		for i := 1; i < len(splits); i++ {
			longest = max(longest, splits[i]-splits[i-1])
		}
		dims = append(dims, longest)
	}
	for _, d := range inner {
		dims = append(dims, int64(d))
	}
	at := tensor.Values[int64](out)
	where := make([]int, count) // the row of each level that the value stands in
	width := shapes.Count(inner)
	for i := range values.Shape()[0] {
		k := int64(i)
		row := make([]int64, rank)
		for l := count - 1; l >= 0; l-- {
			splits := levels[l]
			for splits[where[l]+1] <= k {
				where[l]++
			}
			row[l+1] = k - splits[where[l]]
			k = int64(where[l])
		}
		row[0] = k
		for j := range width {
			to := at[(i*width+j)*rank:][:rank]
			copy(to, row)
			rest := j
			for d := len(inner) - 1; d >= 0; d-- {
				to[1+count+d] = int64(rest % inner[d])
				rest /= inner[d]
			}
		}
	}
	if err := c.Forward(1, count, tensor.Shape{values.Len()}); err != nil {
		return err
	}
	c.Set(2, tensor.Vector(dims...))
	return nil
}

// gather picks rows of a ragged tensor: splits, values, indices.
func gather(c *engine.Call) error {
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	count := c.NumIn() - 2
	if count < 1 || len(c.In(count).Shape()) < 1 {
		return fmt.Errorf("takes splits, values with rows and indices")
	}
	values, indices := c.In(count), c.In(count+1)
	levels, err := nested(c, 0, count, values.Shape()[0])
	if err != nil {
		return err
	}
	want, err := shapes.AllInts(indices, "the indices")
	if err != nil {
		return err
	}
	rank := len(indices.Shape())
	if rank < 1 {
		return fmt.Errorf("the index is a scalar")
	}
	d, at := c.In(0).DType(), 0
	for i := 0; i < rank-1; i++ { // the indices' own dimensions
		n := shapes.Count(indices.Shape()[:i+1])
		splits := make([]int64, n+1)
		for k := range splits {
			splits[k] = int64(k * indices.Shape()[i+1])
		}
		if err := shapes.SetInts(c, at, d, splits); err != nil {
			return err
		}
		at++
	}
	rows := want
	for _, splits := range levels {
		n := int64(len(splits) - 1)
		picked := make([]int64, 1, len(rows)+1)
		total := int64(0)
		for _, r := range rows {
			if r < 0 || r >= n {
				return fmt.Errorf("index %d is outside of [0, %d)", r, n)
			}
			total += splits[r+1] - splits[r]
			picked = append(picked, total)
		}
		if err := c.Afford(total * 8); err != nil {
			return err
		}
		below := make([]int64, 0, total)
		for _, r := range rows {
			for k := splits[r]; k < splits[r+1]; k++ {
				below = append(below, k)
			}
		}
		if err := shapes.SetInts(c, at, d, picked); err != nil {
			return err
		}
		at++
		rows = below
	}
	out, err := c.Alloc(at, values.DType(), append(tensor.Shape{len(rows)}, values.Shape()[1:]...))
	if err != nil {
		return err
	}
	width := shapes.Count(values.Shape()[1:])
	for to, from := range rows {
		copyElements(out, values, to*width, int(from)*width, width)
	}
	return nil
}
