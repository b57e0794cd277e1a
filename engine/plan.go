package engine

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Plan is a compiled function: its ops in order, each with a prepared kernel, and the
// slots of their inputs and outputs. A slot is the place of a value. A plan keeps no state
// of a call, and many goroutines may call it at once. If shapes of its arguments are not known, the plan keeps a bounded
// number of specializations for the shapes of its calls. Their results are equal bit
// for bit, unless a pass that changes rounding matches more nodes when shapes are
// known.
type Plan struct {
	name    string
	of      *graph.Function // that was compiled
	whole   bool            // all calls of the function share the states of its nodes; see States
	steps   []step
	preset  []Value // the slots as a call finds them: constants are there already
	args    []arg
	results []result
	rest    []int32 // the slots that a call leaves filled, besides those that are preset
	frames  sync.Pool
	hoisted *hoisted // the invariant values: those that are the same in all calls; nil if there are none

	branches *branches // of a function with Switch or Merge; nil for most
	names    []string  // of the results, if there are branches

	specializations *specializations // nil if all shapes of the arguments are known; the plan comes from [Compile]
	arenas          *idleArenas      // those of all plans; or, if all sizes of arguments are known, a separate list with memory of the right sizes
}

// arg is a place where a call puts an argument.
type arg struct {
	slot int32
	last bool // no op and no result needs it
	fact graph.Fact
	name string
}

// result is a place where a call finds a result.
type result struct {
	slot int32
	last bool // no step and no other result needs the slot's value
}

// step is one op of a plan.
type step struct {
	*Prepared
	node *graph.Node // in the plan's own copy of the graph, for errors
	in   []int32     // slots
	out  []int32     // slots; -1 for an output without users
	last bitset      // the inputs that no step needs after this op
	free []int32     // slots that are given up after this op
	dref []int32     // the inputs that are references whose values are wanted
	pack []int32     // the packed inputs, among the plan's forms
}

// frame is the memory of one call of a plan. Between calls its slots contain
// the preset values and nothing else.
type frame struct {
	slots    []Value
	versions []trackable.Version // of the roots of the invariant values
	call     Call
	scope    scope  // of a call by another function
	skipped  []bool // by step, where there are branches
}

// RunOptions are the options of [Plan.Run]. The zero value is ready.
type RunOptions struct {
	// Workers is the budget of helpers for large ops. Default: [SharedWorkers].
	Workers *Workers
	// Files are the files that ops may open. Default: none.
	Files *Files
	// Instance holds the state that outlives the call. Default: the process's.
	Instance *Instance
	// Log receives the output of ops that print. Default: os.Stderr.
	Log io.Writer
	// MaxOutput is the most bytes that one op's output may take. Default:
	// MaxMemory.
	MaxOutput int64
	// MaxMemory is the most bytes that all ops together may use at once. Default:
	// seven eighths of [MachineMemory], less the memory in use.
	MaxMemory int64
	// MaxSteps is the most ops that may run, each round of a loop counted.
	// Default: no limit.
	MaxSteps int64
	// Tracer receives every op that runs. Default: none.
	Tracer Tracer
	// Used receives the resources that the call used, if it is not nil.
	Used *Usage
}

// Usage is the resources that a call used.
type Usage struct {
	Steps int64 // ops that ran
	Peak  int64 // most bytes of memory that were in use at once
}

// Run calls the plan with one value for each argument, and returns one for each
// result. The results belong to the caller. The end of the context stops the
// call between two ops, or in a long loop of one.
func (p *Plan) Run(ctx context.Context, args []Value, o *RunOptions) ([]Value, error) {
	if o == nil {
		o = &RunOptions{}
	}
	env := Env{Workers: o.Workers, Files: o.Files, MaxOutput: o.MaxOutput, MaxSteps: o.MaxSteps, Instance: o.Instance, Log: o.Log, Tracer: o.Tracer, root: p.of}
	if env.Workers == nil {
		env.Workers = SharedWorkers()
	}
	if err := p.accept(args); err != nil {
		return nil, err
	}
	p = p.specialized(ctx, args)
	env.Arena = p.arenas.get()
	env.Arena.Limit = o.MaxMemory
	defer env.Arena.Close()
	f := p.frame()
	out, err := p.runIn(f, ctx, &env, args, nil)
	p.release(f, err)
	if o.Used != nil {
		*o.Used = Usage{Steps: env.steps, Peak: env.Arena.Peak()}
	}
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i] = out[i].Keep()
	}
	return out, nil
}

