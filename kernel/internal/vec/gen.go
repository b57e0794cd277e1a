//go:build ignore

// Command gen writes zz_binary.go and zz_unary.go from the expressions below.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"strings"
)

// op is a loop to generate: its name, the constraint of its type parameter, the type
// of its results, and the Go expression of x and y for an element. doc isn't used.
// Changing an expression changes bits: run the tests of kernel/math.
type op struct {
	name, constraint, result, expr, doc string
}

var binary = []op{
	{"Add", "Number", "T", "x + y", ""},
	{"Sub", "Number", "T", "x - y", ""},
	{"Mul", "Number", "T", "x * y", ""},
	{"Div", "Float | Complex", "T", "x / y", ""},
	{"SquaredDifference", "Real", "T", "(x - y) * (x - y)", ""},
	{"SquaredDifferenceComplex", "Complex", "T", "conj(x-y) * (x - y)", ""},
	{"Max", "Real", "T", "max(x, y)", ""},
	{"Min", "Real", "T", "min(x, y)", ""},
	{"FloorDivInt", "Int", "T", "floorDivInt(x, y)", ""},
	{"FloorDiv", "Float", "T", "T(math.Floor(float64(x / y)))", ""},
	{"FloorModInt", "Int", "T", "floorModInt(x, y)", ""},
	{"FloorMod", "Float", "T", "floorModFloat(x, y)", ""},
	{"TruncateDiv", "Int", "T", "x / y", ""},
	{"TruncateDivFloat", "Float", "T", "T(math.Trunc(float64(x / y)))", ""},
	{"Join", "~string", "T", "x + y", ""},
	{"TruncateModInt", "Int", "T", "x % y", ""},
	{"TruncateMod", "Float", "T", "T(math.Mod(float64(x), float64(y)))", ""},
	{"PowInt", "Int", "T", "powInt(x, y)", ""},
	{"Pow", "Float", "T", "powFloat(x, y)", ""},
	{"PowComplex", "Complex", "T", "powComplex(x, y)", ""},
	{"Atan2", "Float", "T", "T(math.Atan2(float64(x), float64(y)))", ""},
	{"Xlogy", "Float", "T", "xlogy(x, y)", ""},
	{"Xlog1py", "Float", "T", "xlog1py(x, y)", ""},
	{"Xdivy", "Float | Complex", "T", "xdivy(x, y)", ""},
	{"XlogyComplex", "Complex", "T", "xlogyComplex(x, y)", ""},
	{"Xlog1pyComplex", "Complex", "T", "xlog1pyComplex(x, y)", ""},
	{"BitwiseAnd", "Int", "T", "x & y", ""},
	{"BitwiseOr", "Int", "T", "x | y", ""},
	{"BitwiseXor", "Int", "T", "x ^ y", ""},
	{"Equal", "Scalar", "bool", "x == y", ""},
	{"NotEqual", "Scalar", "bool", "x != y", ""},
	{"Less", "Real", "bool", "x < y", ""},
	{"LessEqual", "Real", "bool", "x <= y", ""},
	{"Greater", "Real", "bool", "x > y", ""},
	{"GreaterEqual", "Real", "bool", "x >= y", ""},
	// Gradients of the named functions, with TensorFlow's order of inputs.
	{"TanhGrad", "Float | Complex", "T", "y * (1 - x*x)", ""},
	{"SigmoidGrad", "Float | Complex", "T", "y * x * (1 - x)", ""},
	{"SqrtGrad", "Float", "T", "unlessZero(y, y * 0.5 / x)", ""},
	{"RsqrtGrad", "Float", "T", "unlessZero(y, y * -0.5 * (x * x * x))", ""},
	{"ReciprocalGrad", "Float", "T", "unlessZero(y, -(x * x) * y)", ""},
	{"SqrtGradComplex", "Complex", "T", "unlessZero(y, y * 0.5 / conj(x))", ""},
	{"RsqrtGradComplex", "Complex", "T", "unlessZero(y, y * -0.5 * (conj(x) * conj(x) * conj(x)))", ""},
	{"ReciprocalGradComplex", "Complex", "T", "unlessZero(y, -(conj(x) * conj(x)) * y)", ""},
	{"SoftplusGrad", "Float", "T", "x / T(math.Exp(-float64(y))+1)", ""},
	{"SoftsignGrad", "Float", "T", "x / ((1 + T(math.Abs(float64(y)))) * (1 + T(math.Abs(float64(y)))))", ""},
}

