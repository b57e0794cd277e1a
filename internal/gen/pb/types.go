package main

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// comment returns a declaration's comments in the .proto file, before it and after it on the line.
func comment(d protoreflect.Descriptor) (lead, trail string) {
	loc := d.ParentFile().SourceLocations().ByDescriptor(d)
	return strings.TrimSpace(loc.LeadingComments), strings.TrimSpace(loc.TrailingComments)
}

// trailing returns a field's or value's comment, to follow it on the line.
func trailing(d protoreflect.Descriptor) string {
	if _, trail := comment(d); trail != "" {
		return " // " + trail
	}
	return ""
}

// doc writes a declaration's comment. It begins with the Go name if that is not
// the declared one.
func (g *generator) doc(d protoreflect.Descriptor, name string) {
	lead, _ := comment(d)
	if rest, ok := strings.CutPrefix(lead, string(d.Name())+" "); ok {
		lead = name + " " + rest
	}
	for _, line := range strings.Split(lead, "\n") {
		g.printf("// %s\n", strings.TrimSpace(line))
	}
}

// structType writes the struct of a message. The tags of its fields are those that package pb reads for the
// text format.
func (g *generator) structType(m protoreflect.MessageDescriptor, fields []field) {
	name := g.names.message(m)
	if m.IsMapEntry() {
		g.printf("// %s is an entry of a map.\n", name)
	} else {
		g.doc(m, name)
	}
	g.printf("type %s struct {\n", name)
	o, _ := oneofOf(m)
	for _, f := range fields {
		if f.member && o != nil {
			g.printf("Which %s // the one of the fields that is set\n", g.names.byFull[o.FullName()])
			o = nil
		}
		g.printf("%s %s `pb:\"%s\"`%s\n", f.Go, f.goType(), f.tag(), trailing(f.FieldDescriptor))
		if f.optional {
			g.printf("Has%s bool\n", f.Go)
		}
	}
	g.printf("\nUnknown []byte // fields this package doesn't know, as they were encoded\n}\n\n")
	g.which(m, name)
	if m.IsMapEntry() {
		g.printf("func (m *%s) entry() (%s, %s) { return m.Key, m.Value }\n\n", name, fields[0].goType(), fields[1].goType())
	}
}

// tag returns a field's number, kind and name, and how it is held.
func (f field) tag() string {
	s := fmt.Sprintf("%d,%s,%s", f.Number(), f.Kind(), f.Name())
	switch {
	case f.optional:
		s += ",optional"
	case f.member:
		s += ",oneof"
	case f.IsMap():
		s += ",map"
	}
	return s
}

// which writes the type that identifies the member of a oneof that is set. Its
// numbers are the fields'.
func (g *generator) which(m protoreflect.MessageDescriptor, name string) {
	o, _ := oneofOf(m)
	if o == nil {
		return
	}
	typ := g.names.byFull[o.FullName()]
	g.printf("// %s is the number of the field of %s that is set; 0 is none.\ntype %s uint8\n\n", typ, name, typ)
	g.printf("// The fields of which one is set.\nconst (\n")
	for i := range o.Fields().Len() {
		f := o.Fields().Get(i)
		g.printf("%s %s = %d\n", g.names.byFull[f.FullName()], typ, f.Number())
	}
	g.printf(")\n\n")
}

func (g *generator) enums(list protoreflect.EnumDescriptors) {
	for i := range list.Len() {
		e := list.Get(i)
		name := g.names.byFull[e.FullName()]
		g.doc(e, name)
		g.printf("type %s int32\n\n// The values of %s.\nconst (\n", name, name)
		for i := range e.Values().Len() {
			v := e.Values().Get(i)
			g.printf("%s %s = %d%s\n", g.names.byFull[v.FullName()], name, v.Number(), trailing(v))
		}
		g.printf(")\n\n// String returns TensorFlow's name of the value.\nfunc (e %s) String() string {\nswitch e {\n", name)
		for i := range e.Values().Len() {
			g.printf("case %d:\nreturn %q\n", e.Values().Get(i).Number(), e.Values().Get(i).Name())
		}
		g.printf("}\nreturn strconv.Itoa(int(e))\n}\n\n// byName returns the number of the value with that name.\nfunc (%s) byName(name string) (int32, bool) {\nswitch name {\n", name)
		for i := range e.Values().Len() {
			g.printf("case %q:\nreturn %d, true\n", e.Values().Get(i).Name(), e.Values().Get(i).Number())
		}
		g.printf("}\nreturn 0, false\n}\n\n")
	}
}
