package base

import (
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Stateful is implemented by layers that keep states from call to call.
type Stateful interface {
	// IsStateful reports whether the layer has such states now.
	IsStateful() bool
	// ResetStates sets the states to the given tensors, one for each state in the order of the
	// layer's states. Without arguments it sets them to zeros.
	ResetStates(states ...*tensor.Tensor) error
}

// ResetStates sets the states of all stateful layers below obj to zeros, as a Keras model's
// reset_states does. Layers that aren't built have none. It ends at the first error; layers before
// that are reset.
func ResetStates(obj trackable.Trackable) error {
	var failed error
	eachObject(obj, func(obj trackable.Trackable) {
		if l, ok := obj.(Stateful); ok && failed == nil && l.IsStateful() {
			failed = l.ResetStates()
		}
	})
	return failed
}
