package dataset

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// field is where an element of a type holds data: the indexes of the fields on
// the way. It is found once, when a dataset is made.
type field struct {
	path []int
	name string // for errors: "X", "Pair.Y", "" for an element that is a tensor itself
	kind leafKind
}

type leafKind int

const (
	tensorField leafKind = iota // a *tensor.Tensor
	valueField                  // an *ops.Value
	goField                     // a Go slice of rows
)

var (
	tensorType = reflect.TypeFor[*tensor.Tensor]()
	valueType  = reflect.TypeFor[*ops.Value]()
)

// fieldsOf lists where type T holds tensors and Go slices.
func fieldsOf[T any]() ([]field, error) {
	t := reflect.TypeFor[T]()
	var all []field
	if err := addFields(&all, t, nil, ""); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("dataset: %v holds no tensor", t)
	}
	return all, nil
}

func addFields(all *[]field, t reflect.Type, path []int, name string) error {
	switch {
	case t == tensorType || t == valueType:
		kind := tensorField
		if t == valueType {
			kind = valueField
		}
		*all = append(*all, field{slices.Clone(path), name, kind})
		return nil
	case t.Kind() == reflect.Slice && name != "":
		*all = append(*all, field{slices.Clone(path), name, goField})
		return nil
	case t.Kind() == reflect.Slice:
		return fmt.Errorf("dataset: %v can't be an element; make it a struct's field, or a tensor", t)
	case t.Kind() != reflect.Struct:
		if name == "" {
			return fmt.Errorf("dataset: %v is no *tensor.Tensor, no *ops.Value and no struct of them", t)
		}
		return fmt.Errorf("dataset: field %s is %v; it must be a *tensor.Tensor, an *ops.Value, a slice or a struct of them", name, t)
	}
	for i := range t.NumField() {
		f := t.Field(i)
		inner := f.Name
		if name != "" {
			inner = name + "." + f.Name
		}
		if !f.IsExported() {
			return fmt.Errorf("dataset: field %s of %v isn't exported, so it can't be filled", inner, t)
		}
		if err := addFields(all, f.Type, append(path, i), inner); err != nil {
			return err
		}
	}
	return nil
}

// at returns the field of v, an element; an element that is a tensor itself has
// no fields.
func (l field) at(v reflect.Value) reflect.Value {
	if len(l.path) == 0 {
		return v
	}
	return v.FieldByIndex(l.path)
}

// get returns the tensor that v, an element, holds there.
func (l field) get(v reflect.Value) (*tensor.Tensor, error) {
	f := l.at(v)
	if f.IsNil() {
		return nil, fmt.Errorf("%sis nil", l.prefix())
	}
	if l.kind == tensorField {
		return f.Interface().(*tensor.Tensor), nil
	}
	t, err := f.Interface().(*ops.Value).Tensor()
	if err != nil {
		return nil, fmt.Errorf("%s%w", l.prefix(), err)
	}
	return t, nil
}

// set puts t into v, an element that can be changed.
func (l field) set(v reflect.Value, t *tensor.Tensor) {
	if l.kind == valueField {
		l.at(v).Set(reflect.ValueOf(ops.ValueOf(t)))
	} else {
		l.at(v).Set(reflect.ValueOf(t))
	}
}

func (l field) prefix() string {
	if l.name == "" {
		return ""
	}
	return l.name + ": "
}

// rows returns a tensor of the given shape over rows lo to hi of t.
func rows(t *tensor.Tensor, lo, hi int, shape tensor.Shape) (*tensor.Tensor, error) {
	n := t.Shape()[0]
	if t.DType().Fixed() {
		each := len(t.Bytes()) / max(n, 1)
		return tensor.FromBytes(t.DType(), t.Bytes()[lo*each:hi*each:hi*each], shape...)
	}
	each := len(t.Strings()) / max(n, 1)
	return tensor.FromStrings(t.DType(), t.Strings()[lo*each:hi*each:hi*each], shape...)
}

// stack joins tensors of equal type and shape along a new first dimension.
func stack(parts []*tensor.Tensor) (*tensor.Tensor, error) {
	first := parts[0]
	for i, p := range parts[1:] {
		if p.DType() != first.DType() || !p.Shape().Equal(first.Shape()) {
			return nil, fmt.Errorf("element 0 of the batch is %v%v, element %d is %v%v", first.DType(), first.Shape(), i+1, p.DType(), p.Shape())
		}
	}
	out, err := tensor.Zeros(first.DType(), append([]int{len(parts)}, first.Shape()...)...)
	if err != nil {
		return nil, err
	}
	if first.DType().Fixed() {
		at := out.Bytes()
		for _, p := range parts {
			at = at[copy(at, p.Bytes()):]
		}
	} else {
		at := out.Strings()
		for _, p := range parts {
			at = at[copy(at, p.Strings()):]
		}
	}
	return out, nil
}

var errNoRows = errors.New("a scalar has no rows to slice")
