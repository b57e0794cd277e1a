package run

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// program is the part of a loaded MetaGraph that all instances share: the
// graph, the weights and the compiled plans. Only its caches change.
type program struct {
	meta       *savedmodel.MetaGraph
	ready      atomic.Pointer[map[string]bool] // names of the signatures that are compiled
	makers     []string                        // the functions that make resources
	starts     []string                        // the nodes that compute the outputs of signatures; see starts
	whole      func() (*runnable, error)       // the graph with its whole library, decoded once
	opts       LoadOptions                     // as the caller gave them
	files      *engine.Files                   // those of opts, and the model's assets
	weights    []weight                        // the first values of variables
	restore    *callable                       // each instance runs it; nil if weights has all values
	chosen     map[*savedmodel.Object]bool     // the objects that are loaded; nil for all
	byOp       map[*savedmodel.Object]bool     // objects whose values only the restore op can restore
	noRestore  error                           // why the restore op can't run; nil if it can
	mismatched map[*savedmodel.Object]error    // variables whose value in the checkpoint isn't theirs
	init       *callable                       // run by each instance after that; nil for most

	invariants engine.Invariants // of all plans
	callLimit  callLimit         // of all instances' calls

	mu         sync.Mutex                 // held while the maps below are used
	signatures map[string]*signatureEntry // by name
	functions  map[*graph.Function]*entry // by the function in the library

	decoding  sync.Mutex                            // held while the fields below are used
	graph     *runnable                             // with the functions that signatures and makers reach; nil until it is needed
	constants map[*savedmodel.Object]*tensor.Tensor // values of ConstantObjects; nil until graph is decoded
	single    []*runnable                           // graphs of functions that graph lacks, one for each function that was asked for
}

// reached returns the graph with the functions that signatures reach, and those that make
// resources.
func (p *program) reached() (*runnable, error) {
	p.decoding.Lock()
	defer p.decoding.Unlock()
	if p.graph != nil {
		return p.graph, nil
	}
	g, err := raised(p.meta, p.makers, p.starts)
	if err != nil {
		return nil, err
	}
	if p.constants == nil {
		if p.constants, err = p.readConstants(g); err != nil {
			return nil, err
		}
	}
	p.graph = g
	return g, nil
}

// forget drops the graph and everything made from it. The next call makes them
// again.
func (p *program) forget() {
	p.graph, p.constants, p.single = nil, nil, nil
	clear(p.signatures)
	clear(p.functions)
}

// runs reports whether there is a kernel for an op.
func (p *program) runs(op string) bool { return p.opts.Kernels.Lookup(op) != nil }

// entry is a callable that is made once.
type entry struct {
	once sync.Once
	call *callable
	err  error
}

// newProgram makes a program of which nothing is read yet.
func newProgram(g *savedmodel.MetaGraph, o LoadOptions) (*program, error) {
	p := &program{meta: g, opts: o, signatures: map[string]*signatureEntry{}, functions: map[*graph.Function]*entry{}, callLimit: newCallLimit(&o)}
	var err error
	if p.chosen, err = choose(g, o.Objects); err != nil {
		return nil, err
	}
	p.whole = sync.OnceValues(func() (*runnable, error) { return raised(g, nil, nil) })
	p.files = grant(g, o.Files)
	return p, nil
}

// readConstants finds the values of the objects that are constants: nodes of
// the graph.
func (p *program) readConstants(g *runnable) (map[*savedmodel.Object]*tensor.Tensor, error) {
	constants := map[*savedmodel.Object]*tensor.Tensor{}
	for _, o := range p.meta.Objects {
		if o.Kind != savedmodel.ConstantObject {
			continue
		}
		n := g.Lookup(o.Constant)
		if n == nil {
			return nil, p.badFile(fmt.Errorf("object %d is the constant %q, which the graph lacks", o.ID, o.Constant))
		}
		t := n.Attrs.Tensor("value")
		if t == nil {
			return nil, p.badFile(fmt.Errorf("object %d is the constant %q, which is a %s without a value", o.ID, o.Constant, n.Op))
		}
		constants[o] = t
	}
	return constants, nil
}

// sharedName returns the name under which an instance knows the resource of a
// node.
func sharedName(n *graph.Node) string {
	if s := n.Attrs.String("shared_name", ""); s != "" {
		return s
	}
	return n.Name
}

// pathOf returns the tensor by which ops open the asset.
func pathOf(a *savedmodel.Asset) *tensor.Tensor { return tensor.Scalar(a.Path()) }

