package activations

import "github.com/cairnml/cairn/ops"

// The activations of Keras, by Keras's names. Names and values must stay: they are those of
// tf_keras's activations.py.
var (
	// Linear computes x itself.
	Linear = named("linear", ops.Identity)
	// Relu computes max(x, 0).
	Relu = named("relu", ops.Relu)
	// Relu6 computes min(max(x, 0), 6).
	Relu6 = named("relu6", ops.Relu6)
	// Sigmoid computes 1/(1+exp(-x)). [LogitsOf] returns x.
	Sigmoid = named("sigmoid", fromLogits(ops.Sigmoid))
	// Tanh computes the hyperbolic tangent.
	Tanh = named("tanh", ops.Tanh)
	// Softmax computes exp(x) divided by its sum along the last axis. [LogitsOf] returns
	// x.
	Softmax = named("softmax", fromLogits(ops.Softmax))
	// LogSoftmax computes the logarithm of Softmax.
	LogSoftmax = named("log_softmax", ops.LogSoftmax)
	// Softplus computes log(1+exp(x)).
	Softplus = named("softplus", ops.Softplus)
	// Softsign computes x/(1+|x|).
	Softsign = named("softsign", ops.Softsign)
	// Elu computes x for positive elements and exp(x)-1 for others.
	Elu = named("elu", ops.Elu)
	// Selu computes the scaled exponential linear unit.
	Selu = named("selu", ops.Selu)
	// Gelu computes x times the Gaussian distribution function of x.
	Gelu = named("gelu", ops.Gelu)
	// Swish computes x*sigmoid(x), also called silu.
	Swish = named("swish", ops.Swish)
	// Mish computes x*tanh(softplus(x)).
	Mish = named("mish", ops.Mish)
	// Exponential computes exp(x).
	Exponential = named("exponential", ops.Exp)
	// HardSigmoid computes max(0, min(1, 0.2*x+0.5)).
	HardSigmoid = named("hard_sigmoid", ops.HardSigmoid)
	// LeakyRelu computes x for positive elements and 0.2*x for others,
	// tf.nn.leaky_relu's default. [Func] makes an activation of another slope.
	LeakyRelu = named("leaky_relu", func(s *ops.Scope, x ops.Input) *ops.Value { return ops.LeakyRelu(s, x, 0.2) })
)
