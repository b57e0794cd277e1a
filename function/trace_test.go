package function_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

type linearIn struct{ X *ops.Value }

type linearOut struct{ Probs, Logits *ops.Value }

type linear struct{ w, b *trackable.Variable }

func (l *linear) predict(s *ops.Scope, in linearIn) linearOut {
	logits := ops.Add(s, ops.MatMul(s, in.X, l.w), l.b)
	return linearOut{Probs: ops.Softmax(s, logits), Logits: logits}
}

func newLinear() *linear {
	return &linear{
		trackable.NewVariable(tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2))).Named("w"),
		trackable.NewVariable(tensor.Vector[float32](0.5, -0.5)).Named("b"),
	}
}

func TestATracedCallEqualsTheEagerOne(t *testing.T) {
	l := newLinear()
	ctx := context.Background()
	eager, traced := function.New(l.predict), function.New(l.predict)
	c, err := traced.Trace(linearIn{ops.Spec(tensor.Float32, -1, 4)})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Captures) != 2 || c.NumArgs() != 1 || len(c.Function.Results) != 2 {
		t.Errorf("the trace is\n%v", c)
	}
	if got := c.Function.Results[0].Output.Fact().Shape.Anonymous(); got.Dim(0) != -1 || got.Dim(1) != 2 {
		t.Errorf("probs has shape %v", got)
	}
	x := ops.ValueOf(tensor.Must(tensor.New([]float32{1, -2, 3, -4, .1, .2, .3, .4}, 2, 4)))
	for range 3 {
		a, err := eager.Call(ctx, linearIn{x})
		if err != nil {
			t.Fatal(err)
		}
		b, err := traced.Call(ctx, linearIn{x})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range floats(t, a.Probs) {
			if got := floats(t, b.Probs)[i]; got != want {
				t.Errorf("element %d: traced %v, eager %v", i, got, want)
			}
		}
	}
}

func TestATracedStepTrains(t *testing.T) {
	run := func(mode function.Mode) (losses []float32, w []float32) {
		l := newLinear()
		step := function.New(func(s *ops.Scope, in linearIn) *ops.Value {
			loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
				return ops.Mean(s, ops.Square(s, l.predict(s, in).Logits))
			})
			for _, g := range tape.Gradient(loss, []*trackable.Variable{l.w, l.b}) {
				ops.AssignSub(s, g.Variable, ops.Mul(s, g.Grad, 0.01))
			}
			return loss
		}, &function.Options{Mode: mode})
		x := ops.ValueOf(tensor.Must(tensor.New([]float32{1, -2, 3, -4, .1, .2, .3, .4}, 2, 4)))
		for range 5 {
			loss, err := step.Call(context.Background(), linearIn{x})
			if err != nil {
				t.Fatal(err)
			}
			losses = append(losses, floats(t, loss)[0])
		}
		return losses, tensor.Values[float32](l.w.Load())
	}
	el, ew := run(function.Eagerly)
	tl, tw := run(function.Traced)
	for i := range el {
		if el[i] != tl[i] {
			t.Errorf("step %d: eager loss %v, traced %v", i, el[i], tl[i])
		}
	}
	for i := range ew {
		if ew[i] != tw[i] {
			t.Errorf("weight %d: eager %v, traced %v", i, ew[i], tw[i])
		}
	}
	if el[4] >= el[0] {
		t.Errorf("the loss doesn't fall: %v", el)
	}
}

func TestReadsAndWritesKeepTheirOrder(t *testing.T) {
	v := trackable.NewVariable(tensor.Vector[float32](1, 2))
	f := function.New(func(s *ops.Scope, in linearIn) []*ops.Value {
		before := ops.ReadVariable(s, v)
		ops.AssignAdd(s, v, in.X)
		between := ops.Add(s, v, 0)
		ops.Assign(s, v, ops.Mul(s, v, 2))
		return []*ops.Value{before, between, ops.ReadVariable(s, v)}
	}, &function.Options{Mode: function.Traced})
	got, err := f.Call(context.Background(), linearIn{ops.ValueOf(tensor.Vector[float32](10, 20))})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float32{{1, 2}, {11, 22}, {22, 44}} {
		if g := floats(t, got[i]); g[0] != want[0] || g[1] != want[1] {
			t.Errorf("read %d: %v, want %v", i, g, want)
		}
	}
}

