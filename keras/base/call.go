package base

import (
	"fmt"
	"reflect"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Computer is implemented by layers with one input and one output. x has the layer's
// compute type if it is floating.
type Computer interface {
	Compute(s *ops.Scope, x *ops.Value) *ops.Value
}

// FullComputer is implemented by layers with several inputs or outputs, or that use
// masks or call arguments.
type FullComputer interface {
	ComputeAll(s *ops.Scope, c *Invocation) []*ops.Value
}

// Invocation is one call of a layer.
type Invocation struct {
	// Inputs are the values that the layer is called with.
	Inputs []*ops.Value
	// Masks has an element for each input, nil for one without a mask.
	Masks []*ops.Value
	// Args are further arguments of the call, by Keras's names. A layer must refuse those
	// that it doesn't know; CheckArgs does it.
	Args map[string]any
}

// CheckArgs returns an error if the call has an argument that is not in known.
func (c *Invocation) CheckArgs(known ...string) error {
	for name := range c.Args {
		ok := false
		for _, k := range known {
			ok = ok || k == name
		}
		if !ok {
			return fmt.Errorf("unknown call argument %q (known: %q)", name, known)
		}
	}
	return nil
}

// CallOptions are the options of [Layer.Run].
type CallOptions struct {
	// Masks are the masks of the inputs. Default: the masks that the inputs have.
	Masks []*ops.Value
	// Training overrides the scope's training mode. Default: the scope's.
	Training *bool
	// Args are further arguments of the call, by Keras's names.
	Args map[string]any
	// InputKeys are the keys of inputs that were given as a map, and InputOrder their order in
	// a config. Default: the inputs were a list.
	InputKeys, InputOrder []string
	// ArgOrder are the names of the arguments, with "training" and "mask" among them, in the
	// order of the call. It is that of a config. Default: the layer's order.
	ArgOrder []string
}

// Masker is implemented by layers that compute the masks of their outputs. out are the
// outputs. A nil element is no mask; a nil result is none at all.
type Masker interface {
	ComputeMask(s *ops.Scope, c *Invocation, out []*ops.Value) []*ops.Value
}

// MaskPasser is implemented by layers whose output has the mask of the first input. A
// layer that is neither this nor a [Masker] drops masks, as in tf_keras.
type MaskPasser interface{ PassesMask() }

type maskKey struct{}

// MaskOf returns the mask of a layer's output, nil if it has none: a bool for each time
// step, false for steps to ignore.
func MaskOf(v *ops.Value) *ops.Value {
	mask, _ := v.Note(maskKey{}).(*ops.Value)
	return mask
}

// WithMask returns a value equal to v with another mask, nil for none.
func WithMask(s *ops.Scope, v, mask *ops.Value) *ops.Value {
	if v == nil || s.Err() != nil || MaskOf(v) == mask {
		return v
	}
	masked := sameNotes(activations.WithLogits(ops.Identity(s, v), activations.LogitsOf(v)), v)
	masked.SetNote(maskKey{}, mask)
	return masked
}

// Run calls a layer: self is the layer that embeds l, x its input. Several inputs are
// a []*ops.Value or a []ops.Input. The result is the first output.
func (l *Layer) Run(s *ops.Scope, self any, x ops.Input, opts *CallOptions) *ops.Value {
	out := l.RunAll(s, self, x, opts)
	if len(out) == 0 {
		return s.Fail(className(self), fmt.Errorf("the layer has no output"))
	}
	return out[0]
}

// RunAll calls a layer as [Layer.Run] does and returns all outputs. The order of its steps is
// part of the behaviour of layers: record the call in a graph, check the forms of the inputs,
// build, cast, compute, set masks, add the loss of the activity regularizer. A failed build is
// tried again at the next call.
func (l *Layer) RunAll(s *ops.Scope, self any, x ops.Input, opts *CallOptions) []*ops.Value {
	var c Invocation
	if opts != nil {
		c.Masks, c.Args = opts.Masks, opts.Args
		if t := opts.Training; t != nil {
			s = s.WithTraining(*t)
		}
	}
	if g := RecordingGraph(s); g != nil && s.Err() == nil {
		if inputs, _ := inputsOf(x); g.involves(inputs, c.Args, c.Masks) {
			return g.record(s, l, self, x, opts)
		}
	}
	switch list := x.(type) {
	case []*ops.Value:
		c.Inputs = make([]*ops.Value, len(list))
		for i, v := range list {
			c.Inputs[i] = inScope(s, v)
		}
		c.takeMasks(func(i int) ops.Input { return list[i] })
	case []ops.Input:
		c.Inputs = make([]*ops.Value, len(list))
		for i, v := range list {
			c.Inputs[i] = inScope(s, v)
		}
		c.takeMasks(func(i int) ops.Input { return list[i] })
	default:
		c.Inputs = []*ops.Value{inScope(s, x)}
		c.takeMasks(func(int) ops.Input { return x })
	}
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail(className(self), err)} }
	if s.Err() != nil {
		return []*ops.Value{c.Inputs[0]}
	}
	if d, ok := s.Value(decoderKey{}).(*config.Decoder); ok && !d.CountCall() {
		return fail(errManyCalls)
	}
	if err := checkForms(self, c.Inputs); err != nil {
		return fail(err)
	}
	if !l.built.Load() {
		if err := l.buildOnce(s, self, c.Inputs); err != nil {
			return fail(err)
		}
	}
	l.cast(s, self, c.Inputs)
	out, done := intercept(s, self, &c)
	if !done {
		out = computeForms(s, self, &c)
	}
	if s.Err() != nil {
		return out
	}
	l.mask(s, self, &c, out)
	if l.activity != nil {
		for i, v := range out {
			if form := FormOf(v); form != "" {
				return fail(fmt.Errorf("output %d is a %s tensor, which has no loss of an activity regularizer", i, form))
			}
		}
		l.addActivity(s, out)
	}
	return out
}

