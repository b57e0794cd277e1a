package engine

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Node is the node that a kernel is prepared for: an op, its attributes, and
// the facts of its inputs before anything runs.
type Node struct {
	// Op is the op's name.
	Op string
	// Name is the node's name in its graph; empty for an op that runs eagerly.
	Name string
	// Key identifies the node among all nodes, however often it is compiled; nil
	// for an op that runs eagerly.
	Key any
	// Path are the inlined calls that contain the node, outermost first.
	Path []*graph.Node
	// Attrs are the attributes.
	Attrs graph.Attrs
	// In are the facts of the inputs: always the element types, and the values
	// of constants.
	In []graph.Fact
	// Out are the known facts of the outputs.
	Out []graph.Fact
	// Functions compiles the functions that attributes refer to.
	Functions Functions

	invariant bitset        // the inputs that are the same in all calls
	packs     []packRequest // requests of the kernel for packed forms of these
	memo      memo
}

// Functions makes functions of a graph callable by kernels.
type Functions interface {
	// Compile prepares f for calls whose arguments have the facts args; nil
	// means the facts in f. A recursive function is compiled when it is first
	// called.
	Compile(f graph.Callee, args []graph.Fact) (Function, error)
}

// Function is a function that a kernel can call.
type Function interface {
	// Call runs the function. The references to the arguments move to the
	// function, so that it can change an object in place if it is the owner.
	// [Refs.Take] and [Refs.Share] return such references. The results are
	// appended to into, which may be args[:0]. Their references move to the
	// caller, which passes each to [Refs.Output] or [Refs.Release].
	Call(c *Call, args, into []Value) ([]Value, error)
}

// Function returns the function that the attribute called name refers to,
// compiled for arguments with the facts args: those of the node's inputs, or
// those that are true in each round of a loop.
func (n *Node) Function(name string, args []graph.Fact) (Function, error) {
	f, ok := n.Attrs.Func(name)
	if !ok {
		return nil, fmt.Errorf("needs the function attribute %s", name)
	}
	at := 0
	for _, a := range n.Attrs {
		if a.Name == name {
			break
		}
		if o, ok := n.Attrs.Func(a.Name); ok && o.Function == f.Function {
			at++
		}
	}
	return n.compile(f, at, args)
}

// compile compiles a function that the node names. at is its index among equal
// functions of the node.
func (n *Node) compile(f graph.Callee, at int, args []graph.Fact) (Function, error) {
	if n.Functions == nil {
		return nil, fmt.Errorf("can't call functions here")
	}
	fn, err := n.Functions.Compile(f, args)
	if l, ok := fn.(*lazyPlan); ok && at > 0 {
		return &branch{l, at}, err
	}
	return fn, err
}

