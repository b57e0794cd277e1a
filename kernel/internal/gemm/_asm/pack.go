package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const packSig = "func(dst *byte, src *byte, dstRow uintptr, srcRow uintptr, rows int, k int)"

// emitTranspose writes transposeF32 (blocks of 8×8) or transposeF64 (4×4). The
// halves of a vector are loaded from rows half a block apart, which leaves only
// shuffles inside 128-bit lanes. The rest of k after whole blocks is done as
// one more block that ends at k and repeats some of the last.
func emitTranspose(e elem) {
	name := "transpose" + e.name
	lanes := 32 / e.size
	TEXT(name, attr.NOSPLIT, packSig)
	dst := Load(Param("dst"), GP64())
	srcRow := Load(Param("srcRow"), GP64())
	rows := Load(Param("rows"), GP64())
	src := make([]reg.GPVirtual, lanes)
	for i := range src {
		src[i] = GP64()
		if i == 0 {
			Load(Param("src"), src[0])
			continue
		}
		// A row that is not there is read as row 0.
		MOVQ(src[0], src[i])
		skip := name + "_row" + string(rune('0'+i))
		CMPQ(rows, Imm(uint64(i)))
		JLE(LabelRef(skip))
		MOVQ(src[i-1], src[i])
		ADDQ(srcRow, src[i])
		Label(skip)
	}
	dstRow := Load(Param("dstRow"), GP64())
	k := Load(Param("k"), GP64())
	// p counts the remaining steps; off is the byte offset along the rows of
	// src.
	off := GP64()
	XORQ(off, off)
	Label(name + "_block")
	to := GP64()
	MOVQ(dst, to)
	transposeBlock(e, src, off, to, dstRow)
	MOVQ(to, dst)
	ADDQ(Imm(32), off)
	SUBQ(Imm(uint64(lanes)), k)
	JEQ(LabelRef(name + "_done"))
	CMPQ(k, Imm(uint64(lanes)))
	JGE(LabelRef(name + "_block"))
	// k < lanes are left: step back lanes-k.
	back, stepBack := GP64(), GP64()
	MOVQ(U32(uint32(lanes)), back)
	SUBQ(k, back)
	MOVQ(dstRow, stepBack)
	IMULQ(back, stepBack)
	SUBQ(stepBack, dst)
	IMUL3Q(Imm(uint64(e.size)), back, back)
	SUBQ(back, off)
	MOVQ(U32(uint32(lanes)), k)
	JMP(LabelRef(name + "_block"))
	Label(name + "_done")
	VZEROUPPER()
	RET()
}

// transposeBlock moves one block and steps to past it.
func transposeBlock(e elem, src []reg.GPVirtual, off, to, dstRow reg.Register) {
	half := len(src) / 2
	load := func(r, disp int) reg.VecVirtual {
		x, y := XMM(), YMM()
		VMOVUPS(Mem{Base: src[r], Index: off, Scale: 1, Disp: disp}, x)
		VINSERTF128(Imm(1), Mem{Base: src[r+half], Index: off, Scale: 1, Disp: disp}, x.AsY(), y)
		return y
	}
	store := func(y reg.VecVirtual) {
		VMOVUPS(y, mem(to, 0))
		ADDQ(dstRow, to)
	}
	for disp := 0; disp < 32; disp += 16 {
		if e.size == 8 {
			r0, r1 := load(0, disp), load(1, disp)
			lo, hi := YMM(), YMM()
			VUNPCKLPD(r1, r0, lo)
			VUNPCKHPD(r1, r0, hi)
			store(lo)
			store(hi)
			continue
		}
		r0, r1, r2, r3 := load(0, disp), load(1, disp), load(2, disp), load(3, disp)
		a, b, c, d := YMM(), YMM(), YMM(), YMM()
		VUNPCKLPS(r1, r0, a) // r0k0 r1k0 r0k1 r1k1
		VUNPCKHPS(r1, r0, b) // k2 and k3
		VUNPCKLPS(r3, r2, c)
		VUNPCKHPS(r3, r2, d)
		for _, p := range [][2]reg.VecVirtual{{a, c}, {b, d}} {
			even, odd := YMM(), YMM()
			VUNPCKLPD(p[1], p[0], even)
			VUNPCKHPD(p[1], p[0], odd)
			store(even)
			store(odd)
		}
	}
}

