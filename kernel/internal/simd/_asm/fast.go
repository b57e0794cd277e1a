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

// singles computes with vectors of float32, eight of AVX2 or sixteen of AVX-512, by
// instructions that multiply and add with one rounding. Both emit the same
// operations in the same order.
type singles struct{ wide bool }

// name returns the suffix of the names of functions: AVX2 or AVX512.
func (s singles) name() string { return lanes(s).name() }

// count returns the number of elements of a vector.
func (s singles) count() int { return 2 * lanes(s).count() }

func (s singles) reg() reg.VecVirtual { return lanes(s).reg() }

// The float32 that have been asked for, eight times each.
var (
	fastPlace = map[uint32]int{}
	fastTable Mem
)

// fastAt addresses a constant. It adds it to the table at the first use.
func fastAt(bits uint32) Mem {
	i, ok := fastPlace[bits]
	if !ok {
		i = len(fastPlace)
		fastPlace[bits] = i
		for k := range 8 {
			DATA((8*i+k)*4, U32(bits))
		}
	}
	return fastTable.Offset(32 * i)
}

// single is an operand that is one float32 in all lanes, word one uint32.
type (
	single float32
	word   uint32
)

var singleInstructions = map[string]instruction{
	"add": {VADDPS, VADDPS_BCST}, "sub": {VSUBPS, VSUBPS_BCST}, "mul": {VMULPS, VMULPS_BCST}, "div": {VDIVPS, VDIVPS_BCST},
	"min": {VMINPS, VMINPS_BCST}, "max": {VMAXPS, VMAXPS_BCST},
	"addInt": {VPADDD, VPADDD_BCST}, "xor": {VXORPS, nil}, "xorInt": {VPXORD, VPXORD_BCST},
	"fma": {VFMADD213PS, VFMADD213PS_BCST},
}

// operate emits an instruction whose first operand, for the assembler, is b: a
// register, a single, a word or memory.
func (s singles) operate(op string, b any, rest ...Op) {
	if s.wide && op == "xor" {
		op = "xorInt"
	}
	in := singleInstructions[op]
	var bits uint32
	switch b := b.(type) {
	case reg.VecVirtual:
		in.plain(append([]Op{b}, rest...)...)
		return
	case Mem:
		in.plain(append([]Op{b}, rest...)...)
		return
	case single:
		bits = math.Float32bits(float32(b))
	case word:
		bits = uint32(b)
	}
	if s.wide {
		in.broadcast(append([]Op{fastAt(bits)}, rest...)...)
	} else {
		in.plain(append([]Op{fastAt(bits)}, rest...)...)
	}
}

// do emits a op b.
func (s singles) do(op string, a reg.VecVirtual, b any) reg.VecVirtual {
	y := s.reg()
	s.operate(op, b, a, y)
	return y
}

// fma emits a·b + c.
func (s singles) fma(a, b reg.VecVirtual, c any) reg.VecVirtual {
	y := s.reg()
	VMOVAPS(a, y)
	s.operate("fma", c, b, y)
	return y
}

func (s singles) constant(x single) reg.VecVirtual {
	y := s.reg()
	VBROADCASTSS(fastAt(math.Float32bits(float32(x))), y)
	return y
}

// horner emits c[0] + c[1]·x + c[2]·x² …
func (s singles) horner(x reg.VecVirtual, c []float64) reg.VecVirtual {
	y := s.constant(single(c[len(c)-1]))
	for i := len(c) - 2; i >= 0; i-- {
		s.operate("fma", single(c[i]), x, y)
	}
	return y
}

// clamp emits x, brought between two registers; NaN stays.
func (s singles) clamp(x, low, high reg.VecVirtual) reg.VecVirtual {
	return s.do("min", high, s.do("max", low, x))
}

