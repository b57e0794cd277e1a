package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// half is a type of half precision. rounding emits constants and returns a function that rounds vectors of float32 to the
// type.
type half struct {
	name     string
	rounding func() func(x reg.VecVirtual)
}

// emitHalves writes the steps of products, for each type with products rounded before they
// are added and without, and conversions.
func emitHalves() {
	for _, h := range []half{{"F16", func() func(reg.VecVirtual) { return roundF16 }}, {"BF16", roundBF16}} {
		for _, rounded := range []bool{true, false} {
			h.emitProducts(rounded)
		}
		h.emitConversions()
	}
}

// roundF16 rounds by converting to float16 and back.
func roundF16(x reg.VecVirtual) {
	h := XMM()
	VCVTPS2PH(Imm(0), x, h)
	VCVTPH2PS(h, x)
}

// roundBF16 returns a function that rounds by adding less than half a unit, or half a unit if the last bit is set, and
// dropping the rest. NaN has no bits there that carry, because it was made from numbers of the type.
func roundBF16() func(x reg.VecVirtual) {
	one, half := YMM(), YMM()
	VPCMPEQD(one, one, one)
	VPSRLD(Imm(17), one, half)
	VPSRLD(Imm(31), one, one)
	return func(x reg.VecVirtual) {
		odd := YMM()
		VPSRLD(Imm(16), x, odd)
		VPAND(one, odd, odd)
		VPADDD(half, odd, odd)
		VPADDD(odd, x, x)
		VPSRLD(Imm(16), x, x)
		VPSLLD(Imm(16), x, x)
	}
}

// emitProducts writes
//
//	for k in [0, depth), j in [0, 8*vecs): sums[j] = round(sums[j] + round(x[k*step]*right[k*stride+j]))
//
// for 1, 2, 4 or 8 vectors, or the same without the inner rounding. If there is one vector, the
// mask of 8 words sets the lanes that are computed.
func (h half) emitProducts(rounded bool) {
	name := "products" + h.name
	if rounded {
		name = "roundedProducts" + h.name
	}
	declare(name, "sums, x, right *float32, step, stride, depth, vecs int, mask *uint32")
	sums, x, right := Load(Param("sums"), GP64()), Load(Param("x"), GP64()), Load(Param("right"), GP64())
	step, stride := Load(Param("step"), GP64()), Load(Param("stride"), GP64())
	depth, vecs := Load(Param("depth"), GP64()), Load(Param("vecs"), GP64())
	SHLQ(Imm(2), step)
	SHLQ(Imm(2), stride)
	round := h.rounding()
	for _, n := range []int{8, 4, 2, 1} {
		label := fmt.Sprintf("%s_%d", name, n)
		CMPQ(vecs, Imm(uint64(n)))
		JNE(LabelRef(label + "_next"))
		sum, mask := make([]reg.VecVirtual, n), YMM()
		if n == 1 {
			VMOVDQU(Mem{Base: Load(Param("mask"), GP64())}, mask)
		}
		for i := range sum {
			sum[i] = YMM()
			if at := (Mem{Base: sums, Disp: 32 * i}); n == 1 {
				VMASKMOVPS(at, mask, sum[i])
			} else {
				VMOVUPS(at, sum[i])
			}
		}
		Label(label)
		v := YMM()
		VBROADCASTSS(Mem{Base: x}, v)
		for i := range sum {
			p := YMM()
			if at := (Mem{Base: right, Disp: 32 * i}); n == 1 {
				VMASKMOVPS(at, mask, p)
				VMULPS(p, v, p)
			} else {
				VMULPS(at, v, p)
			}
			if rounded {
				round(p)
			}
			VADDPS(p, sum[i], sum[i])
			round(sum[i])
		}
		ADDQ(step, x)
		ADDQ(stride, right)
		DECQ(depth)
		JNE(LabelRef(label))
		for i := range sum {
			if at := (Mem{Base: sums, Disp: 32 * i}); n == 1 {
				VMASKMOVPS(sum[i], mask, at)
			} else {
				VMOVUPS(sum[i], at)
			}
		}
		VZEROUPPER()
		RET()
		Label(label + "_next")
	}
	RET()
}

// emitConversions writes functions that round float32 to half precision in place, narrow it to that and widen it again, for
// n elements, a positive multiple of 8.
func (h half) emitConversions() {
	declare("round"+h.name, "x *float32, n int")
	x, n := Load(Param("x"), GP64()), Load(Param("n"), GP64())
	round := h.rounding()
	Label("round" + h.name + "_loop")
	v := YMM()
	VMOVUPS(Mem{Base: x}, v)
	round(v)
	VMOVUPS(v, Mem{Base: x})
	ADDQ(Imm(32), x)
	SUBQ(Imm(8), n)
	JNE(LabelRef("round" + h.name + "_loop"))
	VZEROUPPER()
	RET()

	declare("widen"+h.name, "dst *float32, src *uint16, n int")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	Label("widen" + h.name + "_loop")
	v = YMM()
	if h.name == "F16" {
		VCVTPH2PS(Mem{Base: src}, v)
	} else {
		VPMOVZXWD(Mem{Base: src}, v)
		VPSLLD(Imm(16), v, v)
	}
	VMOVUPS(v, Mem{Base: dst})
	ADDQ(Imm(16), src)
	ADDQ(Imm(32), dst)
	SUBQ(Imm(8), n)
	JNE(LabelRef("widen" + h.name + "_loop"))
	VZEROUPPER()
	RET()

	declare("narrow"+h.name, "dst *uint16, src *float32, n int")
	dst, src, n = Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	round, sign, nan := h.rounding(), YMM(), YMM()
	if h.name != "F16" { // the quiet NaN, of either sign
		VPCMPEQD(sign, sign, sign)
		VPSRLD(Imm(23), sign, nan)
		VPSLLD(Imm(22), nan, nan)
		VPSLLD(Imm(31), sign, sign)
	}
	Label("narrow" + h.name + "_loop")
	v = YMM()
	VMOVUPS(Mem{Base: src}, v)
	if h.name == "F16" {
		VCVTPS2PH(Imm(0), v, Mem{Base: dst})
	} else {
		other, none := YMM(), YMM()
		VPAND(sign, v, other)
		VPOR(nan, other, other)
		VCMPPS(Imm(unordered), v, v, none)
		round(v)
		VBLENDVPS(none, other, v, v)
		VPSRLD(Imm(16), v, v)
		VPACKUSDW(v, v, v)
		VPERMQ(Imm(0x08), v, v)
		VMOVUPS(v.AsX(), Mem{Base: dst})
	}
	ADDQ(Imm(32), src)
	ADDQ(Imm(16), dst)
	SUBQ(Imm(8), n)
	JNE(LabelRef("narrow" + h.name + "_loop"))
	VZEROUPPER()
	RET()
}
