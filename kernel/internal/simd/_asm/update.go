package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// updatedRows is how many rows a function of [emitUpdates] changes.
const updatedRows = 4

// emitUpdates writes two functions that change 4 rows of float64, which begin stride bytes after
// each other:
//
//	updateAndSum: for r in [0, 4): row r += a[r]*x; sum += z[r]*row r
//	updateAndDot: for r in [0, 4): row r += a[r]*x; sums[r][i%8] += row r[i]*y[i]
//
// n is a positive multiple of 4 or of 8. A vector of x, sum and y is loaded once for all rows.
func emitUpdates() {
	e := elem{"F64", "float64", 8}

	declare("updateAndSum", "rows *float64, stride int, a, x, z, sum *float64, n int")
	rows, a := e.rows()
	x, z, sum := Load(Param("x"), GP64()), broadcasts("z"), Load(Param("sum"), GP64())
	n := Load(Param("n"), GP64())
	Label("updateAndSum_loop")
	from, total := YMM(), YMM()
	VMOVUPD(Mem{Base: x}, from)
	VMOVUPD(Mem{Base: sum}, total)
	for r, row := range rows {
		v := e.do("mul", a[r], from)
		VADDPD(Mem{Base: row}, v, v)
		VMOVUPD(v, Mem{Base: row})
		VMULPD(v, z[r], v)
		VADDPD(v, total, total)
	}
	VMOVUPD(total, Mem{Base: sum})
	for _, p := range append(rows, x, sum) {
		ADDQ(Imm(32), p)
	}
	SUBQ(Imm(4), n)
	JNE(LabelRef("updateAndSum_loop"))
	VZEROUPPER()
	RET()

	declare("updateAndDot", "rows *float64, stride int, a, x, y *float64, sums *[4][8]float64, n int")
	rows, a = e.rows()
	x, y := Load(Param("x"), GP64()), Load(Param("y"), GP64())
	sums := Load(Param("sums"), GP64())
	n = Load(Param("n"), GP64())
	totals := make([]reg.VecVirtual, 2*updatedRows)
	for i := range totals {
		totals[i] = YMM()
		VMOVUPD(Mem{Base: sums, Disp: 32 * i}, totals[i])
	}
	Label("updateAndDot_loop")
	for h := range 2 {
		from, with := YMM(), YMM()
		VMOVUPD(Mem{Base: x, Disp: 32 * h}, from)
		VMOVUPD(Mem{Base: y, Disp: 32 * h}, with)
		for r, row := range rows {
			v := e.do("mul", a[r], from)
			VADDPD(Mem{Base: row, Disp: 32 * h}, v, v)
			VMOVUPD(v, Mem{Base: row, Disp: 32 * h})
			VMULPD(v, with, v)
			VADDPD(v, totals[2*r+h], totals[2*r+h])
		}
	}
	for _, p := range append(rows, x, y) {
		ADDQ(Imm(64), p)
	}
	SUBQ(Imm(8), n)
	JNE(LabelRef("updateAndDot_loop"))
	for i := range totals {
		VMOVUPD(totals[i], Mem{Base: sums, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
}

// rows loads the pointers to the rows, and broadcasts the numbers of parameter a.
func (e elem) rows() (rows []reg.Register, a []reg.VecVirtual) {
	stride := Load(Param("stride"), GP64())
	for r := range updatedRows {
		p := GP64()
		if r == 0 {
			Load(Param("rows"), p)
		} else {
			LEAQ(Mem{Base: rows[r-1], Index: stride, Scale: 1}, p)
		}
		rows = append(rows, p)
	}
	return rows, broadcasts("a")
}

// broadcasts returns a vector for each of the numbers that a parameter points to.
func broadcasts(name string) []reg.VecVirtual {
	p := Load(Param(name), GP64())
	out := make([]reg.VecVirtual, updatedRows)
	for r := range out {
		out[r] = YMM()
		VBROADCASTSD(Mem{Base: p, Disp: 8 * r}, out[r])
	}
	return out
}
