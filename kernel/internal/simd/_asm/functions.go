package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// function is a function of one number. The function of the same name in
// package vec does the same operations in plain Go; its comments have the
// reasons.
type function struct {
	name   string
	doc    string   // its value, for the comment of the Go function
	clamps []number // constants that stay in registers
	emit   func(l lanes, x reg.VecVirtual, clamps []reg.VecVirtual) reg.VecVirtual
	times  bool // the result, rounded, is multiplied by a
}

var functions = []function{
	{"exp", "exp(a)", []number{-expRange, expRange}, func(l lanes, x reg.VecVirtual, c []reg.VecVirtual) reg.VecVirtual {
		return l.exp(l.clamp(x, c))
	}, false},
	{"expm1", "exp(a) - 1", []number{-expRange, expRange}, func(l lanes, x reg.VecVirtual, c []reg.VecVirtual) reg.VecVirtual {
		return l.withSign(l.expm1(l.clamp(x, c)), x)
	}, false},
	{"tanh", "tanh(a)", []number{-tanhRange, tanhRange}, func(l lanes, x reg.VecVirtual, c []reg.VecVirtual) reg.VecVirtual {
		y := l.clamp(x, c)
		t := l.expm1(l.do("add", y, y))
		return l.withSign(l.do("div", t, l.do("add", t, number(2))), x)
	}, false},
	{"sigmoid", "1 / (1 + exp(-a))", []number{-expRange, expRange, 1}, func(l lanes, x reg.VecVirtual, c []reg.VecVirtual) reg.VecVirtual {
		e := l.exp(l.negate(l.clamp(x, c)))
		return l.do("div", c[2], l.do("add", e, number(1)))
	}, false},
	{name: "swish", doc: "a / (1 + exp(-a))", clamps: []number{-expRange, expRange, 1}, times: true, emit: func(l lanes, x reg.VecVirtual, c []reg.VecVirtual) reg.VecVirtual {
		e := l.exp(l.negate(l.clamp(x, c)))
		return l.do("div", c[2], l.do("add", e, number(1)))
	}},
	{"log", "log(a)", nil, func(l lanes, x reg.VecVirtual, _ []reg.VecVirtual) reg.VecVirtual {
		e, m := l.split(x)
		y := l.logOf(e, l.do("sub", m, number(1)), m)
		return l.logEdges(y, x, x)
	}, false},
	{"log1p", "log(1 + a)", nil, func(l lanes, x reg.VecVirtual, _ []reg.VecVirtual) reg.VecVirtual {
		u := l.do("add", x, number(1))
		return l.withSign(l.logEdges(l.logOf1p(u, x), x, u), x)
	}, false},
	{"softplus", "log(1 + exp(a))", []number{-expRange, expRange}, func(l lanes, x reg.VecVirtual, c []reg.VecVirtual) reg.VecVirtual {
		e := l.exp(l.clamp(x, c))
		y := l.logOf1p(l.do("add", e, number(1)), e)
		return l.choose(lessThan, x, 30, y, x)
	}, false},
	{"erf", "erf(a)", []number{erfRange}, func(l lanes, x reg.VecVirtual, c []reg.VecVirtual) reg.VecVirtual {
		a := l.do("min", c[0], l.magnitude(x))
		z := l.do("mul", a, a)
		large := l.do("sub", l.constant(1), l.erfcOf(a, z))
		small := l.do("mul", a, l.polynomial(z, erfPolynomial.c))
		return l.withSign(l.choose(lessThan, z, 0.25, small, large), x)
	}, false},
	{"erfc", "1 - erf(a)", []number{erfRange}, func(l lanes, x reg.VecVirtual, c []reg.VecVirtual) reg.VecVirtual {
		a := l.do("min", c[0], l.magnitude(x))
		y := l.erfcOf(a, l.do("mul", a, a))
		return l.choose(lessThan, x, 0, l.do("sub", l.constant(2), y), y)
	}, false},
	{"elu", "exp(a) - 1 if a < 0, else a,", []number{-expRange, expRange}, func(l lanes, x reg.VecVirtual, c []reg.VecVirtual) reg.VecVirtual {
		return l.choose(lessThan, x, 0, l.expm1(l.clamp(x, c)), x)
	}, false},
	{"selu", "the scaled exponential linear unit", []number{-expRange, expRange}, func(l lanes, x reg.VecVirtual, c []reg.VecVirtual) reg.VecVirtual {
		low := l.do("mul", l.expm1(l.clamp(x, c)), number(seluScale*seluAlpha))
		return l.choose(lessThan, x, 0, low, l.do("mul", x, number(float32(seluScale))))
	}, false},
	{"rsqrt", "1 / √a", []number{1}, func(l lanes, x reg.VecVirtual, c []reg.VecVirtual) reg.VecVirtual {
		y := l.reg()
		VSQRTPD(x, y)
		return l.do("div", c[0], y)
	}, false},
}

