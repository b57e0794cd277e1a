package ops

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/callers"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Value is the result of an op: a handle of a tensor. After a failure it is a
// handle of nothing, whose accessors report the failure.
//
// A value made inside a Func lives until the function returns; the values that
// it returns are the caller's to keep. Others are dead after that, and fail
// when they are used.
type Value struct {
	data  engine.Value // eager
	step  *step
	extra *extra // nil for most values that have data
}

// extra is the data that only some values have: those of traces and of recorded
// ops, reads of variables.
type extra struct {
	out  graph.Output // the output in the trace
	spec *graph.Fact  // neither eager nor traced: an example without data

	sparse   *sparse             // the slices if the value is an IndexedSlices, nil for others
	variable *trackable.Variable // the variable that the value is a read or a handle of
	handle   bool                // the value is the variable's handle, not its value
	sizes    bool                // a shape, axes or a count: Go numbers among the other inputs don't take its type
	holds    int32               // the number of users of the borrowed value of the variable

	slot slotRef   // the number that the first recorder stored with SetSlot
	more []slotRef // those of further recorders

	notes []note
}

var noExtra extra

// extras returns the additional data of v, to be read only.
func (v *Value) extras() *extra {
	if v.extra == nil {
		return &noExtra
	}
	return v.extra
}

// mark returns the additional data of v, to be changed.
func (v *Value) mark() *extra {
	if v.extra == nil {
		if v.step == nil {
			v.extra = new(extra)
		} else {
			v.extra = v.step.newExtra()
		}
	}
	return v.extra
}

// slotRef is the number n that a recorder stored with a value.
type slotRef struct {
	rec Recorder
	n   int32
}

// ErrDeadValue is the error of a value that was used after its function had
// returned without returning it.
var ErrDeadValue = errors.New("ops: the value belongs to a call that has ended; return it from the function to keep it")

var errDeadScope = fmt.Errorf("is on the scope of a call that has ended; use the scope that the function is given (%w)", ErrDeadValue)

var errFailed = errors.New("ops: the value is the result of a failed op; the error came out at the call's boundary")

// ValueOf returns a value that holds t, made without a scope: for constants,
// and for examples that a dataset passes to a function. For a nil t it returns
// nil, which every op refuses.
func ValueOf(t *tensor.Tensor) *Value {
	if t == nil {
		return nil
	}
	return &Value{data: engine.ValueOf(t)}
}

// UntrackedData marks a value as data which no checkpoint holds (see
// [trackable.Data]).
func (v *Value) UntrackedData() {}

// Tensor returns the value's data. It is the caller's to read for as long as it
// likes, and must not be written to. After a failure the error is the scope's.
func (v *Value) Tensor() (*tensor.Tensor, error) {
	switch {
	case v == nil:
		return nil, errors.New("ops: the value is nil")
	case v.dead():
		return nil, ErrDeadValue
	case v.IsSymbolic(), v.extras().spec != nil:
		return nil, ErrSymbolic
	case v.extras().sparse != nil:
		return v.whole().Tensor()
	case v.data.Tensor == nil:
		if v.step != nil && v.step.err != nil {
			return nil, v.step.err
		}
		if v.IsHandle() {
			return nil, errors.New("ops: the value is a variable's handle; ReadVariable returns its value")
		}
		return nil, errFailed
	}
	v.keep()
	return v.data.Tensor.Share(), nil
}

// Item returns the only element of a value that has one.
func Item[T tensor.Element](v *Value) (T, error) {
	t, err := v.Tensor()
	if err != nil {
		var z T
		return z, err
	}
	return tensor.Item[T](t)
}

// ValueOfData returns a value of a plan's result, made without a scope.
func ValueOfData(d engine.Value) *Value { return &Value{data: d} }