// binaryIf and unaryIf are loops with a condition: yes is the element if cond
// is true, else no.
var binaryIf = []struct{ name, constraint, cond, yes, no string }{
	{"DivNoNan", "Float | Complex", "y == 0", "0", "x / y"},
	{"MulNoNan", "Float | Complex", "y == 0", "0", "x * y"},
	{"And", "~bool", "x", "y", "x"},
	{"Or", "~bool", "x", "x", "y"},
	{"ReluGrad", "Real", "y > 0", "x", "x * 0"},
	{"Relu6Grad", "Real", "y > 0 && y < 6", "x", "x * 0"},
	{"EluGrad", "Float", "y < 0", "(y + 1) * x", "x"},
	{"SeluGrad", "Float", "y < 0", "x * (y + seluScale*seluAlpha)", "x * seluScale"},
}

// realFuncs are functions that scalar.go has itself, with their values in words. Those
// of package math lose digits near one, or aren't TensorFlow's far from zero.
var realFuncs = map[string]string{"Asin": "the inverse sine of x", "Acos": "the inverse cosine of x", "Erf": "the error function of x"}

// complexFuncs are the same for complex numbers: the functions of math/cmplx lose
// digits, or overflow, far from zero.
var complexFuncs = map[string]string{
	"Acosh": "the inverse hyperbolic cosine of x", "Asinh": "the inverse hyperbolic sine of x",
	"Asin": "the inverse sine of x", "Acos": "the inverse cosine of x", "Tan": "the tangent of x", "Tanh": "the hyperbolic tangent of x", "Atan": "the inverse tangent of x",
}

var unary = []op{
	{"Neg", "Number", "T", "-x", ""},
	{"Square", "Number", "T", "x * x", ""},
	{"Reciprocal", "Float | Complex", "T", "1 / x", ""},
	{"Sign", "Real", "T", "signReal(x)", ""},
	{"SignComplex", "Complex", "T", "signComplex(x)", ""},
	{"Invert", "Int", "T", "^x", ""},
	{"Not", "~bool", "T", "!x", ""},
	{"Conj", "Complex", "T", "conj(x)", ""},
	{"AbsFloat", "Float", "T", "T(math.Abs(float64(x)))", ""},
	{"Sqrt", "Float", "T", "T(math.Sqrt(float64(x)))", ""},
	{"Rsqrt", "Float", "T", "T(1 / math.Sqrt(float64(x)))", ""},
	{"Sigmoid", "Float", "T", "T(sigmoid(float64(x)))", ""},
	{"SigmoidComplex", "Complex", "T", "T(1 / (1 + cmplx.Exp(-complex128(x))))", ""},
	{"SqrtComplex", "Complex", "T", "T(cmplx.Sqrt(complex128(x)))", ""},
	{"RsqrtComplex", "Complex", "T", "T(1 / cmplx.Sqrt(complex128(x)))", ""},
	{"Expm1Complex", "Complex", "T", "T(expm1Complex(complex128(x)))", ""},
	{"Log1pComplex", "Complex", "T", "T(log1pComplex(complex128(x)))", ""},
	{"Softplus", "Float", "T", "T(softplus(float64(x)))", ""},
	{"Softsign", "Float", "T", "x / (1 + T(math.Abs(float64(x))))", ""},
	{"Round", "Float", "T", "T(math.RoundToEven(float64(x)))", ""},
	{"IsNaN", "Float", "bool", "x != x", ""},
	{"IsInf", "Float", "bool", "math.IsInf(float64(x), 0)", ""},
	{"IsFinite", "Float", "bool", "x-x == 0", ""},
	{"Lgamma", "Float", "T", "T(lgamma(float64(x)))", ""},
	{"Digamma", "Float", "T", "T(digamma(float64(x)))", ""},
}

