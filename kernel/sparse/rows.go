package sparse

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of SparseFillEmptyRows and its gradient, and of SparseSegmentSum, SparseSegmentMean
// and SparseSegmentSqrtN, with or without a number of segments.

// fillEmptyRows puts a default value into the rows without values. It returns
// which rows these are, and the new index of each old value.
func fillEmptyRows(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	m, err := input(c, 0, 1, 2)
	if err != nil {
		return err
	}
	def := c.In(3)
	if m.rank < 1 || def.Len() != 1 || def.DType() != m.values.DType() || c.In(0).DType() != tensor.Int64 {
		return fmt.Errorf("a default of %v%v for %v values of %d dimensions", def.DType(), def.Shape(), m.values.DType(), m.rank)
	}
	rows := m.shape[0]
	if rows < 0 || rows != int64(int(rows)) {
		return fmt.Errorf("there are %d rows", rows)
	}
	empty, err := c.Alloc(2, tensor.Bool, tensor.Shape{int(rows)})
	if err != nil {
		return err
	}
	if err := c.Afford(rows * int64(8*m.rank)); err != nil {
		return err
	}
	next := make([]int, rows) // index of a row's next value
	for i := range m.n {
		k := m.at[i*m.rank]
		if k < 0 || k >= rows {
			return fmt.Errorf("row %d is outside of [0, %d)", k, rows)
		}
		next[k]++
	}
	total := 0
	missing := tensor.Values[bool](empty)
	for k, n := range next {
		missing[k] = n == 0
		next[k] = total
		total += max(n, 1)
	}
	values, err := c.Alloc(1, m.values.DType(), tensor.Shape{total})
	if err != nil {
		return err
	}
	c.Fits(total, 8*m.rank)
	at := make([]int64, total*m.rank)
	moved := make([]int64, m.n)
	for k, is := range missing {
		if is {
			at[next[k]*m.rank] = int64(k)
			copyElements(values, def, next[k], 0, 1)
		}
	}
	for i := range m.n {
		k := m.at[i*m.rank]
		to := next[k]
		next[k]++
		moved[i] = int64(to)
		copy(at[to*m.rank:], m.row(i))
		copyElements(values, m.values, to, i, 1)
	}
	if err := setInts(c, 0, at, total, m.rank); err != nil {
		return err
	}
	return setInts(c, 3, moved, m.n)
}

// fillGrads has fillGrad by element type.
var fillGrads = withHalves(elementwise.ByType{
	tensor.Float32: fillGrad[float32], tensor.Float64: fillGrad[float64], tensor.Int32: fillGrad[int32], tensor.Int64: fillGrad[int64],
	tensor.Int8: fillGrad[int8], tensor.Int16: fillGrad[int16], tensor.Uint8: fillGrad[uint8], tensor.Uint16: fillGrad[uint16],
	tensor.Uint32: fillGrad[uint32], tensor.Uint64: fillGrad[uint64], tensor.Complex64: fillGrad[complex64], tensor.Complex128: fillGrad[complex128],
}, []int{1}, []int{0, 1})

// FillEmptyRowsGrad computes the gradients of the values and the default that filled
// the empty rows of a sparse tensor, or of a ragged one.
func FillEmptyRowsGrad(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	return fillGrads.RunAs(c, c.In(1).DType())
}

// fillGrad returns the gradients of the values and of the default before
// filling. A value gets the gradient at its new index, the default the sum of
// all others.
func fillGrad[T numeric](c *engine.Call) error {
	moved, grads := c.In(0), tensor.Values[T](c.In(1))
	if len(moved.Shape()) != 1 || moved.DType() != tensor.Int64 || len(c.In(1).Shape()) != 1 {
		return fmt.Errorf("takes two vectors, not %v%v and %v", moved.DType(), moved.Shape(), c.In(1).Shape())
	}
	out, err := c.Alloc(0, c.In(1).DType(), moved.Shape())
	if err != nil {
		return err
	}
	v := tensor.Values[T](out)
	seen := make([]bool, len(grads))
	for i, k := range tensor.Values[int64](moved) {
		if k < 0 || k >= int64(len(grads)) {
			return fmt.Errorf("place %d is outside of [0, %d)", k, len(grads))
		}
		v[i], seen[k] = grads[k], true
	}
	var rest T
	for k, was := range seen {
		if !was {
			rest += grads[k]
		}
	}
	c.Set(1, tensor.Scalar(rest))
	return nil
}

// reduction is the way in which the rows of a segment are reduced.
type reduction uint8

const (
	sum reduction = iota
	mean
	sqrtN
)

