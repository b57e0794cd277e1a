package grad

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// The gradient of a function is a pair of functions: the forward one is the
// function with more results, the values that the backward one needs of it. A
// tape has the forward function called in the function's place; the rule of the
// call calls the backward one. Both are made once, by tracing the rules.

// pair is the data for differentiating a call of functions: one forward and one
// backward function for each function that may run, which all have the same
// arguments and results.
type pair struct {
	first             int // the input that is the first argument
	forward, backward []*graph.Function
	results           []tensor.DType // of the forward functions
	dys               []int          // the outputs whose gradients come first among the backward functions' arguments
	uses              []int          // the inputs that come next
	extras            int            // the outputs after the function's own, which come last
	gives             []int          // the inputs whose gradients are the backward functions' results
	sliced            []bool         // by argument of gives: whether the gradient is two results, the values and the indices of slices
	given             []tensor.DType // of the backward functions' results
}

// derivative is the data for differentiating a call of functions: a pair or a
// loop.
type derivative interface {
	// rewrite returns the attributes and the further inputs with which the op does
	// more than it was asked.
	rewrite(s *ops.Scope, op string, attrs graph.Attrs, in []*ops.Value) (graph.Attrs, []*ops.Value)
	// apply is the rule of the op that ran so.
	apply(s *ops.Scope, op *Op)
}

// draft is a function on the way to its pair.
type draft struct {
	forward, backward           *ops.Scope
	forwardTrace, backwardTrace *ops.Trace
	tape                        *Tape
	args, results               []*ops.Value
	dys                         []*ops.Value   // arguments of the backward function, nil if a result has no gradient
	grads                       []*ops.Value   // by argument
	out                         []*ops.Value   // results of the backward function
	extras                      []*ops.Value   // of the forward function
	library                     *graph.Library // of the forward function
}

// newPair differentiates functions that are called with the same arguments, of
// which those that are tracked may have gradients. The last arguments are the outer
// values (outer.go).
func (t *Tape) newPair(fs []*graph.Function, first int, facts []graph.Fact, tracked []bool, outer []graph.Output) (*pair, error) {
	p := &pair{first: first}
	drafts := make([]*draft, len(fs))
	for i, f := range fs {
		f, err := widen(f, facts[len(facts)-len(outer):], false)
		if err != nil {
			return nil, err
		}
		follow := slices.Clone(tracked)
		for i := range follow {
			follow[i] = follow[i] && !holdsOthers(f, i)
		}
		d, err := t.newDraft(f, facts, follow, outer)
		if err != nil {
			return nil, err
		}
		if i > 0 && len(d.results) != len(drafts[0].results) {
			return nil, fmt.Errorf("the function %s has %d results, the function %s %d", f.Name, len(d.results), fs[0].Name, len(drafts[0].results))
		}
		drafts[i] = d
	}
	// A branch that leaves a result empty knows less about the elements of a list
	// there than the branch that fills it.
	flowing := make([]bool, len(drafts[0].results))
	for i := range flowing {
		flowing[i] = !slices.ContainsFunc(drafts, func(d *draft) bool { return !carries(d.results[i]) })
		if flowing[i] {
			p.dys = append(p.dys, i)
		}
	}
	for i, d := range drafts {
		if err := d.differentiate(fs[i].Name, flowing); err != nil {
			return nil, err
		}
	}
	for i := range drafts[0].args {
		p.giveBack(i, drafts)
	}
	if err := p.finish(drafts); err != nil {
		return nil, err
	}
	return p, nil
}

