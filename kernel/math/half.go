package math

import (
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/stepwise"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// Ops of half precision whose intermediate results TensorFlow rounds. The steps and their order are
// those of Eigen's expressions and must stay: the results are compared bit by bit.

// rounding rounds to a type of half precision. TensorFlow computes functions that it puts
// together from others in such steps, each rounded; those of one step are loops of package
// vec.
type rounding func(float32) float32

func (r rounding) exp(dst, x []float32) {
	vec.Exp(dst, x)
	for i, v := range dst {
		dst[i] = r(v)
	}
}

// stepsOf are functions in rounded steps.
var stepsOf = map[string]func(r rounding) func(dst, x []float32){
	"Sigmoid": func(r rounding) func(dst, x []float32) {
		return func(dst, x []float32) {
			r.exp(dst, x)
			for i, e := range dst {
				if dst[i] = 1; !math.IsInf(float64(e), 1) {
					dst[i] = r(e / r(1+e))
				}
			}
		}
	},
	"Elu": func(r rounding) func(dst, x []float32) {
		return func(dst, x []float32) {
			r.exp(dst, x)
			for i, v := range x {
				if dst[i] -= 1; !(v < 0) {
					dst[i] = v
				}
			}
		}
	},
	"Selu": func(r rounding) func(dst, x []float32) {
		scale, alpha := r(1.0507009873554804934193349852946), r(1.7580993408473768599402175208123)
		return func(dst, x []float32) {
			r.exp(dst, x)
			for i, v := range x {
				if v < 0 {
					dst[i] = alpha * r(dst[i]-1)
				} else {
					dst[i] = scale * v
				}
			}
		}
	},
	"Softsign": func(r rounding) func(dst, x []float32) {
		return func(dst, x []float32) {
			for i, v := range x {
				dst[i] = v / r(float32(math.Abs(float64(v)))+1)
			}
		}
	},
}

// Eigen's epsilons of half precision. That of float16 isn't the distance of 1 to the next
// number, 0x1p-10, and must stay as it is.
const epsilonFloat16, epsilonBFloat16 = 0x1p-13, 0x1p-7

// softplus has thresholds that follow from the type's epsilon.
func softplus(epsilon float64) func(r rounding) func(dst, x []float32) {
	return func(r rounding) func(dst, x []float32) {
		least := r(r(float32(math.Log(epsilon))) + 2)
		return func(dst, x []float32) {
			r.exp(dst, x)
			for i, v := range x {
				switch {
				case v > -least:
					dst[i] = v
				case !(v < least):
					dst[i] = float32(math.Log1p(float64(dst[i])))
				}
			}
		}
	}
}

// stepsOfTwo are functions of two numbers in rounded steps.
var stepsOfTwo = map[string]func(r rounding) func(x, y float32) float32{
	"SquaredDifference": func(r rounding) func(x, y float32) float32 {
		return func(x, y float32) float32 { d := r(x - y); return d * d }
	},
	"FloorDiv": func(r rounding) func(x, y float32) float32 {
		return func(x, y float32) float32 { return float32(math.Floor(float64(r(x / y)))) }
	},
	"TruncateDivFloat": func(r rounding) func(x, y float32) float32 {
		return func(x, y float32) float32 { return float32(math.Trunc(float64(r(x / y)))) }
	},
	"Xlogy": func(r rounding) func(x, y float32) float32 {
		return func(x, y float32) float32 {
			if x == 0 {
				return 0
			}
			return x * r(float32(math.Log(float64(y))))
		}
	},
	"Xlog1py": func(r rounding) func(x, y float32) float32 {
		return func(x, y float32) float32 {
			if x == 0 {
				return 0
			}
			return x * r(float32(math.Log1p(float64(y))))
		}
	},
	"TanhGrad": func(r rounding) func(y, g float32) float32 {
		return func(y, g float32) float32 { return g * r(1-r(y*y)) }
	},
	"ReciprocalGrad": func(r rounding) func(y, g float32) float32 {
		return func(y, g float32) float32 {
			if g == 0 {
				return 0
			}
			return r(-y*y) * g
		}
	},
	"RsqrtGrad": func(r rounding) func(y, g float32) float32 {
		return func(y, g float32) float32 {
			if g == 0 {
				return 0
			}
			return r(-0.5*r(y*y)) * r(y*g)
		}
	},
	"SoftplusGrad": func(r rounding) func(g, x float32) float32 {
		return func(g, x float32) float32 { return g / r(r(float32(math.Exp(-float64(x))))+1) }
	},
	"SoftsignGrad": func(r rounding) func(g, x float32) float32 {
		return func(g, x float32) float32 {
			d := r(float32(math.Abs(float64(x))) + 1)
			return g / r(d*d)
		}
	},
	"EluGrad": func(r rounding) func(g, y float32) float32 {
		return func(g, y float32) float32 {
			if y < 0 {
				return r(y+1) * g
			}
			return g
		}
	},
	"SeluGrad": func(r rounding) func(g, y float32) float32 {
		scale, alpha := r(1.0507009873554804934193349852946), r(1.7580993408473768599402175208123)
		return func(g, y float32) float32 {
			if y < 0 {
				return g * r(y+alpha)
			}
			return g * scale
		}
	},
}

func unarySteps[H elementwise.Half](f func(rounding) func(dst, x []float32), ns float64) elementwise.Func {
	return elementwise.UnaryHalf[H](f(stepwise.Rounding[H]()), ns+5)
}

func binarySteps[H elementwise.Half](steps func(rounding) func(x, y float32) float32, ns float64) elementwise.Func {
	f := steps(stepwise.Rounding[H]())
	return elementwise.BinaryHalf[H](
		func(dst, a, b []float32) {
			for i, x := range a {
				dst[i] = f(x, b[i])
			}
		},
		func(dst, a []float32, y float32) {
			for i, x := range a {
				dst[i] = f(x, y)
			}
		},
		func(dst []float32, x float32, b []float32) {
			for i, y := range b {
				dst[i] = f(x, y)
			}
		}, ns+10)
}

// vectorLanes is the number of halves in one of Eigen's vectors.
const vectorLanes = 8

// ended are functions that compute the last elements, fewer than a vector, in
// other steps than those before.
var ended = map[string]func(r rounding) (vectors, rest func(x, y float32) float32){
	"SigmoidGrad": func(r rounding) (vectors, rest func(y, g float32) float32) {
		return func(y, g float32) float32 { return g * r(y*r(1-y)) }, func(y, g float32) float32 { return r(g*y) * r(1-y) }
	},
	"SqrtGrad": func(r rounding) (vectors, rest func(y, g float32) float32) {
		return func(y, g float32) float32 {
				if g == 0 {
					return 0
				}
				return r(0.5/y) * g
			}, func(y, g float32) float32 {
				if g == 0 {
					return 0
				}
				return r(0.5*g) / y
			}
	},
	"Rsqrt": func(r rounding) (vectors, rest func(x, _ float32) float32) {
		return func(x, _ float32) float32 { return float32(1 / math.Sqrt(float64(x))) },
			func(x, _ float32) float32 { return 1 / r(float32(math.Sqrt(float64(x)))) }
	},
}

// endedSteps makes a Func of such a function, over one input or two of the same
// shape.
func endedSteps[H elementwise.Half](name string) elementwise.Func {
	vectors, rest := ended[name](stepwise.Rounding[H]())
	return func(c *engine.Call) error {
		if c.NumIn() != 1 {
			if err := elementwise.Same(c); err != nil {
				return err
			}
		} else if err := c.Need(1); err != nil {
			return err
		}
		x := elementwise.Widened[H](c, c.In(0))
		y := x
		if c.NumIn() == 2 {
			y = elementwise.Widened[H](c, c.In(1))
		}
		out, err := c.AllocOver(0, 0, c.In(0).DType(), c.In(0).Shape())
		if err != nil {
			return err
		}
		whole := len(x) - len(x)%vectorLanes
		c.Parallel(len(x), 12, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				if i < whole {
					x[i] = vectors(x[i], y[i])
				} else {
					x[i] = rest(x[i], y[i])
				}
			}
		})
		elementwise.Narrow(tensor.Values[H](out), x)
		return nil
	}
}
