package applications

import (
	"fmt"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Mode is the way in which images are prepared for a model.
type Mode string

// The modes of [Preprocess].
const (
	// ModeCaffe turns RGB into BGR and subtracts the mean of ImageNet from each channel.
	ModeCaffe Mode = "caffe"
	// ModeTF scales pixels from 0 to 255 to numbers from -1 to 1.
	ModeTF Mode = "tf"
	// ModeTorch scales pixels to numbers from 0 to 1, then normalizes each channel to the
	// mean 0 and the deviation 1 over ImageNet.
	ModeTorch Mode = "torch"
)

// The mean and the deviation of each channel over ImageNet, of pixels of 0 to 1.
var (
	imageNetMean      = []float64{0.485, 0.456, 0.406}
	imageNetDeviation = []float64{0.229, 0.224, 0.225}
)

// Preprocess prepares images for a model as tf_keras's preprocess_input does. x are RGB
// pixels of 0 to 255, [height, width, 3] or [batch, height, width, 3]. Integers become
// tensor.Float32. Models that scale pixels themselves need no preprocessing.
func Preprocess(s *ops.Scope, x ops.Input, mode Mode) *ops.Value {
	v := ops.Const(s, x)
	if s.Err() != nil {
		return v
	}
	if !v.DType().IsFloating() {
		v = ops.Cast(s, v, tensor.Float32)
	}
	list := func(values ...float64) *ops.Value { return ops.Cast(s, ops.Const(s, values), v.DType()) }
	switch mode {
	case ModeTF:
		return ops.Sub(s, ops.Div(s, v, 127.5), 1.0)
	case ModeTorch:
		v = ops.Sub(s, ops.Div(s, v, 255.0), list(imageNetMean...))
		return ops.Div(s, v, list(imageNetDeviation...))
	case ModeCaffe:
		return ops.Sub(s, ops.Reverse(s, v, -1), list(103.939, 116.779, 123.68))
	}
	return s.Fail("Preprocess", fmt.Errorf("the mode is %q, want %q, %q or %q", mode, ModeCaffe, ModeTF, ModeTorch))
}
