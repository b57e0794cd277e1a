package ops

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Input is anything that an op takes as an input:
//
//   - a *[Value] or a *tensor.Tensor;
//   - a *trackable.Variable, or a struct that embeds one: its value is read;
//   - another object that functions capture, a [graph.Capturable]: a table's handle,
//     an asset's path;
//   - a Go number, bool or string: a scalar. A number takes the type that the op's
//     definition prescribes, that of the inputs which must have the same type, as
//     TensorFlow's Python constants do. If the op takes lists, that is the type of its
//     first input that has one. If all such inputs are Go numbers, ints are int32 and
//     floats are float32. A single one keeps its type, except that int is int32 and
//     float64 is float32. A float for an integer type is an error, and so is an int
//     that doesn't fit;
//   - a slice of numbers or a slice of such slices: a tensor. Those of int and
//     of float64 behave as numbers do, all others keep their element type.
//
// A nil Input is an error that names the op.
type Input any

var (
	errNilInput  = errors.New("is nil")
	errNilResult = errors.New("is nil; a function without values returns a nil []*ops.Value")
)

// nilInput returns the error for input i of an op, by the name in its definition.
func nilInput(def *graph.OpDef, i int) error {
	name := ""
	if def != nil && i < len(def.Inputs) && !slices.ContainsFunc(def.Inputs[:i+1], func(a graph.ArgDef) bool { return a.List() }) {
		name = fmt.Sprintf(" (%s)", def.Inputs[i].Name)
	}
	return fmt.Errorf("input %d %w%s; a map's value for a missing key is, and so is a gradient on which the result doesn't depend", i, errNilInput, name)
}

// resolve turns an input into a value; a weak number stays nil and is converted
// later, when the others' type is known.
func (s *Scope) resolve(in Input) (v *Value, weak bool, err error) {
	switch x := in.(type) {
	case *Value:
		if err := x.unusable(s); err != nil {
			return nil, false, err
		}
		if v, err = s.step.exec.lift(s, x.whole()); err == errLeaked {
			if t := s.tracer(); t != nil && t.openBranches > 0 {
				err = errOuterScope
			}
		}
		return v, false, err
	case *tensor.Tensor:
		if x == nil {
			return nil, false, errNilInput
		}
		v, err = s.step.exec.lift(s, s.newValue(x))
		return v, false, err
	case *trackable.Variable:
		if x == nil {
			return nil, false, errNilInput
		}
		v, err = s.step.exec.read(s, x)
		return v, false, err
	case graph.Capturable:
		v, err = s.step.exec.object(s, x)
		return v, false, err
	case trackable.VariableLike:
		embedded := variableOf(x)
		if embedded == nil {
			return nil, false, errNilInput
		}
		v, err = s.step.exec.read(s, embedded)
		return v, false, err
	case nil:
		return nil, false, errNilInput
	case int, float64, complex128, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, complex64,
		[]int, []float64:
		return nil, true, nil
	}
	if k := elementKind(in); k == reflect.Int || k == reflect.Float64 {
		return nil, true, nil
	}
	t, err := tensorOf(in, tensor.Invalid)
	if err != nil {
		return nil, false, err
	}
	v, err = s.step.exec.lift(s, s.newValue(t))
	return v, false, err
}

// newValue makes a value of this call over a tensor whose memory isn't the arena's; t may be
// nil.
func (s *Scope) newValue(t *tensor.Tensor) *Value {
	st := s.step
	if len(st.slab) == 0 {
		st.slab = make([]Value, 31) // 2 KiB including the runtime's header before them
	}
	v := &st.slab[0]
	st.slab = st.slab[1:]
	v.data.Tensor, v.step = t, st
	return v
}

// newExtra allocates the data that a value of this call has besides its tensor.
func (st *step) newExtra() *extra {
	if len(st.extras) == 0 {
		st.extras = make([]extra, 16)
	}
	e := &st.extras[0]
	st.extras = st.extras[1:]
	return e
}

// tensorOf makes a tensor of a Go value. want is the element type for weak
// numbers; Invalid leaves the default.
func tensorOf(in any, want tensor.DType) (*tensor.Tensor, error) {
	switch x := in.(type) {
	case int:
		if want == tensor.Invalid {
			want = tensor.Int32
		}
		return intScalar(int64(x), want)
	case int8:
		return intScalar(int64(x), orType(want, tensor.Int8))
	case int16:
		return intScalar(int64(x), orType(want, tensor.Int16))
	case int32:
		return intScalar(int64(x), orType(want, tensor.Int32))
	case int64:
		return intScalar(x, orType(want, tensor.Int64))
	case uint:
		return uintScalar(uint64(x), orType(want, tensor.Uint32))
	case uint8:
		return uintScalar(uint64(x), orType(want, tensor.Uint8))
	case uint16:
		return uintScalar(uint64(x), orType(want, tensor.Uint16))
	case uint32:
		return uintScalar(uint64(x), orType(want, tensor.Uint32))
	case uint64:
		return uintScalar(x, orType(want, tensor.Uint64))
	case float32:
		return floatScalar(float64(x), orType(want, tensor.Float32))
	case float64:
		return floatScalar(x, orType(want, tensor.Float32))
	case complex64:
		return complexScalar(complex128(x), orType(want, tensor.Complex64))
	case complex128:
		return complexScalar(x, orType(want, tensor.Complex128))
	case bool:
		return tensor.Scalar(x), nil
	case string:
		return tensor.Scalar(x), nil
	case []int:
		return intVector(x, orType(want, tensor.Int32))
	case []float64:
		return floatVector(x, orType(want, tensor.Float32))
	}
	return reflectTensor(in, want)
}

