package grad

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// loop is the data for differentiating a While. The forward loop counts its
// rounds and stores the values that the backward body needs of each in lists.
// The backward loop takes them out again, last round first.
type loop struct {
	cond, body         *graph.Function // of the forward loop
	lists              []tensor.DType  // the element types of the lists
	backCond, backBody *graph.Function
	vars               []int          // the loop variables that have gradients
	handles            []int          // the variables whose gradients add up over the rounds
	sliced             []bool         // by handles: the rounds' slices are kept in lists and joined at the end
	sums               []tensor.DType // of values that add up: one for each handle, two for a sliced one
	invariants         []int          // needed values that stay the same in all rounds
}

// newLoop differentiates a loop.
func (t *Tape) newLoop(cond, body *graph.Function, facts []graph.Fact, tracked []bool, outer []graph.Output) (*loop, error) {
	var err error
	more := facts[len(facts)-len(outer):]
	if cond, err = widen(cond, more, false); err != nil {
		return nil, err
	}
	if body, err = widen(body, more, true); err != nil {
		return nil, err
	}
	follow := make([]bool, len(facts))
	reached := reachedFrom(body, tracked)
	for i, f := range facts {
		if i < len(body.Args) && f.Handle == nil {
			f.Handle = body.Args[i].Out[0].Handle
		}
		follow[i] = reached[i] && flows(f) && !holdsOthers(body, i) || f.DType == tensor.Resource && tracked[i]
	}
	d, err := t.newDraft(body, facts, follow, outer)
	if err != nil {
		return nil, err
	}
	flowing := make([]bool, len(d.results))
	for i, y := range d.results {
		flowing[i] = carries(y) && (i >= len(follow) || follow[i] || isHandle(d.args[i]))
	}
	if err := d.differentiate(body.Name, flowing); err != nil {
		return nil, err
	}
	if len(d.results) != len(d.args) {
		return nil, fmt.Errorf("the body %s has %d arguments and %d results", body.Name, len(d.args), len(d.results))
	}
	l := &loop{}
	var grads []*ops.Value
	for i, x := range d.args {
		if !follow[i] || isHandle(x) {
			continue
		}
		if d.grads[i] == nil {
			d.grads[i] = zerosOf(d.backward, x)
		}
		l.vars, grads = append(l.vars, i), append(grads, ops.Const(d.backward, d.grads[i]))
	}
	for i, x := range d.args {
		if !isHandle(x) || d.grads[i] == nil {
			continue
		}
		parts := []*ops.Value{d.grads[i]}
		slices, sliced := d.grads[i].IndexedSlices()
		if sliced {
			parts = []*ops.Value{slices.Values, slices.Indices}
		}
		l.handles, l.sliced, grads = append(l.handles, i), append(l.sliced, sliced), append(grads, parts...)
		for _, v := range parts {
			l.sums = append(l.sums, v.DType())
		}
	}
	captured := d.backwardTrace.Captured()
	sources := make([]origin, len(captured))
	for k, v := range captured {
		if i := indexOf(d.args, v); i >= 0 && unchanged(body, i) {
			sources[k] = origin{true, len(l.invariants)}
			l.invariants = append(l.invariants, i)
			continue
		}
		if isHandle(v) {
			return nil, fmt.Errorf("the handle %s changes from round to round of the body %s", v.Output().Node.Name, body.Name)
		}
		sources[k] = origin{false, len(d.extras)}
		d.extras = append(d.extras, v)
		l.lists = append(l.lists, v.DType())
	}
	round, err := d.backwardTrace.Finish(grads, nil)
	if err != nil {
		return nil, err
	}
	if err := t.backwardLoop(l, d, round.Function, sources); err != nil {
		return nil, err
	}
	return l, l.forwardLoop(d, cond)
}

