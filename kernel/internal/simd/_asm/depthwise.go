package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets of the fields of type strip; all are words. A test of the package
// holds the two together.
const (
	stripDst = 8 * iota
	stripSrc
	stripW
	stripRows
	stripColumns
	stripRowStep
	stripColumnStep
	stripWRowStep
	stripWStep
	stripPlaces
	stripPlaceStep
	stripDstStep
	stripBlocks
	stripLast
	stripFinish
	stripBias
	stripLow
	stripHigh
)

// together is how many places are computed at a time: a tap's weights are loaded
// once for all of them, and their sums don't wait for each other.
const together = 4

// emitDepthwise writes the loops of depthwise convolutions.
func emitDepthwise() {
	for _, e := range []elem{{"F32", "float32", 4}, {"F64", "float64", 8}} {
		for _, set := range []string{"AVX512", "AVX2"} {
			for _, vecs := range []int{2, 1} {
				d := &depthwise{elem: e, wide: set == "AVX512", vecs: vecs}
				d.masked = d.wide && vecs == 1
				d.emit(fmt.Sprintf("depthwise%s%s_%d", e.name, set, vecs))
			}
		}
	}
}

// depthwise writes one loop: over blocks of vecs vectors of channels, over
// places, over taps. For AVX-512, the loop of one vector masks the lanes after
// the strip's last.
type depthwise struct {
	elem
	wide, masked bool
	vecs         int
	mask         reg.OpmaskVirtual
	t            reg.Register
}

func (d *depthwise) vec() reg.VecVirtual {
	if d.wide {
		return ZMM()
	}
	return YMM()
}

func (d *depthwise) bytes() int {
	if d.wide {
		return 64
	}
	return 32
}

// field addresses a field of the strip.
func (d *depthwise) field(offset int) Mem { return Mem{Base: d.t, Disp: offset} }

// The order of a sum must stay: rows of taps, then columns, each product and
// sum rounded.
func (d *depthwise) emit(name string) {
	TEXT(name, attr.NOSPLIT, "func(t *byte)")
	fmt.Fprintf(&decls, "\n//go:noescape\nfunc %s(t *strip)\n", name)
	d.t = Load(Param("t"), GP64())
	if d.masked {
		one, shift := GP32(), reg.RCX
		MOVQ(d.field(stripLast), shift)
		MOVL(U32(1), one)
		SHLL(reg.CL, one)
		DECL(one)
		d.mask = K()
		KMOVW(one, d.mask)
	}
	dst, src, places, step, step3 := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(d.field(stripPlaceStep), step)
	LEAQ(Mem{Base: step, Index: step, Scale: 2}, step3)

	Label(name + "_block")
	MOVQ(d.field(stripDst), dst)
	MOVQ(d.field(stripSrc), src)
	MOVQ(d.field(stripPlaces), places)
	CMPQ(places, Imm(together))
	JLT(LabelRef(name + "_singles"))
	Label(name + "_places")
	d.sums(name+"_many", together, dst, src, step, step3)
	LEAQ(Mem{Base: src, Index: step, Scale: together}, src)
	SUBQ(Imm(together), places)
	CMPQ(places, Imm(together))
	JGE(LabelRef(name + "_places"))
	Label(name + "_singles")
	TESTQ(places, places)
	JEQ(LabelRef(name + "_done"))
	Label(name + "_single")
	d.sums(name+"_one", 1, dst, src, step, step3)
	ADDQ(step, src)
	DECQ(places)
	JNE(LabelRef(name + "_single"))
	Label(name + "_done")
	for _, p := range []int{stripDst, stripSrc, stripW, stripBias} {
		ADDQ(U32(uint32(d.vecs*d.bytes())), d.field(p))
	}
	DECQ(d.field(stripBlocks))
	JNE(LabelRef(name + "_block"))
	VZEROUPPER()
	RET()
}

