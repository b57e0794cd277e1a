package savedmodel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// collectFunctions makes the library of all functions that nodes of the walk
// hold, and names each of them.
func (s *saver) collectFunctions() error {
	for id := range s.nodes {
		switch f := s.nodes[id].Object.(type) {
		case *graph.Concrete:
			s.collect(f, id)
		case *TrackableBareFunction:
			s.collect(f.Concrete, id)
		case FunctionNode:
			for _, c := range f.Traces() {
				s.collect(c, id)
			}
		}
	}
	functions := make([]*graph.Function, len(s.order))
	var assemble graph.Assembler
	for i, c := range s.order {
		functions[i] = c.Function
		if c.Assemble != nil {
			assemble = c.Assemble
		}
	}
	var err error
	if assemble == nil {
		s.lib = graph.Assemble(functions...)
	} else if s.lib, err = assemble(s.ctx, functions...); err != nil {
		return &SaveError{Err: err}
	}
	if err := s.lib.Inherit(); err != nil {
		return &SaveError{Err: err}
	}
	if err := s.checkNamespaces(); err != nil {
		return err
	}
	if err := s.checkDeprecated(); err != nil {
		return err
	}
	if err := s.lib.Rename(numbered(s.lib)); err != nil {
		return &SaveError{Err: err}
	}
	return s.collectGradients()
}

// collect notes a trace of a node.
func (s *saver) collect(c *graph.Concrete, id int) {
	if s.concrete[c.Function] == nil {
		s.concrete[c.Function] = c
		s.order = append(s.order, c)
		s.where[c] = s.human(id)
	}
}

// numbered returns the names of a library's functions. TensorFlow's fingerprint
// orders functions by the number at the end of their names, so each needs a
// unique one. A loaded function whose name has such a number keeps it, because other
// functions' attributes refer to it.
func numbered(lib *graph.Library) map[*graph.Function]string {
	names := map[*graph.Function]string{}
	taken := map[int64]bool{}
	var rest []*graph.Function
	for _, f := range lib.Functions() {
		name := lib.NameOf(f)
		if n := suffix(name); f.Extra != nil && n >= 0 && !taken[n] {
			taken[n] = true
			names[f] = name
			continue
		}
		rest = append(rest, f)
	}
	next := int64(1)
	for _, f := range rest {
		for taken[next] {
			next++
		}
		taken[next] = true
		base := f.Name
		if base == "" {
			base = "__inference_function"
		}
		names[f] = strings.TrimRight(base, "_") + "_" + strconv.FormatInt(next, 10)
	}
	return names
}

// checkNamespaces refuses ops of namespaces that the options don't list.
func (s *saver) checkNamespaces() error {
	var ops []string
	for _, f := range s.lib.Functions() {
		for _, n := range f.Graph.Nodes() {
			space, _, found := strings.Cut(n.Op, ">")
			if found && !slices.Contains(s.opts.Namespaces, space) && !slices.Contains(ops, n.Op) {
				ops = append(ops, n.Op)
			}
		}
	}
	if len(ops) == 0 {
		return nil
	}
	return &SaveError{Err: fmt.Errorf("the functions use ops of namespaces that are not allowed: %s; add the namespaces to SaveOptions.Namespaces", nearest.Quoted(ops))}
}

// checkDeprecated refuses ops that TensorFlow has removed from graphs of [producerVersion]: it can't
// load a model that contains one.
func (s *saver) checkDeprecated() error {
	for _, f := range s.lib.Functions() {
		for _, n := range f.Graph.Nodes() {
			if n.Def == nil || n.Def.Deprecation == nil || n.Def.Deprecation.Version > producerVersion {
				continue
			}
			d := n.Def.Deprecation
			return &SaveError{Err: fmt.Errorf("the function %s has the op %s, which TensorFlow doesn't load in graphs from version %d on (this one has version %d): %s",
				s.lib.NameOf(f), n.Op, d.Version, producerVersion, strings.TrimSuffix(d.Reason, "."))}
		}
	}
	return nil
}

