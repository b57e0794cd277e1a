package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const finishSig = "func(c *byte, cRow uintptr, rows int, vecs int, last int, bias *byte, add *byte, addRow uintptr, low *byte, high *byte)"

func finishName(set string, e elem) string { return fmt.Sprintf("finish%s%s", e.name, setName(set)) }

// emitFinish writes the loop of an epilogue over a block of C, vector by vector
// of columns: c = min(max(c + bias + add, low), high), in this order. NaN stays
// NaN, because the instructions return their second operand then.
func (g *tileGen) emitFinish() {
	name := finishName(g.set, g.elem)
	TEXT(name, attr.NOSPLIT, finishSig)
	c, crow := Load(Param("c"), GP64()), Load(Param("cRow"), GP64())
	vecs := Load(Param("vecs"), GP64())
	bias, add, addRow := Load(Param("bias"), GP64()), Load(Param("add"), GP64()), Load(Param("addRow"), GP64())
	bound := Load(Param("low"), GP64())
	low, high := g.vec(), g.vec()
	g.broadcast(mem(bound, 0), low)
	Load(Param("high"), bound)
	g.broadcast(mem(bound, 0), high)

	var masked reg.VecVirtual // AVX2: the lanes of the last vector
	if g.set == "avx512" {
		g.mask = K()
		full := GP32()
		MOVL(U32(0xffff), full)
		KMOVW(full, g.mask)
	} else {
		last := Load(Param("last"), GP64())
		masked = loadMask(g.elem, last)
	}
	at, addAt, rows := GP64(), GP64(), GP64()
	bv, x, y := g.vec(), g.vec(), g.vec()
	body := func(load func(m Mem, x reg.VecVirtual), store func(x reg.VecVirtual, m Mem), label string) {
		load(mem(bias, 0), bv)
		MOVQ(c, at)
		MOVQ(add, addAt)
		Load(Param("rows"), rows)
		Label(label)
		load(mem(at, 0), x)
		load(mem(addAt, 0), y)
		g.add(bv, x, x)
		g.add(y, x, x)
		g.bound(x, low, high)
		store(x, mem(at, 0))
		ADDQ(crow, at)
		ADDQ(addRow, addAt)
		DECQ(rows)
		JNE(LabelRef(label))
	}

	Label(name + "_vec")
	CMPQ(vecs, Imm(1))
	if g.set == "avx512" {
		JNE(LabelRef(name + "_full"))
		shift, one := reg.RCX, GP32()
		Load(Param("last"), shift)
		MOVL(U32(1), one)
		SHLL(reg.CL, one)
		DECL(one)
		KMOVW(one, g.mask)
		Label(name + "_full")
		body(func(m Mem, x reg.VecVirtual) { g.loadMasked(m, x) }, func(x reg.VecVirtual, m Mem) { g.storeMasked(x, m) }, name+"_row")
	} else {
		JEQ(LabelRef(name + "_cut"))
		body(func(m Mem, x reg.VecVirtual) { g.load(m, x) }, func(x reg.VecVirtual, m Mem) { g.storeFull(x, m) }, name+"_row")
	}
	ADDQ(Imm(uint64(g.bytes())), c)
	ADDQ(Imm(uint64(g.bytes())), add)
	ADDQ(Imm(uint64(g.bytes())), bias)
	DECQ(vecs)
	JNE(LabelRef(name + "_vec"))
	if g.set == "avx2" {
		VZEROUPPER()
		RET()
		Label(name + "_cut")
		body(func(m Mem, x reg.VecVirtual) { g.maskmov(m, masked, x) }, func(x reg.VecVirtual, m Mem) { g.maskmov(x, masked, m) }, name+"_cutrow")
	}
	VZEROUPPER()
	RET()
}

// bound writes x = min(max(x, low), high).
func (g *tileGen) bound(x, low, high reg.VecVirtual) {
	if g.f32() {
		VMAXPS(x, low, x)
		VMINPS(x, high, x)
	} else {
		VMAXPD(x, low, x)
		VMINPD(x, high, x)
	}
}
