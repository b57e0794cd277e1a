package trackable

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/cairnml/cairn/tensor"
)

// class classifies a static type by the values it can have.
type class uint8

const (
	classNone    class = iota
	classObject        // a pointer that is a node
	classValue         // a struct whose address is a node
	classDynamic       // an interface: its value decides
	classList          // a slice or array of any of these
	classMap           // a map to any of these
)

var (
	typeParent         = reflect.TypeFor[Parent]()
	typeNoder          = reflect.TypeFor[Noder]()
	typeVariable       = reflect.TypeFor[VariableLike]()
	typeSerializer     = reflect.TypeFor[Serializer]()
	typeSlotOwner      = reflect.TypeFor[SlotOwner]()
	typeUntracked      = reflect.TypeFor[Untracked]()
	typeSavedModelOnly = reflect.TypeFor[SavedModelOnly]()

	// Bookkeeping of this package that embedding brings along.
	ownTypes = map[reflect.Type]bool{
		reflect.TypeFor[Base]():  true,
		reflect.TypeFor[Node]():  true,
		reflect.TypeFor[Slots](): true,
		reflect.TypeFor[Gate]():  true,
	}
	structVariable = reflect.TypeFor[Variable]()
)

// hasMethods reports whether t has a method set that makes its values nodes.
func hasMethods(t reflect.Type) bool {
	return t.Implements(typeParent) || t.Implements(typeNoder) || t.Implements(typeVariable) ||
		t.Implements(typeSerializer) || t.Implements(typeSlotOwner)
}

// purpose distinguishes the two kinds of files that an object graph is written to.
type purpose uint8

const (
	forCheckpoint purpose = iota // tf.train.Checkpoint's edges
	forSavedModel                // for checkpoints, plus the objects that only SavedModels have: functions
)

// excludes reports whether t marks its values as no nodes: as Untracked, and for a SavedModel
// not as SavedModelOnly.
func (p purpose) excludes(t reflect.Type) bool {
	return t.Implements(typeUntracked) && (p == forCheckpoint || !t.Implements(typeSavedModelOnly))
}

// includes reports whether the method set of t makes its values nodes.
func (p purpose) includes(t reflect.Type) bool {
	return hasMethods(t) || p == forSavedModel && t.Implements(typeSavedModelOnly)
}

// classify returns the class of a static type. An interface is classDynamic, whatever it holds.
func (p purpose) classify(t reflect.Type) class {
	switch t.Kind() {
	case reflect.Pointer:
		elem := t.Elem()
		switch {
		case p.excludes(t) || ownTypes[elem]:
			return classNone
		case p.includes(t):
			return classObject
		case elem.Kind() == reflect.Struct && p.holdsTrackable(elem):
			return classObject
		case elem.Kind() == reflect.Slice || elem.Kind() == reflect.Map:
			if p.classify(elem) != classNone {
				return classObject
			}
		}
	case reflect.Struct:
		pointer := reflect.PointerTo(t)
		switch {
		case p.excludes(pointer) || ownTypes[t]:
			return classNone
		case p.includes(pointer) || p.holdsTrackable(t):
			return classValue
		}
	case reflect.Interface:
		return classDynamic
	case reflect.Array:
		if t.Len() == 0 {
			return classNone // type tags such as atomic.Pointer's [0]*T
		}
		fallthrough
	case reflect.Slice:
		if p.classify(t.Elem()) != classNone {
			return classList
		}
	case reflect.Map:
		if p.classify(t.Elem()) != classNone {
			return classMap
		}
	}
	return classNone
}

// certain reports whether values of a static type are always tracked. For
// interfaces classify leaves that open.
func (p purpose) certain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return p.includes(t)
	case reflect.Slice, reflect.Array, reflect.Map:
		return p.classify(t) != classNone && p.certain(t.Elem())
	case reflect.Pointer:
		if k := t.Elem().Kind(); (k == reflect.Slice || k == reflect.Map) && !p.includes(t) {
			return p.certain(t.Elem())
		}
	}
	return p.classify(t) != classNone
}

// element strips slices, maps, arrays and pointers to slices and maps.
func element(t reflect.Type) reflect.Type {
	for {
		switch t.Kind() {
		case reflect.Slice, reflect.Map:
			t = t.Elem()
		case reflect.Array:
			if t.Len() == 0 {
				return t
			}
			t = t.Elem()
		case reflect.Pointer:
			if k := t.Elem().Kind(); k != reflect.Slice && k != reflect.Map {
				return t
			}
			t = t.Elem()
		default:
			return t
		}
	}
}

// Data is implemented by values that hold data without being part of the object graph,
// as tensors do. A field of a tracked struct that has such a type is an error,
// since its data would be missing in the checkpoint.
type Data interface{ UntrackedData() }

var (
	typeTensor = reflect.TypeFor[*tensor.Tensor]()
	typeData   = reflect.TypeFor[Data]()
)

func isData(t reflect.Type) bool {
	return t == typeTensor || t == typeTensor.Elem() || t.Implements(typeData) && t.Kind() == reflect.Pointer
}

func untrackedData(field string, of, t reflect.Type) error {
	return fmt.Errorf("field %s of %v is a %v, which a checkpoint doesn't hold: make it a *trackable.Variable, or tag it `cairn:\"-\"` to leave it out", field, of, t)
}

