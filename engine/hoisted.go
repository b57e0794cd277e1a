package engine

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cairnml/cairn/engine/internal/analysis"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// hoisted is the part of a plan with the invariant values. It is computed once for each
// value of its roots, the variables and large constants that it depends on.
type hoisted struct {
	store  *Invariants
	before int    // the step before which the values are found; the steps before it make handles
	roots  []root // the constants and variables that the values depend on
	steps  []step // the steps that compute them, in order, with slots of the plan
	outs   []hoistedValue
	forms  []hoistedForm

	last atomic.Pointer[hoistedState] // the state of the last call
}

// root is a constant, or a variable and the slots that have its value.
type root struct {
	constant *tensor.Tensor
	handle   int32       // the slot of the variable's handle
	node     *graph.Node // of the handle or of a read, for errors
	reads    []int32     // the slots that receive the value
}

// hoistedValue is an invariant value that steps of the plan need.
type hoistedValue struct {
	slot int32
	formula
}

// hoistedForm is a packed form of the invariant value in a slot.
type hoistedForm struct {
	slot int32
	formula
	pack PackFunc
}

// hoistedState is all hoisted values, for roots of certain versions.
type hoistedState struct {
	versions []trackable.Version // of the roots, in their order
	values   []Value
	forms    []any
}

// countPlaces finds out how many places the plan has of each expression.
func (x *hoisted) countPlaces() {
	places := map[expression]int{}
	for i := range x.outs {
		places[x.outs[i].sum]++
	}
	for i := range x.forms {
		places[x.forms[i].sum]++
	}
	for i := range x.outs {
		x.outs[i].places = places[x.outs[i].sum]
	}
	for i := range x.forms {
		x.forms[i].places = places[x.forms[i].sum]
	}
}

// resolve sets the slots of the invariant values for the steps of a call.
func (x *hoisted) resolve(ctx context.Context, env *Env, p *Plan, f *frame) error {
	if f.versions == nil {
		f.versions = make([]trackable.Version, len(x.roots))
	}
	last := x.last.Load()
	for i := range x.roots {
		r := &x.roots[i]
		if r.constant != nil {
			f.versions[i] = trackable.VersionOf(r.constant)
			continue
		}
		v := f.slots[r.handle].Variable()
		if v == nil {
			return x.failed(p, r.node, f.slots[r.handle].errKind(0, "a variable's handle"))
		}
		f.versions[i] = v.Version()
	}
	if last == nil || !slices.Equal(last.versions, f.versions) {
		var err error
		if last, err = x.find(ctx, env, p, f); err != nil {
			return err
		}
	}
	for i := range x.outs {
		f.slots[x.outs[i].slot] = last.values[i]
	}
	f.call.forms = last.forms
	return nil
}

func (x *hoisted) failed(p *Plan, n *graph.Node, err error) error {
	return &graph.NodeError{Node: n.Name, Op: n.Op, Function: p.name, Site: n.Site, Err: err}
}

// find returns the state for the current values of the roots. It takes values
// from the store if they are there.
func (x *hoisted) find(ctx context.Context, env *Env, p *Plan, f *frame) (*hoistedState, error) {
	slots := slices.Clone(p.preset)
	s := &hoistedState{versions: make([]trackable.Version, len(x.roots)), values: make([]Value, len(x.outs)), forms: make([]any, len(x.forms))}
	weak := make([]trackable.WeakVersion, len(x.roots))
	sizes := make([]int64, len(x.roots))
	for i := range x.roots {
		r := &x.roots[i]
		v := Value{Tensor: r.constant}
		s.versions[i] = trackable.VersionOf(r.constant)
		if r.constant == nil {
			variable := f.slots[r.handle].Variable()
			t, lease, version := variable.LeaseVersion()
			if t == nil {
				return nil, x.failed(p, r.node, fmt.Errorf("the variable %q has no value", variable.Name()))
			}
			// While the lease is held, the value doesn't change.
			b := &Buffer{refs: 1, class: -1, lease: lease}
			defer b.lease.Release()
			v, s.versions[i] = Value{Tensor: t, buf: b}, version
		}
		for _, at := range r.reads {
			slots[at] = v
		}
		sizes[i], weak[i] = int64(v.Tensor.NumBytes()), s.versions[i].Weak()
	}
	x.store.mu.Lock()
	defer x.store.mu.Unlock()
	c := computation{hoisted: x, plan: p, env: env, slots: slots}
	keep := true
	// Values come before their forms, which are made of them. Nothing is computed
	// for a value that is stored.
	for i := range x.outs {
		o := &x.outs[i]
		v, kept, err := x.value(ctx, &c, &o.formula, o.slot, nil, weak, sizes)
		if err != nil {
			return nil, err
		}
		s.values[i], keep = v.value, keep && kept
	}
	for i := range x.forms {
		o := &x.forms[i]
		v, kept, err := x.value(ctx, &c, &o.formula, o.slot, o.pack, weak, sizes)
		if err != nil {
			return nil, err
		}
		s.forms[i], keep = v.form, keep && kept
	}
	if keep {
		x.last.Store(s)
	}
	return s, nil
}

