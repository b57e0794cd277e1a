package main

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// field is a field with the properties needed by the generated code.
type field struct {
	protoreflect.FieldDescriptor
	names    *names
	Go       string // the Go field
	optional bool   // has an additional field HasX
	member   bool   // of the message's oneof
	always   bool   // written even when zero
	packed   bool   // a list that is written packed, as declared
	lazy     bool   // a message, or a list of some, that is decoded when it is asked for
}

// fieldsOf lists a message's fields by number.
func (g *generator) fieldsOf(m protoreflect.MessageDescriptor) []field {
	var out []field
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		o := f.ContainingOneof()
		member := o != nil && o.Fields().Len() > 1
		out = append(out, field{
			FieldDescriptor: f,
			names:           g.names,
			Go:              camel(string(f.Name())),
			member:          member,
			always:          m.IsMapEntry(),
			optional:        f.HasPresence() && f.Kind() != protoreflect.MessageKind && !member && !m.IsMapEntry(),
			packed:          f.IsPacked(),
			lazy:            !f.IsMap() && f.Kind() == protoreflect.MessageKind && f.Options().(*descriptorpb.FieldOptions).GetLazy(),
		})
	}
	slices.SortFunc(out, func(a, b field) int { return int(a.Number()) - int(b.Number()) })
	return out
}

// list reports whether the Go field is a slice of values; a map is one of
// entries.
func (f field) list() bool { return f.Cardinality() == protoreflect.Repeated }

// elemType returns the Go type of the field's value, or of an element of a list.
func (f field) elemType() string {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return "bool"
	case protoreflect.Int32Kind:
		return "int32"
	case protoreflect.Int64Kind, protoreflect.Sint64Kind:
		return "int64"
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return "uint32"
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return "uint64"
	case protoreflect.FloatKind:
		return "float32"
	case protoreflect.DoubleKind:
		return "float64"
	case protoreflect.StringKind:
		return "string"
	case protoreflect.BytesKind:
		return "[]byte"
	case protoreflect.EnumKind:
		return f.names.byFull[f.Enum().FullName()]
	case protoreflect.MessageKind:
		if f.lazy && !f.list() {
			return "*Lazy[" + f.names.message(f.Message()) + "]"
		}
		if f.lazy {
			return "Lazy[" + f.names.message(f.Message()) + "]"
		}
		return "*" + f.names.message(f.Message())
	}
	panic("no Go type for kind " + f.Kind().String())
}

func (f field) goType() string {
	if f.list() {
		return "[]" + f.elemType()
	}
	return f.elemType()
}

// zero returns the field's zero value.
func (f field) zero() string {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return "false"
	case protoreflect.StringKind:
		return `""`
	case protoreflect.BytesKind, protoreflect.MessageKind:
		return "nil"
	}
	return "0"
}

// which returns the constant for a member of a oneof.
func (f field) which() string { return f.names.byFull[f.FullName()] }

// wire returns the field's wire type outside packed lists.
func (f field) wire() string {
	switch f.Kind() {
	case protoreflect.FloatKind, protoreflect.Fixed32Kind:
		return "protowire.Fixed32Type"
	case protoreflect.DoubleKind, protoreflect.Fixed64Kind:
		return "protowire.Fixed64Type"
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return "protowire.BytesType"
	}
	return "protowire.VarintType"
}

// tagSize returns the number of bytes of the field's tag.
func (f field) tagSize() int {
	n := 1
	for v := uint64(f.Number()) << 3; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// toWire returns the expression that converts v to the wire's number.
func (f field) toWire(v string) string {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return "protowire.EncodeBool(" + v + ")"
	case protoreflect.FloatKind:
		return "math.Float32bits(" + v + ")"
	case protoreflect.DoubleKind:
		return "math.Float64bits(" + v + ")"
	case protoreflect.Sint64Kind:
		return "protowire.EncodeZigZag(" + v + ")"
	case protoreflect.Fixed32Kind, protoreflect.Fixed64Kind, protoreflect.Uint64Kind:
		return v
	}
	return "uint64(" + v + ")"
}

// fromWire does the inverse of toWire.
func (f field) fromWire(v string) string {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return "protowire.DecodeBool(" + v + ")"
	case protoreflect.FloatKind:
		return "math.Float32frombits(" + v + ")"
	case protoreflect.DoubleKind:
		return "math.Float64frombits(" + v + ")"
	case protoreflect.Sint64Kind:
		return "protowire.DecodeZigZag(" + v + ")"
	case protoreflect.Fixed32Kind, protoreflect.Fixed64Kind, protoreflect.Uint64Kind:
		return v
	case protoreflect.StringKind:
		return "view(" + v + ")"
	case protoreflect.BytesKind:
		return v + "[:len(" + v + "):len(" + v + ")]"
	}
	return f.elemType() + "(" + v + ")"
}

// codec returns the middle of protowire's function names for a wire type.
func codec(wire string) string {
	return strings.TrimSuffix(strings.TrimPrefix(wire, "protowire."), "Type")
}

// present returns the condition under which a single field is written.
func (f field) present() string {
	v := "m." + f.Go
	switch {
	case f.always:
		return ""
	case f.optional:
		return "m.Has" + f.Go
	case f.member:
		return "m.Which == " + f.which()
	}
	switch f.Kind() {
	case protoreflect.BoolKind:
		return v
	case protoreflect.StringKind, protoreflect.BytesKind:
		return "len(" + v + ") > 0"
	case protoreflect.MessageKind:
		return v + " != nil"
	case protoreflect.FloatKind:
		return "math.Float32bits(" + v + ") != 0"
	case protoreflect.DoubleKind:
		return "math.Float64bits(" + v + ") != 0"
	}
	return v + " != 0"
}

// payloadSize returns the expression for the bytes that one value takes after
// its tag.
func (f field) payloadSize(v string) string {
	switch f.wire() {
	case "protowire.Fixed32Type":
		return "4"
	case "protowire.Fixed64Type":
		return "8"
	case "protowire.BytesType":
		if f.Kind() == protoreflect.MessageKind {
			return "protowire.SizeBytes(s.set(s.open(), " + v + ".size(s)))"
		}
		return "protowire.SizeBytes(len(" + v + "))"
	}
	if f.Kind() == protoreflect.BoolKind {
		return "1"
	}
	return "protowire.SizeVarint(" + f.toWire(v) + ")"
}
