package trackable

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unsafe"

	"github.com/cairnml/cairn/internal/arena"
)

// Children lists the edges of one object, in the order of files:
//
//   - of a struct its exported fields in order, named in snake case or by a tag
//     `cairn:"name"`, with embedded structs' fields in their place; then the edges
//     that [Base.Attach] and [Base.AddVariable] added. `cairn:"-"` leaves a field
//     out;
//   - of a [Parent] the edges it lists, then the attached ones;
//   - of a slice its elements "0", "1", …; of a map its values by sorted keys.
//
// A struct held by value, in a field, a slice or an array, is known by its
// address: it must not be moved, as an append to its slice does. Fields that
// can't hold anything trackable are left out, and so is nil. An unexported
// field of a trackable type is an error that names it, as are two different
// children of one name and a map whose keys are no strings.
func Children(obj Trackable) ([]Edge, error) { return forCheckpoint.children(obj) }

// SavedModelChildren lists the edges that an object has in a SavedModel: those of
// [Children], and the objects that are [SavedModelOnly] in their places. For a
// [SavedModelParent] it lists the result of that method, then the attached edges.
func SavedModelChildren(obj Trackable) ([]Edge, error) { return forSavedModel.children(obj) }

func (p purpose) children(obj Trackable) ([]Edge, error) {
	if v, ok := obj.(*Variable); ok && v != nil {
		return v.TrackableNode().Edges(), nil // there may be very many
	}
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return nil, fmt.Errorf("trackable: a %T is no node; use a pointer", obj)
	}
	c := collector{purpose: p}
	if err := c.object(obj, v); err != nil {
		return nil, err
	}
	return c.edges, nil
}

// collector collects the edges of one object.
type collector struct {
	purpose purpose
	edges   []Edge
	byName  map[string]int
}

// add appends the edge from obj to child. The same child again under the name is no second edge;
// another one is an error.
func (c *collector) add(obj Trackable, name string, child Trackable) error {
	if c.purpose == forCheckpoint {
		if _, only := child.(SavedModelOnly); only {
			return nil
		}
	}
	if len(c.edges) >= 16 && c.byName == nil {
		c.byName = make(map[string]int, 2*len(c.edges))
		for i, e := range c.edges {
			c.byName[e.Name] = i
		}
	}
	at := -1
	if c.byName != nil {
		if i, ok := c.byName[name]; ok {
			at = i
		}
	} else {
		at = slices.IndexFunc(c.edges, func(e Edge) bool { return e.Name == name })
	}
	if at >= 0 {
		if Identity(c.edges[at].Child) == Identity(child) {
			return nil
		}
		return &DuplicateEdgeError{Object: fmt.Sprintf("%T", obj), Edge: name}
	}
	if c.byName != nil {
		c.byName[name] = len(c.edges)
	}
	c.edges = append(c.edges, Edge{name, child})
	return nil
}

// object adds the edges of an object: those that it lists, its fields, then its added edges. This order decides
// the numbers of nodes in files.
func (c *collector) object(obj Trackable, v reflect.Value) error {
	switch elem := v.Elem(); elem.Kind() {
	case reflect.Slice, reflect.Array:
		return c.list(elem)
	case reflect.Map:
		return c.mapping(elem)
	case reflect.Struct:
		if ownTypes[elem.Type()] {
			return nil
		}
		if p, ok := obj.(SelfPreparer); ok {
			p.PrepareChildren(obj)
		}
		listed := false
		if list := c.purpose.lister(obj); list != nil {
			own, err := c.parent(obj, list, elem)
			if err != nil {
				return err
			}
			listed = own
		}
		if !listed && elem.Type() != structVariable {
			if err := c.fields(obj, elem); err != nil {
				return err
			}
		}
	}
	if n, ok := obj.(Noder); ok {
		for _, e := range n.TrackableNode().Edges() {
			if err := c.add(obj, e.Name, e.Child); err != nil {
				return err
			}
		}
	}
	return nil
}

// lister returns the method by which an object lists its edges itself, nil for none.
func (p purpose) lister(obj Trackable) func() []Edge {
	if p == forSavedModel {
		if l, ok := obj.(SavedModelParent); ok {
			return l.SavedModelChildren
		}
	}
	if l, ok := obj.(Parent); ok {
		return l.TrackableChildren
	}
	return nil
}

