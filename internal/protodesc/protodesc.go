// Package protodesc reads descriptors of messages, so that messages whose types are
// known at run time only can be read and written. Package kernel/parse uses it for
// DecodeProtoV2 and EncodeProto. The rules are protobuf's (descriptor.proto): packing
// by syntax, defaults, and the scopes in which a type's name is found.
package protodesc

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/pb"
)

// Kind is the type of a field, numbered as FieldDescriptorProto.Type.
type Kind int

// The types of fields.
const (
	Double Kind = 1 + iota
	Float
	Int64
	Uint64
	Int32
	Fixed64
	Fixed32
	Bool
	String
	Group
	MessageKind
	Bytes
	Uint32
	EnumKind
	Sfixed32
	Sfixed64
	Sint32
	Sint64
)

var kindNames = [...]string{"of no type", "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "group", "message",
	"bytes", "uint32", "enum", "sfixed32", "sfixed64", "sint32", "sint64"}

// String returns the type's name in .proto files.
func (k Kind) String() string { return kindNames[k] }

// Wire returns the form of one value on the wire.
func (k Kind) Wire() protowire.Type {
	switch k {
	case Double, Fixed64, Sfixed64:
		return protowire.Fixed64Type
	case Float, Fixed32, Sfixed32:
		return protowire.Fixed32Type
	case String, Bytes, MessageKind:
		return protowire.BytesType
	case Group:
		return protowire.StartGroupType
	}
	return protowire.VarintType
}

// Packable reports whether a field may hold many values one after the other.
func (k Kind) Packable() bool { return k.Wire() != protowire.BytesType && k != Group }

// Message describes a message.
type Message struct {
	Name   string // with the names of its package and of the enclosing declarations
	Fields []*Field
}

