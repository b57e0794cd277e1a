package main

import "google.golang.org/protobuf/reflect/protoreflect"

// holdsMap reports whether a message may hold a map, at any depth.
func holdsMap(m protoreflect.MessageDescriptor) bool {
	seen := map[protoreflect.FullName]bool{}
	for queue := []protoreflect.MessageDescriptor{m}; len(queue) > 0; queue = queue[1:] {
		m := queue[0]
		if seen[m.FullName()] {
			continue
		}
		seen[m.FullName()] = true
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			if f.IsMap() {
				return true
			}
			if f.Message() != nil {
				queue = append(queue, f.Message())
			}
		}
	}
	return false
}

// canonical writes the method that sorts the maps of a message, into a zz_ file of
// internal/pb; `go generate` there runs this program. internal/pb/canonical.go has the rest:
// it calls canonical and unknown, and has canonicalEntries and the method of lazy fields. The
// names must be the same in both. Only a lazy field with undecodable bytes makes an error.
//
// Packages savedmodel and internal/fingerprint hash the result, so the order must stay
// TensorFlow's.
func (g *generator) canonical(name string, m protoreflect.MessageDescriptor, fields []field) {
	g.printf("// canonical sorts the maps inside; see [Canonical].\n")
	if !holdsMap(m) {
		g.printf("func (*%s) canonical() error { return nil }\n\n", name)
	} else {
		g.printf("func (m *%s) canonical() error {\nif m == nil {\nreturn nil\n}\n", name)
		for _, f := range fields {
			if f.Message() == nil {
				continue
			}
			inside := "m." + f.Go
			switch {
			case !holdsMap(f.Message()):
			case f.list():
				g.printf("for i := range m.%s {\nif err := m.%s[i].canonical(); err != nil {\nreturn err\n}\n}\n", f.Go, f.Go)
			default:
				g.printf("if err := %s.canonical(); err != nil {\nreturn err\n}\n", inside)
			}
			if f.IsMap() {
				g.printf("m.%s = canonicalEntries(m.%s)\n", f.Go, f.Go)
			}
		}
		g.printf("return nil\n}\n\n")
	}
	if m.IsMapEntry() {
		g.printf("func (m *%s) unknown() *[]byte { return &m.Unknown }\n\n", name)
	}
}
