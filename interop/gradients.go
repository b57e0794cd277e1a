package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"sort"
	"strings"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// derivative is a program that TensorFlow differentiates as it was traced here, and
// the results of our own trace of its gradient.
type derivative struct {
	*program
	of      string // the op or the model: a key of gradientExceptions
	forward *graph.Function
	calls   judgeCalls                // the one call
	arrays  map[string]*tensor.Tensor // of the call, as they are before it
	dys     []*tensor.Tensor          // the gradient of each output, nil for outputs without one
	by      []int                     // numbers of the arguments it is differentiated by; captures are the last ones
	got     []*tensor.Tensor          // our gradients, in the order of by
	sliced  []bool                    // whether each of got is an IndexedSlices
	refused error                     // why we have no gradients; nil if we have
}

// hasGradient reports whether elements of a type can be differentiated.
func hasGradient(d tensor.DType) bool { return d.IsFloating() || d.IsComplex() }

// differentiate computes our gradient of the program by a trace. It returns nil for
// one that has nothing to differentiate. The names of arrays begin with prefix.
func (p *program) differentiate(ctx context.Context, prefix string) (*derivative, error) {
	// A separate run with separate variables, because the program may change them.
	out, err := p.function()(function.Eagerly).Call(ctx, p.values())
	if err != nil {
		return nil, fmt.Errorf("eagerly: %w", err)
	}
	d := &derivative{program: p, arrays: map[string]*tensor.Tensor{}}
	rng := rand.New(rand.NewPCG(1, 2))
	any := false
	for k, v := range out {
		t, err := v.Tensor()
		if err != nil {
			return nil, err
		}
		var dy *tensor.Tensor
		if hasGradient(t.DType()) && (p.flows == nil || slices.Contains(p.flows, k)) {
			if dy, err = randomLike(rng, t); err != nil {
				return nil, err
			}
			any = true
		}
		d.dys = append(d.dys, dy)
	}
	vars, run := p.instance()
	f := function.New(func(s *ops.Scope, in programIn) []*ops.Value { return run(s, in.X) }, &function.Options{Mode: function.Traced})
	trace, err := f.Trace(p.values())
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	d.forward = trace.Function
	var values []int
	for i, x := range p.in {
		if hasGradient(x.DType()) {
			values, d.by = append(values, i), append(d.by, i)
		}
	}
	var sources []*trackable.Variable
	for i, c := range trace.Captures {
		if v := c.Variable; v != nil && v.Trainable() && hasGradient(v.DType()) && slices.Contains(vars, v) {
			sources, d.by = append(sources, v), append(d.by, len(p.in)+i)
		}
	}
	if !any || len(d.by) == 0 {
		return nil, nil
	}
	if err := d.call(prefix, trace.Captures); err != nil {
		return nil, err
	}
	d.refused = d.compute(ctx, run, values, sources)
	return d, nil
}

// call records the calls that TensorFlow has to make. Variables are copied now, for
// our own run may change them.
func (d *derivative) call(prefix string, captures []graph.Capture) error {
	args, err := d.calls.arguments(prefix, d.in, captures, d.arrays)
	if err != nil {
		return err
	}
	for key, x := range d.arrays {
		d.arrays[key] = x.Clone()
	}
	call := judgeCall{Inputs: "in.npz", Args: args, Outputs: prefix + "out.npz", By: d.by}
	for k, dy := range d.dys {
		if dy == nil {
			call.Dys = append(call.Dys, nil)
			continue
		}
		key := fmt.Sprintf("%sdy%d", prefix, k)
		d.arrays[key] = dy
		call.Dys = append(call.Dys, &key)
	}
	d.calls.Calls = append(d.calls.Calls, call)
	return nil
}

// gradientIn is the argument of a gradient's trace.
type gradientIn struct{ X, DY []*ops.Value }

