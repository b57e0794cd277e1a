package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
)

// InputLayer passes its input on. It represents an input of a functional or sequential
// model, which is a node of the object graph.
type InputLayer struct {
	base.Layer `keras:",order=batch_input_shape dtype sparse ragged name optional"`
	// Sparse marks an input of sparse tensors.
	Sparse bool
	// Ragged marks an input of ragged tensors.
	Ragged bool
	// Optional marks an input that a call may leave out.
	Optional bool
}

// EncodeConfig returns the config, in which a shape that isn't known is null.
func (i *InputLayer) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	fields, err := e.Fields(i)
	if err == nil && i.BatchInputShape == nil {
		fields = append(config.Fields{{Name: "batch_input_shape", Value: nil}}, fields...)
	}
	return fields, err
}

// BuildConfig returns nil: the shape is in the config.
func (i *InputLayer) BuildConfig() config.Fields { return nil }

// AutomaticName numbers inputs from 1.
func (i *InputLayer) AutomaticName() (stem string, first int) { return "input", 1 }

// KeepsInputTypes marks a layer that casts no inputs.
func (i *InputLayer) KeepsInputTypes() {}

// Form returns "sparse" or "ragged" for an input of such tensors, else "".
func (i *InputLayer) Form() string {
	switch {
	case i.Sparse:
		return "sparse"
	case i.Ragged:
		return "ragged"
	}
	return ""
}

// TakesSparse marks a layer that takes sparse inputs.
func (i *InputLayer) TakesSparse() {}

// TakesRagged marks a layer that takes ragged inputs.
func (i *InputLayer) TakesRagged() {}

// PassesMask marks a layer whose output has the mask of its input.
func (i *InputLayer) PassesMask() {}

// Call returns x.
func (i *InputLayer) Call(s *ops.Scope, x ops.Input) *ops.Value { return i.Run(s, i, x, nil) }

// Compute returns x.
func (i *InputLayer) Compute(_ *ops.Scope, x *ops.Value) *ops.Value { return x }
