package activations

import "github.com/cairnml/cairn/ops"

// The activations that Keras 3 has and tf_keras lacks, by Keras 3's names. Only HardSigmoid6 has
// another one, because tf_keras's hard_sigmoid is another function. tf_keras opens
// layers with them as layers of unknown classes, which call the saved functions.
// Names and values must stay: interop/peer/rescue.py compares models with Keras 3's outputs.
var (
	// Celu computes x for positive elements and exp(x)-1 for others, as Elu does; Keras 3
	// has both.
	Celu = named("celu", func(s *ops.Scope, x ops.Input) *ops.Value {
		return ops.Add(s, ops.Maximum(s, x, 0), ops.Expm1(s, ops.Minimum(s, x, 0)))
	})
	// HardShrink computes x if |x| is more than 0.5, and 0 otherwise.
	HardShrink = named("hard_shrink", func(s *ops.Scope, x ops.Input) *ops.Value {
		return ops.Where(s, ops.Greater(s, ops.Abs(s, x), 0.5), x, ops.ZerosLike(s, x))
	})
	// HardSilu computes x times [HardSigmoid6] of x.
	HardSilu = named("hard_silu", func(s *ops.Scope, x ops.Input) *ops.Value {
		return ops.Mul(s, x, HardSigmoid6.Call(s, x))
	})
	// HardSigmoid6 computes min(max(x+3, 0), 6)/6, which Keras 3 calls hard_sigmoid. Package
	// keras/internal/keras3 translates the name.
	HardSigmoid6 = named("hard_sigmoid_6", func(s *ops.Scope, x ops.Input) *ops.Value {
		return ops.Div(s, ops.Relu6(s, ops.Add(s, x, 3)), 6)
	})
	// HardTanh computes min(max(x, -1), 1).
	HardTanh = named("hard_tanh", func(s *ops.Scope, x ops.Input) *ops.Value { return ops.Clip(s, x, -1, 1) })
	// LogSigmoid computes log(1/(1+exp(-x))).
	LogSigmoid = named("log_sigmoid", func(s *ops.Scope, x ops.Input) *ops.Value {
		return ops.Neg(s, ops.Softplus(s, ops.Neg(s, x)))
	})
	// SoftShrink computes x-0.5 above 0.5, x+0.5 below -0.5, and 0 between them.
	SoftShrink = named("soft_shrink", func(s *ops.Scope, x ops.Input) *ops.Value {
		below := ops.Where(s, ops.Less(s, x, -0.5), ops.Add(s, x, 0.5), ops.ZerosLike(s, x))
		return ops.Where(s, ops.Greater(s, x, 0.5), ops.Sub(s, x, 0.5), below)
	})
	// SparsePlus computes 0 up to -1, (x+1)²/4 up to 1, and x above.
	SparsePlus = named("sparse_plus", func(s *ops.Scope, x ops.Input) *ops.Value {
		middle := ops.Mul(s, ops.Square(s, ops.Add(s, x, 1)), 0.25)
		return ops.Where(s, ops.LessEqual(s, x, -1), ops.ZerosLike(s, x), ops.Where(s, ops.Less(s, x, 1), middle, x))
	})
	// SparseSigmoid computes min(max((x+1)/2, 0), 1).
	SparseSigmoid = named("sparse_sigmoid", func(s *ops.Scope, x ops.Input) *ops.Value {
		return ops.Clip(s, ops.Mul(s, ops.Add(s, x, 1), 0.5), 0, 1)
	})
	// Squareplus computes (x+sqrt(x²+4))/2.
	Squareplus = named("squareplus", func(s *ops.Scope, x ops.Input) *ops.Value {
		return ops.Div(s, ops.Add(s, x, ops.Sqrt(s, ops.Add(s, ops.Square(s, x), 4))), 2)
	})
	// TanhShrink computes x-tanh(x).
	TanhShrink = named("tanh_shrink", func(s *ops.Scope, x ops.Input) *ops.Value { return ops.Sub(s, x, ops.Tanh(s, x)) })
)
