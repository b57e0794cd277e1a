package keras

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairnml/cairn/ops"
)

// Activation is a function of a layer's outputs: one of the functions here,
// which bear Keras' names, or any other of this type.
type Activation func(s *ops.Scope, x ops.Input) *ops.Value

// Linear returns x itself.
func Linear(s *ops.Scope, x ops.Input) *ops.Value { return ops.Identity(s, x) }

// Relu returns max(x, 0).
func Relu(s *ops.Scope, x ops.Input) *ops.Value { return ops.Relu(s, x) }

// Relu6 returns min(max(x, 0), 6).
func Relu6(s *ops.Scope, x ops.Input) *ops.Value { return ops.Relu6(s, x) }

// Sigmoid returns 1/(1+exp(-x)).
func Sigmoid(s *ops.Scope, x ops.Input) *ops.Value { return ops.Sigmoid(s, x) }

// Tanh returns the hyperbolic tangent.
func Tanh(s *ops.Scope, x ops.Input) *ops.Value { return ops.Tanh(s, x) }

// Softmax returns exp(x) divided by its sum along the last axis.
func Softmax(s *ops.Scope, x ops.Input) *ops.Value { return ops.Softmax(s, x) }

// LogSoftmax returns the logarithm of Softmax.
func LogSoftmax(s *ops.Scope, x ops.Input) *ops.Value { return ops.LogSoftmax(s, x) }

// Softplus returns log(1+exp(x)).
func Softplus(s *ops.Scope, x ops.Input) *ops.Value { return ops.Softplus(s, x) }

// Softsign returns x/(1+|x|).
func Softsign(s *ops.Scope, x ops.Input) *ops.Value { return ops.Softsign(s, x) }

// Elu returns x where it is positive and exp(x)-1 elsewhere.
func Elu(s *ops.Scope, x ops.Input) *ops.Value { return ops.Elu(s, x) }

// Selu returns the scaled exponential linear unit.
func Selu(s *ops.Scope, x ops.Input) *ops.Value { return ops.Selu(s, x) }

// Gelu returns x times the Gaussian distribution function of x.
func Gelu(s *ops.Scope, x ops.Input) *ops.Value { return ops.Gelu(s, x) }

// Swish returns x*sigmoid(x), also called silu.
func Swish(s *ops.Scope, x ops.Input) *ops.Value { return ops.Swish(s, x) }

// Mish returns x*tanh(softplus(x)).
func Mish(s *ops.Scope, x ops.Input) *ops.Value { return ops.Mish(s, x) }

// Exponential returns exp(x).
func Exponential(s *ops.Scope, x ops.Input) *ops.Value { return ops.Exp(s, x) }

// HardSigmoid returns max(0, min(1, 0.2*x+0.5)).
func HardSigmoid(s *ops.Scope, x ops.Input) *ops.Value { return ops.HardSigmoid(s, x) }

// LeakyRelu returns x where it is positive and 0.2*x elsewhere,
// tf.nn.leaky_relu's default. LeakyReluAlpha takes another slope.
func LeakyRelu(s *ops.Scope, x ops.Input) *ops.Value { return ops.LeakyRelu(s, x, 0.2) }

// LeakyReluAlpha returns a LeakyRelu whose slope below 0 is alpha. Keras' layer
// has 0.3.
func LeakyReluAlpha(alpha float64) Activation {
	return func(s *ops.Scope, x ops.Input) *ops.Value { return ops.LeakyRelu(s, x, alpha) }
}

// activations are Keras' names.
var activations = map[string]Activation{
	"linear": Linear, "relu": Relu, "relu6": Relu6, "sigmoid": Sigmoid, "tanh": Tanh,
	"softmax": Softmax, "log_softmax": LogSoftmax, "softplus": Softplus, "softsign": Softsign,
	"elu": Elu, "selu": Selu, "gelu": Gelu, "swish": Swish, "silu": Swish, "mish": Mish,
	"exponential": Exponential, "hard_sigmoid": HardSigmoid, "leaky_relu": LeakyRelu,
}

// ActivationByName returns the activation that Keras knows by a name, as it
// stands in a model's configuration: "relu", "softmax", "hard_sigmoid" and so
// on. An unknown name is an error that lists the known ones.
func ActivationByName(name string) (Activation, error) {
	if a, ok := activations[name]; ok {
		return a, nil
	}
	known := slices.Sorted(maps.Keys(activations))
	return nil, fmt.Errorf("keras: no activation is called %q; there are %s", name, strings.Join(known, ", "))
}
