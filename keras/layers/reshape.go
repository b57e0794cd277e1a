package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Reshape changes the shape of its input. The batch's dimension is kept.
type Reshape struct {
	base.Layer
	// TargetShape is the shape without the batch's dimension. One size may be -1, which
	// follows from the others. It is required.
	TargetShape []int
}

// Call reshapes x.
func (r *Reshape) Call(s *ops.Scope, x ops.Input) *ops.Value { return r.Run(s, r, x, nil) }

// Compute reshapes x.
func (r *Reshape) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	target, err := r.target(x)
	if err != nil {
		return s.Fail("Reshape", err)
	}
	if in := x.Fact().Shape; in.HasRank() && in.Rank() > 0 && in.Dim(0) >= 0 {
		return ops.Reshape(s, x, append([]int{in.Dim(0)}, target...)...)
	}
	rest := make([]int32, len(target))
	for i, n := range target {
		rest[i] = int32(n)
	}
	batch := ops.StridedSlice(s, ops.Shape(s, x), ops.To(1))
	return ops.ReshapeTo(s, x, ops.Concat(s, []ops.Input{batch, rest}, 0))
}

// target returns TargetShape, with the size that is -1 computed if the input's sizes are
// known. The limit of 1<<30 elements is ours.
func (r *Reshape) target(x *ops.Value) ([]int, error) {
	target, free, n := append([]int(nil), r.TargetShape...), -1, 1
	for i, size := range target {
		switch {
		case size >= 0 && size <= 1<<30:
			n *= max(size, 1)
		case size == -1 && free < 0:
			free = i
			continue
		default:
			return nil, fmt.Errorf("the shape %v has the size %d; want sizes from 0 and at most one -1", target, size)
		}
		if n > 1<<30 {
			return nil, fmt.Errorf("the shape %v is too large", target)
		}
	}
	in := x.Fact().Shape
	if !in.HasRank() || in.Rank() == 0 {
		return target, nil
	}
	rest := tensor.Shape(in.Dims()[1:])
	have := 1
	for _, size := range rest {
		if size < 0 {
			return target, nil
		}
		have *= size
	}
	want := tensor.Shape(target)
	if free >= 0 {
		want[free] = 0
		if n > 0 && have%n == 0 {
			want[free] = have / n
		}
	}
	if got, err := want.NumElements(); err != nil || got != have {
		return nil, fmt.Errorf("the shape %v doesn't fit an input of shape %v", r.TargetShape, in)
	}
	return want, nil
}
