package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/keras/internal/orderedjson"
)

// Unmarshaler is implemented by pointers to values that read their JSON themselves.
// v is nil, a bool, a [json.Number], a string, a []any or a map[string]any.
type Unmarshaler interface{ UnmarshalConfig(v any) error }

// Decoded is implemented by objects that read the fields of their config themselves. If
// the class has a New, DecodeConfig is also called for an object given by its name alone,
// with a nil config.
type Decoded interface {
	DecodeConfig(d *Decoder, config map[string]any) error
}

// Rebuilt is implemented by objects that keep the value of the key build_config.
type Rebuilt interface{ SetBuildConfig(v map[string]any) error }

// Decoder reads one config.
type Decoder struct {
	classes *Classes
	depth   int
	shared  map[string]decodedObject // by shared_object_id
	orders  orderedjson.Orders
	calls   int64 // of layers that are allowed so far, minus those that were made
}

// A config may call a layer more than once, and a call of a model calls its layers. So models
// within models make more calls than the config has bytes, without an end. A config may make
// freeCalls and callsPerPart for each of its objects and listed calls. These limits are ours and may
// change.
const (
	freeCalls    = 1 << 13
	callsPerPart = 64
)

// AllowCalls allows the calls of layers that come from n calls which the config lists.
func (d *Decoder) AllowCalls(n int) { d.calls += callsPerPart * int64(n) }

// CountCall counts a call of a layer. It reports false if the config makes too many.
func (d *Decoder) CountCall() bool {
	d.calls--
	return d.calls > -freeCalls
}

// Keys returns the keys of a parsed object in the order of the JSON: sorted for one that
// wasn't parsed.
func (d *Decoder) Keys(object map[string]any) []string {
	if keys := d.orders.Keys(object); keys != nil {
		return keys
	}
	return slices.Sorted(maps.Keys(object))
}

// Context returns the context under which objects are decoded, such as models, whose weights
// are made meanwhile. Default: context.Background().
func (d *Decoder) Context() context.Context {
	if d.classes.ctx == nil {
		return context.Background()
	}
	return d.classes.ctx
}

// Decode makes the object that a JSON describes, in either form. The result's type is
// that of the object's class.
func (c *Classes) Decode(data []byte) (any, error) {
	v, orders, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	obj, err := (&Decoder{classes: c, orders: orders}).Object(v)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return obj, nil
}

// parse reads one JSON value. Its numbers stay text.
func parse(data []byte) (any, orderedjson.Orders, error) {
	v, orders, err := orderedjson.Parse(data)
	return asLists(v), orders, err
}

// asLists replaces the objects that represent tuples and shapes in the JSON of SavedModels
// by lists. It changes v.
func asLists(v any) any {
	switch x := v.(type) {
	case []any:
		for i := range x {
			x[i] = asLists(x[i])
		}
	case map[string]any:
		if items, ok := x["items"].([]any); ok && len(x) == 2 && (x["class_name"] == "__tuple__" || x["class_name"] == "TensorShape") {
			return asLists(items)
		}
		for key := range x {
			x[key] = asLists(x[key])
		}
	}
	return v
}

var typeAny = reflect.TypeFor[any]()

// Object makes the object that a parsed JSON value describes.
func (d *Decoder) Object(v any) (any, error) {
	var obj any
	err := d.into(v, reflect.ValueOf(&obj).Elem(), typeAny)
	return obj, err
}

// Value reads a parsed JSON value into the variable that dst points to.
func (d *Decoder) Value(v any, dst any) error {
	p := reflect.ValueOf(dst)
	return d.value(v, p.Elem())
}

// objectKeys are the keys of an object's JSON.
var objectKeys = map[string]bool{
	"module": true, "class_name": true, "config": true, "registered_name": true,
	"build_config": true, "compile_config": true, sharedKey: true,
	"name": true, "inbound_nodes": true,
}

