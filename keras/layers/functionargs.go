package layers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// This file reads the arguments of the functions that functiontable.go lists.

// tensorFlowFunction is a public function of TensorFlow.
type tensorFlowFunction struct {
	params []string // the arguments but for the name, in TensorFlow's order
	list   bool     // the first argument is a list of tensors
	call   func(s *ops.Scope, a *functionArgs) []*ops.Value
}

// functionArgs are the arguments of a call of a function, as Go values or as JSON. Its
// methods return one as the type that they name. An error fails the scope at once, so no later
// op of the function runs.
type functionArgs struct {
	s        *ops.Scope
	function string // the function's name below tf
	values   map[string]any
}

func (a *functionArgs) fail(name, format string, args ...any) {
	a.s.Fail("tf."+a.function, fmt.Errorf("argument %q: %s", name, fmt.Sprintf(format, args...)))
}

// given reports whether an argument is there, and isn't None.
func (a *functionArgs) given(name string) bool { return a.values[name] != nil }

// tensor returns a tensor: a value, a number, a string or nested lists of them.
func (a *functionArgs) tensor(name string) ops.Input {
	v, ok := a.values[name]
	if !ok || v == nil {
		a.fail(name, "is missing")
		return 0
	}
	return a.input(name, v, 0)
}

// input returns an input of an op for an argument. Integers of lists with values become
// elements of the values' type.
func (a *functionArgs) input(name string, v any, depth int) ops.Input {
	if depth > 8 {
		a.fail(name, "lists nest deeper than 8")
		return 0
	}
	switch v := plainNumber(v).(type) {
	case []any:
		return a.list(name, v, depth)
	case map[string]any:
		a.fail(name, "got %T, want a tensor", v)
		return 0
	case nil:
		a.fail(name, "is null")
		return 0
	default:
		return v
	}
}

// list returns a list as one input: a slice if all elements are numbers or all are strings, else
// a stack of its elements.
func (a *functionArgs) list(name string, v []any, depth int) ops.Input {
	ints, floats, texts := make([]int, 0, len(v)), make([]float64, 0, len(v)), make([]string, 0, len(v))
	for _, x := range v {
		switch x := plainNumber(x).(type) {
		case int:
			ints, floats = append(ints, x), append(floats, float64(x))
		case float64:
			floats = append(floats, x)
		case string:
			texts = append(texts, x)
		}
	}
	switch len(v) {
	case len(ints):
		return ints
	case len(floats):
		return floats
	case len(texts):
		return texts
	}
	parts := make([]*ops.Value, len(v))
	var kind tensor.DType
	for _, x := range v {
		if x, ok := x.(*ops.Value); ok {
			kind = x.DType()
		}
	}
	for i, x := range v {
		parts[i] = a.like(kind, a.input(name, x, depth+1))
	}
	return ops.Stack(a.s, parts)
}

// like returns an input as a value; numbers get the type d, unless that is tensor.Invalid.
func (a *functionArgs) like(d tensor.DType, x ops.Input) *ops.Value {
	if _, ok := x.(*ops.Value); !ok && d != tensor.Invalid {
		return ops.ConstOf(a.s, d, x)
	}
	return ops.Const(a.s, x)
}

// plainNumber returns a number of a JSON text as an int if it is written as one, else as a
// float64; a Go slice as []any; anything else as it is.
func plainNumber(v any) any {
	switch v := v.(type) {
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			if i, err := v.Int64(); err == nil && int64(int(i)) == i {
				return int(i)
			}
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
	case []*ops.Value:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = x
		}
		return out
	case []ops.Input:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = x
		}
		return out
	case []int:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = x
		}
		return out
	}
	return v
}

// tensors returns a list of tensors.
func (a *functionArgs) tensors(name string) []*ops.Value {
	list, ok := plainNumber(a.values[name]).([]any)
	if !ok || len(list) == 0 {
		a.fail(name, "got %v, want a list of tensors", a.values[name])
		return nil
	}
	var kind tensor.DType
	for _, x := range list {
		if x, ok := x.(*ops.Value); ok {
			kind = x.DType()
		}
	}
	out := make([]*ops.Value, len(list))
	for i, x := range list {
		out[i] = a.like(kind, a.input(name, x, 1))
	}
	return out
}

// integer returns an int, def if the argument isn't given.
func (a *functionArgs) integer(name string, def int) int {
	switch v := plainNumber(a.values[name]).(type) {
	case nil:
		return def
	case int:
		return v
	case []any: // of one element
		if len(v) == 1 {
			if i, ok := plainNumber(v[0]).(int); ok {
				return i
			}
		}
	}
	a.fail(name, "got %v, want an integer", a.values[name])
	return def
}

// integers returns a list of integers, or one as a list. ok is false if the argument isn't
// given, or has a tensor in it.
func (a *functionArgs) integers(name string) (list []int, ok bool) {
	switch v := plainNumber(a.values[name]).(type) {
	case int:
		return []int{v}, true
	case []any:
		list = make([]int, len(v))
		for i, x := range v {
			if list[i], ok = plainNumber(x).(int); !ok {
				return nil, false
			}
		}
		return list, true
	}
	return nil, false
}

// number returns a float64, def if the argument isn't given.
func (a *functionArgs) number(name string, def float64) float64 {
	switch v := plainNumber(a.values[name]).(type) {
	case nil:
		return def
	case int:
		return float64(v)
	case float64:
		return v
	}
	a.fail(name, "got %v, want a number", a.values[name])
	return def
}

// flag returns a bool, def if the argument isn't given.
func (a *functionArgs) flag(name string, def bool) bool {
	switch v := a.values[name].(type) {
	case nil:
		return def
	case bool:
		return v
	}
	a.fail(name, "got %v, want true or false", a.values[name])
	return def
}

// text returns a string, def if the argument isn't given.
func (a *functionArgs) text(name, def string) string {
	switch v := a.values[name].(type) {
	case nil:
		return def
	case string:
		return v
	}
	a.fail(name, "got %v, want a string", a.values[name])
	return def
}

// dtype returns an element type, def if the argument isn't given.
func (a *functionArgs) dtype(name string, def tensor.DType) tensor.DType {
	text := a.text(name, "")
	if text == "" {
		return def
	}
	d, err := tensor.ParseDType(text)
	if err != nil {
		a.fail(name, "%v", err)
	}
	return d
}

// axes returns the axes of a reduction. none reports an empty list, over which nothing is
// reduced; None means all axes.
func (a *functionArgs) axes(name string) (axes []int, none bool) {
	if !a.given(name) {
		return nil, false
	}
	axes, ok := a.integers(name)
	if !ok {
		a.fail(name, "got %v, want integers", a.values[name])
	}
	return axes, len(axes) == 0
}

// only returns an error for an argument that isn't None and has none of the allowed values.
// The first of these is the default; without any, only None is allowed.
func (a *functionArgs) only(name string, allowed ...any) {
	if v, ok := a.values[name]; ok && v != nil && !slices.Contains(allowed, plainNumber(v)) {
		want := "None"
		if len(allowed) > 0 {
			want = fmt.Sprint(allowed[0])
		}
		a.fail(name, "got %v, want %s; another setting isn't supported", v, want)
	}
}