// accept checks arguments that come from outside.
func (p *Plan) accept(args []Value) error {
	if len(args) != len(p.args) {
		return fmt.Errorf("%s takes %d arguments, %d were given", p.name, len(p.args), len(args))
	}
	for i, a := range p.args {
		v := args[i]
		switch {
		case v.IsZero():
			return fmt.Errorf("%s: argument %d (%s) is missing", p.name, i, a.name)
		case a.fact.DType != tensor.Invalid && v.DType() != a.fact.DType:
			return fmt.Errorf("%s: argument %d (%s) is %v, the function takes %v", p.name, i, a.name, v.DType(), a.fact.DType)
		case v.Tensor != nil && !a.fact.Shape.Accepts(v.Tensor.Shape()):
			return fmt.Errorf("%s: argument %d (%s) has shape %v, the function takes %v", p.name, i, a.name, v.Tensor.Shape(), a.fact.Shape)
		}
	}
	return nil
}

// Call implements [Function].
func (p *Plan) Call(c *Call, args, into []Value) ([]Value, error) { return p.callAs(0, c, args, into) }

// callAs runs the plan as one of the functions that the op of c names.
func (p *Plan) callAs(branch int, c *Call, args, into []Value) ([]Value, error) {
	if len(args) != len(p.args) {
		return nil, fmt.Errorf("function %s takes %d arguments, %d were given", p.name, len(p.args), len(args))
	}
	f := p.frame()
	out, err := p.callIn(f, branch, c, args, into)
	p.release(f, err)
	return out, err
}

// callIn does the work of callAs in a frame. If it succeeds, the frame is ready for another
// call. Otherwise release restores the frame.
func (p *Plan) callIn(f *frame, branch int, c *Call, args, into []Value) ([]Value, error) {
	env := c.env
	f.scope = scope{from: env.scope, node: c.node, branch: branch, plan: p}
	env.scope = &f.scope
	out, err := p.runIn(f, c.ctx, env, args, into)
	env.scope = f.scope.from
	return out, err
}

// maxDepth bounds how deep calls may nest; only endless recursion gets there.
const maxDepth = 500

// release ends the use of a frame.
func (p *Plan) release(f *frame, err error) {
	f.end(p, err == nil)
	p.frames.Put(f)
}

// frame returns a frame that no call is using.
func (p *Plan) frame() *frame {
	if f, ok := p.frames.Get().(*frame); ok {
		return f
	}
	return &frame{slots: slices.Clone(p.preset)}
}

