package checkpoint

import (
	"unsafe"

	"github.com/cairnml/cairn/internal/pb"
	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of a node's fields (TrackableObject).
const (
	fieldChild = iota + 1
	fieldAttribute
	fieldSlot
	fieldSaver
	fieldHasValues
	nodeFields // 1 + the last of them
)

// textOf returns bytes of the graph as a string, without a copy, since they don't change.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// graphChild is an edge of a file's node.
type graphChild struct {
	name string
	node int32
}

// childOf decodes an ObjectReference. Of a repeated field the last one counts, as in protobuf; so it does in the
// decoders below.
func childOf(b []byte) (c graphChild, ok bool) {
	// As it is written: a number, then a short name that goes to the end.
	if len(b) >= 4 && b[0] == 1<<3 {
		v, n := protowire.ConsumeVarint(b[1:])
		if n > 0 && len(b) >= 3+n && b[1+n] == 2<<3|2 && int(b[2+n]) == len(b)-3-n && b[2+n] < 0x80 {
			return graphChild{textOf(b[3+n:]), int32(v)}, true
		}
	}
	f := pb.Fields{Rest: b}
	for f.Next() {
		switch {
		case f.Number == 1 && f.Bytes == nil:
			c.node = int32(f.Varint)
		case f.Number == 2 && f.Bytes != nil:
			c.name = textOf(f.Bytes)
		}
	}
	return c, !f.Bad
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
	f := pb.Fields{Rest: b}
	for f.Next() {
		switch {
		case f.Bytes == nil:
		case f.Number == 1:
			name = f.Bytes
		case f.Number == 3:
			key = f.Bytes
		}
	}
	return name, key, !f.Bad
}

// graphSlot is a slot variable that a file's node owns.
type graphSlot struct {
	name           string
	variable, slot int32
}

// slotOf decodes a SlotVariableReference.
func slotOf(b []byte) (s graphSlot, ok bool) {
	f := pb.Fields{Rest: b}
	for f.Next() {
		switch {
		case f.Number == 1 && f.Bytes == nil:
			s.variable = int32(f.Varint)
		case f.Number == 2 && f.Bytes != nil:
			s.name = textOf(f.Bytes)
		case f.Number == 3 && f.Bytes == nil:
			s.slot = int32(f.Varint)
		}
	}
	return s, !f.Bad
}

// graphSaver is the registered saver of a file's node.
type graphSaver struct{ name, object string }

// saverOf decodes a RegisteredSaver, and merges it with the earlier part s.
func saverOf(b []byte, s graphSaver) (graphSaver, bool) {
	f := pb.Fields{Rest: b}
	for f.Next() {
		switch {
		case f.Bytes == nil:
		case f.Number == 1:
			s.name = textOf(f.Bytes)
		case f.Number == 2:
			s.object = textOf(f.Bytes)
		}
	}
	return s, !f.Bad
}

// flagOf decodes a BoolValue, and merges it with the earlier part v.
func flagOf(b []byte, v bool) (bool, bool) {
	f := pb.Fields{Rest: b}
	for f.Next() {
		if f.Number == 1 && f.Bytes == nil {
			v = protowire.DecodeBool(f.Varint)
		}
	}
	return v, !f.Bad
}
