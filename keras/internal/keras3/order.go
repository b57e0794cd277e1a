package keras3

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
)

// maxParsed is how deep the values of a text may nest.
const maxParsed = 10_000

// parse does what the function of this name does, and keeps the order of the keys of each
// object.
func (t *translator) parse(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := t.parseValue(d, 0)
	if err != nil {
		return nil, fmt.Errorf("the configuration: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("the configuration: there is more after the JSON value")
	}
	return v, nil
}

func (t *translator) parseValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxParsed {
		return nil, fmt.Errorf("values nest deeper than %d", maxParsed)
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := t.parseValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		object := map[string]any{}
		var keys []string
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := t.parseValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			keys = append(keys, key.(string))
			object[key.(string)] = v
		}
		t.order[reflect.ValueOf(object).Pointer()] = keys
		_, err = d.Token()
		return object, err
	}
	return token, nil
}

// keysOf returns the keys of an object in the order in which they were read.
func (t *translator) keysOf(object map[string]any) []string {
	return t.order[reflect.ValueOf(object).Pointer()]
}