// compute traces the program and its gradient as one function and runs that.
func (d *derivative) compute(ctx context.Context, run func(*ops.Scope, []*ops.Value) []*ops.Value, values []int, vars []*trackable.Variable) error {
	d.sliced = make([]bool, len(d.by))
	f := function.New(func(s *ops.Scope, in gradientIn) []*ops.Value {
		o := &grad.Options{Persistent: true}
		var sources []*ops.Value
		for _, i := range values {
			sources = append(sources, in.X[i])
		}
		o.Watch = sources
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			y := run(s, in.X)
			var terms []ops.Input
			dys := in.DY
			for k, dy := range d.dys {
				if dy != nil {
					terms, dys = append(terms, weighed(s, y[k], dys[0])), dys[1:]
				}
			}
			if s.Err() != nil {
				return nil
			}
			return s.Emit1("AddN", nil, terms...)
		}, o)
		if s.Err() != nil {
			return nil
		}
		grads := tape.GradientWith([]*ops.Value{loss}, sources, &grad.GradientOptions{Zero: true})
		for _, g := range tape.Gradient(loss, vars, &grad.GradientOptions{Zero: true}) {
			grads = append(grads, g.Grad)
		}
		if s.Err() != nil {
			return nil
		}
		for i, g := range grads {
			_, d.sliced[i] = g.IndexedSlices()
		}
		return grads
	}, &function.Options{Mode: function.Traced})
	in := gradientIn{X: d.values().X}
	for _, dy := range d.dys {
		if dy != nil {
			in.DY = append(in.DY, ops.ValueOf(dy))
		}
	}
	out, err := f.Call(ctx, in)
	if err != nil {
		return err
	}
	for _, v := range out {
		t, err := v.Tensor()
		if err != nil {
			return err
		}
		d.got = append(d.got, t)
	}
	return nil
}

// weighed returns the sum of y's elements, each times that of dy, so that dy is
// the gradient with regard to y.
func weighed(s *ops.Scope, y, dy *ops.Value) *ops.Value {
	if d := y.DType(); d.IsComplex() {
		part := tensor.Float32
		if d == tensor.Complex128 {
			part = tensor.Float64
		}
		y = s.Emit1("Real", graph.Attrs{graph.Type("Tout", part)}, ops.Mul(s, y, ops.Conj(s, dy)))
	} else {
		y = ops.Mul(s, y, dy)
	}
	if y.DType() != tensor.Float64 {
		y = ops.Cast(s, y, tensor.Float64)
	}
	return ops.Sum(s, ops.Reshape(s, y, -1), 0)
}

// randomLike returns a tensor of t's type and shape. The numbers are between -1 and 1, at
// least 0.25 from 0.
func randomLike(rng *rand.Rand, t *tensor.Tensor) (*tensor.Tensor, error) {
	number := func() float64 {
		x := 0.25 + 0.75*rng.Float64()
		if rng.IntN(2) == 0 {
			return -x
		}
		return x
	}
	if t.DType().IsComplex() {
		v := make([]complex128, t.Len())
		for i := range v {
			v[i] = complex(number(), number())
		}
		x, err := tensor.New(v, t.Shape()...)
		if err != nil {
			return nil, err
		}
		return tensor.Cast(x, t.DType())
	}
	v := make([]float64, t.Len())
	for i := range v {
		v[i] = number()
	}
	x, err := tensor.New(v, t.Shape()...)
	if err != nil {
		return nil, err
	}
	return tensor.Cast(x, t.DType())
}

// differentiation is a group of derivatives whose files share a directory.
type differentiation struct {
	name  string
	dir   string
	cases []*derivative
}

