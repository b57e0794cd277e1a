package ops

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/internal/callers"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Trace is a function while its ops are recorded. Its scope emits nodes; values
// that they use from outside become constants and captures.
type Trace struct {
	scope        *Scope
	outer        *Scope // of the enclosing trace, for a branch or a loop's body; nil otherwise
	fn           *graph.Function
	shapes       *shape.Rules
	captures     []graph.Capture // in the order of args
	sources      []*Value        // the value of each capture in the enclosing scope, if there is one
	args         []*Value        // of the captures
	vars         map[*trackable.Variable]*varTrace
	objects      map[graph.Capturable]*Value
	held         map[any]*Value    // arguments that are handles of objects which are no Capturables
	consts       map[string]*Value // by type, shape and elements
	own          map[*Value]*Value // constants that share no node with equal ones; see OwnNode
	order        effects
	fixed        bool   // variables made after the first made ones are refused
	made         uint64 // the number of variables that there were at first, if fixed
	done         bool   // Finish was called
	openBranches int    // its branches that are being traced
	depth        int    // the nesting depth of its branch
	looked       bool   // the program has asked for a size that isn't known
	noTensor     bool   // tensors from outside become constants whatever their size
}

// varTrace is a variable that a trace uses.
type varTrace struct {
	handle *Value
	read   *Value // its value since the last write, if it was read
}

// ErrSymbolic is the error of a value that has no data because it was traced.
var ErrSymbolic = errors.New("ops: the value has no data while the function is traced; ops.If and ops.While decide by values")

// ErrNewVariable is the error of a later trace that uses a variable made in it:
// only a function's first trace may make variables.
var ErrNewVariable = errors.New("only a function's first trace may make variables, since each one would make others; make it outside of the function, or keep it and make it where there is none yet")

// outputShapes is an attribute that TensorFlow adds to the nodes of its files. A node that
// is made after one of a file, such as a gradient's, has outputs of other shapes.
const outputShapes = "_output_shapes"

// maxConst is how many elements a tensor from outside may have to become a constant of the function; a larger
// one is captured. The number is TensorFlow's (_EAGER_CONST_THRESHOLD in func_graph.py), so that functions have
// the same captures.
const maxConst = 128

// NewTrace makes a scope whose ops become nodes of a function called name.
// Package function does that for its callers.
func NewTrace(ctx context.Context, name string, opts ...*ScopeOptions) (*Scope, *Trace) {
	o := last(opts)
	s := NewScope(ctx, o)
	t := &Trace{scope: s, fn: graph.NewFunction(name), shapes: shape.All(),
		vars: map[*trackable.Variable]*varTrace{}, objects: map[graph.Capturable]*Value{}, consts: map[string]*Value{}}
	if o.Shapes != nil {
		t.shapes = o.Shapes
	}
	s.step.exec = t
	return s, t
}

// RefuseNewVariables makes the use of a variable that is made from now on an
// error: for all traces of a function but the first.
func (t *Trace) RefuseNewVariables() { t.fixed, t.made = true, internals.VariablesMade() }

// LookedAtSizes reports whether the traced function, or a branch in it, has asked
// a value for its shape, by [Value.Shape], and got a size that isn't known.
func (t *Trace) LookedAtSizes() bool { return t.looked }

// look notes that the program asks for an unknown size.
func (t *Trace) look() {
	for t != nil {
		t.looked = true
		if t.outer == nil {
			return
		}
		t = t.outer.tracer()
	}
}

// branch returns a trace of a function that control flow on s calls. It may use s's
// values.
func (s *Scope) branch(name string) (*Scope, *Trace) {
	inner, t := NewTrace(s.step.ctx, name, &ScopeOptions{Kernels: s.step.kernels})
	if outer := s.tracer(); outer != nil {
		t.outer, t.shapes, t.fixed, t.made = s, outer.shapes, outer.fixed, outer.made
		t.depth = outer.depth + 1
	}
	inner.state = s.state
	return inner, t
}

// NewBranch makes a trace of a function that s's function, which is traced too,
// will call. It may use s's values; [Trace.Captured] returns those that it
// uses. They become its last arguments.
func (s *Scope) NewBranch(name string) (*Scope, *Trace) { return s.branch(name) }

// NewFunction makes a trace of a function that uses nothing from outside but
// constants, with the kernels and shape rules of s.
func (s *Scope) NewFunction(name string) (*Scope, *Trace) {
	o := &ScopeOptions{Kernels: s.step.kernels}
	if t := s.tracer(); t != nil {
		o.Shapes = t.shapes
	}
	inner, t := NewTrace(s.step.ctx, name, o)
	t.noTensor = true
	return inner, t
}

// Captured returns the values of the enclosing trace that this one uses, in the
// order of its last arguments.
func (t *Trace) Captured() []*Value { return t.sources }