// choose emits yes for elements with a predicate b, else no.
func (s singles) choose(predicate uint64, a reg.VecVirtual, b single, yes, no reg.VecVirtual) reg.VecVirtual {
	y := s.reg()
	c := fastAt(math.Float32bits(float32(b)))
	if s.wide {
		k := K()
		VCMPPS_BCST(Imm(predicate), c, a, k)
		VBLENDMPS(yes, no, k, y)
		return y
	}
	m := YMM()
	VCMPPS(Imm(predicate), c, a, m)
	VBLENDVPS(m, yes, no, y)
	return y
}

// quotient is the odd function x·p(x²)/q(x²) of few terms that comes closest to
// another one up to a bound (a fit of the smallest largest relative error), beyond
// which that is 1.
type quotient struct {
	bound single
	p, q  []float64
}

var (
	erfQuotient = quotient{3.92, // to 2⁻²⁹
		[]float64{1.1283791691434237, 0.1851359251917884, 0.0542439085885849, 0.003838627604104068, 0.00037675250976915457, 4.609048374412705e-06, -1.2798890671023164e-08},
		[]float64{1, 0.4974058479702473, 0.11387388225507983, 0.015430035676765708, 0.0013015171947440422, 6.239741265498186e-05}}
	tanhQuotient = quotient{9.02, // to 2⁻²⁹
		[]float64{0.9999999986941133, 0.1367994440536109, 0.003868364221823574, 2.8008175863663547e-05, 3.058666161195054e-08, -1.220459622387583e-11},
		[]float64{1, 0.4701327646851517, 0.027245973044819745, 0.00039386947722778304, 1.2874155953559858e-06}}
	// expTerms approximate (exp(x)-1-x)/x² for |x| ≤ ln 2 / 2.
	expTerms = []float64{0.5000000080806984, 0.16666515988904962, 0.04166626313606545, 0.008369151694112837, 0.0013946446562867652}
)

// of emits the function of x.
func (q quotient) of(s singles, x reg.VecVirtual) reg.VecVirtual {
	a := s.clamp(x, s.constant(-q.bound), s.constant(q.bound))
	z := s.do("mul", a, a)
	y := s.do("div", s.do("mul", a, s.horner(z, q.p)), s.horner(z, q.q))
	high, low := s.constant(1), s.constant(-1)
	y = s.choose(lessThan, x, -q.bound, low, y)
	return s.choose(notLessOrEq, x, q.bound, s.orNaN(x, high), y)
}

// notLessOrEq is the predicate a > b, true for NaN.
const notLessOrEq = 0x16

// orNaN emits y, or NaN for elements whose x is NaN.
func (s singles) orNaN(x, y reg.VecVirtual) reg.VecVirtual {
	return s.do("min", y, x) // x is more than y, or NaN
}

// exp emits e to the power of x; a result below 2⁻¹²⁵ is 0.
func (s singles) exp(x reg.VecVirtual) reg.VecVirtual {
	const round = 3 << 22
	x = s.clamp(x, s.constant(-87.3), s.constant(89))
	k := s.fma(x, s.constant(math.Log2E), single(round))
	n := s.do("sub", k, single(round))
	// ln 2 in two parts, the first of which has few digits.
	r := s.fma(n, s.constant(-0.693359375), x)
	r = s.fma(n, s.constant(2.12194440e-4), r)
	e := s.fma(s.horner(r, expTerms), s.do("mul", r, r), r)
	half := s.reg() // 2ⁿ⁻¹, as 2ⁿ may be too large
	VPSLLD(Imm(23), k, half)
	half = s.do("addInt", half, word(126<<23))
	y := s.fma(half, e, half)
	return s.do("add", y, y)
}

// fast is a function of one number, within a few units in the last place.
type fast struct {
	name, doc string
	emit      func(s singles, x reg.VecVirtual) reg.VecVirtual
}

