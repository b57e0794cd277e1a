package raise

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// literal is a predicate that has to be true, or false.
type literal struct {
	pred graph.Output
	on   bool
}

// guards are the conditions under which a node runs, from the outermost
// conditional to the innermost.
type guards []literal

func (g guards) find(pred graph.Output) (on, ok bool) {
	for _, l := range g {
		if l.pred == pred {
			return l.on, true
		}
	}
	return false, false
}

// and returns the conditions of both; ok is false if they contradict each
// other.
func (g guards) and(o guards) (guards, bool) {
	switch n := min(len(g), len(o)); { // often the same conditionals
	case !slices.Equal(g[:n], o[:n]):
	case n == len(o):
		return g, true
	default:
		return o, true
	}
	out := g
	for _, l := range o {
		on, have := out.find(l.pred)
		if have && on != l.on {
			return out, false
		}
		if !have {
			out = append(out[:len(out):len(out)], l)
		}
	}
	return out, true
}

func (g guards) without(pred graph.Output) guards {
	return slices.DeleteFunc(slices.Clone(g), func(l literal) bool { return l.pred == pred })
}

func (g guards) equal(o guards) bool {
	if len(g) != len(o) {
		return false
	}
	for _, l := range g {
		if on, ok := o.find(l.pred); !ok || on != l.on {
			return false
		}
	}
	return true
}

// join is an end of a conditional: a Merge of its branches, or an effect. An effect
// is a node of one branch that runs even if no Merge needs it, because a
// ControlTrigger outside waits for it.
type join struct {
	merge *graph.Node  // nil for an effect
	pred  graph.Output // the predicate of the conditional
	rest  guards       // the conditions under which the conditional itself runs
	no    int          // the index of the Merge's input from the branch for a false pred

	effect   *graph.Node   // nil for a Merge
	on       bool          // whether the effect is in the branch for a true pred
	triggers []*graph.Node // those that wait for it
}

// node returns the Merge or the effect.
func (j *join) node() *graph.Node {
	if j.effect != nil {
		return j.effect
	}
	return j.merge
}

// conder raises the conditionals of a graph without loops.
type conder struct {
	*raiser
	order  []*graph.Node
	place  map[*graph.Node]int // in order
	guards map[*graph.Node]guards
	deep   *graph.Node // in more than maxNesting conditionals; nil if there is none
}

// maxNesting is the number of conditionals that may contain each other, because each node
// has a list of those that it is in. If a node is in more, no conditional is raised.
const maxNesting = 200

// conds raises all conditionals. A Merge is a result of an If if one of its
// inputs exists when a predicate is true and the other when it is false. All
// Merges of one predicate that don't need each other are results of one If.
func (r *raiser) conds() {
	c := r.newConder()
	var joins []*join
	for _, n := range c.order {
		if j := c.visit(n); j != nil {
			joins = append(joins, j)
		}
	}
	if c.deep != nil {
		for _, j := range joins {
			c.problem(j.merge, "the conditional can't be made an If: node %q is in over %d conditionals", c.deep.Name, maxNesting)
		}
		c.problem(c.deep, "it is in over %d conditionals", maxNesting)
		return
	}
	joins = append(joins, c.effects()...)
	// Those inside of others end before them.
	slices.SortStableFunc(joins, func(a, b *join) int {
		return cmp.Or(len(b.rest)-len(a.rest), c.place[a.node()]-c.place[b.node()])
	})
	for len(joins) > 0 {
		var group, rest []*join
		first := joins[0]
		for _, j := range joins {
			if j.pred == first.pred && j.rest.equal(first.rest) && !c.needs(j.node(), group) {
				group = append(group, j)
			} else {
				rest = append(rest, j)
			}
		}
		outer, err := c.raise(group, rest)
		if err != nil {
			for _, j := range group {
				r.problem(j.node(), "the conditional can't be made an If: %w", err)
			}
		}
		joins = rest
		if outer != nil {
			at, _ := slices.BinarySearchFunc(joins, outer, func(a, b *join) int { return len(b.rest) - len(a.rest) })
			joins = slices.Insert(joins, at, outer)
		}
	}
}

