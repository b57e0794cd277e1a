package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// MaxDepth is the largest nesting of values in a config. The limit is ours: it protects the stack.
const MaxDepth = 200

// Marshaler is implemented by values that are not objects of a class and choose
// their JSON themselves, such as a dtype policy. MarshalConfig returns nil, a bool, a
// number, a string, a slice, a map, [Fields] or an object.
type Marshaler interface{ MarshalConfig() (any, error) }

// Encoded is implemented by objects that choose the fields of their config
// themselves, such as models.
type Encoded interface {
	EncodeConfig(e *Encoder) (Fields, error)
}

// Built is implemented by objects that know the shapes that they were built for.
// BuildConfig returns the value of the key build_config, nil for none.
type Built interface{ BuildConfig() Fields }

// Pair is a key of a JSON object and its value.
type Pair struct {
	Name  string
	Value any
}

// Fields is a JSON object whose keys keep their order.
type Fields []Pair

// legacy returns the class and the config of an object's JSON keys, or f if it describes no
// object.
func (f Fields) legacy() Fields {
	var out Fields
	for _, p := range f {
		if p.Name == "class_name" || p.Name == "config" {
			out = append(out, p)
		}
	}
	if len(out) != 2 {
		return f
	}
	return out
}

// EncodeOptions are the options of [Classes.Encode].
type EncodeOptions struct {
	// Legacy writes {"class_name", "config"} for the object itself, as SavedModels and
	// .h5 files have it. Objects in its config have the default form. Default:
	// {"module", "class_name", "config", "registered_name"}.
	Legacy bool
	// Learned writes vocabularies and bins that layers adapted to into their configs, as if
	// they were settings. Default: the settings alone.
	Learned bool
	// SavedModel writes all objects as {"class_name", "config"}, those in configs too, as
	// the metadata of SavedModels has them. It implies Legacy.
	SavedModel bool
	// Shared selects objects that get the key shared_object_id, so that a reader makes one
	// object of all descriptions of it. Files of models have these keys, get_config has
	// none. Default: none.
	Shared *SharedObjects
}

// Encoder writes one config.
type Encoder struct {
	classes *Classes
	opts    EncodeOptions
	depth   int
	out     bytes.Buffer
}

// Legacy reports whether the legacy form is being written.
func (e *Encoder) Legacy() bool { return e.opts.Legacy }

// Learned reports whether layers write the state that they adapted to.
func (e *Encoder) Learned() bool { return e.opts.Learned }

// Encode returns the JSON of an object, with tf_keras's keys in tf_keras's order. It
// completes the object first.
func (c *Classes) Encode(obj any, opts *EncodeOptions) (json.RawMessage, error) {
	e := &Encoder{classes: c}
	if opts != nil {
		e.opts = *opts
		e.opts.Legacy = opts.Legacy || opts.SavedModel
	}
	if err := e.value(reflect.ValueOf(obj), false); err != nil {
		return nil, fmt.Errorf("config %T: %w", obj, err)
	}
	if e.opts.Shared.identify() { // the first of several occurrences has the key too
		e.out.Reset()
		if err := e.value(reflect.ValueOf(obj), false); err != nil {
			return nil, fmt.Errorf("config %T: %w", obj, err)
		}
	}
	return e.out.Bytes(), nil
}

// Short reports whether Object writes the legacy form now.
func (e *Encoder) Short() bool { return e.opts.SavedModel || e.opts.Legacy && e.depth <= 1 }

// Whole returns the same as Object, in the form with module and registered_name unless
// all objects are written in the legacy form.
func (e *Encoder) Whole(obj any) (Fields, error) {
	if e.opts.SavedModel {
		return e.Object(obj)
	}
	legacy := e.opts.Legacy
	e.opts.Legacy = false
	defer func() { e.opts.Legacy = legacy }()
	return e.Object(obj)
}

