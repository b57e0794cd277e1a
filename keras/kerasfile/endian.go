package kerasfile

import (
	"encoding/binary"
	"slices"

	"github.com/cairnml/cairn/tensor"
)

var bigEndianHost = binary.NativeEndian.Uint16([]byte{1, 0}) != 1

// toHost converts little-endian elements to the byte order of the machine, in place. readOpaque
// calls it for element types that HDF5 has no description of. Types of one byte stay as they are.
func toHost(t *tensor.Tensor) {
	width := t.DType().Swap()
	if !bigEndianHost || width < 2 {
		return
	}
	for b := t.Bytes(); len(b) >= width; b = b[width:] {
		slices.Reverse(b[:width])
	}
}
