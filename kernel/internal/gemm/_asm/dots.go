package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dotsName returns the function's name; package gemm calls it by way of
// tile.dots.
func dotsName(set string, e elem) string { return fmt.Sprintf("dots%s%s", e.name, setName(set)) }

// emitDots writes the micro-kernel of one row of A and two vectors of columns
// of a transposed B: blocks of B are transposed in registers and used once, in
// the order of k, as the tiles do. The tile's bRow is here the distance between
// the columns of B; k is at least a block, 16 bytes. The rest of k is the end
// of one more block that ends at k.
//
// A vector is loaded in lanes of 128 bits. Lane l of load r holds steps of
// column stride·l + r; stride is 16 bytes' worth of columns.
func (g *tileGen) emitDots() {
	name := dotsName(g.set, g.elem)
	TEXT(name, attr.NOSPLIT, "func(t *byte)")
	t := Load(Param("t"), GP64())
	block := 16 / g.size    // steps of k in a block
	lanes := g.bytes() / 16 // of 128 bits
	groups := make([]reg.GPVirtual, 2*lanes)

	a, acol, col, k := GP64(), GP64(), GP64(), GP64()
	MOVQ(mem(t, tileA), a)
	MOVQ(mem(t, tileACol), acol)
	MOVQ(mem(t, tileBRow), col)
	MOVQ(mem(t, tileK), k)
	col3 := GP64()
	LEAQ(memAt(col, col, 2), col3)
	for i := range groups {
		groups[i] = GP64()
		if i == 0 {
			MOVQ(mem(t, tileB), groups[0])
			continue
		}
		LEAQ(memAt(groups[i-1], col, block), groups[i])
	}
	var acc [2]reg.VecVirtual
	for i := range acc {
		acc[i] = g.vec()
		g.zero(acc[i])
	}

	Label(name + "_loop")
	steps := g.transposed(groups, col, col3)
	for s := range block {
		av := g.vec()
		g.broadcast(mem(a, 0), av)
		ADDQ(acol, a)
		for i := range acc {
			g.fma(steps[i][s], av, acc[i])
		}
	}
	for _, p := range groups {
		ADDQ(Imm(16), p)
	}
	SUBQ(Imm(uint64(block)), k)
	CMPQ(k, Imm(uint64(block)))
	JGE(LabelRef(name + "_loop"))
	TESTQ(k, k)
	JEQ(LabelRef(name + "_end"))

	// Step back so that the block ends at k; its first steps are done.
	back := GP64()
	MOVQ(k, back)
	SUBQ(Imm(uint64(block)), back)
	if g.f32() {
		SHLQ(Imm(2), back)
	} else {
		SHLQ(Imm(3), back)
	}
	for _, p := range groups {
		ADDQ(back, p)
	}
	steps = g.transposed(groups, col, col3)
	for s := 1; s < block; s++ {
		skip := fmt.Sprintf("%s_skip%d", name, s)
		CMPQ(k, Imm(uint64(block-s)))
		JLT(LabelRef(skip))
		av := g.vec()
		g.broadcast(mem(a, 0), av)
		ADDQ(acol, a)
		for i := range acc {
			g.fma(steps[i][s], av, acc[i])
		}
		Label(skip)
	}

	Label(name + "_end")
	c, add := GP64(), GP64()
	MOVQ(mem(t, tileC), c)
	MOVQ(mem(t, tileAdd), add)
	TESTQ(add, add)
	JEQ(LabelRef(name + "_set"))
	for i, x := range acc {
		g.add(mem(c, i*g.bytes()), x, x)
	}
	Label(name + "_set")
	for i, x := range acc {
		g.storeFull(x, mem(c, i*g.bytes()))
	}
	VZEROUPPER()
	RET()
}

// transposed loads a block of each half of the columns and returns, for each
// half, one vector of columns for each step of k.
func (g *tileGen) transposed(groups []reg.GPVirtual, col, col3 reg.Register) (steps [2][]reg.VecVirtual) {
	block, lanes := 16/g.size, g.bytes()/16
	for half := range steps {
		rows := make([]reg.VecVirtual, block)
		for r := range rows {
			at := func(lane int) Mem {
				base := groups[half*lanes+lane]
				if r == 3 {
					return memAt(base, col3, 1)
				}
				return memAt(base, col, r)
			}
			x := XMM()
			VMOVUPS(at(0), x)
			var y reg.VecVirtual = x
			for l := 1; l < lanes; l++ {
				next := g.vec()
				if g.set == "avx512" {
					VINSERTF32X4(Imm(uint64(l)), at(l), y.AsZ(), next)
				} else {
					VINSERTF128(Imm(1), at(l), y.AsY(), next)
				}
				y = next
			}
			rows[r] = y
		}
		unpack := func(low bool, a, b reg.VecVirtual, double bool) reg.VecVirtual {
			out := g.vec()
			switch {
			case double && low:
				VUNPCKLPD(b, a, out)
			case double:
				VUNPCKHPD(b, a, out)
			case low:
				VUNPCKLPS(b, a, out)
			default:
				VUNPCKHPS(b, a, out)
			}
			return out
		}
		if block == 2 {
			steps[half] = []reg.VecVirtual{unpack(true, rows[0], rows[1], true), unpack(false, rows[0], rows[1], true)}
			continue
		}
		for _, low := range []bool{true, false} {
			p, q := unpack(low, rows[0], rows[1], false), unpack(low, rows[2], rows[3], false)
			steps[half] = append(steps[half], unpack(true, p, q, true), unpack(false, p, q, true))
		}
	}
	return steps
}
