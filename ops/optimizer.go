package ops

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// The functions in this file are TensorFlow's fused optimizer steps. They
// change the variable and its slots in place, each a variable or a struct that
// embeds one. Slots and grad have the variable's type and shape. The other inputs
// are scalars of that type; Go numbers are converted to it.

// apply emits an op that changes vars. in are its inputs after the handles of vars.

func (s *Scope) apply(op string, attrs graph.Attrs, vars []trackable.VariableLike, in ...Input) {
	if !s.alive() {
		return
	}
	all := s.step.args[:0]
	d := tensor.Invalid
	for _, v := range vars {
		all = append(all, s.handleOf(v))
		if v := variableOf(v); v != nil && d == tensor.Invalid {
			d = v.DType()
		}
	}
	for _, x := range in {
		if d != tensor.Invalid {
			x = s.cast(x, d)
		}
		all = append(all, x)
	}
	s.step.args = all
	s.Emit0(op, attrs, all...)
}

// ApplyGradientDescent subtracts lr*grad from v.
func ApplyGradientDescent(s *Scope, v trackable.VariableLike, lr, grad Input) {
	s.apply("ResourceApplyGradientDescent", nil, []trackable.VariableLike{v}, lr, grad)
}

// MomentumOptions choose the form of [ApplyMomentum] and [ApplyKerasMomentum].
type MomentumOptions struct {
	// Nesterov takes the gradient at the point that the momentum leads to. Default:
	// at v.
	Nesterov bool
}

// AdamOptions choose the form of [ApplyAdam].
type AdamOptions struct {
	// Nesterov puts the first moment of the next step in the place of this one's.
	// Default: this one's.
	Nesterov bool
}

var attrsNesterov = graph.Attrs{graph.Bool("use_nesterov", true)}

func nesterovAttr(on bool) graph.Attrs {
	if on {
		return attrsNesterov
	}
	return nil
}

// ApplyMomentum updates v by TensorFlow's momentum step:
//
//	accum = momentum*accum + grad
//	v -= lr*accum                      // without Nesterov
//	v -= lr*grad + lr*momentum*accum   // with it
func ApplyMomentum(s *Scope, v, accum trackable.VariableLike, lr, grad, momentum Input, opts ...*MomentumOptions) {
	s.apply("ResourceApplyMomentum", nesterovAttr(last(opts).Nesterov), []trackable.VariableLike{v, accum}, lr, grad, momentum)
}

// ApplyKerasMomentum updates v by the momentum step of Keras' SGD:
//
//	accum = momentum*accum - lr*grad
//	v += accum                         // without Nesterov
//	v += momentum*accum - lr*grad      // with it
func ApplyKerasMomentum(s *Scope, v, accum trackable.VariableLike, lr, grad, momentum Input, opts ...*MomentumOptions) {
	s.apply("ResourceApplyKerasMomentum", nesterovAttr(last(opts).Nesterov), []trackable.VariableLike{v, accum}, lr, grad, momentum)
}

// ApplyAdam updates v by Adam's step; beta1Power and beta2Power are beta1 and
// beta2 to the power of the step's number, which counts from 1:
//
//	alpha = lr * sqrt(1-beta2Power) / (1-beta1Power)
//	m += (grad-m) * (1-beta1)
//	v2 += (grad*grad-v2) * (1-beta2)
//	v -= alpha*m / (sqrt(v2)+epsilon)
//
// With Nesterov the numerator of the last line is
// alpha * (m*beta1 + (1-beta1)*grad).
func ApplyAdam(s *Scope, v, m, v2 trackable.VariableLike, beta1Power, beta2Power, lr, beta1, beta2, epsilon, grad Input, opts ...*AdamOptions) {
	s.apply("ResourceApplyAdam", nesterovAttr(last(opts).Nesterov), []trackable.VariableLike{v, m, v2},
		beta1Power, beta2Power, lr, beta1, beta2, epsilon, grad)
}

// ApplyAdamWithAmsgrad updates as [ApplyAdam], but divides by the largest v2 so
// far, which vhat stores.
func ApplyAdamWithAmsgrad(s *Scope, v, m, v2, vhat trackable.VariableLike, beta1Power, beta2Power, lr, beta1, beta2, epsilon, grad Input) {
	s.apply("ResourceApplyAdamWithAmsgrad", nil, []trackable.VariableLike{v, m, v2, vhat},
		beta1Power, beta2Power, lr, beta1, beta2, epsilon, grad)
}

// ApplyAdaMax updates v by Adamax's step; beta1Power is beta1 to the power of
// the step's number, which counts from 1:
//
//	m += (grad-m) * (1-beta1)
//	v2 = max(beta2*v2, |grad|)
//	v -= lr / (1-beta1Power) * m / (v2+epsilon)
func ApplyAdaMax(s *Scope, v, m, v2 trackable.VariableLike, beta1Power, lr, beta1, beta2, epsilon, grad Input) {
	s.apply("ResourceApplyAdaMax", nil, []trackable.VariableLike{v, m, v2}, beta1Power, lr, beta1, beta2, epsilon, grad)
}

// ApplyAdagrad updates v by Adagrad's step with an epsilon, TensorFlow's
// AdagradV2:
//
//	accum += grad*grad
//	v -= lr*grad / (sqrt(accum)+epsilon)
func ApplyAdagrad(s *Scope, v, accum trackable.VariableLike, lr, epsilon, grad Input) {
	s.apply("ResourceApplyAdagradV2", nil, []trackable.VariableLike{v, accum}, lr, epsilon, grad)
}

// ApplyAdadelta updates v by Adadelta's step:
//
//	accum = rho*accum + (1-rho)*grad*grad
//	update = sqrt(accumUpdate+epsilon) / sqrt(accum+epsilon) * grad
//	accumUpdate = rho*accumUpdate + (1-rho)*update*update
//	v -= lr*update
func ApplyAdadelta(s *Scope, v, accum, accumUpdate trackable.VariableLike, lr, rho, epsilon, grad Input) {
	s.apply("ResourceApplyAdadelta", nil, []trackable.VariableLike{v, accum, accumUpdate}, lr, rho, epsilon, grad)
}

// ApplyRMSProp updates v by the RMSProp step:
//
//	ms += (grad*grad-ms) * (1-rho)
//	mom = momentum*mom + lr*grad / sqrt(ms+epsilon)
//	v -= mom
func ApplyRMSProp(s *Scope, v, ms, mom trackable.VariableLike, lr, rho, momentum, epsilon, grad Input) {
	s.apply("ResourceApplyRMSProp", nil, []trackable.VariableLike{v, ms, mom}, lr, rho, momentum, epsilon, grad)
}

// ApplyCenteredRMSProp updates as [ApplyRMSProp], but divides by an estimate of
// the gradient's variance; mg stores its mean.
func ApplyCenteredRMSProp(s *Scope, v, mg, ms, mom trackable.VariableLike, lr, rho, momentum, epsilon, grad Input) {
	s.apply("ResourceApplyCenteredRMSProp", nil, []trackable.VariableLike{v, mg, ms, mom}, lr, rho, momentum, epsilon, grad)
}

// ApplyFtrl updates v by the step of FTRL-proximal with L2 shrinkage,
// TensorFlow's FtrlV2.
func ApplyFtrl(s *Scope, v, accum, linear trackable.VariableLike, grad, lr, l1, l2, l2Shrinkage, lrPower Input) {
	s.apply("ResourceApplyFtrlV2", nil, []trackable.VariableLike{v, accum, linear}, grad, lr, l1, l2, l2Shrinkage, lrPower)
}
