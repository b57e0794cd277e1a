//go:build ignore

// Command gen writes zz_tables.go (by go generate, see doc.go). That file has a table of loops
// by element type for each op, by<Op>, and the kernels that run them, generated; table.go
// adds these to the family's table. The loops are functions of package vec.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"slices"
	"strings"
)

var goTypes = map[string]string{
	"Float16": "tensor.F16", "BFloat16": "tensor.BF16", "Float32": "float32", "Float64": "float64",
	"Int8": "int8", "Int16": "int16", "Int32": "int32", "Int64": "int64",
	"Uint8": "uint8", "Uint16": "uint16", "Uint32": "uint32", "Uint64": "uint64",
	"Complex64": "complex64", "Complex128": "complex128", "Bool": "bool", "String": "string",
	"QInt8": "int8", "QUint8": "uint8", "QInt16": "int16", "QUint16": "uint16", "QInt32": "int32",
}

var order = []string{"Float32", "Float64", "Float16", "BFloat16", "Int8", "Int16", "Int32", "Int64",
	"Uint8", "Uint16", "Uint32", "Uint64", "Complex64", "Complex128", "Bool", "String",
	"QInt8", "QUint8", "QInt16", "QUint16", "QInt32"}

const (
	floats   = "Float32 Float64"
	halves   = "Float16 BFloat16"
	signed   = "Int8 Int16 Int32 Int64"
	unsigned = "Uint8 Uint16 Uint32 Uint64"
	complexs = "Complex64 Complex128"
	codes    = "QInt8 QUint8 QInt16 QUint16 QInt32"
)

// use is a loop of package vec for some types. After "!" it is the name of a Func in table.go.
// wrap is a function of table.go around the Func, if not empty.
type use struct{ loop, types, wrap string }

// row is an op with its loops.
type row struct {
	op     string
	class  string  // a constant of engine.Precision
	ns     float64 // approximate time of an element in nanoseconds
	result string  // "T" or "bool"
	uses   []use
}

func all(loop string) []use {
	return []use{{loop, floats + " " + halves + " " + signed + " " + unsigned + " " + complexs, ""}}
}
func reals(loop string) []use {
	return []use{{loop, floats + " " + halves + " " + signed + " " + unsigned, ""}}
}
func fl(loop string) []use { return []use{{loop, floats + " " + halves, ""}} }
func flc(loop string) []use {
	return []use{{loop, floats + " " + halves, ""}, {loop + "Complex", complexs, ""}}
}

