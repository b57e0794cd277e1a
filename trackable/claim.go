package trackable

import (
	"reflect"
	"slices"
)

// Claim says whether an object can still get a child on an edge.
type Claim uint8

const (
	ClaimNo    Claim = iota // nothing can appear there
	ClaimMaybe              // anything can be attached to the object
	ClaimYes                // the object has a place for it
)

// MayClaim says whether obj can still get a child on an edge that it doesn't
// have now: surely where a [Claimer] says so, where a nil field has that name,
// behind a slice's end and under a new key of a map; maybe where the object has
// a [Base] and is neither a Claimer nor a [FieldClaimer] with fields.
func MayClaim(obj Trackable, edge string) Claim {
	switch {
	case HasPlace(obj, edge) || claims(obj, edge):
		return ClaimYes
	case attachable(obj):
		return ClaimMaybe
	}
	return ClaimNo
}

// MayGrow reports whether obj can still get any child, whatever its name.
func MayGrow(obj Trackable) bool {
	if _, listed := obj.(Parent); listed && nodeOf(obj) != nil {
		return true // a list or a map, or an optimizer before its first step
	}
	if claims(obj, "") || attachable(obj) {
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

// claims reports whether obj says that it may get a child on edge.
func claims(obj Trackable, edge string) bool {
	c, ok := obj.(Claimer)
	return ok && c.MayClaim(edge)
}

// attachable reports whether anything may still be attached to an object that
// doesn't say what it claims.
func attachable(obj Trackable) bool {
	if nodeOf(obj) == nil {
		return false
	}
	if _, isVariable := obj.(VariableLike); isVariable {
		return false
	}
	if f, ok := obj.(FieldClaimer); ok && f.ClaimsFields() {
		v := reflect.ValueOf(obj).Elem()
		return v.Kind() == reflect.Struct && len(ownFields(v)) == 0
	}
	_, knows := obj.(Claimer)
	return !knows
}

// ownFields are the fields of a struct that can hold a child each.
func ownFields(v reflect.Value) []trackedField {
	if ownTypes[v.Type()] || v.Type() == structVariable {
		return nil
	}
	fields := slices.Clone(layoutOf(v.Type()).fields)
	return slices.DeleteFunc(fields, func(f trackedField) bool { return f.embedded || f.hidden })
}

func emptyField(obj Trackable, v reflect.Value, f trackedField) bool {
	empty, _ := locked(nodeOf(obj), func() (bool, error) { return childIsNil(v.FieldByIndex(f.index)), nil })
	return empty
}

// HasPlace reports whether an assignment alone can give obj a child on edge: to
// a field that is nil now, behind a slice's end, to a new key of a map.
func HasPlace(obj Trackable, edge string) bool {
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
