// Command _asm writes the assembly of bench and the Go declarations that go with it. Run
// it as `go generate ./bench`: it writes zz_peak_amd64.s and zz_peak_amd64.go to the directory
// above. The written files are in the repository; change them here only.
package main

import (
	"fmt"
	"os"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	os.Args = append(os.Args[:1], "-out", "../zz_peak_amd64.s", "-stubs", "../zz_peak_amd64.go", "-pkg", "main")
	ConstraintExpr("amd64,!noasm")
	loop("multiplyAddAVX2", func() reg.VecVirtual { return YMM() }, 12)
	loop("multiplyAddAVX512", func() reg.VecVirtual { return ZMM() }, 24)
	Generate()
}

// loop writes a loop over as many vectors as stay in the registers, none of which waits for
// another one's result.
func loop(name string, vector func() reg.VecVirtual, vectors int) {
	TEXT(name, attr.NOSPLIT, "func(rounds int)")
	Doc(fmt.Sprintf("%s makes a multiply-add of each element of %d vectors, at least one round of them.", name, vectors))
	rounds := Load(Param("rounds"), GP64())
	half := GP32()
	MOVL(operand.U32(0x3f000000), half) // ½: x = ½x + ½ nears 1
	factor := vector()
	MOVD(half, factor.AsX())
	VBROADCASTSS(factor.AsX(), factor)
	all := make([]reg.VecVirtual, vectors)
	for i := range all {
		all[i] = vector()
		VMOVUPS(factor, all[i])
	}
	Label(name + "_round")
	for _, x := range all {
		VFMADD213PS(factor, factor, x)
	}
	DECQ(rounds)
	JNE(operand.LabelRef(name + "_round"))
	VZEROUPPER()
	RET()
}
