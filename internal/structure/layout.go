// Package structure walks Go values that are made of values: structs, maps,
// slices, arrays, pointers and interfaces, down to the values that its caller
// selects. All other parts are static. Packages dataset and function use it.
//
// A [Layout] is made once a type. The order of the values is that in which
// TensorFlow flattens the same structure: fields as they are declared, the
// entries of maps by their keys.
package structure

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/cairnml/cairn/trackable"
)

// Rules decide which parts are values.
type Rules struct {
	// IsValue reports whether a part of type t is a value; root means that the part
	// is the whole.
	IsValue func(t reflect.Type, root bool) bool
}

// Layout lists the places of the values in values of a type. It never changes.
type Layout struct {
	typ     reflect.Type
	name    string // of the whole in errors; "" below the root
	space   *space
	entries []entry // values, and the parts that lead to values
	statics []entry // all else
}

// entry is a place at a fixed offset.
type entry struct {
	kind   entryKind
	offset uintptr // in bytes from the beginning of the layout's value
	typ    reflect.Type
	name   string  // as Go has it, after that of the layout: ".Pair.A", "[1]"
	path   string  // as files have it: "pair/a", "1"
	elem   *Layout // of slices, maps and pointers
}

type entryKind uint8

const (
	valueEntry entryKind = iota
	sliceEntry
	mapEntry
	pointerEntry
	dynamicEntry // an interface, whose value may lead to values
	staticEntry
)

// space is the shared state of the layouts of one root.
type space struct {
	rules Rules
	mu    sync.Mutex               // held by dynamic, since a call may meet a new type
	elems map[reflect.Type]*Layout // of the elements of slices, maps, pointers and interfaces
}

// The limits are Cairn's and may change.
const (
	maxDepth = 64      // of structs inside structs, and of values inside values
	maxArray = 1 << 10 // elements of an array
)

// Of returns the layout of a type. name is the name of the whole in errors:
// "in".
func Of(t reflect.Type, name string, rules Rules) (*Layout, error) {
	l := &Layout{typ: t, name: name, space: &space{rules: rules, elems: map[reflect.Type]*Layout{}}}
	return l, l.add(t, entry{}, 0, true)
}

// Static returns the name and the type of the first part that is neither a place nor
// leads to one; ok is false if there is none.
func (l *Layout) Static() (name string, t reflect.Type, ok bool) {
	if len(l.statics) > 0 {
		return l.name + l.statics[0].name, l.statics[0].typ, true
	}
	for _, e := range l.entries {
		if e.elem != nil && e.elem != l && e.kind != pointerEntry {
			if name, t, ok := e.elem.Static(); ok {
				return l.name + e.name + "[…]" + strings.TrimPrefix(name, e.elem.name), t, true
			}
		}
	}
	return "", nil, false
}

// Fixed reports whether every value of the type has the same number of values, at the
// same offsets.
func (l *Layout) Fixed() bool {
	for _, e := range l.entries {
		if e.kind != valueEntry {
			return false
		}
	}
	return true
}

// Len returns the number of values and of places that lead to values; 0 if values of
// the type hold none.
func (l *Layout) Len() int { return len(l.entries) }

// add adds the places of a value of type t.
func (l *Layout) add(t reflect.Type, at entry, depth int, root bool) error {
	if depth > maxDepth {
		return fmt.Errorf("%v nests too deep at %s%s", l.typ, l.name, at.name)
	}
	at.typ = t
	if l.space.rules.IsValue(t, root) {
		at.kind = valueEntry
		l.entries = append(l.entries, at)
		return nil
	}
	if !l.space.holds(t, map[reflect.Type]bool{}) {
		at.kind = staticEntry
		if t.Size() > 0 {
			l.statics = append(l.statics, at)
		}
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return l.addStruct(t, at, depth)
	case reflect.Array:
		if t.Len() > maxArray {
			return fmt.Errorf("%v: the array %s%s is too long; use a slice", l.typ, l.name, at.name)
		}
		for i := range t.Len() {
			e := entry{offset: at.offset + uintptr(i)*t.Elem().Size(), name: fmt.Sprintf("%s[%d]", at.name, i), path: join(at.path, fmt.Sprint(i))}
			if err := l.add(t.Elem(), e, depth+1, false); err != nil {
				return err
			}
		}
		return nil
	case reflect.Interface:
		at.kind = dynamicEntry
	default:
		at.kind = map[reflect.Kind]entryKind{reflect.Slice: sliceEntry, reflect.Map: mapEntry, reflect.Pointer: pointerEntry}[t.Kind()]
		var err error
		if at.elem, err = l.space.layout(t.Elem()); err != nil {
			return err
		}
	}
	l.entries = append(l.entries, at)
	return nil
}

func (l *Layout) addStruct(t reflect.Type, at entry, depth int) error {
	for i := range t.NumField() {
		f := t.Field(i)
		e := entry{offset: at.offset + f.Offset, name: at.name + "." + f.Name, path: join(at.path, FieldName(f))}
		if hidden(f) {
			e.typ, e.kind = f.Type, staticEntry
			l.statics = append(l.statics, e)
			continue
		}
		before := len(l.entries)
		if err := l.add(f.Type, e, depth+1, false); err != nil {
			return err
		}
		if !f.IsExported() && !f.Anonymous && len(l.entries) > before {
			return fmt.Errorf("%v: field %s%s holds values but isn't exported", l.typ, l.name, e.name)
		}
	}
	return nil
}

// FieldName returns the name of a struct's field as files have it: the field's in
// snake case, or that of its tag.
func FieldName(f reflect.StructField) string {
	if tag := f.Tag.Get("cairn"); tag != "" && tag != "-" {
		return tag
	}
	return trackable.SnakeCase(f.Name)
}

// layout returns the layout of a type below the root. It may be in the making: a type
// may lead to itself.
func (s *space) layout(t reflect.Type) (*Layout, error) {
	if l := s.elems[t]; l != nil {
		return l, nil
	}
	l := &Layout{typ: t, space: s}
	s.elems[t] = l
	if err := l.add(t, entry{}, 0, false); err != nil {
		delete(s.elems, t) // so that each use of the type is an error
		return nil, err
	}
	return l, nil
}

// dynamic returns the layout of the dynamic type of an interface, or nil if it
// leads to no place.
func (s *space) dynamic(t reflect.Type) *Layout {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.layout(t)
	if err != nil || l.Len() == 0 {
		return nil
	}
	return l
}

// holds reports whether values of t may lead to values. A pointer to an object,
// a struct with unexported fields, doesn't.
func (s *space) holds(t reflect.Type, seen map[reflect.Type]bool) bool {
	if s.rules.IsValue(t, false) {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); !hidden(f) && s.holds(f.Type, seen) {
				return true
			}
		}
	case reflect.Pointer:
		return !isObject(t.Elem()) && s.holds(t.Elem(), seen)
	case reflect.Array, reflect.Slice, reflect.Map:
		return s.holds(t.Elem(), seen)
	case reflect.Interface:
		return t.NumMethod() == 0
	}
	return false
}

// hidden reports whether a field is an unexported interface: its contents are
// private to its struct.
func hidden(f reflect.StructField) bool {
	return !f.IsExported() && !f.Anonymous && f.Type.Kind() == reflect.Interface
}

// isObject reports whether a pointer to t is distinguished by its address, not
// by the contents there: a struct with unexported fields.
func isObject(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		if f := t.Field(i); !f.IsExported() || f.Anonymous && isObject(f.Type) {
			return true
		}
	}
	return false
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "/" + key
}
