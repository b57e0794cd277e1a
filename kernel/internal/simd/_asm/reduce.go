package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The predicates of comparisons that see NaN.
const (
	unordered = 0x03
	same      = 0x00
)

// blend emits yes for elements whose mask is set, else no.
func (e elem) blend(mask, yes, no reg.VecVirtual) reg.VecVirtual {
	y := YMM()
	if e.size == 4 {
		VBLENDVPS(mask, yes, no, y)
	} else {
		VBLENDVPD(mask, yes, no, y)
	}
	return y
}

// signs emits a vector of sign bits.
func (e elem) signs() reg.VecVirtual {
	y := YMM()
	VPCMPEQD(y, y, y)
	if e.size == 4 {
		VPSLLD(Imm(31), y, y)
	} else {
		VPSLLQ(Imm(63), y, y)
	}
	return y
}

// extremum emits Go's max or min of a and b: NaN if one of them is, and zeros
// ordered by their signs.
func (e elem) extremum(op string, a, b reg.VecVirtual) reg.VecVirtual {
	y := e.do(op, a, b) // b if one is NaN or both are zeros
	tie := map[string]string{"max": "and", "min": "or"}[op]
	y = e.blend(e.compare(same, a, b), e.do(tie, a, b), y)
	return e.blend(e.compare(unordered, a, a), a, y)
}

// fold writes a function that folds every eighth element of a into one of eight
// sums, given a positive multiple of 8 of elements.
func (e elem) fold(name string, f folding) {
	name += e.name
	declare(name, "sums *[8]"+e.typ+", a *"+e.typ+", n int")
	sums, a, n := Load(Param("sums"), GP64()), Load(Param("a"), GP64()), Load(Param("n"), GP64())
	total := make([]reg.VecVirtual, e.size/4)
	for i := range total {
		total[i] = YMM()
		VMOVUPS(Mem{Base: sums, Disp: 32 * i}, total[i])
		f.begin(i)
	}
	Label(name + "_loop")
	for i := range total {
		x := YMM()
		VMOVUPS(Mem{Base: a, Disp: 32 * i}, x)
		f.step(i, total[i], x)
	}
	ADDQ(Imm(uint64(32*len(total))), a)
	SUBQ(Imm(8), n)
	JNE(LabelRef(name + "_loop"))
	for i := range total {
		f.end(i, total[i])
		VMOVUPS(total[i], Mem{Base: sums, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
}

// folding has the operations on register i of the totals: before the loop, on a
// vector of the slice, and after the loop.
type folding struct {
	begin func(i int)
	step  func(i int, total, x reg.VecVirtual)
	end   func(i int, total reg.VecVirtual)
}

// sum writes the folding that adds.
func (e elem) sum() {
	e.fold("sum", folding{
		begin: func(int) {},
		step: func(_ int, total, x reg.VecVirtual) {
			if e.size == 4 {
				VADDPS(x, total, total)
			} else {
				VADDPD(x, total, total)
			}
		},
		end: func(int, reg.VecVirtual) {},
	})
}

// extremumOf writes the largest or smallest of every eighth element, NaN if one
// of them is. Of two zeros it returns either.
func (e elem) extremumOf(op string) {
	nan := make([]reg.VecVirtual, e.size/4)
	take := map[string]func(...Op){"max4": VMAXPS, "max8": VMAXPD, "min4": VMINPS, "min8": VMINPD}[fmt.Sprint(op, e.size)]
	e.fold(op+"imumOf", folding{
		begin: func(i int) { nan[i] = YMM(); VXORPS(nan[i], nan[i], nan[i]) },
		step: func(i int, total, x reg.VecVirtual) {
			take(total, x, total) // total if x is NaN
			VORPS(e.compare(unordered, x, x), nan[i], nan[i])
		},
		end: func(i int, total reg.VecVirtual) { VORPS(nan[i], total, total) },
	})
}
