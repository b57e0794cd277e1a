package hdf5

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/cairnml/cairn/tensor"
)

// decode returns the tensor that the bytes of elements become.
func (f *File) decode(m *meter, b []byte, addr uint64, typ *Type, s *space) (*tensor.Tensor, error) {
	switch {
	case s.null:
		return nil, &UnsupportedError{Feature: "a value without elements and shape as a tensor"}
	case typ.DType == tensor.Invalid:
		return nil, &UnsupportedError{Feature: typ.String() + " as a tensor"}
	case typ.DType == tensor.String:
		list, err := f.texts(m, b, addr, typ, s)
		if err != nil {
			return nil, err
		}
		return tensor.New(list, s.shape...)
	}
	if err := m.take(uint64(len(b)), "the elements"); err != nil {
		return nil, err
	}
	t, err := tensor.Zeros(typ.DType, s.shape...)
	if err != nil {
		return nil, err
	}
	copy(t.Bytes(), b)
	return t, toHost(t.Bytes(), typ)
}

// stringSize is the memory of a string besides its bytes.
const stringSize = 16

// texts returns the strings of elements.
func (f *File) texts(m *meter, b []byte, addr uint64, typ *Type, s *space) ([]string, error) {
	n, err := s.shape.NumElements()
	if err != nil {
		return nil, err
	}
	if err := m.take(uint64(n)*stringSize+uint64(len(b)), "the strings"); err != nil {
		return nil, err
	}
	list := make([]string, n)
	if typ.variable() {
		c := f.cursor(b, addr)
		heap := f.globalHeap(m)
		for i := range list {
			if list[i], err = heap.text(c); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	for i := range list {
		text := b[i*typ.Size : (i+1)*typ.Size]
		if typ.space {
			text = bytes.TrimRight(text, " ")
		} else if end := bytes.IndexByte(text, 0); end >= 0 && typ.terminated {
			text = text[:end]
		} else {
			text = bytes.TrimRight(text, "\x00")
		}
		list[i] = string(text)
	}
	return list, nil
}

var bigEndianHost = binary.NativeEndian.Uint16([]byte{1, 0}) != 1

// toHost converts elements to the byte order of the machine, and checks
// booleans.
func toHost(b []byte, typ *Type) error {
	if typ.DType == tensor.Bool {
		for _, v := range b {
			if v > 1 {
				return &CorruptError{What: "a boolean that is neither 0 nor 1"}
			}
		}
	}
	if width := typ.width(); typ.swapped != bigEndianHost && width > 1 {
		swapBytes(b, width)
	}
	return nil
}

// swapBytes reverses each run of width bytes.
func swapBytes(b []byte, width int) {
	if width < 2 {
		return
	}
	for ; len(b) >= width; b = b[width:] {
		slices.Reverse(b[:width])
	}
}
