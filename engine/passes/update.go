package passes

import (
	"slices"

	"github.com/cairnml/cairn/graph"
)

// UpdateOp is the op that the pass "variable updates" makes of elementwise ops
// whose results are assigned to variables, as in an optimizer's step;
// [Fusion.Ops] lists the ops that it may contain. Its attributes ops and
// operands are a program as that of [ElementwiseOp]. After the inputs, operands
// count the values of the variables before the step. stores has for each op the
// index of the variable that receives its result, or -1.
const UpdateOp = "_UpdateVariables"

// fuseUpdates replaces the assignments to variables of one shape, and the
// elementwise ops that compute the assigned values, by one op. It reads and
// writes each variable once, tile by tile. All bits stay.
func fuseUpdates(u *Unit) error {
	k := u.Kernels.Fusion(UpdateOp)
	if k == nil || !slices.ContainsFunc(u.Function.Graph.Nodes(), func(n *graph.Node) bool { return assigning[n.Op] != "" }) {
		return nil
	}
	r, err := newRewriter(u)
	if err != nil {
		return err
	}
	taken := map[*graph.Node]bool{}
	instead := map[*graph.Node]*graph.Node{}
	for _, n := range slices.Backward(r.nodes) {
		if taken[n] || !r.updates(k, n) {
			continue
		}
		g := r.updateGroup(k, n, taken)
		if len(g.nodes) < 2 || !r.convex(g) {
			continue
		}
		if err := r.fuseUpdate(g); err != nil {
			return err
		}
		for _, m := range g.nodes {
			taken[m] = true
			instead[m] = n
		}
	}
	if len(instead) == 0 {
		return nil
	}
	for _, n := range r.Function.Graph.Nodes() {
		n.Control = following(n, n.Control, instead)
	}
	waits := r.Function.Control[:0]
	for _, c := range r.Function.Control {
		if m := instead[c.Node]; m != nil {
			c.Node = m
		}
		if !slices.ContainsFunc(waits, func(d graph.ControlResult) bool { return d.Node == c.Node }) {
			waits = append(waits, c)
		}
	}
	r.Function.Control = waits
	return r.finish()
}

// assigning maps each op that changes a variable by a value to the op that
// computes the new value of the variable.
var assigning = map[string]string{"AssignAddVariableOp": "AddV2", "AssignSubVariableOp": "Sub"}

