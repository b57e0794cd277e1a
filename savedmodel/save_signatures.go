package savedmodel

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// signatureWrapper is the function of a signature: its arguments are the inputs in the
// order of their names, its results the outputs.
type signatureWrapper struct {
	name     string
	function *TrackableBareFunction
	inputs   []string // the names of the arguments
	outputs  []signatureOutput
	defaults map[string]*tensor.Tensor
}

// makeSignatures returns the node of the signatures, with no edges if there are none. They
// are those of the options; else those that a loaded root has; else the default one.
func (s *saver) makeSignatures() (*signatureMap, error) {
	m := &signatureMap{edges: []trackable.Edge{}}
	s.signatures = m
	if s.opts.Signatures == nil {
		loaded, err := s.loadedSignatures()
		if err != nil {
			return nil, err
		}
		for _, e := range loaded {
			if err := s.addSignature(e.Name, e.Child); err != nil {
				return nil, err
			}
		}
		if loaded == nil {
			if err := s.addDefaultSignature(); err != nil {
				return nil, err
			}
		}
		return m, s.checkDefaults()
	}
	for _, name := range slices.Sorted(maps.Keys(s.opts.Signatures)) {
		c := s.opts.Signatures[name]
		if c == nil {
			return nil, signatureError(name, errors.New("there is no function; call Trace and pass its result"))
		}
		if err := s.addSignature(name, c); err != nil {
			return nil, err
		}
	}
	return m, s.checkDefaults()
}

// defaultSaveSignature is the edge to the function that a root offers as its signature.
const defaultSaveSignature = "_default_save_signature"

// addDefaultSignature adds serving_default if a program's root names no signatures, as
// TensorFlow's find_function_to_export does. It is the function at the edge
// _default_save_signature, wherever that edge is. Without the edge it is the root's only
// function that can be a signature. Other functions are saved, but are no signatures.
func (s *saver) addDefaultSignature() error {
	if _, loaded := s.root.(*TrackableObject); loaded {
		return nil // the file has none
	}
	edges, err := s.ownEdges(s.root)
	if err == nil {
		err = s.traceSigned(edges)
	}
	if err != nil {
		return &SaveError{Err: err}
	}
	var candidates []FunctionNode
	for _, e := range edges {
		f, ok := e.Child.(FunctionNode)
		switch {
		case !ok:
		case e.Name == defaultSaveSignature:
			return s.addSignature(DefaultSignature, f)
		case isCandidate(f):
			candidates = append(candidates, f)
		}
	}
	if len(candidates) != 1 {
		return nil
	}
	return s.addSignature(DefaultSignature, candidates[0])
}

// isCandidate reports whether f can be the default signature: its arguments are fixed by
// an input signature or there are none, it has one trace, and the trace has outputs.
func isCandidate(f FunctionNode) bool {
	signed, ok := f.(SignedFunction)
	if !ok || len(f.Traces()) != 1 {
		return false
	}
	trace := f.Traces()[0]
	if signed.InputSignature() == nil && trace.NumArgs() > 0 || len(trace.Function.Results) == 0 {
		return false
	}
	_, err := wrapperOf(DefaultSignature, f)
	return err == nil
}

// checkDefaults refuses defaults of signatures that aren't there.
func (s *saver) checkDefaults() error {
	for _, name := range slices.Sorted(maps.Keys(s.opts.SignatureDefaults)) {
		if !slices.ContainsFunc(s.wrappers, func(w signatureWrapper) bool { return w.name == name }) {
			return signatureError(name, errors.New("there are defaults for it, but no signature of this name"))
		}
	}
	return nil
}

func signatureError(name string, err error) error {
	return &SaveError{Err: fmt.Errorf("signature %q: %w", name, err)}
}

// loadedSignatures returns the edges of the signatures that a loaded root brings along.
func (s *saver) loadedSignatures() ([]trackable.Edge, error) {
	edges, err := s.ownEdges(s.root)
	if err != nil {
		return nil, &SaveError{Err: err}
	}
	for _, e := range edges {
		if e.Name == signaturesEdge && isSignatureMap(e.Child) {
			return trackable.SavedModelChildren(e.Child)
		}
	}
	return nil, nil
}

