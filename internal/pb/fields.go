package pb

import "google.golang.org/protobuf/encoding/protowire"

// Fields steps through the fields of an encoded message, for readers that would decode
// much more with the message's type than they keep. The value of a field with a length
// is in Bytes, a varint in Varint; fields of other types are skipped. A field that
// can't be decoded ends the iteration and sets Bad.
type Fields struct {
	// Rest is the message after the field, at first the whole message.
	Rest []byte
	// Number is the field's.
	Number protowire.Number
	// Varint is the value of a varint field.
	Varint uint64
	// Bytes is the value of a field that has a length; nil for a number.
	Bytes []byte
	// Passed reports whether fields of other types were skipped.
	Passed bool
	// Bad reports whether the message can't be decoded.
	Bad bool
}

// Next steps to the next field, and reports whether there is one.
func (f *Fields) Next() bool {
	// A field with a length, mostly a short one.
	if b := f.Rest; len(b) >= 2 && b[0]&0x87 == byte(protowire.BytesType) && b[0] >= 1<<3 && b[1] < 0x80 {
		if n := 2 + int(b[1]); n <= len(b) {
			f.Number, f.Bytes, f.Rest = protowire.Number(b[0]>>3), b[2:n], b[n:]
			return true
		}
	}
	return f.any()
}

// any steps to the next field, of any type and length.
func (f *Fields) any() bool {
	for len(f.Rest) > 0 {
		number, typ, n := tagOf(f.Rest)
		if n < 0 {
			f.Bad = true
			return false
		}
		b := f.Rest[n:]
		switch typ {
		case protowire.VarintType:
			f.Varint, n = varintOf(b)
			f.Bytes = nil
		case protowire.BytesType:
			var size uint64
			size, n = varintOf(b)
			if n < 0 || size > uint64(len(b)-n) {
				f.Bad = true
				return false
			}
			f.Bytes, n = b[n:n+int(size)], n+int(size)
		default:
			if n = protowire.ConsumeFieldValue(number, typ, b); n >= 0 {
				f.Rest, f.Passed = b[n:], true
				continue
			}
		}
		if n < 0 {
			f.Bad = true
			return false
		}
		f.Number, f.Rest = number, b[n:]
		return true
	}
	return false
}

// Text returns the field's bytes as a string that shares their memory.
func (f *Fields) Text() string { return view(f.Bytes) }

// tagOf does the work of protowire.ConsumeTag with a fast path for a tag of one byte.
func tagOf(b []byte) (protowire.Number, protowire.Type, int) {
	if t := b[0]; t < 0x80 && t >= 1<<3 && t&7 <= 5 {
		return protowire.Number(t >> 3), protowire.Type(t & 7), 1
	}
	return protowire.ConsumeTag(b)
}

// varintOf does the work of protowire.ConsumeVarint, which isn't inlined, with a fast path
// for a number of one byte.
func varintOf(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return protowire.ConsumeVarint(b)
}
