package grad_test

import (
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestGradientsThroughControlFlowEqualEagerOnes differentiates ops.If, While, Map
// and Scan twice: eagerly they are Go calls, traced they are calls of
// functions.
func TestGradientsThroughControlFlowEqualEagerOnes(t *testing.T) {
	w := trackable.NewVariable(tensor.Vector(0.5, -1.5, 2)).Named("w")
	total := func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Sum(s, x) }
	for name, f := range map[string]body{
		"if": func(s *ops.Scope, x, y *ops.Value) *ops.Value {
			return ops.If(s, ops.Greater(s, total(s, x), 0),
				func(s *ops.Scope) *ops.Value { return ops.Mul(s, ops.Sin(s, x), ops.Exp(s, ops.Mul(s, w, y))) },
				func(s *ops.Scope) *ops.Value { return ops.Mul(s, ops.Square(s, x), x) })
		},
		"while": func(s *ops.Scope, x, y *ops.Value) *ops.Value {
			return ops.While(s, x,
				func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Less(s, ops.Max(s, ops.Abs(s, x)), 9) },
				func(s *ops.Scope, x *ops.Value) *ops.Value {
					return ops.Mul(s, ops.Mul(s, x, 2), ops.Add(s, ops.Square(s, ops.Cos(s, ops.Mul(s, x, w))), ops.Exp(s, y)))
				})
		},
		"if in while": func(s *ops.Scope, x, y *ops.Value) *ops.Value {
			return ops.While(s, []*ops.Value{ops.Const(s, 0), x},
				func(s *ops.Scope, v []*ops.Value) *ops.Value { return ops.Less(s, v[0], 4) },
				func(s *ops.Scope, v []*ops.Value) []*ops.Value {
					next := ops.If(s, ops.Greater(s, total(s, v[1]), 0.5),
						func(s *ops.Scope) *ops.Value { return ops.Mul(s, ops.Tanh(s, v[1]), w) },
						func(s *ops.Scope) *ops.Value { return ops.Add(s, v[1], ops.Square(s, y)) })
					return []*ops.Value{ops.Add(s, v[0], 1), next}
				})[1]
		},
		"map": func(s *ops.Scope, x, y *ops.Value) *ops.Value {
			return ops.Map(s, x, func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Mul(s, ops.Exp(s, x), ops.Mul(s, w, y)) })
		},
		"scan": func(s *ops.Scope, x, y *ops.Value) *ops.Value {
			return ops.Scan(s, ops.Mul(s, y, w), x, func(s *ops.Scope, acc, x *ops.Value) *ops.Value {
				return ops.Add(s, ops.Mul(s, acc, x), ops.Sin(s, x))
			})
		},
	} {
		for _, sign := range []float64{1, -1} {
			t.Run(name, func(t *testing.T) {
				x, y := tensor.Vector(sign*0.3, sign*0.7, sign*1.1), tensor.Vector(0.2)
				want := derivatives(t, f, function.Eagerly, x, y, w)
				got := derivatives(t, f, function.Traced, x, y, w)
				for i := range want {
					if !near(got[i], want[i]) {
						t.Errorf("sign %v: derivative %d is %v traced, %v eager", sign, i, got[i], want[i])
					}
				}
			})
		}
	}
}
