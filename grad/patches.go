package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// patchRules are the rules of windows of images and of projective transforms.
var patchRules = map[string]Rule{
	"ExtractImagePatches":        gradPatches("ksizes", "strides", "rates", "padding"),
	"ExtractVolumePatches":       gradPatches("ksizes", "strides", "padding"),
	"ImageProjectiveTransformV2": gradProjective,
	"ImageProjectiveTransformV3": gradProjective,
}

// gradPatches returns the rule of an op that puts windows of images into rows:
// each place of an image gets the sum over the windows that contain it. The op
// itself, applied to an image of the places' numbers, determines these windows.
func gradPatches(attrs ...string) Rule {
	return func(s *ops.Scope, op *Op) {
		var kept graph.Attrs
		for _, a := range op.Attrs() {
			for _, name := range attrs {
				if a.Name == name {
					kept = append(kept, a)
				}
			}
		}
		shape := ops.Cast(s, sizesOf(s, op.In(0)), tensor.Int64)
		inner := ops.StridedSlice(s, shape, ops.Span(1, -1)) // the places' sizes
		batch, channels := ops.StridedSlice(s, shape, ops.To(1)), ops.StridedSlice(s, shape, ops.From(-1))
		n := productOf(s, inner)
		one := tensor.Vector[int64](1)
		places := ops.ReshapeTo(s, ops.Range(s, int64(1), ops.Add(s, n, int64(1)), int64(1)), joinVectors(s, one, inner, one))
		ids := ops.Reshape(s, s.Emit1(op.Name(), kept, places), -1)
		// Windows' places first, then images and channels, as the sum takes rows.
		rows := vector(s, ops.Size(s, ids))
		dy := ops.ReshapeTo(s, op.Grad(0), joinVectors(s, batch, ops.Cast(s, rows, tensor.Int64), channels))
		dy = ops.Transpose(s, dy, 1, 0, 2)
		// Places in the padding have the number 0, and -1 is no row.
		sum := s.Emit1("UnsortedSegmentSum", nil, dy, ops.Sub(s, ids, int64(1)), n)
		op.Give(0, reshapeLike(s, ops.Transpose(s, sum, 1, 0, 2), op.In(0)))
	}
}

// gradProjective transforms the gradient by the inverse transforms, as TensorFlow
// does. That only approximates the derivative.
func gradProjective(s *ops.Scope, op *Op) {
	flat := ops.Reshape(s, op.In(1), -1, 8)
	last := ops.OnesLike(s, ops.StridedSlice(s, flat, ops.Whole(), ops.To(1)))
	inverse := s.Emit1("MatrixInverse", nil, ops.Reshape(s, ops.Concat(s, []*ops.Value{flat, last}, 1), -1, 3, 3))
	flat = ops.Reshape(s, inverse, -1, 9)
	flat = ops.Div(s, ops.StridedSlice(s, flat, ops.Whole(), ops.To(8)), ops.StridedSlice(s, flat, ops.Whole(), ops.From(8)))
	size := ops.StridedSlice(s, sizesOf(s, op.In(0)), ops.Span(1, 3))
	in := []ops.Input{op.Grad(0), flat, size}
	if op.NumIn() == 4 {
		in = append(in, tensor.Scalar[float32](0)) // the value outside of the image, whatever the images' type
	}
	op.Give(0, s.Emit1(op.Name(), op.Attrs(), in...))
}