// into stores in dst the object or function that v describes. Its class must be
// assignable to want. The order is part of the behaviour: find the class, reuse a shared object, make
// one, set its fields and build_config, complete its defaults, and call WithDecoded's function.
func (d *Decoder) into(v any, dst reflect.Value, want reflect.Type) error {
	d.AllowCalls(1)
	var name, module string
	var object map[string]any
	switch x := v.(type) {
	case string:
		name = x
	case map[string]any:
		object = x
		name, _ = x["class_name"].(string)
		module, _ = x["module"].(string)
		if name == "" {
			return fmt.Errorf("an object has no class_name")
		}
		for key := range x {
			if !objectKeys[key] {
				return &UnknownError{Kind: "field", Of: name, Name: key, Near: nearest.Names(key, []string{"module", "class_name", "config", "registered_name", "build_config"}, 1)}
			}
		}
		if r, ok := x["registered_name"].(string); ok && d.classes.byName[r] != nil {
			name = r
		}
		if name == "function" { // {"class_name": "function", "config": "relu"}
			name, _ = x["config"].(string)
			object = nil
		}
	default:
		return fmt.Errorf("got %s, want an object or a name", kindOf(v))
	}
	fields, _ := object["config"].(map[string]any)
	k, err := d.classes.find(name, module, want, fields)
	if err != nil {
		var unknown *UnknownError
		if d.classes.unknown == nil || want != typeAny || object == nil || !errors.As(err, &unknown) {
			return err
		}
		if v, ok := d.sharedObject(name, object); ok {
			dst.Set(v)
			return nil
		}
		if inner, _ := fields["name"].(string); inner == "" && object["name"] != nil { // a layer of a network without a config
			fields = maps.Clone(fields)
			if fields == nil {
				fields = map[string]any{}
			}
			fields["name"] = object["name"]
		}
		made, err := d.classes.unknown(name, fields)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		d.keepShared(name, object, reflect.ValueOf(made))
		dst.Set(reflect.ValueOf(made))
		return nil
	}
	if k.typ == nil {
		dst.Set(reflect.ValueOf(k.value))
		return nil
	}
	if v, ok := d.sharedObject(k.Name, object); ok && v.Type().AssignableTo(want) {
		dst.Set(v)
		return nil
	}
	t := k.typ
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	p := reflect.New(t)
	if k.New != nil {
		made := reflect.ValueOf(k.New())
		if made.Type() != k.typ {
			return fmt.Errorf("%s: its New made a %v, want %v", k.Name, made.Type(), k.typ)
		}
		if k.typ.Kind() == reflect.Pointer {
			p = made
		} else {
			p.Elem().Set(made)
		}
	}
	if object != nil {
		if d.depth++; d.depth > MaxDepth {
			return fmt.Errorf("objects nest deeper than %d", MaxDepth)
		}
		config, ok := object["config"].(map[string]any)
		if !ok && object["config"] != nil {
			return fmt.Errorf("%s: its config is %s, want an object", k.Name, kindOf(object["config"]))
		}
		if err := d.object(k.Name, p, config); err != nil {
			return err
		}
		if build, ok := object["build_config"].(map[string]any); ok {
			if r, ok := p.Interface().(Rebuilt); ok {
				if err := r.SetBuildConfig(build); err != nil {
					return fmt.Errorf("%s: build_config: %w", k.Name, err)
				}
			}
		}
		d.depth--
	} else if own, ok := p.Interface().(Decoded); ok && k.New != nil {
		if err := own.DecodeConfig(d, nil); err != nil {
			return fmt.Errorf("%s: %w", k.Name, err)
		}
	}
	if err := d.classes.Complete(p.Interface()); err != nil {
		return err
	}
	if d.classes.decoded != nil {
		if err := d.classes.decoded(p.Interface()); err != nil {
			return fmt.Errorf("%s: %w", k.Name, err)
		}
	}
	if k.typ.Kind() != reflect.Pointer {
		p = p.Elem()
	}
	d.keepShared(k.Name, object, p)
	dst.Set(p)
	return nil
}

// object reads the fields of a config into the struct that p points to.
func (d *Decoder) object(class string, p reflect.Value, config map[string]any) error {
	if own, ok := p.Interface().(Decoded); ok {
		if err := own.DecodeConfig(d, config); err != nil {
			return fmt.Errorf("%s: %w", class, err)
		}
		return nil
	}
	return d.fields(class, p, config)
}

// Fields reads a config into the fields of the struct that obj points to. Keys that
// are no field are an error.
func (d *Decoder) Fields(class string, obj any, config map[string]any) error {
	return d.fields(class, reflect.ValueOf(obj), config)
}

func (d *Decoder) fields(class string, p reflect.Value, config map[string]any) error {
	v := p.Elem()
	plan := planOf(v.Type())
	if plan.err != nil {
		return plan.err
	}
	for key, value := range config {
		i, ok := plan.byName[key]
		if !ok {
			return &UnknownError{Kind: "field", Of: class, Name: key, Near: nearest.Names(key, plan.names(), 3)}
		}
		f := plan.fields[i]
		if err := d.field(f, v.FieldByIndex(f.index), value); err != nil {
			return fmt.Errorf("%s: %s: %w", class, f.name, err)
		}
	}
	return nil
}

func (d *Decoder) field(f field, dst reflect.Value, v any) error {
	if f.constant != "" {
		if v != any(f.constant) {
			return fmt.Errorf("got %s, want %q", kindOf(v), f.constant)
		}
		return nil
	}
	if f.not {
		b, ok := v.(bool)
		if !ok {
			return fmt.Errorf("got %s, want a bool", kindOf(v))
		}
		dst.SetBool(!b)
		return nil
	}
	if err := d.value(v, dst); err != nil {
		return err
	}
	// A zero that would turn into the default is another setting.
	if f.hasDef && v != nil && dst.IsZero() {
		def := reflect.New(dst.Type()).Elem()
		if err := d.setDefault(f, def); err != nil {
			return err
		}
		if !def.IsZero() {
			return fmt.Errorf("got %v; this setting isn't supported, since zero means the default %s", v, f.def)
		}
	}
	return nil
}

var typeUnmarshaler = reflect.TypeFor[Unmarshaler]()