// computed calls the layer's own method.
func computed(s *ops.Scope, self any, c *Invocation) []*ops.Value {
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail(className(self), err)} }
	switch f := self.(type) {
	case FullComputer:
		return f.ComputeAll(s, c)
	case Computer:
		if len(c.Inputs) != 1 {
			return fail(fmt.Errorf("got %d inputs, want 1", len(c.Inputs)))
		}
		if err := c.CheckArgs(); err != nil {
			return fail(err)
		}
		return []*ops.Value{f.Compute(s, c.Inputs[0])}
	}
	return fail(fmt.Errorf("the layer has neither a method Compute nor ComputeAll"))
}

// takeMasks sets the masks of the call to those of the inputs, unless the caller gave masks.
func (c *Invocation) takeMasks(input func(i int) ops.Input) {
	if c.Masks == nil {
		c.Masks = make([]*ops.Value, len(c.Inputs))
		for i := range c.Masks {
			if v, ok := input(i).(*ops.Value); ok {
				c.Masks[i] = MaskOf(v)
			}
		}
	}
}

// buildOnce builds the layer for the shapes of inputs. Callers in other goroutines wait.
func (l *Layer) buildOnce(s *ops.Scope, self any, inputs []*ops.Value) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.built.Load() {
		return nil
	}
	in := make(Shapes, len(inputs))
	for i, v := range inputs {
		in[i] = ShapeOf(v)
		if in[i] == nil && v.Fact().Shape.HasRank() && FormOf(v) == "" {
			in[i] = tensor.Shape{}
		}
	}
	if err := l.build(s, self, in); err != nil {
		return err
	}
	l.built.Store(true)
	return nil
}

type onlyBuildsKey struct{}

// OnlyBuilds reports whether a BuildLayer was asked for by [Build], after which no call
// follows that would build inner layers. keras.Sequential asks.
func OnlyBuilds(s *ops.Scope) bool { return s.Value(onlyBuildsKey{}) != nil }

// Dry returns a scope on which ops compute nothing, with the values of s such as seeds, and
// an input of it. form is "sparse" or "ragged", or "" for a dense one. keras.Sequential builds
// its layers on it. Calls on it are not recorded in a graph, and losses of layers are dropped.
func Dry(s *ops.Scope, d tensor.DType, shape tensor.Shape, form string) (*ops.Scope, *ops.Value, error) {
	inner, trace := s.NewBranch("build")
	fact := graph.Fact{DType: d}
	if shape != nil {
		fact.Shape = graph.ShapeOf(shape...)
	}
	inner, _ = WithLosses(inner.With(graphKey{}, nil))
	if form != "" {
		v, err := formArg(inner, trace, form, d, shape)
		return inner, v, err
	}
	v, err := trace.Arg("", fact)
	return inner, v, err
}

