package ops

import (
	"math"

	"github.com/cairnml/cairn/graph"
)

// Relu computes max(x, 0).
func Relu(s *Scope, x Input) *Value { return s.Emit1("Relu", nil, x) }

// Relu6 computes min(max(x, 0), 6).
func Relu6(s *Scope, x Input) *Value { return s.Emit1("Relu6", nil, x) }

// LeakyRelu returns x for positive elements and alpha*x for others.
// tf.nn.leaky_relu's default alpha is 0.2, Keras' is 0.3.
func LeakyRelu(s *Scope, x Input, alpha float64) *Value {
	return s.Emit1("LeakyRelu", graph.Attrs{graph.Float("alpha", alpha)}, x)
}

// Elu returns x for positive elements and exp(x)-1 for others.
func Elu(s *Scope, x Input) *Value { return s.Emit1("Elu", nil, x) }

// Selu computes the scaled exponential linear unit: scale*x for positive
// elements and scale*alpha*(exp(x)-1) for others, with the constants that keep
// mean and variance.
func Selu(s *Scope, x Input) *Value { return s.Emit1("Selu", nil, x) }

// Gelu computes x times the Gaussian distribution function of x.
func Gelu(s *Scope, x Input) *Value {
	x = Const(s, x)
	cdf := Add(s, 1, Erf(s, Div(s, x, math.Sqrt2)))
	return Mul(s, Mul(s, 0.5, x), cdf)
}

// GeluTanh computes [Gelu] with the distribution function approximated by tanh.
func GeluTanh(s *Scope, x Input) *Value {
	x = Const(s, x)
	inner := Mul(s, 0.7978845608028654, Add(s, x, Mul(s, 0.044715, Pow(s, x, 3))))
	return Mul(s, Mul(s, 0.5, x), Add(s, 1, Tanh(s, inner)))
}

// Sigmoid computes 1/(1+exp(-x)).
func Sigmoid(s *Scope, x Input) *Value { return s.Emit1("Sigmoid", nil, x) }

// HardSigmoid computes max(0, min(1, 0.2*x+0.5)), as Keras 2 has it.
func HardSigmoid(s *Scope, x Input) *Value {
	x = Const(s, x)
	return Clip(s, Add(s, Mul(s, x, 0.2), 0.5), 0, 1)
}

// Softplus computes log(1+exp(x)).
func Softplus(s *Scope, x Input) *Value { return s.Emit1("Softplus", nil, x) }

// Softsign computes x/(1+|x|).
func Softsign(s *Scope, x Input) *Value { return s.Emit1("Softsign", nil, x) }

// Swish computes x*sigmoid(x), also known as silu.
func Swish(s *Scope, x Input) *Value {
	x = Const(s, x)
	return Mul(s, x, Sigmoid(s, x))
}

// Mish computes x*tanh(softplus(x)).
func Mish(s *Scope, x Input) *Value {
	x = Const(s, x)
	return Mul(s, x, Tanh(s, Softplus(s, x)))
}

// Softmax computes exp(x) divided by its sum along the last axis.
func Softmax(s *Scope, x Input) *Value { return s.Emit1("Softmax", nil, x) }

// LogSoftmax computes the logarithm of [Softmax], exact for logarithms close to
// 0.
func LogSoftmax(s *Scope, x Input) *Value { return s.Emit1("LogSoftmax", nil, x) }

// L2Normalize divides x by its Euclidean norm over the axes, which is taken as
// at least sqrt(epsilon). TensorFlow's epsilon is 1e-12.
func L2Normalize(s *Scope, x Input, epsilon float64, axes ...int) *Value {
	x = Const(s, x)
	return Mul(s, x, Rsqrt(s, Maximum(s, SumKeep(s, Square(s, x), axes...), epsilon)))
}

// Dropout sets each element to 0 with probability rate and multiplies it by 1/(1-rate)
// otherwise, so that the mean stays. A rate of 0 returns x.
func Dropout(s *Scope, r *Random, x Input, rate float64) *Value {
	x = Const(s, x)
	if rate == 0 {
		return Identity(s, x)
	}
	if !(rate > 0 && rate < 1) {
		return s.Fail("Dropout", errRate(rate))
	}
	y := Mul(s, x, 1/(1-rate))
	return Where(s, GreaterEqual(s, RandomUniformLike(s, r, x), rate), y, 0)
}

// SoftmaxCrossEntropy computes the cross-entropy of each row of logits against
// the row of labels, a distribution: one loss a row. The last dimension holds
// the classes; there may be any number of others.
func SoftmaxCrossEntropy(s *Scope, labels, logits Input) *Value {
	if rank := s.shapeOf(logits).Rank(); rank == 0 || rank == 2 {
		return s.EmitN(2, "SoftmaxCrossEntropyWithLogits", nil, logits, labels)[0]
	}
	x, outer := s.lastRows(logits)
	y, _ := s.lastRows(labels)
	return ReshapeTo(s, s.EmitN(2, "SoftmaxCrossEntropyWithLogits", nil, x, y)[0], outer)
}

// SparseSoftmaxCrossEntropy computes [SoftmaxCrossEntropy] for labels that are
// class indices (int32 or int64), one a row. A label out of range is an error.
func SparseSoftmaxCrossEntropy(s *Scope, labels, logits Input) *Value {
	rank := s.shapeOf(logits).Rank()
	labels = Const(s, labels)
	switch {
	case rank == 0:
		return s.Fail("SparseSoftmaxCrossEntropyWithLogits", errRank0)
	case rank == 2 && s.shapeOf(labels).HasRank():
		return s.EmitN(2, "SparseSoftmaxCrossEntropyWithLogits", nil, logits, labels)[0]
	}
	x, outer := s.lastRows(logits)
	y := Reshape(s, labels, -1)
	return ReshapeTo(s, s.EmitN(2, "SparseSoftmaxCrossEntropyWithLogits", nil, x, y)[0], outer)
}

// SigmoidCrossEntropy computes the cross-entropy of each logit against its
// label, a probability, element by element, computed as TensorFlow does without
// overflow: max(x, 0) - x*z + log(1+exp(-|x|)).
func SigmoidCrossEntropy(s *Scope, labels, logits Input) *Value {
	x := Const(s, logits)
	zero := ZerosLike(s, x)
	positive := GreaterEqual(s, x, zero)
	relu := Where(s, positive, x, zero)
	negAbs := Where(s, positive, Neg(s, x), x)
	return Add(s, Sub(s, relu, Mul(s, x, labels)), Log1p(s, Exp(s, negAbs)))
}
