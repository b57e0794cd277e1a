package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// LayerScale multiplies each channel by a number that is learned. It is the layer of that name
// in tf_keras.applications.convnext; tf_keras.layers has none.
type LayerScale struct {
	base.Layer
	// InitValues is the first value of all numbers. It is required.
	InitValues float64
	// ProjectionDim is the number of channels. It is required.
	ProjectionDim int

	// Gamma is nil until the layer is built.
	Gamma *trackable.Variable `cairn:"-"`
}

// Weights lists Gamma.
func (l *LayerScale) Weights(base.Shapes) ([]base.Weight, error) {
	return []base.Weight{{To: &l.Gamma, Edge: "gamma", Shape: tensor.Shape{l.ProjectionDim}, Init: initializers.Constant{Value: l.InitValues}}}, nil
}

// Call returns x times Gamma.
func (l *LayerScale) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// Compute returns x times Gamma.
func (l *LayerScale) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return ops.Mul(s, x, l.Read(s, l.Gamma))
}
