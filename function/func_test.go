package function_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

func vector(v ...float32) *ops.Value { return ops.ValueOf(tensor.Vector(v...)) }

func floats(t testing.TB, v *ops.Value) []float32 {
	t.Helper()
	x, err := v.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Values[float32](x)
}

type pair struct {
	A, B *ops.Value
	Note string
}

type nested struct {
	Pair pair
	List []*ops.Value
	Map  map[string]*ops.Value
	Two  [2]*ops.Value
}

func TestCallTakesAndGivesStructs(t *testing.T) {
	f := function.New(func(s *ops.Scope, in pair) nested {
		sum := ops.Add(s, in.A, in.B)
		return nested{
			Pair: pair{sum, ops.Mul(s, in.A, in.B), in.Note},
			List: []*ops.Value{ops.Neg(s, sum), nil},
			Map:  map[string]*ops.Value{"a": ops.Square(s, in.A)},
			Two:  [2]*ops.Value{in.A, sum},
		}
	})
	out, err := f.Call(context.Background(), pair{vector(1, 2), vector(3, 4), "n"})
	if err != nil {
		t.Fatal(err)
	}
	// Another call must not touch the results of the first one.
	if _, err := f.Call(context.Background(), pair{vector(9, 9), vector(9, 9), ""}); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(floats(t, out.Pair.A), floats(t, out.Pair.B), floats(t, out.List[0]), out.List[1] == nil,
		floats(t, out.Map["a"]), floats(t, out.Two[0]), floats(t, out.Two[1]), out.Pair.Note)
	if want := "[4 6] [3 8] [-4 -6] true [1 4] [1 2] [4 6]n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFirstErrorIsReturnedOnce(t *testing.T) {
	ran := false
	f := function.New(func(s *ops.Scope, in pair) *ops.Value {
		bad := ops.MatMul(s, in.A, in.B)
		ran = true
		return ops.Relu(s, ops.Add(s, bad, in.A))
	})
	x, y := tensor.Must(tensor.Zeros(tensor.Float32, 2, 4)), tensor.Must(tensor.Zeros(tensor.Float32, 3, 2))
	_, err := f.Call(context.Background(), pair{A: ops.ValueOf(x), B: ops.ValueOf(y)})
	var op *ops.OpError
	if !errors.As(err, &op) || op.Op != "MatMul" || !ran {
		t.Fatalf("got %v", err)
	}
	if !strings.HasPrefix(err.Error(), "func_test.go:") || !strings.Contains(err.Error(), "MatMul(float32[2,4], float32[3,2]): inner dimensions differ: 4 and 3") {
		t.Errorf("the message is %q", err)
	}
	if _, err := f.Call(context.Background(), pair{A: ops.ValueOf(x), B: ops.ValueOf(tensor.Must(tensor.Zeros(tensor.Float32, 4, 4)))}); err != nil {
		t.Errorf("the next call fails too: %v", err)
	}
}

func TestANilInputIsAnErrorThatNamesTheOp(t *testing.T) {
	var v *trackable.Variable
	var val *ops.Value
	for name, in := range map[string]ops.Input{"nil": nil, "value": val, "variable": v, "tensor": (*tensor.Tensor)(nil), "part": (*Part)(nil)} {
		s := function.Eager(context.Background())
		ops.Mul(s, vector(1), in)
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), "Mul") || !strings.Contains(err.Error(), "input 1 is nil") {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := function.New(func(s *ops.Scope, in pair) *ops.Value { return in.A })
	if _, err := f.Call(context.Background(), pair{A: vector(1)}); err == nil || !strings.Contains(err.Error(), "in.B is nil") {
		t.Errorf("a nil field gives %v", err)
	}
}

func TestPanicsAreErrors(t *testing.T) {
	f := function.New(func(s *ops.Scope, in pair) *ops.Value { panic("oh no") })
	_, err := f.Call(context.Background(), pair{A: vector(1), B: vector(1)})
	var p *engine.PanicError
	if !errors.As(err, &p) || p.Value != "oh no" || len(p.Stack) == 0 {
		t.Fatalf("got %v", err)
	}
}

func TestAKernelsPanicIsAnErrorOfItsOp(t *testing.T) {
	inWorker := func(c *engine.Call) error {
		c.Parallel(100, 1e6, func(lo, hi int) { panic(fmt.Sprint("at ", lo >= 0)) })
		return nil
	}
	set, err := kernel.All().With(engine.Kernel{Op: "Boom", Run: inWorker})
	if err != nil {
		t.Fatal(err)
	}
	s := function.Eager(context.Background(), &function.Options{Kernels: set})
	s.Emit("Boom", nil)
	var p *engine.PanicError
	if !errors.As(s.Err(), &p) || p.Value != "at true" || !strings.Contains(s.Err().Error(), "Boom") {
		t.Fatalf("got %v", s.Err())
	}
}

func TestTheContextStopsACallBetweenOps(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	n := 0
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		for range 10 {
			if n++; n == 5 {
				cancel(why)
			}
			x = ops.Neg(s, x)
		}
		return x
	})
	if _, err := f.Call(ctx, vector(1)); !errors.Is(err, why) {
		t.Fatalf("got %v", err)
	}
}

