package training

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// layout is the form of a structure of tensors: one of inputs, truths or weights of a batch.
type layout struct {
	kind layoutKind
	keys []string // of a map, sorted
	has  []bool   // which elements there are; the others are nil
	// forms are those of the elements that there are, nil if all are dense tensors.
	forms []string
}

type layoutKind uint8

const (
	noValue layoutKind = iota
	oneValue
	listOfValues
	mapOfValues
)

// key returns a text that is equal for equal layouts only.
func (l *layout) key() string {
	return fmt.Sprintf("%d%q%v%q", l.kind, l.keys, l.has, l.forms)
}

// layouts are the layouts of the parts of a batch.
type layouts struct{ x, y, weights layout }

// arrangement is the form of a batch. Batches of one form share one arrangement, which is a
// static argument of the steps.
type arrangement struct {
	layouts
	weighsClasses bool // the class weights are the last argument
}

// leavesOf returns the elements of a structure and its layout.
func leavesOf(x any) (leaves []any, l layout, err error) {
	add := func(leaf any) {
		there := leaf != nil
		if v := reflect.ValueOf(leaf); there && v.Kind() == reflect.Pointer {
			there = !v.IsNil()
		}
		if l.has = append(l.has, there); there {
			leaves = append(leaves, leaf)
		}
	}
	switch x.(type) {
	case base.Sparse, base.Ragged:
		l.kind = oneValue
		add(x)
		return leaves, l, nil
	}
	v := reflect.ValueOf(x)
	switch {
	case x == nil || v.Kind() == reflect.Pointer && v.IsNil():
		return nil, l, nil
	case isList(v):
		l.kind = listOfValues
		for i := range v.Len() {
			add(v.Index(i).Interface())
		}
	case v.Kind() == reflect.Struct:
		l.kind = listOfValues
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				add(v.Field(i).Interface())
			}
		}
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		l.kind = mapOfValues
		for _, k := range v.MapKeys() {
			l.keys = append(l.keys, k.String())
		}
		slices.Sort(l.keys)
		for _, k := range l.keys {
			add(v.MapIndex(reflect.ValueOf(k).Convert(v.Type().Key())).Interface())
		}
	default:
		l.kind = oneValue
		add(x)
	}
	for _, leaf := range leaves {
		if v := reflect.ValueOf(leaf); isList(v) || v.Kind() == reflect.Map {
			return nil, l, fmt.Errorf("got a %T within a %T, want tensors; structures of more than one level are not supported", leaf, x)
		}
	}
	return leaves, l, nil
}

// isList reports whether v is a slice of tensors or of objects, not one of numbers.
func isList(v reflect.Value) bool {
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return false
	}
	e := v.Type().Elem().Kind()
	return e == reflect.Pointer || e == reflect.Interface
}

func tensorOf(ctx context.Context, leaf any) (*tensor.Tensor, error) {
	switch x := leaf.(type) {
	case *tensor.Tensor:
		return x, nil
	case *ops.Value:
		if form := base.FormOf(x); form != "" {
			return nil, fmt.Errorf("got a %s tensor, want a dense one; keras.ToDense converts it", form)
		}
		return x.Tensor()
	}
	s := function.Eager(ctx)
	v := ops.Const(s, leaf)
	if s.Err() != nil {
		return nil, fmt.Errorf("got a %T, want a tensor, a slice of numbers, or a list or map of them", leaf)
	}
	return v.Tensor()
}

// valuesOf returns the values of a structure, of sparse and ragged ones their parts.
func valuesOf(ctx context.Context, x any) ([]*ops.Value, layout, error) {
	leaves, l, err := leavesOf(x)
	if err != nil {
		return nil, l, err
	}
	var out []*ops.Value
	forms := make([]string, len(leaves))
	for i, leaf := range leaves {
		v, ok, err := leafValue(ctx, leaf)
		if err != nil {
			return nil, l, err
		}
		if ok {
			forms[i] = formOf(v)
			out = append(out, partsOf(v)...)
			continue
		}
		t, err := tensorOf(ctx, leaf)
		if err != nil {
			return nil, l, err
		}
		out = append(out, ops.ValueOf(t))
	}
	l.setForms(forms)
	return out, l, nil
}

// spread returns the elements of a layout with nil for those that are not there.
func spread[T any](l *layout, values []*T) []*T {
	out := make([]*T, len(l.has))
	n := 0
	for i, there := range l.has {
		if there {
			out[i] = values[n]
			n++
		}
	}
	return out
}

// outputs are the outputs of a model, in the order of their names.
type outputs struct {
	names  []string
	values []*ops.Value
	kind   layoutKind // oneValue, listOfValues, or mapOfValues with the names as keys
}

// conform returns the part of a structure for each output: a single object is that of
// all outputs, and a map has it by name.
func (o *outputs) conform(what string, l *layout, values []*ops.Value) ([]*ops.Value, error) {
	all := spread(l, values)
	n := len(o.names)
	switch l.kind {
	case noValue:
		return make([]*ops.Value, n), nil
	case oneValue:
		out := make([]*ops.Value, n)
		for i := range out {
			out[i] = all[0]
		}
		return out, nil
	case mapOfValues:
		out := make([]*ops.Value, n)
		for i, key := range l.keys {
			at := slices.Index(o.names, key)
			if at < 0 {
				return nil, unknownOutput(what, key, o.names)
			}
			out[at] = all[i]
		}
		return out, nil
	}
	if len(all) != n {
		return nil, fmt.Errorf("got %d %s, want %d, one for each output (%s)", len(all), what, n, strings.Join(o.names, ", "))
	}
	return all, nil
}

func unknownOutput(what, key string, names []string) error {
	return fmt.Errorf("the %s have the key %q, which is no output of the model (the outputs are %s)", what, key, strings.Join(names, ", "))
}

// perOutput returns a program's arguments for each output: losses, their weights, or
// metrics. A list for which broadcast is true is that of each output, as a single object is; what
// names the arguments in errors.
func perOutput(what string, given any, names []string, broadcast func(v reflect.Value) bool) ([]any, error) {
	out := make([]any, len(names))
	v := reflect.ValueOf(given)
	switch {
	case given == nil:
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		for _, k := range v.MapKeys() {
			at := slices.Index(names, k.String())
			if at < 0 {
				return nil, unknownOutput(what, k.String(), names)
			}
			out[at] = v.MapIndex(k).Interface()
		}
	case v.Kind() == reflect.Slice && !isBytes(v) && !broadcast(v):
		if v.Len() != len(names) {
			return nil, fmt.Errorf("got %d %s, want %d, one for each output (%s)", v.Len(), what, len(names), strings.Join(names, ", "))
		}
		for i := range out {
			out[i] = v.Index(i).Interface()
		}
	default:
		for i := range out {
			out[i] = given
		}
	}
	return out, nil
}

// isBytes reports whether v is a []byte or json.RawMessage, a config.
func isBytes(v reflect.Value) bool {
	return v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8
}