var binary = []row{
	{"AddV2", "Exact", 0.5, "T", all("Add")},
	{"Add", "Exact", 0.5, "T", append(all("Add"), use{"Join", "String", "joined"})},
	{"Sub", "Exact", 0.5, "T", all("Sub")},
	{"Mul", "Rounded", 0.5, "T", all("Mul")},
	{"RealDiv", "Rounded", 1, "T", []use{{"Div", floats + " " + halves + " " + complexs, ""}}},
	{"Div", "Rounded", 1, "T", []use{{"Div", floats + " " + halves + " " + complexs, ""}, {"TruncateDiv", signed + " " + unsigned, "divisible"}}},
	{"DivNoNan", "Rounded", 1, "T", []use{{"DivNoNan", floats + " " + halves + " " + complexs, ""}}},
	{"MulNoNan", "Rounded", 1, "T", []use{{"MulNoNan", floats + " " + halves + " " + complexs, ""}}},
	{"FloorDiv", "Exact", 3, "T", []use{{"FloorDiv", floats + " " + halves, ""}, {"FloorDivInt", signed + " " + unsigned, "divisible"}}},
	{"FloorMod", "Exact", 10, "T", []use{{"FloorMod", floats + " " + halves, ""}, {"FloorModInt", signed + " " + unsigned, "divisible"}}},
	{"TruncateDiv", "Exact", 2, "T", []use{{"TruncateDivFloat", floats + " " + halves, ""}, {"TruncateDiv", signed + " " + unsigned, "divisible"}}},
	{"Mod", "Exact", 10, "T", []use{{"TruncateMod", floats + " " + halves, ""}, {"TruncateModInt", "Int32 Int64", "divisible"}}},
	{"TruncateMod", "Exact", 10, "T", []use{{"TruncateMod", floats + " " + halves, ""}, {"TruncateModInt", "Int32 Int64", "divisible"}}},
	{"Pow", "Rounded", 40, "T", []use{{"Pow", floats + " " + halves, ""}, {"PowInt", "Int8 Int16 Int32 Int64", "nonNegative"}, {"PowComplex", complexs, ""}}},
	{"Maximum", "Exact", 0.7, "T", reals("Max")},
	{"Minimum", "Exact", 0.7, "T", reals("Min")},
	{"SquaredDifference", "Rounded", 0.6, "T", []use{{"SquaredDifference", floats + " " + halves + " Int32 Int64", ""}, {"SquaredDifferenceComplex", complexs, ""}}},
	{"Atan2", "Rounded", 30, "T", fl("Atan2")},
	{"Xlogy", "Rounded", 15, "T", flc("Xlogy")},
	{"Xlog1py", "Rounded", 15, "T", flc("Xlog1py")},
	{"Xdivy", "Rounded", 2, "T", []use{{"Xdivy", floats + " " + halves + " " + complexs, ""}}},
	{"BitwiseAnd", "Exact", 0.5, "T", []use{{"BitwiseAnd", signed + " " + unsigned, ""}}},
	{"BitwiseOr", "Exact", 0.5, "T", []use{{"BitwiseOr", signed + " " + unsigned, ""}}},
	{"BitwiseXor", "Exact", 0.5, "T", []use{{"BitwiseXor", signed + " " + unsigned, ""}}},
	{"LogicalAnd", "Exact", 0.5, "T", []use{{"And", "Bool", ""}}},
	{"LogicalOr", "Exact", 0.5, "T", []use{{"Or", "Bool", ""}}},
	{"Equal", "Exact", 0.6, "bool", append(all("Equal"), use{"Equal", "Bool String", ""}, use{"Equal", codes, "asIntegers"})},
	{"NotEqual", "Exact", 0.6, "bool", append(all("NotEqual"), use{"NotEqual", "Bool String", ""}, use{"NotEqual", codes, "asIntegers"})},
	{"Less", "Exact", 0.6, "bool", reals("Less")},
	{"LessEqual", "Exact", 0.6, "bool", reals("LessEqual")},
	{"Greater", "Exact", 0.6, "bool", reals("Greater")},
	{"GreaterEqual", "Exact", 0.6, "bool", reals("GreaterEqual")},
	{"TanhGrad", "Rounded", 1, "T", []use{{"TanhGrad", floats + " " + halves + " " + complexs, ""}}},
	{"SigmoidGrad", "Rounded", 1, "T", []use{{"SigmoidGrad", floats + " " + halves + " " + complexs, ""}}},
	{"SqrtGrad", "Rounded", 1, "T", flc("SqrtGrad")},
	{"RsqrtGrad", "Rounded", 1, "T", flc("RsqrtGrad")},
	{"ReciprocalGrad", "Rounded", 1, "T", flc("ReciprocalGrad")},
	{"InvGrad", "Rounded", 1, "T", flc("ReciprocalGrad")},
	{"SoftplusGrad", "Rounded", 10, "T", fl("SoftplusGrad")},
	{"SoftsignGrad", "Rounded", 2, "T", fl("SoftsignGrad")},
	{"ReluGrad", "Exact", 1, "T", reals("ReluGrad")},
	{"Relu6Grad", "Exact", 1, "T", reals("Relu6Grad")},
	{"EluGrad", "Rounded", 1, "T", fl("EluGrad")},
	{"SeluGrad", "Rounded", 1, "T", fl("SeluGrad")},
}

