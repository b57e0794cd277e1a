package layers

import (
	"errors"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// Wrapper holds another layer. By itself it returns its input; [TimeDistributed] and
// [Bidirectional] call the layer.
type Wrapper struct {
	base.Layer
	// Inner is the other layer. It is required.
	Inner base.Callable `keras:"layer" cairn:"layer"`
}

// CompleteLayer checks that there is a layer.
func (w *Wrapper) CompleteLayer() error { return wrap(w.Inner) }

// BuildLayer builds the inner layer.
func (w *Wrapper) BuildLayer(s *ops.Scope, in base.Shapes) error { return buildInner(s, w.Inner, in) }

// Call returns x.
func (w *Wrapper) Call(s *ops.Scope, x ops.Input) *ops.Value { return w.Run(s, w, x, nil) }

// Compute returns x.
func (w *Wrapper) Compute(_ *ops.Scope, x *ops.Value) *ops.Value { return x }

// wrap leaves the name of a wrapper's inner layer out of the names of its variables.
func wrap(inner base.Callable) error {
	if inner == nil {
		return errors.New("there is no inner layer")
	}
	if l, ok := inner.(base.LayerLike); ok {
		l.AsLayer().Inline()
	}
	return nil
}

// buildInner builds the inner layer of a wrapper. A Callable that is no layer has nothing to build.
func buildInner(s *ops.Scope, inner base.Callable, in base.Shapes) error {
	if l, ok := inner.(base.LayerLike); ok {
		return base.Build(s, l, in...)
	}
	return nil
}