var fasts = []fast{
	{"fastExp", "exp(a)", singles.exp},
	{"fastSigmoid", "1 / (1 + exp(-a))", func(s singles, x reg.VecVirtual) reg.VecVirtual {
		return s.do("div", s.constant(1), s.do("add", s.exp(s.do("xor", x, word(1<<31))), single(1)))
	}},
	{"fastSwish", "a / (1 + exp(-a))", func(s singles, x reg.VecVirtual) reg.VecVirtual {
		return s.do("div", x, s.do("add", s.exp(s.do("xor", x, word(1<<31))), single(1)))
	}},
	{"fastTanh", "tanh(a)", func(s singles, x reg.VecVirtual) reg.VecVirtual { return tanhQuotient.of(s, x) }},
	{"fastErf", "erf(a)", func(s singles, x reg.VecVirtual) reg.VecVirtual { return erfQuotient.of(s, x) }},
	{"gelu", "a/2 · (1 + erf(a/√2))", func(s singles, x reg.VecVirtual) reg.VecVirtual {
		h := s.do("mul", x, single(0.5))
		return s.fma(h, erfQuotient.of(s, s.do("mul", x, single(math.Sqrt2/2))), h)
	}},
	{"geluTanh", "a/2 · (1 + tanh(√(2/π)·(a + 0.044715·a³)))", func(s singles, x reg.VecVirtual) reg.VecVirtual {
		c := math.Sqrt(2 / math.Pi)
		u := s.do("mul", x, s.horner(s.do("mul", x, x), []float64{c, 0.044715 * c}))
		h := s.do("mul", x, single(0.5))
		return s.fma(h, tanhQuotient.of(s, u), h)
	}},
}

// emitFor writes a function of dst, a and n, which is a positive multiple of a
// vector's elements. It may be called with dst equal to a.
func (f fast) emitFor(s singles) {
	name := f.name + s.name()
	declare(name, "dst, a *float32, n int")
	dst, src := Load(Param("dst"), GP64()), Load(Param("a"), GP64())
	n := lanes(s).fromEnd(dst, src)
	Label(name + "_loop")
	x := s.reg()
	VMOVUPS(Mem{Base: src, Index: n, Scale: 1}, x)
	VMOVUPS(f.emit(s, x), Mem{Base: dst, Index: n, Scale: 1})
	ADDQ(Imm(uint64(4*s.count())), n)
	JNE(LabelRef(name + "_loop"))
	VZEROUPPER()
	RET()
}