// Field returns the field of a name, or nil if there is none.
func (m *Message) Field(name string) *Field {
	for _, f := range m.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Field describes a field.
type Field struct {
	Name     string
	Num      protowire.Number
	Kind     Kind
	Repeated bool
	Packed   bool // the values are written one after the other
	// Default is the value of a missing number, as a number of 64 bits: floats by their
	// bits as doubles. DefaultBytes is the default of strings and bytes.
	Default      uint64
	DefaultBytes string
	Message      *Message // of messages and groups
	Enum         *Enum

	typeName    string
	defaultText *string
}

// Enum describes an enumeration.
type Enum struct {
	Names   []string
	Numbers []int32
}

// Number returns the number of a name.
func (e *Enum) Number(name string) (int32, bool) {
	for i, n := range e.Names {
		if n == name {
			return e.Numbers[i], true
		}
	}
	return 0, false
}

// Set contains the messages and enums that descriptors describe, by full name.
type Set struct {
	messages map[string]*Message
	enums    map[string]*Enum

	left int // how many bytes the full names may still have together
}

// maxNames bounds the bytes of all full names, in multiples of the descriptors' bytes: each message that is declared in
// another one repeats its name. The number may change.
const maxNames = 16

// Message returns the message of a full name, or nil if there is none.
func (s *Set) Message(name string) *Message { return s.messages[name] }

var errBad = errors.New("the descriptors can't be decoded")

// maxDepth bounds the depth of messages that are declared in each other, so that a hostile descriptor
// doesn't fill the stack. The number is Cairn's and may grow.
const maxDepth = 100

// Parse reads a FileDescriptorSet.
func Parse(b []byte) (*Set, error) {
	s := &Set{messages: map[string]*Message{}, enums: map[string]*Enum{}, left: maxNames*len(b) + 1<<20}
	var scopes []scope
	for f := (pb.Fields{Rest: b}); ; {
		if !f.Next() {
			if f.Bad {
				return nil, errBad
			}
			break
		}
		if f.Number == 1 {
			var err error
			if scopes, err = s.file(scopes, f.Bytes); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range scopes {
		for _, f := range c.message.Fields {
			if err := s.resolve(c, f); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// scope is a message, and whether lists of numbers are packed by default in its file.
type scope struct {
	message *Message
	packs   bool
}

// file reads a FileDescriptorProto: first its package and syntax, which may come last, then its messages.
func (s *Set) file(scopes []scope, b []byte) ([]scope, error) {
	name, packs := "", false
	for f := (pb.Fields{Rest: b}); f.Next(); {
		switch f.Number {
		case 2:
			name = string(f.Bytes)
		case 12:
			packs = string(f.Bytes) == "proto3" || string(f.Bytes) == "editions"
		}
	}
	f := pb.Fields{Rest: b}
	for f.Next() {
		var err error
		switch f.Number {
		case 4:
			scopes, err = s.message(scopes, f.Bytes, name, packs, 0)
		case 5:
			err = s.enum(f.Bytes, name)
		}
		if err != nil {
			return nil, err
		}
	}
	if f.Bad {
		return nil, errBad
	}
	return scopes, nil
}

func join(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "." + name
}

// full returns the full name of a message or an enum that is declared in a scope.
func (s *Set) full(scope string, b []byte) (string, error) {
	name := nameOf(b)
	if s.left -= len(scope) + 1 + len(name); s.left < 0 {
		return "", fmt.Errorf("the full names of messages and enums have over %d times as many bytes as the descriptors: %w", maxNames, errors.ErrUnsupported)
	}
	return join(scope, name), nil
}

func nameOf(b []byte) string {
	for f := (pb.Fields{Rest: b}); f.Next(); {
		if f.Number == 1 {
			return string(f.Bytes)
		}
	}
	return ""
}

func (s *Set) message(scopes []scope, b []byte, within string, packs bool, depth int) ([]scope, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("messages are declared more than %d deep in each other", maxDepth)
	}
	name, err := s.full(within, b)
	if err != nil {
		return nil, err
	}
	m := &Message{Name: name}
	if s.messages[m.Name] != nil {
		return nil, fmt.Errorf("the message %s is described twice", m.Name)
	}
	s.messages[m.Name] = m
	scopes = append(scopes, scope{m, packs})
	f := pb.Fields{Rest: b}
	for f.Next() {
		var err error
		switch f.Number {
		case 2:
			var field *Field
			if field, err = fieldOf(f.Bytes, packs); err == nil {
				m.Fields = append(m.Fields, field)
			}
		case 3:
			scopes, err = s.message(scopes, f.Bytes, m.Name, packs, depth+1)
		case 4:
			err = s.enum(f.Bytes, m.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	if f.Bad {
		return nil, errBad
	}
	return scopes, nil
}

func fieldOf(b []byte, packs bool) (*Field, error) {
	d := &Field{}
	packed, said := false, false
	f := pb.Fields{Rest: b}
	for f.Next() {
		switch f.Number {
		case 1:
			d.Name = string(f.Bytes)
		case 3:
			d.Num = protowire.Number(f.Varint)
		case 4:
			d.Repeated = f.Varint == 3
		case 5:
			if f.Varint > uint64(Sint64) {
				return nil, fmt.Errorf("a field has the type %d", f.Varint)
			}
			d.Kind = Kind(f.Varint)
		case 6:
			d.typeName = string(f.Bytes)
		case 7:
			text := string(f.Bytes)
			d.defaultText = &text
		case 8:
			for o := (pb.Fields{Rest: f.Bytes}); o.Next(); {
				switch o.Number {
				case 2:
					packed, said = o.Varint != 0, true
				case 21: // features
					for p := (pb.Fields{Rest: o.Bytes}); p.Next(); {
						if p.Number == 3 {
							packed, said = p.Varint == 1, true
						}
					}
				}
			}
		}
	}
	if f.Bad || !d.Num.IsValid() {
		return nil, fmt.Errorf("the field %q can't be decoded", d.Name)
	}
	if !said {
		packed = packs
	}
	d.Packed = packed && d.Repeated
	return d, nil
}

func (s *Set) enum(b []byte, within string) error {
	e := &Enum{}
	f := pb.Fields{Rest: b}
	for f.Next() {
		if f.Number != 2 {
			continue
		}
		name, number := "", int32(0)
		for v := (pb.Fields{Rest: f.Bytes}); v.Next(); {
			switch v.Number {
			case 1:
				name = string(v.Bytes)
			case 2:
				number = int32(v.Varint)
			}
		}
		e.Names, e.Numbers = append(e.Names, name), append(e.Numbers, number)
	}
	if f.Bad {
		return errBad
	}
	full, err := s.full(within, b)
	if err != nil {
		return err
	}
	s.enums[full] = e
	return nil
}

// maxScope and maxScopes bound the bytes and the parts of a message's name in which a relative name is looked up: each
// field tries all parts. Names that begin with a dot, as protoc writes them, need no search. The numbers may change.
const (
	maxScope  = 1024
	maxScopes = 100
)

// resolve finds the type that a field names, and its default.
func (s *Set) resolve(c scope, f *Field) error {
	if f.typeName != "" || f.Kind == MessageKind || f.Kind == Group || f.Kind == EnumKind {
		name, absolute := strings.CutPrefix(f.typeName, ".")
		if !absolute && (len(c.message.Name) > maxScope || strings.Count(c.message.Name, ".") > maxScopes) {
			return fmt.Errorf("the relative name %q of a type in a message whose name has over %d bytes or %d parts: %w", f.typeName, maxScope, maxScopes, errors.ErrUnsupported)
		}
		for within := c.message.Name; ; {
			full := name
			if !absolute {
				full = join(within, name)
			}
			f.Message, f.Enum = s.messages[full], s.enums[full]
			if f.Message != nil || f.Enum != nil || absolute || within == "" {
				break
			}
			within = within[:max(strings.LastIndexByte(within, '.'), 0)]
		}
		switch {
		case f.Kind == 0 && f.Message != nil:
			f.Kind = MessageKind
		case f.Kind == 0 && f.Enum != nil:
			f.Kind = EnumKind
		}
		if f.Kind == EnumKind && f.Enum == nil || (f.Kind == MessageKind || f.Kind == Group) && f.Message == nil || f.Kind == 0 {
			return fmt.Errorf("the type %q of the field %s of %s isn't described", f.typeName, f.Name, c.message.Name)
		}
	}
	if f.Kind == 0 {
		return fmt.Errorf("the field %s of %s has no type", f.Name, c.message.Name)
	}
	f.Packed = f.Packed && f.Kind.Packable()
	if f.Kind == EnumKind && len(f.Enum.Numbers) > 0 && !f.Repeated {
		f.Default = uint64(int64(f.Enum.Numbers[0]))
	}
	if f.defaultText == nil {
		return nil
	}
	if err := f.setDefault(*f.defaultText); err != nil {
		return fmt.Errorf("the default of the field %s of %s: %w", f.Name, c.message.Name, err)
	}
	return nil
}

func (f *Field) setDefault(text string) error {
	switch f.Kind {
	case String:
		f.DefaultBytes = text
	case Bytes:
		b, err := pb.Unquote(text)
		f.DefaultBytes = string(b)
		return err
	case Bool:
		if text == "true" {
			f.Default = 1
		}
	case EnumKind:
		n, ok := f.Enum.Number(text)
		if !ok {
			return fmt.Errorf("the enum has no %s", text)
		}
		f.Default = uint64(int64(n))
	case Double, Float:
		bits := 64
		if f.Kind == Float {
			bits = 32
		}
		v, err := strconv.ParseFloat(text, bits)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return err
		}
		f.Default = math.Float64bits(v)
	case Uint32, Uint64, Fixed32, Fixed64:
		v, err := strconv.ParseUint(text, 10, 64)
		f.Default = v
		return err
	default:
		v, err := strconv.ParseInt(text, 10, 64)
		f.Default = uint64(v)
		return err
	}
	return nil
}

// AppendNumber appends a number, passed as 64 bits, floats as doubles, in the
// field's form, without its tag. Bits beyond the type are cut off.
func (f *Field) AppendNumber(b []byte, v uint64) []byte {
	switch f.Kind {
	case Double, Fixed64, Sfixed64:
		return protowire.AppendFixed64(b, v)
	case Float:
		return protowire.AppendFixed32(b, math.Float32bits(float32(math.Float64frombits(v))))
	case Fixed32, Sfixed32:
		return protowire.AppendFixed32(b, uint32(v))
	case Int32, EnumKind:
		v = uint64(int64(int32(v)))
	case Uint32:
		v = uint64(uint32(v))
	case Bool:
		v = min(v, 1)
	case Sint32:
		v = protowire.EncodeZigZag(int64(int32(v)))
	case Sint64:
		v = protowire.EncodeZigZag(int64(v))
	}
	return protowire.AppendVarint(b, v)
}

// Number reads a number in the field's form, and returns it as [Field.AppendNumber] takes it. n is the
// number of its bytes; less than 0 if b doesn't begin with one.
func (f *Field) Number(b []byte) (v uint64, n int) {
	switch f.Kind.Wire() {
	case protowire.Fixed64Type:
		return protowire.ConsumeFixed64(b)
	case protowire.Fixed32Type:
		x, n := protowire.ConsumeFixed32(b)
		switch f.Kind {
		case Float:
			return math.Float64bits(float64(math.Float32frombits(x))), n
		case Sfixed32:
			return uint64(int64(int32(x))), n
		}
		return uint64(x), n
	}
	v, n = protowire.ConsumeVarint(b)
	switch f.Kind {
	case Int32, EnumKind:
		v = uint64(int64(int32(v)))
	case Uint32:
		v = uint64(uint32(v))
	case Bool:
		v = min(v, 1)
	case Sint32:
		v = uint64(int64(int32(protowire.DecodeZigZag(v & math.MaxUint32))))
	case Sint64:
		v = uint64(protowire.DecodeZigZag(v))
	}
	return v, n
}

// TextField describes a field for [pb.AppendText].
func (m *Message) TextField(name string) (pb.TextField, bool) {
	f := m.Field(name)
	if f == nil {
		return pb.TextField{}, false
	}
	t := pb.TextField{Number: f.Num, Kind: f.Kind.String(), Repeated: f.Repeated, Packed: f.Packed, Append: func(b []byte, v uint64) []byte {
		if f.Packed {
			return f.AppendNumber(b, v)
		}
		return f.AppendNumber(protowire.AppendTag(b, f.Num, f.Kind.Wire()), v)
	}}
	if f.Message != nil {
		t.Message = f.Message
	}
	if f.Enum != nil {
		t.Enum = f.Enum.Number
	}
	return t, true
}
