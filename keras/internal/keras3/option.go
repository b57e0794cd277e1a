package keras3

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// An option is a key of a config that differs between the versions.
type option struct {
	two, three string                 // the names in Keras 2 and in Keras 3; "" in the one that lacks it
	means      []any                  // the values that the version without the option behaves as
	harmless   bool                   // no value changes the outputs of a model
	up, down   func(any) (any, error) // convert values to Keras 3 and to Keras 2; nil keeps them
}

// renamed describes an option with two names.
func renamed(two, three string) option { return option{two: two, three: three} }

// changed describes an option whose values differ.
func changed(name string, up, down func(any) (any, error)) option {
	return option{two: name, three: name, up: up, down: down}
}

// only2 describes an option that Keras 3 lacks, and the values that it behaves as.
func only2(name string, means ...any) option { return option{two: name, means: means} }

// only3 describes an option that Keras 2 lacks, and the values that it behaves as.
func only3(name string, means ...any) option { return option{three: name, means: means} }

// ignored2 describes options that Keras 3 lacks and that change no result.
func ignored2(names ...string) (out []option) {
	for _, name := range names {
		out = append(out, option{two: name, harmless: true})
	}
	return out
}

// ignored3 describes options that Keras 2 lacks and that change no result.
func ignored3(names ...string) (out []option) {
	for _, name := range names {
		out = append(out, option{three: name, harmless: true})
	}
	return out
}

// with joins options and lists of options.
func with(parts ...any) (out []option) {
	for _, p := range parts {
		switch p := p.(type) {
		case option:
			out = append(out, p)
		case []option:
			out = append(out, p...)
		}
	}
	return out
}

// sides returns the names of an option in the version that is read and in the one that is
// written, and the conversion of its values.
func (o option) sides(up bool) (from, to string, convert func(any) (any, error)) {
	if up {
		return o.two, o.three, o.up
	}
	return o.three, o.two, o.down
}

// missing returns an error if a value can't be left out.
func (o option) missing(name string, v any, to string) error {
	if o.harmless {
		return nil
	}
	for _, m := range o.means {
		if equal(v, m) {
			return nil
		}
	}
	return fmt.Errorf("option %q: %s has no such option (got %s)", name, to, short(v))
}

// equal reports whether two parsed JSON values are equal. Numbers are compared by value.
func equal(a, b any) bool {
	return reflect.DeepEqual(plain(a), plain(b))
}

// plain returns a JSON value whose numbers are float64.
func plain(v any) any {
	switch x := v.(type) {
	case json.Number:
		f, err := x.Float64()
		if err != nil {
			return x.String()
		}
		return f
	case int:
		return float64(x)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = plain(x[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k := range x {
			out[k] = plain(x[k])
		}
		return out
	}
	return v
}

// short returns a JSON value for an error.
func short(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	if len(b) > 60 {
		return string(b[:60]) + "…"
	}
	return string(b)
}
