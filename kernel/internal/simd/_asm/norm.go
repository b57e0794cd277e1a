package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The loops of layer normalization. A row is cut into 16 interleaved sums on
// both sets of instructions, so that AVX2 and AVX-512 have the same bits. s is
// the set: vectors of 8 or 16 float32. n is the number of elements, a multiple
// of 16 unless a function's comment has another rule; fromEnd returns it as the
// index that runs from -4n bytes to 0. fold adds the 16 sums by halves.

// emitMoments writes a function that adds every sixteenth element of a, or the
// squares of their differences from m, to sums.
func emitMoments(s singles, name string, squares bool) {
	name += s.name()
	declare(name, "a *float32, m float32, sums *[16]float32, n int")
	src, sums := Load(Param("a"), GP64()), Load(Param("sums"), GP64())
	n := lanes(s).fromEnd(src)
	m := s.broadcast("m")
	total := make([]reg.VecVirtual, 16/s.count())
	for i := range total {
		total[i] = s.reg()
		VMOVUPS(Mem{Base: sums, Disp: 32 * i}, total[i])
	}
	Label(name + "_loop")
	for i := range total {
		at := Mem{Base: src, Index: n, Scale: 1, Disp: 32 * i}
		if !squares {
			VADDPS(at, total[i], total[i])
			continue
		}
		x := s.reg()
		VMOVUPS(at, x)
		d := s.do("sub", x, m)
		VFMADD231PS(d, d, total[i])
	}
	ADDQ(Imm(64), n)
	JNE(LabelRef(name + "_loop"))
	for i := range total {
		VMOVUPS(total[i], Mem{Base: sums, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
}

// broadcast loads a parameter into all lanes.
func (s singles) broadcast(param string) reg.VecVirtual {
	arg, err := Param(param).Resolve()
	exitOn(err)
	y := s.reg()
	VBROADCASTSS(arg.Addr, y)
	return y
}

// emitNormalize writes dst = (a-m)·scale·gamma + beta. n is a positive multiple
// of a vector's elements. The product with gamma and the sum with beta are one
// rounding.
func emitNormalize(s singles) {
	name := "normalize" + s.name()
	declare(name, "dst, a, gamma, beta *float32, m, scale float32, n int")
	dst, src := Load(Param("dst"), GP64()), Load(Param("a"), GP64())
	gamma, beta := Load(Param("gamma"), GP64()), Load(Param("beta"), GP64())
	n := lanes(s).fromEnd(dst, src, gamma, beta)
	m, scale := s.broadcast("m"), s.broadcast("scale")
	at := func(p reg.Register) Mem { return Mem{Base: p, Index: n, Scale: 1} }
	Label(name + "_loop")
	x := s.reg()
	VMOVUPS(at(src), x)
	x = s.do("mul", s.do("sub", x, m), scale)
	g := s.reg()
	VMOVUPS(at(gamma), g)
	VMOVUPS(s.fma(x, g, at(beta)), at(dst))
	ADDQ(Imm(uint64(4*s.count())), n)
	JNE(LabelRef(name + "_loop"))
	VZEROUPPER()
	RET()
}

// emitLayerNorm writes [emitMoments] and [emitNormalize] in one function: dst =
// (a-m)·scale·gamma + beta of the mean m and of scale, one over the root of the
// variance and epsilon. So consecutive rows don't wait for each other's sums.
func emitLayerNorm(s singles) {
	name := "layerNorm" + s.name()
	declare(name, "dst, a, gamma, beta *float32, epsilon, count float32, n int")
	dst, src := Load(Param("dst"), GP64()), Load(Param("a"), GP64())
	gamma, beta := Load(Param("gamma"), GP64()), Load(Param("beta"), GP64())
	begin := lanes(s).fromEnd(dst, src, gamma, beta)
	n := GP64()
	total := make([]reg.VecVirtual, 16/s.count())
	at := func(p reg.Register, i int) Mem { return Mem{Base: p, Index: n, Scale: 1, Disp: 32 * i} }
	each := func(label string, body func(i int)) { s.each16(name+label, begin, n, body) }
	sum := func(label string, body func(i int)) reg.VecVirtual {
		for i := range total {
			total[i] = s.reg()
			s.operate("xor", total[i], total[i], total[i])
		}
		each(label, body)
		return s.do("div", s.fold(total, VADDPS), s.broadcast("count"))
	}
	m := sum("_sum", func(i int) { VADDPS(at(src, i), total[i], total[i]) })
	v := sum("_squares", func(i int) {
		x := s.reg()
		VMOVUPS(at(src, i), x)
		d := s.do("sub", x, m)
		VFMADD231PS(d, d, total[i])
	})
	root, one := s.do("add", v, s.broadcast("epsilon")).AsX(), s.constant(1).AsX()
	VCVTSS2SD(root, root, root)
	VSQRTSD(root, root, root)
	VCVTSS2SD(one, one, one)
	VDIVSD(root, one, root)
	VCVTSD2SS(root, root, root)
	scale := s.reg()
	VBROADCASTSS(root, scale)
	each("_scale", func(i int) {
		x, g := s.reg(), s.reg()
		VMOVUPS(at(src, i), x)
		x = s.do("mul", s.do("sub", x, m), scale)
		VMOVUPS(at(gamma, i), g)
		VMOVUPS(s.fma(x, g, at(beta, i)), at(dst, i))
	})
	VZEROUPPER()
	RET()
}
