package run_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	fn "github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// called emits a call of a function of a library.
func called(s *ops.Scope, f *graph.Function, in ...ops.Input) []*ops.Value {
	var types []tensor.DType
	for _, r := range f.ResultFacts() {
		types = append(types, r.DType)
	}
	return s.EmitN(len(types), "StatefulPartitionedCall", graph.Attrs{graph.Func("f", f), graph.Types("Tout", types...)}, in...)
}

// TestDerivedBackwardFunctionsEqualSavedOnes holds the gradient that is made of a
// saved forward function against the backward function that TensorFlow has saved
// with it: its arguments are the gradients of the function's own results and the
// forward function's further ones.
func TestDerivedBackwardFunctionsEqualSavedOnes(t *testing.T) {
	pairs := 0
	for _, name := range []string{"finetune_lstm", "lstm"} {
		m, err := savedmodel.Read(ctx, files(t, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		g, err := m.MetaGraphs[0].Graph()
		if err != nil {
			t.Fatal(err)
		}
		for _, forward := range g.Library.Functions() {
			name := forward.Attrs.String("backward_function_name", "")
			if name == "" {
				continue
			}
			pairs++
			backward := g.Library.Lookup(name)
			// The rest of both are the values that the one hands to the other.
			dys := 0
			for dys < len(backward.Args) && strings.HasPrefix(backward.Args[dys].Name, "placeholder") {
				dys++
			}
			if len(forward.Results) != len(backward.Args) {
				t.Fatalf("%s has %d results, %s %d arguments", forward.Name, len(forward.Results), backward.Name, len(backward.Args))
			}
			rng := rand.New(rand.NewPCG(1, 2))
			random := func(f graph.Fact) *ops.Value {
				var shape tensor.Shape
				for _, d := range f.Shape.Anonymous().Dims() {
					if d < 0 {
						d = 3
					}
					shape = append(shape, d)
				}
				n := 1
				for _, d := range shape {
					n *= d
				}
				v := make([]float32, n)
				for i := range v {
					v[i] = 2*rng.Float32() - 1
				}
				return ops.ValueOf(tensor.Must(tensor.New(v, shape...)))
			}
			s := fn.Eager(ctx)
			var args, weights []*ops.Value
			var in []ops.Input
			for _, a := range forward.Args {
				x := random(a.Out[0])
				args, in = append(args, x), append(in, x)
			}
			for _, a := range backward.Args[:dys] {
				weights = append(weights, random(a.Out[0]))
			}
			var results []*ops.Value
			loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
				results = called(s, forward, in...)
				sum := ops.Const(s, float32(0))
				for i, w := range weights {
					sum = ops.Add(s, sum, ops.Sum(s, ops.Mul(s, results[i], w)))
				}
				return sum
			}, &grad.Options{Watch: args})
			if err := s.Err(); err != nil {
				t.Fatalf("%s: %v", forward.Name, err)
			}
			derived := tape.GradientOf(loss, args...)
			var all []ops.Input
			for _, w := range weights {
				all = append(all, w)
			}
			for _, r := range results[len(weights):len(forward.Results)] {
				all = append(all, r)
			}
			want := called(s, backward, all...)
			if err := s.Err(); err != nil {
				t.Fatalf("%s: %v", backward.Name, err)
			}
			if len(want) != len(derived) {
				t.Fatalf("%s has %d results, of a function of %d arguments", backward.Name, len(want), len(derived))
			}
			for i := range want {
				a, err := want[i].Tensor()
				if err != nil {
					t.Fatal(err)
				}
				b, err := derived[i].Tensor()
				if err != nil {
					t.Fatal(err)
				}
				x, y := tensor.Values[float32](a), tensor.Values[float32](b)
				for k := range x {
					if math.Abs(float64(x[k]-y[k])) > 1e-6*(1+math.Abs(float64(x[k]))) {
						t.Fatalf("%s: element %d of the gradient with regard to %s is %v, by the saved function %v", forward.Name, k, forward.Args[i].Name, y[k], x[k])
					}
				}
			}
		}
	}
	if pairs == 0 {
		t.Error("no model has a saved pair")
	}
}
