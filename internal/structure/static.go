package structure

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/cairnml/cairn/tensor"
)

// AppendKey appends to key all of the value at base except its values: static
// values, the lengths of slices, the keys of maps, which pointers are nil. Two
// values of the type have equal keys if and only if they differ in values only.
// The objects of two pointers count as the same if the pointers are equal; a
// func that isn't nil can't be distinguished and is an error that names it.
//
// Package function chooses traces by keys. They are kept in memory only, so
// their bytes may change, but not which values have equal ones.
func (l *Layout) AppendKey(key []byte, base unsafe.Pointer) ([]byte, error) {
	return l.appendKey(key, base, nil, 0)
}

func (l *Layout) appendKey(key []byte, base unsafe.Pointer, from *trail, depth int) ([]byte, error) {
	if depth > maxDepth {
		return key, fmt.Errorf("%s is too deep: does it lead to itself?", Place{l, &entry{}, from}.Name())
	}
	var err error
	for i := range l.statics {
		e := &l.statics[i]
		w := keyWriter{key: key}
		w.add(reflect.NewAt(e.typ, unsafe.Add(base, e.offset)).Elem(), 0)
		if key = w.key; w.err != nil {
			return key, fmt.Errorf("the static argument %s %w", Place{l, e, from}.Name(), w.err)
		}
	}
	for i := range l.entries {
		e := &l.entries[i]
		if e.kind == valueEntry {
			continue
		}
		v := reflect.NewAt(e.typ, unsafe.Add(base, e.offset)).Elem()
		if v.IsNil() && (e.kind == pointerEntry || e.kind == dynamicEntry) {
			key = append(key, 0)
			continue
		}
		switch e.kind {
		case sliceEntry:
			key = binary.AppendUvarint(key, uint64(v.Len()))
			for k := range v.Len() {
				if key, err = e.elem.appendKey(key, v.Index(k).Addr().UnsafePointer(), &trail{l, e, from, nil, k}, depth+1); err != nil {
					return key, err
				}
			}
		case mapEntry:
			key = binary.AppendUvarint(key, uint64(v.Len()))
			for _, k := range sortedKeys(v) {
				key = appendText(key, fmt.Sprint(k))
				if key, err = e.elem.appendKey(key, copyOf(v.MapIndex(k)).UnsafePointer(), &trail{l, e, from, k.Interface(), -1}, depth+1); err != nil {
					return key, err
				}
			}
		case pointerEntry:
			if key, err = e.elem.appendKey(append(key, 1), v.UnsafePointer(), &trail{l, e, from, nil, -1}, depth+1); err != nil {
				return key, err
			}
		case dynamicEntry:
			key = appendText(append(key, 1), typeName(v.Elem().Type()))
			if p, inner := l.held(v); inner != nil {
				if key, err = inner.appendKey(key, p.UnsafePointer(), &trail{l, e, from, nil, -1}, depth+1); err != nil {
					return key, err
				}
				continue
			}
			w := keyWriter{key: key}
			w.add(v.Elem(), 0)
			if key = w.key; w.err != nil {
				return key, fmt.Errorf("the static argument %s %w", Place{l, e, from}.Name(), w.err)
			}
		}
	}
	return key, nil
}

// typeName returns a text that is unique to the type.
func typeName(t reflect.Type) string { return t.PkgPath() + "." + t.String() }

// appendText appends the length of s, then s, so that no other row of texts has the same bytes.
func appendText(key []byte, s string) []byte {
	return append(binary.AppendUvarint(key, uint64(len(s))), s...)
}

// keyWriter writes a static value down, so that equal ones are equal bytes. After an
// error it adds nothing.
type keyWriter struct {
	key []byte
	err error // continues a text that names the argument: "is too deep"
}

func (w *keyWriter) number(n uint64) { w.key = binary.AppendUvarint(w.key, n) }

func (w *keyWriter) add(v reflect.Value, depth int) {
	if depth > maxDepth && w.err == nil {
		w.err = fmt.Errorf("is too deep: does it lead to itself?")
	}
	if w.err != nil {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		n := uint64(0)
		if v.Bool() {
			n = 1
		}
		w.number(n)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.key = binary.AppendVarint(w.key, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		w.number(v.Uint())
	case reflect.Float32, reflect.Float64:
		w.number(math.Float64bits(v.Float()))
	case reflect.Complex64, reflect.Complex128:
		w.number(math.Float64bits(real(v.Complex())))
		w.number(math.Float64bits(imag(v.Complex())))
	case reflect.String:
		w.key = appendText(w.key, v.String())
	case reflect.Struct:
		for i := range v.NumField() {
			w.add(v.Field(i), depth+1)
		}
	case reflect.Array, reflect.Slice:
		w.number(uint64(v.Len()))
		for i := range v.Len() {
			w.add(v.Index(i), depth+1)
		}
	case reflect.Map:
		w.number(uint64(v.Len()))
		for _, k := range sortedKeys(v) {
			w.add(k, depth+1)
			w.add(v.MapIndex(k), depth+1)
		}
	case reflect.Interface:
		if v.IsNil() {
			w.number(0)
			return
		}
		w.number(1)
		w.key = appendText(w.key, typeName(v.Elem().Type()))
		w.add(v.Elem(), depth+1)
	case reflect.Pointer:
		w.addPointer(v, depth)
	case reflect.Func:
		if !v.IsNil() {
			w.err = fmt.Errorf("is a func, which can't be distinguished from another one: make it a method's, or a field that is chosen by a number or a string")
		}
	case reflect.Chan, reflect.UnsafePointer:
		w.number(uint64(v.Pointer()))
	}
}

var tensorType = reflect.TypeFor[*tensor.Tensor]()

// addPointer adds a tensor by its elements, an object by its address, and any other pointer by
// the value that it points to.
func (w *keyWriter) addPointer(v reflect.Value, depth int) {
	switch {
	case v.IsNil():
		w.number(0)
	case v.Type() == tensorType && v.CanInterface():
		t := v.Interface().(*tensor.Tensor)
		w.number(uint64(t.DType()) + 1)
		w.add(reflect.ValueOf(t.Shape()), depth+1)
		if t.DType().Fixed() {
			w.key = appendText(w.key, string(t.Bytes()))
		} else {
			w.add(reflect.ValueOf(t.Strings()), depth+1)
		}
	case isObject(v.Type().Elem()):
		w.number(uint64(v.Pointer()))
	default:
		w.number(1)
		w.add(v.Elem(), depth+1)
	}
}
