package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// emitFetch writes fetchLines: a hint for each line of a block, to be read into the
// caches while something else is computed.
func emitFetch() {
	TEXT("fetchLines", attr.NOSPLIT, "func(p *byte, row uintptr, rows int, bytes int)")
	p := Load(Param("p"), GP64())
	row := Load(Param("row"), GP64())
	rows := Load(Param("rows"), GP64())
	bytes := Load(Param("bytes"), GP64())
	at, end := GP64(), GP64()
	Label("fetchLines_row")
	MOVQ(p, at)
	LEAQ(Mem{Base: p, Index: bytes, Scale: 1, Disp: -1}, end)
	Label("fetchLines_line")
	PREFETCHT0(mem(at, 0))
	ADDQ(Imm(64), at)
	CMPQ(at, end)
	JLT(LabelRef("fetchLines_line"))
	PREFETCHT0(mem(end, 0))
	ADDQ(row, p)
	DECQ(rows)
	JNE(LabelRef("fetchLines_row"))
	RET()
}