// Build makes the variables of a layer, for inputs of the given shapes. A call does it
// by itself. A built layer is left as it is, whatever the shapes.
func Build(s *ops.Scope, layer LayerLike, in ...tensor.Shape) error {
	s = s.With(onlyBuildsKey{}, true)
	l := layer.AsLayer()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.built.Load() {
		return nil
	}
	if err := l.build(s, layer, in); err != nil {
		return fmt.Errorf("%s: %w", className(layer), err)
	}
	l.built.Store(true)
	return nil
}

// LayerLike is implemented by types that embed a [Layer].
type LayerLike interface{ AsLayer() *Layer }

// Prepare begins the Call of a program's layer that has no Compute: it makes x a value and, the
// first time, calls build with its shape, which is nil if the rank isn't known and has
// -1 for sizes that aren't. ok is false if that failed or an earlier op had; Call then
// returns v. A build that fails is called again at the next call.
func (l *Layer) Prepare(s *ops.Scope, x ops.Input, build func(s *ops.Scope, in tensor.Shape) error) (v *ops.Value, ok bool) {
	v = ops.Const(s, x)
	if s.Err() != nil {
		return v, false
	}
	if l.built.Load() {
		return v, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.built.Load() {
		return v, true
	}
	if build != nil {
		in := v.Shape()
		if in == nil && v.Fact().Shape.HasRank() {
			in = tensor.Shape{}
		}
		if err := build(s, in); err != nil {
			return s.Fail("Build", err), false
		}
	}
	l.built.Store(true)
	return v, true
}

// uncast is implemented by layers whose inputs keep their types.
type uncast interface{ KeepsInputTypes() }

// cast turns floating inputs into the compute type.
func (l *Layer) cast(s *ops.Scope, self any, inputs []*ops.Value) {
	if _, keep := self.(uncast); keep {
		return
	}
	d := l.DType.Compute()
	if !d.IsFloating() {
		return
	}
	for i, v := range inputs {
		if t := v.DType(); t != d && t.IsFloating() {
			inputs[i] = withElements(s, v, ops.Cast(s, v, d))
		}
	}
}

// Read returns the value of a variable of the layer in the compute type.
func (l *Layer) Read(s *ops.Scope, v *trackable.Variable) ops.Input {
	if d := l.DType.Compute(); v != nil && v.DType() != d && v.DType().IsFloating() && d.IsFloating() {
		return ops.Cast(s, v, d)
	}
	return v
}

// mask sets the masks of the outputs. An output that is an input gets an Identity first, since
// the mask is a note on the value, which other users of the input see.
func (l *Layer) mask(s *ops.Scope, self any, c *Invocation, out []*ops.Value) {
	var masks []*ops.Value
	switch f := self.(type) {
	case Masker:
		masks = f.ComputeMask(s, c, out)
	case MaskPasser:
		masks = c.Masks
	}
	for i := range out {
		var m *ops.Value
		if i < len(masks) {
			m = masks[i]
		}
		if MaskOf(out[i]) == m {
			continue
		}
		for _, in := range c.Inputs {
			if in == out[i] {
				out[i] = sameNotes(ops.Identity(s, in), in)
				break
			}
		}
		if s.Err() == nil {
			out[i].SetNote(maskKey{}, m)
		}
	}
}

func className(self any) string {
	t := reflect.TypeOf(self)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

// CallAll calls a layer, a model or another Callable as [Layer.RunAll] does, and returns
// all its outputs. One that has neither a Compute nor a ComputeAll takes one input and no
// further arguments.
func CallAll(s *ops.Scope, layer Callable, inputs []*ops.Value, opts *CallOptions) []*ops.Value {
	if l, ok := layer.(LayerLike); ok {
		switch layer.(type) {
		case Computer, FullComputer:
			if len(inputs) == 1 {
				return l.AsLayer().RunAll(s, layer, inputs[0], opts)
			}
			return l.AsLayer().RunAll(s, layer, inputs, opts)
		}
	}
	if len(inputs) != 1 || opts != nil && len(opts.Args) > 0 {
		return []*ops.Value{s.Fail(className(layer), fmt.Errorf("got %d inputs and further arguments, want one input", len(inputs)))}
	}
	x := inputs[0]
	if opts != nil {
		if opts.Training != nil {
			s = s.WithTraining(*opts.Training)
		}
		if opts.Masks != nil {
			x = WithMask(s, x, opts.Masks[0])
		}
	}
	return []*ops.Value{layer.Call(s, x)}
}