// Object returns the JSON keys of an object: its class and config.
func (e *Encoder) Object(obj any) (Fields, error) {
	f, err := e.described(obj)
	if err != nil {
		return nil, err
	}
	if id, ok := e.opts.Shared.see(obj); ok {
		f = append(f, Pair{sharedKey, id})
	}
	return f, nil
}

// described returns the keys of Object, without that of shared objects.
func (e *Encoder) described(obj any) (Fields, error) {
	k := e.classes.byType[reflect.TypeOf(obj)]
	if k == nil {
		return nil, fmt.Errorf("%T is in no class; add it to the classes with Registered", obj)
	}
	config, err := e.fieldsOf(obj)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	short := e.Short()
	if c, ok := obj.(Classed); ok {
		own := c.ConfigClass(*k, short)
		k = &own
	}
	if short {
		name := k.Name
		if k.Package != "" {
			name = k.registeredName()
		}
		return Fields{{"class_name", name}, {"config", config}}, nil
	}
	module, registered := any(k.Module), any(nil)
	if k.Module == "" {
		module = nil
	}
	switch {
	case k.Package != "":
		registered = k.registeredName()
	case k.Private:
		registered = k.Name
	}
	out := Fields{{"module", module}, {"class_name", k.Name}, {"config", config}, {"registered_name", registered}}
	if b, ok := obj.(Built); ok {
		if build := b.BuildConfig(); build != nil {
			out = append(out, Pair{"build_config", build})
		}
	}
	return out, nil
}

// fieldsOf returns an object's config.
func (e *Encoder) fieldsOf(obj any) (Fields, error) {
	if err := e.classes.Complete(obj); err != nil {
		return nil, err
	}
	if own, ok := obj.(Encoded); ok {
		return own.EncodeConfig(e)
	}
	return e.Fields(obj)
}

// Fields returns the config made of the fields of a struct, or of the struct that obj
// points to. An EncodeConfig that adds to them calls it.
func (e *Encoder) Fields(obj any) (Fields, error) {
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer { // a copy that can be completed
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		if err := e.classes.Complete(p.Interface()); err != nil {
			return nil, err
		}
		v = p
	}
	v = v.Elem()
	p := planOf(v.Type())
	if p.err != nil {
		return nil, p.err
	}
	out := make(Fields, 0, len(p.fields))
	for _, f := range p.fields {
		x := v.FieldByIndex(f.index)
		if f.omitEmpty && x.IsZero() {
			continue
		}
		switch {
		case f.constant != "":
			out = append(out, Pair{f.name, f.constant})
		case f.not:
			out = append(out, Pair{f.name, !x.Bool()})
		case f.name == "name" && x.Kind() == reflect.String && x.String() == "":
			name := ""
			if k := e.classes.byType[reflect.TypeOf(obj)]; k != nil {
				name = SnakeCase(k.Name)
			}
			out = append(out, Pair{f.name, name})
		default:
			if f.single {
				x = rounded(x)
			}
			out = append(out, Pair{f.name, x})
		}
	}
	return out, nil
}

// rounded returns a float64, or the target of a pointer to one, as float32 holds it.
func rounded(x reflect.Value) reflect.Value {
	if x.Kind() == reflect.Pointer && !x.IsNil() {
		x = x.Elem()
	}
	if x.Kind() == reflect.Float64 {
		return reflect.ValueOf(float64(float32(x.Float())))
	}
	return x
}

