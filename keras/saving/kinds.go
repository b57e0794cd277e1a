package saving

import (
	"reflect"

	"github.com/cairnml/cairn/trackable"
)

// isContainer reports whether an object is a list or a map of others. placement visits the layers
// in it by the names of their classes.
func isContainer(obj trackable.Trackable) bool {
	switch obj.(type) {
	case layerList:
		return true
	case interface{ TellsOfChildren() }: // trackable.List, trackable.Map
		return true
	}
	t := reflect.TypeOf(obj)
	if t == nil || t.Kind() != reflect.Pointer {
		return false
	}
	k := t.Elem().Kind()
	return k == reflect.Slice || k == reflect.Map || k == reflect.Array
}

// goTypeName returns the name of an object's Go type, "" for nil: that of a class without a config.
func goTypeName(obj trackable.Trackable) string {
	t := reflect.TypeOf(obj)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return ""
	}
	return t.Name()
}