// mathFuncs are functions of package math, and of cmplx if complex is true.
var mathFuncs = []struct {
	name    string
	complex bool
}{
	{"Exp", true}, {"Expm1", false}, {"Log", true}, {"Log1p", false},
	{"Sin", true}, {"Cos", true}, {"Tan", true}, {"Asin", true}, {"Acos", true}, {"Atan", true},
	{"Sinh", true}, {"Cosh", true}, {"Tanh", true}, {"Asinh", true}, {"Acosh", true}, {"Atanh", true},
	{"Erf", false}, {"Erfc", false}, {"Floor", false}, {"Ceil", false},
}

var unaryIf = []struct{ name, constraint, cond, yes, no string }{
	{"Abs", "Real", "x < 0", "-x", "x"},
	{"Relu", "Real", "x < 0", "0", "x"},
	{"Relu6Low", "Real", "x > 6", "6", "x"},
	{"Elu", "Float", "x < 0", "T(math.Expm1(float64(x)))", "x"},
	{"Selu", "Float", "x < 0", "T(seluScale * seluAlpha * math.Expm1(float64(x)))", "seluScale * x"},
}

// vectors names the loops that package simd has too: its loop does whole
// vectors of float32 and float64, the loop here the remaining elements.
var vectors = map[string]string{
	"AddVV": "Add", "SubVV": "Sub", "MulVV": "Mul", "DivVV": "Div", "SquaredDifferenceVV": "SquaredDifference",
	"AddVS": "AddScalar", "SubVS": "SubScalar", "MulVS": "MulScalar", "DivVS": "DivScalar", "SquaredDifferenceVS": "SquaredDifferenceScalar",
	"AddSV": "AddScalar", "SubSV": "SubFrom", "MulSV": "MulScalar", "DivSV": "DivFrom", "SquaredDifferenceSV": "SquaredDifferenceScalar",
	"MaxVV": "Maximum", "MaxVS": "MaximumScalar", "MaxSV": "MaximumScalar", "MinVV": "Minimum", "MinVS": "MinimumScalar", "MinSV": "MinimumScalar",
	"ReluGradVV": "ReluGrad", "Relu": "Relu", "Square": "Square", "Neg": "Neg", "AbsFloat": "Abs", "Sqrt": "Sqrt",
	"Exp": "Exp", "Expm1": "Expm1", "Log": "Log", "Log1p": "Log1p", "Tanh": "Tanh", "Erf": "Erf", "Erfc": "Erfc",
	"Sigmoid": "Sigmoid", "Softplus": "Softplus", "Elu": "Elu", "Selu": "Selu", "Rsqrt": "Rsqrt",
}

// singles names the functions of functions.go, which compute float32.
var singles = map[string]string{
	"Exp": "exp32", "Expm1": "expm1_32", "Log": "log32", "Log1p": "log1p32", "Tanh": "tanh32", "Erf": "erf32", "Erfc": "erfc32",
	"Sigmoid": "sigmoid32", "Softplus": "softplus32", "Elu": "elu32", "Selu": "selu32", "Rsqrt": "rsqrt32",
}

// single returns the loop over float32, if the function has a special one.
func single(name string) string {
	f, ok := singles[name]
	if !ok {
		return ""
	}
	return "\tif d, ok := any(dst).([]float32); ok {\n\t\tfor i, x := range any(a).([]float32) {\n\t\t\td[i] = " + f + "(x)\n\t\t}\n\t\treturn\n\t}\n"
}

// vector returns the call of the loop's vector form, if it has one: slices are
// its parameters before the scalars.
func vector(name string, slices []string, scalars string) string {
	fast, ok := vectors[name]
	if !ok {
		return ""
	}
	s := fmt.Sprintf("\tif n := simd.%s(%s%s); n > 0 {\n", fast, strings.Join(slices, ", "), scalars)
	for _, p := range slices {
		s += fmt.Sprintf("\t\t%s = %[1]s[n:]\n", p)
	}
	return s + "\t}\n"
}

const header = "// Code generated by gen.go; DO NOT EDIT.\n\npackage vec\n\n"

func write(name string, b *bytes.Buffer) {
	src, err := format.Source(b.Bytes())
	if err != nil {
		fmt.Fprintln(os.Stderr, name, err)
		src = b.Bytes()
	}
	if err := os.WriteFile(name, src, 0o644); err != nil {
		panic(err)
	}
}

