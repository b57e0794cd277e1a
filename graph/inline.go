package graph

import "slices"

// InlineOptions are the options of [Function.Inline].
type InlineOptions struct {
	// MaxNodes is the most nodes that come from called functions. A call that
	// would add more stays. Default: 1<<14.
	MaxNodes int
	// Stays reports whether calls of a function stay, besides those that
	// [Function.Inline] lists. Default: no others stay.
	Stays func(*Function) bool
}

// maxInlined is the default of InlineOptions.MaxNodes.
const maxInlined = 1 << 14

// maxInlineDepth bounds the nesting of the calls that are inlined, because
// names and paths of nodes grow with it.
const maxInlineDepth = 200

// Inline returns the function with calls replaced by the bodies of the called
// functions, and so on for their calls. A function without such calls returns
// fn itself. Branches and loops stay. Calls stay if their function calls
// itself, takes references or has the attribute _noinline.
//
// Nodes with effects in a body come after all nodes that the call's inputs come
// from. Nodes that wait for the call wait for them. Nodes that draw random
// numbers stay even if their values are unused, so that each call draws as many
// as without inlining. A node of a body is called "call/node". Its
// [Node.Origin] is that of the function's node, and [Node.Path] has the calls.
//
// The nodes keep the facts of the bodies. Inference adds the facts that follow
// from the arguments.
func (fn *Function) Inline(o *InlineOptions) (*Function, error) {
	in := &inliner{left: maxInlined, kept: fn.Graph.kept(), sizes: map[*Function]int{}}
	if o != nil && o.MaxNodes > 0 {
		in.left = o.MaxNodes
	}
	if o != nil {
		in.stays = o.Stays
	}
	if !slices.ContainsFunc(fn.Graph.nodes, func(n *Node) bool { _, ok := in.callee(n); return ok }) {
		return fn, nil
	}
	fn, err := fn.Clone() // whose nodes are in order
	if err != nil {
		return nil, err
	}
	out := NewFunction(fn.Name)
	out.Graph.Library, out.Graph.Versions, out.Graph.effects = fn.Graph.Library, fn.Graph.Versions, fn.Graph.effects
	out.Attrs, out.ArgAttrs, out.Extra = fn.Attrs, fn.ArgAttrs, fn.Extra
	in.out = out
	b := &inlined{values: map[Output]Output{}, ends: map[*Node][]*Node{}}
	for _, a := range fn.Args {
		c := a.clone()
		if err := out.Graph.Add(c); err != nil {
			return nil, err
		}
		out.Args = append(out.Args, c)
		b.values[a.Output(0)], b.ends[a] = c.Output(0), []*Node{c}
	}
	if err := in.emit(fn, b); err != nil {
		return nil, err
	}
	for _, r := range fn.Results {
		out.Results = append(out.Results, Result{r.Name, b.values[r.Output]})
	}
	taken := map[*Node]bool{}
	control := func(name string, n *Node) {
		if !taken[n] {
			taken[n] = true
			out.Control = append(out.Control, ControlResult{name, n})
		}
	}
	for _, c := range fn.Control {
		for i, n := range b.ends[c.Node] {
			if i == 0 {
				control(c.Name, n)
			} else {
				control(n.Name, n)
			}
		}
	}
	for _, n := range in.must {
		control(n.Name, n)
	}
	return out, nil
}

// inliner makes one function of many.
type inliner struct {
	out   *Function
	left  int // nodes that may still be added
	kept  *Effects
	sizes map[*Function]int // the nodes that copies of functions have
	must  []*Node           // that run even if their results are unused
	stays func(*Function) bool
}

// inlined is a body that is being copied.
type inlined struct {
	prefix string
	path   []*Node           // the calls that led to the body
	values map[Output]Output // each output of the body and its value in the copy
	ends   map[*Node][]*Node // nodes that wait for the key, a node of the body, wait for these
	after  []*Node           // the body's effects come after these
	did    []*Node           // nodes with effects, in the copy
}

// callee returns the function that a node calls, and whether its body may
// replace the call.
func (in *inliner) callee(n *Node) (Callee, bool) {
	if n.Op != CallOp && n.Op != StatefulCallOp {
		return Callee{}, false
	}
	c, ok := n.Attrs.Func("f")
	f := c.Function
	if !ok || f == nil || len(f.Args) != len(n.In) || len(f.Results) < len(n.Out) || f.Attrs.Bool("_noinline") || in.kept.Recursive(f) || in.stays != nil && in.stays(f) {
		return c, false
	}
	for i, o := range n.In {
		if o.Fact().Ref || f.Args[i].Out[0].Ref {
			return c, false
		}
	}
	return c, true
}

