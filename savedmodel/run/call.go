package run

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// signature is a signature as all instances share it.
type signature struct {
	*callable
	def     *savedmodel.SignatureDef
	inputs  []savedmodel.TensorInfo // plain tensors, in the order of def.Inputs
	feed    []int                   // the argument's index for each input: two names may feed one tensor
	outputs []savedmodel.TensorInfo // plain tensors, as the results of callable
}

// Signature is a call by name, bound to a model's state. It is safe for use from
// many goroutines.
type Signature struct {
	*signature
	model *Model
}

// Name returns the signature's name.
func (s *Signature) Name() string { return s.def.Name }

// Inputs returns the inputs of the signature. Each composite is listed as its
// plain tensors.
func (s *Signature) Inputs() []savedmodel.TensorInfo { return s.inputs }

// Outputs returns the outputs of the signature. Each composite is listed as its
// plain tensors. Outputs that are operations ([savedmodel.TensorInfo.IsOp]) are
// left out: a call runs them, but they have no value.
func (s *Signature) Outputs() []savedmodel.TensorInfo { return s.outputs }

// signatureEntry is a signature that is made once.
type signatureEntry struct {
	once      sync.Once
	signature *signature
	err       error
}

// signature returns the signature of that name, pruned from the graph and with
// its ops looked up.
func (p *program) signature(name string) (*signature, error) {
	def, err := p.meta.Signature(name)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	e := p.signatures[name]
	if e == nil {
		e = new(signatureEntry)
		p.signatures[name] = e
	}
	p.mu.Unlock()
	g, err := p.reached()
	if err != nil {
		return nil, err
	}
	e.once.Do(func() { e.signature, e.err = p.makeSignature(def, g) })
	return e.signature, e.err
}

// makeSignature finds a signature's tensors in the graph, and prunes the graph
// to them.
func (p *program) makeSignature(def *savedmodel.SignatureDef, g *runnable) (*signature, error) {
	s := &signature{def: def, inputs: savedmodel.PlainTensors(def.Inputs), outputs: savedmodel.PlainTensors(def.Outputs)}
	at := map[graph.Output]int{}
	var feeds, fetches []graph.Output
	for i, in := range s.inputs {
		o, err := g.find("input", in)
		if err != nil {
			return nil, fmt.Errorf("savedmodel: signature %q: %w", def.Name, err)
		}
		if in.Default == nil {
			s.inputs[i].Default = defaultOf(o.Node)
		}
		i, twice := at[o]
		if !twice {
			i = len(feeds)
			at[o] = i
			feeds = append(feeds, o)
		}
		s.feed = append(s.feed, i)
	}
	var targets []*graph.Node
	all := s.outputs
	s.outputs = nil
	for _, out := range all {
		o, err := g.find("output", out)
		if err != nil {
			return nil, fmt.Errorf("savedmodel: signature %q: %w", def.Name, err)
		}
		if out.IsOp() {
			targets = append(targets, o.Node)
			continue
		}
		s.outputs, fetches = append(s.outputs, out), append(fetches, o)
	}
	var err error
	s.callable, err = p.prune(g, "signature "+def.Name, feeds, fetches, targets)
	return s, err
}

// defaultOf returns the default of a placeholder that isn't fed. It returns nil
// if there is no default, or if the default must be computed.
func defaultOf(n *graph.Node) *tensor.Tensor {
	if n.Op != "PlaceholderWithDefault" || len(n.In) != 1 || n.In[0].Node.Op != "Const" {
		return nil
	}
	return n.In[0].Node.Attrs.Tensor("value")
}

// find returns the graph's tensor of an input or output. what names its role, for errors. An output
// or fetch may be an operation without outputs: the result is its node then, and Index is 0.
func (r *runnable) find(what string, t savedmodel.TensorInfo) (graph.Output, error) {
	if t.Tensor == "" {
		return graph.Output{}, fmt.Errorf("the %s %q names no tensor", what, t.Name)
	}
	o, err := r.Find(t.Tensor)
	if err != nil {
		return o, fmt.Errorf("the %s %q: %w", what, t.Name, err)
	}
	if o.Node.Out != nil && o.Index >= len(o.Node.Out) && !(t.IsOp() && what != "input" && what != "feed") {
		return o, fmt.Errorf("the %s %q: node %q (%s) has no output %d", what, t.Name, o.Node.Name, o.Node.Op, o.Index)
	}
	return o, nil
}

// runnableFor returns the graph as it was loaded if it has all functions that
// these tensors need. Otherwise it returns the graph with the whole library.
func (p *program) runnableFor(fetches []string) (*runnable, error) {
	g, err := p.reached()
	if err != nil {
		return nil, err
	}
	var nodes []*graph.Node
	for _, name := range fetches {
		if o, err := g.Find(name); err == nil { // the caller finds it again and reports the error
			nodes = append(nodes, o.Node)
		}
	}
	if g.reads(nodes) {
		return g, nil
	}
	return p.whole()
}

