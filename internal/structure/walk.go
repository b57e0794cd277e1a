package structure

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
	"unsafe"
)

// Place is the place of a visited value.
type Place struct {
	layout *Layout
	entry  *entry
	trail  *trail // to layout; nil in the outermost layout
}

// trail is the path to a place that isn't at a fixed offset: a step through an entry of
// a layout into another layout, after the steps of its parent.
type trail struct {
	layout *Layout
	entry  *entry
	parent *trail
	key    any // of a map's entry, else nil
	index  int // of a slice's element, negative if there is none
}

// Type returns the place's type.
func (l Place) Type() reflect.Type { return l.entry.typ }

// Name returns the place as Go code would write it, for errors: "in.Pairs[2].X".
func (l Place) Name() string {
	var b strings.Builder
	l.trail.writeName(&b)
	b.WriteString(l.layout.name + l.entry.name)
	return b.String()
}

func (t *trail) writeName(b *strings.Builder) {
	if t == nil {
		return
	}
	t.parent.writeName(b)
	b.WriteString(t.layout.name + t.entry.name)
	switch {
	case t.key != nil:
		fmt.Fprintf(b, "[%#v]", t.key)
	case t.index >= 0:
		fmt.Fprintf(b, "[%d]", t.index)
	}
}

// Path returns the place's path as in files, "pairs/2/x"; empty if it is the whole. The
// names of arguments and results in saved graphs are made of it, so it must stay.
func (l Place) Path() string { return join2(l.trail.path(), l.entry.path) }

func (t *trail) path() string {
	if t == nil {
		return ""
	}
	p := join2(t.parent.path(), t.entry.path)
	switch {
	case t.key != nil:
		p = join(p, fmt.Sprint(t.key))
	case t.index >= 0:
		p = join(p, fmt.Sprint(t.index))
	}
	return p
}

// join2 joins two paths, of which b may be empty.
func join2(a, b string) string {
	if b == "" {
		return a
	}
	return join(a, b)
}

// Visit is called with the address of a value and its place. An error ends the walk.
type Visit func(at unsafe.Pointer, place Place) error

// Each visits the values of the value at base, which f must not change. The order is
// that of the package's comment.
func (l *Layout) Each(base unsafe.Pointer, f Visit) error { return l.walk(base, f, nil, 0, false) }

// Update visits the values of the value at base, which f may change; entries of
// maps and contents of interfaces are set again. This must not change data that
// the value shares with another one: [Layout.Detach] comes first.
func (l *Layout) Update(base unsafe.Pointer, f Visit) error { return l.walk(base, f, nil, 0, true) }

// walk does the work of Each, or of Update if update is set. base is the address of a value of the
// layout's type, from leads to it, and depth is the number of layouts around it.
func (l *Layout) walk(base unsafe.Pointer, f Visit, from *trail, depth int, update bool) error {
	if depth > maxDepth {
		return fmt.Errorf("%s is too deep: does it lead to itself?", Place{l, &entry{}, from}.Name())
	}
	for i := range l.entries {
		e := &l.entries[i]
		at := unsafe.Add(base, e.offset)
		var err error
		switch e.kind {
		case valueEntry:
			err = f(at, Place{l, e, from})
		case sliceEntry:
			err = l.walkSlice(at, e, f, from, depth, update)
		case mapEntry:
			err = l.walkMap(at, e, f, from, depth, update)
		case pointerEntry:
			if p := *(*unsafe.Pointer)(at); p != nil {
				err = e.elem.walk(p, f, &trail{l, e, from, nil, -1}, depth+1, update)
			}
		case dynamicEntry:
			v := reflect.NewAt(e.typ, at).Elem()
			held, inner := l.held(v)
			if inner == nil {
				continue
			}
			err = inner.walk(held.UnsafePointer(), f, &trail{l, e, from, nil, -1}, depth+1, update)
			if update && err == nil {
				v.Set(held.Elem())
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// held returns a pointer to a copy of the contents of the interface v, and the layout of
// the contents. That is nil if no place is in them.
func (l *Layout) held(v reflect.Value) (reflect.Value, *Layout) {
	if v.IsNil() {
		return v, nil
	}
	inner := l.space.dynamic(v.Elem().Type())
	if inner == nil {
		return v, nil
	}
	return copyOf(v.Elem()), inner
}

// copyOf returns a pointer to a copy of v.
func copyOf(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p
}

func (l *Layout) walkSlice(at unsafe.Pointer, e *entry, f Visit, from *trail, depth int, update bool) error {
	v := reflect.NewAt(e.typ, at).Elem()
	size := e.typ.Elem().Size()
	for i := range v.Len() {
		t := &trail{l, e, from, nil, i}
		if err := e.elem.walk(unsafe.Add(v.UnsafePointer(), uintptr(i)*size), f, t, depth+1, update); err != nil {
			return err
		}
	}
	return nil
}

func (l *Layout) walkMap(at unsafe.Pointer, e *entry, f Visit, from *trail, depth int, update bool) error {
	m := reflect.NewAt(e.typ, at).Elem()
	for _, key := range sortedKeys(m) {
		p := copyOf(m.MapIndex(key))
		t := &trail{l, e, from, key.Interface(), -1}
		if err := e.elem.walk(p.UnsafePointer(), f, t, depth+1, update); err != nil {
			return err
		}
		if update {
			m.SetMapIndex(key, p.Elem())
		}
	}
	return nil
}

// sortedKeys returns a map's keys in the order of their text, so that a walk visits the
// values of equal maps in the same order. The order must stay: that of the arguments of
// saved functions depends on it.
func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	if m.Type().Key().Kind() == reflect.String {
		sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
		return keys
	}
	sort.Slice(keys, func(i, j int) bool { return fmt.Sprint(keys[i]) < fmt.Sprint(keys[j]) })
	return keys
}

// Detach copies the slices, maps, pointers and interfaces through which the
// values of the value at base are reached, so that they can be replaced without
// changing the value that it was copied from.
func (l *Layout) Detach(base unsafe.Pointer) { l.detach(base, 0) }

func (l *Layout) detach(base unsafe.Pointer, depth int) {
	if depth > maxDepth {
		return // Each and Update report it
	}
	for i := range l.entries {
		e := &l.entries[i]
		if e.kind == valueEntry {
			continue
		}
		v := reflect.NewAt(e.typ, unsafe.Add(base, e.offset)).Elem()
		if v.IsNil() {
			continue
		}
		switch e.kind {
		case sliceEntry:
			fresh := reflect.MakeSlice(e.typ, v.Len(), v.Len())
			reflect.Copy(fresh, v)
			v.Set(fresh)
			for i := range v.Len() {
				e.elem.detach(v.Index(i).Addr().UnsafePointer(), depth+1)
			}
		case mapEntry:
			fresh := reflect.MakeMapWithSize(e.typ, v.Len())
			for it := v.MapRange(); it.Next(); {
				p := copyOf(it.Value())
				e.elem.detach(p.UnsafePointer(), depth+1)
				fresh.SetMapIndex(it.Key(), p.Elem())
			}
			v.Set(fresh)
		case pointerEntry:
			p := copyOf(v.Elem())
			e.elem.detach(p.UnsafePointer(), depth+1)
			v.Set(p)
		case dynamicEntry:
			if p, inner := l.held(v); inner != nil {
				inner.detach(p.UnsafePointer(), depth+1)
				v.Set(p.Elem())
			}
		}
	}
}
