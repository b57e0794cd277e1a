package function

import (
	"fmt"
	"reflect"
	"sort"
	"unsafe"

	"github.com/cairnml/cairn/ops"
)

// layout says where the values lie in a type. It is made once, at New; a call
// follows it without looking at types again, except inside slices and maps.
type layout struct {
	typ   reflect.Type
	name  string
	slots []slot // *ops.Value at fixed places
	parts []part // slices, arrays, maps and pointers that hold values
}

// slot is the place of a *ops.Value.
type slot struct {
	offset uintptr
	name   string
}

// part is the place of something whose values are reached by reflection.
type part struct {
	offset uintptr
	name   string
	typ    reflect.Type
	elem   *layout
}

var valueType = reflect.TypeFor[*ops.Value]()

// maxDepth bounds how deep structs may nest; only a recursive type reaches it.
const maxDepth = 32

func layoutOf(t reflect.Type, name string) (*layout, error) {
	p := &layout{typ: t, name: name}
	return p, p.add(t, 0, name, 0)
}

func (p *layout) add(t reflect.Type, offset uintptr, name string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("function: %v nests too deep at %s", p.typ, name)
	}
	if t == valueType {
		p.slots = append(p.slots, slot{offset, name})
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			before := len(p.slots) + len(p.parts)
			if err := p.add(f.Type, offset+f.Offset, name+"."+f.Name, depth+1); err != nil {
				return err
			}
			if !f.IsExported() && !f.Anonymous && len(p.slots)+len(p.parts) > before {
				return fmt.Errorf("function: %v: field %s holds values but isn't exported", p.typ, f.Name)
			}
		}
	case reflect.Array:
		for i := range t.Len() {
			if i > 1<<10 {
				return fmt.Errorf("function: %v: array %s is too long; use a slice", p.typ, name)
			}
			before := len(p.slots) + len(p.parts)
			if err := p.add(t.Elem(), offset+uintptr(i)*t.Elem().Size(), fmt.Sprintf("%s[%d]", name, i), depth+1); err != nil {
				return err
			}
			if len(p.slots)+len(p.parts) == before {
				break // nothing in the elements
			}
		}
	case reflect.Slice, reflect.Map:
		elem := &layout{typ: t.Elem(), name: name + "[…]"}
		if err := elem.add(t.Elem(), 0, elem.name, depth+1); err != nil {
			return err
		}
		if len(elem.slots)+len(elem.parts) > 0 {
			p.parts = append(p.parts, part{offset, name, t, elem})
		}
	}
	return nil
}

// check refuses nil values in an argument.
func (p *layout) check(arg any) error {
	return p.each(reflect.ValueOf(arg).UnsafePointer(), func(at **ops.Value, name string) error {
		if *at == nil {
			return fmt.Errorf("function: %s is nil", name)
		}
		return nil
	})
}

// keep makes the values of a result outlive the scope.
func (p *layout) keep(s *ops.Scope, result any) error {
	return p.each(reflect.ValueOf(result).UnsafePointer(), func(at **ops.Value, name string) error {
		if *at == nil {
			return nil // an optional output that the function left out
		}
		v := s.Keep(*at)
		if v == nil {
			return fmt.Errorf("function: %s: %w", name, ops.ErrDeadValue)
		}
		*at = v
		return nil
	})
}

func (p *layout) each(base unsafe.Pointer, f func(at **ops.Value, name string) error) error {
	for _, s := range p.slots {
		if err := f((**ops.Value)(unsafe.Add(base, s.offset)), s.name); err != nil {
			return err
		}
	}
	for _, part := range p.parts {
		v := reflect.NewAt(part.typ, unsafe.Add(base, part.offset)).Elem()
		if part.typ.Kind() == reflect.Map {
			if err := part.eachOfMap(v, f); err != nil {
				return err
			}
			continue
		}
		size := part.typ.Elem().Size()
		for i := range v.Len() {
			if err := part.elem.each(unsafe.Add(v.UnsafePointer(), uintptr(i)*size), f); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachOfMap visits the entries in the order of their keys, so that the same
// value gives the same list every time.
func (p part) eachOfMap(m reflect.Value, f func(at **ops.Value, name string) error) error {
	keys := m.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return fmt.Sprint(keys[i]) < fmt.Sprint(keys[j]) })
	for _, key := range keys {
		e := reflect.New(p.typ.Elem())
		e.Elem().Set(m.MapIndex(key))
		before := e.Elem().Interface()
		if err := p.elem.each(e.UnsafePointer(), f); err != nil {
			return fmt.Errorf("%w (key %v)", err, key)
		}
		if _, plain := before.(*ops.Value); !plain || before != e.Elem().Interface() {
			m.SetMapIndex(key, e.Elem())
		}
	}
	return nil
}

// detach copies the slices and maps that values are reached through, so that
// the values at arg can be replaced without a change of what arg was copied
// from.
func (p *layout) detach(base unsafe.Pointer) {
	for _, part := range p.parts {
		v := reflect.NewAt(part.typ, unsafe.Add(base, part.offset)).Elem()
		if v.IsNil() {
			continue
		}
		if part.typ.Kind() == reflect.Map {
			fresh := reflect.MakeMapWithSize(part.typ, v.Len())
			for it := v.MapRange(); it.Next(); {
				e := reflect.New(part.typ.Elem())
				e.Elem().Set(it.Value())
				part.elem.detach(e.UnsafePointer())
				fresh.SetMapIndex(it.Key(), e.Elem())
			}
			v.Set(fresh)
			continue
		}
		fresh := reflect.MakeSlice(part.typ, v.Len(), v.Len())
		reflect.Copy(fresh, v)
		v.Set(fresh)
		for i := range v.Len() {
			part.elem.detach(v.Index(i).Addr().UnsafePointer())
		}
	}
}

// flatten returns the values in arg in order, each with its name.
func (p *layout) flatten(base unsafe.Pointer) (values []*ops.Value, names []string) {
	_ = p.each(base, func(at **ops.Value, name string) error {
		values, names = append(values, *at), append(names, name)
		return nil
	})
	return values, names
}