// Data returns the value as plans take it: its tensor or handle. A traced or
// failed value has none.
func (v *Value) Data() (engine.Value, error) {
	switch {
	case v == nil:
		return engine.Value{}, errNilInput
	case v.failed() && v.step != nil && v.step.err != nil:
		return engine.Value{}, v.step.err
	case v.dead():
		return engine.Value{}, ErrDeadValue
	case v.extras().spec != nil:
		return engine.Value{}, fmt.Errorf("ops: the value %w", errSpec)
	case v.IsSymbolic():
		return engine.Value{}, ErrSymbolic
	case v.extras().sparse != nil:
		return v.whole().Data()
	case v.failed():
		return engine.Value{}, errFailed
	}
	v.keep()
	return v.data, nil
}

// Fact returns the known facts about the value: everything if it has data,
// otherwise the facts that the trace could infer. After a failure nothing is
// known.
func (v *Value) Fact() graph.Fact {
	switch {
	case v == nil:
	case v.extras().out.Node != nil:
		return v.extra.out.Fact()
	case v.extras().sparse != nil:
		return v.extra.sparse.fact
	case v.extras().spec != nil:
		return *v.extra.spec
	case v.IsHandle():
		return graph.Fact{DType: tensor.Resource, Shape: graph.ShapeOf(),
			Handle: []graph.Content{{DType: v.extra.variable.DType(), Shape: shapeOf(v.extra.variable)}}}
	case v.data.Tensor != nil:
		return graph.FactOf(v.data.Tensor)
	case !v.data.IsZero():
		return graph.Fact{DType: v.data.DType(), Shape: graph.ShapeOf()}
	}
	return graph.Fact{}
}

// DType returns the type of the elements; tensor.Invalid after a failure.
func (v *Value) DType() tensor.DType {
	switch {
	case v == nil:
	case v.data.Tensor != nil:
		return v.data.Tensor.DType()
	case v.IsHandle():
		return tensor.Resource
	case v.extras().out.Node != nil:
		return v.extra.out.Fact().DType
	case v.extras().spec != nil:
		return v.extra.spec.DType
	case v.extras().sparse != nil:
		return v.extra.sparse.fact.DType
	case !v.data.IsZero():
		return v.data.DType()
	}
	return tensor.Invalid
}

// Shape returns the shape, with -1 for a size that isn't known while the value
// is traced. It returns nil after a failure, and if not even the number of
// dimensions is known; [Value.Fact] distinguishes these. The result must not be
// changed.
func (v *Value) Shape() tensor.Shape {
	switch {
	case v == nil:
		return nil
	case v.data.Tensor != nil:
		return v.data.Tensor.Shape()
	case v.extras().out.Node != nil:
		shape := v.extra.out.Fact().Shape
		if !shape.Known() && v.step != nil {
			if t, ok := v.step.exec.(*Trace); ok && !t.looked && callers.IsProgram() {
				t.look()
			}
		}
		return shape.Anonymous().Dims()
	case v.extras().spec != nil:
		return v.extra.spec.Shape.Anonymous().Dims()
	case v.extras().sparse != nil:
		return v.extra.sparse.fact.Shape.Anonymous().Dims()
	}
	return nil
}

// IsSymbolic reports whether the value is a future result of a traced function,
// and has no data.
func (v *Value) IsSymbolic() bool {
	if v.extras().sparse != nil {
		return v.extra.sparse.Values.IsSymbolic() || v.extra.sparse.Indices.IsSymbolic()
	}
	return v.extras().out.Node != nil
}

// Output returns the output of a traced function's node that is the value; the
// zero Output for a value that has data.
func (v *Value) Output() graph.Output { return v.whole().extras().out }

// failed reports whether the value is the result of a failed op.
func (v *Value) failed() bool {
	if !v.data.IsZero() {
		return false
	}
	e := v.extras()
	return e.out.Node == nil && e.spec == nil && e.sparse == nil
}

