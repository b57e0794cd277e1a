package trackable

import (
	"reflect"
	"slices"

	"github.com/cairnml/cairn/internal/restoring"
)

// acceptsChild returns whether obj can still get a child on an edge that it doesn't
// have now. restoring.AcceptYes means that a [ChildAccepter] or [SelfDeclarer] accepts it, or that
// the edge is a nil field, an index after a slice's end, or a key of a map. AcceptMaybe means that
// anything can be attached to the object: see attachable.
func acceptsChild(obj Trackable, edge string) restoring.Acceptance {
	switch {
	case hasPlace(obj, edge) || accepts(obj, edge):
		return restoring.AcceptYes
	case attachable(obj):
		return restoring.AcceptMaybe
	}
	return restoring.AcceptNo
}

// mayGrow reports whether obj can still get any child, whatever its name.
func mayGrow(obj Trackable) bool {
	if _, listed := obj.(Parent); listed && nodeOf(obj) != nil {
		return true // a list or a map, or an optimizer before its first step
	}
	if accepts(obj, "") || attachable(obj) {
		return true
	}
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return false
	}
	switch v = v.Elem(); v.Kind() {
	case reflect.Slice, reflect.Map:
		return true
	case reflect.Struct:
		return slices.ContainsFunc(ownFields(v), func(f trackedField) bool { return emptyField(obj, v, f) })
	}
	return false
}

// accepts reports whether obj declares that it may get a child on edge.
func accepts(obj Trackable, edge string) bool {
	if c, ok := obj.(SelfDeclarer); ok {
		return c.AcceptsChildOf(obj, edge)
	}
	c, ok := obj.(ChildAccepter)
	return ok && c.AcceptsChild(edge)
}

// attachable reports whether anything may still be attached to an object: it has a
// [Base] and is no variable. A [FieldTracker] that reports true must have no fields. Any
// other object must be no [ChildAccepter].
func attachable(obj Trackable) bool {
	if nodeOf(obj) == nil {
		return false
	}
	if _, isVariable := obj.(VariableLike); isVariable {
		return false
	}
	if f, ok := obj.(FieldTracker); ok && f.TracksFields() {
		v := reflect.ValueOf(obj).Elem()
		return v.Kind() == reflect.Struct && len(ownFields(v)) == 0
	}
	_, knows := obj.(ChildAccepter)
	return !knows
}

// ownFields returns the fields of a struct that can hold a child each.
func ownFields(v reflect.Value) []trackedField {
	if ownTypes[v.Type()] || v.Type() == structVariable {
		return nil
	}
	fields := slices.Clone(forCheckpoint.layoutOf(v.Type()).fields)
	return slices.DeleteFunc(fields, func(f trackedField) bool { return f.embedded || f.hidden })
}

func emptyField(obj Trackable, v reflect.Value, f trackedField) bool {
	empty, _ := locked(nodeOf(obj), func() (bool, error) { return childIsNil(v.FieldByIndex(f.index)), nil })
	return empty
}

// hasPlace reports whether an assignment alone can add a child to obj on edge:
// to a field that is nil now, after a slice's end, to a new key of a map.
func hasPlace(obj Trackable, edge string) bool {
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return false
	}
	switch v = v.Elem(); v.Kind() {
	case reflect.Slice:
		i, ok := listIndex(edge)
		return ok && i >= v.Len()
	case reflect.Array:
		i, ok := listIndex(edge)
		return ok && i < v.Len() && childIsNil(v.Index(i))
	case reflect.Map:
		return true
	case reflect.Struct:
		return slices.ContainsFunc(ownFields(v), func(f trackedField) bool { return f.edge == edge && emptyField(obj, v, f) })
	}
	return false
}

func childIsNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return v.IsNil()
	}
	return false
}