func TestUnsupportedUsesInATraceAreErrors(t *testing.T) {
	one := ops.ValueOf(tensor.Vector[float32](1))
	var leaked *ops.Value
	var recursive *function.Func[linearIn, *ops.Value]
	recursive = function.New(func(s *ops.Scope, in linearIn) *ops.Value {
		v, err := recursive.TraceContext(s.Context(), in)
		if err != nil {
			return s.Fail("recursive", err)
		}
		return ops.Const(s, float64(len(v.Captures)))
	})
	for name, c := range map[string]struct {
		f    func(s *ops.Scope, in linearIn) *ops.Value
		want string
	}{
		"reads data": {func(s *ops.Scope, in linearIn) *ops.Value {
			if _, err := in.X.Tensor(); err != nil {
				return s.Fail("read", err)
			}
			return in.X
		}, "ops.If"},
		"panics":     {func(s *ops.Scope, in linearIn) *ops.Value { panic("oh no") }, "oh no"},
		"fails":      {func(s *ops.Scope, in linearIn) *ops.Value { return ops.MatMul(s, in.X, in.X) }, "trace_test.go:"},
		"wrong attr": {func(s *ops.Scope, in linearIn) *ops.Value { return s.Emit1("Softmax", nil, in.X, in.X) }, "takes 1 input"},
		"nil result": {func(s *ops.Scope, in linearIn) *ops.Value { return s.Emit1("NoSuchOp", nil, in.X) }, "NoSuchOp"},
		"leaks": {func(s *ops.Scope, in linearIn) *ops.Value {
			leaked = ops.Neg(s, in.X)
			return leaked
		}, ""},
	} {
		f := function.New(c.f, &function.Options{Mode: function.Traced})
		_, err := f.Call(context.Background(), linearIn{one})
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	s := function.Eager(context.Background())
	ops.Neg(s, leaked)
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "traced function") {
		t.Errorf("a leaked value: %v", err)
	}
	if _, err := recursive.Trace(linearIn{one}); !errors.Is(err, function.ErrRecursive) {
		t.Errorf("recursion: %v", err)
	}
}

func TestATracedMagnitudeKeepsItsPrecision(t *testing.T) {
	f := function.New(func(s *ops.Scope, in linearIn) *ops.Value { return ops.Abs(s, in.X) }, &function.Options{Mode: function.Traced})
	got, err := f.Call(context.Background(), linearIn{ops.ValueOf(tensor.Vector(complex(3, 4)))})
	if err != nil {
		t.Fatal(err)
	}
	if x, err := got.Tensor(); err != nil || got.DType() != tensor.Float64 || tensor.Values[float64](x)[0] != 5 {
		t.Errorf("the magnitude is %v (%v), want 5 as float64", got, err)
	}
}

func TestOnlyTheFirstTraceMakesVariables(t *testing.T) {
	ctx := context.Background()
	one, two := ops.ValueOf(tensor.Vector[float32](1)), ops.ValueOf(tensor.Vector[float32](1, 2))
	var kept *trackable.Variable
	once := function.New(func(s *ops.Scope, in linearIn) *ops.Value {
		if kept == nil {
			kept = trackable.NewVariable(tensor.Scalar[float32](3))
		}
		return ops.Mul(s, in.X, kept)
	}, &function.Options{Mode: function.Traced})
	again := func(s *ops.Scope, in linearIn) *ops.Value {
		return ops.Mul(s, in.X, trackable.NewVariable(tensor.Scalar[float32](3)).Named("again"))
	}
	for _, x := range []*ops.Value{one, two} {
		if _, err := once.Call(ctx, linearIn{x}); err != nil {
			t.Errorf("a variable that is kept: %v", err)
		}
	}
	fn := function.New(again, &function.Options{Mode: function.Traced})
	for range 2 { // the first trace serves both
		if _, err := fn.Call(ctx, linearIn{one}); err != nil {
			t.Errorf("the first trace: %v", err)
		}
	}
	_, err := fn.Call(ctx, linearIn{two})
	if !errors.Is(err, ops.ErrNewVariable) || !strings.Contains(err.Error(), `"again"`) || !strings.Contains(err.Error(), "trace_test.go:") {
		t.Errorf("the second trace: %v", err)
	}
	if _, err := fn.Call(ctx, linearIn{one}); err != nil {
		t.Errorf("the first trace after that: %v", err)
	}
}

// TestGoroutinesShareAnArgument: a value that is kept is only read by calls, so
// that the result of one call may be handed to many at once.
func TestGoroutinesShareAnArgument(t *testing.T) {
	l := newLinear()
	double := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, x) })
	x, err := double.Call(context.Background(), ops.ValueOf(tensor.Must(tensor.New([]float32{1, 2, 3, 4}, 1, 4))))
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
		f := function.New(l.predict, &function.Options{Mode: mode})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 20 {
					if _, err := f.Call(context.Background(), linearIn{x}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}