var unary = []row{
	{"Neg", "Exact", 0.5, "T", []use{{"Neg", floats + " " + halves + " " + signed + " " + complexs, ""}}},
	{"Abs", "Exact", 0.7, "T", []use{{"AbsFloat", floats + " " + halves, ""}, {"Abs", signed, ""}}},
	{"Sign", "Rounded", 1, "T", []use{{"Sign", floats + " " + halves + " " + signed, ""}, {"SignComplex", complexs, ""}}},
	{"Square", "Rounded", 0.5, "T", []use{{"Square", floats + " " + halves + " Int8 Int16 Int32 Int64 Uint8 Uint16 Uint32 Uint64 " + complexs, ""}}},
	{"Sqrt", "Rounded", 2, "T", flc("Sqrt")},
	{"Rsqrt", "Rounded", 3, "T", flc("Rsqrt")},
	{"Reciprocal", "Rounded", 1, "T", []use{{"Reciprocal", floats + " " + halves + " " + complexs, ""}}},
	{"Inv", "Rounded", 1, "T", []use{{"Reciprocal", floats + " " + halves + " " + complexs, ""}}},
	{"Exp", "Rounded", 8, "T", flc("Exp")},
	{"Expm1", "Rounded", 10, "T", flc("Expm1")},
	{"Log", "Rounded", 8, "T", flc("Log")},
	{"Log1p", "Rounded", 12, "T", flc("Log1p")},
	{"Sin", "Rounded", 12, "T", flc("Sin")},
	{"Cos", "Rounded", 12, "T", flc("Cos")},
	{"Tan", "Rounded", 15, "T", flc("Tan")},
	{"Asin", "Rounded", 15, "T", flc("Asin")},
	{"Acos", "Rounded", 15, "T", flc("Acos")},
	{"Atan", "Rounded", 12, "T", flc("Atan")},
	{"Sinh", "Rounded", 12, "T", flc("Sinh")},
	{"Cosh", "Rounded", 12, "T", flc("Cosh")},
	{"Tanh", "Rounded", 12, "T", flc("Tanh")},
	{"Asinh", "Rounded", 15, "T", flc("Asinh")},
	{"Acosh", "Rounded", 15, "T", flc("Acosh")},
	{"Atanh", "Rounded", 15, "T", flc("Atanh")},
	{"Erf", "Rounded", 12, "T", fl("Erf")},
	{"Erfc", "Rounded", 12, "T", fl("Erfc")},
	{"Lgamma", "Rounded", 40, "T", fl("Lgamma")},
	{"Digamma", "Rounded", 40, "T", fl("Digamma")},
	{"Sigmoid", "Rounded", 9, "T", flc("Sigmoid")},
	{"Softplus", "Rounded", 15, "T", fl("Softplus")},
	{"Softsign", "Rounded", 1, "T", fl("Softsign")},
	{"Elu", "Rounded", 8, "T", fl("Elu")},
	{"Selu", "Rounded", 8, "T", fl("Selu")},
	{"Relu", "Exact", 0.7, "T", []use{{"Relu", floats + " " + halves + " " + signed + " " + unsigned, ""}}},
	{"Floor", "Exact", 1, "T", append(fl("Floor"))},
	{"Ceil", "Exact", 1, "T", append(fl("Ceil"))},
	{"Rint", "Exact", 1, "T", append(fl("Round"))},
	{"Round", "Exact", 1, "T", append(fl("Round"), use{"!same", "Int8 Int16", ""}, use{"!zero", "Int32 Int64", ""})},
	{"IsNan", "Exact", 0.6, "bool", fl("IsNaN")},
	{"IsInf", "Exact", 0.6, "bool", fl("IsInf")},
	{"IsFinite", "Exact", 0.6, "bool", fl("IsFinite")},
	{"LogicalNot", "Exact", 0.5, "T", []use{{"Not", "Bool", ""}}},
	{"Invert", "Exact", 0.5, "T", []use{{"Invert", signed + " " + unsigned, ""}}},
	{"Conj", "Exact", 0.5, "T", []use{{"Conj", complexs, ""}, {"!same", floats + " " + halves + " " + signed, ""}}},
}

// byVectors are the nanoseconds that an element of float32 or half precision
// takes in a loop of vector instructions.
var byVectors = map[string]float64{
	"Exp": 0.5, "Expm1": 0.5, "Tanh": 0.8, "Sigmoid": 0.7, "Log": 0.6, "Log1p": 0.7, "Softplus": 1.2, "Erf": 1.3, "Erfc": 1.3,
	"Elu": 0.6, "Selu": 0.6, "Rsqrt": 0.4, "Sqrt": 0.3, "Maximum": 0.3, "Minimum": 0.3, "SquaredDifference": 0.3, "Neg": 0.2, "Abs": 0.2, "Square": 0.2,
}

// inSteps are the loops in which TensorFlow rounds every step to half
// precision. ended are those that also compute the last elements, fewer than
// a vector, in other steps. half.go has the functions of both.
var (
	inSteps = []string{"Sigmoid", "Elu", "Selu", "Softsign", "Softplus", "SquaredDifference", "FloorDiv", "TruncateDivFloat", "Xlogy", "Xlog1py", "TanhGrad",
		"ReciprocalGrad", "RsqrtGrad", "SoftplusGrad", "SoftsignGrad", "EluGrad", "SeluGrad"}
	ended = []string{"SigmoidGrad", "SqrtGrad", "Rsqrt"}
)

