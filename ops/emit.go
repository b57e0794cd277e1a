package ops

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Emit runs the op called name and returns its outputs: the way to an op that has no
// function here, a user's op included. attrs may be nil; attributes that follow from
// the inputs' types may be left out. After a failure it returns nil, and the scope
// keeps the error.
//
//	y := s.Emit("Cumprod", graph.Attrs{graph.Bool("reverse", true)}, x, 0)[0]
//
// A bare Go number takes the type from the op's definition, which may be that of
// other inputs. A failed Emit has no outputs, so indexing it as above panics. The panic
// is recovered at the call's boundary, and the call returns the first error.
// [Scope.Emit1] never panics.
func (s *Scope) Emit(name string, attrs graph.Attrs, inputs ...Input) []*Value {
	if !s.run(name, attrs, inputs) {
		return nil
	}
	return append([]*Value(nil), s.step.outs...)
}

// Emit1 runs an op with exactly one output as Emit, and returns the output. After a
// failure the value is a failed one.
func (s *Scope) Emit1(name string, attrs graph.Attrs, inputs ...Input) *Value {
	if !s.run(name, attrs, inputs) {
		return s.failed()
	}
	if len(s.step.outs) != 1 {
		return s.Fail(name, fmt.Errorf("has %d outputs, not one", len(s.step.outs)))
	}
	return s.step.outs[0]
}

// EmitN runs an op with n outputs as Emit, and returns the outputs. After a failure it
// returns n failed values. An n below 0 or above 2^24 is a failure without values.
func (s *Scope) EmitN(n int, name string, attrs graph.Attrs, inputs ...Input) []*Value {
	if n < 0 || n > 1<<24 {
		s.fail(name, attrs, fmt.Errorf("an op can't have %d outputs", n))
		return nil
	}
	if s.run(name, attrs, inputs) {
		if len(s.step.outs) == n {
			return append(make([]*Value, 0, n), s.step.outs...)
		}
		s.fail(name, attrs, fmt.Errorf("has %d outputs, not %d", len(s.step.outs), n))
	}
	out := make([]*Value, n)
	for i := range out {
		out[i] = s.failed()
	}
	return out
}

// emitParts works like EmitN for an op whose attribute is the number of outputs. A program may
// pass any number there: one that no op has is a failure without values.
func (s *Scope) emitParts(n int, name string, attrs graph.Attrs, inputs ...Input) []*Value {
	if n < 0 || n > graph.MaxOutputs {
		s.fail(name, attrs, fmt.Errorf("an op can't have %d outputs, want 0 to %d", n, graph.MaxOutputs))
		return nil
	}
	return s.EmitN(n, name, attrs, inputs...)
}

// Emit0 runs an op without outputs as Emit. It reports whether the op ran.
func (s *Scope) Emit0(name string, attrs graph.Attrs, inputs ...Input) bool {
	return s.run(name, attrs, inputs)
}

// run executes an op; its outputs are in step.outs until the next one.
func (s *Scope) run(name string, attrs graph.Attrs, inputs []Input) bool {
	if !s.alive() {
		return false
	}
	st := s.step
	if st.closed.Load() {
		s.fail(name, attrs, errDeadScope)
		return false
	}
	if st.count++; st.count%checkDepth == 0 {
		checkStack()
	}
	firstRead := len(st.reads)
	if !s.collectData(inputs) {
		wholeInputs(inputs)
		if !s.collect(name, attrs, inputs) {
			return false
		}
	}
	var calls []call
	own := -1 // the number of the op's own outputs; -1 if recorders can't add any
	// A gradient tape lets called functions return more values, which its gradients need. The caller gets the
	// op's own outputs only.
	if len(s.recs) > 0 && callsFunctions(name) {
		own = outputsOf(name, attrs, len(st.ins))
		var err error
		if calls, attrs, err = s.rewrite(name, attrs); err != nil {
			s.fail(name, attrs, err, st.ins...)
			return false
		}
	}
	st.outs = st.outs[:0]
	if err := st.exec.run(s, name, attrs); err != nil {
		s.fail(name, attrs, err, st.ins...)
		return false
	}
	// s.recs record this scope. st.recorders are those of all scopes of the call.
	if len(st.recorders)+len(s.recs) > 0 && !s.record(name, attrs, calls) {
		return false
	}
	if own >= 0 && own < len(st.outs) {
		st.outs = st.outs[:own]
	}
	if len(st.reads) > firstRead {
		s.dropReads(firstRead)
	}
	return true
}

