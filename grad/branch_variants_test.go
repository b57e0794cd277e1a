package grad_test

import (
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestBranchesGiveOptionalsForListsOfOthers checks that a branch returns an optional
// without a value for the lists that only another branch's loops make. TensorFlow makes
// zeros of that, as second derivatives need, and none of an empty variant.
func TestBranchesGiveOptionalsForListsOfOthers(t *testing.T) {
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		o := &grad.Options{Watch: []*ops.Value{x}}
		first, outer := grad.Of(s, func(s *ops.Scope) *ops.Value {
			y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
				return ops.If(s, ops.Greater(s, x, 0.5),
					func(s *ops.Scope) *ops.Value {
						return ops.While(s, x, func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Less(s, x, 0.9) },
							func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Mul(s, 1.5, ops.Exp(s, ops.Sin(s, x))) })
					},
					func(s *ops.Scope) *ops.Value { return ops.Square(s, x) })
			}, o)
			return tape.GradientOf(y, x)[0]
		}, o)
		return outer.GradientOf(first, x)[0]
	}, &function.Options{Mode: function.Traced})
	c, err := f.Trace(ops.ValueOf(tensor.Scalar(0.25)))
	if err != nil {
		t.Fatal(err)
	}
	optionals := 0
	for _, fn := range graph.Assemble(c.Function).Functions() {
		for _, n := range fn.Graph.Nodes() {
			if n.Op == "FakeParam" && n.Attrs.Type("dtype", tensor.Invalid) == tensor.Variant {
				t.Errorf("%s: %v is a variant that nothing was put into", fn.Name, n.Name)
			}
			if n.Op == "OptionalNone" {
				optionals++
			}
		}
	}
	if optionals == 0 {
		t.Error("no branch gives an optional")
	}
	out, err := f.Call(t.Context(), ops.ValueOf(tensor.Scalar(0.25))) // (x²)″
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := ops.Item[float64](out); got != 2 {
		t.Errorf("the second derivative is %v, not 2", got)
	}
}