// segments reduces the rows of data that indices name, segment by segment; the
// segments' numbers never fall. A fourth input is the number of segments.
func segments(how reduction) func(*engine.Node) (func(*engine.Call) error, error) {
	table := elementwise.ByType{
		tensor.Float32: segment[float32](how), tensor.Float64: segment[float64](how),
		tensor.Float16: segmentHalf[tensor.F16](how), tensor.BFloat16: segmentHalf[tensor.BF16](how),
	}
	if how == sum {
		table[tensor.Int8], table[tensor.Int16], table[tensor.Int32], table[tensor.Int64] = segment[int8](how), segment[int16](how), segment[int32](how), segment[int64](how)
		table[tensor.Uint8], table[tensor.Uint16], table[tensor.Uint32], table[tensor.Uint64] = segment[uint8](how), segment[uint16](how), segment[uint32](how), segment[uint64](how)
	}
	return func(*engine.Node) (func(*engine.Call) error, error) {
		return func(c *engine.Call) error {
			if err := c.NeedTensors(0); err != nil {
				return err
			}
			if n := c.NumIn(); n != 3 && n != 4 {
				return fmt.Errorf("takes 3 or 4 inputs, %d were given", n)
			}
			return table.RunAs(c, c.In(0).DType())
		}, nil
	}
}

// plan has the row and the segment of each index.
type plan struct {
	rows, ids []int64
	width     int
	out       *tensor.Tensor
}

// newPlan reads and checks the inputs, and allocates output 0 with zeros: segments without rows
// stay zero.
func newPlan(c *engine.Call) (p plan, err error) {
	data, s := c.In(0), c.In(0).Shape()
	if len(s) < 1 || len(c.In(1).Shape()) != 1 || len(c.In(2).Shape()) != 1 || c.In(1).Len() != c.In(2).Len() {
		return p, fmt.Errorf("data of shape %v, indices of %v and segments of %v don't fit", s, c.In(1).Shape(), c.In(2).Shape())
	}
	if p.rows, err = shapes.Ints(c.In(1), "the indices"); err != nil {
		return p, err
	}
	if p.ids, err = shapes.Ints(c.In(2), "the segments"); err != nil {
		return p, err
	}
	n := int64(0)
	for i, id := range p.ids {
		if id < 0 || i > 0 && id < p.ids[i-1] {
			return p, fmt.Errorf("segment %d is out of order", id)
		}
		if k := p.rows[i]; k < 0 || k >= int64(s[0]) {
			return p, fmt.Errorf("row %d is outside of [0, %d)", k, s[0])
		}
		n = id + 1
	}
	if c.NumIn() == 4 {
		given, err := shapes.Int(c.In(3), "the number of segments")
		if err != nil {
			return p, err
		}
		if given < n || given != int64(int(given)) {
			return p, fmt.Errorf("there are %d segments, not %d", n, given)
		}
		n = given
	}
	if n != int64(int(n)) {
		return p, fmt.Errorf("there are %d segments", n)
	}
	p.width = shapes.Count(s[1:])
	p.out, err = c.AllocZero(0, data.DType(), append(tensor.Shape{int(n)}, s[1:]...))
	return p, err
}

// number has the types of the rows' elements.
type number interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
	tensor.Element
}

// segment returns the kernel for type T.
func segment[T number](how reduction) elementwise.Func {
	return func(c *engine.Call) error {
		p, err := newPlan(c)
		if err != nil {
			return err
		}
		reduce(c, &p, tensor.Values[T](p.out), tensor.Values[T](c.In(0)), how)
		return nil
	}
}

// segmentHalf returns the kernel for half precision, computed in float32.
func segmentHalf[H elementwise.Half](how reduction) elementwise.Func {
	return func(c *engine.Call) error {
		p, err := newPlan(c)
		if err != nil {
			return err
		}
		in, out := make([]float32, c.In(0).Len()), make([]float32, p.out.Len())
		elementwise.Widen(in, tensor.Values[H](c.In(0)))
		reduce(c, &p, out, in, how)
		elementwise.Narrow(tensor.Values[H](p.out), out)
		return nil
	}
}

// reduce sums the rows and divides by their number, or its square root.
func reduce[T number](c *engine.Call, p *plan, out, in []T, how reduction) {
	pace := engine.NewPace(c)
	for from := 0; from < len(p.ids); {
		to := from
		row := out[int(p.ids[from])*p.width:][:p.width]
		for ; to < len(p.ids) && p.ids[to] == p.ids[from]; to++ {
			pace.Work(p.width + 1)
			for j, x := range in[int(p.rows[to])*p.width:][:p.width] {
				row[j] += x
			}
		}
		if n := to - from; n > 1 && how != sum {
			by := divisor[T](n, how)
			for j := range row {
				row[j] /= by
			}
		}
		from = to
	}
}