// parent adds the edges that a Parent lists and reports true, unless the method
// is an embedded struct's: then the fields are read, including that struct.
func (c *collector) parent(obj Trackable, list func() []Edge, v reflect.Value) (bool, error) {
	edges := list()
	for _, f := range c.purpose.layoutOf(v.Type()).fields {
		if !f.embedded {
			continue
		}
		inner := c.purpose.lister(v.FieldByIndex(f.index).Addr().Interface())
		if inner != nil && sameEdges(inner(), edges) {
			return false, nil
		}
	}
	for _, e := range edges {
		if isNil(e.Child) {
			continue
		}
		if err := checkTrackable(e.Child); err != nil {
			return false, fmt.Errorf("trackable: child %q of %T: %w", e.Name, obj, err)
		}
		if err := c.add(obj, e.Name, e.Child); err != nil {
			return false, err
		}
	}
	return true, nil
}

func sameEdges(a, b []Edge) bool {
	return slices.EqualFunc(a, b, func(x, y Edge) bool {
		return x.Name == y.Name && (isNil(x.Child) && isNil(y.Child) ||
			!isNil(x.Child) && !isNil(y.Child) && Identity(x.Child) == Identity(y.Child))
	})
}

func (c *collector) fields(obj Trackable, v reflect.Value) error {
	p := c.purpose.layoutOf(v.Type())
	if p.err != nil {
		return p.err
	}
	node := nodeOf(obj)
	for _, f := range p.fields {
		fv := v.FieldByIndex(f.index)
		switch {
		case f.class == classDynamic && holdsData(fv):
			return fmt.Errorf("trackable: %w", untrackedData(f.name, v.Type(), fv.Elem().Type()))
		case f.hidden:
			if e := fv.Elem(); e.IsValid() && c.purpose.certain(e.Type()) && !zeroPointer(e) {
				return fmt.Errorf("trackable: field %s of %v holds a %v but isn't exported: export it, Attach it, or tag it `cairn:\"-\"`", f.name, v.Type(), e.Type())
			}
		case f.embedded:
			for _, e := range c.purpose.lister(fv.Addr().Interface())() {
				if isNil(e.Child) {
					continue
				}
				if err := c.add(obj, e.Name, e.Child); err != nil {
					return err
				}
			}
		default:
			// AddVariable may be storing to the field at this moment.
			child, err := locked(node, func() (Trackable, error) { return c.purpose.childOf(fv, f.class) })
			if err != nil {
				return fmt.Errorf("trackable: field %s of %v: %w", f.name, v.Type(), err)
			}
			if child == nil {
				if t := dataWithin(fv, f.class); t != nil {
					return fmt.Errorf("trackable: %w", untrackedData(f.name, v.Type(), t))
				}
				continue
			}
			if err := c.add(obj, f.edge, child); err != nil {
				return err
			}
		}
	}
	return nil
}

// nodeOf returns obj's Node, or nil if it has none.
func nodeOf(obj Trackable) *Node {
	if n, ok := obj.(Noder); ok {
		return n.TrackableNode()
	}
	return nil
}

// locked runs f under the lock of n, which may be nil.
func locked[T any](n *Node, f func() (T, error)) (T, error) {
	if n != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
	}
	return f()
}

func zeroPointer(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.IsNil() }

// childOf returns the node that a field or an element holds, nil for none.
func (p purpose) childOf(v reflect.Value, c class) (Trackable, error) {
	switch c {
	case classObject:
		if v.IsNil() {
			return nil, nil
		}
		if k := v.Elem().Kind(); (k == reflect.Slice || k == reflect.Map) && !p.certain(v.Type()) && !p.holdsAny(v.Elem()) {
			return nil, nil
		}
		return v.Interface(), nil
	case classValue:
		return address(v)
	case classList, classMap:
		if v.Kind() != reflect.Array && v.IsNil() {
			return nil, nil
		}
		if !p.certain(v.Type()) && !p.holdsAny(v) {
			return nil, nil
		}
		return address(v)
	case classDynamic:
		e := v.Elem()
		if !e.IsValid() {
			return nil, nil
		}
		switch c := p.classify(e.Type()); c {
		case classObject:
			return p.childOf(e, c)
		case classValue:
			return nil, fmt.Errorf("it holds a %v by value; store a pointer", e.Type())
		case classList, classMap:
			// A value in an interface has no address. The copy shares the elements. Identity
			// recognizes a map again, and no slice.
			if !p.certain(e.Type()) && !p.holdsAny(e) {
				return nil, nil
			}
			return boxed(e), nil
		}
	}
	return nil, nil
}

// address returns a pointer to a struct, slice or map in a field or a container.
func address(v reflect.Value) (Trackable, error) {
	if v.CanAddr() {
		return v.Addr().Interface(), nil
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return boxed(v), nil
	}
	return nil, fmt.Errorf("a %v in a map has no address; store pointers", v.Type())
}