const (
	expRange  = 128
	tanhRange = 20
	erfRange  = 11
	seluScale = 1.0507009873554804934193349852946
	seluAlpha = 1.6732632423543772848170429916717

	rounding = 3 << 51 // adding it rounds to an integer in the low bits
	one      = 0x3ff << 52
	signBit  = 1 << 63
)

// clamp emits x, brought between the two registers; NaN stays.
func (l lanes) clamp(x reg.VecVirtual, c []reg.VecVirtual) reg.VecVirtual {
	return l.do("min", c[1], l.do("max", c[0], x))
}

func (l lanes) magnitude(x reg.VecVirtual) reg.VecVirtual { return l.do("and", x, bits(signBit-1)) }

func (l lanes) negate(x reg.VecVirtual) reg.VecVirtual {
	return l.do("addInt", x, bits(signBit)) // the carry is lost
}

// withSign emits y, which isn't of the other sign, with x's sign.
func (l lanes) withSign(y, x reg.VecVirtual) reg.VecVirtual {
	return l.do("or", y, l.do("and", x, bits(signBit)))
}

// expParts emits p and s with exp(x) = p·s + s.
func (l lanes) expParts(x reg.VecVirtual) (p, s reg.VecVirtual) {
	k := l.do("add", l.do("mul", x, number(math.Log2E)), number(rounding))
	n := l.do("sub", k, number(rounding))
	r := l.do("sub", x, l.do("mul", n, number(math.Ln2)))
	p = l.do("mul", l.polynomial(r, expm1Polynomial.c), r)
	return p, l.do("addInt", l.shift(k, 52), bits(one))
}

func (l lanes) exp(x reg.VecVirtual) reg.VecVirtual {
	p, s := l.expParts(x)
	return l.do("add", l.do("mul", p, s), s)
}

func (l lanes) expm1(x reg.VecVirtual) reg.VecVirtual {
	p, s := l.expParts(x)
	return l.do("add", l.do("mul", p, s), l.do("sub", s, number(1)))
}

// split emits e and m with x = m·2ᵉ and m between √½ and √2.
func (l lanes) split(x reg.VecVirtual) (e, m reg.VecVirtual) {
	half := math.Float64bits(math.Sqrt2 / 2)
	t := l.do("addInt", x, bits(one-half))
	const exact = 1 << 52
	e = l.do("or", l.shift(t, -52), bits(math.Float64bits(exact)))
	e = l.do("sub", e, number(exact+0x3ff))
	m = l.do("addInt", l.do("and", t, bits(1<<52-1)), bits(half))
	return e, m
}

// logOf emits log(m·2ᵉ), given m-1.
func (l lanes) logOf(e, less1, m reg.VecVirtual) reg.VecVirtual {
	s := l.do("div", less1, l.do("add", m, number(1)))
	y := l.do("mul", l.polynomial(l.do("mul", s, s), logPolynomial.c), s)
	return l.do("add", l.do("mul", e, number(math.Ln2)), y)
}

// logOf1p emits log(u) where u is 1+x rounded.
func (l lanes) logOf1p(u, x reg.VecVirtual) reg.VecVirtual {
	e, m := l.split(u)
	return l.logOf(e, l.choose(equal, e, 0, x, l.do("sub", m, number(1))), m)
}

// logEdges emits y, the logarithm of u. It replaces y for infinite or NaN x,
// and for u that isn't positive.
func (l lanes) logEdges(y, x, u reg.VecVirtual) reg.VecVirtual {
	y = l.choose(lessThan, x, number(math.Inf(1)), y, x)
	y = l.choose(lessOrEq, u, 0, l.constant(number(math.NaN())), y)
	return l.choose(equal, u, 0, l.constant(number(math.Inf(-1))), y)
}

// erfcOf emits erfc(a) for a from 0 to 11, given its square.
func (l lanes) erfcOf(a, square reg.VecVirtual) reg.VecVirtual {
	e := l.exp(l.negate(square))
	t := l.do("div", l.constant(1), l.do("add", l.do("mul", a, number(0.4)), number(1)))
	return l.do("mul", e, l.do("mul", t, l.polynomial(t, erfcPolynomial.c)))
}