// value writes a value. The order of its cases is part of the behaviour: a Marshaler before an
// object of a class, and both before the kind of the Go type.
func (e *Encoder) value(v reflect.Value, inner bool) error {
	if e.depth > MaxDepth {
		return fmt.Errorf("values nest deeper than %d; does an object contain itself?", MaxDepth)
	}
	if !v.IsValid() {
		e.out.WriteString("null")
		return nil
	}
	if v.Type() == reflect.TypeFor[reflect.Value]() {
		return e.value(v.Interface().(reflect.Value), inner)
	}
	e.depth++
	defer func() { e.depth-- }()
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		if v.IsNil() {
			e.out.WriteString("null")
			return nil
		}
	}
	if v.Kind() == reflect.Interface {
		e.depth--
		defer func() { e.depth++ }()
		return e.value(v.Elem(), inner)
	}
	if v.CanInterface() {
		switch x := v.Interface().(type) {
		case Marshaler:
			y, err := x.MarshalConfig()
			if err != nil {
				return err
			}
			if f, ok := y.(Fields); ok && e.opts.SavedModel {
				y = f.legacy()
			}
			return e.value(reflect.ValueOf(y), true)
		case json.Number:
			e.out.WriteString(x.String())
			return nil
		case json.RawMessage:
			e.out.Write(x)
			return nil
		case Fields:
			return e.object(x)
		}
		if e.classes.byType[v.Type()] != nil {
			f, err := e.Object(v.Interface())
			if err != nil {
				return err
			}
			return e.object(f)
		}
		if v.Comparable() {
			if k := e.classes.byFunc[v.Interface()]; k != nil {
				return e.text(k.Name)
			}
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		e.out.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.String:
		return e.text(v.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.out.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.out.WriteString(strconv.FormatUint(v.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		return e.float(v.Float())
	case reflect.Pointer:
		if v.Elem().Kind() == reflect.Struct {
			return fmt.Errorf("%v is in no class; add it to the classes with Registered", v.Type())
		}
		return e.value(v.Elem(), true)
	case reflect.Slice, reflect.Array:
		e.out.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				e.out.WriteString(", ")
			}
			if err := e.value(v.Index(i), true); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		e.out.WriteByte(']')
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			return fmt.Errorf("%v can't be a JSON object: its keys are no strings", v.Type())
		}
		var f Fields
		for _, k := range v.MapKeys() {
			f = append(f, Pair{k.String(), v.MapIndex(k)})
		}
		slices.SortFunc(f, func(a, b Pair) int { return strings.Compare(a.Name, b.Name) })
		return e.object(f)
	default:
		return fmt.Errorf("%v is in no class; add it to the classes with Registered or Function", v.Type())
	}
	return nil
}

func (e *Encoder) object(f Fields) error {
	e.out.WriteByte('{')
	for i, p := range f {
		if i > 0 {
			e.out.WriteString(", ")
		}
		if err := e.text(p.Name); err != nil {
			return err
		}
		e.out.WriteString(": ")
		if err := e.value(reflect.ValueOf(p.Value), true); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	e.out.WriteByte('}')
	return nil
}

// text writes a string as Python's json does: all but ASCII is escaped.
func (e *Encoder) text(s string) error {
	e.out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			e.out.WriteByte('\\')
			e.out.WriteRune(r)
		case r == '\n':
			e.out.WriteString(`\n`)
		case r == '\r':
			e.out.WriteString(`\r`)
		case r == '\t':
			e.out.WriteString(`\t`)
		case r == '\b':
			e.out.WriteString(`\b`)
		case r == '\f':
			e.out.WriteString(`\f`)
		case r < ' ' || r > '~' && r < 0x10000:
			fmt.Fprintf(&e.out, `\u%04x`, r)
		case r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(&e.out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			e.out.WriteRune(r)
		}
	}
	e.out.WriteByte('"')
	return nil
}

// float writes a number as Python's repr does.
func (e *Encoder) float(x float64) error {
	switch {
	case math.IsNaN(x):
		e.out.WriteString("NaN")
		return nil
	case math.IsInf(x, 1):
		e.out.WriteString("Infinity")
		return nil
	case math.IsInf(x, -1):
		e.out.WriteString("-Infinity")
		return nil
	}
	e.out.WriteString(FormatFloat(x, 64))
	return nil
}

// FormatFloat returns a number as Python's repr does: the shortest text that represents
// it, as a float of 32 or 64 bits.
func FormatFloat(x float64, bits int) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	format := byte('f')
	if a := math.Abs(x); a != 0 && (a < 1e-4 || a >= 1e16) {
		format = 'e'
	}
	s := strconv.FormatFloat(x, format, -1, bits)
	if format == 'f' && !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
