package vec

import (
	"math"

	"github.com/cairnml/cairn/kernel/internal/simd"
)

// The steps of the ResourceApply ops, for packages kernel/state and kernel/math. v is the
// variable, g its gradient; other slices are slot variables. v and the slot variables change in
// place. Keep the order of operations: results are compared with TensorFlow's. Functions of simd
// do the first elements and return their number; the loop does the others. AdamStep also replaces the
// ops of Adam's step (kernel/math/whole.go), each of which rounds. So each of its operations
// is rounded: a conversion T(...) forbids the fusion of a product and a sum.

func sqrt[T Float](x T) T { return T(math.Sqrt(float64(x))) }

// Descend computes v -= lr*g.
func Descend[T Float](v, g []T, lr T) {
	g = g[:len(v)]
	n := simd.Descend(v, g, lr)
	v, g = v[n:], g[n:]
	for i := range v {
		v[i] -= g[i] * lr
	}
}

// Momentum takes the step of ResourceApplyMomentum.
func Momentum[T Float](v, accum, g []T, lr, momentum T, nesterov bool) {
	accum, g = accum[:len(v)], g[:len(v)]
	if nesterov {
		for i := range v {
			a := accum[i]*momentum + g[i]
			accum[i] = a
			v[i] -= g[i]*lr + a*momentum*lr
		}
		return
	}
	for i := range v {
		a := accum[i]*momentum + g[i]
		accum[i] = a
		v[i] -= a * lr
	}
}

// KerasMomentum takes the step of ResourceApplyKerasMomentum.
func KerasMomentum[T Float](v, accum, g []T, lr, momentum T, nesterov bool) {
	accum, g = accum[:len(v)], g[:len(v)]
	for i := range v {
		d := g[i] * lr
		a := accum[i]*momentum - d
		accum[i] = a
		if nesterov {
			a = a*momentum - d
		}
		v[i] += a
	}
}

// Adam takes Adam's step; alpha is lr*sqrt(1-beta2^t)/(1-beta1^t) in step t. m
// and s are the decaying means of g and g².
func Adam[T Float](v, m, s, g []T, alpha, beta1, beta2, epsilon T, nesterov bool) {
	m, s, g = m[:len(v)], s[:len(v)], g[:len(v)]
	b1, b2 := 1-beta1, 1-beta2
	if nesterov {
		for i, d := range g {
			m[i] += (d - m[i]) * b1
			s[i] += (d*d - s[i]) * b2
			v[i] -= ((d*b1 + beta1*m[i]) * alpha) / (sqrt(s[i]) + epsilon)
		}
		return
	}
	AdamStep(v, m, s, g, alpha, b1, b2, epsilon)
}

// AdamStep takes the step of [Adam] without nesterov. b1 and b2 are 1-beta1 and
// 1-beta2. Each operation is rounded.
func AdamStep[T Float](v, m, s, g []T, alpha, b1, b2, epsilon T) {
	m, s, g = m[:len(v)], s[:len(v)], g[:len(v)]
	n := simd.Adam(v, m, s, g, alpha, b1, b2, epsilon)
	v, m, s, g = v[n:], m[n:], s[n:], g[n:]
	for i, d := range g {
		mi := m[i] + T((d-m[i])*b1)
		si := s[i] + T((T(d*d)-s[i])*b2)
		m[i], s[i] = mi, si
		v[i] -= T(mi*alpha) / (sqrt(si) + epsilon)
	}
}

// Amsgrad takes Adam's step, dividing by the root of the largest s so far, vhat.
func Amsgrad[T Float](v, m, s, vhat, g []T, alpha, beta1, beta2, epsilon T) {
	m, s, vhat, g = m[:len(v)], s[:len(v)], vhat[:len(v)], g[:len(v)]
	for i, d := range g {
		m[i] += (d - m[i]) * (1 - beta1)
		s[i] += (d*d - s[i]) * (1 - beta2)
		vhat[i] = max(vhat[i], s[i])
		v[i] -= (m[i] * alpha) / (sqrt(vhat[i]) + epsilon)
	}
}

// AdaMax takes Adam's step by the infinity norm; alpha is lr/(1-beta1^t)
// in step t. u is the largest |g| so far, multiplied by beta2 in each step.
func AdaMax[T Float](v, m, u, g []T, alpha, beta1, beta2, epsilon T) {
	m, u, g = m[:len(v)], u[:len(v)], g[:len(v)]
	for i, d := range g {
		m[i] += (d - m[i]) * (1 - beta1)
		u[i] = max(u[i]*beta2, T(math.Abs(float64(d))))
		v[i] -= alpha * (m[i] / (u[i] + epsilon))
	}
}

// Adagrad takes Adagrad's step. If slots is false (attribute update_slots), accum
// stays.
func Adagrad[T Float](v, accum, g []T, lr, epsilon T, slots bool) {
	accum, g = accum[:len(v)], g[:len(v)]
	for i, d := range g {
		if slots {
			accum[i] += d * d
		}
		v[i] -= (d * lr) / (sqrt(accum[i]) + epsilon)
	}
}

