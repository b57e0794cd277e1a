package layers

import (
	"errors"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/ops"
)

// UnitNormalization divides its input by the Euclidean norm over some dimensions.
type UnitNormalization struct {
	base.Layer
	// Axis are the dimensions of the norms. Default: the last one.
	Axis constraints.Axes `keras:",default=-1"`

	listed bool // the axis of the config is a list
}

// EncodeConfig returns the fields.
func (u *UnitNormalization) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	return listAxis(e, u, u.listed, u.Axis)
}

// DecodeConfig reads the fields.
func (u *UnitNormalization) DecodeConfig(d *config.Decoder, fields map[string]any) error {
	_, u.listed = fields["axis"].([]any)
	return d.Fields("UnitNormalization", u, fields)
}

// PassesMask marks a layer whose output has the mask of its input.
func (u *UnitNormalization) PassesMask() {}

// Call returns x divided by its norms.
func (u *UnitNormalization) Call(s *ops.Scope, x ops.Input) *ops.Value { return u.Run(s, u, x, nil) }

// Compute returns x divided by its norms.
func (u *UnitNormalization) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	rank := x.Fact().Shape.Rank()
	if rank < 0 {
		return s.Fail("UnitNormalization", errors.New("the input has an unknown rank"))
	}
	axes, err := fromFront(u.Axis, rank)
	if err != nil {
		return s.Fail("UnitNormalization", err)
	}
	return ops.L2Normalize(s, x, 1e-12, axes...)
}
