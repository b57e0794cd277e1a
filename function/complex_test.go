package function_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestComplexFactorsWhoseRealPartIsOneStay: no pass may take 1+2i for 1.
func TestComplexFactorsWhoseRealPartIsOneStay(t *testing.T) {
	ctx := context.Background()
	factor := tensor.Scalar(complex64(1 + 2i))
	for _, c := range []struct {
		name string
		f    func(s *ops.Scope, z *ops.Value) *ops.Value
		want complex64
	}{
		{"a product", func(s *ops.Scope, z *ops.Value) *ops.Value { return ops.Mul(s, z, factor) }, (3 + 1i) * (1 + 2i)},
		{"a product from the left", func(s *ops.Scope, z *ops.Value) *ops.Value { return ops.Mul(s, factor, z) }, (3 + 1i) * (1 + 2i)},
		{"a quotient", func(s *ops.Scope, z *ops.Value) *ops.Value { return ops.Div(s, z, factor) }, (3 + 1i) / (1 + 2i)},
	} {
		f := function.New(c.f)
		if _, err := f.Trace(ops.Spec(tensor.Complex64)); err != nil {
			t.Fatal(err)
		}
		out, err := f.Call(ctx, ops.ValueOf(tensor.Scalar(complex64(3+1i))))
		if err != nil {
			t.Fatal(err)
		}
		v, err := out.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		got := tensor.Values[complex64](v)[0]
		if d := got - c.want; real(d)*real(d)+imag(d)*imag(d) > 1e-10 {
			t.Errorf("%s is %v, want %v", c.name, got, c.want)
		}
	}
}