// giveBack makes the gradient with regard to argument i a result of the backward
// functions, if one of them has it: slices if one has slices, as TensorFlow's
// branches do.
func (p *pair) giveBack(i int, drafts []*draft) {
	has, sliced := false, false
	for _, d := range drafts {
		if g := d.grads[i]; g != nil {
			_, ok := g.IndexedSlices()
			has, sliced = true, sliced || ok
		}
	}
	if !has {
		return
	}
	p.gives, p.sliced = append(p.gives, i), append(p.sliced, sliced)
	for _, d := range drafts {
		if d.grads[i] == nil {
			d.grads[i] = zerosOf(d.backward, d.args[i])
		}
	}
	if !sliced {
		for _, d := range drafts {
			d.out = append(d.out, ops.Const(d.backward, d.grads[i]))
		}
		p.given = append(p.given, valueType(drafts[0].args[i]))
		return
	}
	all, wide := make([]ops.IndexedSlices, len(drafts)), false
	for k, d := range drafts {
		all[k] = asSlices(d.backward, d.grads[i])
		wide = wide || all[k].Indices.DType() == tensor.Int64
	}
	for k, d := range drafts {
		indices := all[k].Indices
		if wide {
			indices = ops.Cast(d.backward, indices, tensor.Int64)
		}
		d.out = append(d.out, all[k].Values, indices)
	}
	last := drafts[0].out[len(drafts[0].out)-2:]
	p.given = append(p.given, last[0].DType(), last[1].DType())
}

// newDraft traces f again, recording, and the rules after it. f's last arguments are
// the outer values.
func (t *Tape) newDraft(f *graph.Function, facts []graph.Fact, tracked []bool, outer []graph.Output) (*draft, error) {
	d := &draft{}
	if len(f.Args) != len(facts) {
		return nil, fmt.Errorf("the function %s has %d arguments, not %d", f.Name, len(f.Args), len(facts))
	}
	d.forward, d.forwardTrace = t.scope.NewFunction("__forward_" + f.Name)
	rules := t.rules.from(f.Graph.Library) // names of gradients in a loaded function are its library's
	rec, tape := Record(d.forward, &Options{Rules: rules, WatchNothing: true})
	tape.depth = t.depth + 1
	for i, a := range f.Args {
		fact := a.Out[0]
		if fact.Handle == nil {
			fact.Handle = facts[i].Handle
		}
		v, err := d.forwardTrace.Arg(a.Name, fact)
		if err != nil {
			return nil, err
		}
		d.args = append(d.args, v)
		if tracked[i] {
			tape.follow(v)
		}
	}
	tape.values = map[graph.Output]*ops.Value{}
	for k, o := range outer {
		tape.values[o] = d.args[len(d.args)-len(outer)+k]
	}
	var err error
	r := newReplayer(rec)
	r.kept, r.first = tape.values, rules.capturedIn(f)
	if d.results, err = r.replay(f, d.args); err != nil {
		return nil, err
	}
	d.library = libraryOf(f, tape.values)
	for _, result := range f.Results {
		if r.flows[result.Output] != noFlow {
			return nil, fmt.Errorf("the function %s returns the flow of an array that it makes, of which there is no gradient", f.Name)
		}
	}
	d.tape = tape
	return d, nil
}

// differentiate traces the rules of the ops that the draft's tape has recorded,
// for gradients of the results that flow.
func (d *draft) differentiate(name string, flowing []bool) error {
	tape := d.tape
	d.backward, d.backwardTrace = d.forward.NewBranch("__backward_" + name)
	slots := make([]int32, len(d.args))
	for i, x := range d.args {
		slots[i] = tape.slotOf(x)
	}
	d.dys = make([]*ops.Value, len(d.results))
	for i, y := range d.results {
		if !flowing[i] {
			continue
		}
		var err error
		if d.dys[i], err = d.backwardTrace.Arg(fmt.Sprintf("gradient_%d", i), y.Fact()); err != nil {
			return err
		}
	}
	resume := tape.Stop()
	defer resume()
	grads, ok := tape.propagate(d.backward, slots, func(b *Op) bool {
		for i, y := range d.results {
			if slot := tape.slotOf(y); slot >= 0 && d.dys[i] != nil {
				b.give(slot, d.dys[i])
			}
		}
		return d.backward.Err() == nil
	})
	if !ok {
		return d.backward.Err()
	}
	d.grads = grads
	return nil
}