// emit copies the nodes of a body whose arguments are there.
func (in *inliner) emit(fn *Function, b *inlined) error {
	for _, n := range fn.Graph.nodes {
		if n.IsArg() {
			continue
		}
		var ends nodeSet
		for _, c := range n.Control {
			for _, e := range b.ends[c] {
				ends.add(e)
			}
		}
		waits := ends.list
		if callee, ok := in.callee(n); ok && len(b.path) < maxInlineDepth {
			body, err := in.instance(callee)
			if err != nil {
				return err
			}
			if body != nil {
				if err := in.inline(n, body, b, waits); err != nil {
					return err
				}
				continue
			}
		}
		c := n.clone()
		for i, o := range n.In {
			c.In[i] = b.values[o]
		}
		c.Control = waits
		c.Name, c.path = in.out.Graph.UniqueName(b.prefix+n.Name), b.path
		if len(n.path) > 0 {
			c.path = slices.Concat(b.path, n.path)
		}
		if e := in.kept.OfNode(n); !e.Pure() {
			b.did = append(b.did, c)
			for _, a := range b.after {
				if !slices.Contains(c.Control, a) {
					c.Control = append(c.Control, a)
				}
			}
			if b.prefix != "" && e&Random != 0 {
				in.must = append(in.must, c)
			}
		}
		if err := in.out.Graph.Add(c); err != nil {
			return err
		}
		for i := range n.Out {
			b.values[n.Output(i)] = c.Output(i)
		}
		b.ends[n] = []*Node{c}
	}
	return nil
}

// instance returns a copy of a function with its attributes filled in, or nil
// if it has too many nodes.
func (in *inliner) instance(c Callee) (*Function, error) {
	if in.left < in.sizes[c.Function] {
		return nil, nil
	}
	f, err := c.Function.Clone()
	if err != nil {
		return nil, err
	}
	size := f.Graph.Len()
	in.sizes[c.Function] = size
	if in.left < size {
		return nil, nil
	}
	in.left -= size
	f.Graph.effects = in.kept
	return f, f.Instantiate(c.Attrs)
}

// inline puts the body that call calls in its place.
func (in *inliner) inline(call *Node, body *Function, b *inlined, waits []*Node) error {
	inner := &inlined{prefix: b.prefix + call.Name + "/", path: slices.Concat(b.path, call.path, []*Node{call.Origin()}), values: map[Output]Output{}, ends: map[*Node][]*Node{}}
	var after nodeSet
	for _, n := range b.after {
		after.add(n)
	}
	wait := func(n *Node) {
		if !n.IsArg() && n.Op != "Const" {
			after.add(n)
		}
	}
	for _, n := range waits {
		wait(n)
	}
	for i, a := range body.Args {
		from := b.values[call.In[i]]
		wait(from.Node)
		inner.values[a.Output(0)], inner.ends[a] = from, []*Node{from.Node}
	}
	var err error
	if inner.after, err = in.barrier(inner.prefix+"inputs", after.list); err != nil {
		return err
	}
	if err := in.emit(body, inner); err != nil {
		return err
	}
	for i := range call.Out {
		b.values[call.Output(i)] = inner.values[body.Results[i].Output]
	}
	for _, c := range body.Control {
		in.must = append(in.must, inner.ends[c.Node]...)
	}
	ends, err := in.barrier(inner.prefix+"done", inner.did)
	if err != nil {
		return err
	}
	b.did = append(b.did, ends...)
	if b.ends[call] = ends; len(ends) == 0 {
		b.ends[call] = inner.after
	}
	return nil
}

// barrier returns the nodes to wait for instead of all: one node that only
// waits for all of them, or all of them if they are few.
func (in *inliner) barrier(name string, all []*Node) ([]*Node, error) {
	if len(all) <= 4 {
		return all, nil
	}
	n := &Node{Name: in.out.Graph.UniqueName(name), Op: "NoOp", Def: LookupOp("NoOp"), Control: all}
	return []*Node{n}, in.out.Graph.Add(n)
}

// nodeSet is a list of different nodes.
type nodeSet struct {
	list []*Node
	has  map[*Node]bool // the nodes of a long list
}

// add appends n, unless the list contains it.
func (s *nodeSet) add(n *Node) {
	const long = 16 // a shorter list is searched
	switch {
	case len(s.list) < long && slices.Contains(s.list, n), s.has[n]:
		return
	case len(s.list) == long:
		s.has = make(map[*Node]bool, 2*long)
		for _, m := range s.list {
			s.has[m] = true
		}
		if s.has[n] {
			return
		}
	}
	if s.has != nil {
		s.has[n] = true
	}
	s.list = append(s.list, n)
}