// boxed returns a pointer to a copy of a slice or a map. The copy shares the elements.
func boxed(v reflect.Value) Trackable {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.Interface()
}

// holdsAny reports whether a slice or map of interfaces holds a tracked thing.
func (p purpose) holdsAny(v reflect.Value) bool {
	tracked := func(e reflect.Value) bool {
		for e.Kind() == reflect.Interface {
			e = e.Elem()
		}
		return e.IsValid() && p.certain(e.Type()) && !zeroPointer(e)
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if tracked(v.Index(i)) {
				return true
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if tracked(it.Value()) {
				return true
			}
		}
	}
	return false
}

// dataWithin returns the type of the data that a slice or map of interfaces
// without anything trackable holds, nil for none.
func dataWithin(v reflect.Value, c class) reflect.Type {
	switch {
	case c == classList && v.Type().Elem().Kind() == reflect.Interface:
		for i := range v.Len() {
			if holdsData(v.Index(i)) {
				return v.Index(i).Elem().Type()
			}
		}
	case c == classMap && v.Type().Elem().Kind() == reflect.Interface:
		for it := v.MapRange(); it.Next(); {
			if holdsData(it.Value()) {
				return it.Value().Elem().Type()
			}
		}
	}
	return nil
}

// holdsData reports whether an interface holds data that no checkpoint has.
func holdsData(v reflect.Value) bool {
	e := v.Elem()
	return e.IsValid() && !zeroPointer(e) && isData(element(e.Type()))
}

func (c *collector) list(v reflect.Value) error {
	kind := c.purpose.classify(v.Type().Elem())
	c.edges = make([]Edge, 0, v.Len())
	var names arena.Strings
	for i := range v.Len() {
		child, err := c.purpose.childOf(v.Index(i), kind)
		if kind == classDynamic && holdsData(v.Index(i)) {
			err = untrackedData(strconv.Itoa(i), v.Type(), v.Index(i).Elem().Type())
		}
		if err != nil {
			return fmt.Errorf("trackable: element %d of %v: %w", i, v.Type(), err)
		}
		if child != nil {
			c.edges = append(c.edges, Edge{names.Itoa(i), child}) // indices differ
		}
	}
	return nil
}

func (c *collector) mapping(v reflect.Value) error {
	t := v.Type()
	kind := c.purpose.classify(t.Elem())
	if t.Key().Kind() != reflect.String {
		if v.Len() == 0 {
			return nil
		}
		return fmt.Errorf("trackable: a %v can't be saved: its keys are no strings", t)
	}
	for it := v.MapRange(); it.Next(); {
		child, err := c.purpose.childOf(it.Value(), kind)
		if kind == classDynamic && holdsData(it.Value()) {
			err = untrackedData(it.Key().String(), t, it.Value().Elem().Type())
		}
		if err != nil {
			return fmt.Errorf("trackable: value %q of %v: %w", it.Key().String(), t, err)
		}
		if child != nil {
			c.edges = append(c.edges, Edge{it.Key().String(), child})
		}
	}
	slices.SortFunc(c.edges, func(a, b Edge) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// checkTrackable returns an error unless obj can be a node.
func checkTrackable(obj Trackable) error {
	if isNil(obj) {
		return fmt.Errorf("nothing to track: the object is nil")
	}
	t := reflect.TypeOf(obj)
	if t.Kind() != reflect.Pointer {
		return fmt.Errorf("a %v can't be tracked; use a pointer", t)
	}
	switch t.Elem().Kind() {
	case reflect.Struct, reflect.Slice, reflect.Map, reflect.Array:
		return nil
	}
	if hasMethods(t) {
		return nil
	}
	return fmt.Errorf("a %v can't be tracked: it is no struct, list or map", t)
}

func isNil(obj Trackable) bool {
	if obj == nil {
		return true
	}
	v := reflect.ValueOf(obj)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// Identity returns a comparable value that is the same for two references to one
// node: a pointer's type and address. For a struct that embeds a [Variable] it is that
// variable, and for a map its data. A slice in an interface or in a map has no address:
// each call of [Children] makes another node of it.
func Identity(obj Trackable) any {
	if v := asVariable(obj); v != nil {
		return v
	}
	t := reflect.TypeOf(obj)
	if t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Map {
		if m := reflect.ValueOf(obj).Elem(); !m.IsNil() {
			return place{t, m.UnsafePointer()}
		}
	}
	return obj
}

type place struct {
	typ reflect.Type
	ptr unsafe.Pointer
}