// Format prints the value: a scalar by the verb as Go prints a number ("%1.2f"),
// anything else as its tensor. For a failed or dead value it prints the error.
func (v *Value) Format(f fmt.State, verb rune) {
	if v == nil {
		fmt.Fprint(f, "<nil>")
		return
	}
	t, err := v.Tensor()
	if err != nil {
		fmt.Fprintf(f, "<%v>", err)
		return
	}
	if len(t.Shape()) == 0 {
		if x, ok := scalarOf(t); ok {
			fmt.Fprintf(f, fmt.FormatString(f, verb), x)
			return
		}
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), t)
}

// scalarOf returns the element of a scalar as a Go value that fmt knows.
func scalarOf(t *tensor.Tensor) (any, bool) {
	switch t.DType() {
	case tensor.Float32:
		return tensor.Values[float32](t)[0], true
	case tensor.Float64:
		return tensor.Values[float64](t)[0], true
	case tensor.Float16:
		return tensor.Values[tensor.F16](t)[0].Float(), true
	case tensor.BFloat16:
		return tensor.Values[tensor.BF16](t)[0].Float(), true
	case tensor.Int8:
		return tensor.Values[int8](t)[0], true
	case tensor.Int16:
		return tensor.Values[int16](t)[0], true
	case tensor.Int32:
		return tensor.Values[int32](t)[0], true
	case tensor.Int64:
		return tensor.Values[int64](t)[0], true
	case tensor.Uint8:
		return tensor.Values[uint8](t)[0], true
	case tensor.Uint16:
		return tensor.Values[uint16](t)[0], true
	case tensor.Uint32:
		return tensor.Values[uint32](t)[0], true
	case tensor.Uint64:
		return tensor.Values[uint64](t)[0], true
	case tensor.Complex64:
		return tensor.Values[complex64](t)[0], true
	case tensor.Complex128:
		return tensor.Values[complex128](t)[0], true
	case tensor.Bool:
		return tensor.Values[bool](t)[0], true
	case tensor.String:
		return tensor.Values[string](t)[0], true
	}
	return nil, false
}

// unusable returns the reason why no op on s can take v, nil if there is none.
func (v *Value) unusable(s *Scope) error {
	switch {
	case v == nil:
		return errNilInput
	case v.failed() && v.step == nil:
		return errFailed
	case v.failed() && v.step.err == nil:
		return errFailed
	case v.failed() && v.step == s.step:
		return v.step.err
	case v.failed():
		return fmt.Errorf("is the result of an op that failed on the scope of another call: %w", v.step.err)
	case v.dead():
		return fmt.Errorf("can't be used any more (%w)", ErrDeadValue)
	}
	return nil
}

func (v *Value) dead() bool { return v.step != nil && v.step.closed.Load() }

// keep makes the memory under v its own: a large buffer is taken away from the
// arena, a small one is copied. A value that is kept already is only read: many
// goroutines may share it.
func (v *Value) keep() {
	if kept := v.data.Keep(); !v.data.Kept() {
		v.data = kept
	}
}

// Hold keeps the storage of a variable that v is a short-lived read of from
// being updated in place until [Value.Drop]. Recorders hold the values that
// they record.
func (v *Value) Hold() {
	if v.data.Borrowed() {
		v.mark().holds++
	}
}

// Drop undoes one [Value.Hold].
func (v *Value) Drop() {
	if !v.data.Borrowed() {
		return
	}
	e := v.mark()
	if e.holds--; e.holds <= 0 {
		v.data.Return()
	}
}

// Pin makes a short-lived read of a variable last: the storage counts as shared
// from now on, and a later update of the variable works on a copy.
func (v *Value) Pin() {
	if v.extras().sparse != nil {
		v.extra.sparse.Values.Pin()
		v.extra.sparse.Indices.Pin()
		return
	}
	v.data.Pin()
}

// Variable returns the variable that the value was read from, or is the handle
// of; nil for any other value.
func (v *Value) Variable() *trackable.Variable { return v.extras().variable }

// IsHandle reports whether the value is a variable's handle, as the ops that
// read and write variables take it.
func (v *Value) IsHandle() bool { return v.extras().handle }