// elementKind returns the kind of the elements of nested slices or arrays, or of a
// value that is neither.
func elementKind(in any) reflect.Kind {
	t := reflect.TypeOf(in)
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t.Kind()
}

func orType(d, def tensor.DType) tensor.DType {
	if d == tensor.Invalid {
		return def
	}
	return d
}

func intVector(x []int, d tensor.DType) (*tensor.Tensor, error) {
	if d == tensor.Int32 {
		v := make([]int32, len(x))
		for i, e := range x {
			if int64(e) != int64(int32(e)) {
				return nil, fmt.Errorf("%d doesn't fit int32", e)
			}
			v[i] = int32(e)
		}
		return tensor.New(v, len(v))
	}
	return vectorOf(len(x), d, func(i int) (*tensor.Tensor, error) { return intScalar(int64(x[i]), d) })
}

func floatVector(x []float64, d tensor.DType) (*tensor.Tensor, error) {
	switch d {
	case tensor.Float64:
		return tensor.New(slices.Clone(x), len(x))
	case tensor.Float32:
		v := make([]float32, len(x))
		for i, e := range x {
			v[i] = float32(e)
		}
		return tensor.New(v, len(v))
	}
	return vectorOf(len(x), d, func(i int) (*tensor.Tensor, error) { return floatScalar(x[i], d) })
}

// vectorOf joins scalars to a vector.
func vectorOf(n int, d tensor.DType, at func(int) (*tensor.Tensor, error)) (*tensor.Tensor, error) {
	out, err := tensor.Zeros(d, n)
	if err != nil {
		return nil, err
	}
	size := d.Size()
	for i := range n {
		t, err := at(i)
		if err != nil {
			return nil, err
		}
		copy(out.Bytes()[i*size:], t.Bytes())
	}
	return out, nil
}

func intScalar(x int64, d tensor.DType) (*tensor.Tensor, error) {
	fits := true
	var t *tensor.Tensor
	switch d {
	case tensor.Int8:
		t, fits = tensor.Scalar(int8(x)), x == int64(int8(x))
	case tensor.Int16:
		t, fits = tensor.Scalar(int16(x)), x == int64(int16(x))
	case tensor.Int32:
		t, fits = tensor.Scalar(int32(x)), x == int64(int32(x))
	case tensor.Int64:
		t = tensor.Scalar(x)
	case tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64:
		if x < 0 {
			return nil, fmt.Errorf("%d doesn't fit %v", x, d)
		}
		return uintScalar(uint64(x), d)
	default:
		return floatScalar(float64(x), d)
	}
	if !fits {
		return nil, fmt.Errorf("%d doesn't fit %v", x, d)
	}
	return t, nil
}

func uintScalar(x uint64, d tensor.DType) (*tensor.Tensor, error) {
	fits := true
	var t *tensor.Tensor
	switch d {
	case tensor.Uint8:
		t, fits = tensor.Scalar(uint8(x)), x <= math.MaxUint8
	case tensor.Uint16:
		t, fits = tensor.Scalar(uint16(x)), x <= math.MaxUint16
	case tensor.Uint32:
		t, fits = tensor.Scalar(uint32(x)), x <= math.MaxUint32
	case tensor.Uint64:
		t = tensor.Scalar(x)
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64:
		if x > math.MaxInt64 {
			return nil, fmt.Errorf("%d doesn't fit %v", x, d)
		}
		return intScalar(int64(x), d)
	default:
		return floatScalar(float64(x), d)
	}
	if !fits {
		return nil, fmt.Errorf("%d doesn't fit %v", x, d)
	}
	return t, nil
}

func floatScalar(x float64, d tensor.DType) (*tensor.Tensor, error) {
	switch d {
	case tensor.Float32:
		return tensor.Scalar(float32(x)), nil
	case tensor.Float64:
		return tensor.Scalar(x), nil
	case tensor.Float16:
		return tensor.Scalar(tensor.ToF16(float32(x))), nil
	case tensor.BFloat16:
		return tensor.Scalar(tensor.ToBF16(float32(x))), nil
	}
	return complexScalar(complex(x, 0), d)
}