// finish makes the functions of the drafts, all with the same arguments and
// results.
func (p *pair) finish(drafts []*draft) error {
	used := map[int]bool{}
	for _, d := range drafts {
		for _, v := range d.backwardTrace.Captured() {
			if i := indexOf(d.args, v); i >= 0 {
				used[i] = true
			} else {
				d.extras = append(d.extras, v)
			}
		}
	}
	for i := range drafts[0].args {
		if used[i] {
			p.uses = append(p.uses, i)
		}
	}
	for _, d := range drafts {
		p.extras += len(d.extras)
	}
	for _, d := range drafts {
		captured := d.backwardTrace.Captured()
		backward, err := d.finishBackward()
		if err != nil {
			return err
		}
		if err := d.arrange(p, backward, captured, drafts); err != nil {
			return err
		}
		forward, err := d.finishForward(drafts)
		if err != nil {
			return err
		}
		forward.Attrs = forward.Attrs.Set(graph.FunctionName("backward_function_name", backward))
		backward.Attrs = backward.Attrs.Set(graph.FunctionName("forward_function_name", forward))
		p.forward, p.backward = append(p.forward, forward), append(p.backward, backward)
	}
	for _, f := range p.forward[0].ResultFacts() {
		p.results = append(p.results, f.DType)
	}
	return nil
}

func (d *draft) finishBackward() (*graph.Function, error) {
	c, err := d.backwardTrace.Finish(d.out, nil)
	if err != nil {
		return nil, err
	}
	return c.Function, nil
}

// arrange puts the backward function's arguments in the order that all have:
// gradients, inputs, the extra outputs of all functions.
func (d *draft) arrange(p *pair, fn *graph.Function, captured []*ops.Value, drafts []*draft) error {
	byOutput := map[graph.Output]*graph.Node{}
	for k, a := range fn.Args[len(p.dys):] {
		byOutput[captured[k].Output()] = a
	}
	fn.Args = fn.Args[:len(p.dys)]
	put := func(v *ops.Value, own bool) error {
		if a := byOutput[v.Output()]; own && a != nil {
			fn.Args = append(fn.Args, a)
			return nil
		}
		f := v.Fact().WithoutValue()
		f.Shape = f.Shape.Anonymous()
		_, err := fn.AddArg(fn.Graph.UniqueName("unused"), f)
		return err
	}
	for _, i := range p.uses {
		if err := put(d.args[i], true); err != nil {
			return err
		}
	}
	for _, o := range drafts {
		for _, v := range o.extras {
			if err := put(v, o == d); err != nil {
				return err
			}
		}
	}
	return nil
}

// finishForward adds the extra outputs of all functions to the forward one:
// unused values replace those of the other functions.
func (d *draft) finishForward(drafts []*draft) (*graph.Function, error) {
	results := slices.Clone(d.results)
	for _, o := range drafts {
		for _, v := range o.extras {
			if o != d {
				f := v.Fact()
				if f.DType == tensor.Variant { // of which there are zeros and sums, in TensorFlow too
					results = append(results, d.forward.Emit1("OptionalNone", nil))
					continue
				}
				v = d.forward.Emit1("FakeParam", graph.Attrs{graph.Type("dtype", f.DType), graph.Shape("shape", f.Shape.Anonymous())})
			}
			results = append(results, v)
		}
	}
	c, err := d.forwardTrace.Finish(results, nil)
	if err != nil {
		return nil, err
	}
	if len(c.Captures) > 0 {
		return nil, errCaptures(c.Function)
	}
	c.Function.Graph.Library = d.library
	return c.Function, nil
}

func errCaptures(f *graph.Function) error {
	return fmt.Errorf("a gradient rule uses a variable that the function %s isn't given", f.Name)
}

func indexOf(vs []*ops.Value, v *ops.Value) int {
	return slices.IndexFunc(vs, func(x *ops.Value) bool { return x.Output() == v.Output() })
}

// valueType returns the type of the gradient with regard to v.
func valueType(v *ops.Value) tensor.DType {
	if isHandle(v) {
		if c := v.Fact().Handle; len(c) == 1 {
			return c[0].DType
		}
	}
	return v.DType()
}

// valueShape returns the shape of the gradient with regard to v.
func valueShape(s *ops.Scope, v *ops.Value) *ops.Value {
	if isHandle(v) {
		return s.Emit1("VariableShape", nil, v)
	}
	return sizesOf(s, v)
}

// zerosOf returns a gradient of zeros with regard to x.
func zerosOf(s *ops.Scope, x *ops.Value) *ops.Value {
	if isHandle(x) {
		return s.Emit1("Fill", nil, valueShape(s, x), ops.ConstOf(s, valueType(x), 0))
	}
	return ops.ZerosLike(s, x)
}