// value reads a parsed JSON value into dst.
func (d *Decoder) value(v any, dst reflect.Value) error {
	if dst.CanAddr() && dst.Addr().Type().Implements(typeUnmarshaler) {
		return dst.Addr().Interface().(Unmarshaler).UnmarshalConfig(v)
	}
	t := dst.Type()
	if v == nil {
		switch t.Kind() {
		case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
			dst.SetZero()
			return nil
		}
		return fmt.Errorf("got null, want %v", t)
	}
	switch t.Kind() {
	case reflect.Interface:
		if t == typeAny {
			dst.Set(reflect.ValueOf(v))
			return nil
		}
		return d.into(v, dst, t)
	case reflect.Struct:
		return d.into(v, dst, t)
	case reflect.Pointer:
		if t.Elem().Kind() == reflect.Struct {
			return d.into(v, dst, t)
		}
		p := reflect.New(t.Elem())
		if err := d.value(v, p.Elem()); err != nil {
			return err
		}
		dst.Set(p)
		return nil
	case reflect.Bool:
		if b, ok := v.(bool); ok {
			dst.SetBool(b)
			return nil
		}
	case reflect.String:
		if s, ok := v.(string); ok {
			dst.SetString(s)
			return nil
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		if n, ok := v.(json.Number); ok {
			return number(n, dst)
		}
	case reflect.Slice:
		l, ok := v.([]any)
		if !ok {
			return fmt.Errorf("got %s, want a list", kindOf(v))
		}
		s := reflect.MakeSlice(t, len(l), len(l))
		for i, x := range l {
			if err := d.value(x, s.Index(i)); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		dst.Set(s)
		return nil
	case reflect.Array:
		l, ok := v.([]any)
		if !ok || len(l) != t.Len() {
			return fmt.Errorf("got %s, want a list of %d", kindOf(v), t.Len())
		}
		for i, x := range l {
			if err := d.value(x, dst.Index(i)); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return nil
	case reflect.Map:
		o, ok := v.(map[string]any)
		if !ok || t.Key().Kind() != reflect.String {
			return fmt.Errorf("got %s, want %v", kindOf(v), t)
		}
		m := reflect.MakeMapWithSize(t, len(o))
		for key, x := range o {
			e := reflect.New(t.Elem()).Elem()
			if err := d.value(x, e); err != nil {
				return fmt.Errorf("%q: %w", clip(key), err)
			}
			m.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), e)
		}
		dst.Set(m)
		return nil
	}
	return fmt.Errorf("got %s, want %v", kindOf(v), t)
}

// number reads a JSON number into a Go number, exactly.
func number(n json.Number, dst reflect.Value) error {
	switch {
	case dst.CanFloat():
		f, err := strconv.ParseFloat(n.String(), 64)
		if err != nil {
			return fmt.Errorf("got %s, want a number that a float64 holds", clip(n.String()))
		}
		dst.SetFloat(f)
		return nil
	case dst.CanUint():
		if u, err := strconv.ParseUint(n.String(), 10, 64); err == nil && !dst.OverflowUint(u) {
			dst.SetUint(u)
			return nil
		}
	default:
		if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil && !dst.OverflowInt(i) {
			dst.SetInt(i)
			return nil
		}
		// 3.0 is an int to Keras.
		if f, err := n.Float64(); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 && !dst.OverflowInt(int64(f)) {
			dst.SetInt(int64(f))
			return nil
		}
	}
	return fmt.Errorf("got %s, want %v", clip(n.String()), dst.Type())
}

// kindOf names a parsed JSON value for errors.
func kindOf(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(x)
	case json.Number:
		return clip(x.String())
	case string:
		return strconv.Quote(clip(x))
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}

// Completer is implemented by pointers to structs with defaults that depend on other
// fields. CompleteConfig is called after the defaults of tags are set. It may be called
// again, and must then change nothing.
type Completer interface{ CompleteConfig() }

// Complete replaces the zero values in the struct that obj points to by the
// defaults of their tags. Other values are left alone.
func (c *Classes) Complete(obj any) error {
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil
	}
	v = v.Elem()
	p := planOf(v.Type())
	if p.err != nil {
		return p.err
	}
	d := &Decoder{classes: c}
	for _, f := range p.fields {
		if !f.hasDef {
			continue
		}
		if dst := v.FieldByIndex(f.index); dst.IsZero() {
			if err := d.setDefault(f, dst); err != nil {
				return fmt.Errorf("config: the default of %v's field %s: %w", v.Type(), f.name, err)
			}
		}
	}
	if own, ok := obj.(Completer); ok {
		own.CompleteConfig()
	}
	return nil
}

func (d *Decoder) setDefault(f field, dst reflect.Value) error {
	var v any = f.def
	if dst.Kind() != reflect.String {
		if parsed, _, err := parse([]byte(f.def)); err == nil {
			v = parsed
		}
	}
	return d.value(v, dst)
}

// Completed returns v with the zero values of its fields replaced by the defaults of
// their tags. It is for small objects whose methods need them, and whose defaults
// are no objects. It panics if a tag is wrong.
func Completed[T any](v T) T {
	if err := new(Classes).Complete(&v); err != nil {
		panic(err)
	}
	return v
}
