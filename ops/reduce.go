package ops

import (
	"github.com/cairnml/cairn/graph"
)

// The reductions take the axes to reduce over; negative ones count from the
// end, and none means all. Those ending in Keep leave a size of 1 where the
// axis was, so that the result broadcasts against x.

var attrsKeepDims = graph.Attrs{graph.Bool("keep_dims", true)}

func (s *Scope) reduce(op string, keep bool, x Input, axes []int) *Value {
	var at *Value
	if !s.alive() {
		return s.failed()
	}
	if len(axes) == 0 {
		at = s.allAxes(x)
	} else {
		at = s.vec32(axes...)
	}
	var attrs graph.Attrs
	if keep {
		attrs = attrsKeepDims
	}
	return s.Emit1(op, attrs, x, at)
}

// allAxes returns 0, 1, …, the rank of x less 1.
func (s *Scope) allAxes(x Input) *Value {
	shape := s.shapeOf(x)
	if !shape.HasRank() {
		return asSizes(Range(s, 0, Rank(s, x), 1))
	}
	var room [8]int
	axes := room[:0]
	for i := range shape.Rank() {
		axes = append(axes, i)
	}
	return s.vec32(axes...)
}

// Sum adds up the elements over the axes.
func Sum(s *Scope, x Input, axes ...int) *Value { return s.reduce("Sum", false, x, axes) }

// SumKeep sums as [Sum] does and keeps the reduced axes with size 1.
func SumKeep(s *Scope, x Input, axes ...int) *Value { return s.reduce("Sum", true, x, axes) }

// Mean computes the mean over the axes. That of integers is their sum, divided and
// truncated. Over no elements it is NaN for floats and 0 for integers.
func Mean(s *Scope, x Input, axes ...int) *Value { return s.reduce("Mean", false, x, axes) }

// MeanKeep computes [Mean] and keeps the reduced axes with size 1.
func MeanKeep(s *Scope, x Input, axes ...int) *Value { return s.reduce("Mean", true, x, axes) }

// Prod computes the product over the axes.
func Prod(s *Scope, x Input, axes ...int) *Value { return s.reduce("Prod", false, x, axes) }

// ProdKeep computes [Prod] and keeps the reduced axes with size 1.
func ProdKeep(s *Scope, x Input, axes ...int) *Value { return s.reduce("Prod", true, x, axes) }

// Max returns the largest element over the axes.
func Max(s *Scope, x Input, axes ...int) *Value { return s.reduce("Max", false, x, axes) }

// MaxKeep computes [Max] and keeps the reduced axes with size 1.
func MaxKeep(s *Scope, x Input, axes ...int) *Value { return s.reduce("Max", true, x, axes) }

// Min returns the smallest element over the axes.
func Min(s *Scope, x Input, axes ...int) *Value { return s.reduce("Min", false, x, axes) }

// MinKeep computes [Min] and keeps the reduced axes with size 1.
func MinKeep(s *Scope, x Input, axes ...int) *Value { return s.reduce("Min", true, x, axes) }

// All reports whether all booleans over the axes are true.
func All(s *Scope, x Input, axes ...int) *Value { return s.reduce("All", false, x, axes) }

// Any reports whether at least one of the booleans over the axes is true.
func Any(s *Scope, x Input, axes ...int) *Value { return s.reduce("Any", false, x, axes) }

// ArgMax returns the index of the largest element along an axis, as int64; the
// first of equal ones.
func ArgMax(s *Scope, x Input, axis int) *Value { return s.Emit1("ArgMax", nil, x, s.scalar32(axis)) }

// ArgMin returns the index of the smallest element along an axis, as int64; the
// first of equal ones.
func ArgMin(s *Scope, x Input, axis int) *Value { return s.Emit1("ArgMin", nil, x, s.scalar32(axis)) }

// CumulativeOptions are the options of [CumSum] and [CumProd].
type CumulativeOptions struct {
	// Exclusive excludes each element from the result at its index. Default: false.
	Exclusive bool
	// Reverse runs from the end. Default: false.
	Reverse bool
}

func cumulative(o []*CumulativeOptions) graph.Attrs {
	var a graph.Attrs
	for _, o := range o {
		if o != nil {
			a = graph.Attrs{graph.Bool("exclusive", o.Exclusive), graph.Bool("reverse", o.Reverse)}
		}
	}
	return a
}

// CumSum computes the running sum along an axis.
func CumSum(s *Scope, x Input, axis int, o ...*CumulativeOptions) *Value {
	return s.Emit1("Cumsum", cumulative(o), x, s.scalar32(axis))
}

// CumProd computes the running product along an axis.
func CumProd(s *Scope, x Input, axis int, o ...*CumulativeOptions) *Value {
	return s.Emit1("Cumprod", cumulative(o), x, s.scalar32(axis))
}

// LogSumExp computes log(sum(exp(x))) over the axes of real numbers, without overflow.
func LogSumExp(s *Scope, x Input, axes ...int) *Value {
	x = Const(s, x)
	m := MaxKeep(s, x, axes...)
	// An infinite maximum must not make NaN of the difference.
	m = StopGradient(s, Where(s, IsFinite(s, m), m, ZerosLike(s, m)))
	sum := Log(s, Sum(s, Exp(s, Sub(s, x, m)), axes...))
	return Add(s, sum, ReshapeTo(s, m, Shape(s, sum)))
}

// Moments returns the mean and the variance over the axes, the values of tf.nn.moments by
// other nodes. Float16 stays float16, whereas tf.nn.moments computes it in float32.
func Moments(s *Scope, x Input, axes ...int) (mean, variance *Value) {
	x = Const(s, x)
	mean = MeanKeep(s, x, axes...)
	variance = Mean(s, SquaredDifference(s, x, StopGradient(s, mean)), axes...)
	return ReshapeTo(s, mean, Shape(s, variance)), variance
}

// MomentsKeep computes [Moments] and keeps the reduced axes with size 1.
func MomentsKeep(s *Scope, x Input, axes ...int) (mean, variance *Value) {
	x = Const(s, x)
	mean = MeanKeep(s, x, axes...)
	return mean, MeanKeep(s, SquaredDifference(s, x, StopGradient(s, mean)), axes...)
}

// L2Loss computes half the sum of the squares of x.
func L2Loss(s *Scope, x Input) *Value { return s.Emit1("L2Loss", nil, x) }

// Norm computes the Euclidean norm over the axes, the values of tf.norm by other nodes. As there,
// the norm of complex numbers is complex, with an imaginary part of 0.
func Norm(s *Scope, x Input, axes ...int) *Value {
	v := Const(s, x)
	if v.DType().IsComplex() {
		return Sqrt(s, Sum(s, Mul(s, v, Conj(s, v)), axes...))
	}
	return Sqrt(s, Sum(s, Square(s, v), axes...))
}
