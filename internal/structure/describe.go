package structure

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode"
	"unsafe"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Describe returns the structure of the value at base: structs are named tuples,
// slices lists, arrays tuples, maps dicts; nil pointers, interfaces, functions and
// channels are None. place returns the structure of the value at an address: of a
// tensor or a composite. Fields that aren't exported are left out. A struct that has
// no others is a static value as a whole, and so is a pointer to an object.
//
// Package function uses it for the arguments and results of a trace, and a SavedModel
// stores them. The kinds and names must stay, because callers of saved functions use
// them.
func (l *Layout) Describe(base unsafe.Pointer, place func(at unsafe.Pointer) *graph.Structure) *graph.Structure {
	d := describer{l.space.rules, place}
	return d.describe(reflect.NewAt(l.typ, base).Elem(), true, 0)
}

// describer describes one value.
type describer struct {
	rules Rules
	place func(at unsafe.Pointer) *graph.Structure // describes a value, at its address
}

func (d *describer) describe(v reflect.Value, root bool, depth int) *graph.Structure {
	t := v.Type()
	if d.rules.IsValue(t, root) {
		return d.place(v.Addr().UnsafePointer())
	}
	if depth > maxDepth { // Each and AppendKey return the error
		return &graph.Structure{}
	}
	if s := static(v); s != nil {
		return s
	}
	switch t.Kind() {
	case reflect.Struct:
		var keys []string
		var elems []*graph.Structure
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				keys, elems = append(keys, FieldName(f)), append(elems, d.describe(v.Field(i), false, depth+1))
			}
		}
		if keys == nil && t.NumField() > 0 {
			return graph.StaticOf(v.Interface())
		}
		return graph.NamedOf(tupleName(t), keys, elems)
	case reflect.Slice, reflect.Array:
		elems := make([]*graph.Structure, v.Len())
		for i := range elems {
			elems[i] = d.describe(v.Index(i), false, depth+1)
		}
		if t.Kind() == reflect.Array {
			return graph.TupleOf(elems...)
		}
		return graph.ListOf(elems...)
	case reflect.Map:
		var keys []string
		var elems []*graph.Structure
		for _, k := range sortedKeys(v) {
			keys = append(keys, fmt.Sprint(k))
			elems = append(elems, d.describe(copyOf(v.MapIndex(k)).Elem(), false, depth+1))
		}
		return graph.DictOf(keys, elems)
	case reflect.Interface:
		return d.describe(copyOf(v.Elem()).Elem(), false, depth+1)
	case reflect.Pointer:
		if !isObject(t.Elem()) {
			return d.describe(v.Elem(), false, depth+1)
		}
	}
	return graph.StaticOf(v.Interface())
}

// static returns the structure of a plain value; nil for anything else.
func static(v reflect.Value) *graph.Structure {
	switch x := v.Interface().(type) {
	case tensor.DType:
		return graph.StaticOf(x)
	case tensor.Shape:
		return graph.StaticOf(graph.Whole(x))
	case graph.PartialShape:
		return graph.StaticOf(x)
	case *tensor.Tensor:
		if x != nil {
			return graph.StaticOf(x)
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		return graph.StaticOf(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return graph.StaticOf(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if n := v.Uint(); n <= math.MaxInt64 {
			return graph.StaticOf(int64(n))
		}
		return graph.StaticOf(v.Uint())
	case reflect.Float32, reflect.Float64:
		return graph.StaticOf(v.Float())
	case reflect.Complex64, reflect.Complex128:
		return graph.StaticOf(v.Complex())
	case reflect.String:
		return graph.StaticOf(v.String())
	case reflect.Pointer, reflect.Interface, reflect.Func, reflect.Chan:
		if v.IsNil() {
			return graph.StaticOf(nil)
		}
	}
	return nil
}

// tupleName returns the name of the named tuple of a struct type: the type's name without
// type arguments; Struct if it has none.
func tupleName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[") // type arguments
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "Struct"
	}
	return name
}