// following returns the nodes that n waits for, each replaced by the fused node
// that contains it.
func following(n *graph.Node, control []*graph.Node, instead map[*graph.Node]*graph.Node) []*graph.Node {
	if !slices.ContainsFunc(control, func(c *graph.Node) bool { return instead[c] != nil }) {
		return control
	}
	var out []*graph.Node
	for _, c := range control {
		if m := instead[c]; m != nil {
			c = m
		}
		if c != n && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// updates reports whether n changes a variable of the element type and shape of the
// value by which it does.
func (r *rewriter) updates(k *Fusion, n *graph.Node) bool {
	if assigning[n.Op] == "" || !slices.Contains(k.Ops, assigning[n.Op]) || len(n.In) != 2 {
		return false
	}
	held, x := n.In[0].Fact().Handle, n.In[1].Fact()
	return n.In[0].Node.IsArg() && len(held) == 1 && held[0].DType == x.DType && sameSizes(held[0].Shape, x.Shape) &&
		slices.Contains(k.Types, x.DType)
}

// updateGroup is a group of nodes that one op replaces.
type updateGroup struct {
	nodes  []*graph.Node // in order
	in     map[*graph.Node]bool
	writes map[graph.Output]*graph.Node // by handle
	reads  map[*graph.Node]*graph.Node  // the write whose result a read sees, or nil
}

// updateGroup returns the nodes that can be one with n, a change of a variable.
func (r *rewriter) updateGroup(k *Fusion, n *graph.Node, taken map[*graph.Node]bool) *updateGroup {
	g := &updateGroup{in: map[*graph.Node]bool{}, writes: map[graph.Output]*graph.Node{}, reads: map[*graph.Node]*graph.Node{}}
	shape := n.In[1].Fact().Shape
	add := func(m *graph.Node) {
		g.in[m] = true
		g.nodes = append(g.nodes, m)
	}
	fits := func(o graph.Output) bool {
		f := o.Fact()
		return f.DType == n.In[1].Fact().DType && sameSizes(f.Shape, shape) && !r.results[o] &&
			!slices.ContainsFunc(r.users[o], func(u *graph.Node) bool { return !g.in[u] })
	}
	add(n)
	g.writes[n.In[0]] = n
	for i := 0; i < len(g.nodes) && len(g.nodes) < maxChain; i++ {
		m := g.nodes[i]
		in := m.In
		if assigning[m.Op] != "" {
			in = m.In[1:]
		} else if m.Op == "ReadVariableOp" {
			// The write that the read waits for is included too.
			for _, w := range m.Control {
				if assigning[w.Op] != "" && w.In[0] == m.In[0] && !g.in[w] && !taken[w] && r.updates(k, w) && g.writes[w.In[0]] == nil && sameSizes(w.In[1].Fact().Shape, shape) {
					g.writes[w.In[0]] = w
					add(w)
				}
			}
			continue
		}
		for _, o := range in {
			switch x := o.Node; {
			case g.in[x] || taken[x] || !fits(o):
			case x.Op == "ReadVariableOp", r.chains(k, x):
				add(x)
			}
		}
	}
	r.settleReads(g)
	slices.SortFunc(g.nodes, func(a, b *graph.Node) int { return a.Index() - b.Index() })
	return g
}

// settleReads finds out which value each read sees. It removes a read from the
// group if no write in the group is ordered before or after it.
func (r *rewriter) settleReads(g *updateGroup) {
	g.nodes = slices.DeleteFunc(g.nodes, func(m *graph.Node) bool {
		if m.Op != "ReadVariableOp" {
			return false
		}
		switch w := g.writes[m.In[0]]; {
		case w != nil && slices.Contains(m.Control, w):
			g.reads[m] = w
		case w != nil && slices.Contains(w.Control, m):
			g.reads[m] = nil
		default:
			delete(g.in, m)
			return true
		}
		return false
	})
}

// convex reports whether nothing outside of the group comes between two of its
// nodes.
func (r *rewriter) convex(g *updateGroup) bool {
	behind := map[*graph.Node]bool{} // nodes outside that come after one of the group
	first, last := g.nodes[0].Index(), g.nodes[len(g.nodes)-1].Index()
	for _, n := range r.nodes {
		if n.Index() < first || n.Index() > last {
			continue
		}
		after, inside := false, g.in[n]
		look := func(m *graph.Node) bool {
			after = after || behind[m] || g.in[m]
			return !inside || !behind[m]
		}
		for _, o := range n.In {
			if !look(o.Node) {
				return false
			}
		}
		for _, c := range n.Control {
			if !look(c) {
				return false
			}
		}
		if after && !inside {
			behind[n] = true
		}
	}
	return true
}

// fuseUpdate makes the last node of a group one node that does the work of all.
func (r *rewriter) fuseUpdate(g *updateGroup) error {
	var data, handles []graph.Output
	place := map[graph.Output]int64{} // of data, and of results after them
	for _, n := range g.nodes {
		switch {
		case assigning[n.Op] != "":
			handles = append(handles, n.In[0])
		case n.Op == "ReadVariableOp":
			continue
		}
		for i, o := range n.In {
			if _, ok := place[o]; !ok && !g.in[o.Node] && (i > 0 || assigning[n.Op] == "") {
				place[o] = int64(len(data))
				data = append(data, o)
			}
		}
	}
	variable := func(h graph.Output) int64 { return int64(len(data) + slices.Index(handles, h)) }
	written := map[*graph.Node]int64{}
	var ops []string
	var operands, stores []int64
	var waits []*graph.Node
	for _, n := range g.nodes {
		for _, c := range n.Control {
			if !g.in[c] && !slices.Contains(waits, c) {
				waits = append(waits, c)
			}
		}
		result := int64(len(data) + len(handles) + len(ops))
		switch {
		case n.Op == "ReadVariableOp":
			place[n.Output(0)] = variable(n.In[0])
			if w := g.reads[n]; w != nil {
				place[n.Output(0)] = written[w]
			}
		case assigning[n.Op] != "":
			v := variable(n.In[0])
			ops, operands, stores = append(ops, assigning[n.Op]), append(operands, v, place[n.In[1]]), append(stores, v-int64(len(data)))
			written[n] = result
		default:
			b := int64(-1)
			if len(n.In) > 1 {
				b = place[n.In[1]]
			}
			ops, operands, stores = append(ops, n.Op), append(operands, place[n.In[0]], b), append(stores, -1)
			place[n.Output(0)] = result
		}
	}
	n := g.nodes[len(g.nodes)-1]
	n.In, n.Control = append(data, handles...), waits
	return r.fill(n, UpdateOp, graph.Attrs{
		graph.Type("T", handles[0].Fact().Handle[0].DType), graph.Int("N", int64(len(data))), graph.Int("M", int64(len(handles))),
		graph.Strings("ops", ops...), graph.Ints("operands", operands...), graph.Ints("stores", stores...),
	})
}