// emitFor writes a function of pointers to float32 and n, a count of elements that
// is a positive multiple of 8.
func (f function) emitFor(l lanes) {
	name := f.name + "F32" + l.name()
	declare(name, "dst, a *float32, n int")
	dst, src := Load(Param("dst"), GP64()), Load(Param("a"), GP64())
	n := l.fromEnd(dst, src)
	var clamps []reg.VecVirtual
	for _, c := range f.clamps {
		clamps = append(clamps, l.constant(c))
	}
	Label(name + "_loop")
	a, y := Mem{Base: src, Index: n, Scale: 1}, Mem{Base: dst, Index: n, Scale: 1}
	if x := f.emit(l, l.load(a), clamps); f.times {
		l.storeTimes(x, a, y)
	} else {
		l.store(x, y)
	}
	ADDQ(Imm(uint64(4*l.count())), n)
	JNE(LabelRef(name + "_loop"))
	VZEROUPPER()
	RET()
}

// emitExpSum writes the numerators of softmax: dst = exp(a-m) of float32, whose sums
// over every eighth element are added to sums.
func emitExpSum(l lanes) {
	name := "expSumF32" + l.name()
	declare(name, "dst, a *float32, m float32, sums *[8]float64, n int")
	dst, src, sums := Load(Param("dst"), GP64()), Load(Param("a"), GP64()), Load(Param("sums"), GP64())
	n := l.fromEnd(dst, src)
	arg, err := Param("m").Resolve()
	exitOn(err)
	m := XMM()
	VMOVSS(arg.Addr, m)
	VCVTSS2SD(m, m, m)
	shift := l.reg()
	VBROADCASTSD(m, shift)
	clamps := []reg.VecVirtual{l.constant(-expRange), l.constant(expRange)}
	total := make([]reg.VecVirtual, 8/l.count())
	for i := range total {
		total[i] = l.reg()
		VMOVUPD(Mem{Base: sums, Disp: 8 * l.count() * i}, total[i])
	}
	Label(name + "_loop")
	for i := range total {
		x := l.do("sub", l.load(Mem{Base: src, Index: n, Scale: 1, Disp: 16 * i}), shift)
		e := l.exp(l.clamp(x, clamps))
		l.store(e, Mem{Base: dst, Index: n, Scale: 1, Disp: 16 * i})
		VADDPD(e, total[i], total[i])
	}
	ADDQ(Imm(32), n)
	JNE(LabelRef(name + "_loop"))
	for i := range total {
		VMOVUPD(total[i], Mem{Base: sums, Disp: 8 * l.count() * i})
	}
	VZEROUPPER()
	RET()
}

// fromEnd moves pointers to float32 to the ends of their n elements and emits the
// index that runs up to 0.
func (l lanes) fromEnd(pointers ...reg.Register) reg.GPVirtual {
	n := GP64()
	Load(Param("n"), n)
	SHLQ(Imm(2), n)
	for _, p := range pointers {
		ADDQ(n, p)
	}
	NEGQ(n)
	return n
}

func declare(name, params string) {
	TEXT(name, attr.NOSPLIT, "func("+params+")")
	fmt.Fprintf(&decls, "\n//go:noescape\nfunc %s(%s)\n", name, params)
}

// emitFunctions writes all functions for both kinds of vectors, and their
// callers.
func emitFunctions() {
	table = GLOBL("constants", attr.RODATA|attr.NOPTR)
	for _, l := range []lanes{{false}, {true}} {
		for _, f := range functions {
			f.emitFor(l)
		}
		emitExpSum(l)
	}
	var stubs strings.Builder
	for _, f := range functions {
		name := strings.ToUpper(f.name[:1]) + f.name[1:]
		doc := fmt.Sprintf("\n// %s computes dst = %s of float32.\nfunc %[1]s[T any](dst, a []T) int ", name, f.doc)
		fmt.Fprintf(&stubs, "%s{ return 0 }\n", doc)
		fmt.Fprintf(&decls, `%s{
	d, ok := any(dst).([]float32)
	if !ok {
		return 0
	}
	n := start(len(d), lanes32)
	s := any(a).([]float32)[:n]
	for i := 0; i < n; i += piece {
		if wide {
			%[2]sF32AVX512(&d[i], &s[i], min(piece, n-i))
		} else {
			%[2]sF32AVX2(&d[i], &s[i], min(piece, n-i))
		}
	}
	return n
}
`, doc, f.name)
	}
	writeGo("zz_functions_noasm", "!amd64 || noasm", stubs.String())
}