// reachedFrom returns the variables of a loop that are tracked, and those that depend on
// such ones after some rounds.
func reachedFrom(body *graph.Function, tracked []bool) []bool {
	reached, nodes := slices.Clone(tracked), map[*graph.Node]bool{}
	for more := true; more; {
		more = false
		for i, a := range body.Args {
			if i < len(reached) && reached[i] {
				nodes[a] = true
			}
		}
		for _, n := range body.Graph.Nodes() {
			if !nodes[n] && slices.ContainsFunc(n.In, func(o graph.Output) bool { return nodes[o.Node] }) {
				nodes[n], more = true, true
			}
		}
		for i, r := range body.Results {
			if i < len(reached) && !reached[i] && nodes[r.Output.Node] {
				reached[i], more = true, true
			}
		}
	}
	return reached
}

// origin is the place at which a round of the backward loop finds a value:
// among the invariants, or in a list.
type origin struct {
	invariant bool
	at        int // the place there
}

// maxHolders is the number of functions in which the uses of a list are searched.
const maxHolders = 1024

// holdsOthers reports whether f takes elements without a gradient from the list that
// is its argument i, or from lists in it. For a list in a list nothing else
// determines the elements' type. It is true if the list goes through more than
// maxHolders functions.
func holdsOthers(f *graph.Function, i int) bool {
	type place struct {
		f    *graph.Function
		list graph.Output
	}
	seen := map[place]bool{}
	var todo []place
	visit := func(f *graph.Function, o graph.Output) {
		if p := (place{f, o}); o.Fact().DType == tensor.Variant && !seen[p] {
			seen[p] = true
			todo = append(todo, p)
		}
	}
	enter := func(f *graph.Function, i int) {
		if i < len(f.Args) {
			visit(f, f.Args[i].Output(0))
		}
	}
	users := map[*graph.Function]map[graph.Output][]*graph.Node{}
	for enter(f, i); len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if users[p.f] == nil {
			if len(users) == maxHolders { // calls with attributes may have a new function each
				return true
			}
			users[p.f] = usersIn(p.f)
		}
		for _, n := range users[p.f][p.list] {
			d := n.Attrs.Type("element_dtype", tensor.Invalid)
			switch {
			case d != tensor.Invalid && d != tensor.Variant:
				if !differentiable(d) {
					return true
				}
			case d == tensor.Variant || n.Op == "Identity":
				for k := range n.Out {
					visit(p.f, n.Output(k))
				}
			default:
				fs, first, err := callees(n.Op, n.Attrs)
				if at := slices.Index(n.In, p.list); err == nil && at >= first {
					for _, f := range fs {
						enter(f, at-first)
					}
				}
			}
		}
	}
	return false
}

// usersIn returns the nodes of a function that take each list.
func usersIn(f *graph.Function) map[graph.Output][]*graph.Node {
	users := map[graph.Output][]*graph.Node{}
	for _, n := range f.Graph.Nodes() {
		for _, o := range n.In {
			if o.Fact().DType == tensor.Variant {
				users[o] = append(users[o], n)
			}
		}
	}
	return users
}

// unchanged reports whether the body returns its argument i as it is.
func unchanged(body *graph.Function, i int) bool {
	o := body.Results[i].Output
	for o.Node.Op == "Identity" && len(o.Node.In) == 1 {
		o = o.Node.In[0]
	}
	return o.Node == body.Args[i]
}

// listFact returns the fact about a list of elements of type d.
func listFact(d tensor.DType) graph.Fact {
	return graph.Fact{DType: tensor.Variant, Shape: graph.ShapeOf(), Handle: []graph.Content{{DType: d}}}
}

var counterFact = graph.Fact{DType: tensor.Int32, Shape: graph.ShapeOf()}

func elementType(d tensor.DType) graph.Attrs { return graph.Attrs{graph.Type("element_dtype", d)} }