// dropReads ends the op's reads of variables, unless a recorder holds them. They are
// step.reads[from:].
func (s *Scope) dropReads(from int) {
	st := s.step
	kept := st.reads[:from]
	for _, v := range st.reads[from:] {
		if v.Drop(); v.data.Borrowed() {
			kept = append(kept, v)
		}
	}
	clear(st.reads[len(kept):])
	st.reads = kept
}

// collectData collects as collect, on a fast path, if no input needs a conversion: all inputs
// of an eager op are values with data. It reports false otherwise.
func (s *Scope) collectData(inputs []Input) bool {
	st := s.step
	if _, ok := st.exec.(eager); !ok {
		return false
	}
	st.ins = st.ins[:0]
	for _, in := range inputs {
		v, ok := in.(*Value)
		if !ok || v == nil || v.data.Tensor == nil || v.step != st && v.dead() {
			return false
		}
		st.ins = append(st.ins, v)
	}
	return true
}

// collect turns the inputs into values in step.ins.
func (s *Scope) collect(name string, attrs graph.Attrs, inputs []Input) bool {
	st := s.step
	st.ins = st.ins[:0]
	var weak uint64 // the Go numbers among the inputs, by bit: their type follows from the other inputs
	want := tensor.Invalid
	for i, in := range inputs {
		v, isWeak, err := s.resolve(in)
		if err != nil {
			if err == errNilInput {
				err = nilInput(st.kernels.Definition(name), i)
			} else {
				err = fmt.Errorf("input %d %w", i, err)
			}
			s.fail(name, attrs, err, st.ins...)
			return false
		}
		if isWeak {
			if i >= 64 {
				return s.badWeak(name, attrs, i)
			}
			weak |= 1 << i
		} else if want == tensor.Invalid && v.DType() != tensor.Resource && !isSizes(in) {
			want = v.DType()
		}
		st.ins = append(st.ins, v)
	}
	if weak == 0 {
		return true
	}
	if want == tensor.Invalid {
		want = weakType(inputs)
	}
	def := st.kernels.Definition(name)
	for i, in := range inputs {
		if i >= 64 || weak&(1<<i) == 0 {
			continue
		}
		v, err := s.number(in, definedType(def, attrs, inputs, st.ins, weak, i, want))
		if err != nil {
			s.fail(name, attrs, fmt.Errorf("input %d: %w", i, err), st.ins...)
			return false
		}
		if st.ins[i], err = st.exec.lift(s, v); err != nil {
			s.fail(name, attrs, fmt.Errorf("input %d: %w", i, err), st.ins...)
			return false
		}
	}
	return true
}

// definedType returns the type of a Go number as input i of an op: the argument's
// own, or that of the inputs which must have the same type by the definition. If
// the definition leaves it open, the type is want. The bits of weak are the inputs
// that are Go numbers.
func definedType(def *graph.OpDef, attrs graph.Attrs, inputs []Input, ins []*Value, weak uint64, i int, want tensor.DType) tensor.DType {
	if def == nil || len(def.Inputs) != len(inputs) || slices.ContainsFunc(def.Inputs, func(a graph.ArgDef) bool { return a.List() }) {
		return want
	}
	arg := &def.Inputs[i]
	if arg.Type != tensor.Invalid {
		return arg.Type
	}
	if d := attrs.Type(arg.TypeAttr, tensor.Invalid); d != tensor.Invalid {
		return d
	}
	var same []Input
	for k := range inputs {
		if def.Inputs[k].TypeAttr != arg.TypeAttr {
			continue
		}
		if weak&(1<<k) == 0 {
			return ins[k].DType()
		}
		same = append(same, inputs[k])
	}
	d := weakType(same)
	if d == tensor.Invalid { // one number
		if t, err := tensorOf(inputs[i], d); err == nil {
			d = t.DType()
		}
	}
	if a := def.Attr(arg.TypeAttr); a != nil && len(a.AllowedTypes) > 0 && !slices.Contains(a.AllowedTypes, d) {
		return want
	}
	return d
}

// isSizes reports whether the input is a shape, axes or a count that a function
// of this package made.
func isSizes(in Input) bool {
	v, ok := in.(*Value)
	return ok && v.extras().sizes
}

// number returns the value of a Go number or of a slice of numbers; that of a number
// may be shared.
func (s *Scope) number(in Input, want tensor.DType) (*Value, error) {
	switch x := in.(type) {
	case float64:
		if want == tensor.Invalid || want.IsFloating() {
			return s.step.float(x, orType(want, tensor.Float32))
		}
	case int:
		if want.IsFloating() && x == int(float64(x)) {
			return s.step.float(float64(x), want)
		}
	}
	t, err := tensorOf(in, want)
	if err != nil {
		return nil, err
	}
	return s.newValue(t), nil
}

