package layers

import "github.com/cairnml/cairn/ops"

// SpatialDropout3D is [SpatialDropout2D] for volumes.
type SpatialDropout3D SpatialDropout2D

// PassesMask marks a layer whose output has the mask of its input.
func (d *SpatialDropout3D) PassesMask() {}

// Call drops channels of x in a training scope.
func (d *SpatialDropout3D) Call(s *ops.Scope, x ops.Input) *ops.Value { return d.Run(s, d, x, nil) }

// Compute drops channels of x in a training scope. x has 5 dimensions.
func (d *SpatialDropout3D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return (*SpatialDropout2D)(d).drop(s, "SpatialDropout3D", x, 3)
}
