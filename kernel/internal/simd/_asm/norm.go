package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitMoments writes what adds every sixteenth element of a, or the squares of how
// far these are from m, to sums.
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

// emitNormalize writes dst = (a-m)·scale·gamma + beta.
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
