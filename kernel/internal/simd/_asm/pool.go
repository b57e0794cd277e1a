package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets of the fields of type pooled; all are words. A test of the package holds
// the two together.
const (
	pooledX = 8 * iota
	pooledOut
	pooledGrad
	pooledTaps
	pooledCount
	pooledPlaces
	pooledStep
	pooledRow
	pooledBytes
)

// equalOrUnordered is the predicate a == b, true for NaN, that raises no exception.
const equalOrUnordered = 0x08

// emitPools writes the loops of pooling.
func emitPools() {
	for _, e := range []elem{{"F32", "float32", 4}, {"F64", "float64", 8}} {
		e.pool("maxPool", false)
		e.pool("maxPoolGrad", true)
	}
}

// pool writes the loop over places, over vectors of channels, over taps. With
// gradient it goes over the taps again, and adds to the first that is the largest.
func (e elem) pool(name string, gradient bool) {
	name += e.name
	TEXT(name, attr.NOSPLIT, "func(t *byte)")
	fmt.Fprintf(&decls, "\n//go:noescape\nfunc %s(t *pooled)\n", name)
	t := Load(Param("t"), GP64())
	field := func(offset int) Mem { return Mem{Base: t, Disp: offset} }
	x, out, row, places := GP64(), GP64(), GP64(), GP64()
	MOVQ(field(pooledX), x)
	MOVQ(field(pooledOut), out)
	MOVQ(field(pooledPlaces), places)
	if gradient {
		MOVQ(field(pooledGrad), row)
	} else {
		MOVQ(out, row)
	}
	at, c, tap, n, off, target := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()

	Label(name + "_place")
	XORQ(c, c)
	Label(name + "_vector")
	LEAQ(Mem{Base: x, Index: c, Scale: 1}, at)
	// The largest: a later element replaces it only if it is larger.
	start := func() {
		MOVQ(field(pooledTaps), tap)
		MOVQ(field(pooledCount), n)
		MOVQ(Mem{Base: tap}, off)
	}
	start()
	best := YMM()
	VMOVUPS(Mem{Base: at, Index: off, Scale: 1}, best)
	DECQ(n)
	JEQ(LabelRef(name + "_found"))
	Label(name + "_tap")
	ADDQ(Imm(8), tap)
	MOVQ(Mem{Base: tap}, off)
	v := YMM()
	VMOVUPS(Mem{Base: at, Index: off, Scale: 1}, v)
	if e.size == 4 {
		VMAXPS(best, v, best)
	} else {
		VMAXPD(best, v, best)
	}
	DECQ(n)
	JNE(LabelRef(name + "_tap"))
	Label(name + "_found")
	if !gradient {
		VMOVUPS(best, Mem{Base: row, Index: c, Scale: 1})
	} else {
		grad := YMM()
		VMOVUPS(Mem{Base: row, Index: c, Scale: 1}, grad)
		LEAQ(Mem{Base: out, Index: c, Scale: 1}, target)
		add := func(here reg.VecVirtual) {
			d := e.do("and", grad, here)
			VMOVUPS(e.do("add", d, e.load(target, off)), Mem{Base: target, Index: off, Scale: 1})
		}
		start()
		// If the first tap is NaN it stays the largest.
		done := e.compare(equalOrUnordered, e.load(at, off), best)
		add(done)
		DECQ(n)
		JEQ(LabelRef(name + "_done"))
		Label(name + "_next")
		ADDQ(Imm(8), tap)
		MOVQ(Mem{Base: tap}, off)
		here := e.compare(equal, e.load(at, off), best)
		add(e.andNot(done, here))
		if e.size == 4 {
			VORPS(here, done, done)
		} else {
			VORPD(here, done, done)
		}
		DECQ(n)
		JNE(LabelRef(name + "_next"))
		Label(name + "_done")
	}
	ADDQ(Imm(32), c)
	CMPQ(c, field(pooledBytes))
	JNE(LabelRef(name + "_vector"))
	ADDQ(field(pooledStep), x)
	if gradient {
		ADDQ(field(pooledStep), out)
	}
	ADDQ(field(pooledRow), row)
	DECQ(places)
	JNE(LabelRef(name + "_place"))
	VZEROUPPER()
	RET()
}

// load reads a vector.
func (e elem) load(base, index reg.Register) reg.VecVirtual {
	y := YMM()
	VMOVUPS(Mem{Base: base, Index: index, Scale: 1}, y)
	return y
}