func (r *raiser) newConder() *conder {
	c := &conder{raiser: r, order: r.order(), place: map[*graph.Node]int{}, guards: map[*graph.Node]guards{}}
	for i, n := range c.order {
		c.place[n] = i
	}
	return c
}

// effects returns the nodes in branches that ControlTriggers outside wait for.
func (c *conder) effects() (list []*join) {
	byNode := map[*graph.Node]*join{}
	for _, n := range c.order {
		if n.Op != trigger || c.moved[n] {
			continue
		}
		for _, ctl := range n.Control {
			ctl = c.node(ctl)
			if len(c.guards[ctl]) == 0 {
				continue
			}
			if byNode[ctl] == nil {
				byNode[ctl] = c.effect(ctl)
				list = append(list, byNode[ctl])
			}
			byNode[ctl].triggers = append(byNode[ctl].triggers, n)
		}
	}
	return list
}

// effect returns how a node of a branch ends the innermost conditional that it is in.
func (c *conder) effect(n *graph.Node) *join {
	all := c.guards[n]
	inner := all[len(all)-1]
	for _, l := range slices.Backward(all) {
		// No other predicate is computed in a branch of the innermost one.
		if !slices.ContainsFunc(all, func(o literal) bool {
			_, ok := c.output(o.pred).find(l.pred)
			return ok
		}) {
			inner = l
			break
		}
	}
	return &join{pred: inner.pred, rest: all.without(inner.pred), effect: n, on: inner.on}
}

// pred returns the predicate of a Switch, followed through Identity nodes that
// name it and Enter nodes that pass it into loops.
func (c *conder) pred(n *graph.Node) graph.Output {
	o, _ := c.predicate(n)
	return o
}

// predicate returns the predicate of a Switch, and the nodes that those
// Identity and Enter nodes wait for. In a loop, an Identity of an unchanging
// value waits for each round.
func (c *conder) predicate(n *graph.Node) (o graph.Output, waits []*graph.Node) {
	o = n.In[1]
	for range maxNames {
		if o.Node.Op != "Identity" && !unchanging(o.Node) || len(o.Node.In) != 1 {
			break
		}
		waits = append(waits, o.Node.Control...)
		o = o.Node.In[0]
	}
	return o, waits
}

// unchanging reports whether a node lets a value into a loop that is the same in
// every round.
func unchanging(n *graph.Node) bool {
	return kindOf(n.Op) == "Enter" && n.Attrs.Bool("is_constant")
}

// maxNames bounds the Identity and Enter nodes between a predicate and a
// Switch.
const maxNames = 100

// visit stores the conditions under which n runs. For a Merge that ends a
// conditional it returns the join.
func (c *conder) visit(n *graph.Node) *join {
	if kindOf(n.Op) == "Merge" && len(n.In) == 2 {
		return c.join(n)
	}
	if n.Op == trigger {
		return nil
	}
	if kindOf(n.Op) == "Merge" {
		return nil // it needs no branch: any of its inputs is enough
	}
	// A node with inputs from both branches of a conditional never runs. Of its
	// guards that contradict each other the first one stays.
	var all guards
	for _, in := range n.In {
		all, _ = all.and(c.output(in))
	}
	for _, ctl := range n.Control {
		all, _ = all.and(c.guards[ctl])
	}
	if len(all) > maxNesting {
		c.deep, all = n, nil
	}
	c.guards[n] = all
	return nil
}

// output returns the conditions under which an output exists.
func (c *conder) output(o graph.Output) guards {
	g := c.guards[o.Node]
	if kindOf(o.Node.Op) == "Switch" && len(o.Node.In) == 2 {
		g, _ = g.and(guards{{c.pred(o.Node), o.Index == 1}})
	}
	return g
}