// Adadelta takes Adadelta's step.
func Adadelta[T Float](v, accum, update, g []T, lr, rho, epsilon T) {
	accum, update, g = accum[:len(v)], update[:len(v)], g[:len(v)]
	for i, d := range g {
		accum[i] = accum[i]*rho + d*d*(1-rho)
		u := sqrt(update[i]+epsilon) * (1 / sqrt(accum[i]+epsilon)) * d
		v[i] -= u * lr
		update[i] = update[i]*rho + u*u*(1-rho)
	}
}

// RMSProp takes the RMSProp step; mg is nil unless it is centered.
func RMSProp[T Float](v, mg, ms, mom, g []T, lr, rho, momentum, epsilon T) {
	ms, mom, g = ms[:len(v)], mom[:len(v)], g[:len(v)]
	for i, d := range g {
		ms[i] += (d*d - ms[i]) * (1 - rho)
		denom := ms[i] + epsilon
		if mg != nil {
			mg[i] += (d - mg[i]) * (1 - rho)
			denom = (ms[i] - mg[i]*mg[i]) + epsilon
		}
		mom[i] = mom[i]*momentum + (d*lr)/sqrt(denom)
		v[i] -= mom[i]
	}
}

// Ftrl takes the step of FTRL-proximal. byRate is the attribute
// multiply_linear_by_lr: linear is then multiplied by the learning rate.
func Ftrl[T Float](v, accum, linear, g []T, lr, l1, l2, shrinkage, power T, byRate bool) {
	accum, linear, g = accum[:len(v)], linear[:len(v)], g[:len(v)]
	root := func(x T) T {
		if power == -0.5 {
			return sqrt(x)
		}
		return T(math.Pow(float64(x), float64(-power)))
	}
	for i, d := range g {
		shrunk := d + 2*shrinkage*v[i]
		next := accum[i] + d*d
		if byRate {
			linear[i] += shrunk*lr - (root(next)-root(accum[i]))*v[i]
			v[i] = quotient(shrink(-linear[i], l1*lr), root(next)+2*l2*lr)
		} else {
			linear[i] += shrunk - (root(next)-root(accum[i]))/lr*v[i]
			v[i] = quotient(shrink(-linear[i], l1), root(next)/lr+2*l2)
		}
		accum[i] = next
	}
}

// shrink moves x towards zero by amount, and not past zero.
func shrink[T Float](x, amount T) T {
	switch {
	case x > amount:
		return x - amount
	case x < -amount:
		return x + amount
	}
	return 0
}

// quotient returns x/y, and 0 if x is 0, even if y is 0.
func quotient[T Float](x, y T) T {
	if x == 0 {
		return 0
	}
	return x / y
}

// AdagradDA takes the step of dual averaging: sum and squares are the sums of the
// gradients and of their squares up to the given step.
func AdagradDA[T Float](v, sum, squares, g []T, lr, l1, l2, step T) {
	sum, squares, g = sum[:len(v)], squares[:len(v)], g[:len(v)]
	for i, d := range g {
		sum[i] += d
		squares[i] += d * d
		v[i] = -lr * shrink(sum[i], l1*step) / (l2*lr*step + sqrt(squares[i]))
	}
}

// AddSign takes a step that is larger if the gradient agrees with the mean of
// those before.
func AddSign[T Float](v, m, g []T, lr, alpha, decay, beta T) {
	m, g = m[:len(v)], g[:len(v)]
	for i, d := range g {
		m[i] = beta*m[i] + (1-beta)*d
		v[i] -= lr * (alpha + decay*signReal(d)*signReal(m[i])) * d
	}
}

// PowerSign takes the step lr*g times e^(logBase*decay*sign(g)*sign(m)). m is the decaying
// mean of the gradients.
func PowerSign[T Float](v, m, g []T, lr, logBase, decay, beta T) {
	m, g = m[:len(v)], g[:len(v)]
	for i, d := range g {
		m[i] = beta*m[i] + (1-beta)*d
		v[i] -= lr * T(math.Exp(float64(logBase*decay*signReal(d)*signReal(m[i])))) * d
	}
}

// Proximal takes a step of gradient descent with regularization.
func Proximal[T Float](v, g []T, lr, l1, l2 T) {
	g = g[:len(v)]
	for i, d := range g {
		v[i] = shrink(v[i]-lr*d, lr*max(l1, 0)) / (1 + l2*lr)
	}
}

// ProximalAdagrad takes the step of [Proximal] with Adagrad's learning rates.
func ProximalAdagrad[T Float](v, accum, g []T, lr, l1, l2 T) {
	accum, g = accum[:len(v)], g[:len(v)]
	for i, d := range g {
		accum[i] += d * d
		rate := lr / sqrt(accum[i])
		v[i] = shrink(v[i]-rate*d, rate*max(l1, 0)) / (1 + l2*rate)
	}
}
