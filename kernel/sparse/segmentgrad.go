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

// The kernels of SparseSegmentSumGrad, SparseSegmentMeanGrad and
// SparseSegmentSqrtNGrad, and of their V2 forms.

// segmentsGrad returns the kernel for the gradients of the rows of segments,
// from those of the segments. It returns gradients of all rows of the data. If
// compact is set, it returns those of the rows that the indices name, and these
// indices.
func segmentsGrad(op string, how reduction, compact bool) engine.Kernel {
	out := []int{0}
	t := withHalves(elementwise.ByType{tensor.Float32: segmentGrad[float32](how, compact), tensor.Float64: segmentGrad[float64](how, compact)}, out, out)
	k := byValues(op, 4, 0, t, engine.Accumulated)
	return k
}

// segmentGrad returns the kernel for type T.
func segmentGrad[T float32 | float64](how reduction, compact bool) elementwise.Func {
	return func(c *engine.Call) error {
		grad, s := c.In(0), c.In(0).Shape()
		if len(s) < 1 || len(c.In(1).Shape()) != 1 || len(c.In(2).Shape()) != 1 || c.In(1).Len() != c.In(2).Len() {
			return fmt.Errorf("gradients of shape %v, indices of %v and segments of %v don't fit", s, c.In(1).Shape(), c.In(2).Shape())
		}
		rows, err := shapes.Ints(c.In(1), "the indices")
		if err != nil {
			return err
		}
		ids, err := shapes.Ints(c.In(2), "the segments")
		if err != nil {
			return err
		}
		n, err := shapes.Int(c.In(3), "the number of rows")
		if err != nil {
			return err
		}
		if n < 0 || n != int64(int(n)) {
			return fmt.Errorf("the number of rows is %d", n)
		}
		counts := make([]int, s[0])
		for i, id := range ids {
			if id < 0 || id >= int64(s[0]) {
				return fmt.Errorf("segment %d is outside of [0, %d)", id, s[0])
			}
			if k := rows[i]; k < 0 || k >= n {
				return fmt.Errorf("row %d is outside of [0, %d)", k, n)
			}
			counts[id]++
		}
		place := func(k int64) int { return int(k) }
		if compact {
			named := slices.Compact(slices.Sorted(slices.Values(rows)))
			place = func(k int64) int {
				i, _ := slices.BinarySearch(named, k)
				return i
			}
			if n = int64(len(named)); c.In(1).DType() == tensor.Int32 {
				narrow := make([]int32, len(named))
				for i, k := range named {
					narrow[i] = int32(k)
				}
				c.Set(1, tensor.Vector(narrow...))
			} else {
				c.Set(1, tensor.Vector(named...))
			}
		}
		out, err := c.AllocZero(0, grad.DType(), append(tensor.Shape{int(n)}, s[1:]...))
		if err != nil {
			return err
		}
		width := shapes.Count(s[1:])
		v, dy := tensor.Values[T](out), tensor.Values[T](grad)
		pace := engine.NewPace(c)
		for i, id := range ids {
			pace.Work(width + 1)
			scale := T(1)
			switch how {
			case mean:
				scale = T(1 / float64(max(counts[id], 1)))
			case sqrtN:
				scale = T(1 / math.Sqrt(float64(max(counts[id], 1))))
			}
			row := v[place(rows[i])*width:][:width]
			for j, x := range dy[int(id)*width:][:width] {
				row[j] += x * scale
			}
		}
		return nil
	}
}