// addSignature adds a signature that is a trace or a function of one trace.
func (s *saver) addSignature(name string, f trackable.Trackable) error {
	if name == "" || strings.HasPrefix(name, internalPrefix) {
		return signatureError(name, fmt.Errorf("names that are empty or begin with %q are reserved", internalPrefix))
	}
	bare, err := wrapperOf(name, f)
	if err != nil {
		return signatureError(name, err)
	}
	w := signatureWrapper{name: name, function: bare, inputs: bare.Keywords, defaults: s.opts.SignatureDefaults[name]}
	if w.outputs, err = outputsOf(bare.Concrete); err != nil {
		return signatureError(name, err)
	}
	for _, key := range slices.Sorted(maps.Keys(w.defaults)) {
		value := w.defaults[key]
		at := slices.Index(w.inputs, key)
		if at < 0 {
			return signatureError(name, fmt.Errorf("there is no input %q for which a default is given (have %s)", key, nearest.Quoted(w.inputs)))
		}
		fact := bare.Concrete.Function.Args[at].Out[0]
		if !fact.Accepts(graph.FactOf(value)) {
			return signatureError(name, fmt.Errorf("the default of input %q doesn't fit (got %v%v, want %v)", key, value.DType(), value.Shape(), fact))
		}
	}
	s.wrappers = append(s.wrappers, w)
	s.signatures.edges = append(s.signatures.edges, trackable.Edge{Name: name, Child: bare})
	return nil
}

// wrapperOf returns a function that takes tensors by keyword and returns a dictionary of
// tensors or composites: f itself if it is of that form.
func wrapperOf(name string, f trackable.Trackable) (*TrackableBareFunction, error) {
	var c *graph.Concrete
	switch f := f.(type) {
	case *TrackableBareFunction:
		if isWrapper(f.Concrete) && len(f.Keywords) == f.Concrete.NumArgs() {
			return f, nil
		}
		c = f.Concrete
	case *graph.Concrete:
		c = f
	case FunctionNode:
		traces := f.Traces()
		if len(traces) != 1 {
			return nil, fmt.Errorf("the function has %d traces, so the trace must be chosen", len(traces))
		}
		c = traces[0]
	default:
		return nil, fmt.Errorf("it is a %T, not a function", f)
	}
	inputs, err := inputKeys(c)
	if err != nil {
		return nil, err
	}
	outputs, err := outputsOf(c)
	if err != nil {
		return nil, err
	}
	return wrap(name, c, inputs, outputs)
}

// isWrapper reports whether a trace takes a dictionary of tensors and nothing else, and
// returns a dictionary of tensors or composites.
func isWrapper(c *graph.Concrete) bool {
	if c.Call == nil || c.Call.Kind != graph.TupleStructure || len(c.Call.Elems) != 2 || len(c.Call.Elems[0].Elems) > 0 {
		return false
	}
	in := c.Call.Elems[1]
	if in.Kind != graph.DictStructure || slices.ContainsFunc(in.Elems, func(e *graph.Structure) bool { return e.Kind != graph.TensorStructure }) {
		return false
	}
	return c.Out != nil && c.Out.Kind == graph.DictStructure && !slices.ContainsFunc(c.Out.Elems, func(e *graph.Structure) bool { return !isOutput(e) })
}

// isOutput reports whether a signature can return a value of a structure.
func isOutput(s *graph.Structure) bool {
	return s.Kind == graph.TensorStructure || s.Kind == graph.CompositeStructure
}

// inputKeys returns the names of a trace's arguments as inputs of a signature,
// in the order of the arguments. Servers know plain tensors only, so each
// tensor of a composite is an input, with its name in the function.
func inputKeys(c *graph.Concrete) ([]string, error) {
	var keys []string
	args := c.Function.Args[:c.NumArgs()]
	add := func(name string, s *graph.Structure) error {
		switch s.Kind {
		case graph.TensorStructure:
			if name == "" && len(keys) < len(args) {
				name = args[len(keys)].Name
			}
			keys = append(keys, name)
			return nil
		case graph.CompositeStructure:
			n, ok := s.Composite.Count()
			if !ok || s.Composite.Class == graph.VariableComposite || len(keys)+n > len(args) {
				break
			}
			for range n {
				keys = append(keys, args[len(keys)].Name)
			}
			return nil
		case graph.StaticStructure, graph.NoneStructure:
			return nil // part of the trace
		}
		return fmt.Errorf("the input %q is no tensor (got %v); a signature takes tensors by name", name, s)
	}
	if c.In == nil && c.Call == nil {
		for _, a := range args {
			keys = append(keys, a.Name)
		}
		return keys, nil
	}
	if c.In != nil {
		names, types := c.Parameters()
		for i, t := range types {
			if err := add(names[i], t); err != nil {
				return nil, err
			}
		}
		return keys, unique(keys)
	}
	for _, t := range c.Call.Elems[0].Elems {
		if err := add(t.Name, t); err != nil {
			return nil, err
		}
	}
	named := c.Call.Elems[1]
	for _, i := range named.Order() {
		if err := add(named.Keys[i], named.Elems[i]); err != nil {
			return nil, err
		}
	}
	return keys, unique(keys)
}

