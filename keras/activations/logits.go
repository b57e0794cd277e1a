package activations

import "github.com/cairnml/cairn/ops"

type logitsKey struct{}

// LogitsOf returns the values that [Softmax] or [Sigmoid] computed v from, nil if v isn't
// the result of one of them. Crossentropies use them, as tf_keras's do, since they are
// more exact than the logarithms of probabilities.
func LogitsOf(v *ops.Value) *ops.Value {
	x, _ := v.Note(logitsKey{}).(*ops.Value)
	return x
}

// WithLogits notes that v was computed from logits, nil for none, and returns v.
func WithLogits(v, logits *ops.Value) *ops.Value {
	if v != nil && logits != nil {
		v.SetNote(logitsKey{}, logits)
	}
	return v
}

// fromLogits returns f with the logits noted on its results.
func fromLogits(f Func) Func {
	return func(s *ops.Scope, x ops.Input) *ops.Value {
		logits := ops.Const(s, x)
		y := f(s, logits)
		if s.Err() != nil {
			return y
		}
		return WithLogits(y, logits)
	}
}
