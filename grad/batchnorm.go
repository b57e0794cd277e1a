package grad

import (
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// The rules of FusedBatchNorm and FusedBatchNormGrad and of their versions V2 and V3. TensorFlow's are in
// nn_grad.py.

// training reports whether a normalization normalizes by the batch, as it does
// unless the attribute has false.
func training(op *Op) bool {
	_, given := op.Attrs().Lookup("is_training")
	return !given || op.Attrs().Bool("is_training")
}

// gradBatchNorm computes the gradients of a batch normalization. As in TensorFlow, only
// the normalized image has a gradient, not the outputs mean and variance.
func gradBatchNorm(s *ops.Scope, op *Op) {
	dy := op.Grad(0)
	if dy == nil {
		return
	}
	var attrs graph.Attrs
	for _, a := range op.Attrs() {
		switch a.Name {
		case "epsilon", "data_format", "is_training":
			attrs = append(attrs, a)
		}
	}
	mean, variance := op.Out(3), op.Out(4)
	if !training(op) {
		mean, variance = op.In(3), op.In(4)
	}
	version := strings.TrimPrefix(op.Name(), "FusedBatchNorm")
	in := []ops.Input{dy, op.In(0), op.In(1), mean, variance}
	if version == "V3" {
		in = append(in, op.Out(5))
	}
	out := s.EmitN(5, "FusedBatchNormGrad"+version, attrs, in...)
	for i := range 3 {
		if op.Needs(i) {
			op.Give(i, out[i])
		}
	}
}

// gradBatchNormGrad computes the gradients of the gradients of a batch normalization,
// with regard to the gradient, the image and the scale.
func gradBatchNormGrad(s *ops.Scope, op *Op) {
	byFormula(s, op, 3, func(s *ops.Scope, in []*ops.Value) []*ops.Value { return batchNormGrads(s, op, in[0], in[1], in[2]) })
}

// batchNormGrads returns the gradients of a batch normalization with regard to the
// image, the scale and the offset, spelled out.
func batchNormGrads(s *ops.Scope, op *Op, dy, x, scale *ops.Value) []*ops.Value {
	d, wide := x.DType(), scale.DType()
	if d != wide {
		x, dy = ops.Cast(s, x, wide), ops.Cast(s, dy, wide)
	}
	axes := []int{0, 1, 2}
	perChannel := func(v *ops.Value) *ops.Value { return v }
	switch op.Attrs().String("data_format", "NHWC") {
	case "NDHWC":
		axes = []int{0, 1, 2, 3}
	case "NCHW":
		axes = []int{0, 2, 3}
		perChannel = func(v *ops.Value) *ops.Value { return ops.Reshape(s, v, 1, -1, 1, 1) }
	case "NCDHW":
		axes = []int{0, 2, 3, 4}
		perChannel = func(v *ops.Value) *ops.Value { return ops.Reshape(s, v, 1, -1, 1, 1, 1) }
	}
	epsilon := op.Attrs().Float("epsilon", 1e-4)
	gain, dOffset := perChannel(scale), ops.Sum(s, dy, axes...)
	var dx, dScale *ops.Value
	if training(op) {
		mean := ops.MeanKeep(s, x, axes...)
		centered := ops.Sub(s, x, mean)
		variance := ops.Add(s, ops.MeanKeep(s, ops.Square(s, centered), axes...), epsilon)
		inverse := ops.Rsqrt(s, variance)
		both := ops.Mul(s, dy, centered)
		along := ops.Mul(s, centered, ops.Div(s, ops.MeanKeep(s, both, axes...), variance))
		dx = ops.Mul(s, ops.Mul(s, gain, inverse), ops.Sub(s, ops.Sub(s, dy, ops.MeanKeep(s, dy, axes...)), along))
		dScale = ops.Mul(s, ops.Reshape(s, inverse, -1), ops.Sum(s, both, axes...))
	} else {
		inverse := ops.Rsqrt(s, ops.Add(s, perChannel(op.In(4)), epsilon))
		dx = ops.Mul(s, dy, ops.Mul(s, gain, inverse))
		dScale = ops.Sum(s, ops.Mul(s, dy, ops.Mul(s, ops.Sub(s, x, perChannel(op.In(3))), inverse)), axes...)
	}
	if d != wide {
		dx = ops.Cast(s, dx, d)
	}
	return []*ops.Value{dx, dScale, dOffset}
}