func (s *Scope) badWeak(name string, attrs graph.Attrs, i int) bool {
	s.fail(name, attrs, fmt.Errorf("input %d is a Go number; beyond the first 64 inputs only values and tensors are taken", i))
	return false
}

// weakType returns the common type if all inputs are Go numbers: a float wins
// over an int, a complex number over both. For a single integer it is tensor.Invalid,
// so that the integer keeps its own default.
func weakType(inputs []Input) tensor.DType {
	var isFloat, isComplex bool
	for _, in := range inputs {
		switch elementKind(in) {
		case reflect.Float64, reflect.Float32:
			isFloat = true
		case reflect.Complex128, reflect.Complex64:
			isComplex = true
		}
	}
	switch {
	case isComplex:
		return tensor.Complex128
	case isFloat:
		return tensor.Float32
	case len(inputs) == 1:
		return tensor.Invalid
	}
	return tensor.Int32
}

// Const returns a value of any Input. A Go int becomes int32 and a float64 float32; other
// Go numbers keep their types. Use ConstOf for another type.
func Const(s *Scope, x Input) *Value {
	if !s.alive() {
		return s.failed()
	}
	v, weak, err := s.resolve(x)
	if weak {
		var t *tensor.Tensor
		if t, err = tensorOf(x, tensor.Invalid); err == nil {
			v = s.newValue(t)
		}
	}
	if err != nil {
		s.fail("Const", nil, fmt.Errorf("input 0 %w", err))
		return s.failed()
	}
	v.Pin()
	return v
}

// ConstOf returns a value of a Go number or of a []int or []float64 with
// elements of type d.
func ConstOf(s *Scope, d tensor.DType, x Input) *Value {
	if !s.alive() {
		return s.failed()
	}
	v, err := s.number(x, d)
	if err == nil && v.DType() != d {
		err = fmt.Errorf("input 0 has elements of %v, not %v; Cast converts", v.DType(), d)
	}
	if err != nil {
		s.fail("Const", nil, err)
		return s.failed()
	}
	return s.newValue(v.data.Tensor) // a new Value, because a tape may watch it: that of number may be shared
}

// sizes returns a value over t, a shape, axes or a count, which doesn't
// determine the type of the Go numbers among an op's other inputs.
func (s *Scope) sizes(t *tensor.Tensor) *Value {
	v := s.newValue(t)
	v.mark().sizes = true
	return v
}

// vec32 returns an int32 vector, as the ops take shapes, axes and permutations; an
// int64 one if a number doesn't fit.
func (s *Scope) vec32(dims ...int) *Value { return s.step.list(dims) }

func vec64(dims []int) *tensor.Tensor {
	v := make([]int64, len(dims))
	for i, d := range dims {
		v[i] = int64(d)
	}
	return tensor.Vector(v...)
}

// scalar32 returns an int32 scalar. Those from -4 to 7, which most axes are, are made once.
func (s *Scope) scalar32(x int) *Value {
	if x >= -4 && x < 8 {
		return smallInts[x+4]
	}
	return s.sizes(tensor.Scalar(int32(x)))
}

var smallInts = func() (v [12]*Value) {
	for i := range v {
		v[i] = constant(tensor.Scalar(int32(i-4)), true)
	}
	return v
}()

// handleOf returns the handle of a variable, as the ops that write variables
// take it; nil for a nil variable.
func (s *Scope) handleOf(like trackable.VariableLike) *Value {
	x := variableOf(like)
	if x == nil {
		return nil
	}
	v, err := s.step.exec.handle(s, x)
	if err != nil {
		return s.Fail("VarHandleOp", err)
	}
	return v
}

// list flattens a list input: a slice or array of values, tensors, variables, other
// inputs, or structs that embed variables. It returns false for anything else, such as
// a single input. The result is valid until the next op.
func (s *Scope) list(in Input) ([]Input, bool) {
	out := s.step.args[:0] // reused by each op; Concat appends the axis
	switch x := in.(type) {
	case []*Value:
		out = appendInputs(out, x)
	case []Input:
		out = append(out, x...)
	case []*tensor.Tensor:
		out = appendInputs(out, x)
	default:
		r := reflect.ValueOf(in)
		if k := r.Kind(); k != reflect.Slice && k != reflect.Array {
			return nil, false
		}
		for i := range r.Len() {
			e := r.Index(i)
			if e.Kind() == reflect.Struct && e.CanAddr() {
				e = e.Addr()
			}
			out = append(out, e.Interface())
		}
	}
	s.step.args = out
	return out, true
}

func appendInputs[T any](out []Input, x []T) []Input {
	for _, v := range x {
		out = append(out, v)
	}
	return out
}