// collectGradients makes entries for the custom gradients of the library, and nodes for
// the intermediate tensors that they capture.
func (s *saver) collectGradients() error {
	holders := map[*graph.Graph]*graph.Function{} // by body
	for _, f := range s.lib.Functions() {
		holders[f.Graph] = f
	}
	for _, g := range s.lib.Registered {
		f := g.Gradient.Function
		if f == nil || s.concrete[f] != nil {
			continue
		}
		c := &graph.Concrete{Function: f}
		k := len(f.Args) - len(g.Captures)
		if k < 0 {
			return &SaveError{Err: fmt.Errorf("the gradient %s of %s captures more than its arguments", s.lib.NameOf(f), g.Type)}
		}
		// TensorFlow passes a gradient function the op, for which the trace has
		// None, and the gradients of its outputs.
		args := []*graph.Structure{graph.StaticOf(nil)}
		for _, a := range f.Args[:k] {
			args = append(args, graph.TensorOf(a.Name, a.Out[0].WithoutValue()))
		}
		c.Call = graph.TupleOf(graph.TupleOf(args...), graph.DictOf(nil, nil))
		c.Out = gradientResults(g)
		for _, o := range g.Captures {
			in := holders[o.Node.Graph()]
			if in == nil {
				return &SaveError{Err: fmt.Errorf("the gradient %s captures %v, which is in no function of the model", s.lib.NameOf(f), o)}
			}
			t := &TrackableTensor{Name: in.NameInFile(o.Node) + ":" + strconv.Itoa(o.Index), Function: in}
			if err := s.addNode(t); err != nil {
				return &SaveError{Err: err}
			}
			c.Captures = append(c.Captures, graph.Capture{Resource: t})
		}
		s.concrete[f] = c
		s.order = append(s.order, c)
		s.where[c] = "the gradient " + g.Type
	}
	return nil
}

// gradientResults returns the structure of a gradient's results: one an input of the
// node, None if the function returns none for it.
func gradientResults(g graph.RegisteredGradient) *graph.Structure {
	results := g.Gradient.Function.Results
	spec := func(i int) *graph.Structure {
		f := results[i].Output.Fact().WithoutValue()
		f.Shape = f.Shape.Anonymous()
		return graph.TensorOf(results[i].Name, f)
	}
	var elems []*graph.Structure
	if g.Gives == nil {
		for i := range results {
			elems = append(elems, spec(i))
		}
		return graph.ListOf(elems...)
	}
	for i, at := range g.Gives {
		for len(elems) < at {
			elems = append(elems, graph.StaticOf(nil))
		}
		elems = append(elems, spec(i))
	}
	return graph.ListOf(elems...)
}

// entries returns the entries of all traces, by the names of their functions.
func (s *saver) entries() ([]*pb.SavedConcreteFunctionEntry, error) {
	var out []*pb.SavedConcreteFunctionEntry
	for _, c := range s.order {
		p := &pb.SavedConcreteFunction{}
		for i := range c.Captures {
			id, err := s.captured(c, i)
			if err != nil {
				return nil, err
			}
			p.BoundInputs = append(p.BoundInputs, int32(id))
		}
		in, err := graphInternals.StructureProto(c.InputSignature())
		if err != nil {
			return nil, &SaveError{s.where[c], fmt.Errorf("the arguments of the function: %w", err)}
		}
		result := c.Out
		if result == nil {
			result = resultsOf(c.Function)
		}
		out2, err := graphInternals.StructureProto(result)
		if err != nil {
			return nil, &SaveError{s.where[c], fmt.Errorf("the results of the function: %w", err)}
		}
		// They are encoded at once: as messages they take ten times the memory.
		lazyIn, err := pb.CanonicalOf(in)
		if err != nil {
			return nil, &SaveError{s.where[c], err}
		}
		lazyOut, err := pb.CanonicalOf(out2)
		if err != nil {
			return nil, &SaveError{s.where[c], err}
		}
		p.CanonicalizedInputSignature, p.OutputSignature = &lazyIn, &lazyOut
		out = append(out, &pb.SavedConcreteFunctionEntry{Key: s.lib.NameOf(c.Function), Value: p})
	}
	slices.SortFunc(out, func(a, b *pb.SavedConcreteFunctionEntry) int { return strings.Compare(a.Key, b.Key) })
	return out, nil
}

// resultsOf returns the structure of a function of which nothing else is known: its
// results as a list.
func resultsOf(f *graph.Function) *graph.Structure {
	var elems []*graph.Structure
	for _, r := range f.Results {
		fact := r.Output.Fact().WithoutValue()
		fact.Shape = fact.Shape.Anonymous()
		elems = append(elems, graph.TensorOf(r.Name, fact))
	}
	return graph.ListOf(elems...)
}

// captured returns the node of capture i of a trace.
func (s *saver) captured(c *graph.Concrete, i int) (int, error) {
	x := c.Captures[i]
	what := "an object"
	switch {
	case x.Variable != nil:
		if id, ok := s.number(x.Variable); ok {
			return id, nil
		}
		what = fmt.Sprintf("variable %q", x.Variable.Name())
	case x.Resource != nil:
		if id, ok := s.handles[x.Resource]; ok {
			return id, nil
		}
		if id, ok := s.idOf(x.Resource); ok {
			return id, nil
		}
		what = fmt.Sprintf("the resource %T", x.Resource)
	case x.Tensor != nil:
		if id, ok := s.number(s.constant(x.Tensor)); ok {
			return id, nil
		}
		what = fmt.Sprintf("a constant %v%v", x.Tensor.DType(), x.Tensor.Shape())
	}
	return 0, &UntrackedCaptureError{Function: s.where[c], Argument: c.Function.Args[c.NumArgs()+i].Name, Capture: what}
}