func complexScalar(x complex128, d tensor.DType) (*tensor.Tensor, error) {
	switch d {
	case tensor.Complex64:
		return tensor.Scalar(complex64(x)), nil
	case tensor.Complex128:
		return tensor.Scalar(x), nil
	}
	if imag(x) == 0 {
		return nil, fmt.Errorf("the Go number %v can't become %v; cast one of them", real(x), d)
	}
	return nil, fmt.Errorf("the Go number %v can't become %v; cast one of them", x, d)
}

// reflectTensor makes a tensor of nested slices or arrays. want is the element type of those of int
// and float64; Invalid leaves the default.
func reflectTensor(in any, want tensor.DType) (*tensor.Tensor, error) {
	v := reflect.ValueOf(in)
	if k := v.Kind(); k != reflect.Slice && k != reflect.Array {
		return nil, fmt.Errorf("is a %T, which no op takes", in)
	}
	var dims []int
	elem := v.Type()
	for w, known := v, true; elem.Kind() == reflect.Slice || elem.Kind() == reflect.Array; elem = elem.Elem() {
		n := 0
		if known {
			n = w.Len()
		}
		dims = append(dims, n)
		if known = known && n > 0; known {
			w = w.Index(0)
		}
	}
	switch elem.Kind() {
	case reflect.Int:
		return shapedVector(v, dims, orType(want, tensor.Int32), func(r reflect.Value) int { return int(r.Int()) }, intVector)
	case reflect.Float64:
		return shapedVector(v, dims, orType(want, tensor.Float32), reflect.Value.Float, floatVector)
	case reflect.Float32:
		return gather(v, dims, func(r reflect.Value) float32 { return float32(r.Float()) })
	case reflect.Int32:
		return gather(v, dims, func(r reflect.Value) int32 { return int32(r.Int()) })
	case reflect.Int64:
		return gather(v, dims, func(r reflect.Value) int64 { return r.Int() })
	case reflect.Int16:
		return gather(v, dims, func(r reflect.Value) int16 { return int16(r.Int()) })
	case reflect.Int8:
		return gather(v, dims, func(r reflect.Value) int8 { return int8(r.Int()) })
	case reflect.Uint8:
		return gather(v, dims, func(r reflect.Value) uint8 { return uint8(r.Uint()) })
	case reflect.Uint16:
		return gather(v, dims, func(r reflect.Value) uint16 { return uint16(r.Uint()) })
	case reflect.Uint32:
		return gather(v, dims, func(r reflect.Value) uint32 { return uint32(r.Uint()) })
	case reflect.Uint64:
		return gather(v, dims, func(r reflect.Value) uint64 { return r.Uint() })
	case reflect.Bool:
		return gather(v, dims, func(r reflect.Value) bool { return r.Bool() })
	case reflect.String:
		return gather(v, dims, func(r reflect.Value) string { return r.String() })
	case reflect.Complex64:
		return gather(v, dims, func(r reflect.Value) complex64 { return complex64(r.Complex()) })
	case reflect.Complex128:
		return gather(v, dims, func(r reflect.Value) complex128 { return r.Complex() })
	}
	return nil, fmt.Errorf("is a %T, which no op takes", in)
}

// shapedVector makes a tensor of numbers, which of converts to type d.
func shapedVector[T int | float64](v reflect.Value, dims []int, d tensor.DType, at func(reflect.Value) T, of func([]T, tensor.DType) (*tensor.Tensor, error)) (*tensor.Tensor, error) {
	list, err := elements(v, dims, at)
	if err != nil {
		return nil, err
	}
	t, err := of(list, d)
	if err != nil {
		return nil, err
	}
	return t.Reshape(dims...)
}

func gather[T tensor.Element](v reflect.Value, dims []int, at func(reflect.Value) T) (*tensor.Tensor, error) {
	list, err := elements(v, dims, at)
	if err != nil {
		return nil, err
	}
	return tensor.New(list, dims...)
}

// elements returns the contents of nested slices, which must have the sizes
// dims.
func elements[T any](v reflect.Value, dims []int, at func(reflect.Value) T) ([]T, error) {
	var out []T
	var walk func(v reflect.Value, dims []int) error
	walk = func(v reflect.Value, dims []int) error {
		if len(dims) == 0 {
			out = append(out, at(v))
			return nil
		}
		if v.Len() != dims[0] {
			return fmt.Errorf("is a ragged %d-dimensional slice: one part has %d elements, another %d", len(dims), dims[0], v.Len())
		}
		for i := range v.Len() {
			if err := walk(v.Index(i), dims[1:]); err != nil {
				return err
			}
		}
		return nil
	}
	err := walk(v, dims)
	return out, err
}
