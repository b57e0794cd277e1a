package ops_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

func TestARegionGivesItsMemoryBack(t *testing.T) {
	ones := tensor.Must(tensor.Zeros(tensor.Float32, 1<<16)) // 256 KiB
	loop := func(s *ops.Scope, x *ops.Value) *ops.Value {
		for range 160 {
			x = ops.Scoped(s, func(s *ops.Scope) *ops.Value {
				y := x
				for range 6 {
					y = ops.Add(s, y, 1)
				}
				return y
			})
		}
		return x
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	y, err := function.New(loop).Call(context.Background(), ops.ValueOf(ones))
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := y.Tensor(); tensor.Values[float32](got)[7] != 960 {
		t.Errorf("the loop gives %v", got)
	}
	// One result a region, and the regions' memory for their other values: without
	// them it is 960 values. The race detector makes pools forget their contents.
	limit := uint64(240)
	if detector.Racing {
		limit = 600
	}
	if used := (after.TotalAlloc - before.TotalAlloc) >> 18; used > limit {
		t.Errorf("regions took the memory of %d values", used)
	}
}

func TestARegionGivesWhatItsFunctionGives(t *testing.T) {
	w := trackable.NewVariable(tensor.Vector[float32](1, 2)).Named("w")
	f := func(s *ops.Scope, x *ops.Value) []*ops.Value {
		var none *ops.Value
		out := ops.Scoped(s, func(s *ops.Scope) []*ops.Value {
			ops.AssignAdd(s, w, x)
			y := ops.Mul(s, ops.ReadVariable(s, w), x)
			return []*ops.Value{x, y, ops.Identity(s, x), ops.Reshape(s, y, 2, 1), none, ops.ReadVariable(s, w)}
		})
		ops.AssignAdd(s, w, x)
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			return ops.Sum(s, ops.Scoped(s, func(s *ops.Scope) *ops.Value { return ops.Square(s, ops.Mul(s, x, 3)) }))
		}, &grad.Options{Watch: []*ops.Value{x}})
		inner := ops.Scoped(s, func(s *ops.Scope) *ops.Value {
			loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, ops.Square(s, x)) }, &grad.Options{Watch: []*ops.Value{x}})
			return tape.GradientOf(loss, x)[0]
		})
		return append(out[:4:4], out[5], loss, tape.GradientOf(loss, x)[0], inner)
	}
	var want string
	for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
		if err := w.Store(tensor.Vector[float32](1, 2)); err != nil {
			t.Fatal(err)
		}
		out, err := function.New(f, &function.Options{Mode: mode}).Call(context.Background(), ops.ValueOf(tensor.Vector[float32](3, 4)))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, v := range out {
			x, err := v.Tensor()
			if err != nil {
				t.Fatal(err)
			}
			got.WriteString(x.String())
		}
		if want == "" {
			want = got.String()
			if tensor.Values[float32](w.Load())[0] != 7 {
				t.Errorf("the variable is %v", w.Load())
			}
		}
		if got.String() != want {
			t.Errorf("traced %s, eagerly %s", got.String(), want)
		}
	}
}

func TestWhatARegionKeepsToItselfIsDead(t *testing.T) {
	for name, f := range map[string]func(s *ops.Scope, x *ops.Value) *ops.Value{
		"belongs to a call that has ended": func(s *ops.Scope, x *ops.Value) *ops.Value {
			var kept *ops.Value
			ops.Scoped(s, func(s *ops.Scope) *ops.Value {
				kept = ops.Neg(s, x)
				return x
			})
			return ops.Add(s, x, kept)
		},
		"use the scope that the function is given": func(s *ops.Scope, x *ops.Value) *ops.Value {
			var kept *ops.Scope
			ops.Scoped(s, func(s *ops.Scope) *ops.Value {
				kept = s
				return x
			})
			return ops.Add(s, x, ops.Neg(kept, x))
		},
		"takes 1 input": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Scoped(s, func(s *ops.Scope) []*ops.Value { return []*ops.Value{s.Emit("Neg", nil, x, x)[0]} })[0]
		},
	} {
		_, err := function.New(f).Call(context.Background(), ops.ValueOf(tensor.Vector[float32](1)))
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "scoped_test.go:") {
			t.Errorf("%v, want %q", err, name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		return ops.Scoped(s, func(s *ops.Scope) *ops.Value {
			cancel()
			return ops.Neg(s, x)
		})
	}).Call(ctx, ops.ValueOf(tensor.Vector[float32](1)))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was ended gives %v", err)
	}
}
