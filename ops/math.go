package ops

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// The functions of two inputs in this file broadcast as TensorFlow does: shapes
// are aligned at their ends, and a size of 1, or a missing dimension, stretches
// to the other's size. Both inputs have the same element type.

// Add computes x+y.
func Add(s *Scope, x, y Input) *Value { return s.Emit1("AddV2", nil, x, y) }

// Sub computes x-y.
func Sub(s *Scope, x, y Input) *Value { return s.Emit1("Sub", nil, x, y) }

// Mul computes x*y.
func Mul(s *Scope, x, y Input) *Value { return s.Emit1("Mul", nil, x, y) }

// Div computes x/y, in floating point; integers have [FloorDiv] and [TruncateDiv].
func Div(s *Scope, x, y Input) *Value {
	for _, in := range []Input{x, y} {
		if d := typeOf(in); d.IsInteger() {
			return s.Fail("RealDiv", fmt.Errorf("divides floats and complex numbers, not %v: FloorDiv and TruncateDiv divide integers, Cast makes floats of them", d))
		}
	}
	return s.Emit1("RealDiv", nil, x, y)
}

// typeOf returns the element type of an input that has one; Invalid for an input that
// becomes a tensor only later, and for nil.
func typeOf(in Input) tensor.DType {
	switch x := in.(type) {
	case *Value:
		if x != nil {
			return x.DType()
		}
	case *tensor.Tensor:
		if x != nil {
			return x.DType()
		}
	case trackable.VariableLike:
		if v := variableOf(x); v != nil {
			return v.DType()
		}
	}
	return tensor.Invalid
}

// DivNoNan computes x/y, and 0 where y is 0.
func DivNoNan(s *Scope, x, y Input) *Value { return s.Emit1("DivNoNan", nil, x, y) }

// MulNoNan computes x*y, and 0 where y is 0, even if x is NaN or infinite.
func MulNoNan(s *Scope, x, y Input) *Value { return s.Emit1("MulNoNan", nil, x, y) }

// FloorDiv computes x/y rounded down. An integer divided by 0 is an error.
func FloorDiv(s *Scope, x, y Input) *Value { return s.Emit1("FloorDiv", nil, x, y) }

// Mod computes the rest of [FloorDiv]: it has y's sign.
func Mod(s *Scope, x, y Input) *Value { return s.Emit1("FloorMod", nil, x, y) }

// TruncateDiv computes x/y of integers, rounded toward zero as Go's / does.
func TruncateDiv(s *Scope, x, y Input) *Value { return s.Emit1("TruncateDiv", nil, x, y) }

// Pow raises x to the power y. A negative power of an integer is an error.
func Pow(s *Scope, x, y Input) *Value { return s.Emit1("Pow", nil, x, y) }

// Maximum returns the larger of x and y; NaN if either is.
func Maximum(s *Scope, x, y Input) *Value { return s.Emit1("Maximum", nil, x, y) }

// Minimum returns the smaller of x and y; NaN if either is.
func Minimum(s *Scope, x, y Input) *Value { return s.Emit1("Minimum", nil, x, y) }

// SquaredDifference computes (x-y)*(x-y).
func SquaredDifference(s *Scope, x, y Input) *Value { return s.Emit1("SquaredDifference", nil, x, y) }

// Atan2 computes the angle between the first axis and the point whose coordinates
// are x (along that axis) and y, in radians.
func Atan2(s *Scope, y, x Input) *Value { return s.Emit1("Atan2", nil, y, x) }

// Xlogy computes x*log(y), and 0 where x is 0.
func Xlogy(s *Scope, x, y Input) *Value { return s.Emit1("Xlogy", nil, x, y) }

// Equal reports for each element whether x and y are equal; NaN equals nothing.
func Equal(s *Scope, x, y Input) *Value { return s.Emit1("Equal", nil, x, y) }

// NotEqual reports for each element whether x and y differ.
func NotEqual(s *Scope, x, y Input) *Value { return s.Emit1("NotEqual", nil, x, y) }

