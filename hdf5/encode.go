package hdf5

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cairnml/cairn/tensor"
)

// variableSize is the size of a heap string's reference in its dataset: 4 length, 8 address
// of the collection, 4 number of the object.
const variableSize = 4 + 8 + 4

// elementSize returns the size in bytes of an element in the file, and an error if the options
// can't store it. The length of strings of fixed size is computed from value.
func elementSize(dtype tensor.DType, o *ValueOptions, value *tensor.Tensor) (int, error) {
	switch {
	case dtype == tensor.String && o.Text <= VariableASCII:
		for _, s := range value.Strings() {
			if err := checkText(s, o.Text); err != nil {
				return 0, err
			}
		}
		return variableSize, nil
	case dtype == tensor.String:
		size := 1
		for _, s := range value.Strings() {
			if err := checkText(s, o.Text); err != nil {
				return 0, err
			}
			size = max(size, len(s))
		}
		return size, nil
	case !dtype.Fixed():
		return 0, &UnsupportedError{Feature: fmt.Sprintf("elements of %v", dtype)}
	}
	if _, err := encodeType(nil, dtype, o, dtype.Size()); err != nil {
		return 0, err
	}
	return dtype.Size(), nil
}

// checkText returns an error for a string that would be read as another one.
func checkText(s string, kind TextKind) error {
	switch {
	case strings.ContainsRune(s, 0):
		return &UnsupportedError{Feature: fmt.Sprintf("strings with NUL bytes (%.40q)", s)}
	case (kind == VariableUTF8 || kind == FixedUTF8) && !utf8.ValidString(s):
		return &UnsupportedError{Feature: fmt.Sprintf("strings marked as UTF-8 that are not (%.40q); use VariableASCII or FixedASCII for bytes", s)}
	}
	return nil
}

var le = binary.LittleEndian

// encodeType appends a datatype message.
func encodeType(b []byte, dtype tensor.DType, o *ValueOptions, size int) ([]byte, error) {
	head := func(class Class, flags uint32, size int) {
		b = append(b, 1<<4|byte(class), byte(flags), byte(flags>>8), byte(flags>>16))
		b = le.AppendUint32(b, uint32(size))
	}
	integer := func(size int, signed bool) {
		flags := uint32(0)
		if signed {
			flags = 8
		}
		head(Integer, flags, size)
		b = le.AppendUint16(b, 0)
		b = le.AppendUint16(b, uint16(8*size))
	}
	float := func(dtype tensor.DType) bool {
		for l, d := range floats {
			if d == dtype {
				head(Float, 2<<4|uint32(l.sign)<<8, l.size)
				b = le.AppendUint16(b, 0)
				b = le.AppendUint16(b, uint16(8*l.size))
				b = append(b, l.exponentAt, l.exponentBits, l.mantissaAt, l.mantissaBits)
				b = le.AppendUint32(b, l.bias)
				return true
			}
		}
		return false
	}
	utf8 := uint32(0)
	if o.Text == VariableUTF8 || o.Text == FixedUTF8 {
		utf8 = 1
	}
	switch {
	case dtype == tensor.String && o.Text <= VariableASCII:
		head(Sequence, 1|utf8<<8, variableSize)
		integer(1, false)
	case dtype == tensor.String:
		head(String, 1|utf8<<4, size)
	case o.Opaque:
		head(Opaque, 0, size)
	case dtype == tensor.Bool:
		head(Enum, 2, 1)
		integer(1, true)
		b = append(b, "FALSE\x00\x00\x00TRUE\x00\x00\x00\x00\x00\x01"...)
	case dtype == tensor.Complex64, dtype == tensor.Complex128:
		part := tensor.Float32
		if dtype == tensor.Complex128 {
			part = tensor.Float64
		}
		head(Compound, 2, dtype.Size())
		for i, name := range []string{"r", "i"} {
			b = append(b, name+"\x00\x00\x00\x00\x00\x00\x00"...)
			b = le.AppendUint32(b, uint32(i*part.Size()))
			b = append(b, make([]byte, 1+3+4+4+4*4)...) // no array
			float(part)
		}
	default:
		for k, d := range integers {
			if d == dtype {
				integer(k.size, k.signed)
				return b, nil
			}
		}
		if !float(dtype) {
			return nil, &UnsupportedError{Feature: fmt.Sprintf("elements of %v as numbers; use the option Opaque", dtype)}
		}
	}
	return b, nil
}

// encodeSpace appends a dataspace message of version 1, or of version 2 for a null one.
func encodeSpace(b []byte, shape tensor.Shape, null bool) []byte {
	if null {
		return append(b, 2, 0, 0, 2)
	}
	flags := byte(0)
	if len(shape) > 0 {
		flags = 1
	}
	b = append(b, 1, byte(len(shape)), flags, 0, 0, 0, 0, 0)
	for range 1 + int(flags) { // the sizes, and how large they may become
		for _, n := range shape {
			b = le.AppendUint64(b, uint64(n))
		}
	}
	return b
}

// pad appends zeros up to a multiple of 8.
func pad(b []byte) []byte {
	return append(b, make([]byte, -len(b)&7)...)
}