var holds sync.Map // typeFor → bool

// holdsTrackable reports whether a struct type has, at any depth, a field that
// is tracked for sure. Types may refer to themselves, so this walks the types
// reachable and keeps no partial result.
func (p purpose) holdsTrackable(t reflect.Type) bool {
	if known, ok := holds.Load(typeFor{p, t}); ok {
		return known.(bool)
	}
	found := false
	seen := map[reflect.Type]bool{}
	queue := []reflect.Type{t}
	for len(queue) > 0 && !found {
		s := queue[0]
		queue = queue[1:]
		if seen[s] {
			continue
		}
		seen[s] = true
		for i := range s.NumField() {
			f := s.Field(i)
			if f.Name == "_" || f.Tag.Get("cairn") == "-" {
				continue
			}
			ft := element(f.Type)
			pointer := ft
			switch ft.Kind() {
			case reflect.Interface:
				found = found || p.includes(ft)
				continue
			case reflect.Pointer:
				ft = ft.Elem()
			case reflect.Struct:
				pointer = reflect.PointerTo(ft)
			default:
				continue
			}
			if p.excludes(pointer) || ownTypes[ft] {
				continue
			}
			if p.includes(pointer) {
				found = true
			} else if ft.Kind() == reflect.Struct {
				if known, ok := holds.Load(typeFor{p, ft}); ok {
					found = found || known.(bool)
				} else {
					queue = append(queue, ft)
				}
			}
		}
	}
	holds.Store(typeFor{p, t}, found)
	return found
}

// structLayout lists the fields that a walk reads from values of one struct type,
// in field order.
type structLayout struct {
	typ     reflect.Type
	purpose purpose
	fields  []trackedField
	err     error // the first fault of the type, which every walk returns
}

type trackedField struct {
	index    []int  // the path of the field, through embedded structs
	name     string // Go's, for errors
	edge     string // the edge's name
	class    class
	embedded bool // an embedded struct that lists its own children
	hidden   bool // an unexported interface: a trackable value in it is an error
}

// typeFor is the key of the cache of struct types.
type typeFor struct {
	purpose purpose
	typ     reflect.Type
}

var layouts sync.Map // typeFor → *structLayout

// layoutOf returns the layout of a struct type, made once for each type and purpose.
func (p purpose) layoutOf(t reflect.Type) *structLayout {
	key := typeFor{p, t}
	if l, ok := layouts.Load(key); ok {
		return l.(*structLayout)
	}
	l := &structLayout{typ: t, purpose: p}
	l.add(t, nil)
	seen := map[string]string{}
	for _, f := range l.fields {
		if f.embedded || f.hidden {
			continue
		}
		if other, dup := seen[f.edge]; dup && l.err == nil {
			l.err = fmt.Errorf("trackable: fields %s and %s of %v are both called %q; rename one with a tag `cairn:\"name\"`", other, f.name, t, f.edge)
		}
		seen[f.edge] = f.name
	}
	got, _ := layouts.LoadOrStore(key, l)
	return got.(*structLayout)
}

func (l *structLayout) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("trackable: "+format, args...)
	}
}

func (l *structLayout) add(t reflect.Type, prefix []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("cairn")
		if tag == "-" || f.Name == "_" {
			continue
		}
		index := append(append([]int(nil), prefix...), i)
		if f.Anonymous && (!tagged || tag == "") {
			switch {
			case f.Type.Kind() == reflect.Struct:
				if ownTypes[f.Type] || f.Type == structVariable {
					continue
				}
				ptr := reflect.PointerTo(f.Type)
				if l.purpose.excludes(ptr) {
					continue
				}
				if ptr.Implements(typeParent) && f.IsExported() {
					l.fields = append(l.fields, trackedField{index: index, name: f.Name, embedded: true})
					continue
				}
				l.add(f.Type, index)
				continue
			case f.Type.Kind() == reflect.Pointer && l.purpose.classify(f.Type) != classNone:
				l.fail("%v embeds the pointer %v; embed the struct itself, or name the field", l.typ, f.Type)
				continue
			}
		}
		c := l.purpose.classify(f.Type)
		if c == classNone {
			if isData(element(f.Type)) {
				l.fail("%v", untrackedData(f.Name, l.typ, f.Type))
				continue
			}
			if tagged && tag != "" && forSavedModel.classify(f.Type) == classNone { // a function's tag names its edge in a SavedModel
				l.fail("field %s of %v has the tag `cairn:%q`, but a %v can't be tracked", f.Name, l.typ, tag, f.Type)
			}
			continue
		}
		if !f.IsExported() {
			if l.purpose.certain(f.Type) {
				l.fail("field %s of %v holds a %v but isn't exported: export it, Attach it, or tag it `cairn:\"-\"`", f.Name, l.typ, f.Type)
			} else if c == classDynamic {
				l.fields = append(l.fields, trackedField{index: index, name: f.Name, class: c, hidden: true})
			}
			continue
		}
		edge := tag
		if edge == "" {
			edge = SnakeCase(f.Name)
		}
		l.fields = append(l.fields, trackedField{index: index, name: f.Name, edge: edge, class: c})
	}
}
