package kerasfile

import (
	"encoding/binary"
	"slices"

	"github.com/cairnml/cairn/tensor"
)

var bigEndianHost = binary.NativeEndian.Uint16([]byte{1, 0}) != 1

// toHost converts little-endian elements to the byte order of the machine.
func toHost(t *tensor.Tensor) {
	width := t.DType().Swap()
	if !bigEndianHost || width < 2 {
		return
	}
	for b := t.Bytes(); len(b) >= width; b = b[width:] {
		slices.Reverse(b[:width])
	}
}
