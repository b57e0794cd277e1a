package grad_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// numeric holds the gradient of a function of one tensor to differences, at once
// and in traces that know more or less of the shapes.
func numeric(t *testing.T, what string, x *tensor.Tensor, f func(s *ops.Scope, x *ops.Value) *ops.Value) {
	t.Helper()
	at := func(e int, step float64) float64 {
		moved := x.Clone()
		if x.DType() == tensor.Complex128 {
			z := complex(step, 0)
			if e%2 == 1 {
				z = complex(0, step)
			}
			tensor.Values[complex128](moved)[e/2] += z
		} else {
			tensor.Values[float64](moved)[e] += step
		}
		y, err := f(function.Eager(context.Background()), ops.ValueOf(moved)).Tensor()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return tensor.Values[float64](y)[0]
	}
	want := make([]float64, len(flatTensor(x)))
	for e := range want {
		want[e] = (at(e, 1e-6) - at(e, -1e-6)) / 2e-6
	}
	gradient := func(s *ops.Scope, x *ops.Value) *ops.Value {
		rec, tape := grad.Record(s)
		tape.Watch(x)
		return tape.GradientOf(f(rec, x), x)[0]
	}
	for _, m := range modes[:4] {
		options := &function.Options{Mode: function.Eagerly}
		if m.traced {
			options.Mode = function.Traced
		}
		g := function.New(gradient, options)
		if m.traced {
			if _, err := g.Trace(m.spec(x)); err != nil {
				t.Errorf("%s, %s: %v", what, m.name, err)
				continue
			}
		}
		dx, err := g.Call(context.Background(), ops.ValueOf(x))
		if err != nil {
			t.Errorf("%s, %s: %v", what, m.name, err)
			continue
		}
		for e, got := range flat(dx) {
			if !(math.Abs(got-want[e]) <= 1e-6*(1+math.Abs(want[e]))) {
				t.Errorf("%s, %s: element %d is %v, by differences %v", what, m.name, e, got, want[e])
				break
			}
		}
	}
}

// matrices returns random matrices, real or complex.
func matrices(r *rand.Rand, complexes bool, dims ...int) *tensor.Tensor {
	x := tensor.Must(tensor.Zeros(tensor.Float64, dims...))
	for i := range tensor.Values[float64](x) {
		tensor.Values[float64](x)[i] = r.NormFloat64()
	}
	if !complexes {
		return x
	}
	z := tensor.Must(tensor.Zeros(tensor.Complex128, dims...))
	for i, re := range tensor.Values[float64](x) {
		tensor.Values[complex128](z)[i] = complex(re, r.NormFloat64())
	}
	return z
}

// weighted returns a sum of the elements' real parts with different weights, and
// of magnitudes with others if these are asked for.
func weighted(s *ops.Scope, x *ops.Value, magnitudes bool) *ops.Value {
	switch {
	case magnitudes && x.DType().IsComplex():
		x = ops.Mul(s, x, ops.Conj(s, x))
	case magnitudes:
		x = ops.Square(s, x)
	}
	if x.DType().IsComplex() {
		x = s.Emit1("Real", graph.Attrs{graph.Type("Tout", tensor.Float64)}, x)
	}
	x = ops.Reshape(s, x, -1)
	n := ops.Cast(s, ops.Size(s, x), tensor.Float64)
	return ops.Sum(s, ops.Mul(s, x, ops.Sin(s, ops.Range(s, 1.0, ops.Add(s, n, 1), 1.0))), 0)
}

func adjointProduct(s *ops.Scope, a, b *ops.Value) *ops.Value {
	return s.Emit1("BatchMatMulV2", graph.Attrs{graph.Bool("adj_y", true)}, a, b)
}

// TestGradientsOfDecompositionsEqualDifferences differentiates functions of
// vectors that are the same whatever the vectors' signs or phases.
func TestGradientsOfDecompositionsEqualDifferences(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, complexes := range []bool{false, true} {
		numeric(t, fmt.Sprintf("SelfAdjointEigV2, complex %v", complexes), matrices(r, complexes, 2, 4, 4), func(s *ops.Scope, x *ops.Value) *ops.Value {
			out := s.EmitN(2, "SelfAdjointEigV2", nil, part(s, x))
			e := ops.Tanh(s, out[0])
			remade := adjointProduct(s, ops.Mul(s, out[1], ops.ExpandDims(s, e, -2)), out[1])
			return ops.Add(s, weighted(s, remade, false), weighted(s, out[1], true))
		})
		numeric(t, fmt.Sprintf("Eig, complex %v", complexes), matrices(r, complexes, 2, 4, 4), func(s *ops.Scope, x *ops.Value) *ops.Value {
			out := s.EmitN(2, "Eig", graph.Attrs{graph.Type("Tout", tensor.Complex128)}, x)
			remade := adjointProduct(s, ops.Mul(s, out[1], ops.ExpandDims(s, ops.Square(s, out[0]), -2)), out[1])
			return weighted(s, remade, false) // whatever the order of the values
		})
		for _, size := range [][2]int{{3, 3}, {4, 3}, {3, 4}, {5, 2}, {2, 5}} {
			for _, full := range []bool{false, true} {
				numeric(t, fmt.Sprintf("Svd of %v, full %v, complex %v", size, full, complexes), matrices(r, complexes, size[0], size[1]), func(s *ops.Scope, x *ops.Value) *ops.Value {
					out := s.EmitN(3, "Svd", graph.Attrs{graph.Bool("full_matrices", full)}, x)
					n := min(size[0], size[1])
					first := func(v *ops.Value) *ops.Value { return ops.StridedSlice(s, v, ops.Ellipsis(), ops.To(n)) }
					rest := func(v *ops.Value) *ops.Value { return ops.StridedSlice(s, v, ops.Ellipsis(), ops.From(n)) }
					weights := ops.Tanh(s, out[0])
					remade := adjointProduct(s, ops.Mul(s, first(out[1]), weights), first(out[2]))
					y := ops.Add(s, weighted(s, remade, false), ops.Add(s, weighted(s, first(out[1]), true), weighted(s, first(out[2]), true)))
					if full { // the others are determined together only
						for _, v := range out[1:] {
							y = ops.Add(s, y, weighted(s, adjointProduct(s, rest(v), rest(v)), false))
						}
					}
					return y
				})
			}
		}
	}
}

func TestFullFactorsOfHighMatricesHaveNoGradient(t *testing.T) {
	x := ops.ValueOf(matrices(rand.New(rand.NewPCG(1, 1)), false, 3, 2))
	s := function.Eager(context.Background())
	rec, tape := grad.Record(s)
	tape.Watch(x)
	out := rec.EmitN(2, "Qr", graph.Attrs{graph.Bool("full_matrices", true)}, x)
	tape.GradientOf(ops.Sum(rec, out[0]), x)
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "full_matrices") {
		t.Errorf("%v", err)
	}
}
