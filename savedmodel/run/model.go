package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/await"
	"github.com/cairnml/cairn/internal/callers"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Model is a loaded MetaGraph with its own state: variables, tables, the states
// of random ops. It is safe for use from many goroutines; calls that change its
// state see each other's changes.
type Model struct {
	*program
	instance  *engine.Instance                           // the state of ops: resources by name, random states
	variables map[*savedmodel.Object]*trackable.Variable // of every VariableObject that is loaded
	named     []*trackable.Variable                      // of TensorFlow 1, with a value in the checkpoint

	making     sync.Mutex                          // held while resources are made, and for the three fields below
	resources  map[*savedmodel.Object]engine.Value // handles of tables and the like, made when a call first captures them
	failed     map[*savedmodel.Object]error        // why one couldn't be made; it isn't tried again
	restoreErr error                               // the reason that the restore op couldn't fill these resources; nil if it ran, or isn't needed
}

// instantiate makes a model over the program's weights.
func (p *program) instantiate(ctx context.Context) (m *Model, err error) {
	callers.Outside(func() { m, err = p.instance(ctx) })
	return m, err
}

// instance makes a model: variables with the shared weights first, then the restore op and the init op
// run, in TensorFlow's order.
func (p *program) instance(ctx context.Context) (*Model, error) {
	m := &Model{
		program: p, instance: new(engine.Instance), variables: map[*savedmodel.Object]*trackable.Variable{},
		resources: map[*savedmodel.Object]engine.Value{}, failed: map[*savedmodel.Object]error{}, restoreErr: p.noRestore,
	}
	for _, o := range p.meta.Objects {
		if o.Kind == savedmodel.VariableObject && !p.excluded(o) {
			v := trackable.NewVariable(nil).Named(o.Variable.Name).SetTrainable(o.Variable.Trainable)
			setDeclaredShape(v, o.Variable.Shape)
			if err := p.mismatched[o]; err != nil {
				internals.SetVariableFault(v, err)
			}
			m.variables[o] = v
		}
	}
	for _, w := range p.weights {
		v := m.variables[w.object]
		if v == nil {
			v = trackable.NewVariable(nil).Named(w.key.Name)
			m.instance.Set(w.key, v)
			m.named = append(m.named, v)
		}
		if err := v.StoreShared(w.tensor); err != nil {
			return nil, fmt.Errorf("savedmodel: %w", err)
		}
	}
	if p.restore != nil {
		err := m.runRestore(ctx)
		var missing *UnsupportedError
		switch {
		case errors.As(err, &missing): // for a resource that the restore op fills: only calls that need one fail
			m.restoreErr = missing
			clear(m.resources)
			clear(m.failed)
		case err != nil:
			return nil, err
		}
	}
	if p.init != nil {
		if _, err := m.run(ctx, p.init, nil); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// setDeclaredShape lets v take all shapes that are declared for it.
func setDeclaredShape(v *trackable.Variable, declared graph.PartialShape) {
	switch {
	case !declared.HasRank():
		v.SetUnranked()
	case !declared.Known():
		v.SetShape(declared.Dims())
	}
}

// Instantiate returns another model that shares the weights and compiled plans.
// Its state is that of a model just loaded.
func (m *Model) Instantiate(ctx context.Context) (*Model, error) { return m.program.instantiate(ctx) }

// MetaGraph returns the MetaGraph that the model was made of. It must not be
// changed.
func (m *Model) MetaGraph() *savedmodel.MetaGraph { return m.meta }

// Signature returns the signature of that name, ready to be called.
func (m *Model) Signature(name string) (*Signature, error) {
	s, err := m.program.signature(name)
	if err != nil {
		return nil, err
	}
	if _, err := m.compiled(s.callable); err != nil {
		return nil, err
	}
	return &Signature{s, m}, nil
}

// Call runs the signature of that name; see [Signature.Call].
func (m *Model) Call(ctx context.Context, signature string, in map[string]*tensor.Tensor) (map[string]*tensor.Tensor, error) {
	if p := m.program; ctx.Done() != nil && !p.isReady(signature) {
		// The first call prunes the graph and compiles it, which may take long.
		if err := await.Do(ctx, func() {
			if _, err := m.Signature(signature); err == nil {
				p.setReady(signature)
			}
		}); err != nil {
			return nil, fmt.Errorf("savedmodel: signature %s: %w", signature, err)
		}
	}
	s, err := m.Signature(signature)
	if err != nil {
		return nil, err
	}
	return s.Call(ctx, in)
}

// Variable returns the variable to which path leads in the object graph.
func (m *Model) Variable(path string) (*trackable.Variable, error) {
	o, err := m.meta.Object(path)
	if err != nil {
		return nil, err
	}
	if m.excluded(o) {
		return nil, fmt.Errorf("savedmodel: the variable %q: %w", path, errExcluded)
	}
	v := m.variables[o]
	if v == nil {
		return nil, &savedmodel.NotFoundError{Kind: "variable", Name: path, Note: fmt.Sprintf("the object is a %v", o.Kind)}
	}
	return v, nil
}

// VariableOf returns the model's variable for an object of kind
// [savedmodel.VariableObject]; nil for other objects.
func (m *Model) VariableOf(o *savedmodel.Object) *trackable.Variable { return m.variables[o] }

// run calls c with tensors.
func (m *Model) run(ctx context.Context, c *callable, in []*tensor.Tensor) ([]engine.Value, error) {
	list := argLists.Get().(*[]engine.Value)
	args := slices.Grow((*list)[:0], len(in)+len(c.captures))
	for _, t := range in {
		args = append(args, engine.ValueOf(t))
	}
	*list = args
	defer func() {
		clear((*list)[:cap(*list)])
		argLists.Put(list)
	}()
	return m.runValues(ctx, c, args)
}

// argLists are lists for the arguments of calls, used again because a large model captures hundreds of
// values. A plan keeps no list after its run.
var argLists = sync.Pool{New: func() any { return new([]engine.Value) }}

// checkNotRecorded returns an error if a gradient tape records ctx, because the tape
// would treat the results of the call as constants. called is the function's name.
func checkNotRecorded(ctx context.Context, called string) error {
	if !callers.Recording(ctx) {
		return nil
	}
	return fmt.Errorf("%s: savedmodel: a gradient tape doesn't record a call of %s with tensors; "+
		"Function.Concrete and function.Apply call it there, ops.StopGradient makes constants of their results", callers.Site(), called)
}

// runValues calls c with values, to which it adds the values of c's captures.
func (m *Model) runValues(ctx context.Context, c *callable, args []engine.Value) ([]engine.Value, error) {
	if site, ok := callers.InTrace(); ok {
		return nil, fmt.Errorf("%s: savedmodel: a call of %s %w; use Function.Concrete and function.Apply, which run it in every call of the traced function", site, c.where, trackable.ErrInTrace)
	}
	args, err := m.resolve(ctx, c, args)
	if err != nil {
		return nil, err
	}
	if err := m.callLimit.take(ctx, c.where); err != nil {
		return nil, err
	}
	defer m.callLimit.release()
	return m.execute(ctx, c, args, m.files)
}

// execute runs c with all its arguments.
func (m *Model) execute(ctx context.Context, c *callable, args []engine.Value, files *engine.Files) ([]engine.Value, error) {
	plan, err := m.compiled(c)
	if err != nil {
		return nil, err
	}
	o := &m.opts
	out, err := plan.Run(ctx, args, &engine.RunOptions{
		Workers: o.Workers, Files: files, Instance: m.instance, Log: o.Log,
		MaxOutput: o.MaxOutput, MaxMemory: o.MaxMemory, MaxSteps: o.MaxSteps, Tracer: o.Tracer,
	})
	if err != nil {
		return nil, fmt.Errorf("savedmodel: %s: %w", c.where, err)
	}
	return out, nil
}

// resolve appends the values of c's captures in this instance.
func (m *Model) resolve(ctx context.Context, c *callable, args []engine.Value) ([]engine.Value, error) {
	locked := false
	defer func() {
		if locked {
			m.making.Unlock()
		}
	}()
	for _, x := range c.captures {
		if x.tensor != nil {
			args = append(args, engine.ValueOf(x.tensor))
			continue
		}
		if !locked && x.object.IsResource() {
			m.making.Lock()
			locked = true
		}
		v, err := m.valueOf(ctx, x.object, 0)
		if err != nil {
			return nil, fmt.Errorf("savedmodel: %s captures object %d: %w", c.where, x.object.ID, err)
		}
		args = append(args, v)
	}
	return args, nil
}

// maxChain bounds the chain of resources that are made of each other, and of objects that are called by
// each other's __call__, so that a hostile file ends. The number is Cairn's and may change.
const maxChain = 100

// valueOf returns the value of an object in this instance. If it is a resource,
// the caller holds the lock m.making.
func (m *Model) valueOf(ctx context.Context, o *savedmodel.Object, depth int) (engine.Value, error) {
	switch {
	case m.excluded(o):
		return engine.Value{}, errExcluded
	case o.Kind == savedmodel.VariableObject:
		v := m.variables[o]
		return engine.HandleOf(v), internals.VariableFault(v)
	case o.Kind == savedmodel.ConstantObject:
		return engine.ValueOf(m.constants[o]), nil
	case o.Kind == savedmodel.AssetObject:
		return engine.ValueOf(pathOf(o.Asset)), nil
	case o.IsResource():
		return m.resource(ctx, o, depth)
	}
	if o.Kind == savedmodel.CapturedTensor {
		return engine.Value{}, fmt.Errorf("it is the tensor %q of the function %q, which has a value only while that runs: call that function, or Prune the graph: %w", o.Tensor, o.InFunction, errors.ErrUnsupported)
	}
	return engine.Value{}, fmt.Errorf("it is a %v, which can't be captured: %w", o.Kind, errors.ErrUnsupported)
}

// resource makes a table or the like, once: by its own functions. The lock
// m.making is held.
func (m *Model) resource(ctx context.Context, o *savedmodel.Object, depth int) (engine.Value, error) {
	if v, ok := m.resources[o]; ok {
		return v, nil
	}
	if err := m.failed[o]; err != nil {
		return engine.Value{}, err
	}
	if m.restoreErr != nil && m.byOp[o] {
		return engine.Value{}, fmt.Errorf("its contents can't be restored: %w", m.restoreErr)
	}
	if depth > maxChain {
		return engine.Value{}, fmt.Errorf("resources are made of each other without end")
	}
	v, err := m.makeResource(ctx, o, depth)
	// If the caller ended the context, the next call tries again.
	if err != nil && ctx.Err() == nil {
		delete(m.resources, o)
		m.failed[o] = err
	}
	return v, err
}

// makeResource makes a resource as TensorFlow's loader does: its function _create_resource returns the
// handle, and _initialize, if there is one, fills it. After an error it is as if it was never made.
func (m *Model) makeResource(ctx context.Context, o *savedmodel.Object, depth int) (engine.Value, error) {
	out, err := m.runChild(ctx, o, "_create_resource", depth)
	if err != nil {
		return engine.Value{}, err
	}
	if len(out) != 1 || out[0].Object == nil {
		return engine.Value{}, fmt.Errorf("its function _create_resource returns no handle")
	}
	m.resources[o] = out[0] // the initializer takes it
	if o.Child("_initialize") != nil {
		if _, err := m.runChild(ctx, o, "_initialize", depth); err != nil {
			delete(m.resources, o)
			return engine.Value{}, err
		}
	}
	return out[0], nil
}

// runChild runs the function without inputs that is the child called name of an object. The lock
// m.making is held, so resources that the function captures are made without resolve.
func (m *Model) runChild(ctx context.Context, o *savedmodel.Object, name string, depth int) ([]engine.Value, error) {
	f := o.Child(name)
	if f == nil || f.Function == nil || len(f.Function.Concrete) == 0 {
		return nil, fmt.Errorf("it has no function %s: %w", name, errors.ErrUnsupported)
	}
	c, err := m.concrete(f.Function.Concrete[0])
	if err != nil {
		return nil, err
	}
	var args []engine.Value
	for _, x := range c.captures {
		v, err := m.valueOf(ctx, x.object, depth+1)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	return m.execute(ctx, c, args, m.files)
}

// tensorOf returns the data of a result. For a reference to a variable it is
// the variable's value.
func tensorOf(v engine.Value) (*tensor.Tensor, error) {
	if v.Tensor != nil {
		return v.Tensor, nil
	}
	if x := v.Variable(); x != nil && v.Ref {
		if t := x.Load(); t != nil {
			return t, nil
		}
		return nil, fmt.Errorf("the variable %q has no value", x.Name())
	}
	return nil, fmt.Errorf("it is a handle of a %T, not a tensor", v.Object)
}

// Variables returns the variables of TensorFlow 2's object graph, in the
// order of their numbers; of a model of TensorFlow 1 those that the checkpoint
// has values of.
func (m *Model) Variables() []*trackable.Variable {
	out := slices.Clone(m.named)
	for _, o := range m.meta.Objects {
		if v := m.variables[o]; v != nil {
			out = append(out, v)
		}
	}
	return slices.Clip(out)
}
