package main

import (
	"fmt"
	"go/format"
	"os"
	"strconv"
	"strings"
)

// polynomial is an approximation in the sense of the smallest largest relative
// error (Remez), its coefficients beginning with the constant one.
type polynomial struct {
	name, doc string
	c         []float64
}

var (
	expm1Polynomial = polynomial{"expm1Polynomial", "(exp(x)-1)/x for |x| ≤ ln 2 / 2 to 2⁻³²", []float64{
		1.0000000000312146, 0.5000000046680309, 0.1666666624934605, 0.041666354322999935,
		0.008333402936954814, 0.0013941015523436292, 0.0001984124482605981,
	}}
	logPolynomial = polynomial{"logPolynomial", "2·atanh(s)/s with x = s², for s up to (√2-1)/(√2+1), to 2⁻³⁷", []float64{
		2.0000000000084426, 0.6666666523794609, 0.40000386380568165, 0.2853495347962788, 0.23618095741830614,
	}}
	erfPolynomial = polynomial{"erfPolynomial", "erf(z)/z with x = z², for x ≤ 1/4, to 2⁻³⁶", []float64{
		1.128379167082047, -0.37612638518348684, 0.1128377377727456, -0.026863116310850567,
		0.0052002900516677384, -0.0007692529664883213,
	}}
	erfcPolynomial = polynomial{"erfcPolynomial", "erfc(z)·exp(z²)/x with x = 1/(1 + 0.4·z), for z from 0 to 11, to 2⁻³²", []float64{
		0.22567265798880246, 0.22576959020309859, 0.2063932618341121, 0.18094975474018912,
		0.07444576209883053, 0.22866551137640798, -0.3687515449131611, 0.6278361325166553,
		-0.7378017504730825, 0.470805757354932, -0.1550868880391356, 0.02110175515833921,
	}}
)

// writePolynomials writes the same polynomials in Go, for package vec.
func writePolynomials() {
	var b strings.Builder
	b.WriteString(header + "\npackage vec\n")
	for _, p := range []polynomial{expm1Polynomial, logPolynomial, erfPolynomial, erfcPolynomial} {
		fmt.Fprintf(&b, "\n// %s returns %s.\nfunc %s(x float64) float64 {\n", p.name, p.doc, p.name)
		b.WriteString("\tz := x * x\n")
		horner(&b, "even", everyOther(p.c))
		horner(&b, "odd", everyOther(p.c[1:]))
		b.WriteString("\treturn float64(odd*x) + even\n}\n")
	}
	src, err := format.Source([]byte(b.String()))
	exitOn(err)
	exitOn(os.WriteFile("../../vec/zz_polynomials.go", src, 0o666))
}

// horner writes the sum of c[i]·zⁱ, from the last one on.
func horner(b *strings.Builder, name string, c []float64) {
	num := func(i int) string { return strconv.FormatFloat(c[i], 'g', -1, 64) }
	last := len(c) - 1
	fmt.Fprintf(b, "\t%s := float64(%s*z) + %s\n", name, num(last), num(last-1))
	for i := last - 2; i >= 0; i-- {
		fmt.Fprintf(b, "\t%s = float64(%[1]s*z) + %s\n", name, num(i))
	}
}
