package main

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// unmarshal writes the methods Unmarshal and merge of a message. As in protobuf, the last of several
// single values counts, messages merge, and lists are joined. Messages nest at most maxDepth deep.
// Unknown fields are appended to Unknown, byte for byte, in their order.
func (g *generator) unmarshal(m protoreflect.MessageDescriptor, fields []field) {
	name := g.names.message(m)
	g.printf("// Unmarshal decodes b into m, which is emptied first. The message keeps\n// references into b, which must not change afterwards.\n")
	g.printf("func (m *%s) Unmarshal(b []byte) error {\n*m = %s{}\nreturn m.merge(b, 0)\n}\n\n", name, name)
	g.printf("func (m *%s) merge(b []byte, depth int) error {\n", name)
	g.printf("if depth > maxDepth {\nreturn errDepth(%q)\n}\n", name)
	for _, f := range fields {
		if f.list() && f.Kind() == protoreflect.MessageKind && !f.lazy {
			g.printf("var room%s []%s // for those still to come, allocated at once\n", f.Go, f.roomType())
		}
	}
	g.printf("for rest := b; len(rest) > 0; {\nnum, typ, n := protowire.ConsumeTag(rest)\nif n < 0 {\nreturn errField(%q, \"\", len(b)-len(rest), n)\n}\n", name)
	g.printf("start := rest\nrest = rest[n:]\n")
	if len(fields) > 0 {
		g.printf("switch protowire.EncodeTag(num, typ) {\n")
	}
	for _, f := range fields {
		g.decodeCase(name, f, f.wire())
		if f.list() && f.wire() != "protowire.BytesType" {
			g.decodeCase(name, f, "protowire.BytesType") // both forms are read, whichever is declared
		}
	}
	unknown := "n = "
	if len(fields) > 0 {
		g.printf("default:\n")
		unknown = "n := "
	}
	g.printf("%sprotowire.ConsumeFieldValue(num, typ, rest)\nif n < 0 {\nreturn errField(%q, \"\", len(b)-len(start), n)\n}\nrest = rest[n:]\nm.Unknown = append(m.Unknown, start[:len(start)-len(rest)]...)\n", unknown, name)
	if len(fields) > 0 {
		g.printf("}\n")
	}
	g.printf("}\n")
	if value := m.Fields().ByNumber(2); m.IsMapEntry() && value.Kind() == protoreflect.MessageKind {
		g.printf("if m.Value == nil { // left out, as an empty one may be\nm.Value = new(%s)\n}\n", g.names.message(value.Message()))
	}
	g.printf("return nil\n}\n\n")
	g.clear(m, name, fields)
}