// sums computes n places and moves dst past them.
func (d *depthwise) sums(name string, n int, dst, src, step, step3 reg.Register) {
	acc := make([][]reg.VecVirtual, n)
	for p := range acc {
		for range d.vecs {
			x := d.vec()
			if d.wide {
				VPXORD(x, x, x)
			} else {
				VXORPS(x, x, x)
			}
			acc[p] = append(acc[p], x)
		}
	}
	rows, columns, row, at, tap, weights := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(src, row)
	MOVQ(d.field(stripW), weights)
	MOVQ(d.field(stripRows), rows)
	Label(name + "_row")
	MOVQ(row, at)
	MOVQ(weights, tap)
	MOVQ(d.field(stripColumns), columns)
	Label(name + "_tap")
	for v := range d.vecs {
		w := d.vec()
		d.load(Mem{Base: tap, Disp: v * d.bytes()}, w)
		for p := range acc {
			m := Mem{Base: at, Disp: v * d.bytes()}
			switch p {
			case 1:
				m.Index, m.Scale = step, 1
			case 2:
				m.Index, m.Scale = step, 2
			case 3:
				m.Index, m.Scale = step3, 1
			}
			d.multiplyAdd(m, w, acc[p][v])
		}
	}
	ADDQ(d.field(stripColumnStep), at)
	ADDQ(d.field(stripWStep), tap)
	DECQ(columns)
	JNE(LabelRef(name + "_tap"))
	ADDQ(d.field(stripRowStep), row)
	ADDQ(d.field(stripWRowStep), weights)
	DECQ(rows)
	JNE(LabelRef(name + "_row"))
	d.finish(acc, name+"_store")
	for p := range acc {
		for v, x := range acc[p] {
			m := Mem{Base: dst, Disp: v * d.bytes()}
			switch {
			case d.masked && d.size == 4:
				VMOVUPS(x, d.mask, m)
			case d.masked:
				VMOVUPD(x, d.mask, m)
			default:
				VMOVUPS(x, m)
			}
		}
		ADDQ(d.field(stripDstStep), dst)
	}
}

// finish adds the bias to the sums and bounds them, if the strip has an ending.
// NaN stays NaN, because the instructions return their second operand then.
func (d *depthwise) finish(acc [][]reg.VecVirtual, store string) {
	p := GP64()
	MOVQ(d.field(stripFinish), p)
	TESTQ(p, p)
	JEQ(LabelRef(store))
	MOVQ(d.field(stripBias), p)
	low, high := d.vec(), d.vec()
	if d.size == 4 {
		VBROADCASTSS(d.field(stripLow), low)
		VBROADCASTSS(d.field(stripHigh), high)
	} else {
		VBROADCASTSD(d.field(stripLow), low)
		VBROADCASTSD(d.field(stripHigh), high)
	}
	for v := range d.vecs {
		bias := d.vec()
		d.load(Mem{Base: p, Disp: v * d.bytes()}, bias)
		for _, sums := range acc {
			x := sums[v]
			if d.size == 4 {
				VADDPS(bias, x, x)
				VMAXPS(x, low, x)
				VMINPS(x, high, x)
			} else {
				VADDPD(bias, x, x)
				VMAXPD(x, low, x)
				VMINPD(x, high, x)
			}
		}
	}
	Label(store)
}

func (d *depthwise) load(m Mem, x reg.VecVirtual) {
	switch {
	case d.masked && d.size == 4:
		VMOVUPS_Z(m, d.mask, x)
	case d.masked:
		VMOVUPD_Z(m, d.mask, x)
	default:
		VMOVUPS(m, x)
	}
}

// multiplyAdd adds the product of m and w to acc, each rounded.
func (d *depthwise) multiplyAdd(m Mem, w, acc reg.VecVirtual) {
	x := d.vec()
	switch {
	case d.masked && d.size == 4:
		VMULPS_Z(m, w, d.mask, x)
	case d.masked:
		VMULPD_Z(m, w, d.mask, x)
	case d.size == 4:
		VMULPS(m, w, x)
	default:
		VMULPD(m, w, x)
	}
	if d.size == 4 {
		VADDPS(x, acc, acc)
	} else {
		VADDPD(x, acc, acc)
	}
}