// idOf returns the node of an object that may be none.
func (s *saver) idOf(obj any) (id int, ok bool) {
	defer func() {
		if recover() != nil { // a value that can't be compared is no node
			id, ok = 0, false
		}
	}()
	return s.number(obj)
}

// describeFunction fills in a function with its traces.
func (s *saver) describeFunction(o *pb.SavedObject, f FunctionNode) error {
	p := &pb.SavedFunction{}
	for _, c := range f.Traces() {
		p.ConcreteFunctions = append(p.ConcreteFunctions, s.lib.NameOf(c.Function))
	}
	spec, err := parametersOfNode(f).proto()
	if err != nil {
		return err
	}
	lazy, err := pb.CanonicalOf(spec)
	if err != nil {
		return err
	}
	p.FunctionSpec = &lazy
	o.Which, o.Function = pb.SavedObjectFunction, p
	return nil
}

// parametersOfNode returns a function's parameters: those it knows, or those of its
// first trace.
func parametersOfNode(f FunctionNode) *Parameters {
	if x, ok := f.(ParameterizedFunction); ok {
		if p := x.FunctionParameters(); p != nil {
			return p
		}
	}
	p := &Parameters{}
	if traces := f.Traces(); len(traces) > 0 {
		p.Names, _ = traces[0].Parameters()
		if traces[0].Function.Attrs.Bool(graph.MustCompile) {
			p.JITCompile = "ON"
		}
	}
	if x, ok := f.(SignedFunction); ok {
		p.Signature = x.InputSignature()
	}
	return p
}

// describeBare fills in a function that is called by itself.
func (s *saver) describeBare(o *pb.SavedObject, obj trackable.Trackable) error {
	f, ok := obj.(*TrackableBareFunction)
	if !ok {
		c := obj.(*graph.Concrete)
		f = &TrackableBareFunction{Concrete: c}
		for _, a := range c.Function.Args[:c.NumArgs()] {
			f.Keywords = append(f.Keywords, a.Name)
		}
		f.Positional = len(f.Keywords)
	}
	p := &pb.SavedBareConcreteFunction{ConcreteFunctionName: s.lib.NameOf(f.Concrete.Function), ArgumentKeywords: f.Keywords, AllowedPositionalArguments: int64(f.Positional)}
	if f.Parameters != nil {
		spec, err := f.Parameters.proto()
		if err != nil {
			return err
		}
		lazy, err := pb.CanonicalOf(spec)
		if err != nil {
			return err
		}
		p.FunctionSpec = &lazy
	}
	o.Which, o.BareConcreteFunction = pb.SavedObjectBareConcreteFunction, p
	return nil
}

// proto returns the parameters as a FunctionSpec, whose FullArgSpec has the seven fields
// that Python's has.
func (p *Parameters) proto() (*pb.FunctionSpec, error) {
	texts := func(list []string) *graph.Structure {
		out := make([]*graph.Structure, len(list))
		for i, s := range list {
			out[i] = graph.StaticOf(s)
		}
		return graph.ListOf(out...)
	}
	text := func(s string) *graph.Structure {
		if s == "" {
			return graph.StaticOf(nil)
		}
		return graph.StaticOf(s)
	}
	defaults, keywords := graph.StaticOf(nil), graph.StaticOf(nil)
	if len(p.Defaults) > 0 {
		defaults = graph.TupleOf(p.Defaults...)
	}
	if len(p.KeywordDefaults) > 0 {
		var keys []string
		var elems []*graph.Structure
		for _, k := range p.KeywordOnly {
			if v, ok := p.KeywordDefaults[k]; ok {
				keys, elems = append(keys, k), append(elems, v)
			}
		}
		keywords = graph.DictOf(keys, elems)
	}
	full := graph.NamedOf("FullArgSpec",
		[]string{"args", "varargs", "varkw", "defaults", "kwonlyargs", "kwonlydefaults", "annotations"},
		[]*graph.Structure{texts(p.Names), text(p.VarArgs), text(p.VarKwargs), defaults, texts(p.KeywordOnly), keywords, graph.DictOf(nil, nil)})
	spec := &pb.FunctionSpec{}
	var err error
	if spec.Fullargspec, err = graphInternals.StructureProto(full); err != nil {
		return nil, fmt.Errorf("the function's parameters: %w", err)
	}
	signature := p.Signature
	if signature == nil {
		signature = graph.StaticOf(nil)
	}
	if spec.InputSignature, err = graphInternals.StructureProto(signature); err != nil {
		return nil, fmt.Errorf("the function's input signature: %w", err)
	}
	switch p.JITCompile {
	case "ON":
		spec.JitCompile = 1
	case "OFF":
		spec.JitCompile = 2
	}
	return spec, nil
}

// sizeOf returns the bytes of a tensor's values.
func sizeOf(t *tensor.Tensor) int64 {
	if t == nil {
		return 0
	}
	return t.NumBytes()
}
