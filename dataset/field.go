package dataset

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/cairnml/cairn/internal/structure"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

var (
	tensorType = reflect.TypeFor[*tensor.Tensor]()
	valueType  = reflect.TypeFor[*ops.Value]()
)

// layoutOf returns the places of data in elements of type T: tensors, values, and Go slices below the element
// itself. It is computed once, when a dataset is made. [FromSlices] and Batch call it. Its errors are about the
// element's type, never about values.
func layoutOf[T any]() (*structure.Layout, error) {
	t := reflect.TypeFor[T]()
	if t.Kind() == reflect.Slice {
		return nil, fmt.Errorf("dataset: %v can't be an element; make it a struct's field, or a tensor", t)
	}
	l, err := structure.Of(t, "", structure.Rules{IsValue: func(t reflect.Type, root bool) bool {
		return t == tensorType || t == valueType || t.Kind() == reflect.Slice && !root
	}})
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	if name, at, ok := l.Static(); ok {
		if name == "" {
			return nil, fmt.Errorf("dataset: %v is no *tensor.Tensor, no *ops.Value and no struct or map of them", t)
		}
		return nil, fmt.Errorf("dataset: %s is %v; it must be a *tensor.Tensor, an *ops.Value, a slice, or a struct or map of them", strings.TrimPrefix(name, "."), at)
	}
	if l.Len() == 0 {
		return nil, fmt.Errorf("dataset: %v holds no tensor", t)
	}
	return l, nil
}

// place is a part of an element that holds data.
type place struct {
	structure.Place
	at unsafe.Pointer // the place in memory, of type p.Type()
}

// placesOf lists the places of data in v, in the order of its layout.
func placesOf[T any](l *structure.Layout, v *T) (all []place, err error) {
	err = l.Each(unsafe.Pointer(v), func(at unsafe.Pointer, p structure.Place) error {
		all = append(all, place{p, at})
		return nil
	})
	return all, err
}

// fill returns an element of v's form, whose place k is set by set.
func fill[T any](l *structure.Layout, v T, set func(k int, p place) error) (T, error) {
	l.Detach(unsafe.Pointer(&v))
	k := 0
	err := l.Update(unsafe.Pointer(&v), func(at unsafe.Pointer, p structure.Place) error {
		k++
		return set(k-1, place{p, at})
	})
	return v, err
}

// name returns the place in errors: "X", "Pair.Y", empty for an element that is a
// tensor itself.
func (p place) name() string { return strings.TrimPrefix(p.Name(), ".") }

func (p place) prefix() string {
	if n := p.name(); n != "" {
		return n + ": "
	}
	return ""
}

// isSlice reports whether the place holds a Go slice.
func (p place) isSlice() bool { return p.Type().Kind() == reflect.Slice }

// value returns the contents of the place, settable.
func (p place) value() reflect.Value { return reflect.NewAt(p.Type(), p.at).Elem() }

// tensor returns the tensor that the place holds.
func (p place) tensor() (*tensor.Tensor, error) {
	if p.Type() == tensorType {
		t := *(**tensor.Tensor)(p.at)
		if t == nil {
			return nil, fmt.Errorf("%sis nil", p.prefix())
		}
		return t, nil
	}
	v := *(**ops.Value)(p.at)
	if v == nil {
		return nil, fmt.Errorf("%sis nil", p.prefix())
	}
	t, err := v.Tensor()
	if err != nil {
		return nil, fmt.Errorf("%s%w", p.prefix(), err)
	}
	return t, nil
}

// set puts t there.
func (p place) set(t *tensor.Tensor) {
	if p.Type() == valueType {
		*(**ops.Value)(p.at) = ops.ValueOf(t)
	} else {
		*(**tensor.Tensor)(p.at) = t
	}
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