func (c *conder) join(n *graph.Node) *join {
	a, b := c.output(n.In[0]), c.output(n.In[1])
	for i := len(a) - 1; i >= 0; i-- {
		l := a[i]
		on, ok := b.find(l.pred)
		if !ok || on == l.on {
			continue
		}
		rest := a.without(l.pred)
		if !rest.equal(b.without(l.pred)) {
			continue
		}
		all := rest
		for _, ctl := range n.Control {
			all, _ = all.and(c.guards[ctl])
		}
		c.guards[n] = all
		j := &join{merge: n, pred: l.pred, rest: rest}
		if l.on {
			j.no = 1
		}
		return j
	}
	if kindOf(n.In[1].Node.Op) != "NextIteration" && kindOf(n.In[0].Node.Op) != "NextIteration" {
		c.problem(n, "its inputs aren't those of the two branches of one conditional")
	}
	return nil
}

// needs reports whether n needs any of a group's Merges.
func (c *conder) needs(n *graph.Node, group []*join) bool {
	if len(group) == 0 {
		return false
	}
	least := len(c.order)
	in := map[*graph.Node]bool{}
	for _, j := range group {
		// Nodes of the branch that contains an effect may need it. Their values
		// end the same conditional.
		ends := j.triggers
		if j.merge != nil {
			ends = []*graph.Node{j.merge}
		}
		for _, e := range ends {
			in[e] = true
			least = min(least, c.place[e])
		}
	}
	seen := map[*graph.Node]bool{}
	stack := []*graph.Node{n}
	for len(stack) > 0 {
		m := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[m] {
			continue
		}
		seen[m] = true
		if in[m] {
			return true
		}
		visit := func(x *graph.Node) {
			if at, ok := c.place[x]; ok && at >= least {
				stack = append(stack, x)
			}
		}
		for _, i := range m.In {
			visit(i.Node)
		}
		for _, ctl := range m.Control {
			visit(ctl)
		}
	}
	return false
}

// branch lets values into the function of one branch.
type branch struct {
	c    *conder
	lift *lift
	pred graph.Output
	on   bool
}

// isGate reports whether a node is a Switch of the conditional. The branch then
// also waits for the nodes that its predicate's names wait for.
func (b *branch) isGate(n *graph.Node) bool {
	if kindOf(n.Op) != "Switch" || len(n.In) != 2 {
		return false
	}
	pred, waits := b.c.predicate(n)
	if pred != b.pred {
		return false
	}
	for _, w := range waits {
		if w = b.c.node(w); !copied(w) {
			b.lift.wait(w)
		}
	}
	return true
}

func (b *branch) enters(o graph.Output) (graph.Output, int, bool) {
	if b.isGate(o.Node) && (o.Index == 1) == b.on {
		return o.Node.In[0], 0, true
	}
	return graph.Output{}, 0, false
}

// once finds the nodes of a branch that later joins need too and that mustn't run again
// for them, since they draw numbers or change state: those whose values are needed, by
// output, and those that are waited for.
func (c *conder) once(b *body, group, later []*join) (values []graph.Output, waited []*graph.Node) {
	var all graph.Effect
	for _, n := range b.nodes {
		if !copied(n) {
			all |= n.Effect()
		}
	}
	which := graph.Random | graph.Writes | graph.Checks
	if all&which == 0 || len(later) == 0 {
		return nil, nil
	}
	if all&graph.Writes != 0 {
		which |= graph.Reads // a second read may see a write
	}
	runs := map[*graph.Node]bool{}
	for _, n := range b.nodes {
		runs[n] = !copied(n) && n.Effect()&which != 0
	}
	seen := map[*graph.Node]bool{}
	for _, j := range group {
		seen[j.node()] = true // from here on the conditional replaces it
	}
	var todo []*graph.Node
	for _, j := range later {
		todo = append(todo, j.node())
	}
	again := map[*graph.Node]bool{} // nodes that run again all the same: handles and references can't be results
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		for _, in := range n.In {
			in = c.current(in)
			if runs[in.Node] && !slices.Contains(values, in) {
				if d := in.Fact().DType; (d.Fixed() || d == tensor.String) && !(in.Fact().Ref && changes(n)) {
					values = append(values, in)
				} else {
					again[in.Node] = true
				}
			}
			todo = append(todo, in.Node)
		}
		for _, ctl := range n.Control {
			if ctl = c.node(ctl); runs[ctl] && !slices.Contains(waited, ctl) {
				waited = append(waited, ctl)
			}
			todo = append(todo, ctl)
		}
	}
	values = slices.DeleteFunc(values, func(o graph.Output) bool { return again[o.Node] })
	for _, o := range values {
		waited = append(waited, o.Node)
	}
	slices.SortFunc(values, func(a, b graph.Output) int { return cmp.Or(a.Node.Index()-b.Node.Index(), a.Index-b.Index) })
	return values, slices.DeleteFunc(waited, func(n *graph.Node) bool { return again[n] })
}

