package passes

import (
	"slices"

	"github.com/cairnml/cairn/engine/internal/analysis"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
)

// rewriter is the common part of the passes of this package that search for patterns of
// nodes and replace them. newRewriter must sort the nodes: [analysis.InvarianceOf] and the
// passes need topological order.
//
// nodes, pinned, results and invariants describe the function before the pass. users and added
// are kept up to date by add, constant, replace and drop.
type rewriter struct {
	*Unit
	nodes      []*graph.Node // at the beginning
	users      map[graph.Output][]*graph.Node
	pinned     map[*graph.Node]bool // nodes with a control edge to or from them, or that the function's end waits for
	results    map[graph.Output]bool
	invariants *analysis.Invariance
	added      map[*graph.Node]bool // new nodes with invariant values
}

func newRewriter(u *Unit) (*rewriter, error) {
	f, err := u.Function.Clone() // Clone drops unused nodes and sorts the others
	if err != nil {
		return nil, err
	}
	u.Function = f
	r := &rewriter{
		Unit: u, nodes: slices.Clone(f.Graph.Nodes()), users: map[graph.Output][]*graph.Node{}, pinned: map[*graph.Node]bool{}, results: map[graph.Output]bool{},
		invariants: analysis.InvarianceOf(f, !u.ConstantsOnly), added: map[*graph.Node]bool{},
	}
	for _, n := range r.nodes {
		for _, in := range n.In {
			r.users[in] = append(r.users[in], n)
		}
		for _, c := range n.Control {
			r.pinned[c] = true
		}
		if len(n.Control) > 0 {
			r.pinned[n] = true
		}
	}
	for _, c := range f.Control {
		r.pinned[c.Node] = true
	}
	for _, res := range f.Results {
		r.results[res.Output] = true
	}
	return r, nil
}

// finish restores the topological order of the nodes.
func (r *rewriter) finish() error {
	f, err := r.Function.Clone()
	if err == nil {
		r.Function = f
	}
	return err
}

// only returns the node that is the only user of o, by one input, or nil if
// there are other users.
func (r *rewriter) only(o graph.Output) *graph.Node {
	if u := r.users[o]; len(u) == 1 && !r.results[o] && !r.pinned[o.Node] {
		return u[0]
	}
	return nil
}

// replaceable reports whether a node with one output may replace n: only the first
// output of n is used, and no control edge leads to or from n.
func (r *rewriter) replaceable(n *graph.Node) bool {
	for i := 1; i < len(n.Out); i++ {
		if o := n.Output(i); len(r.users[o]) > 0 || r.results[o] {
			return false
		}
	}
	return !r.pinned[n]
}

// invariant reports whether o is the same in all calls.
func (r *rewriter) invariant(o graph.Output) bool { return r.invariants.Has(o) || r.added[o.Node] }

// add appends a node named after like; finish moves it into order. The kernels must
// include its op.
func (r *rewriter) add(like *graph.Node, op string, attrs graph.Attrs, in ...graph.Output) (*graph.Node, error) {
	n := &graph.Node{Name: r.Function.Graph.UniqueName(like.Name + "/" + op), Site: like.Site, In: in}
	if err := r.fill(n, op, attrs); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(in, func(o graph.Output) bool { return !r.invariant(o) }) {
		r.added[n] = true
	}
	for _, o := range in {
		r.users[o] = append(r.users[o], n)
	}
	return n, r.Function.Graph.Add(n)
}

// fill makes n a node of an op with n's inputs. It doesn't change users.
func (r *rewriter) fill(n *graph.Node, op string, attrs graph.Attrs) error {
	def := r.Kernels.Definition(op)
	facts := make([]graph.Fact, len(n.In))
	for i, o := range n.In {
		facts[i] = o.Fact()
		facts[i].Ref = false
	}
	attrs, out, err := def.Bind(attrs, facts)
	if err != nil {
		return err
	}
	c := &shape.Inference{Op: op, Attrs: attrs, In: facts, Out: out}
	if err := r.Shapes.Infer(c); err != nil {
		return err
	}
	for i := range c.Out {
		// Facts that were known of n's outputs remain.
		if i < len(n.Out) && !c.Out[i].Shape.Known() {
			c.Out[i].Shape = n.Out[i].Shape
		}
	}
	n.Op, n.Def, n.Attrs, n.Out = op, def, attrs, c.Out
	return nil
}

// has reports whether the ops have kernels.
func (r *rewriter) has(ops ...string) bool {
	return !slices.ContainsFunc(ops, func(op string) bool { return !r.Kernels.Has(op) })
}

// replace makes n, in its place, another op with other inputs.
func (r *rewriter) replace(n *graph.Node, op string, attrs graph.Attrs, in ...graph.Output) error {
	old := n.In
	n.In = in
	for _, o := range in {
		r.users[o] = append(r.users[o], n)
	}
	for _, o := range old {
		r.drop(o, n)
	}
	return r.fill(n, op, attrs)
}

// drop records that n does not use o any more. A node without users then uses
// none of its inputs.
func (r *rewriter) drop(o graph.Output, n *graph.Node) {
	for n != nil {
		i := slices.Index(r.users[o], n)
		if i < 0 {
			return
		}
		r.users[o] = slices.Delete(slices.Clone(r.users[o]), i, i+1)
		n = nil
		if from := o.Node; len(r.users[o]) == 0 && !r.results[o] && r.replaceable(from) && len(from.In) > 0 && from.Effect().Pure() {
			for _, in := range from.In[1:] {
				if k := slices.Index(r.users[in], from); k >= 0 {
					r.users[in] = slices.Delete(slices.Clone(r.users[in]), k, k+1)
				}
			}
			n, o = from, from.In[0]
		}
	}
}

// constant adds a Const.
func (r *rewriter) constant(like *graph.Node, t *tensor.Tensor) (graph.Output, error) {
	n := &graph.Node{Name: r.Function.Graph.UniqueName(like.Name + "/Const"), Op: "Const", Def: graph.LookupOp("Const"), Site: like.Site,
		Attrs: constAttrs(t), Out: []graph.Fact{graph.FactOf(t)}}
	r.added[n] = true
	return n.Output(0), r.Function.Graph.Add(n)
}
