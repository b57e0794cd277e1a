package function_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// batch is an input with a static argument.
type batch struct {
	X     *ops.Value
	Scale float64
	Tags  map[string]*ops.Value
}

func zerosOf(dims ...int) *ops.Value {
	return ops.ValueOf(tensor.Must(tensor.Zeros(tensor.Float32, dims...)))
}

func scaled(s *ops.Scope, in batch) *ops.Value { return ops.Mul(s, in.X, in.Scale) }

func tracedAs(fn interface{ Traces() []*graph.Concrete }) (out []string) {
	for _, c := range fn.Traces() {
		out = append(out, c.In.String())
	}
	return out
}

func TestSizesThatVaryBecomeUnknown(t *testing.T) {
	ctx := context.Background()
	fn := function.New(scaled, &function.Options{Mode: function.Traced})
	call := func(x *ops.Value, scale float64) {
		t.Helper()
		if _, err := fn.Call(ctx, batch{X: x, Scale: scale}); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []int{2, 3, 4, 5, 6, 2} {
		call(zerosOf(n, 8), 1)
	}
	call(zerosOf(4, 8), 2) // another static argument
	call(zerosOf(4), 1)    // another rank
	want := []string{
		"batch(x: float32[2,8], scale: 1.0, tags: {})", "batch(x: float32[3,8], scale: 1.0, tags: {})", "batch(x: float32[?,8], scale: 1.0, tags: {})",
		"batch(x: float32[4,8], scale: 2.0, tags: {})", "batch(x: float32[4], scale: 1.0, tags: {})",
	}
	if got := tracedAs(fn); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("traces\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for x, want := range map[*ops.Value]string{zerosOf(3, 8): "[3,8]", zerosOf(9, 8): "[?,8]"} {
		c, err := fn.Choose(batch{X: x, Scale: 1})
		if err != nil || !strings.Contains(c.In.String(), want) {
			t.Errorf("%v chooses %v (%v), want %s", x.Shape(), c, err, want)
		}
	}
	var no *graph.NoFitError
	if _, err := fn.Choose(batch{X: zerosOf(9, 9), Scale: 1}); !errors.As(err, &no) || len(no.Candidates) != 5 {
		t.Errorf("nothing fits: %v", err)
	}
	exact := function.New(scaled, &function.Options{Mode: function.Traced, ExactShapes: true})
	for _, n := range []int{2, 3, 4, 5} {
		if _, err := exact.Call(ctx, batch{X: zerosOf(n)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(exact.Traces()); n != 4 {
		t.Errorf("%d exact traces", n)
	}
}

// TestSizesThatAFunctionReadsStayStatic checks that a function that reads
// sizes is traced with known ones: a Go loop over an unknown size would
// silently make no rounds.
func TestSizesThatAFunctionReadsStayStatic(t *testing.T) {
	ctx := context.Background()
	sum := func(s *ops.Scope, in batch) *ops.Value {
		out := ops.Const(s, 0.0)
		for i := range in.X.Shape()[0] {
			out = ops.Add(s, out, ops.Gather(s, in.X, i))
		}
		return out
	}
	inBranch := func(s *ops.Scope, in batch) *ops.Value {
		return ops.If(s, ops.Greater(s, ops.Sum(s, in.X), -1), func(s *ops.Scope) *ops.Value { return sum(s, in) },
			func(s *ops.Scope) *ops.Value { return ops.Const(s, 0.0) })
	}
	for name, f := range map[string]func(*ops.Scope, batch) *ops.Value{"body": sum, "branch": inBranch} {
		fn := function.New(f, &function.Options{Mode: function.Traced})
		for _, n := range []int{2, 3, 4, 5} {
			x := make([]float32, n)
			for i := range x {
				x[i] = 1
			}
			got, err := fn.Call(ctx, batch{X: ops.ValueOf(tensor.Vector(x...))})
			if err != nil {
				t.Fatal(err)
			}
			if v := floats(t, got)[0]; v != float32(n) {
				t.Errorf("%s: the sum of %d ones is %v", name, n, v)
			}
		}
		for _, c := range fn.Traces() {
			if strings.Contains(c.In.String(), "?") {
				t.Errorf("%s: a trace for %v", name, c.In)
			}
		}
	}
}

func TestAFixedSignatureIsTheOnlyOne(t *testing.T) {
	ctx := context.Background()
	o := &function.Options{Mode: function.Traced, Signature: batch{X: ops.Spec(tensor.Float32, -1, 4), Scale: 2}}
	for _, mode := range []function.Mode{function.Traced, function.Eagerly, function.Auto} {
		o.Mode = mode
		fn := function.New(scaled, o)
		for _, n := range []int{2, 3, 4} {
			if _, err := fn.Call(ctx, batch{X: zerosOf(n, 4), Scale: 2}); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(fn.Traces()); n > 1 {
			t.Errorf("%d traces", n)
		}
		for _, in := range []batch{{X: zerosOf(2, 5), Scale: 2}, {X: zerosOf(2, 4), Scale: 3}, {X: zerosOf(2), Scale: 2}} {
			_, err := fn.Call(ctx, in)
			var no *graph.NoFitError
			if !errors.As(err, &no) || !strings.Contains(err.Error(), "the signature is batch(x: float32[?,4], scale: 2.0, tags: {})") {
				t.Errorf("%v: %v", in.X.Shape(), err)
			}
		}
		if _, err := fn.Trace(batch{X: zerosOf(2, 5), Scale: 2}); err == nil {
			t.Error("another trace is made")
		}
	}
	if _, err := function.New(scaled, &function.Options{Signature: 5}).Call(ctx, batch{X: zerosOf(1)}); err == nil || !strings.Contains(err.Error(), "Options.Signature is a int") {
		t.Errorf("a signature of another type: %v", err)
	}
}

func TestTracesAreBounded(t *testing.T) {
	fn := function.New(scaled, &function.Options{Mode: function.Traced, MaxTraces: 3})
	var err error
	n := 0
	for ; err == nil && n < 10; n++ {
		_, err = fn.Call(context.Background(), batch{X: zerosOf(2), Scale: float64(n)})
	}
	var limit *function.TraceLimitError
	if n != 4 || !errors.As(err, &limit) || !strings.Contains(err.Error(), "none takes batch(x: float32[2], scale: 3.0, tags: {})") || !strings.Contains(err.Error(), "scale: 2") {
		t.Errorf("call %d: %v", n, err)
	}
}

func TestConcreteHasTheTypesOfTheCall(t *testing.T) {
	fn := function.New(func(s *ops.Scope, in batch) map[string]*ops.Value {
		return map[string]*ops.Value{"sum": ops.Sum(s, in.X), "b": ops.Add(s, in.X, in.Tags["t"])}
	})
	c, err := fn.Trace(batch{X: ops.Spec(tensor.Float32, -1, 4), Scale: 2, Tags: map[string]*ops.Value{"t": ops.Spec(tensor.Float32, 4), "s": ops.Spec(tensor.String)}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.In.String()+" "+c.Out.String(), "batch(x: float32[?,4], scale: 2.0, tags: {s: string[], t: float32[4]}) {b: float32[?,4], sum: float32[]}"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var names []string
	for i, l := range c.In.Flatten() {
		names = append(names, l.Path+"="+l.Name)
		if got := c.Function.Args[i].Name; got != l.Name {
			t.Errorf("argument %d is %s, the structure calls it %s", i, got, l.Name)
		}
	}
	if got := fmt.Sprint(names); got != "[x=x tags/s=tags_s tags/t=tags_t]" {
		t.Errorf("values %s", got)
	}
	sig, err := graphInternals.StructureProto(c.InputSignature())
	if err != nil {
		t.Fatal(err)
	}
	back, err := graphInternals.StructureFromProto(sig)
	if err != nil || !back.Equal(c.InputSignature()) {
		t.Errorf("written and read: %v (%v)", back, err)
	}
	for i, l := range c.Out.Flatten() {
		if f := c.Function.Results[i].Output.Fact(); f.DType != l.Fact.DType {
			t.Errorf("result %d is %v, the structure says %v", i, f, l.Fact)
		}
	}
}

func TestGoroutinesTraceAndRelaxTogether(t *testing.T) {
	fn := function.New(scaled, &function.Options{Mode: function.Traced})
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			for i := range 12 {
				n := 1 + (g+i)%5
				out, err := fn.Call(context.Background(), batch{X: zerosOf(n, 2), Scale: 1, Tags: map[string]*ops.Value{"t": zerosOf(1)}})
				if err != nil || out.Shape()[0] != n {
					t.Errorf("%d rows: %v, %v", n, out, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := len(fn.Traces()); n != 3 {
		t.Errorf("%d traces: %v", n, tracedAs(fn))
	}
}

// TestNilAndEmptyAreOneSignature calls with lists and dicts of nothing, which TensorFlow
// has one of.
func TestNilAndEmptyAreOneSignature(t *testing.T) {
	type in struct {
		X *ops.Value
		L []*ops.Value
		M map[string]*ops.Value
	}
	fn := function.New(func(s *ops.Scope, x in) *ops.Value { return ops.Neg(s, x.X) })
	x := ops.Spec(tensor.Float32, 2)
	for _, x := range []in{{X: x}, {X: x, L: []*ops.Value{}}, {X: x, M: map[string]*ops.Value{}}} {
		if _, err := fn.Trace(x); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(fn.Traces()); n != 1 {
		t.Errorf("there are %d traces", n)
	}
}