// changes reports whether a node takes a reference to change the variable.
func changes(n *graph.Node) bool {
	return n.Def != nil && slices.ContainsFunc(n.Def.Inputs, func(a graph.ArgDef) bool { return a.Ref })
}

// nothing returns a value for a result that the taken branch doesn't have. The
// value is never used.
func (c *conder) nothing(name string, d tensor.DType) (graph.Output, error) {
	t, err := tensor.Zeros(d)
	if err != nil {
		return graph.Output{}, err
	}
	n := &graph.Node{
		Name: c.g.UniqueName(name + "/nothing"), Op: "Const", Def: graph.LookupOp("Const"),
		Attrs: graph.Attrs{graph.Type("dtype", d), graph.Tensor("value", t)}, Out: []graph.Fact{graph.FactOf(t)},
	}
	return n.Output(0), c.g.Add(n)
}

// valueOf returns the value of a reference's variable; other outputs are
// unchanged.
func (c *conder) valueOf(o graph.Output) (graph.Output, error) {
	if !o.Fact().Ref {
		return o, nil
	}
	d := o.Fact().DType
	n := &graph.Node{
		Name: c.g.UniqueName(o.Node.Name + "/value"), Op: "Identity", Def: graph.LookupOp("Identity"), In: []graph.Output{o},
		Attrs: graph.Attrs{graph.Type("T", d)}, Out: []graph.Fact{{DType: d}},
	}
	c.guards[n] = c.guards[o.Node]
	return n.Output(0), c.g.Add(n)
}

