package checkpoint

import (
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of a node's fields (TrackableObject).
const (
	fieldChild = iota + 1
	fieldAttribute
	fieldSlot
	fieldSaver
	fieldHasValues
	nodeFields
)

// messageFields steps through the fields of an encoded message. A number stands in
// number, what has a length in bytes; fields of other types are passed over. What
// can't be decoded ends it, and leaves bad set.
type messageFields struct {
	rest   []byte
	field  protowire.Number
	number uint64
	bytes  []byte // nil where the field is a number
	bad    bool
}

// next steps to the next field.
func (f *messageFields) next() bool {
	// What has a length, mostly a short one.
	if b := f.rest; len(b) >= 2 && b[0]&0x87 == byte(protowire.BytesType) && b[0] >= 1<<3 && b[1] < 0x80 {
		if n := 2 + int(b[1]); n <= len(b) {
			f.field, f.bytes, f.rest = protowire.Number(b[0]>>3), b[2:n], b[n:]
			return true
		}
	}
	return f.any()
}

// any steps to the next field, of any type and length.
func (f *messageFields) any() bool {
	for len(f.rest) > 0 {
		field, typ, n := tagOf(f.rest)
		if n < 0 {
			f.bad = true
			return false
		}
		b := f.rest[n:]
		switch typ {
		case protowire.VarintType:
			f.number, n = varintOf(b)
			f.bytes = nil
		case protowire.BytesType:
			var size uint64
			size, n = varintOf(b)
			if n < 0 || size > uint64(len(b)-n) {
				f.bad = true
				return false
			}
			f.bytes, n = b[n:n+int(size)], n+int(size)
		default:
			if n = protowire.ConsumeFieldValue(field, typ, b); n >= 0 {
				f.rest = b[n:]
				continue
			}
		}
		if n < 0 {
			f.bad = true
			return false
		}
		f.field, f.rest = field, b[n:]
		return true
	}
	return false
}

// tagOf does what protowire.ConsumeTag does, whose way is long for a tag of one
// byte.
func tagOf(b []byte) (protowire.Number, protowire.Type, int) {
	if t := b[0]; t < 0x80 && t >= 1<<3 && t&7 <= 5 {
		return protowire.Number(t >> 3), protowire.Type(t & 7), 1
	}
	return protowire.ConsumeTag(b)
}

// varintOf does what protowire.ConsumeVarint does, which isn't inlined, for a
// number of one byte.
func varintOf(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return protowire.ConsumeVarint(b)
}

// textOf returns bytes of the graph, which don't change, as a string.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// graphChild is an edge of a file's node.
type graphChild struct {
	name string
	node int32
}

// childOf decodes an ObjectReference.
func childOf(b []byte) (c graphChild, ok bool) {
	f := messageFields{rest: b}
	for f.next() {
		switch {
		case f.field == 1 && f.bytes == nil:
			c.node = int32(f.number)
		case f.field == 2 && f.bytes != nil:
			c.name = textOf(f.bytes)
		}
	}
	return c, !f.bad
}

// graphAttribute is a value of a file's node.
type graphAttribute struct{ name, key string }

// attributeOf decodes a SerializedTensor.
func attributeOf(b []byte) (graphAttribute, bool) {
	name, key, ok := attributeBytes(b)
	return graphAttribute{textOf(name), textOf(key)}, ok
}

// attributeBytes returns name and key of an encoded SerializedTensor.
func attributeBytes(b []byte) (name, key []byte, ok bool) {
	f := messageFields{rest: b}
	for f.next() {
		switch {
		case f.bytes == nil:
		case f.field == 1:
			name = f.bytes
		case f.field == 3:
			key = f.bytes
		}
	}
	return name, key, !f.bad
}

// graphSlot is a slot variable that a file's node owns.
type graphSlot struct {
	name           string
	variable, slot int32
}

// slotOf decodes a SlotVariableReference.
func slotOf(b []byte) (s graphSlot, ok bool) {
	f := messageFields{rest: b}
	for f.next() {
		switch {
		case f.field == 1 && f.bytes == nil:
			s.variable = int32(f.number)
		case f.field == 2 && f.bytes != nil:
			s.name = textOf(f.bytes)
		case f.field == 3 && f.bytes == nil:
			s.slot = int32(f.number)
		}
	}
	return s, !f.bad
}

// graphSaver is the registered saver of a file's node.
type graphSaver struct{ name, object string }

// saverOf decodes a RegisteredSaver into what an earlier part of it said.
func saverOf(b []byte, s graphSaver) (graphSaver, bool) {
	f := messageFields{rest: b}
	for f.next() {
		switch {
		case f.bytes == nil:
		case f.field == 1:
			s.name = textOf(f.bytes)
		case f.field == 2:
			s.object = textOf(f.bytes)
		}
	}
	return s, !f.bad
}

// flagOf decodes a BoolValue into what an earlier part of it said.
func flagOf(b []byte, v bool) (bool, bool) {
	f := messageFields{rest: b}
	for f.next() {
		if f.field == 1 && f.bytes == nil {
			v = protowire.DecodeBool(f.number)
		}
	}
	return v, !f.bad
}