// tracer returns the trace that the scope writes to, nil for an eager scope.
func (s *Scope) tracer() *Trace {
	t, _ := s.step.exec.(*Trace)
	return t
}

// IsTracing reports whether the scope's ops are written down instead of run.
func (s *Scope) IsTracing() bool { return s.tracer() != nil }

// Spec returns an example of a value without data: an element type and sizes,
// of which -1 is unknown. Functions are traced for specs.
func Spec(d tensor.DType, dims ...int) *Value {
	return SpecOf(graph.Fact{DType: d, Shape: graph.ShapeOf(dims...)})
}

// SpecOf returns a value without data that has the fact f.
func SpecOf(f graph.Fact) *Value { return &Value{extra: &extra{spec: &f}} }

// Arg adds an argument with the fact f to the function and returns its value. If name is
// empty, the argument gets a generated name.
func (t *Trace) Arg(name string, f graph.Fact) (*Value, error) {
	f.Shape = f.Shape.Identified()
	f = f.WithoutValue()
	if name != "" {
		name = t.fn.Graph.UniqueName(cleanName(name))
	}
	o, err := t.fn.AddArg(name, f)
	if err != nil {
		return nil, err
	}
	return t.symbol(o), nil
}

// cleanName makes s a name that a node may have.
func cleanName(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
		case i > 0 && (r == '.' || r == '-' || r == '/'):
		default:
			r = '_'
		}
		if i == 0 && r == '_' {
			b.WriteByte('v')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// symbol returns a value that is an output of a node.
func (t *Trace) symbol(o graph.Output) *Value {
	v := t.scope.newValue(nil)
	v.mark().out = o
	return v
}

// Finish ends the trace: results become the function's, each under its name. A result without
// a name gets a generated one. It returns the function with its captures, or the first error
// of an op.
func (t *Trace) Finish(results []*Value, names []string) (*graph.Concrete, error) {
	s := t.scope
	defer func() { t.done = true }()
	for i, v := range results {
		if s.step.err != nil {
			break
		}
		name := ""
		if i < len(names) {
			name = cleanName(names[i])
		}
		if v == nil {
			s.fail("Trace", nil, fmt.Errorf("result %d %w", i, errNilResult))
			break
		}
		err := v.unusable(s)
		var in *Value
		if err == nil {
			in, err = t.lift(s, v)
		}
		if err != nil {
			s.fail("Trace", nil, fmt.Errorf("result %d %w", i, err))
			break
		}
		o := in.extras().out
		if o.Node.IsArg() { // TensorFlow's functions don't return arguments themselves
			if o, err = t.add(s, "Identity", nil, []*Value{in}); err != nil {
				s.fail("Identity", nil, err, in)
				break
			}
		}
		t.fn.AddResult(name, o)
	}
	if s.step.err != nil {
		return nil, s.step.err
	}
	for _, n := range t.order.all {
		t.fn.Control = append(t.fn.Control, graph.ControlResult{Name: n.Name, Node: n})
	}
	// The captures' arguments come after the caller's.
	args, caps := t.fn.Args, make(map[*graph.Node]bool, len(t.args))
	for _, a := range t.args {
		caps[a.extras().out.Node] = true
	}
	t.fn.Args = nil
	for _, a := range args {
		if !caps[a] {
			t.fn.Args = append(t.fn.Args, a)
		}
	}
	for _, a := range t.args {
		t.fn.Args = append(t.fn.Args, a.extras().out.Node)
	}
	t.fn.NumberArgs()
	return &graph.Concrete{Function: t.fn, Captures: t.captures}, nil
}

var errOuterScope = errors.New("is on the scope around a branch or a loop, inside of it: it would happen whether the branch is taken or not, and once; " +
	"use the scope that the branch or the body is given")

// run implements executor.
func (t *Trace) run(s *Scope, op string, attrs graph.Attrs) error {
	st := s.step
	if t.done {
		return errors.New("the function's trace has ended; its scope can't be used any more")
	}
	if t.openBranches > 0 {
		return errOuterScope
	}
	o, err := t.add(s, op, attrs, st.ins)
	if err != nil {
		return err
	}
	for i := range o.Node.Out {
		st.outs = append(st.outs, t.symbol(o.Node.Output(i)))
	}
	return nil
}

// add appends a node and returns its first output.
func (t *Trace) add(s *Scope, op string, attrs graph.Attrs, ins []*Value) (graph.Output, error) {
	n := &graph.Node{Op: op, Name: t.fn.Graph.UniqueName(s.nodeName(op)), Site: callers.Site()}
	n.Def = graph.LookupOp(op)
	if k := t.scope.step.kernels.Lookup(op); k != nil {
		n.Def = k.Definition()
	}
	if n.Def == nil {
		return graph.Output{}, fmt.Errorf("the op has no definition; engine.Kernel.Def defines an op")
	}
	facts := make([]graph.Fact, len(ins))
	for i, v := range ins {
		n.In = append(n.In, v.extras().out)
		facts[i] = v.extras().out.Fact()
	}
	if attrs.Has(outputShapes) {
		attrs = attrs.Without(outputShapes)
	}
	var out []graph.Fact
	var err error
	if n.Attrs, out, err = n.Def.Bind(attrs, facts); err != nil {
		return graph.Output{}, err
	}
	inference := &shape.Inference{Op: op, Attrs: n.Attrs, In: facts, Out: out, Call: t.shapes.Caller()}
	if err := t.shapes.Infer(inference); err != nil {
		return graph.Output{}, err
	}
	n.Out = inference.Out
	for i := range n.Out {
		n.Out[i].Shape = n.Out[i].Shape.Identified()
	}
	t.order.note(n, ins, t.vars)
	if err := t.fn.Graph.Add(n); err != nil {
		return graph.Output{}, err
	}
	if len(n.Out) == 0 {
		return graph.Output{Node: n}, nil
	}
	return n.Output(0), nil
}

// OwnNode returns v as the trace that s writes to has it, v itself if there is
// none. A constant gets a separate node, which the trace and its branches use for v
// from then on: a recorder that follows v doesn't follow equal constants.
func OwnNode(s *Scope, v *Value) *Value {
	own := Const(s, v)
	t := s.tracer()
	if t == nil || !s.alive() || own.extras().out.Node.Op != "Const" {
		return own
	}
	own = Identity(s, own)
	if s.alive() {
		if t.own == nil {
			t.own = map[*Value]*Value{}
		}
		t.own[v.whole()] = own
	}
	return own
}

// owns reports whether [OwnNode] made a node for v in the trace or an enclosing one.
func (t *Trace) owns(v *Value) bool {
	for t != nil {
		if t.own[v] != nil {
			return true
		}
		if t.outer == nil {
			return false
		}
		t = t.outer.tracer()
	}
	return false
}

// lift implements executor.
func (t *Trace) lift(s *Scope, v *Value) (*Value, error) {
	v = v.whole()
	if own := t.own[v]; own != nil {
		return own, nil
	}
	switch {
	case t.outer != nil && t.owns(v):
		outer, err := t.outer.step.exec.lift(t.outer, v)
		if err != nil {
			return nil, err
		}
		return t.capture(outer)
	case v.IsSymbolic():
		if v.step == s.step {
			return v, nil
		}
		if t.outer == nil {
			return nil, errLeaked
		}
		if v.IsHandle() {
			return t.handle(s, v.Variable())
		}
		outer, err := t.outer.step.exec.lift(t.outer, v)
		if err != nil {
			return nil, err
		}
		if c := outer.extras().out.Node; c.Op == "Const" && c.Out[0].Value != nil && c.Out[0].Value.Len() <= maxConst {
			return t.constant(c.Out[0].Value)
		}
		return t.capture(outer)
	case v.extras().spec != nil:
		return nil, errSpec
	case v.IsHandle():
		return t.handle(s, v.Variable())
	case v.Variable() != nil && v.data.Borrowed():
		return t.read(s, v.Variable())
	case v.data.Tensor == nil && v.DType() == tensor.Resource && reflect.TypeOf(v.data.Object).Comparable():
		return t.holding(v)
	case v.data.Tensor == nil:
		return nil, fmt.Errorf("is a handle of a %T, which a trace can't take from outside", v.data.Object)
	}
	x := v.data.Tensor
	if x.Len() <= maxConst || t.noTensor || t.outer == nil && !x.DType().Fixed() {
		return t.constant(x)
	}
	if t.outer != nil {
		outer, err := t.outer.step.exec.lift(t.outer, v)
		if err != nil {
			return nil, err
		}
		return t.capture(outer)
	}
	for i, c := range t.captures {
		if c.Tensor == x {
			return t.args[i], nil
		}
	}
	v.Pin()
	return t.captureArg(graph.Capture{Tensor: x}, nil, graph.Fact{DType: x.DType(), Shape: graph.Whole(x.Shape())}, "captured")
}

// holding returns the argument that is v, the handle of an object from outside, such as
// the table of a loaded model.
func (t *Trace) holding(v *Value) (*Value, error) {
	x := v.data.Object
	if a := t.held[x]; a != nil {
		return a, nil
	}
	var source *Value
	if t.outer != nil {
		var err error
		if source, err = t.outer.step.exec.lift(t.outer, v); err != nil {
			return nil, err
		}
	}
	a, err := t.captureArg(graph.Capture{Resource: x}, source, graph.Fact{DType: tensor.Resource, Shape: graph.ShapeOf()}, "resource")
	if err != nil {
		return nil, err
	}
	if t.held == nil {
		t.held = map[any]*Value{}
	}
	t.held[x] = a
	return a, nil
}

// constant returns a node of a small tensor; equal ones are one node.
func (t *Trace) constant(x *tensor.Tensor) (*Value, error) {
	key := constKey(x)
	if v := t.consts[key]; v != nil && key != "" {
		return v, nil
	}
	n := &graph.Node{Op: "Const", Name: t.fn.Graph.UniqueName(t.scope.nodeName("Const")), Def: graph.LookupOp("Const"),
		Attrs: graph.Attrs{graph.Tensor("value", x.Clone()), graph.Type("dtype", x.DType())}}
	n.Out = []graph.Fact{graph.FactOf(n.Attrs.Tensor("value"))}
	if err := t.fn.Graph.Add(n); err != nil {
		return nil, err
	}
	v := t.symbol(n.Output(0))
	t.consts[key] = v
	return v, nil
}

func constKey(x *tensor.Tensor) string {
	if !x.DType().Fixed() {
		return fmt.Sprintf("%v%v%q", x.DType(), x.Shape(), tensor.Values[string](x))
	}
	return fmt.Sprintf("%v%v%s", x.DType(), x.Shape(), x.Bytes())
}

// capture makes a value of the enclosing trace an argument of this one.
func (t *Trace) capture(outer *Value) (*Value, error) {
	for i, src := range t.sources {
		if src.extras().out == outer.extras().out {
			return t.args[i], nil
		}
	}
	return t.captureArg(graph.Capture{}, outer, outer.extras().out.Fact(), outer.extras().out.Node.Name)
}

func (t *Trace) captureArg(c graph.Capture, source *Value, f graph.Fact, name string) (*Value, error) {
	o, err := t.fn.AddArg(t.fn.Graph.UniqueName(cleanName(name)), f.WithoutValue())
	if err != nil {
		return nil, err
	}
	v := t.symbol(o)
	t.captures, t.sources, t.args = append(t.captures, c), append(t.sources, source), append(t.args, v)
	return v, nil
}

// object implements executor.
func (t *Trace) object(s *Scope, x graph.Capturable) (*Value, error) {
	if v := t.objects[x]; v != nil {
		return v, nil
	}
	var source *Value
	if t.outer != nil {
		var err error
		if source, err = t.outer.step.exec.object(t.outer, x); err != nil {
			return nil, err
		}
	}
	fact := x.CaptureFact()
	name := "captured"
	if fact.DType == tensor.Resource {
		name = "resource"
	}
	v, err := t.captureArg(graph.Capture{Resource: x}, source, fact, name)
	if err == nil {
		t.objects[x] = v
	}
	return v, err
}

// handle implements executor.
func (t *Trace) handle(s *Scope, x *trackable.Variable) (*Value, error) {
	v, err := t.variable(x)
	if err != nil {
		return nil, err
	}
	return v.handle, nil
}

func (t *Trace) variable(x *trackable.Variable) (*varTrace, error) {
	if v := t.vars[x]; v != nil {
		return v, nil
	}
	if err := internals.VariableFault(x); err != nil {
		return nil, fmt.Errorf("is the variable %q: %w", x.Name(), err)
	}
	if t.fixed && internals.Made(x) > t.made {
		return nil, fmt.Errorf("is the variable %q, made by a second trace: %w", x.Name(), ErrNewVariable)
	}
	f := graph.Fact{DType: tensor.Resource, Shape: graph.ShapeOf(), Handle: []graph.Content{{DType: x.DType(), Shape: shapeOf(x)}}}
	if f.Handle[0].DType == tensor.Invalid {
		return nil, fmt.Errorf("is the variable %q, which has no value", x.Name())
	}
	var source *Value
	if t.outer != nil {
		var err error
		if source, err = t.outer.step.exec.handle(t.outer, x); err != nil {
			return nil, err
		}
	}
	name := x.Name()
	if name == "" {
		name = "variable"
	}
	h, err := t.captureArg(graph.Capture{Variable: x}, source, f, name+"/resource")
	if err != nil {
		return nil, err
	}
	e := h.mark()
	e.variable, e.handle = x, true
	v := &varTrace{handle: h}
	t.vars[x] = v
	return v, nil
}

// read implements executor.
func (t *Trace) read(s *Scope, x *trackable.Variable) (*Value, error) {
	vt, err := t.variable(x)
	if err != nil {
		return nil, err
	}
	if vt.read != nil {
		return vt.read, nil
	}
	o, err := t.add(s, "ReadVariableOp", graph.Attrs{graph.Type("dtype", x.DType())}, []*Value{vt.handle})
	if err != nil {
		return nil, err
	}
	v := t.symbol(o)
	v.mark().variable = x
	vt.read = v
	return v, nil
}

var _ executor = (*Trace)(nil)
