package function

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/structure"
	"github.com/cairnml/cairn/ops"
)

var valueType = reflect.TypeFor[*ops.Value]()

// layoutOf returns the places of values in a type. It is computed once, at New.
func layoutOf(t reflect.Type, name string) (*structure.Layout, error) {
	l, err := structure.Of(t, name, structure.Rules{IsValue: func(t reflect.Type, _ bool) bool { return t == valueType }})
	if err != nil {
		return nil, fmt.Errorf("function: %w", err)
	}
	return l, nil
}

// visit returns f as a layout's walk takes it.
func visit(f func(at **ops.Value, place structure.Place) error) structure.Visit {
	return func(at unsafe.Pointer, place structure.Place) error { return f((**ops.Value)(at), place) }
}

// check refuses nil values in an argument.
func check(l *structure.Layout, arg unsafe.Pointer) error {
	return l.Each(arg, visit(func(at **ops.Value, place structure.Place) error {
		if *at == nil {
			return fmt.Errorf("function: %s is nil", place.Name())
		}
		return nil
	}))
}

var errLeaked = errors.New("is a value of a traced function, used outside of it: return it from that function")

// keep makes the values of a result outlive the scope. The result's slices and
// maps are changed.
func keep(l *structure.Layout, s *ops.Scope, result unsafe.Pointer) error {
	return l.Update(result, visit(func(at **ops.Value, place structure.Place) error {
		if *at == nil {
			return nil // an optional output that the function left out
		}
		v := s.Keep(*at)
		if v == nil {
			_, err := (*at).Data()
			if (*at).IsSymbolic() {
				err = errLeaked
			}
			return fmt.Errorf("function: %s: %w", place.Name(), err)
		}
		*at = v
		return nil
	}))
}

// valuesOf returns the values in arg in order.
func valuesOf(l *structure.Layout, arg unsafe.Pointer) (values []*ops.Value) {
	_ = l.Each(arg, visit(func(at **ops.Value, _ structure.Place) error {
		values = append(values, *at)
		return nil
	}))
	return values
}

// describe returns the structure of arg, with the types and shapes of its values.
func describe(l *structure.Layout, arg unsafe.Pointer) *graph.Structure {
	return l.Describe(arg, func(at unsafe.Pointer) *graph.Structure {
		v := *(**ops.Value)(at)
		if v == nil {
			return graph.StaticOf(nil)
		}
		f := v.Fact().WithoutValue()
		f.Shape = f.Shape.Anonymous()
		return graph.TensorOf("", f)
	})
}