// emitFastExpSum writes dst = exp(a-m), whose sums over every sixteenth element are
// added to sums.
func emitFastExpSum(s singles) {
	name := "fastExpSum" + s.name()
	declare(name, "dst, a *float32, m float32, sums *[16]float32, n int")
	dst, src, sums := Load(Param("dst"), GP64()), Load(Param("a"), GP64()), Load(Param("sums"), GP64())
	n := lanes(s).fromEnd(dst, src)
	shift := s.broadcast("m")
	total := make([]reg.VecVirtual, 16/s.count())
	for i := range total {
		total[i] = s.reg()
		VMOVUPS(Mem{Base: sums, Disp: 32 * i}, total[i])
	}
	Label(name + "_loop")
	for i := range total {
		x := s.reg()
		VMOVUPS(Mem{Base: src, Index: n, Scale: 1, Disp: 32 * i}, x)
		e := s.exp(s.do("sub", x, shift))
		VMOVUPS(e, Mem{Base: dst, Index: n, Scale: 1, Disp: 32 * i})
		VADDPS(e, total[i], total[i])
	}
	ADDQ(Imm(64), n)
	JNE(LabelRef(name + "_loop"))
	for i := range total {
		VMOVUPS(total[i], Mem{Base: sums, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
}

// emitFastSoftmax writes dst = exp(a-m)·(1/s). m is the largest element and s
// the sum of the exponentials, in the order of [emitFastExpSum] and then by
// halves. If an element is NaN, all results are, whatever m is then.
func emitFastSoftmax(s singles) {
	name := "fastSoftmax" + s.name()
	declare(name, "dst, a *float32, n int")
	dst, src := Load(Param("dst"), GP64()), Load(Param("a"), GP64())
	begin := lanes(s).fromEnd(dst, src)
	n := GP64()
	most, total := make([]reg.VecVirtual, 16/s.count()), make([]reg.VecVirtual, 16/s.count())
	at := func(p reg.Register, i int) Mem { return Mem{Base: p, Index: n, Scale: 1, Disp: 32 * i} }
	each := func(label string, body func(i int)) { s.each16(name+label, begin, n, body) }
	MOVQ(begin, n)
	for i := range most {
		most[i] = s.reg()
		VMOVUPS(at(src, i), most[i])
	}
	each("_max", func(i int) { VMAXPS(at(src, i), most[i], most[i]) })
	shift := s.fold(most, VMAXPS)
	for i := range total {
		total[i] = s.reg()
		s.operate("xor", total[i], total[i], total[i])
	}
	each("_exp", func(i int) {
		x := s.reg()
		VMOVUPS(at(src, i), x)
		e := s.exp(s.do("sub", x, shift))
		VMOVUPS(e, at(dst, i))
		VADDPS(e, total[i], total[i])
	})
	scale := s.do("div", s.constant(1), s.fold(total, VADDPS))
	each("_scale", func(i int) {
		x := s.reg()
		VMULPS(at(dst, i), scale, x)
		VMOVUPS(x, at(dst, i))
	})
	VZEROUPPER()
	RET()
}

// each16 writes a loop from begin on over 16 elements at a time, with the index
// in n. It writes body once for each of their vectors.
func (s singles) each16(label string, begin, n reg.GPVirtual, body func(i int)) {
	MOVQ(begin, n)
	Label(label)
	for i := range 16 / s.count() {
		body(i)
	}
	ADDQ(Imm(64), n)
	JNE(LabelRef(label))
}

// fold joins the halves of 16 elements until one is left, which all lanes get.
func (s singles) fold(v []reg.VecVirtual, op func(...Op)) reg.VecVirtual {
	half := YMM()
	if s.wide {
		high := YMM()
		VEXTRACTF64X4(Imm(1), v[0], high)
		op(high, v[0].AsY(), half)
	} else {
		op(v[1], v[0], half)
	}
	x, y := XMM(), XMM()
	VEXTRACTF128(Imm(1), half, y)
	op(y, half.AsX(), x)
	VPERMILPS(Imm(0x4e), x, y)
	op(y, x, x)
	VPERMILPS(Imm(0xb1), x, y)
	op(y, x, x)
	all := s.reg()
	VBROADCASTSS(x, all)
	return all
}

// emitFast writes all of these for both kinds of vectors, and their callers.
func emitFast() {
	fastTable = GLOBL("fastConstants", attr.RODATA|attr.NOPTR)
	for _, s := range []singles{{false}, {true}} {
		for _, f := range fasts {
			f.emitFor(s)
		}
		emitFastExpSum(s)
		emitFastSoftmax(s)
		emitMoments(s, "rowSum", false)
		emitMoments(s, "rowSquares", true)
		emitNormalize(s)
		emitLayerNorm(s)
	}
	var stubs strings.Builder
	for _, f := range fasts {
		name := strings.ToUpper(f.name[:1]) + f.name[1:]
		doc := fmt.Sprintf("\n// %s computes dst = %s, within a few units in the last\n// place, and reports whether it can.\nfunc %[1]s(dst, a []float32) bool ", name, f.doc)
		fmt.Fprintf(&stubs, "%s{ return false }\n", doc)
		fmt.Fprintf(&decls, `%s{
	n := fastStart(len(dst))
	if n < 0 {
		return false
	}
	a = a[:len(dst)]
	for i := 0; i < n; i += piece {
		if wide {
			%[2]sAVX512(&dst[i], &a[i], min(piece, n-i))
		} else {
			%[2]sAVX2(&dst[i], &a[i], min(piece, n-i))
		}
	}
	if n < len(dst) {
		var v [16]float32
		copy(v[:], a[n:])
		if wide {
			%[2]sAVX512(&v[0], &v[0], 16)
		} else {
			%[2]sAVX2(&v[0], &v[0], 16)
		}
		copy(dst[n:], v[:])
	}
	return true
}
`, doc, f.name)
	}
	writeGo("zz_fast_noasm", "!amd64 || noasm", stubs.String())
}
