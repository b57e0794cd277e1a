package math

import (
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/special"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// specials returns the kernels of special functions, which are computed in
// double precision.
func specials() []engine.Kernel {
	of := func(op string, f func(float64) float64, half bool) engine.Kernel {
		return oneOf(f, half).Kernel(op, "T", engine.Accumulated)
	}
	two := func(op string, f func(x, y float64) float64) engine.Kernel {
		t := elementwise.ByType{tensor.Float32: lateInDouble[float32](f), tensor.Float64: lateInDouble[float64](f)}
		return t.Kernel(op, "T", engine.Accumulated)
	}
	g := special.Gamma{Digamma: digammaOf}
	return []engine.Kernel{
		of("BesselI0", special.BesselI0, true), of("BesselI0e", special.BesselI0e, true),
		of("BesselI1", special.BesselI1, true), of("BesselI1e", special.BesselI1e, true),
		of("BesselK0", special.BesselK0, true), of("BesselK0e", special.BesselK0e, true),
		of("BesselK1", special.BesselK1, true), of("BesselK1e", special.BesselK1e, true),
		of("BesselJ0", ending(math.J0), true), of("BesselJ1", ending(math.J1), true),
		of("BesselY0", secondKind(math.Y0), true), bessely1.Kernel("BesselY1", "T", engine.Accumulated),
		of("Dawsn", special.Dawsn, false), of("Expint", special.Expint, false), of("Spence", special.Spence, false),
		of("FresnelSin", func(x float64) float64 { s, _ := special.Fresnel(x); return s }, false),
		of("FresnelCos", func(x float64) float64 { _, c := special.Fresnel(x); return c }, false),
		of("Erfinv", math.Erfinv, false), of("Ndtri", special.Ndtri, false),
		two("Igamma", g.Lower), two("Igammac", g.Upper), two("IgammaGradA", g.LowerByA), two("RandomGammaGrad", g.SampleByA),
		two("Zeta", special.Zeta), two("Polygamma", polygamma),
		betaincs.Kernel("Betainc", "T", engine.Accumulated),
	}
}

// bessely1 is NaN at zero in single and half precision, as in TensorFlow.
var bessely1 = func() elementwise.ByType {
	t := oneOf(func(x float64) float64 {
		if x == 0 {
			return math.NaN()
		}
		return secondKind(math.Y1)(x)
	}, true)
	t[tensor.Float64] = oneOf(secondKind(math.Y1), false)[tensor.Float64]
	return t
}()

// ending returns f without a limit at infinity: TensorFlow's series have none there.
func ending(f func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		if math.IsInf(x, 0) {
			return math.NaN()
		}
		return f(x)
	}
}

// secondKind returns f, a Bessel function of the second kind, with TensorFlow's
// value for negative numbers, -Inf.
func secondKind(f func(float64) float64) func(float64) float64 {
	f = ending(f)
	return func(x float64) float64 {
		if x < 0 {
			return math.Inf(-1)
		}
		return f(x)
	}
}

// digammaOf and polygamma are functions of one element.
func digammaOf(x float64) float64 {
	y := []float64{x}
	vec.Digamma(y, y)
	return y[0]
}

func polygamma(n, x float64) float64 {
	if n == 0 {
		return digammaOf(x)
	}
	return special.Polygamma(n, x)
}

// oneOf makes the table of a function of one number; half includes the 16-bit
// types.
func oneOf(f func(float64) float64, half bool) elementwise.ByType {
	single := func(dst, x []float32) {
		for i, v := range x {
			dst[i] = float32(f(float64(v)))
		}
	}
	const ns = 100
	t := elementwise.ByType{
		tensor.Float32: elementwise.Unary(single, ns),
		tensor.Float64: elementwise.Unary(func(dst, x []float64) {
			for i, v := range x {
				dst[i] = f(v)
			}
		}, ns),
	}
	if half {
		t[tensor.Float16] = elementwise.UnaryHalf[tensor.F16](single, ns)
	}
	return t
}

// inDouble makes a Func of a function of two numbers that broadcasts.
func inDouble[T interface {
	float32 | float64
	tensor.Element
}](f func(x, y float64) float64) elementwise.Func {
	return pairwise(func(x, y T) T { return T(f(float64(x), float64(y))) }, 200)
}

// lateInDouble does as inDouble, for a function with a series. The series takes a thousand times as
// long for some numbers, so the call's context is checked before each element.
func lateInDouble[T interface {
	float32 | float64
	tensor.Element
}](f func(x, y float64) float64) elementwise.Func {
	return func(c *engine.Call) error {
		checked := func(x, y float64) float64 {
			c.Check()
			return f(x, y)
		}
		return inDouble[T](checked)(c)
	}
}

// pairwise makes a Func of a function of two elements that broadcasts.
func pairwise[T, R tensor.Element](f func(x, y T) R, ns float64) elementwise.Func {
	return elementwise.Binary(
		func(dst []R, a, b []T) {
			for i := range dst {
				dst[i] = f(a[i], b[i])
			}
		},
		func(dst []R, a []T, b T) {
			for i := range dst {
				dst[i] = f(a[i], b)
			}
		},
		func(dst []R, a T, b []T) {
			for i := range dst {
				dst[i] = f(a, b[i])
			}
		}, ns)
}

var betaincs = elementwise.ByType{tensor.Float32: betainc[float32], tensor.Float64: betainc[float64]}

// betainc takes three tensors of one shape, or scalars among them.
func betainc[T interface {
	float32 | float64
	tensor.Element
}](c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	s := graph.ShapeOf()
	var in [3][]T
	var step [3]int
	for i := range in {
		x := c.In(i)
		if x.DType() != c.In(0).DType() {
			return errTypes(c)
		}
		in[i] = tensor.Values[T](x)
		if len(x.Shape()) > 0 {
			step[i] = 1
		}
		var err error
		if s, err = shape.Alike(s, graph.Whole(x.Shape())); err != nil {
			return err
		}
	}
	dims, _ := s.Tensor()
	out, err := c.Alloc(0, c.In(0).DType(), dims)
	if err != nil {
		return err
	}
	dst := tensor.Values[T](out)
	c.Parallel(len(dst), 500, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dst[i] = T(special.Betainc(float64(in[0][i*step[0]]), float64(in[1][i*step[1]]), float64(in[2][i*step[2]])))
		}
	})
	return nil
}