// FunctionList returns the functions of a list attribute, each as
// [Node.Function] does.
func (n *Node) FunctionList(name string, args []graph.Fact) ([]Function, error) {
	var out []Function
	all := n.Attrs.Funcs(name)
	for i, f := range all {
		at := 0
		for _, o := range all[:i] {
			if o.Function == f.Function {
				at++
			}
		}
		g, err := n.compile(f, at, args)
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

// Prepared is a kernel that is ready to run for one node, or for all eager
// calls of an op with the same attributes and element types. It never changes.
type Prepared struct {
	node  *Node
	run   func(*Call) error
	given graph.Attrs // the attributes that the eager call passed, before Bind completed them

	forms []any   // packed inputs, if the kernel runs without a plan
	packs []int32 // the indexes of forms: 0, 1, …
}

// Node returns the node that was prepared.
func (p *Prepared) Node() *Node { return p.node }

// Prepare makes the op's kernel ready for n, outside of a plan. The inputs whose
// values are known are invariant. An op that the set has no kernel for is an
// *[UnsupportedOpError].
func (ks *KernelSet) Prepare(n *Node) (*Prepared, error) {
	k := ks.Lookup(n.Op)
	if k == nil {
		return nil, ks.Missing(n.Op)
	}
	for i := range n.In {
		if n.In[i].Value != nil {
			n.invariant.add(i)
		}
	}
	p, err := k.prepare(n)
	if err != nil {
		return nil, err
	}
	for i, r := range n.packs {
		form, _ := r.pack(n.In[r.input].Value)
		p.forms, p.packs = append(p.forms, form), append(p.packs, int32(i))
	}
	return p, nil
}

func (k *Kernel) prepare(n *Node) (p *Prepared, err error) {
	if err := k.Types.check(n); err != nil {
		return nil, err
	}
	if err := refuse(n); err != nil {
		return nil, err
	}
	p = &Prepared{node: n, run: k.Run}
	if k.Prepare == nil {
		p.run = withinExtents(k, n, p.run)
		return p, nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = NewPanicError(r)
		}
	}()
	if p.run, err = k.Prepare(n); err != nil {
		return p, err
	}
	p.run = withinExtents(k, n, p.run)
	return p, nil
}

// eagerCache contains the prepared kernels of eager calls of one op, because
// most ops are called with few combinations of attributes and types.
type eagerCache struct {
	list atomic.Pointer[[]*Prepared]
	mu   sync.Mutex // of writers
	next int        // the index of the kernel to be replaced next
}

const (
	maxEager     = 64      // kinds of calls that are remembered of an op
	maxEagerSize = 4 << 10 // inputs, outputs and parts of attributes of a call that is remembered
)

// PrepareEager prepares the op's kernel for a call with these inputs. It
// returns an earlier result if attributes and types are the same.
func (ks *KernelSet) PrepareEager(op string, attrs graph.Attrs, in []Value) (*Prepared, error) {
	k := ks.entry(op)
	if k == nil {
		return nil, ks.Missing(op)
	}
	c := &k.eager
	if list := c.list.Load(); list != nil {
		for _, p := range *list {
			if p.fits(attrs, in) {
				return p, nil
			}
		}
	}
	n := &Node{Op: op, Attrs: attrs, In: make([]graph.Fact, len(in)), Functions: eagerFunctions{ks}}
	for i, v := range in {
		n.In[i] = v.fact()
	}
	if def := k.Definition(); def != nil {
		if arg := def.OldHandle(); arg != "" {
			return nil, &GraphOnlyError{Op: op, Arg: arg}
		}
		var err error
		if n.Attrs, n.Out, err = def.Bind(attrs, n.In); err != nil {
			return nil, err
		}
	}
	p, err := k.prepare(n)
	if err != nil || !cacheable(n, attrs) {
		return p, err
	}
	p.given = attrs
	c.add(p)
	return p, nil
}

// GraphOnlyError reports an eager call of an op of TensorFlow 1 that TensorFlow
// supports in graphs only.
type GraphOnlyError struct {
	Op  string // the op
	Arg string // the argument that only graphs pass
}

// Error returns the argument and the alternatives.
func (e *GraphOnlyError) Error() string {
	return fmt.Sprintf("the argument %s of %s is a reference or a handle of TensorFlow 1, which only graphs have: "+
		"trace the function (function.Func.Trace), or use the op's newer version, whose handles are resources", e.Arg, e.Op)
}

func (c *eagerCache) add(p *Prepared) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var next []*Prepared
	if list := c.list.Load(); list != nil {
		next = slices.Clone(*list)
	}
	if len(next) < maxEager {
		next = append(next, p)
	} else {
		next[c.next] = p
		c.next = (c.next + 1) % maxEager
	}
	c.list.Store(&next)
}

// cacheable reports whether remembering a call holds on to nothing large.
func cacheable(n *Node, attrs graph.Attrs) bool {
	size := len(n.In) + len(n.Out)
	for _, a := range attrs {
		switch a.Kind {
		case graph.AttrTensor, graph.AttrTensors:
			return false
		case graph.AttrString:
			size += len(attrs.String(a.Name, ""))
		case graph.AttrStrings:
			for _, s := range attrs.Strings(a.Name) {
				size += len(s)
			}
		}
		size += a.Len()
	}
	return size <= maxEagerSize
}

// fits reports whether the prepared kernel may run with these attributes and inputs: both equal those it was
// prepared for, shapes excepted.
func (p *Prepared) fits(attrs graph.Attrs, in []Value) bool {
	if len(in) != len(p.node.In) || len(attrs) != len(p.given) {
		return false
	}
	for i := range in {
		f := &p.node.In[i]
		if t := in[i].Tensor; t != nil && in[i].Object == nil {
			if t.DType() != f.DType || f.Ref || f.Handle != nil {
				return false
			}
			continue
		}
		if in[i].Ref != f.Ref || dtypeOf(&in[i]) != f.DType {
			return false
		}
		if x := in[i].Variable(); (x != nil && !in[i].Ref) != (f.Handle != nil) || f.Handle != nil && x.DType() != f.Handle[0].DType {
			return false
		}
	}
	if len(attrs) == 0 || &attrs[0] == &p.given[0] {
		return true
	}
	for i := range attrs {
		if !attrs[i].Equal(p.given[i]) {
			return false
		}
	}
	return true
}

// fact returns the facts that are the same for all values of v's kind: types.
func (v Value) fact() graph.Fact {
	f := graph.Fact{DType: v.DType(), Ref: v.Ref}
	if x := v.Variable(); x != nil && !v.Ref {
		f.Handle = []graph.Content{{DType: x.DType()}}
	}
	return f
}

func dtypeOf(v *Value) tensor.DType {
	if v.Tensor != nil {
		return v.Tensor.DType()
	}
	return v.DType()
}