// decodeCase writes the case for a field in one wire type. wire differs from f.wire() for a packed
// list.
func (g *generator) decodeCase(name string, f field, wire string) {
	tag := uint64(f.Number())<<3 | map[string]uint64{"protowire.VarintType": 0, "protowire.Fixed64Type": 1, "protowire.BytesType": 2, "protowire.Fixed32Type": 5}[wire]
	g.printf("case %d: // %s\n", tag, f.Name())
	g.printf("v, n := protowire.Consume%s(rest)\nif n < 0 {\nreturn errField(%q, %q, len(b)-len(start), n)\n}\nrest = rest[n:]\n", codec(wire), name, f.Name())
	if f.member {
		g.printf("if m.Which != %s {\nm.clear()\nm.Which = %s\n}\n", f.which(), f.which())
	}
	message := f.Kind() == protoreflect.MessageKind
	switch {
	case wire != f.wire():
		g.unpack(name, f)
	case f.lazy && !f.list(): // a lazy field keeps the encoded bytes, and decodes them when it is asked for
		g.printf("if m.%s == nil {\nm.%s = new(%s)\n}\nm.%s.more(v)\n", f.Go, f.Go, f.elemType()[1:], f.Go)
	case f.lazy:
		g.printf("if m.%s == nil {\nm.%s = grow(m.%s, 1+countFields(rest, %d))\n}\nm.%s = append(m.%s, %s{encoded: v})\n", f.Go, f.Go, f.Go, f.Number(), f.Go, f.Go, f.elemType())
	case message && f.list():
		text := "if len(roomX) == 0 {\nroomX, m.X = makeRoom(m.X, 1+countFields(rest, N))\n}\n"
		if f.ownsValues() {
			text = strings.Replace(text, "makeRoom", strings.Replace(f.roomType(), "entryRoom", "makeEntries", 1), 1) + "e := &roomX[0].entry\ne.Value = &roomX[0].value\n"
		} else {
			text += "e := &roomX[0]\n"
		}
		text += "roomX = roomX[1:]\nm.X = append(m.X, e)\nif err := e.merge(v, depth+1); err != nil {\nreturn W\n}\n"
		g.printf("%s", strings.NewReplacer("roomX", "room"+f.Go, "m.X", "m."+f.Go, "N)", fmt.Sprint(f.Number())+")", "return W", "return "+within(name, f)).Replace(text))
	case message:
		g.printf("if m.%s == nil {\nm.%s = new(%s)\n}\nif err := m.%s.merge(v, depth+1); err != nil {\nreturn %s\n}\n", f.Go, f.Go, f.elemType()[1:], f.Go, within(name, f))
	case f.list():
		if f.wire() == "protowire.BytesType" {
			g.printf("if m.%s == nil {\nm.%s = grow(m.%s, 1+countFields(rest, %d))\n}\n", f.Go, f.Go, f.Go, f.Number())
		}
		g.printf("m.%s = append(m.%s, %s)\n", f.Go, f.Go, f.fromWire("v"))
	default:
		g.printf("m.%s = %s\n", f.Go, f.fromWire("v"))
		if f.optional {
			g.printf("m.Has%s = true\n", f.Go)
		}
	}
}

// ownsValues reports whether a map's values are messages, which are then
// allocated with their entries.
func (f field) ownsValues() bool {
	return f.IsMap() && f.MapValue().Kind() == protoreflect.MessageKind
}

// roomType returns the type to allocate for an element of a list of messages. A decoder allocates
// all elements that follow at once, as a slice of this type, from which it takes one after the other.
func (f field) roomType() string {
	if f.ownsValues() {
		return fmt.Sprintf("entryRoom[%s, %s]", f.elemType()[1:], f.names.message(f.MapValue().Message()))
	}
	return f.elemType()[1:]
}

// within returns the expression for an error inside a message that is a field.
func within(name string, f field) string {
	return fmt.Sprintf("within(err, %q, %q, len(b)-len(rest)-len(v))", name, f.Name())
}

// unpack writes the decoding of a packed list whose payload is v. Space for its
// elements is bounded by the payload's length, whatever the file announces.
func (g *generator) unpack(name string, f field) {
	switch f.wire() {
	case "protowire.Fixed32Type", "protowire.Fixed64Type":
		width := map[string]int{"protowire.Fixed32Type": 4, "protowire.Fixed64Type": 8}[f.wire()]
		g.printf("m.%s = grow(m.%s, len(v)/%d)\n", f.Go, f.Go, width)
	default:
		g.printf("m.%s = grow(m.%s, countVarints(v))\n", f.Go, f.Go)
	}
	g.printf("for len(v) > 0 {\nx, n := protowire.Consume%s(v)\nif n < 0 {\nreturn errField(%q, %q, len(b)-len(rest)-len(v), n)\n}\nv = v[n:]\nm.%s = append(m.%s, %s)\n}\n",
		codec(f.wire()), name, f.Name(), f.Go, f.Go, f.fromWire("x"))
}

// clear writes the method that empties a oneof.
func (g *generator) clear(m protoreflect.MessageDescriptor, name string, fields []field) {
	if o, _ := oneofOf(m); o == nil {
		return
	}
	g.printf("// clear empties the fields of which one is set.\nfunc (m *%s) clear() {\nif m.Which == 0 {\nreturn\n}\nm.Which = 0\n", name)
	for _, f := range fields {
		if f.member {
			g.printf("m.%s = %s\n", f.Go, f.zero())
		}
	}
	g.printf("}\n\n")
}
