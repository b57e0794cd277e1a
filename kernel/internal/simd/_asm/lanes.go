package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes computes with vectors of float64 converted from float32: four of AVX2,
// or eight of AVX-512. Both emit the same operations in the same order, and
// none that fuses, so that their results are those of plain Go.
type lanes struct{ wide bool }

// name returns the suffix of the names of these lanes' functions.
func (l lanes) name() string {
	if l.wide {
		return "AVX512"
	}
	return "AVX2"
}

// count returns how many elements a vector holds.
func (l lanes) count() int {
	if l.wide {
		return 8
	}
	return 4
}

func (l lanes) reg() reg.VecVirtual {
	if l.wide {
		return ZMM()
	}
	return YMM()
}

// constants are the bits of numbers in memory, each four times, in the order in
// which they were first asked for.
var (
	constants []uint64
	place     = map[uint64]int{}
	table     Mem
)

// at addresses a constant. It adds it to the table at the first use.
func at(bits uint64) Mem {
	i, ok := place[bits]
	if !ok {
		i = len(constants)
		place[bits] = i
		constants = append(constants, bits)
		for k := range 4 {
			DATA((4*i+k)*8, U64(bits))
		}
	}
	return table.Offset(32 * i)
}

// number is an operand that is one float64 in all lanes.
type number float64

// bits is an operand that is one uint64 in all lanes.
type bits uint64

// constant returns a register that holds x in all lanes.
func (l lanes) constant(x number) reg.VecVirtual {
	y := l.reg()
	VBROADCASTSD(at(math.Float64bits(float64(x))), y)
	return y
}

type instruction struct{ plain, broadcast func(...Op) }

var instructions = map[string]instruction{
	"add": {VADDPD, VADDPD_BCST}, "sub": {VSUBPD, VSUBPD_BCST}, "mul": {VMULPD, VMULPD_BCST}, "div": {VDIVPD, VDIVPD_BCST},
	"min": {VMINPD, VMINPD_BCST}, "max": {VMAXPD, VMAXPD_BCST}, // b if one is NaN
	"addInt": {VPADDQ, VPADDQ_BCST}, "subInt": {VPSUBQ, VPSUBQ_BCST},
	"and": {VANDPD, nil}, "or": {VORPD, nil}, // of AVX2; AVX-512F has them for integers only
	"andInt": {VPANDQ, VPANDQ_BCST}, "orInt": {VPORQ, VPORQ_BCST},
}

// do emits a op b; b is a register, a number or bits.
func (l lanes) do(op string, a reg.VecVirtual, b any) reg.VecVirtual {
	if l.wide && (op == "and" || op == "or") {
		op += "Int"
	}
	in, y := instructions[op], l.reg()
	var word uint64
	switch b := b.(type) {
	case reg.VecVirtual:
		in.plain(b, a, y)
		return y
	case number:
		word = math.Float64bits(float64(b))
	case bits:
		word = uint64(b)
	}
	if l.wide {
		in.broadcast(at(word), a, y)
	} else {
		in.plain(at(word), a, y)
	}
	return y
}

// shift emits a << n, or >> -n.
func (l lanes) shift(a reg.VecVirtual, n int) reg.VecVirtual {
	y := l.reg()
	if n < 0 {
		VPSRLQ(Imm(uint64(-n)), a, y)
	} else {
		VPSLLQ(Imm(uint64(n)), a, y)
	}
	return y
}

// The predicates of comparisons that raise no exception.
const (
	equal    = 0x00
	lessThan = 0x11
	lessOrEq = 0x12
)

// choose emits yes for elements with a predicate b, else no.
func (l lanes) choose(predicate uint64, a reg.VecVirtual, b number, yes, no reg.VecVirtual) reg.VecVirtual {
	y := l.reg()
	c := at(math.Float64bits(float64(b)))
	if l.wide {
		k := K()
		VCMPPD_BCST(Imm(predicate), c, a, k)
		VBLENDMPD(yes, no, k, y)
		return y
	}
	m := YMM()
	VCMPPD(Imm(predicate), c, a, m)
	VBLENDVPD(m, yes, no, y)
	return y
}

// load widens a vector of float32.
func (l lanes) load(m Mem) reg.VecVirtual {
	y := l.reg()
	VCVTPS2PD(m, y)
	return y
}

// store rounds a vector to float32.
func (l lanes) store(x reg.VecVirtual, m Mem) {
	if l.wide {
		y := YMM()
		VCVTPD2PS(x, y)
		VMOVUPS(y, m)
		return
	}
	y := XMM()
	VCVTPD2PSY(x, y)
	VMOVUPS(y, m)
}

// storeTimes rounds a vector to float32 and stores its product with the one at a.
func (l lanes) storeTimes(x reg.VecVirtual, a, m Mem) {
	if l.wide {
		y := YMM()
		VCVTPD2PS(x, y)
		VMULPS(a, y, y)
		VMOVUPS(y, m)
		return
	}
	y := XMM()
	VCVTPD2PSY(x, y)
	VMULPS(a, y, y)
	VMOVUPS(y, m)
}

// polynomial emits c[0] + c[1]·x + c[2]·x² …, as even(x²) + odd(x²)·x: processors
// run the two sums side by side.
func (l lanes) polynomial(x reg.VecVirtual, c []float64) reg.VecVirtual {
	square := l.do("mul", x, x)
	even, odd := l.horner(square, everyOther(c)), l.horner(square, everyOther(c[1:]))
	return l.do("add", l.do("mul", odd, x), even)
}

// horner emits c[0] + c[1]·x + c[2]·x² …, from the last one on.
func (l lanes) horner(x reg.VecVirtual, c []float64) reg.VecVirtual {
	y := l.constant(number(c[len(c)-1]))
	for i := len(c) - 2; i >= 0; i-- {
		y = l.do("add", l.do("mul", y, x), number(c[i]))
	}
	return y
}

// everyOther returns c[0], c[2] …
func everyOther(c []float64) (out []float64) {
	for i := 0; i < len(c); i += 2 {
		out = append(out, c[i])
	}
	return out
}
