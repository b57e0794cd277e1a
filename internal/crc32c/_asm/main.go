// Command _asm writes the assembly of package crc32c and the Go declaration that
// goes with it. Run it as `go generate ./internal/crc32c`: it writes
// zz_copy_amd64.s and zz_copy_amd64.go to the directory above.
package main

import (
	"os"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A block is taken as three streams that follow each other, whose checksums don't
// wait for each other: so many bytes of the first, the second and the third.
const (
	first, second, third = 320, 320, 384
	block                = first + second + third
)

func main() {
	os.Args = append(os.Args[:1], "-out", "../zz_copy_amd64.s", "-stubs", "../zz_copy_amd64.go", "-pkg", "crc32c")
	ConstraintExpr("amd64,!noasm")
	copyBlocks()
	fence()
	Generate()
}

func copyBlocks() {
	TEXT("copyBlocks", attr.NOSPLIT, "func(dst, src *byte, blocks int, crc uint32) uint32")
	Doc("copyBlocks copies blocks of 1,024 bytes, at least one, around the caches and returns their",
		"checksum as the CRC32 instruction has it: crc goes in and comes out not inverted. dst is",
		"a multiple of 16.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("blocks"), GP64())
	a, b, c := GP64(), GP64(), GP64()
	Load(Param("crc"), a.(reg.GPVirtual).As32().(reg.Register))
	far, near := XMM(), XMM()
	k := GP64()
	for _, x := range []struct {
		bytes int
		to    reg.VecVirtual
	}{{second + third, far}, {third, near}} {
		MOVQ(operand.U32(shift(x.bytes)), k)
		MOVQ(k, x.to)
	}
	Label("block")
	XORQ(b, b)
	XORQ(c, c)
	x := [3]reg.VecVirtual{XMM(), XMM(), XMM()}
	at := func(p reg.Register, off int) operand.Mem { return operand.Mem{Base: p, Disp: off} }
	quad := func(sum reg.Register, off int) { CRC32Q(at(src, off), sum) }
	for off := 0; off < first; off += 16 {
		for i, begin := range []int{0, first, first + second} {
			MOVUPS(at(src, begin+off), x[i])
		}
		for q := 0; q < 16; q += 8 {
			quad(a, off+q)
			quad(b, first+off+q)
			quad(c, first+second+off+q)
		}
		for i, begin := range []int{0, first, first + second} {
			MOVNTDQ(x[i], at(dst, begin+off))
		}
	}
	// The rest of the third.
	for off := first + second + first; off < block; off += 16 {
		MOVUPS(at(src, off), x[0])
		quad(c, off)
		quad(c, off+8)
		MOVNTDQ(x[0], at(dst, off))
	}
	Comment("The bytes behind the first and the second stream move their checksums on.")
	wide, wide2 := XMM(), XMM()
	MOVQ(a, wide)
	MOVQ(b, wide2)
	PCLMULQDQ(operand.U8(0), far, wide)
	PCLMULQDQ(operand.U8(0), near, wide2)
	PXOR(wide2, wide)
	MOVQ(wide, b)
	XORQ(a, a)
	CRC32Q(b, a)
	XORQ(c, a)
	ADDQ(operand.U32(block), src)
	ADDQ(operand.U32(block), dst)
	DECQ(n)
	JNZ(operand.LabelRef("block"))
	Store(a.(reg.GPVirtual).As32().(reg.Register), ReturnIndex(0))
	RET()
}

func fence() {
	TEXT("fence", attr.NOSPLIT, "func()")
	Doc("fence waits until the writes of copyBlocks are visible to all processors.")
	SFENCE()
	RET()
}

// shift returns the factor, for multiplication without carry, that advances a checksum by
// n bytes: x^(8n) less the 33 by which the CRC32 instruction advances a product of 64
// bits.
func shift(n int) uint32 {
	p := uint32(1) << 31 // x⁰
	for range 8*n - 33 {
		if p&1 != 0 {
			p = p>>1 ^ 0x82f63b78
		} else {
			p >>= 1
		}
	}
	return p
}
