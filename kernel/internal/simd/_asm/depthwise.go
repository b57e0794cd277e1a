package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// depthwise writes the loop of a depthwise convolution over a row of places, for
// vecs vectors of channels: the sums stay in registers while the taps run. All
// steps are in bytes.
func (e elem) depthwise(vecs int) {
	name := fmt.Sprintf("depthwise%s_%d", e.name, vecs)
	params := "dst, src, w *" + e.typ + ", rows, columns, rowStep, columnStep, wStep, places, placeStep, dstStep int"
	TEXT(name, attr.NOSPLIT, "func("+params+")")
	fmt.Fprintf(&decls, "\n//go:noescape\nfunc %s(%s)\n", name, params)
	dst, src, w := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("w"), GP64())
	columns := Load(Param("columns"), GP64())
	columnStep, wStep := Load(Param("columnStep"), GP64()), Load(Param("wStep"), GP64())
	places := Load(Param("places"), GP64())
	rows, column, row, at, tap := GP64(), GP64(), GP64(), GP64(), GP64()

	Label(name + "_place")
	acc := make([]reg.VecVirtual, vecs)
	for i := range acc {
		acc[i] = YMM()
		VXORPS(acc[i], acc[i], acc[i])
	}
	MOVQ(src, row)
	MOVQ(w, tap)
	Load(Param("rows"), rows)
	Label(name + "_row")
	MOVQ(row, at)
	MOVQ(columns, column)
	Label(name + "_tap")
	for i := range acc {
		x := YMM()
		VMOVUPS(Mem{Base: tap, Disp: 32 * i}, x)
		if e.size == 4 {
			VMULPS(Mem{Base: at, Disp: 32 * i}, x, x)
			VADDPS(x, acc[i], acc[i])
		} else {
			VMULPD(Mem{Base: at, Disp: 32 * i}, x, x)
			VADDPD(x, acc[i], acc[i])
		}
	}
	ADDQ(columnStep, at)
	ADDQ(wStep, tap)
	DECQ(column)
	JNE(LabelRef(name + "_tap"))
	step := GP64()
	Load(Param("rowStep"), step)
	ADDQ(step, row)
	DECQ(rows)
	JNE(LabelRef(name + "_row"))
	for i, x := range acc {
		VMOVUPS(x, Mem{Base: dst, Disp: 32 * i})
	}
	Load(Param("placeStep"), step)
	ADDQ(step, src)
	Load(Param("dstStep"), step)
	ADDQ(step, dst)
	DECQ(places)
	JNE(LabelRef(name + "_place"))
	VZEROUPPER()
	RET()
}
