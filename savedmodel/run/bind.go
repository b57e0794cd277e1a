package run

import (
	"context"
	"fmt"
	"reflect"

	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// A BindError names the field of a struct that doesn't fit a signature.
type BindError struct {
	Signature string
	Type      string // the struct
	Field     string // "" for a fault of the struct as a whole
	Reason    string
}

// Error names signature, struct and field.
func (e *BindError) Error() string {
	where := e.Type
	if e.Field != "" {
		where += "." + e.Field
	}
	return fmt.Sprintf("savedmodel: signature %q can't be bound to %s: %s", e.Signature, where, e.Reason)
}

// place is a field and the input or output that it is.
type place struct {
	field int    // its index in the struct
	name  string // of the input or output
}

// dashTag is the tag of a field for the input or output "-".
const dashTag = "-,"

var tensorType = reflect.TypeFor[*tensor.Tensor]()

// Bind returns a Go function that calls a signature of m with structs. Each exported field is a *tensor.Tensor. It is
// matched with the input or output of its name in snake case, or of the name in its tag `cairn:"name"`. As in package json,
// "-" leaves a field out, and "-," is the name "-". Bind checks the names once: every input without a default needs a field,
// and every field an input or output. The function may be called from any goroutine.
func Bind[In, Out any](m *Model, signature string) (func(context.Context, In) (Out, error), error) {
	s, err := m.Signature(signature)
	if err != nil {
		return nil, err
	}
	in, err := s.places(reflect.TypeFor[In](), s.inputs, "input")
	if err != nil {
		return nil, err
	}
	for _, t := range s.inputs {
		if t.Default == nil && !hasName(in, t.Name) {
			return nil, &BindError{signature, reflect.TypeFor[In]().String(), "", fmt.Sprintf("it has no field for the input %q (%v%v)", t.Name, t.DType, t.Shape)}
		}
	}
	out, err := s.places(reflect.TypeFor[Out](), s.outputs, "output")
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, x In) (y Out, err error) {
		args := make(map[string]*tensor.Tensor, len(in))
		v := reflect.ValueOf(&x).Elem()
		for _, p := range in {
			if t, _ := v.Field(p.field).Interface().(*tensor.Tensor); t != nil {
				args[p.name] = t
			}
		}
		got, err := s.Call(ctx, args)
		if err != nil {
			return y, err
		}
		v = reflect.ValueOf(&y).Elem()
		for _, p := range out {
			v.Field(p.field).Set(reflect.ValueOf(got[p.name]))
		}
		return y, nil
	}, nil
}

func hasName(list []place, name string) bool {
	for _, p := range list {
		if p.name == name {
			return true
		}
	}
	return false
}

// places returns which inputs or outputs of list the fields of a struct are. what is "input" or
// "output", for errors. A field of value nil leaves out its input, so that the default is used.
func (s *Signature) places(t reflect.Type, list []savedmodel.TensorInfo, what string) ([]place, error) {
	fail := func(field, format string, args ...any) ([]place, error) {
		return nil, &BindError{s.def.Name, t.String(), field, fmt.Sprintf(format, args...)}
	}
	if t.Kind() != reflect.Struct {
		return fail("", "it is no struct")
	}
	var names []string
	for _, x := range list {
		names = append(names, x.Name)
	}
	var out []place
	for i := range t.NumField() {
		f := t.Field(i)
		name, tagged := f.Tag.Lookup("cairn")
		switch {
		case name == "-" || !f.IsExported() && !tagged:
			continue
		case !f.IsExported():
			return fail(f.Name, "it isn't exported")
		case f.Type != tensorType:
			return fail(f.Name, "it is a %v, not a *tensor.Tensor", f.Type)
		case name == "":
			name = trackable.SnakeCase(f.Name)
		case name == dashTag:
			name = "-"
		}
		switch {
		case indexOf(list, name) < 0:
			near := nearest.Names(name, names, 3)
			if len(near) == 0 {
				near = names
			}
			return fail(f.Name, "there is no %s %q; %s", what, name, nearest.ThereAre(near))
		case hasName(out, name):
			return fail(f.Name, "another field is the %s %q too", what, name)
		}
		out = append(out, place{i, name})
	}
	return out, nil
}