// runIn runs the plan in a frame. It owns the references of args. The results
// are appended to into, which may share its memory with args; their references
// move to the caller. If it succeeds, the frame is ready for another call.
// Otherwise release restores the frame. A nil arena is possible; it can release
// values, too.
func (p *Plan) runIn(f *frame, ctx context.Context, env *Env, args, into []Value) (results []Value, err error) {
	for i := range args {
		// The types of a call's arguments may come from a file, as those of the function do.
		if t, d := args[i].Tensor, p.args[i].fact.DType; t != nil && t.DType() != d && d.Valid() && args[i].Object == nil {
			return nil, fmt.Errorf("function %s: argument %d (%s) is %v, the function takes %v", p.name, i, p.args[i].name, t.DType(), d)
		}
	}
	if env.depth++; env.depth > maxDepth {
		return nil, fmt.Errorf("function %s: %d calls inside each other: does it call itself without end?", p.name, env.depth)
	}
	arena := env.Arena
	for i := range p.args {
		if a := &p.args[i]; a.last {
			arena.release(args[i].buf)
		} else {
			f.slots[a.slot].set(&args[i])
		}
	}
	at := 0
	defer func() {
		if r := recover(); r != nil {
			if err = recovered(r); !cancelled(r) {
				err = p.failed(at, err)
			}
		}
		env.depth--
	}()
	if p.branches != nil {
		f.skipped = slices.Grow(f.skipped[:0], len(p.steps))[:len(p.steps)]
		clear(f.skipped)
	}
	done := ctx.Done()
	c := &f.call
	c.ctx, c.env = ctx, env
	for ; ; at++ {
		if p.hoisted != nil && at == p.hoisted.before {
			if err := p.hoisted.resolve(ctx, env, p, f); err != nil {
				return nil, err
			}
		}
		if at == len(p.steps) && at > 0 {
			break
		}
		// A plan without steps counts as one: a loop of such plans ends with its context, too.
		if done != nil {
			select {
			case <-done:
				return nil, context.Cause(ctx)
			default:
			}
		}
		if env.steps++; env.MaxSteps > 0 && env.steps > env.MaxSteps {
			return nil, p.failed(at, fmt.Errorf("the call took more than the %d steps of MaxSteps", env.MaxSteps))
		}
		if at == len(p.steps) {
			break
		}
		st := &p.steps[at]
		if p.branches != nil && p.skips(f, at) {
			p.skip(f, env, at)
			continue
		}
		c.next()
		c.node, c.last, c.packs = st.Prepared.node, st.last, st.pack
		in := slices.Grow(c.in, len(st.in))[:len(st.in)]
		for i, slot := range st.in {
			in[i].set(&f.slots[slot])
		}
		c.in = in
		for _, i := range st.dref {
			if c.in[i], err = env.deref(c.in[i]); err != nil {
				return nil, p.failed(at, fmt.Errorf("input %d: %w", i, err))
			}
		}
		if env.Tracer == nil {
			err = st.run(c)
		} else {
			err = p.traced(c, st, env)
		}
		if err != nil {
			return nil, p.failed(at, err)
		}
		if len(c.scratch) > 0 {
			c.freeScratch()
		}
		if arena != nil && arena.Limit > 0 {
			if err = c.countLoose(); err != nil {
				return nil, p.failed(at, err)
			}
		}
		for i, slot := range st.out {
			if i >= len(c.out) || c.out[i].Tensor == nil && c.out[i].Object == nil {
				if slot >= 0 {
					return nil, p.failed(at, fmt.Errorf("the kernel made no output %d", i))
				}
				continue
			}
			if slot < 0 {
				arena.release(c.out[i].buf)
				continue
			}
			f.slots[slot].set(&c.out[i])
		}
		for _, i := range st.dref {
			if !c.moved.has(int(i)) {
				arena.release(c.in[i].buf)
			}
		}
		if len(c.moved) > 0 {
			for i, slot := range st.in {
				if c.moved.has(i) {
					f.slots[slot] = Value{}
				}
			}
		}
		for _, slot := range st.free {
			arena.release(f.slots[slot].buf)
			f.slots[slot] = Value{}
		}
	}
	if p.branches != nil {
		if err := p.alive(f); err != nil {
			return nil, err
		}
	}
	return f.take(p, into), nil
}

// take appends the plan's results to into. It clears the slots of the results
// and those that no step has cleared.
func (f *frame) take(p *Plan, into []Value) []Value {
	n := len(into)
	results := slices.Grow(into, len(p.results))[:n+len(p.results)]
	for i, r := range p.results {
		v := &f.slots[r.slot]
		results[n+i].set(v)
		if r.last {
			*v = Value{}
		} else {
			v.buf.retain()
		}
	}
	for _, slot := range p.rest {
		f.slots[slot] = Value{}
	}
	return results
}

// end removes all values of calls from the frame; done reports whether the last
// call succeeded.
func (f *frame) end(p *Plan, done bool) {
	if !done {
		copy(f.slots, p.preset)
	}
	clear(f.versions)
	f.scope = scope{}
	c := &f.call
	c.begin(context.Background(), nil)
	c.node, c.forms, c.packs = nil, nil, nil
}

// deref returns the current value of the variable that a reference refers to.
func (e *Env) deref(v Value) (Value, error) {
	x := v.Variable()
	if !v.Ref || x == nil {
		return v, nil
	}
	t, lease := x.Lease()
	if t == nil {
		return Value{}, fmt.Errorf("the variable %q has no value", x.Name())
	}
	return Value{Tensor: t, buf: e.Arena.lease(lease)}, nil
}

// failed returns an error of step at; if at is after the last step, one of the whole plan.
func (p *Plan) failed(at int, err error) error {
	if at >= len(p.steps) {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	n := p.steps[at].node
	return &graph.NodeError{Node: n.Name, Op: n.Op, Function: p.name, Site: n.Site, Err: err}
}

// Args returns the facts of the arguments.
func (p *Plan) Args() []graph.Fact {
	out := make([]graph.Fact, len(p.args))
	for i, a := range p.args {
		out[i] = a.fact
	}
	return out
}

// Len returns the number of ops that a call runs, those of called functions not
// counted.
func (p *Plan) Len() int { return len(p.steps) }
