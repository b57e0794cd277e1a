package pb

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Packages savedmodel and internal/fingerprint hash the result of Canonical. Its bytes
// must stay: TensorFlow computes the same fingerprints of a SavedModel.

// Canonical brings a message into the form in which TensorFlow's C++ writes it
// deterministically, so that it can be hashed. The entries of every map are sorted by
// ascending keys; of entries with equal keys only the last stays. C++ drops the unknown
// fields of map entries, so they are dropped here too. Fields are written by their numbers
// in any case, unknown ones last.
//
// Messages inside that are decoded lazily are decoded one at a time and encoded again. The
// memory in use is thus that of the encoded message and of the largest of them.
func Canonical(m Message) error { return canonical(reflect.ValueOf(m)) }

// isMapEntry reports whether a struct is the entry of a map. It is recognized by the
// generator's names: a type ...Entry with the first field Key.
func isMapEntry(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && strings.HasSuffix(t.Name(), "Entry") && t.NumField() >= 2 && t.Field(0).Name == "Key"
}

func canonical(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || !mayHoldMap(v.Type()) {
			return nil
		}
		if l, ok := v.Interface().(lazy); ok {
			return canonicalLazy(l)
		}
		return canonical(v.Elem())
	case reflect.Struct:
		if !mayHoldMap(v.Type()) {
			return nil
		}
		if v.CanAddr() {
			if l, ok := v.Addr().Interface().(lazy); ok {
				return canonicalLazy(l)
			}
		}
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			if err := canonical(v.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Slice:
		if !mayHoldMap(v.Type()) {
			return nil
		}
		for i := range v.Len() {
			if err := canonical(v.Index(i)); err != nil {
				return err
			}
		}
		if e := v.Type().Elem(); e.Kind() == reflect.Pointer && isMapEntry(e.Elem()) {
			return sortEntries(v)
		}
	}
	return nil
}

func canonicalLazy(l lazy) error {
	m, err := l.decoded()
	if err != nil {
		return err
	}
	if err := Canonical(m); err != nil {
		return err
	}
	l.encode(m)
	return nil
}

// sortEntries sorts the entries of a map and drops those that later ones replace.
func sortEntries(v reflect.Value) error {
	switch key := v.Type().Elem().Elem().Field(0).Type; key.Kind() {
	case reflect.String, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64:
	default:
		return fmt.Errorf("pb: canonical form of a %v: keys of an unknown kind (got %v, want strings or integers)", v.Type().Elem().Elem(), key)
	}
	type entry struct {
		v reflect.Value
		i int
	}
	list := make([]entry, v.Len())
	for i := range list {
		list[i] = entry{v.Index(i).Elem(), i}
		if unknown := list[i].v.FieldByName("Unknown"); unknown.IsValid() {
			unknown.SetZero()
		}
	}
	compare := func(a, b entry) int {
		x, y := a.v.Field(0), b.v.Field(0)
		switch {
		case x.Kind() == reflect.String:
			return strings.Compare(x.String(), y.String())
		case x.CanUint():
			return cmp.Compare(x.Uint(), y.Uint())
		}
		return cmp.Compare(x.Int(), y.Int())
	}
	slices.SortStableFunc(list, compare)
	pointers := make([]reflect.Value, 0, len(list))
	for i, e := range list {
		if i+1 < len(list) && compare(e, list[i+1]) == 0 {
			continue
		}
		pointers = append(pointers, e.v.Addr())
	}
	sorted := reflect.MakeSlice(v.Type(), 0, len(pointers))
	v.Set(reflect.Append(sorted, pointers...))
	return nil
}

var mapHolders sync.Map // reflect.Type → whether a map may be inside

// mayHoldMap reports whether values of a type may hold a map, at any depth.
func mayHoldMap(t reflect.Type) bool {
	if known, ok := mapHolders.Load(t); ok {
		return known.(bool)
	}
	found := false
	seen := map[reflect.Type]bool{}
	for queue := []reflect.Type{t}; len(queue) > 0 && !found; queue = queue[1:] {
		t := queue[0]
		if seen[t] {
			continue
		}
		seen[t] = true
		if t.Kind() == reflect.Struct {
			if l, ok := reflect.New(t).Interface().(lazy); ok {
				queue = append(queue, l.inside())
				continue
			}
		}
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice:
			found = isMapEntry(t.Elem())
			queue = append(queue, t.Elem())
		case reflect.Struct:
			found = isMapEntry(t)
			for i := range t.NumField() {
				if f := t.Field(i); f.IsExported() {
					queue = append(queue, f.Type)
				}
			}
		}
	}
	mapHolders.Store(t, found)
	return found
}