// Less reports for each element whether x < y.
func Less(s *Scope, x, y Input) *Value { return s.Emit1("Less", nil, x, y) }

// LessEqual reports for each element whether x <= y.
func LessEqual(s *Scope, x, y Input) *Value { return s.Emit1("LessEqual", nil, x, y) }

// Greater reports for each element whether x > y.
func Greater(s *Scope, x, y Input) *Value { return s.Emit1("Greater", nil, x, y) }

// GreaterEqual reports for each element whether x >= y.
func GreaterEqual(s *Scope, x, y Input) *Value { return s.Emit1("GreaterEqual", nil, x, y) }

// And reports for each element whether both booleans are true.
func And(s *Scope, x, y Input) *Value { return s.Emit1("LogicalAnd", nil, x, y) }

// Or reports for each element whether at least one of the booleans is true.
func Or(s *Scope, x, y Input) *Value { return s.Emit1("LogicalOr", nil, x, y) }

// BitwiseAnd computes the bitwise and of integers.
func BitwiseAnd(s *Scope, x, y Input) *Value { return s.Emit1("BitwiseAnd", nil, x, y) }

// BitwiseOr computes the bitwise or of integers.
func BitwiseOr(s *Scope, x, y Input) *Value { return s.Emit1("BitwiseOr", nil, x, y) }

// BitwiseXor computes the bitwise exclusive or of integers.
func BitwiseXor(s *Scope, x, y Input) *Value { return s.Emit1("BitwiseXor", nil, x, y) }

// Neg computes -x.
func Neg(s *Scope, x Input) *Value { return s.Emit1("Neg", nil, x) }

// Abs computes |x|; for a complex x the magnitude, a real number.
func Abs(s *Scope, x Input) *Value {
	switch s.typeOf(x) {
	case tensor.Complex64:
		return s.Emit1("ComplexAbs", nil, x)
	case tensor.Complex128:
		return s.Emit1("ComplexAbs", graph.Attrs{graph.Type("Tout", tensor.Float64)}, x)
	}
	return s.Emit1("Abs", nil, x)
}

// Sign returns -1, 0 or 1 by x's sign; NaN stays. For a complex x it is x/|x|.
func Sign(s *Scope, x Input) *Value { return s.Emit1("Sign", nil, x) }

// Square computes x*x.
func Square(s *Scope, x Input) *Value { return s.Emit1("Square", nil, x) }

// Sqrt computes the square root of x.
func Sqrt(s *Scope, x Input) *Value { return s.Emit1("Sqrt", nil, x) }

// Rsqrt computes 1/sqrt(x).
func Rsqrt(s *Scope, x Input) *Value { return s.Emit1("Rsqrt", nil, x) }

// Reciprocal computes 1/x.
func Reciprocal(s *Scope, x Input) *Value { return s.Emit1("Reciprocal", nil, x) }

// Exp computes e to the power x.
func Exp(s *Scope, x Input) *Value { return s.Emit1("Exp", nil, x) }

// Expm1 computes exp(x)-1, exact for small x.
func Expm1(s *Scope, x Input) *Value { return s.Emit1("Expm1", nil, x) }

// Log computes the natural logarithm of x.
func Log(s *Scope, x Input) *Value { return s.Emit1("Log", nil, x) }

// Log1p computes log(1+x), exact for small x.
func Log1p(s *Scope, x Input) *Value { return s.Emit1("Log1p", nil, x) }

// Sin computes the sine of x in radians.
func Sin(s *Scope, x Input) *Value { return s.Emit1("Sin", nil, x) }

// Cos computes the cosine of x in radians.
func Cos(s *Scope, x Input) *Value { return s.Emit1("Cos", nil, x) }

// Tan computes the tangent of x in radians.
func Tan(s *Scope, x Input) *Value { return s.Emit1("Tan", nil, x) }

// Asin computes the inverse sine of x.
func Asin(s *Scope, x Input) *Value { return s.Emit1("Asin", nil, x) }