// pairs writes the three forms of a binary loop.
func pairs(b *bytes.Buffer, name, constraint, result, doc string, stmt func(x, y string) string) {
	fmt.Fprintf(b, "// %sVV sets dst[i] to %s.\nfunc %sVV[T %s](dst []%s, a, b []T) {\n\ta, b = a[:len(dst)], b[:len(dst)]\n%s\tfor i := range dst {\n\t\tx, y := a[i], b[i]\n%s\t}\n}\n\n", name, doc, name, constraint, result, vector(name+"VV", []string{"dst", "a", "b"}, ""), stmt("x", "y"))
	fmt.Fprintf(b, "// %sVS computes %sVV with one y.\nfunc %sVS[T %s](dst []%s, a []T, y T) {\n\ta = a[:len(dst)]\n%s\tfor i := range dst {\n\t\tx := a[i]\n%s\t}\n}\n\n", name, name, name, constraint, result, vector(name+"VS", []string{"dst", "a"}, ", y"), stmt("x", "y"))
	fmt.Fprintf(b, "// %sSV computes %sVV with one x.\nfunc %sSV[T %s](dst []%s, x T, b []T) {\n\tb = b[:len(dst)]\n%s\tfor i := range dst {\n\t\ty := b[i]\n%s\t}\n}\n\n", name, name, name, constraint, result, vector(name+"SV", []string{"dst", "b"}, ", x"), stmt("x", "y"))
}

func main() {
	var b bytes.Buffer
	b.WriteString(header + "import (\n\t\"math\"\n\n\t\"github.com/cairnml/cairn/kernel/internal/simd\"\n)\n\n")
	for _, o := range binary {
		pairs(&b, o.name, o.constraint, o.result, o.expr, func(x, y string) string { return "\t\tdst[i] = " + o.expr + "\n" })
	}
	for _, o := range binaryIf {
		pairs(&b, o.name, o.constraint, "T", o.yes+" if "+o.cond+", else "+o.no, func(x, y string) string {
			return fmt.Sprintf("\t\tif %s {\n\t\t\tdst[i] = %s\n\t\t} else {\n\t\t\tdst[i] = %s\n\t\t}\n", o.cond, o.yes, o.no)
		})
	}
	write("zz_binary.go", &b)

	b.Reset()
	b.WriteString(header + "import (\n\t\"math\"\n\t\"math/cmplx\"\n\n\t\"github.com/cairnml/cairn/kernel/internal/simd\"\n)\n\n")
	one := func(name, constraint, result, doc, stmt string) {
		fmt.Fprintf(&b, "// %s sets dst[i] to %s.\nfunc %s[T %s](dst []%s, a []T) {\n\ta = a[:len(dst)]\n%s\tfor i := range dst {\n\t\tx := a[i]\n%s\t}\n}\n\n", name, doc, name, constraint, result, vector(name, []string{"dst", "a"}, "")+single(name), stmt)
	}
	for _, o := range unary {
		one(o.name, o.constraint, o.result, o.expr, "\t\tdst[i] = "+o.expr+"\n")
	}
	for _, m := range mathFuncs {
		if words, ok := realFuncs[m.name]; ok {
			one(m.name, "Float", "T", words, "\t\tdst[i] = T("+strings.ToLower(m.name)+"Real(float64(x)))\n")
		} else {
			one(m.name, "Float", "T", "math."+m.name+"(x)", "\t\tdst[i] = T(math."+m.name+"(float64(x)))\n")
		}
		if words, ok := complexFuncs[m.name]; ok {
			one(m.name+"Complex", "Complex", "T", words, "\t\tdst[i] = T("+strings.ToLower(m.name)+"(complex128(x)))\n")
			continue
		}
		if m.complex {
			one(m.name+"Complex", "Complex", "T", "cmplx."+m.name+"(x)", "\t\tdst[i] = T(cmplx."+m.name+"(complex128(x)))\n")
		}
	}
	for _, o := range unaryIf {
		one(o.name, o.constraint, "T", o.yes+" if "+o.cond+", else "+o.no,
			fmt.Sprintf("\t\tif %s {\n\t\t\tdst[i] = %s\n\t\t} else {\n\t\t\tdst[i] = %s\n\t\t}\n", o.cond, o.yes, o.no))
	}
	write("zz_unary.go", &b)
}
