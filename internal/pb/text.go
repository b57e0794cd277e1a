package pb

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// textField is a field of a message, as the tag of its Go field describes it.
type textField struct {
	num      int
	kind     string // "int32", "message", ...
	name     string
	index    int // of the Go field
	list     bool
	isMap    bool
	member   bool // of the oneof whose member Which names
	optional bool // with a field HasX after it
}

var textFields sync.Map // of reflect.Type to []textField

// fieldsOf lists the fields of a message's struct by number.
func fieldsOf(t reflect.Type) []textField {
	if f, ok := textFields.Load(t); ok {
		return f.([]textField)
	}
	var out []textField
	for i := range t.NumField() {
		f := t.Field(i)
		parts := strings.Split(f.Tag.Get("pb"), ",")
		if len(parts) < 3 {
			continue
		}
		num, _ := strconv.Atoi(parts[0])
		tf := textField{num: num, kind: parts[1], name: parts[2], index: i}
		tf.list = f.Type.Kind() == reflect.Slice && parts[1] != "bytes" || f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Slice
		for _, p := range parts[3:] {
			switch p {
			case "map":
				tf.isMap = true
			case "oneof":
				tf.member = true
			case "optional":
				tf.optional = true
			}
		}
		out = append(out, tf)
	}
	textFields.Store(t, out)
	return out
}

// enum is the interface of every generated enum.
type enum interface {
	String() string
	byName(string) (int32, bool)
}

// present reports whether a single field of message v is set.
func (f textField) present(v reflect.Value) bool {
	x := v.Field(f.index)
	switch {
	case f.member:
		return v.FieldByName("Which").Uint() == uint64(f.num)
	case f.optional:
		return v.Field(f.index + 1).Bool()
	case f.kind == "bytes":
		return x.Len() > 0
	}
	return !x.IsZero() // a negative zero is none
}

// compareKeys orders the entries of a map by key, ascending.
func compareKeys(a, b reflect.Value) int {
	a, b = a.Elem().Field(0), b.Elem().Field(0)
	switch {
	case a.Kind() == reflect.String:
		return strings.Compare(a.String(), b.String())
	case a.Uint() < b.Uint():
		return -1
	case a.Uint() > b.Uint():
		return 1
	}
	return 0
}
