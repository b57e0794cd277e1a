package grad_test

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// A rule of one's own: gradients through Round as if it were the identity.
func ExampleRules_With() {
	straight := grad.All().With("Round", func(s *ops.Scope, op *grad.Op) { op.Give(0, op.Grad(0)) })
	s := function.Eager(context.Background(), &function.Options{Gradients: straight})
	x := ops.ValueOf(tensor.Scalar[float32](2.7))
	y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Square(s, ops.Round(s, x)) },
		&grad.Options{Watch: []*ops.Value{x}})
	fmt.Println(y, tape.GradientOf(y, x)[0], s.Err())
	// Output: 9 6 <nil>
}