// badFile returns an error that names the graph's file.
func (p *program) badFile(err error) error {
	return &savedmodel.FormatError{File: p.meta.SavedModel().File, Err: err}
}

// grant adds the model's own assets to the files that the caller grants.
func grant(g *savedmodel.MetaGraph, given *engine.Files) *engine.Files {
	if len(g.Assets) == 0 {
		return given
	}
	names := make([]string, len(g.Assets))
	for i, x := range g.Assets {
		names[i] = x.Path()
	}
	return given.With(g.SavedModel().FS(), names...)
}

// callable is a function ready to run, with its captures.
type callable struct {
	where    string // "signature serving_default", for errors
	function *graph.Function
	captures []capture // the function's last arguments

	once sync.Once    // compiles
	plan *engine.Plan // nil before, and after an error
	err  error        // of compiling
}

// capture is a tensor, or, if tensor is nil, an object of which each instance has its own value.
type capture struct {
	tensor *tensor.Tensor
	object *savedmodel.Object
}

// isReady reports whether a signature is known to be compiled.
func (p *program) isReady(signature string) bool {
	m := p.ready.Load()
	return m != nil && (*m)[signature]
}

// setReady notes that a signature is compiled.
func (p *program) setReady(signature string) {
	for {
		old := p.ready.Load()
		m := map[string]bool{signature: true}
		if old != nil {
			maps.Copy(m, *old)
		}
		if p.ready.CompareAndSwap(old, &m) {
			return
		}
	}
}

// compiled returns the function's plan, made by the first who asks.
func (p *program) compiled(c *callable) (*engine.Plan, error) {
	c.once.Do(func() {
		list := p.opts.Passes
		if list == nil {
			list = passes.Inference()
		}
		c.plan, c.err = engine.Compile(c.function, &engine.CompileOptions{
			Kernels: p.opts.Kernels, Shapes: p.opts.Shapes, Passes: list, Invariants: &p.invariants,
		})
		if c.err != nil {
			c.err = fmt.Errorf("savedmodel: %s: %w", c.where, c.err)
		}
	})
	return c.plan, c.err
}

// prune makes a callable of the part of the graph that computes fetches from
// feeds and runs targets. Handles that mean objects, and the paths of assets,
// are captures.
//
// If a Switch or Merge is left that could not be raised, and the graph has no
// loops, the callable is made of the graph as the file has it: a node that both
// an If and such a Merge need would run twice.
func (p *program) prune(in *runnable, where string, feeds, fetches []graph.Output, targets []*graph.Node) (*callable, error) {
	c, err := p.pruneOnce(in, where, feeds, fetches, targets)
	if in.unraised == nil || err == nil && !branching(c.function) {
		return c, err
	}
	again, rawErr := in.unraised()
	if rawErr != nil {
		return c, err
	}
	rawFeeds, _, ok1 := again.in(feeds, nil)
	rawFetches, rawTargets, ok2 := again.in(fetches, targets)
	if !ok1 || !ok2 {
		return c, err
	}
	if raw, rawErr := p.pruneOnce(again, where, rawFeeds, rawFetches, rawTargets); rawErr == nil {
		return raw, nil
	}
	return c, err
}

// pruneOnce makes the callable of prune from one form of the graph.
func (p *program) pruneOnce(in *runnable, where string, feeds, fetches []graph.Output, targets []*graph.Node) (*callable, error) {
	all := append([]graph.Output(nil), feeds...)
	fed := map[graph.Output]bool{}
	for _, f := range feeds {
		fed[f] = true
	}
	c := &callable{where: where}
	for _, n := range in.Nodes() {
		if o := in.objectOf[n]; o != nil && !fed[n.Output(0)] {
			all = append(all, n.Output(0))
			c.captures = append(c.captures, capture{object: o})
		}
		if len(n.Out) == 1 && !fed[n.Output(0)] {
			if t := in.pathOf[n.Output(0)]; t != nil {
				all = append(all, n.Output(0))
				c.captures = append(c.captures, capture{tensor: t})
			}
		}
	}
	f, err := graph.Prune(in.Graph, all, fetches, targets)
	if err != nil {
		var cycle *graph.CycleError
		if errors.As(err, &cycle) {
			for _, name := range cycle.Nodes {
				if why := in.problems[name]; why != nil {
					err = &graph.NodeError{Node: name, Op: in.Lookup(name).Op, Err: why}
					break
				}
			}
		}
		return nil, fmt.Errorf("savedmodel: %s: %w", where, err)
	}
	f.Name = "pruned"
	p.dropUnused(f, c, len(feeds))
	c.function = f
	c.setVariableFacts()
	return c, p.check(c, in)
}

