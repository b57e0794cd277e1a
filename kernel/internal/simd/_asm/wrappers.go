package main

import (
	"fmt"
	"strings"
)

// wrapper is a function that package vec calls: a function of slices that calls
// the assembly for float32 and float64.
type wrapper struct {
	name, asm string
	doc       string
	slices    string // the parameters that are slices, the first one being as long as the work
	scalars   string // those that are numbers
}

var wrappers = []wrapper{
	{"Add", "add", "computes dst = a + b", "dst, a, b", ""},
	{"Sub", "sub", "computes dst = a - b", "dst, a, b", ""},
	{"Mul", "mul", "computes dst = a * b", "dst, a, b", ""},
	{"Div", "div", "computes dst = a / b", "dst, a, b", ""},
	{"SquaredDifference", "squaredDifference", "computes dst = (a-b) * (a-b)", "dst, a, b", ""},
	{"Maximum", "maximum", "computes dst = max(a, b), as Go has it", "dst, a, b", ""},
	{"Minimum", "minimum", "computes dst = min(a, b), as Go has it", "dst, a, b", ""},
	{"ReluGrad", "reluGrad", "computes dst = a if b > 0, else a times 0", "dst, a, b", ""},
	{"AddScalar", "addScalar", "computes dst = a + x", "dst, a", "x"},
	{"SubScalar", "subScalar", "computes dst = a - x", "dst, a", "x"},
	{"MulScalar", "mulScalar", "computes dst = a * x", "dst, a", "x"},
	{"DivScalar", "divScalar", "computes dst = a / x", "dst, a", "x"},
	{"SubFrom", "subFrom", "computes dst = x - a", "dst, a", "x"},
	{"DivFrom", "divFrom", "computes dst = x / a", "dst, a", "x"},
	{"SquaredDifferenceScalar", "squaredDifferenceScalar", "computes dst = (a-x) * (a-x)", "dst, a", "x"},
	{"MaximumScalar", "maximumScalar", "computes dst = max(a, x), as Go has it", "dst, a", "x"},
	{"MinimumScalar", "minimumScalar", "computes dst = min(a, x), as Go has it", "dst, a", "x"},
	{"Relu", "relu", "computes dst = 0 if a < 0, else a", "dst, a", ""},
	{"Square", "square", "computes dst = a * a", "dst, a", ""},
	{"Neg", "neg", "computes dst = -a", "dst, a", ""},
	{"Abs", "abs", "computes dst = |a|", "dst, a", ""},
	{"Sqrt", "sqrt", "computes dst = √a", "dst, a", ""},
	{"AddScaled", "addScaled", "computes dst += a * x", "dst, a", "x"},
	{"Descend", "descend", "computes v -= lr*g", "v, g", "lr"},
	{"Adam", "adam", "takes Adam's step, m += (g-m)*b1; s += (g*g-s)*b2; v -= m*alpha / (√s+epsilon)", "v, m, s, g", "alpha, b1, b2, epsilon"},
}

// foldings are the wrappers of the functions that [elem.fold] writes.
var foldings = []wrapper{
	{"Sum", "sum", "adds element i of a to sums[i%8]", "", ""},
	{"MaximumOf", "maximumOf", "makes sums[i%8] the larger of it and element i of a: NaN if that is NaN, either of two zeros", "", ""},
	{"MinimumOf", "minimumOf", "makes sums[i%8] the smaller of it and element i of a: NaN if that is NaN, either of two zeros", "", ""},
}