// unique returns an error if two inputs have one name.
func unique(keys []string) error {
	sorted := slices.Sorted(slices.Values(keys))
	for i, k := range sorted {
		if i > 0 && k == sorted[i-1] {
			return fmt.Errorf("two inputs are called %q", k)
		}
	}
	return nil
}

// wrap returns the function that a signature's node holds: it takes the inputs in the
// order of their names and returns the outputs in the order of theirs. TensorFlow binds
// the entries of a dictionary in that order. Each result has a control dependency on the
// call, so that the function's effects have happened when a session fetches a result.
func wrap(name string, c *graph.Concrete, inputs []string, outputs []signatureOutput) (*TrackableBareFunction, error) {
	fn := graph.NewFunction("__inference_signature_wrapper_" + validNodeName(name))
	order := sortedPlaces(inputs)
	args := make([]graph.Output, len(c.Function.Args))
	bare := &TrackableBareFunction{}
	var specs []*graph.Structure
	for _, i := range order {
		fact := c.Function.Args[i].Out[0].WithoutValue()
		o, err := fn.AddArg(fn.Graph.UniqueName(inputs[i]), fact)
		if err != nil {
			return nil, err
		}
		args[i] = o
		bare.Keywords = append(bare.Keywords, inputs[i])
		fact.Shape = fact.Shape.Anonymous()
		specs = append(specs, graph.TensorOf(inputs[i], fact))
	}
	for i := c.NumArgs(); i < len(args); i++ {
		a := c.Function.Args[i]
		o, err := fn.AddArg(fn.Graph.UniqueName(a.Name), a.Out[0].WithoutValue())
		if err != nil {
			return nil, err
		}
		args[i] = o
	}
	call, err := addCall(fn.Graph, c.Function, args)
	if err != nil {
		return nil, err
	}
	var types []*graph.Structure
	var keys []string
	results := c.Out.Flatten()
	slices.SortFunc(outputs, func(a, b signatureOutput) int { return cmp.Compare(a.name, b.name) })
	for _, out := range outputs {
		for i := out.first; i < out.first+out.count; i++ {
			n := &graph.Node{Op: "Identity", Name: fn.Graph.UniqueName("Identity"), In: []graph.Output{call.Output(i)}, Control: []*graph.Node{call}}
			if err := bindNode(n); err != nil {
				return nil, err
			}
			if len(results) == len(call.Out) && !call.Out[i].Shape.HasRank() {
				call.Out[i].Shape = results[i].Fact.Shape // which inference often can't find in a loaded function's body
			}
			n.Out[0].Shape = call.Out[i].Shape
			if err := fn.Graph.Add(n); err != nil {
				return nil, err
			}
			fn.AddResult(resultName(fn, out.name), n.Output(0))
		}
		described := out.structure
		if described == nil || described.Kind == graph.TensorStructure {
			fact := call.Out[out.first].WithoutValue()
			fact.Shape = fact.Shape.Anonymous()
			described = graph.TensorOf(out.name, fact)
		}
		keys, types = append(keys, out.name), append(types, described)
	}
	if call.Op == graph.StatefulCallOp {
		fn.Control = append(fn.Control, graph.ControlResult{Name: call.Name, Node: call})
	}
	// As in TensorFlow, the input of a wrapper with only one may be given by position.
	bare.Positional = min(len(bare.Keywords), 1)
	if len(bare.Keywords) > 1 {
		bare.Positional = 0
	}
	bare.Concrete = &graph.Concrete{
		Function: fn, Captures: c.Captures, Assemble: c.Assemble,
		Call: graph.TupleOf(graph.TupleOf(), graph.DictOf(bare.Keywords, specs)),
		Out:  graph.DictOf(keys, types),
	}
	return bare, nil
}

// sortedPlaces returns the places of names in the order of the names.
func sortedPlaces(names []string) []int {
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(names[i], names[j]) })
	return order
}
