package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitRotations writes
//
//	for k in [0, n): row k, row k+1 = c[k]*row k + s[k]*row k+1, c[k]*row k+1 - s[k]*row k
//
// of 16 or 4 columns of float64, where row k begins k*stride bytes after v and turns holds c and s in
// turn. A row stays in registers between its two rotations.
func emitRotations() {
	e := elem{"F64", "float64", 8}
	e.twoSweeps()
	for _, vecs := range []int{4, 1} {
		name := map[int]string{4: "rotations16", 1: "rotations4"}[vecs]
		declare(name, "v *float64, stride int, turns *float64, n int")
		v, stride := Load(Param("v"), GP64()), Load(Param("stride"), GP64())
		turns, n := Load(Param("turns"), GP64()), Load(Param("n"), GP64())
		x := make([]reg.VecVirtual, vecs)
		for i := range x {
			x[i] = YMM()
			VMOVUPD(Mem{Base: v, Disp: 32 * i}, x[i])
		}
		Label(name + "_loop")
		c, s := YMM(), YMM()
		VBROADCASTSD(Mem{Base: turns}, c)
		VBROADCASTSD(Mem{Base: turns, Disp: 8}, s)
		for i := range x {
			next := YMM()
			VMOVUPD(Mem{Base: v, Index: stride, Scale: 1, Disp: 32 * i}, next)
			VMOVUPD(e.do("add", e.do("mul", c, x[i]), e.do("mul", s, next)), Mem{Base: v, Disp: 32 * i})
			VMULPD(x[i], s, x[i])
			VMULPD(next, c, next)
			VSUBPD(x[i], next, x[i])
		}
		ADDQ(stride, v)
		ADDQ(Imm(16), turns)
		DECQ(n)
		JNE(LabelRef(name + "_loop"))
		for i := range x {
			VMOVUPD(x[i], Mem{Base: v, Disp: 32 * i})
		}
		VZEROUPPER()
		RET()
	}
}

// twoSweeps writes
//
//	for k in [0, n): row k+1, row k+2 = c[k]*row k+1 + s[k]*row k+2, c[k]*row k+2 - s[k]*row k+1
//		row k, row k+1 = d[k]*row k + t[k]*row k+1, d[k]*row k+1 - t[k]*row k
//
// of 16 columns, where first holds c and s in turn and second d and t.
func (e elem) twoSweeps() {
	const vecs, name = 4, "rotations16Twice"
	declare(name, "v *float64, stride int, first, second *float64, n int")
	v, stride := Load(Param("v"), GP64()), Load(Param("stride"), GP64())
	first, second := Load(Param("first"), GP64()), Load(Param("second"), GP64())
	n := Load(Param("n"), GP64())
	ahead := GP64()
	LEAQ(Mem{Base: v, Index: stride, Scale: 1}, ahead)
	x, y := make([]reg.VecVirtual, vecs), make([]reg.VecVirtual, vecs) // of rows k+1 and k
	for i := range x {
		x[i], y[i] = YMM(), YMM()
		VMOVUPD(Mem{Base: v, Disp: 32 * i}, y[i])
		VMOVUPD(Mem{Base: ahead, Disp: 32 * i}, x[i])
	}
	Label(name + "_loop")
	ADDQ(stride, ahead)
	c, s, d, t := YMM(), YMM(), YMM(), YMM()
	VBROADCASTSD(Mem{Base: first}, c)
	VBROADCASTSD(Mem{Base: first, Disp: 8}, s)
	VBROADCASTSD(Mem{Base: second}, d)
	VBROADCASTSD(Mem{Base: second, Disp: 8}, t)
	for i := range x {
		next := YMM()
		VMOVUPD(Mem{Base: ahead, Disp: 32 * i}, next)
		row := e.do("add", e.do("mul", c, x[i]), e.do("mul", s, next))
		VMULPD(x[i], s, x[i])
		VMULPD(next, c, next)
		VSUBPD(x[i], next, x[i])
		VMULPD(row, t, next)
		VMULPD(row, d, row)
		last := e.do("mul", d, y[i])
		VADDPD(next, last, last)
		VMOVUPD(last, Mem{Base: v, Disp: 32 * i})
		VMULPD(y[i], t, y[i])
		VSUBPD(y[i], row, y[i])
	}
	ADDQ(stride, v)
	ADDQ(Imm(16), first)
	ADDQ(Imm(16), second)
	DECQ(n)
	JNE(LabelRef(name + "_loop"))
	for i := range x {
		VMOVUPD(y[i], Mem{Base: v, Disp: 32 * i})
		VMOVUPD(x[i], Mem{Base: v, Index: stride, Scale: 1, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
}

// dot writes a function that adds products of every eighth element to one of eight sums, given
// a positive multiple of 8 of elements.
func (e elem) dot() {
	name := "dot" + e.name
	declare(name, "sums *[8]"+e.typ+", a, b *"+e.typ+", n int")
	sums, a, b, n := Load(Param("sums"), GP64()), Load(Param("a"), GP64()), Load(Param("b"), GP64()), Load(Param("n"), GP64())
	total := make([]reg.VecVirtual, e.size/4)
	for i := range total {
		total[i] = YMM()
		VMOVUPS(Mem{Base: sums, Disp: 32 * i}, total[i])
	}
	Label(name + "_loop")
	for i := range total {
		x, y := YMM(), YMM()
		VMOVUPS(Mem{Base: a, Disp: 32 * i}, x)
		VMOVUPS(Mem{Base: b, Disp: 32 * i}, y)
		total[i] = e.into(total[i], e.do("mul", x, y))
	}
	ADDQ(Imm(uint64(32*len(total))), a)
	ADDQ(Imm(uint64(32*len(total))), b)
	SUBQ(Imm(8), n)
	JNE(LabelRef(name + "_loop"))
	for i := range total {
		VMOVUPS(total[i], Mem{Base: sums, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
}

// into emits total += x.
func (e elem) into(total, x reg.VecVirtual) reg.VecVirtual {
	if e.size == 4 {
		VADDPS(x, total, total)
	} else {
		VADDPD(x, total, total)
	}
	return total
}
