package grad_test

import (
	"strings"
	"testing"

	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// withRegularizer returns w·x with a regularizer, whose gradient for w = 3, x = 5 and half of
// w² is 5 + 3.
func regularized(w *trackable.Variable) (fit, penalty func(s *ops.Scope) *ops.Value) {
	fit = func(s *ops.Scope) *ops.Value { return ops.Mul(s, w, 5) }
	penalty = func(s *ops.Scope) *ops.Value { return ops.Mul(s, ops.Square(s, w), 0.5) }
	return fit, penalty
}

func TestOfLeavesNoTermOut(t *testing.T) {
	s := scope()
	w := trackable.NewVariable(tensor.Scalar(3.0))
	fit, penalty := regularized(w)
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Add(s, fit(s), penalty(s)) })
	g := tape.Gradient(loss, []*trackable.Variable{w})
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	if item(t, loss) != 19.5 || item(t, g[0].Grad) != 8 {
		t.Errorf("loss %v, gradient %v, want 19.5 and 8", loss, g[0].Grad)
	}
}

func TestOfTakesOptionsAndNests(t *testing.T) {
	s := scope()
	x := scalar(2)
	watch := &grad.Options{Watch: []*ops.Value{x}}
	dy, second := grad.Of(s, func(s *ops.Scope) *ops.Value {
		y, first := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Mul(s, x, ops.Square(s, x)) }, watch)
		return first.GradientOf(y, x)[0]
	}, watch)
	d2y := second.GradientOf(dy, x)[0]
	if s.Err() != nil || item(t, dy) != 12 || item(t, d2y) != 12 {
		t.Errorf("derivatives of x³ at 2 are %v and %v (%v)", dy, d2y, s.Err())
	}
}

// A term that is computed on another scope than the recorded one has no
// gradient: that is an error, wherever the term comes in.
func TestATermOnTheWrongScopeIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		f    func(s *ops.Scope, w *trackable.Variable)
		want string // part of the error; "" for none
	}{
		"a regularizer": {func(s *ops.Scope, w *trackable.Variable) {
			fit, penalty := regularized(w)
			rec, _ := grad.Record(s)
			ops.Add(rec, fit(rec), penalty(s))
		}, "input 1 was computed on another scope"},
		"all of the loss but its last op": {func(s *ops.Scope, w *trackable.Variable) {
			_, penalty := regularized(w)
			rec, _ := grad.Record(s)
			ops.Mul(rec, penalty(s), 2)
		}, "input 0 was computed on another scope"},
		"the sum": {func(s *ops.Scope, w *trackable.Variable) {
			fit, penalty := regularized(w)
			rec, tape := grad.Record(s)
			tape.Gradient(ops.Add(s, fit(rec), penalty(rec)), []*trackable.Variable{w})
		}, "target 0 was computed on another scope"},
		"a read": {func(s *ops.Scope, w *trackable.Variable) {
			rec, _ := grad.Record(s)
			ops.Square(rec, ops.ReadVariable(s, w))
		}, "input 0 was computed on another scope"},
		"an outer tape's scope": {func(s *ops.Scope, w *trackable.Variable) {
			fit, penalty := regularized(w)
			outer, _ := grad.Record(s)
			inner, _ := grad.Record(outer)
			ops.Add(inner, fit(inner), penalty(outer))
		}, "input 1 was computed on another scope"},
		"a gradient of the same persistent tape": {func(s *ops.Scope, w *trackable.Variable) {
			_, penalty := regularized(w)
			rec, tape := grad.Record(s, &grad.Options{Persistent: true})
			g := tape.Gradient(penalty(rec), []*trackable.Variable{w})
			ops.Square(rec, g[0].Grad)
		}, "input 0 was computed on another scope"},
		"a watched value": {func(s *ops.Scope, _ *trackable.Variable) {
			x := scalar(2)
			rec, tape := grad.Record(s)
			tape.Watch(x)
			ops.Add(rec, x, ops.Square(s, x))
		}, "input 1 was computed on another scope"},

		"before the recording": {func(s *ops.Scope, w *trackable.Variable) {
			fit, penalty := regularized(w)
			p := penalty(s)
			rec, _ := grad.Record(s)
			ops.Add(rec, fit(rec), p)
		}, ""},
		"stopped on the recording scope": {func(s *ops.Scope, w *trackable.Variable) {
			fit, penalty := regularized(w)
			rec, _ := grad.Record(s)
			ops.Add(rec, fit(rec), ops.StopGradient(rec, penalty(s)))
		}, ""},
		"stopped where it was computed": {func(s *ops.Scope, w *trackable.Variable) {
			fit, penalty := regularized(w)
			rec, _ := grad.Record(s)
			ops.Add(rec, fit(rec), ops.StopGradient(s, penalty(s)))
		}, ""},
		"no gradient to miss": {func(s *ops.Scope, w *trackable.Variable) {
			fit, penalty := regularized(w)
			rec, _ := grad.Record(s)
			ops.Greater(rec, fit(rec), penalty(s))
		}, ""},
		"not trainable": {func(s *ops.Scope, w *trackable.Variable) {
			fit, _ := regularized(w)
			rate := trackable.NewVariable(tensor.Scalar(0.1)).SetTrainable(false)
			rec, _ := grad.Record(s)
			ops.Mul(rec, fit(rec), ops.Square(s, rate))
		}, ""},
		"after the gradient": {func(s *ops.Scope, w *trackable.Variable) {
			fit, penalty := regularized(w)
			rec, tape := grad.Record(s)
			loss := fit(rec)
			tape.Gradient(loss, []*trackable.Variable{w})
			ops.Add(rec, loss, penalty(s))
		}, ""},
		"before a reset": {func(s *ops.Scope, w *trackable.Variable) {
			fit, penalty := regularized(w)
			rec, tape := grad.Record(s)
			p := penalty(s)
			tape.Reset()
			ops.Add(rec, fit(rec), p)
		}, ""},
		"after a reset": {func(s *ops.Scope, w *trackable.Variable) {
			fit, penalty := regularized(w)
			rec, tape := grad.Record(s)
			tape.Gradient(fit(rec), []*trackable.Variable{w})
			tape.Reset()
			ops.Add(rec, fit(rec), penalty(s))
		}, "input 1 was computed on another scope"},
	} {
		t.Run(name, func(t *testing.T) {
			s := scope()
			c.f(s, trackable.NewVariable(tensor.Scalar(3.0)))
			switch err := s.Err(); {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("want an error with %q, got %v", c.want, err)
			case c.want != "" && !strings.HasPrefix(err.Error(), "scopes_test.go:"):
				t.Errorf("the error doesn't name the line: %v", err)
			}
		})
	}
}