// Acos computes the inverse cosine of x.
func Acos(s *Scope, x Input) *Value { return s.Emit1("Acos", nil, x) }

// Atan computes the inverse tangent of x.
func Atan(s *Scope, x Input) *Value { return s.Emit1("Atan", nil, x) }

// Sinh computes the hyperbolic sine of x.
func Sinh(s *Scope, x Input) *Value { return s.Emit1("Sinh", nil, x) }

// Cosh computes the hyperbolic cosine of x.
func Cosh(s *Scope, x Input) *Value { return s.Emit1("Cosh", nil, x) }

// Tanh computes the hyperbolic tangent of x.
func Tanh(s *Scope, x Input) *Value { return s.Emit1("Tanh", nil, x) }

// Asinh computes the inverse hyperbolic sine of x.
func Asinh(s *Scope, x Input) *Value { return s.Emit1("Asinh", nil, x) }

// Acosh computes the inverse hyperbolic cosine of x.
func Acosh(s *Scope, x Input) *Value { return s.Emit1("Acosh", nil, x) }

// Atanh computes the inverse hyperbolic tangent of x.
func Atanh(s *Scope, x Input) *Value { return s.Emit1("Atanh", nil, x) }

// Erf computes the Gauss error function of x.
func Erf(s *Scope, x Input) *Value { return s.Emit1("Erf", nil, x) }

// Erfc computes 1-erf(x), exact for large x.
func Erfc(s *Scope, x Input) *Value { return s.Emit1("Erfc", nil, x) }

// Lgamma computes the logarithm of |gamma(x)|.
func Lgamma(s *Scope, x Input) *Value { return s.Emit1("Lgamma", nil, x) }

// Digamma computes the derivative of Lgamma.
func Digamma(s *Scope, x Input) *Value { return s.Emit1("Digamma", nil, x) }

// Floor rounds down, to the largest integer not above x, in x's own type.
func Floor(s *Scope, x Input) *Value { return s.Emit1("Floor", nil, x) }

// Ceil rounds up, to the smallest integer not below x, in x's own type.
func Ceil(s *Scope, x Input) *Value { return s.Emit1("Ceil", nil, x) }

// Round rounds to the nearest integer, ties to even, in x's own type.
func Round(s *Scope, x Input) *Value { return s.Emit1("Round", nil, x) }

// IsNaN reports for each element whether it is NaN.
func IsNaN(s *Scope, x Input) *Value { return s.Emit1("IsNan", nil, x) }

// IsInf reports for each element whether it is an infinity.
func IsInf(s *Scope, x Input) *Value { return s.Emit1("IsInf", nil, x) }

// IsFinite reports for each element whether it is neither NaN nor an infinity.
func IsFinite(s *Scope, x Input) *Value { return s.Emit1("IsFinite", nil, x) }

// Not negates booleans.
func Not(s *Scope, x Input) *Value { return s.Emit1("LogicalNot", nil, x) }

// Conj computes the complex conjugate of x; a real x stays.
func Conj(s *Scope, x Input) *Value { return s.Emit1("Conj", nil, x) }

// AddN adds all inputs of a list, which have one shape and type. An empty list
// is an error.
func AddN(s *Scope, xs Input) *Value {
	l, ok := s.list(xs)
	if !ok || len(l) == 0 {
		return s.Fail("AddN", errors.New("takes a list of at least one input"))
	}
	return s.Emit1("AddN", nil, l...)
}

