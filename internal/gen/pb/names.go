package main

import (
	"fmt"
	"strings"

	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// names contains the Go names of all messages, enums and their values, oneofs and
// their members. No two are the same.
type names struct {
	byFull map[protoreflect.FullName]string // by the name in the .proto file
	owner  map[string]protoreflect.FullName // the declaration that has a Go name
}

// nameAll names the declarations of the files. The name of a nested message is
// its last name, or begins with its parent's if another message has that name;
// names of nested enums and of oneofs always begin with the message's name.
func nameAll(files linker.Files) (*names, error) {
	n := &names{byFull: make(map[protoreflect.FullName]string), owner: make(map[string]protoreflect.FullName)}
	uses := make(map[protoreflect.Name]int)
	for _, fd := range files {
		walk(fd.Messages(), func(m protoreflect.MessageDescriptor) { uses[m.Name()]++ })
	}
	var firstErr error
	note := func(err error) {
		if firstErr == nil {
			firstErr = err
		}
	}
	for _, fd := range files {
		for i := range fd.Enums().Len() {
			note(n.enum(fd.Enums().Get(i), ""))
		}
		walk(fd.Messages(), func(m protoreflect.MessageDescriptor) {
			name := string(m.Name())
			if parent, ok := m.Parent().(protoreflect.MessageDescriptor); ok && uses[m.Name()] > 1 {
				name = n.byFull[parent.FullName()] + name
			}
			note(n.take(name, m.FullName()))
			for i := range m.Enums().Len() {
				note(n.enum(m.Enums().Get(i), name))
			}
			note(n.oneof(m, name))
		})
	}
	return n, firstErr
}

// walk visits messages, parents first, without the entries of maps.
func walk(list protoreflect.MessageDescriptors, visit func(protoreflect.MessageDescriptor)) {
	for i := range list.Len() {
		if m := list.Get(i); !m.IsMapEntry() {
			visit(m)
			walk(m.Messages(), visit)
		}
	}
}

// take gives a declaration a Go name; another declaration with that name is an error.
func (n *names) take(name string, full protoreflect.FullName) error {
	if other, ok := n.owner[name]; ok {
		return fmt.Errorf("%s and %s would have the same Go name %s", other, full, name)
	}
	n.owner[name] = full
	n.byFull[full] = name
	return nil
}

// enum names an enum and its values, without the values' common prefix.
func (n *names) enum(e protoreflect.EnumDescriptor, parent string) error {
	name := parent + string(e.Name())
	if err := n.take(name, e.FullName()); err != nil {
		return err
	}
	cut := len(commonPrefix(e.Values()))
	for i := range e.Values().Len() {
		v := e.Values().Get(i)
		// A value's full name is in its enum's parent.
		if err := n.take(name+camel(strings.ToLower(string(v.Name())[cut:])), v.FullName()); err != nil {
			return err
		}
	}
	return nil
}

// commonPrefix returns the common prefix of all values' names, up to an
// underscore.
func commonPrefix(values protoreflect.EnumValueDescriptors) string {
	prefix := string(values.Get(0).Name())
	for i := range values.Len() {
		for !strings.HasPrefix(string(values.Get(i).Name()), prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return prefix[:strings.LastIndexByte(prefix, '_')+1]
}

// oneof names the Go enum of the oneof of a message M, MWhich, which tells the member
// that is set, and its constants: M and the member's name.
func (n *names) oneof(m protoreflect.MessageDescriptor, name string) error {
	o, err := oneofOf(m)
	if o == nil {
		return err
	}
	if err := n.take(name+"Which", o.FullName()); err != nil {
		return err
	}
	for i := range o.Fields().Len() {
		f := o.Fields().Get(i)
		if err := n.take(name+camel(string(f.Name())), f.FullName()); err != nil {
			return err
		}
	}
	return nil
}

// oneofOf returns a message's oneof with several members, or nil. One with a
// single member is an optional field.
func oneofOf(m protoreflect.MessageDescriptor) (protoreflect.OneofDescriptor, error) {
	var found protoreflect.OneofDescriptor
	for i := range m.Oneofs().Len() {
		if o := m.Oneofs().Get(i); o.Fields().Len() > 1 {
			if found != nil {
				return nil, fmt.Errorf("%s: more than one oneof is not generated", m.FullName())
			}
			found = o
		}
	}
	return found, nil
}

// message returns the Go type of a message. The name of a map's entry consists of
// its key's type, unless that is string, its value's type, and "Entry".
func (n *names) message(m protoreflect.MessageDescriptor) string {
	if !m.IsMapEntry() {
		return n.byFull[m.FullName()]
	}
	key, value := m.Fields().ByNumber(1), m.Fields().ByNumber(2)
	name := ""
	if key.Kind() != protoreflect.StringKind {
		name = camel(key.Kind().String())
	}
	switch value.Kind() {
	case protoreflect.MessageKind:
		name += n.message(value.Message())
	case protoreflect.EnumKind:
		name += n.byFull[value.Enum().FullName()]
	default:
		name += camel(value.Kind().String())
	}
	return name + "Entry"
}

// camel returns a name of words joined by "_" in Go's form: "node_def" becomes "NodeDef".
func camel(s string) string {
	var b strings.Builder
	up := true
	for _, r := range s {
		switch {
		case r == '_':
			up = true
		case up:
			b.WriteString(strings.ToUpper(string(r)))
			up = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
