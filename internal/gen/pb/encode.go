package main

import "google.golang.org/protobuf/reflect/protoreflect"

// each writes body for every element of a list, or once for a single field that
// is present; body gets the name of the value.
func (g *generator) each(f field, body func(v string)) {
	switch {
	case f.list():
		g.printf("for _, v := range m.%s {\n", f.Go)
		body("v")
	case f.present() == "":
		g.printf("{\n")
		body("m." + f.Go)
	default:
		g.printf("if %s {\n", f.present())
		body("m." + f.Go)
	}
	g.printf("}\n")
}

// packedSize writes statements that put the length of a packed list's payload
// into the variable k.
func (g *generator) packedSize(f field) {
	switch f.payloadSize("v") {
	case "1", "4", "8":
		g.printf("k := %s * len(m.%s)\n", f.payloadSize("v"), f.Go)
	default:
		g.printf("k := 0\nfor _, v := range m.%s {\nk += %s\n}\n", f.Go, f.payloadSize("v"))
	}
}

// size writes the method that returns a message's length. Lengths of inner messages are noted in the order
// in which append asks for them, so the two functions must visit fields alike.
func (g *generator) size(name string, fields []field) {
	g.printf("// size returns the length of the encoded message. It notes the lengths of those\n// inside.\n")
	g.printf("func (m *%s) size(s *sizes) int {\nif m == nil {\nreturn 0\n}\nn := len(m.Unknown)\n", name)
	for _, f := range fields {
		if f.packed {
			g.printf("if len(m.%s) > 0 {\n", f.Go)
			g.packedSize(f)
			g.printf("n += %d + protowire.SizeBytes(k)\n}\n", f.tagSize())
			continue
		}
		g.each(f, func(v string) {
			if s := f.payloadSize(v); len(s) == 1 && f.list() {
				g.printf("_ = v\nn += %d + %s\n", f.tagSize(), s)
			} else {
				g.printf("n += %d + %s\n", f.tagSize(), s)
			}
		})
	}
	g.printf("return n\n}\n\n")
}

// appendTo writes the methods that encode a message.
func (g *generator) appendTo(name string, fields []field) {
	g.printf("func (m *%s) append(b []byte, s *sizes) []byte {\nif m == nil {\nreturn b\n}\n", name)
	for _, f := range fields {
		if f.packed {
			g.printf("if len(m.%s) > 0 {\n", f.Go)
			g.packedSize(f)
			g.printf("b = protowire.AppendTag(b, %d, protowire.BytesType)\nb = protowire.AppendVarint(b, uint64(k))\n", f.Number())
			g.printf("for _, v := range m.%s {\nb = protowire.Append%s(b, %s)\n}\n}\n", f.Go, codec(f.wire()), f.toWire("v"))
			continue
		}
		g.each(f, func(v string) {
			g.printf("b = protowire.AppendTag(b, %d, %s)\n", f.Number(), f.wire())
			switch f.Kind() {
			case protoreflect.StringKind:
				g.printf("b = protowire.AppendString(b, %s)\n", v)
			case protoreflect.BytesKind:
				g.printf("b = protowire.AppendBytes(b, %s)\n", v)
			case protoreflect.MessageKind:
				g.printf("b = protowire.AppendVarint(b, s.next())\nb = %s.append(b, s)\n", v)
			default:
				g.printf("b = protowire.Append%s(b, %s)\n", codec(f.wire()), f.toWire(v))
			}
		})
	}
	g.printf("return append(b, m.Unknown...)\n}\n\n")
	g.printf("// AppendTo appends the encoded message to b: fields by number, then the\n// unknown ones.\n")
	g.printf("func (m *%s) AppendTo(b []byte) []byte {\nvar s sizes\ndefer s.release()\nreturn m.append(grow(b, m.size(&s)), &s)\n}\n\n", name)
	g.printf("// Marshal returns the encoded message.\n")
	g.printf("func (m *%s) Marshal() []byte { return m.AppendTo(nil) }\n\n", name)
}
