package state

import (
	"math/cmplx"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// The steps of the optimizers' ops (optimizer.go and sparse.go) for complex
// numbers.

// complexRule is an optimizer's step for complex numbers: the real step with
// the squares and roots of complex numbers. Its arguments are those of rule
// (optimizer.go).
type complexRule func(v [][]complex128, g, h []complex128, flag bool)

// complexRules are the steps that TensorFlow has for complex numbers, by the ops'
// names without "Resource" and "Sparse".
var complexRules = map[string]complexRule{
	"ApplyGradientDescent": func(v [][]complex128, g, h []complex128, _ bool) {
		for i := range g {
			v[0][i] -= h[0] * g[i]
		}
	},
	"ApplyMomentum": func(v [][]complex128, g, h []complex128, nesterov bool) {
		for i := range g {
			v[1][i] = v[1][i]*h[1] + g[i]
			if nesterov {
				v[0][i] -= g[i]*h[0] + v[1][i]*h[1]*h[0]
			} else {
				v[0][i] -= h[0] * v[1][i]
			}
		}
	},
	"ApplyKerasMomentum": func(v [][]complex128, g, h []complex128, nesterov bool) {
		for i := range g {
			v[1][i] = v[1][i]*h[1] - g[i]*h[0]
			if nesterov {
				v[0][i] += v[1][i]*h[1] - g[i]*h[0]
			} else {
				v[0][i] += v[1][i]
			}
		}
	},
	"ApplyAdam": func(v [][]complex128, g, h []complex128, nesterov bool) {
		rate := h[2] * cmplx.Sqrt(1-h[1]) / (1 - h[0])
		for i := range g {
			v[1][i] += (g[i] - v[1][i]) * (1 - h[3])
			v[2][i] += (g[i]*g[i] - v[2][i]) * (1 - h[4])
			m := v[1][i]
			if nesterov {
				m = g[i]*(1-h[3]) + h[3]*m
			}
			v[0][i] -= m * rate / (cmplx.Sqrt(v[2][i]) + h[5])
		}
	},
	"ApplyAdagrad": func(v [][]complex128, g, h []complex128, slots bool) { complexAdagrad(v, g, h[0], 0, slots) },
	"ApplyAdagradV2": func(v [][]complex128, g, h []complex128, slots bool) {
		complexAdagrad(v, g, h[0], h[1], slots)
	},
	"ApplyAdadelta": func(v [][]complex128, g, h []complex128, _ bool) {
		for i := range g {
			v[1][i] = v[1][i]*h[1] + g[i]*g[i]*(1-h[1])
			update := cmplx.Sqrt(v[2][i]+h[2]) / cmplx.Sqrt(v[1][i]+h[2]) * g[i]
			v[0][i] -= update * h[0]
			v[2][i] = v[2][i]*h[1] + update*update*(1-h[1])
		}
	},
	"ApplyRMSProp": func(v [][]complex128, g, h []complex128, _ bool) {
		for i := range g {
			v[1][i] += (g[i]*g[i] - v[1][i]) * (1 - h[1])
			v[2][i] = v[2][i]*h[2] + g[i]*h[0]/cmplx.Sqrt(v[1][i]+h[3])
			v[0][i] -= v[2][i]
		}
	},
	"ApplyCenteredRMSProp": func(v [][]complex128, g, h []complex128, _ bool) {
		for i := range g {
			v[2][i] += (g[i]*g[i] - v[2][i]) * (1 - h[1])
			v[1][i] += (g[i] - v[1][i]) * (1 - h[1])
			v[3][i] = v[3][i]*h[2] + g[i]*h[0]/cmplx.Sqrt(v[2][i]-v[1][i]*v[1][i]+h[3])
			v[0][i] -= v[3][i]
		}
	},
}

// complexAdagrad computes the step of Adagrad. It changes the slot only if
// slots is set.
func complexAdagrad(v [][]complex128, g []complex128, rate, epsilon complex128, slots bool) {
	for i := range g {
		if slots {
			v[1][i] += g[i] * g[i]
		}
		v[0][i] -= g[i] * rate / (cmplx.Sqrt(v[1][i]) + epsilon)
	}
}

// types lists the element types of an optimizer's op.
func (o *optimizer) types() []tensor.DType {
	list := elementwise.Floating()
	if complexRules[o.plain()] != nil {
		list = append(list, tensor.Complex64, tensor.Complex128)
	}
	return list
}

// complexStep runs a step over complex numbers: of whole variables, or of the rows
// of each index, in complex128.
func complexStep[C complex64 | complex128](c *engine.Call, o *optimizer, vars []*trackable.Variable, rows []int64) error {
	f := complexRules[o.plain()]
	if f == nil {
		return &engine.UnsupportedTypeError{Type: c.In(o.grad).DType(), Known: o.types()}
	}
	g := widenComplex(tensor.Values[C](c.In(o.grad)))
	h := widenComplex(hypers(c, o, make([]C, 0, 8)))
	flag := o.flag(c)
	n := len(g)
	if o.sparse() {
		n /= max(1, len(rows))
	}
	return trackable.UpdateAll(vars, func(bufs []*tensor.Tensor) error {
		if o.sparse() {
			if err := checkRows(bufs, rows, n); err != nil {
				return err
			}
		}
		step := func(g []complex128, from int) error {
			part := make([][]complex128, len(bufs))
			for k, b := range bufs {
				if b.Len() < from+len(g) || !o.sparse() && b.Len() != len(g) {
					return errReshaped
				}
				part[k] = widenComplex(tensor.Values[C](b)[from : from+len(g)])
			}
			f(part, g, h, flag)
			for k, b := range bufs {
				to := tensor.Values[C](b)[from : from+len(g)]
				for i, z := range part[k] {
					to[i] = C(z)
				}
			}
			return nil
		}
		if !o.sparse() {
			return step(g, 0)
		}
		for i, r := range rows {
			if err := step(g[i*n:(i+1)*n], int(r)*n); err != nil {
				return err
			}
		}
		return nil
	})
}

// widenComplex returns v in double precision.
func widenComplex[C complex64 | complex128](v []C) []complex128 {
	out := make([]complex128, len(v))
	for i, z := range v {
		out[i] = complex128(z)
	}
	return out
}