// Call runs the signature. Inputs with defaults may be left out. If two names
// mean the same tensor of the graph, one of them is enough; if both are given,
// the last in the order of [Signature.Inputs] is used, as in a session of
// TensorFlow. The caller owns the outputs.
func (s *Signature) Call(ctx context.Context, in map[string]*tensor.Tensor) (map[string]*tensor.Tensor, error) {
	args, err := s.arguments(in)
	if err != nil {
		return nil, fmt.Errorf("savedmodel: signature %q: %w", s.def.Name, err)
	}
	if err := checkNotRecorded(ctx, s.callable.where); err != nil {
		return nil, err
	}
	results, err := s.model.run(ctx, s.callable, args)
	if err != nil {
		return nil, err
	}
	out := make(map[string]*tensor.Tensor, len(results))
	for i, v := range results {
		t, err := tensorOf(v)
		if err != nil {
			return nil, fmt.Errorf("savedmodel: signature %q: output %q: %w", s.def.Name, s.outputs[i].Name, err)
		}
		out[s.outputs[i].Name] = t
	}
	return out, nil
}

// arguments puts the inputs in order and checks them.
func (s *Signature) arguments(in map[string]*tensor.Tensor) ([]*tensor.Tensor, error) {
	args := make([]*tensor.Tensor, 0, len(s.inputs))
	var missing, names []string
	known := 0
	for i, info := range s.inputs {
		names = append(names, info.Name)
		t, given := in[info.Name]
		if given {
			known++
		}
		if t == nil {
			t = info.Default
		}
		at := s.feed[i]
		for len(args) <= at {
			args = append(args, nil)
		}
		switch {
		case t == nil:
			missing = append(missing, info.Name)
			continue
		case info.DType != tensor.Invalid && t.DType() != info.DType:
			return nil, fmt.Errorf("the input %q is %v, it should be %v", info.Name, t.DType(), info.DType)
		case !info.Shape.Accepts(t.Shape()):
			return nil, fmt.Errorf("the input %q has shape %v, it should be %v", info.Name, t.Shape(), info.Shape)
		}
		if args[at] == nil || given { // of two names that feed one tensor, the later one counts
			args[at] = t
		}
	}
	for i, name := range missing {
		// Another name may have fed the same tensor.
		if k := indexOf(s.inputs, name); args[s.feed[k]] == nil {
			format := "the input %s is missing; it takes %s"
			if len(missing[i:]) > 1 {
				format = "the inputs %s are missing; it takes %s"
			}
			return nil, fmt.Errorf(format, nearest.Quoted(missing[i:]), describe(s.inputs))
		}
	}
	if known < len(in) {
		for name := range in {
			if indexOf(s.inputs, name) < 0 {
				e := &savedmodel.NotFoundError{Kind: "input", Name: name, Near: nearest.Names(name, names, 3)}
				return nil, fmt.Errorf("%w; it takes %s", e, describe(s.inputs))
			}
		}
	}
	return args, nil
}

func indexOf(list []savedmodel.TensorInfo, name string) int {
	for i, t := range list {
		if t.Name == name {
			return i
		}
	}
	return -1
}

func describe(list []savedmodel.TensorInfo) string {
	var parts []string
	for _, t := range list {
		parts = append(parts, fmt.Sprintf("%s %v%v", t.Name, t.DType, t.Shape))
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// Placeholders returns the placeholders that fetches need, in the order of the graph, by the
// names of their nodes. Those with a default value are left out.
func (m *Model) Placeholders(fetches []string) ([]string, error) {
	in, err := m.runnableFor(fetches)
	if err != nil {
		return nil, fmt.Errorf("savedmodel: %w", err)
	}
	seen := map[*graph.Node]bool{}
	var todo []*graph.Node
	for _, name := range fetches {
		o, err := in.find("fetch", savedmodel.TensorInfo{Name: name, Tensor: name})
		if err != nil {
			return nil, fmt.Errorf("savedmodel: %w", err)
		}
		todo = append(todo, o.Node)
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		for _, from := range n.In {
			todo = append(todo, from.Node)
		}
		todo = append(todo, n.Control...)
	}
	var names []string
	for _, n := range in.Nodes() {
		if seen[n] && (n.Op == "Placeholder" || n.Op == "PlaceholderV2") {
			names = append(names, n.Name)
		}
	}
	return names, nil
}

// Prune returns a signature made from tensors of the graph. feeds and fetches are names
// of tensors such as "dense/Relu:0", and become the names of its inputs and outputs.
// The name of an operation, "dense/Relu", means its first output. As a fetch, an
// operation without outputs is run.
func (m *Model) Prune(feeds, fetches []string) (*Signature, error) {
	s := &signature{def: &savedmodel.SignatureDef{Name: "pruned"}}
	in, err := m.runnableFor(fetches)
	if err != nil {
		return nil, fmt.Errorf("savedmodel: %w", err)
	}
	var from, to []graph.Output
	var targets []*graph.Node
	for i, list := range [][]string{feeds, fetches} {
		for _, name := range list {
			t := savedmodel.TensorInfo{Name: name, Tensor: name}
			o, err := in.find([]string{"feed", "fetch"}[i], t)
			if err != nil {
				return nil, fmt.Errorf("savedmodel: %w", err)
			}
			if i == 1 && t.IsOp() && o.Node.Def != nil && len(o.Node.Def.Outputs) == 0 {
				targets = append(targets, o.Node)
				continue
			}
			t.DType = o.Fact().DType
			if i == 0 {
				s.feed, from, s.inputs = append(s.feed, len(from)), append(from, o), append(s.inputs, t)
			} else {
				to, s.outputs = append(to, o), append(s.outputs, t)
			}
		}
	}
	s.def.Inputs, s.def.Outputs = s.inputs, s.outputs
	if s.callable, err = m.prune(in, "pruned graph", from, to, targets); err != nil {
		return nil, err
	}
	if _, err := m.compiled(s.callable); err != nil {
		return nil, err
	}
	return &Signature{s, m}, nil
}