// Clip limits x to the range from lo to hi, which broadcast to x's shape. It emits ClipByValue for
// scalar limits and for those of x's shape, and otherwise Minimum and Maximum, as tf.clip_by_value
// always does. The values are the same.
func Clip(s *Scope, x, lo, hi Input) *Value {
	if !s.alive() {
		return s.failed()
	}
	of, low, high := s.shapeOf(x), s.shapeOf(lo), s.shapeOf(hi)
	scalars := low.HasRank() && low.Rank() == 0 && high.HasRank() && high.Rank() == 0
	if scalars || of.Known() && low.Equal(of) && high.Equal(of) {
		return s.Emit1("ClipByValue", nil, x, lo, hi)
	}
	if _, weak, err := s.peek(x); weak && err == nil {
		x = Const(s, x)
	}
	out := Maximum(s, Minimum(s, x, hi), lo)
	if s.alive() && !out.Fact().Shape.Compatible(of) {
		return s.Fail("ClipByValue", fmt.Errorf("the limits don't broadcast to x's shape (got %v and %v, want %v)", low, high, of))
	}
	return out
}

// Where returns the elements of x at which cond is true and those of y otherwise; all
// three broadcast.
func Where(s *Scope, cond, x, y Input) *Value {
	// cond is boolean: numbers take their type from x or y instead.
	if _, weak, err := s.peek(x); weak && err == nil {
		if d := s.typeOf(y); d != tensor.Invalid {
			x = ConstOf(s, d, x)
		} else {
			x = Const(s, x)
		}
	}
	if _, weak, err := s.peek(y); weak && err == nil {
		y = ConstOf(s, s.typeOf(x), y)
	}
	return s.Emit1("SelectV2", nil, cond, x, y)
}

// Cast converts the elements to type d: floating to integer truncates, to a
// narrower float rounds to the nearest, to bool is "not zero".
func Cast(s *Scope, x Input, d tensor.DType) *Value {
	return s.Emit1("Cast", graph.Attrs{graph.Type("DstT", d)}, x)
}

// MatMulOptions are the options of [MatMul].
type MatMulOptions struct {
	// TransposeA and TransposeB swap the last two dimensions first. Default:
	// false.
	TransposeA, TransposeB bool
}

// Attributes of MatMul and BatchMatMulV2 by two bits: 1 transposes a, 2 transposes b.
var (
	attrsMatMul = [4]graph.Attrs{
		nil,
		{graph.Bool("transpose_a", true)},
		{graph.Bool("transpose_b", true)},
		{graph.Bool("transpose_a", true), graph.Bool("transpose_b", true)},
	}
	attrsBatchMatMul = [4]graph.Attrs{
		nil,
		{graph.Bool("adj_x", true)},
		{graph.Bool("adj_y", true)},
		{graph.Bool("adj_x", true), graph.Bool("adj_y", true)},
	}
)

// MatMul multiplies the matrices a and b. Two matrices emit MatMul. If an input
// has more dimensions, or may have, they are a batch of matrices, which
// broadcasts, and BatchMatMulV2 is emitted (it conjugates the matrices that it
// transposes).
func MatMul(s *Scope, a, b Input, o ...*MatMulOptions) *Value {
	var flags int
	for _, o := range o {
		if o != nil && o.TransposeA {
			flags |= 1
		}
		if o != nil && o.TransposeB {
			flags |= 2
		}
	}
	if !s.isMatrix(a) || !s.isMatrix(b) {
		return s.Emit1("BatchMatMulV2", attrsBatchMatMul[flags], a, b)
	}
	return s.Emit1("MatMul", attrsMatMul[flags], a, b)
}

// BiasAdd adds the vector b to x along x's last dimension.
func BiasAdd(s *Scope, x, b Input) *Value { return s.Emit1("BiasAdd", nil, x, b) }

// peek reports whether an input is a weak Go number. It makes a value only of an input that is
// neither a number nor a value, a tensor or a variable, such as a slice of float32.
func (s *Scope) peek(x Input) (v *Value, weak bool, err error) {
	switch x.(type) {
	case *Value, *tensor.Tensor, trackable.VariableLike, nil:
		return nil, false, nil
	}
	return s.resolve(x)
}

// typeOf returns the element type of an input; Invalid for Go numbers and for nil.
func (s *Scope) typeOf(x Input) tensor.DType {
	if v, _, err := s.peek(x); err == nil && v != nil {
		return v.DType()
	}
	return typeOf(x)
}