// forwardLoop makes the forward loop's functions.
func (l *loop) forwardLoop(d *draft, cond *graph.Function) error {
	s := d.forward
	counter, err := d.forwardTrace.Arg("round", counterFact)
	if err != nil {
		return err
	}
	results := append(d.results[:len(d.results):len(d.results)], ops.Add(s, counter, 1))
	for _, v := range d.extras {
		list, err := d.forwardTrace.Arg("values", listFact(v.DType()))
		if err != nil {
			return err
		}
		results = append(results, s.Emit1("TensorListPushBack", elementType(v.DType()), list, v))
	}
	c, err := d.forwardTrace.Finish(results, nil)
	if err != nil {
		return err
	}
	if len(c.Captures) > 0 {
		return errCaptures(c.Function)
	}
	c.Function.Graph.Library = d.library
	l.body = c.Function
	if l.cond, err = cond.Clone(); err != nil {
		return err
	}
	if _, err = l.cond.AddArg(l.cond.Graph.UniqueName("round"), counterFact); err != nil {
		return err
	}
	for _, d := range l.lists {
		if _, err = l.cond.AddArg(l.cond.Graph.UniqueName("values"), listFact(d)); err != nil {
			return err
		}
	}
	return nil
}

// backwardLoop makes the backward loop's functions, of which round is the
// gradient of one round.
func (t *Tape) backwardLoop(l *loop, d *draft, round *graph.Function, sources []origin) error {
	facts := l.backwardFacts(d)
	s, trace := t.scope.NewFunction(round.Name + "_cond")
	args, err := arguments(trace, facts)
	if err != nil {
		return err
	}
	c, err := trace.Finish([]*ops.Value{ops.Less(s, args[0], args[2])}, nil)
	if err != nil {
		return err
	}
	l.backCond = c.Function

	s, trace = t.scope.NewFunction(round.Name + "_body")
	if args, err = arguments(trace, facts); err != nil {
		return err
	}
	if c, err = trace.Finish(l.backwardRound(s, d, round, sources, args), nil); err != nil {
		return err
	}
	l.backBody = c.Function
	return nil
}

// counters is the number of variables of the backward loop before the gradients: a count
// of the rounds and the limit for them, which TensorFlow's gradient of a loop expects
// first, and the number of rounds of the forward loop.
const counters = 3

// backwardFacts returns the facts about the backward loop's variables: the counters,
// the gradients, the sums for the handles, the lists and the invariants.
func (l *loop) backwardFacts(d *draft) []graph.Fact {
	facts := slices.Repeat([]graph.Fact{counterFact}, counters)
	for _, i := range l.vars {
		facts = append(facts, graph.Fact{DType: d.args[i].DType(), Handle: d.args[i].Fact().Handle})
	}
	kept := l.keptInLists()
	for k, d := range l.sums {
		if kept[k] {
			facts = append(facts, listFact(d))
		} else {
			facts = append(facts, graph.Fact{DType: d})
		}
	}
	for _, d := range l.lists {
		facts = append(facts, listFact(d))
	}
	for _, i := range l.invariants {
		f := d.args[i].Fact()
		f.Shape = f.Shape.Anonymous()
		facts = append(facts, f)
	}
	return facts
}

