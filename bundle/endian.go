package bundle

import (
	"encoding/binary"

	"github.com/cairnml/cairn/tensor"
)

// hostBig reports whether this machine is big-endian.
var hostBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// swapBytes reverses every width bytes of b. width is that of a number, 1, 2, 4 or 8: a complex
// element is two numbers. Width 1 has nothing to reverse.
func swapBytes(b []byte, width int) {
	switch width {
	case 2:
		for ; len(b) >= 2; b = b[2:] {
			b[0], b[1] = b[1], b[0]
		}
	case 4:
		for ; len(b) >= 4; b = b[4:] {
			binary.LittleEndian.PutUint32(b, binary.BigEndian.Uint32(b))
		}
	case 8:
		for ; len(b) >= 8; b = b[8:] {
			binary.LittleEndian.PutUint64(b, binary.BigEndian.Uint64(b))
		}
	}
}

// appendUint32 appends v in a file's byte order.
func appendUint32(b []byte, v uint32, big bool) []byte {
	if big {
		return binary.BigEndian.AppendUint32(b, v)
	}
	return binary.LittleEndian.AppendUint32(b, v)
}

func appendUint64(b []byte, v uint64, big bool) []byte {
	if big {
		return binary.BigEndian.AppendUint64(b, v)
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

func uint32At(b []byte, big bool) uint32 {
	if big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// narrowMask has the bits that an element of a type narrower than a byte uses;
// 0 for all other types. Such an element takes a byte in a data file, and the
// Reader clears its other bits.
func narrowMask(d tensor.DType) byte {
	switch d {
	case tensor.Int4, tensor.Uint4, tensor.Float4E2M1FN:
		return 0x0f
	case tensor.Int2, tensor.Uint2:
		return 0x03
	}
	return 0
}