// emitCopy writes copyF32 or copyF64: rows of n whole vectors and one that is
// cut. The cut one is read under a mask and written whole.
func emitCopy(e elem) {
	name := "copy" + e.name
	TEXT(name, attr.NOSPLIT, "func(dst *byte, src *byte, dstRow uintptr, srcRow uintptr, n int, last int, k int)")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	dstRow := Load(Param("dstRow"), GP64())
	srcRow := Load(Param("srcRow"), GP64())
	n := Load(Param("n"), GP64())
	last := Load(Param("last"), GP64())
	k := Load(Param("k"), GP64())
	mask := loadMask(e, last)
	SHLQ(Imm(5), n)
	ADDQ(n, dst)
	ADDQ(n, src)
	NEGQ(n)
	y := YMM()
	Label(name + "_row")
	at := GP64()
	MOVQ(n, at)
	TESTQ(at, at)
	JEQ(LabelRef(name + "_cut"))
	Label(name + "_vec")
	VMOVUPS(Mem{Base: src, Index: at, Scale: 1}, y)
	VMOVUPS(y, Mem{Base: dst, Index: at, Scale: 1})
	ADDQ(Imm(32), at)
	JNE(LabelRef(name + "_vec"))
	Label(name + "_cut")
	VMASKMOVPS(mem(src, 0), mask, y)
	VMOVUPS(y, mem(dst, 0))
	ADDQ(dstRow, dst)
	ADDQ(srcRow, src)
	DECQ(k)
	JNE(LabelRef(name + "_row"))
	VZEROUPPER()
	RET()
}

// emitRuns writes runsF32 or runsF64: rows are cut in runs of 32 bytes, four of which are
// copied at once.
func emitRuns(e elem) {
	name := "runs" + e.name
	TEXT(name, attr.NOSPLIT, "func(dst *byte, src *byte, step uintptr, srcRow uintptr, n int, last int, rows int)")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	step := Load(Param("step"), GP64())
	srcRow := Load(Param("srcRow"), GP64())
	n := Load(Param("n"), GP64())
	last := Load(Param("last"), GP64())
	rows := Load(Param("rows"), GP64())
	mask := loadMask(e, last)
	step3 := GP64()
	LEAQ(memAt(step, step, 2), step3)
	Label(name + "_row")
	to, from, left := GP64(), GP64(), GP64()
	MOVQ(dst, to)
	MOVQ(src, from)
	MOVQ(n, left)
	SUBQ(Imm(4), left)
	JLT(LabelRef(name + "_few"))
	Label(name + "_four")
	var y [4]reg.VecVirtual
	for i := range y {
		y[i] = YMM()
		VMOVUPS(mem(from, 32*i), y[i])
	}
	for i, at := range []Mem{mem(to, 0), memAt(to, step, 1), memAt(to, step, 2), memAt(to, step3, 1)} {
		VMOVUPS(y[i], at)
	}
	ADDQ(Imm(128), from)
	LEAQ(memAt(to, step, 4), to)
	SUBQ(Imm(4), left)
	JGE(LabelRef(name + "_four"))
	Label(name + "_few")
	ADDQ(Imm(4), left)
	JEQ(LabelRef(name + "_cut"))
	Label(name + "_one")
	VMOVUPS(mem(from, 0), y[0])
	VMOVUPS(y[0], mem(to, 0))
	ADDQ(Imm(32), from)
	ADDQ(step, to)
	DECQ(left)
	JNE(LabelRef(name + "_one"))
	Label(name + "_cut")
	VMASKMOVPS(mem(from, 0), mask, y[0])
	VMOVUPS(y[0], mem(to, 0))
	ADDQ(Imm(32), dst)
	ADDQ(srcRow, src)
	DECQ(rows)
	JNE(LabelRef(name + "_row"))
	VZEROUPPER()
	RET()
}

// loadMask returns a vector that has all bits set in its first lanes; it
// overwrites the register of their count.
func loadMask(e elem, lanes reg.Register) reg.VecVirtual {
	table, m := GP64(), YMM()
	IMUL3Q(Imm(uint64(e.size)), lanes, lanes)
	NEGQ(lanes)
	LEAQ(NewDataAddr(Symbol{Name: "masks", Static: true}, 32), table)
	ADDQ(lanes, table)
	VMOVUPS(mem(table, 0), m)
	return m
}