// write writes the files that interop/peer/differentiate.py reads: change both together.
func (g *differentiation) write(ctx context.Context) error {
	var roots []*graph.Function
	for _, d := range g.cases {
		withInputShapes(d.forward)
		roots = append(roots, d.forward)
	}
	lib, err := grad.Library(ctx, roots...)
	if err != nil {
		return err
	}
	arrays := map[string]*tensor.Tensor{}
	var all judgeCalls
	all.gradients(lib)
	for _, d := range g.cases {
		maps.Copy(arrays, d.arrays)
		d.calls.Calls[0].Function = lib.NameOf(d.forward)
		all.Calls = append(all.Calls, d.calls.Calls...)
		all.Variables = append(all.Variables, d.calls.Variables...)
	}
	return all.write(g.dir, lib, arrays)
}

// gradientGroups are differentiations that TensorFlow runs in one process.
type gradientGroups struct {
	run    *run
	groups []*differentiation
}

// add makes a group of programs, of which each is differentiated. The kind begins the name
// of its directory, and the name is that of its result.
func (all *gradientGroups) add(ctx context.Context, kind, name string, programs []*program) {
	r := all.run
	g := &differentiation{name: name, dir: r.ours("gradients", fmt.Sprintf("%s%d", kind, len(all.groups)))}
	for i, p := range programs {
		var d *derivative
		err := guarded(func() (err error) {
			d, err = p.differentiate(ctx, fmt.Sprintf("f%d", i))
			return err
		})
		if err != nil {
			r.result("gradient of "+p.name, wrongs(err), "")
		} else if d != nil {
			d.of, _, _ = strings.Cut(name, ",")
			g.cases = append(g.cases, d)
		}
	}
	if len(g.cases) == 0 {
		return
	}
	if err := guarded(func() error { return g.write(ctx) }); err != nil {
		r.result("gradient of "+name, wrongs(err), "")
		return
	}
	all.groups = append(all.groups, g)
}

// compare runs the groups in TensorFlow and compares. interop/peer/differentiate.py prints "ran …"
// for each directory that it has finished, and exits with 1 if another one failed. The comparison
// of that group finds no result.json, and fails.
func (all *gradientGroups) compare(ctx context.Context) {
	r := all.run
	if len(all.groups) == 0 {
		return
	}
	var dirs []string
	for _, g := range all.groups {
		dirs = append(dirs, g.dir)
	}
	cmd := exec.CommandContext(ctx, r.python, append([]string{"interop/peer/differentiate.py"}, dirs...)...)
	if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(out), "ran ") {
		r.result("gradients in TensorFlow", []string{fmt.Sprintf("%v\n%s", err, out)}, "")
		return
	}
	for _, g := range all.groups {
		var detail string
		err := guarded(func() (err error) {
			detail, err = g.compare(ctx)
			return err
		})
		r.result("gradient of "+g.name, wrongs(err), detail)
	}
}

// gradientCases differentiates every op with a kernel and all programs, here and in
// TensorFlow, and compares.
func gradientCases(ctx context.Context, r *run) {
	all := &gradientGroups{run: r}
	group := func(kind, name string, programs []*program) {
		if r.match.MatchString(name) {
			all.add(ctx, kind, name, programs)
		}
	}
	fixtures := opfixture.Load(fatal{}, "kernel/testdata/tf2.21")
	set := kernel.All()
	names := make([]string, 0, len(fixtures))
	for op := range fixtures {
		if set.Lookup(op) != nil {
			names = append(names, op)
		}
	}
	sort.Strings(names)
	for _, op := range names {
		var calls []*program
		for i, f := range fixtures[op] {
			if f.Elsewhere {
				continue
			}
			p := opProgram(op, fixtures[op][i:i+1], set.Lookup(op).Precision)
			p.name = fmt.Sprintf("%s %d", op, i)
			p.flows = gradientExceptions[op].flows
			p.attrs = f.EngineAttrs(fatal{})
			calls = append(calls, p)
		}
		group("op", op, calls)
	}
	for _, p := range append(gradientPrograms(), tracePrograms()...) {
		group("program", p.name, []*program{p})
	}
	all.compare(ctx)
}