func TestValuesEndWithTheirCall(t *testing.T) {
	var kept *ops.Value
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		kept = ops.Neg(s, x)
		return ops.Neg(s, kept)
	})
	if _, err := f.Call(context.Background(), vector(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Tensor(); !errors.Is(err, ops.ErrDeadValue) {
		t.Errorf("Tensor gives %v", err)
	}
	s := function.Eager(context.Background())
	if ops.Neg(s, kept); !errors.Is(s.Err(), ops.ErrDeadValue) {
		t.Errorf("an op gives %v", s.Err())
	}
}

func TestAReturnedVariableReadDoesNotChangeLater(t *testing.T) {
	v := trackable.NewVariable(tensor.Vector[float32](1, 2))
	f := function.New(func(s *ops.Scope, x *ops.Value) [3]*ops.Value {
		return [3]*ops.Value{ops.Identity(s, v), ops.Reshape(s, v, 2, 1), ops.ReadVariable(s, v)}
	})
	out, err := f.Call(context.Background(), vector(0))
	if err != nil {
		t.Fatal(err)
	}
	s := function.Eager(context.Background())
	ops.AssignAdd(s, v, []float32{10, 10})
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	for i, o := range out {
		if got := floats(t, o); got[0] != 1 {
			t.Errorf("output %d became %v", i, got)
		}
	}
}

func TestVariablesAreUpdatedInPlace(t *testing.T) {
	v := zeros(4)
	x, release := v.Borrow()
	release()
	f := function.New(func(s *ops.Scope, g *ops.Value) *ops.Value {
		rec, tape := grad.Record(s)
		loss := ops.Sum(rec, ops.Mul(rec, v, g))
		for _, p := range tape.Gradient(loss, []*trackable.Variable{v}) {
			ops.ApplyGradientDescent(s, p.Variable, 0.1, p.Grad)
		}
		return loss
	})
	for range 3 {
		if _, err := f.Call(context.Background(), vector(1, 2, 3, 4)); err != nil {
			t.Fatal(err)
		}
	}
	y, release := v.Borrow()
	defer release()
	if x != y {
		t.Error("a training step copied the variable")
	}
}

func TestFuncsAndVariablesAreShared(t *testing.T) {
	v := zeros(1000)
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		y := ops.Add(s, ops.Mul(s, v, x), x)
		ops.AssignAdd(s, v, ops.OnesLike(s, v))
		return ops.Sum(s, y)
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if _, err := f.Call(context.Background(), vector(1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := tensor.Values[float32](v.Load())[0]; got != 400 {
		t.Errorf("the variable is %v after 400 additions", got)
	}
}

func TestANestedCallIsPartOfTheStep(t *testing.T) {
	inner := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Square(s, x) })
	outer := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		y, err := inner.Call(s.Context(), x)
		if err != nil {
			return s.Fail("inner", err)
		}
		return ops.Add(s, y, 1)
	})
	got, err := outer.Call(context.Background(), vector(3))
	if err != nil {
		t.Fatal(err)
	}
	if v := floats(t, got)[0]; v != 10 {
		t.Errorf("got %v", v)
	}
}

func TestAUsersOpHasAKernelAndAGradient(t *testing.T) {
	cube := engine.Kernel{Op: "Cube", Run: func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		out, err := c.Alloc(0, c.In(0).DType(), c.In(0).Shape())
		if err != nil {
			return err
		}
		dst := tensor.Values[float32](out)
		for i, x := range tensor.Values[float32](c.In(0)) {
			dst[i] = x * x * x
		}
		return nil
	}}
	set, err := kernel.All().With(cube)
	if err != nil {
		t.Fatal(err)
	}
	rules := grad.All().With("Cube", func(s *ops.Scope, op *grad.Op) {
		op.Give(0, ops.Mul(s, op.Grad(0), ops.Mul(s, 3, ops.Square(s, op.In(0)))))
	})
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		rec, tape := grad.Record(s)
		tape.Watch(x)
		return tape.GradientOf(rec.Emit1("Cube", nil, x), x)[0]
	}, &function.Options{Kernels: set, Gradients: rules})
	got, err := f.Call(context.Background(), vector(1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	if v := fmt.Sprint(floats(t, got)); v != "[3 12 27]" {
		t.Errorf("got %v", v)
	}
	if _, err := kernel.All().With(engine.Kernel{Op: "MatMul", Run: cube.Run}); err == nil {
		t.Error("a second MatMul kernel is taken")
	}
}

func TestAnUnknownOpListsSimilarNames(t *testing.T) {
	s := function.Eager(context.Background())
	s.Emit("Matmul", nil, vector(1), vector(1))
	var u *engine.UnsupportedOpError
	if !errors.As(s.Err(), &u) || len(u.Nearest) == 0 || u.Nearest[0] != "MatMul" {
		t.Errorf("got %v", s.Err())
	}
}

func TestOpsReachFilesOnlyByAGrant(t *testing.T) {
	s := function.Eager(context.Background())
	ops.SaveV2(s, "/tmp/x", []ops.Slice{{Name: "a", Value: vector(1)}})
	if !errors.Is(s.Err(), engine.ErrNotGranted) {
		t.Errorf("got %v", s.Err())
	}
}

func TestMistakenTypesAreReported(t *testing.T) {
	type hidden struct{ v *ops.Value }
	f := function.New(func(s *ops.Scope, in hidden) *ops.Value { return in.v })
	if _, err := f.Call(context.Background(), hidden{}); err == nil || !strings.Contains(err.Error(), "isn't exported") {
		t.Errorf("got %v", err)
	}
	var none func(*ops.Scope, *ops.Value) *ops.Value
	if _, err := function.New(none).Call(context.Background(), vector(1)); err == nil {
		t.Error("a nil function is called")
	}
}