// writeWrappers writes the wrappers, and those that do nothing.
func writeWrappers() {
	var code, stubs strings.Builder
	for _, w := range wrappers {
		params := w.slices + " []T"
		if w.scalars != "" {
			params += ", " + w.scalars + " T"
		}
		w.head(&stubs, params, "{ return 0 }\n")
		w.head(&code, params, "{\n")
		first, rest, _ := strings.Cut(w.slices, ", ")
		others := strings.Split(rest, ", ")
		w.cases(&code, first, func(typ, lanes, suffix string) string {
			body := fmt.Sprintf("\t\tn := start(len(%s), %s)\n", first, lanes)
			var from []string
			args := "&" + first + "[i]"
			for _, s := range others {
				from = append(from, fmt.Sprintf("any(%s).([]%s)[:n]", s, typ))
				args += ", &" + s + "[i]"
			}
			body += fmt.Sprintf("\t\t%s := %s\n", rest, strings.Join(from, ", "))
			if w.scalars != "" {
				from = nil
				for _, s := range strings.Split(w.scalars, ", ") {
					from = append(from, fmt.Sprintf("any(%s).(%s)", s, typ))
				}
				body += fmt.Sprintf("\t\t%s := %s\n", w.scalars, strings.Join(from, ", "))
				args += ", " + w.scalars
			}
			call := fmt.Sprintf("%s%s(%s, min(piece, n-i))", w.asm, suffix, args)
			if name := w.asm + suffix + "AVX512"; wide[name] {
				call = fmt.Sprintf("if n := min(piece, n-i); wide {\n\t\t\t\t%s(%s, n)\n\t\t\t} else {\n\t\t\t\t%s%s(%s, n)\n\t\t\t}", name, args, w.asm, suffix, args)
			}
			return body + fmt.Sprintf("\t\tfor i := 0; i < n; i += piece {\n\t\t\t%s\n\t\t}\n\t\treturn n\n", call)
		}, "[]")
	}
	for _, w := range foldings {
		const params = "sums *[8]T, a []T"
		w.head(&stubs, params, "{ return 0 }\n")
		w.head(&code, params, "{\n")
		w.cases(&code, "sums", func(typ, _, suffix string) string {
			return fmt.Sprintf("\t\tn := start(len(a), 8)\n\t\ta := any(a).([]%s)\n\t\tfor i := 0; i < n; i += piece {\n\t\t\t%s%s(sums, &a[i], min(piece, n-i))\n\t\t}\n\t\treturn n\n", typ, w.asm, suffix)
		}, "*[8]")
	}
	dot := wrapper{name: "Dot", doc: "adds the product of elements i of a and b to sums[i%8]"}
	dot.head(&stubs, "sums *[8]T, a, b []T", "{ return 0 }\n")
	dot.head(&code, "sums *[8]T, a, b []T", "{\n")
	dot.cases(&code, "sums", func(typ, _, suffix string) string {
		return fmt.Sprintf("\t\tn := start(len(a), 8)\n\t\ta, b := any(a).([]%s), any(b).([]%[1]s)[:n]\n\t\tfor i := 0; i < n; i += piece {\n\t\t\tdot%s(sums, &a[i], &b[i], min(piece, n-i))\n\t\t}\n\t\treturn n\n", typ, suffix)
	}, "*[8]")
	writeGo("zz_loops_amd64", "amd64 && !noasm", code.String())
	writeGo("zz_loops_noasm", "!amd64 || noasm", stubs.String())
}

func (w wrapper) head(b *strings.Builder, params, body string) {
	fmt.Fprintf(b, "\n// %s %s.\nfunc %[1]s[T any](%[3]s) int %s", w.name, w.doc, params, body)
}

// cases writes a type switch over x, whose types begin with kind.
func (w wrapper) cases(b *strings.Builder, x string, body func(typ, lanes, suffix string) string, kind string) {
	fmt.Fprintf(b, "\tswitch %s := any(%[1]s).(type) {\n", x)
	for _, t := range [][3]string{{"float32", "lanes32", "F32"}, {"float64", "lanes64", "F64"}} {
		fmt.Fprintf(b, "\tcase %s%s:\n%s", kind, t[0], body(t[0], t[1], t[2]))
	}
	b.WriteString("\t}\n\treturn 0\n}\n")
}