// setVariableFacts sets the types and shapes of the variables that the function captures: a
// file leaves them out if nodes make the handles. The function must be c's own
// copy.
func (c *callable) setVariableFacts() {
	args := c.function.Args[len(c.function.Args)-len(c.captures):]
	for i, x := range c.captures {
		fact := &args[i].Out[0]
		if x.object == nil || x.object.Variable == nil || fact.DType != tensor.Resource || fact.Ref {
			continue
		}
		if v := x.object.Variable; v.Shape.HasRank() {
			fact.Handle = []graph.Content{{DType: v.DType, Shape: v.Shape}}
		}
	}
}

// dropUnused takes the captures away that nothing in the function needs.
func (p *program) dropUnused(f *graph.Function, c *callable, first int) {
	used := map[*graph.Node]bool{}
	for _, n := range f.Graph.Nodes() {
		for _, in := range n.In {
			used[in.Node] = true
		}
	}
	for _, r := range f.Results {
		used[r.Output.Node] = true
	}
	args, captures := f.Args[:first:first], c.captures[:0:0]
	drop := map[*graph.Node]bool{}
	for i, a := range f.Args[first:] {
		if used[a] {
			args, captures = append(args, a), append(captures, c.captures[i])
		} else {
			drop[a] = true
		}
	}
	f.Args, c.captures = args, captures
	f.Graph.Remove(func(n *graph.Node) bool { return drop[n] })
	f.NumberArgs()
}

// maxSingle limits the number of functions that are decoded one by one. Each search goes through
// the names of all functions, so the next function decodes the whole library.
// The number affects only time and memory.
const maxSingle = 8

// graphWith returns a graph whose library has the function of that name, with the
// functions that it calls.
func (p *program) graphWith(name string) (*runnable, error) {
	in, err := p.reached()
	if err != nil || in.Library.Lookup(name) != nil {
		return in, err
	}
	p.decoding.Lock()
	defer p.decoding.Unlock()
	for _, in := range p.single {
		if in.Library.Lookup(name) != nil {
			return in, nil
		}
	}
	if len(p.single) == maxSingle { // its errors are ignored: a fault elsewhere in the library doesn't concern this function
		if in, err := p.whole(); err == nil && in.Library.Lookup(name) != nil {
			return in, nil
		}
	}
	in, err = raised(p.meta, []string{name}, []string{})
	switch {
	case err != nil:
		return nil, err
	case in.Library.Lookup(name) == nil:
		return nil, &savedmodel.NotFoundError{Kind: "function", Name: name, Note: "the objects speak of it, the graph's library lacks it"}
	case len(p.single) < maxSingle:
		p.single = append(p.single, in)
	}
	return in, nil
}

// concrete returns the callable of a trace.
func (p *program) concrete(t *savedmodel.ConcreteFunction) (*callable, error) {
	in, err := p.graphWith(t.Name)
	if err != nil {
		return nil, err
	}
	f := in.Library.Lookup(t.Name)
	p.mu.Lock()
	e := p.functions[f]
	if e == nil {
		e = new(entry)
		p.functions[f] = e
	}
	p.mu.Unlock()
	e.once.Do(func() { e.call, e.err = p.bind(in, f, t) })
	return e.call, e.err
}

// bind joins a function of a graph's library with the objects that it captures.
func (p *program) bind(in *runnable, f *graph.Function, t *savedmodel.ConcreteFunction) (*callable, error) {
	if len(t.Captures) > len(f.Args) {
		return nil, p.badFile(fmt.Errorf("the function %q has %d captures and %d arguments", t.Name, len(t.Captures), len(f.Args)))
	}
	own, err := f.Clone()
	if err != nil {
		return nil, fmt.Errorf("savedmodel: the function %q: %w", t.Name, err)
	}
	c := &callable{where: "function " + t.Name, function: own}
	for _, o := range t.Captures {
		if o == nil {
			return nil, fmt.Errorf("savedmodel: the function %q captures a tensor that its file doesn't hold: %w", t.Name, errors.ErrUnsupported)
		}
		c.captures = append(c.captures, capture{object: o})
	}
	c.setVariableFacts()
	return c, p.check(c, in)
}
