package config

import (
	"fmt"
	"reflect"
)

// sharedKey is the key of a number that all descriptions of one object have in common.
const sharedKey = "shared_object_id"

// SharedObjects numbers the objects that configs contain more than once. A nil value numbers
// none. It must not be used by several goroutines at once.
type SharedObjects struct {
	// Select chooses the objects, pointers only. Default: all.
	Select func(obj any) bool
	// All numbers each object when a config contains it first, so that the numbers hold for
	// all configs that are encoded with this value. Default: only the objects that one config
	// contains more than once, with numbers for that config.
	All bool

	order []any // the objects that were counted twice
	count map[any]int
	ids   map[any]int
}

// see counts an object. It returns the object's number, if the object has one.
func (s *SharedObjects) see(obj any) (id int, ok bool) {
	if s == nil || reflect.TypeOf(obj).Kind() != reflect.Pointer || s.Select != nil && !s.Select(obj) {
		return 0, false
	}
	if id, ok = s.ids[obj]; ok {
		return id, true
	}
	if s.All {
		if s.ids == nil {
			s.ids = map[any]int{}
		}
		s.ids[obj] = len(s.ids)
		return s.ids[obj], true
	}
	if s.count == nil {
		s.count = map[any]int{}
	}
	if s.count[obj]++; s.count[obj] == 2 {
		s.order = append(s.order, obj)
	}
	return 0, false
}

// identify numbers the objects that were counted more than once, and reports whether it
// numbered any.
func (s *SharedObjects) identify() bool {
	if s == nil || len(s.order) == 0 {
		return false
	}
	s.ids = map[any]int{}
	for i, obj := range s.order {
		s.ids[obj] = i
	}
	s.order, s.count = nil, nil
	return true
}

// decodedObject is an object that a config made, and the description that it was made of.
type decodedObject struct {
	class  string
	config any
	value  reflect.Value
}

// sharedID returns the number in an object's description, "" for none.
func sharedID(object map[string]any) string {
	if id := object[sharedKey]; id != nil {
		return fmt.Sprint(id)
	}
	return ""
}

// sharedObject returns the object that an earlier description with the same number made.
// Numbers are unique in a file. A number that describes two things, as in the JSON of
// models that contain models, shares nothing.
func (d *Decoder) sharedObject(class string, object map[string]any) (v reflect.Value, ok bool) {
	o, ok := d.shared[sharedID(object)]
	if !ok || o.class != class || !sameName(o.config, object["config"]) {
		return v, false
	}
	return o.value, true
}

// sameName reports whether two configs have equal names, or are equal if they have none.
func sameName(a, b any) bool {
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	if x["name"] != nil && y["name"] != nil {
		return reflect.DeepEqual(x["name"], y["name"])
	}
	return reflect.DeepEqual(a, b)
}

// keepShared stores an object for later descriptions with the same number.
func (d *Decoder) keepShared(class string, object map[string]any, v reflect.Value) {
	id := sharedID(object)
	if id == "" || v.Kind() != reflect.Pointer {
		return
	}
	if d.shared == nil {
		d.shared = map[string]decodedObject{}
	}
	d.shared[id] = decodedObject{class, object["config"], v}
}
