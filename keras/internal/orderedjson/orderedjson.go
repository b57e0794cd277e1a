// Package orderedjson parses JSON and keeps the order of the keys of its objects.
package orderedjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
)

// maxNesting is the largest nesting of values, as in encoding/json.
const maxNesting = 10_000

// Orders are the orders of the keys of parsed objects, by the addresses of the maps that these
// became.
type Orders map[uintptr][]string

// Parse reads one JSON value: nil, a bool, a [json.Number], a string, a []any or a
// map[string]any. The orders are valid while the value is alive. Of a key that an object has
// twice, the last value counts. More after the value, and a nesting above 10,000, are errors.
func Parse(data []byte) (v any, orders Orders, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	orders = Orders{}
	if v, err = orders.value(d, 0); err != nil {
		return nil, nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, nil, fmt.Errorf("there is more after the JSON value")
	}
	return v, orders, nil
}

// Keys returns the keys of a parsed object in the order of the JSON, and nil for an object
// that wasn't parsed or whose number of keys has changed.
func (o Orders) Keys(object map[string]any) []string {
	keys := o[reflect.ValueOf(object).Pointer()]
	if len(keys) != len(object) {
		return nil
	}
	return slices.Clone(keys)
}

// value reads the next value.
func (o Orders) value(d *json.Decoder, depth int) (any, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("the JSON nests deeper than %d", maxNesting)
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := o.value(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		object := map[string]any{}
		keys := []string{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string)
			v, err := o.value(d, depth+1)
			if err != nil {
				return nil, err
			}
			if _, again := object[name]; !again {
				keys = append(keys, name)
			}
			object[name] = v
		}
		o[reflect.ValueOf(object).Pointer()] = keys
		_, err = d.Token()
		return object, err
	}
	return t, nil
}