// steps returns the function that makes the loop for half precision.
func steps(loop, d string, isBinary bool) string {
	switch {
	case isBinary:
		return fmt.Sprintf("stepsOfTwo[%q]", loop)
	case loop == "Softplus":
		return "softplus(epsilon" + d + ")"
	}
	return fmt.Sprintf("stepsOf[%q]", loop)
}

func main() {
	var b bytes.Buffer
	b.WriteString("// Code generated by gen.go; DO NOT EDIT.\n\npackage math\n\nimport (\n" +
		"\t\"github.com/cairnml/cairn/engine\"\n\t\"github.com/cairnml/cairn/kernel/internal/vec\"\n" +
		"\t\"github.com/cairnml/cairn/kernel/internal/elementwise\"\n\t\"github.com/cairnml/cairn/tensor\"\n)\n\n")
	b.WriteString("var generated = []engine.Kernel{\n")
	for _, r := range append(append([]row{}, binary...), unary...) {
		table, attr := "by"+r.op, "T"
		if strings.HasSuffix(r.op, "Grad") { // gradient ops don't broadcast
			table += ".Before(sameShape)"
		}
		if r.op == "Equal" || r.op == "NotEqual" {
			table += ".Or(comparable)"
		}
		if strings.HasPrefix(r.op, "Logical") {
			attr = "" // the op takes booleans only
		}
		fmt.Fprintf(&b, "\t%s.Kernel(%q, %q, engine.%s),\n", table, r.op, attr, r.class)
	}
	b.WriteString("}\n\n")
	emit := func(r row, isBinary bool) {
		fmt.Fprintf(&b, "var by%s = elementwise.ByType{\n", r.op)
		for _, d := range order {
			for _, u := range r.uses {
				if !strings.Contains(" "+u.types+" ", " "+d+" ") {
					continue
				}
				t := goTypes[d]
				half := d == "Float16" || d == "BFloat16"
				ns := r.ns
				if fast, ok := byVectors[r.op]; ok && (half || d == "Float32") {
					ns = fast
				}
				var e string
				switch {
				case u.loop[0] == '!':
					e = u.loop[1:]
				case half && slices.Contains(inSteps, u.loop):
					f := "unarySteps"
					if isBinary {
						f = "binarySteps"
					}
					e = fmt.Sprintf("%s[%s](%s, %v)", f, t, steps(u.loop, d, isBinary), ns)
				case half && slices.Contains(ended, u.loop):
					e = fmt.Sprintf("endedSteps[%s](%q)", t, u.loop)
				case isBinary && half && r.result == "bool":
					e = fmt.Sprintf("elementwise.BinaryHalfBool[%s](vec.%sVV[float32], %v)", t, u.loop, ns)
				case isBinary && half:
					e = fmt.Sprintf("elementwise.BinaryHalf[%s](vec.%sVV[float32], vec.%sVS[float32], vec.%sSV[float32], %v)", t, u.loop, u.loop, u.loop, ns)
				case isBinary:
					e = fmt.Sprintf("elementwise.Binary(vec.%sVV[%s], vec.%sVS[%s], vec.%sSV[%s], %v)", u.loop, t, u.loop, t, u.loop, t, ns)
				case half && r.result == "bool":
					e = fmt.Sprintf("elementwise.UnaryHalfBool[%s](vec.%s[float32], %v)", t, u.loop, ns)
				case half:
					e = fmt.Sprintf("elementwise.UnaryHalf[%s](vec.%s[float32], %v)", t, u.loop, ns)
				default:
					e = fmt.Sprintf("elementwise.Unary(vec.%s[%s], %v)", u.loop, t, ns)
				}
				if u.wrap != "" {
					e = fmt.Sprintf("%s[%s](%s)", u.wrap, t, e)
				}
				fmt.Fprintf(&b, "\ttensor.%s: %s,\n", d, e)
			}
		}
		b.WriteString("}\n\n")
	}
	for _, r := range binary {
		emit(r, true)
	}
	for _, r := range unary {
		emit(r, false)
	}
	src, err := format.Source(b.Bytes())
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile("zz_tables.go", src, 0o644); err != nil {
		panic(err)
	}
}