// value returns the value of a slot or, if pack isn't nil, a packed form of it,
// from the store. If it is not there, value computes and stores it. The bool
// reports whether it is stored: there may be no room, or it may be too large.
func (x *hoisted) value(ctx context.Context, c *computation, f *formula, slot int32, pack PackFunc, roots []trackable.WeakVersion, sizes []int64) (*invariant, bool, error) {
	versions := make([]trackable.WeakVersion, len(f.roots))
	most := int64(analysis.MaxExtraBytes)
	for i, r := range f.roots {
		versions[i] = roots[r]
		most += 2 * sizes[r]
	}
	if old := x.store.find(f.sum, versions); old != nil {
		if pack == nil {
			c.slots[slot] = old.value
		}
		return old, true, nil
	}
	v, err := c.value(ctx, slot)
	if err != nil {
		return nil, false, err
	}
	made := &invariant{roots: versions}
	if pack == nil {
		made.value = v.Keep()
		made.bytes = int64(v.Tensor.NumBytes())
		c.slots[slot] = made.value
	} else {
		var bytes int
		made.form, bytes = pack(v.Tensor)
		if made.bytes = int64(bytes); made.bytes > most {
			made.form, made.bytes = nil, 0
		}
	}
	return made, made.bytes <= most && x.store.keep(f.sum, f.places, made), nil
}

// computation computes single hoisted values on demand.
type computation struct {
	*hoisted
	plan  *Plan
	env   *Env
	slots []Value
	call  Call
}

// value returns the value of a slot.
func (c *computation) value(ctx context.Context, slot int32) (Value, error) {
	if v := c.slots[slot]; !v.IsZero() {
		return v, nil
	}
	// Steps that are needed, found from the last one on.
	wanted := map[int32]bool{slot: true}
	var run []int
	for i := len(c.steps) - 1; i >= 0; i-- {
		st := &c.steps[i]
		if !slices.ContainsFunc(st.out, func(s int32) bool { return s >= 0 && wanted[s] && c.slots[s].IsZero() }) {
			continue
		}
		run = append(run, i)
		for _, s := range st.in {
			wanted[s] = true
		}
	}
	slices.Reverse(run)
	// No arena, because the computed values outlive the call.
	env := &Env{Workers: c.env.Workers, MaxOutput: c.env.MaxOutput, Instance: c.env.Instance, Log: c.env.Log}
	for _, i := range run {
		if err := ctx.Err(); err != nil {
			return Value{}, context.Cause(ctx)
		}
		st := &c.steps[i]
		c.call.begin(ctx, env)
		for _, s := range st.in {
			c.call.in = append(c.call.in, c.slots[s])
		}
		err := c.call.run(st.Prepared)
		for k, s := range st.out {
			if err == nil && s >= 0 && (k >= len(c.call.out) || c.call.out[k].Tensor == nil) {
				err = fmt.Errorf("the kernel made no output %d", k)
			}
		}
		if err != nil {
			return Value{}, c.failed(c.plan, st.node, err)
		}
		for k, s := range st.out {
			if s >= 0 {
				c.slots[s] = c.call.out[k]
			}
		}
	}
	return c.slots[slot], nil
}