// raise makes an If of a conditional's Merges and effects; later are the joins
// that come after them. If it has effects and is itself in a branch, it returns
// the If as an effect of that branch.
func (c *conder) raise(group, later []*join) (outer *join, err error) {
	pred := group[0].pred
	inside := func(on bool) func(*graph.Node) bool {
		return func(n *graph.Node) bool {
			is, ok := c.guards[n].find(pred)
			return ok && is == on
		}
	}
	l := c.newLift(nil)
	var bodies [2]*body
	var results [2][]graph.Output
	var effects [2][]*graph.Node
	for k, on := range []bool{false, true} {
		for _, j := range group {
			switch {
			case j.effect == nil:
				at := j.no
				if on {
					at = 1 - j.no
				}
				results[k] = append(results[k], j.merge.In[at])
			case j.on == on:
				effects[k] = append(effects[k], j.effect)
			}
		}
		l.inside = inside(on)
		if bodies[k], err = l.collect(&branch{c, l, pred, on}, results[k], effects[k]...); err != nil {
			return nil, err
		}
	}
	name := group[0].node().Name
	var shared []graph.Output // results besides the Merges'
	var waited []*graph.Node
	for k := range bodies {
		values, waits := c.once(bodies[k], group, later)
		waited = append(waited, waits...)
		for _, o := range values {
			none, err := c.nothing(name, o.Fact().DType)
			if err != nil {
				return nil, err
			}
			value, err := c.valueOf(o)
			if err != nil {
				return nil, err
			}
			shared = append(shared, o)
			results[k], results[1-k] = append(results[k], value), append(results[1-k], none)
		}
	}
	if len(shared) > 0 {
		for k, on := range []bool{false, true} {
			l.inside = inside(on)
			if bodies[k], err = l.collect(&branch{c, l, pred, on}, results[k], effects[k]...); err != nil {
				return nil, err
			}
		}
	}
	var fns [2]*graph.Function
	for k, on := range []bool{false, true} {
		l.inside = inside(on)
		if fns[k], err = l.function(c.prefix+name+[]string{"_else", "_then"}[k], bodies[k], -1); err != nil {
			return nil, err
		}
	}
	var out []graph.Fact
	for _, j := range group {
		if j.merge == nil {
			continue
		}
		for _, ctl := range j.merge.Control {
			l.wait(c.node(ctl))
		}
		out = append(out, graph.Fact{DType: j.merge.Output(0).Fact().DType})
	}
	merges := len(out)
	for _, o := range shared {
		out = append(out, graph.Fact{DType: o.Fact().DType})
	}
	in := append([]graph.Output{c.current(pred)}, l.inputs...)
	n, err := l.add("If", name+"/If", in, out, graph.Attrs{
		graph.Type("Tcond", tensor.Bool), graph.Types("Tin", graph.ArgTypes(l.types())...), graph.Types("Tout", graph.ArgTypes(out)...),
		graph.Func("then_branch", fns[1]), graph.Func("else_branch", fns[0]), graph.Shapes("output_shapes"),
	})
	if err != nil {
		return nil, err
	}
	rest := group[0].rest
	c.guards[n] = rest
	for i, o := range shared {
		c.out[o] = n.Output(merges + i)
	}
	for _, w := range waited {
		c.nodes[w] = n
	}
	var triggers []*graph.Node
	ends := group[:0]
	for _, j := range group {
		if j.merge != nil {
			ends = append(ends, j)
			continue
		}
		c.nodes[j.effect] = n
		triggers = append(triggers, j.triggers...)
	}
	if len(triggers) > 0 && len(rest) > 0 {
		outer = c.effect(n)
		outer.triggers = triggers
		c.place[n] = c.place[triggers[0]]
	}
	return outer, c.replace(ends, n)
}

// replace replaces the Merges by the If.
func (c *conder) replace(group []*join, n *graph.Node) error {
	for i, j := range group {
		c.out[j.merge.Output(0)] = n.Output(i)
		c.nodes[j.merge] = n
		// The number of the input that was taken: 1 for the second.
		index := &graph.Node{
			Name: c.g.UniqueName(j.merge.Name + "/value_index"), Op: "Cast", Def: graph.LookupOp("Cast"), In: []graph.Output{c.current(j.pred)},
			Attrs: graph.Attrs{graph.Type("SrcT", tensor.Bool), graph.Type("DstT", tensor.Int32)}, Out: []graph.Fact{{DType: tensor.Int32}},
		}
		if j.no == 1 {
			not := &graph.Node{
				Name: c.g.UniqueName(j.merge.Name + "/not"), Op: "LogicalNot", Def: graph.LookupOp("LogicalNot"),
				In: index.In, Out: []graph.Fact{{DType: tensor.Bool}},
			}
			if err := c.g.Add(not); err != nil {
				return fmt.Errorf("%w", err)
			}
			c.guards[not] = j.rest
			index.In = []graph.Output{not.Output(0)}
		}
		if err := c.g.Add(index); err != nil {
			return err
		}
		c.guards[index] = j.rest
		c.out[j.merge.Output(1)] = index.Output(0)
		// Signatures name the values by the Merge: it becomes a node with the same outputs.
		d := n.Output(i).Fact().DType
		become(j.merge, "IdentityN", graph.Attrs{graph.Types("T", d, tensor.Int32)}, n.Output(i), index.Output(0))
	}
	return nil
}
