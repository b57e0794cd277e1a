package main

import (
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tileGen writes one micro-kernel: rows × vecs vectors of C stay in registers
// while k runs; each step loads vecs vectors of one row of B and broadcasts one
// element of each row of A.
//
// Rows of A are reached from base registers three rows apart, as base,
// base+row, base+2·row: x86 has no address with scale 3, and one register for
// each row would be too many. If A is packed in runs one register is enough.
type tileGen struct {
	elem
	set        string
	rows, vecs int

	mask reg.OpmaskVirtual // AVX-512: the lanes of the last vector
}

// vec returns a vector register of the instruction set.
func (g *tileGen) vec() reg.VecVirtual {
	if g.set == "avx512" {
		return ZMM()
	}
	return YMM()
}

// bytes returns the size of a vector.
func (g *tileGen) bytes() int {
	if g.set == "avx512" {
		return 64
	}
	return 32
}

// emit writes the micro-kernel. The order of multiply-adds in k must stay: it decides the bits.
func (g *tileGen) emit() {
	TEXT(tileName(g.set, g.elem, g.rows, g.vecs), attr.NOSPLIT, "func(t *byte)")
	t := Load(Param("t"), GP64())
	if g.set == "avx512" {
		one, shift := GP32(), reg.RCX
		MOVQ(mem(t, tileLast), shift)
		MOVL(U32(1), one)
		SHLL(reg.CL, one)
		DECL(one)
		g.mask = K()
		KMOVW(one, g.mask)
	}

	a, b, arow, acol, brow, k := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(mem(t, tileA), a)
	MOVQ(mem(t, tileB), b)
	MOVQ(mem(t, tileBRow), brow)
	MOVQ(mem(t, tileK), k)
	acc := make([][]reg.VecVirtual, g.rows)
	for r := range acc {
		acc[r] = make([]reg.VecVirtual, g.vecs)
		for v := range acc[r] {
			acc[r][v] = g.vec()
			g.zero(acc[r][v])
		}
	}
	g.fetchC(t)
	name := tileName(g.set, g.elem, g.rows, g.vecs)
	MOVQ(mem(t, tileARow), arow)
	MOVQ(mem(t, tileACol), acol)
	if g.vecs <= 2 {
		g.runs(t, a, b, brow, k, acc)
		// The rest of k is the beginning of a run.
		Label(name + "_strided")
	}
	bases := make([]reg.GPVirtual, (g.rows+2)/3)
	for i := range bases {
		if i == 0 {
			bases[0] = a
			continue
		}
		bases[i] = GP64()
		LEAQ(memAt(bases[i-1], arow, 2), bases[i])
		ADDQ(arow, bases[i])
	}
	Label(name + "_loop")
	g.step(acc, func(v int) Mem { return mem(b, v*g.bytes()) }, func(r int) Mem { return memAt(bases[r/3], arow, r%3) }, func(r int) {
		if r%3 == 2 || r == g.rows-1 {
			ADDQ(acol, bases[r/3])
		}
	})
	ADDQ(brow, b)
	DECQ(k)
	JNE(LabelRef(name + "_loop"))
	if g.vecs <= 2 {
		Label(name + "_end")
	}
	g.store(t, acc)
	VZEROUPPER()
	RET()
}

// step writes a step of k; it calls behind after each row.
func (g *tileGen) step(acc [][]reg.VecVirtual, b, a func(int) Mem, behind func(r int)) {
	bv := make([]reg.VecVirtual, g.vecs)
	for v := range bv {
		if g.rows == 1 && v < g.vecs-1 {
			continue // read by the multiply-add itself
		}
		bv[v] = g.vec()
		if v == g.vecs-1 && g.set == "avx512" {
			g.loadMasked(b(v), bv[v])
		} else {
			g.load(b(v), bv[v])
		}
	}
	for r := range g.rows {
		av := g.vec()
		g.broadcast(a(r), av)
		for v := range g.vecs {
			if bv[v] == nil {
				g.fma(b(v), av, acc[r][v])
			} else {
				g.fma(bv[v], av, acc[r][v])
			}
		}
		behind(r)
	}
}

// runs writes the loop over whole runs of an A that is packed in runs. It has
// few instructions besides the arithmetic: on a core that is shared with
// another thread, instructions determine the time of a tile. It fetches a
// quarter of a panel ahead.
func (g *tileGen) runs(t reg.Register, a, b, brow, k reg.GPVirtual, acc [][]reg.VecVirtual) {
	name := tileName(g.set, g.elem, g.rows, g.vecs)
	packed := GP64()
	MOVQ(mem(t, tileARun), packed)
	TESTQ(packed, packed)
	JEQ(LabelRef(name + "_strided"))
	steps := 32 / g.size
	n := GP64()
	MOVQ(k, n)
	SHRQ(Imm(uint64(bits.TrailingZeros(uint(steps)))), n)
	JEQ(LabelRef(name + "_rest"))
	next, brow3 := GP64(), GP64()
	MOVQ(mem(t, tileNext), next)
	LEAQ(memAt(brow, brow, 2), brow3)
	Label(name + "_run")
	for s := range steps {
		g.step(acc, func(v int) Mem {
			at := mem(b, v*g.bytes())
			switch s % 4 {
			case 1, 2:
				at.Index, at.Scale = brow, uint8(s%4)
			case 3:
				at.Index, at.Scale = brow3, 1
			}
			return at
		}, func(r int) Mem { return mem(a, 32*r+s*g.size) }, func(int) {})
		if s%4 == 3 {
			LEAQ(memAt(b, brow, 4), b)
		}
	}
	ahead := steps * 2 * g.bytes() / 4
	for at := 0; at < ahead; at += 64 {
		PREFETCHT1(mem(next, at))
	}
	ADDQ(U32(uint32(ahead)), next)
	ADDQ(U32(uint32(32*g.rows)), a)
	DECQ(n)
	JNE(LabelRef(name + "_run"))
	Label(name + "_rest")
	ANDQ(Imm(uint64(steps-1)), k)
	JEQ(LabelRef(name + "_end"))
}

// fetchC fetches the tile's part of C into the L1 cache: writes that wait for
// memory would delay the next tile.
func (g *tileGen) fetchC(t reg.Register) {
	if g.rows < 4 {
		return
	}
	c, crow := GP64(), GP64()
	MOVQ(mem(t, tileC), c)
	MOVQ(mem(t, tileCRow), crow)
	for r := range g.rows {
		at := g.rowOf(c, crow, r)
		for v := 0; v < g.vecs*g.bytes(); v += 64 {
			PREFETCHT0(at(v / g.bytes()))
		}
	}
}

// store writes the tile to C, or adds it to C.
func (g *tileGen) store(t reg.Register, acc [][]reg.VecVirtual) {
	if g.set == "avx512" {
		g.end(t, acc, "", ends{load: g.loadMasked, store: g.storeMasked})
		return
	}
	// AVX2 has no masked arithmetic, and its masked stores are slow: whole vectors and the
	// cut one go their own ways.
	last := GP64()
	MOVQ(mem(t, tileLast), last)
	CMPQ(last, Imm(uint64(32/g.size)))
	JNE(LabelRef(tileName(g.set, g.elem, g.rows, g.vecs) + "_cut"))
	g.end(t, acc, "", ends{store: g.storeFull})
	VZEROUPPER()
	RET()
	Label(tileName(g.set, g.elem, g.rows, g.vecs) + "_cut")
	m := loadMask(g.elem, last)
	g.end(t, acc, "_cut", ends{
		load:  func(at Mem, x reg.Register) { g.maskmov(at, m, x) },
		store: func(x reg.Register, at Mem) { g.maskmov(x, m, at) },
	})
}

// ends is how the last vector of a row is read and written.
type ends struct {
	load  func(Mem, reg.Register) // nil: as the others
	store func(reg.Register, Mem)
}

// end adds the elements of C, applies the epilogue and writes the tile.
func (g *tileGen) end(t reg.Register, acc [][]reg.VecVirtual, label string, last ends) {
	c, crow, add := GP64(), GP64(), GP64()
	MOVQ(mem(t, tileC), c)
	MOVQ(mem(t, tileCRow), crow)
	MOVQ(mem(t, tileAdd), add)
	name := tileName(g.set, g.elem, g.rows, g.vecs) + label

	TESTQ(add, add)
	JEQ(LabelRef(name + "_set"))
	for r := range acc {
		at := g.rowOf(c, crow, r)
		for v, x := range acc[r] {
			if v == g.vecs-1 && last.load != nil {
				old := g.vec()
				last.load(at(v), old)
				g.add(old, x, x)
			} else {
				g.add(at(v), x, x)
			}
		}
	}
	MOVQ(mem(t, tileC), c)
	Label(name + "_set")
	if g.vecs <= 2 {
		g.finish(t, crow, acc, name+"_store", last)
	}
	for r := range acc {
		at := g.rowOf(c, crow, r)
		for v, x := range acc[r] {
			if v == g.vecs-1 {
				last.store(x, at(v))
			} else {
				g.storeFull(x, at(v))
			}
		}
	}
}

// finish applies an epilogue to the sums, if there is one, with the steps of
// emitFinish's loop in the same order.
func (g *tileGen) finish(t, crow reg.Register, acc [][]reg.VecVirtual, store string, last ends) {
	p := GP64()
	MOVQ(mem(t, tileFinish), p)
	TESTQ(p, p)
	JEQ(LabelRef(store))
	MOVQ(mem(t, tileBias), p)
	add := func(at Mem, v int, rows ...[]reg.VecVirtual) {
		x := g.vec()
		if v == g.vecs-1 && last.load != nil {
			last.load(at, x)
		} else {
			g.load(at, x)
		}
		for _, row := range rows {
			g.add(x, row[v], row[v])
		}
	}
	for v := range g.vecs {
		add(mem(p, v*g.bytes()), v, acc...)
	}
	MOVQ(mem(t, tileAddend), p)
	TESTQ(p, p)
	JEQ(LabelRef(store + "_bounds"))
	for r := range acc {
		at := g.rowOf(p, crow, r)
		for v := range g.vecs {
			add(at(v), v, acc[r])
		}
	}
	Label(store + "_bounds")
	low, high := g.vec(), g.vec()
	g.broadcast(mem(t, tileLow), low)
	g.broadcast(mem(t, tileHigh), high)
	for _, row := range acc {
		for _, x := range row {
			g.bound(x, low, high)
		}
	}
	Label(store)
}

// rowOf steps c to row r and returns the addresses of its vectors.
func (g *tileGen) rowOf(c, crow reg.Register, r int) func(v int) Mem {
	if r > 0 {
		ADDQ(crow, c)
	}
	return func(v int) Mem { return mem(c, v*g.bytes()) }
}

// zero writes the instruction that clears x. The methods below write one each, for the instruction
// set.
func (g *tileGen) zero(x reg.VecVirtual) {
	if g.set == "avx512" {
		VPXORD(x, x, x)
	} else {
		VXORPS(x, x, x)
	}
}

// f32 reports whether elements are float32; they are float64 otherwise. The methods below choose
// the instruction by it.
func (g *tileGen) f32() bool { return g.size == 4 }

func (g *tileGen) load(m Mem, x reg.Register) {
	if g.f32() {
		VMOVUPS(m, x)
	} else {
		VMOVUPD(m, x)
	}
}

func (g *tileGen) loadMasked(m Mem, x reg.Register) {
	if g.f32() {
		VMOVUPS_Z(m, g.mask, x)
	} else {
		VMOVUPD_Z(m, g.mask, x)
	}
}

func (g *tileGen) storeFull(x reg.Register, m Mem) {
	if g.f32() {
		VMOVUPS(x, m)
	} else {
		VMOVUPD(x, m)
	}
}

func (g *tileGen) storeMasked(x reg.Register, m Mem) {
	if g.f32() {
		VMOVUPS(x, g.mask, m)
	} else {
		VMOVUPD(x, g.mask, m)
	}
}

func (g *tileGen) maskmov(src Op, m reg.Register, dst Op) {
	if g.f32() {
		VMASKMOVPS(src, m, dst)
	} else {
		VMASKMOVPD(src, m, dst)
	}
}

func (g *tileGen) broadcast(m Mem, x reg.Register) {
	if g.f32() {
		VBROADCASTSS(m, x)
	} else {
		VBROADCASTSD(m, x)
	}
}

func (g *tileGen) fma(b, a, acc Op) {
	if g.f32() {
		VFMADD231PS(b, a, acc)
	} else {
		VFMADD231PD(b, a, acc)
	}
}

func (g *tileGen) add(a, b, dst Op) {
	if g.f32() {
		VADDPS(a, b, dst)
	} else {
		VADDPD(a, b, dst)
	}
}