// arguments adds arguments with these facts to a function.
func arguments(trace *ops.Trace, facts []graph.Fact) ([]*ops.Value, error) {
	args := make([]*ops.Value, len(facts))
	for i, f := range facts {
		var err error
		if args[i], err = trace.Arg("", f); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// backwardRound returns the values that the next round of the backward loop takes as args: it
// takes the inputs of round out of the lists, calls it, and adds its results to the sums.
func (l *loop) backwardRound(s *ops.Scope, d *draft, round *graph.Function, sources []origin, args []*ops.Value) []*ops.Value {
	next := []*ops.Value{ops.Add(s, args[0], 1), args[1], args[2]}
	rest := args[counters:]
	take := func(n int) []*ops.Value {
		part := rest[:n]
		rest = rest[n:]
		return part
	}
	dys, sums, lists, invariants := take(len(l.vars)), take(len(l.sums)), take(len(l.lists)), rest
	values, popped := make([]ops.Input, len(l.lists)), make([]*ops.Value, len(l.lists))
	for i, list := range lists {
		out := s.EmitN(2, "TensorListPopBack", elementType(l.lists[i]), list, elementShape(d.extras[i]))
		popped[i], values[i] = out[0], out[1]
	}
	in := inputs(dys)
	for _, src := range sources {
		if src.invariant {
			in = append(in, invariants[src.at])
		} else {
			in = append(in, values[src.at])
		}
	}
	name := "PartitionedCall"
	if round.Stateful() {
		name = "StatefulPartitionedCall"
	}
	var types []tensor.DType
	for _, dy := range dys {
		types = append(types, dy.DType())
	}
	types = append(types, l.sums...)
	outs := s.EmitN(len(types), name, graph.Attrs{graph.Func("f", round), graph.Types("Tout", types...)}, in...)
	next = append(next, outs[:len(dys)]...)
	kept := l.keptInLists()
	for i, sum := range sums {
		x := outs[len(dys)+i]
		if kept[i] {
			next = append(next, s.Emit1("TensorListPushBack", elementType(x.DType()), sum, x))
		} else {
			next = append(next, ops.Add(s, sum, x))
		}
	}
	return append(append(next, popped...), invariants...)
}

// elementShape returns the known part of v's shape, as ops on lists take it.
func elementShape(v *ops.Value) ops.Input { return sizesAsOpsTake(v.Fact().Shape) }

// sizesAsOpsTake returns a shape as ops on lists take it: -1 for unknown sizes.
func sizesAsOpsTake(shape graph.PartialShape) ops.Input {
	shape = shape.Anonymous()
	if !shape.HasRank() {
		return anyShape
	}
	dims := make([]int32, shape.Rank())
	for i, d := range shape.Dims() {
		dims[i] = int32(d)
	}
	return tensor.Vector(dims...)
}

// rewrite implements derivative.
func (l *loop) rewrite(s *ops.Scope, _ string, attrs graph.Attrs, in []*ops.Value) (graph.Attrs, []*ops.Value) {
	more := []*ops.Value{ops.Const(s, int32(0))}
	for _, d := range l.lists {
		more = append(more, emptyList(s, d))
	}
	return loopAttrs(attrs, l.cond, l.body, append(in[:len(in):len(in)], more...)), more
}

// loopAttrs returns the attributes of a loop with other functions.
func loopAttrs(attrs graph.Attrs, cond, body *graph.Function, in []*ops.Value) graph.Attrs {
	types := make([]tensor.DType, len(in))
	for i, v := range in {
		types[i] = v.DType()
	}
	// Without output_shapes TensorFlow takes the inputs' shapes for the outputs'.
	shapes := make([]graph.PartialShape, len(body.Args))
	for i, a := range body.Args {
		shapes[i] = a.Out[0].Shape.Anonymous()
	}
	attrs = attrs.Set(graph.Types("T", types...)).Set(graph.Shapes("output_shapes", shapes...))
	return attrs.Set(graph.Func("cond", cond)).Set(graph.Func("body", body))
}

// apply implements derivative.
func (l *loop) apply(s *ops.Scope, op *Op) {
	n := op.NumOut() - 1 - len(l.lists)
	in := []*ops.Value{ops.Const(s, int32(0)), ops.Const(s, int32(-1)), op.Out(n)}
	front := len(in)
	for _, i := range l.vars {
		in = append(in, op.GradOrZero(i))
	}
	kept := l.keptInLists()
	for k, i := range l.handlesOfSums() {
		if kept[k] {
			in = append(in, emptyList(s, l.sums[k]))
		} else {
			in = append(in, zerosOf(s, op.In(i)))
		}
	}
	for i := n + 1; i < op.NumOut(); i++ {
		in = append(in, op.Out(i))
	}
	for _, i := range l.invariants {
		in = append(in, op.In(i))
	}
	name := "StatelessWhile"
	if l.backBody.Stateful() {
		name = "While"
	}
	out := s.EmitN(len(in), name, loopAttrs(nil, l.backCond, l.backBody, in), inputs(in)...)
	for k, i := range l.vars {
		op.Give(i, out[front+k])
	}
	at := front + len(l.vars)
	for k, i := range l.handles {
		if !l.sliced[k] {
			op.Give(i, out[at])
			at++
			continue
		}
		op.Give(i, joinRounds(s, op.In(i), out[at], out[at+1], l.sums[at+1-front-len(l.vars)]))
		at += 2
	}
}
