package grad_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/programs"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestRandomPrograms checks random programs: eagerly, with Go's control flow,
// traced, and traced without any shape known they have the same values, state and
// derivatives, to the second order. CAIRN_PROGRAMS is the number of programs,
// CAIRN_PROGRAMS_FROM the first one.
func TestRandomPrograms(t *testing.T) {
	seeds, from := 40, 0
	if testing.Short() {
		seeds = 8
	}
	if n, err := strconv.Atoi(os.Getenv("CAIRN_PROGRAMS")); err == nil {
		seeds = n
	}
	if n, err := strconv.Atoi(os.Getenv("CAIRN_PROGRAMS_FROM")); err == nil {
		from = n
	}
	for seed := from; seed < from+seeds; seed++ {
		e := programs.Program(seed)
		if err := compareModes(e); err != nil {
			t.Errorf("program %d: %v\n%v", seed, err, e)
			small, err := shrink(e, err)
			t.Errorf("a smaller one: %v\n%v", err, small)
		}
	}
}

// shrink returns a part of a program that is wrong, or one with less in it, that
// is wrong too.
func shrink(e *programs.Expression, err error) (*programs.Expression, error) {
	for {
		smaller := false
		for _, next := range e.Smaller() {
			if nextErr := compareModes(next); nextErr != nil {
				e, err, smaller = next, nextErr, true
				break
			}
		}
		if !smaller {
			return e, err
		}
	}
}

// TestRandomSteps checks programs that change state outside of them: eagerly and traced
// they return the same numbers and leave the same state.
func TestRandomSteps(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 10
	}
	if n, err := strconv.Atoi(os.Getenv("CAIRN_PROGRAMS")); err == nil {
		seeds = n
	}
	ctx := context.Background()
	for seed := range seeds {
		p := programs.StepsOf(seed, false)
		var want [][]float64
		for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
			vars := programs.OutsideVariables()
			o := programs.NewOutside("steps", vars)
			f := function.New(func(s *ops.Scope, x *ops.Value) []*ops.Value { return o.Run(s, p, x) },
				&function.Options{Mode: mode, Instance: new(engine.Instance)})
			var got [][]float64
			for call := range 2 {
				out, err := f.Call(ctx, ops.ValueOf(tensor.Scalar(0.3+float64(call))))
				if err != nil {
					t.Fatalf("program %d, %v: %v\n%v", seed, mode, err, p)
				}
				for _, v := range out {
					d, err := v.Tensor()
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, tensor.Values[float64](d))
				}
			}
			for _, v := range vars[:2] {
				got = append(got, tensor.Values[float64](v.Load()))
			}
			if mode == function.Eagerly {
				want = got
				continue
			}
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("program %d: traced %v, eagerly %v\n%v", seed, got, want, p)
			}
		}
	}
}

func compareModes(e *programs.Expression) error {
	ctx := context.Background()
	unknown := ops.SpecOf(graph.Fact{DType: tensor.Float64})
	type in struct{ X, Y *ops.Value }
	var want [][]float64
	for _, mode := range []string{"eager", "traced", "traced without shapes"} {
		w := programs.NewWorld(programs.WorldVariables())
		o := &function.Options{Mode: function.Traced}
		switch mode {
		case "eager":
			o.Mode = function.Eagerly
		case "traced without shapes":
			o.Signature = in{unknown, unknown}
		}
		f := function.New(func(s *ops.Scope, in in) []*ops.Value { return w.Derivatives(s, e, in.X, in.Y) }, o)
		for call := range 2 { // the second continues from the first one's state
			x := tensor.Vector(0.3, -0.7, 1.1+float64(call))
			out, err := f.Call(ctx, in{ops.ValueOf(x), ops.ValueOf(tensor.Vector(-0.2, 0.9, 0.4))})
			if err != nil {
				return fmt.Errorf("%s: %w", mode, err)
			}
			for i, v := range out {
				d, err := v.Tensor()
				if err != nil {
					return err
				}
				got := tensor.Values[float64](d)
				if mode == "eager" {
					want = append(want, got)
					continue
				}
				for k, x := range want[call*len(out)+i] {
					if diff := math.Abs(x - got[k]); !(diff <= 1e-9*max(1, math.Abs(x))) && !(math.IsNaN(x) && math.IsNaN(got[k])) {
						return fmt.Errorf("%s, call %d, output %d: %v, eagerly %v", mode, call, i, got, want[call*len(out)+i])
					}
				}
			}
		}
	}
	return nil
}
