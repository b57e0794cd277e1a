package savedmodel

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
)

// FunctionInfo describes a function of the object graph.
type FunctionInfo struct {
	// Concrete are the function's traces, in the order of the file.
	Concrete []*ConcreteFunction
	// Parameters are the parameters of the Python function; nil if the file
	// lacks them.
	Parameters *Parameters
	// Keywords are the names of a bare function's inputs, of which the first
	// Positional may be given by place.
	Keywords   []string
	Positional int
}

// ConcreteFunction is one trace of a function.
type ConcreteFunction struct {
	// Name is the function's name in the graph's library.
	Name string
	// Captures are the objects that are the function's last arguments; nil for
	// one that TensorFlow couldn't save.
	Captures []*Object
	// In is the structure of the arguments: a pair of a tuple of those by place
	// and a dict of those by name. Arguments without tensors have the values
	// that they had when it was traced. Nil if the file lacks it.
	In *graph.Structure
	// Out is the structure of the results.
	Out *graph.Structure
}

// Args returns the structures of the trace's arguments by place.
func (c *ConcreteFunction) Args() []*graph.Structure {
	if c.In == nil {
		return nil
	}
	return c.In.Elems[0].Elems
}

// String returns "name(x: float32[3], training=true) → float32[3]".
func (c *ConcreteFunction) String() string {
	return fmt.Sprintf("%s(%s) → %v", c.Name, c.Takes(), c.Out)
}

// Takes returns the trace's arguments in the form of a call; "unknown" if the
// file lacks them.
func (c *ConcreteFunction) Takes() string { return formatCall(c.In) }

// Parameters are the parameters of a Python function.
type Parameters struct {
	// Names are those of the parameters that may be given by place; self is left
	// out.
	Names []string
	// Defaults are the values of the last of Names.
	Defaults []*graph.Structure
	// VarArgs and VarKwargs are the names of *args and **kwargs; "" for none.
	VarArgs, VarKwargs string
	// KeywordOnly are the parameters that can't be given by place, with those of
	// them that may be left out.
	KeywordOnly     []string
	KeywordDefaults map[string]*graph.Structure
	// Signature is the function's fixed input signature; nil for most.
	Signature *graph.Structure
	// JITCompile is the function's request for compilation: "DEFAULT", "ON",
	// "OFF".
	JITCompile string
}

// String returns "(x, training=false, *, mask=None)".
func (p *Parameters) String() string {
	var parts []string
	first := len(p.Names) - len(p.Defaults)
	for i, n := range p.Names {
		if i >= first {
			n += "=" + p.Defaults[i-first].String()
		}
		parts = append(parts, n)
	}
	if p.VarArgs != "" {
		parts = append(parts, "*"+p.VarArgs)
	} else if len(p.KeywordOnly) > 0 {
		parts = append(parts, "*")
	}
	for _, n := range p.KeywordOnly {
		if v, ok := p.KeywordDefaults[n]; ok {
			n += "=" + v.String()
		}
		parts = append(parts, n)
	}
	if p.VarKwargs != "" {
		parts = append(parts, "**"+p.VarKwargs)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// concrete makes a trace of an entry of concrete_functions.
func (r *objectReader) concrete(b []byte) error {
	var key string
	var value []byte
	f := pb.Fields{Rest: b}
	for f.Next() {
		switch {
		case f.Bytes == nil: // a number, which no known field of the entry is
		case f.Number == 1:
			key = strings.Clone(f.Text())
		case f.Number == 2:
			value = joined(value, f.Bytes)
		}
	}
	if f.Bad {
		return errDecode
	}
	c := &r.spareFunctions[0]
	r.spareFunctions = r.spareFunctions[1:]
	c.Name = key
	r.concretes[key] = c
	var p pb.SavedConcreteFunction
	if p.Unmarshal(value) != nil {
		return errDecode
	}
	if err := r.signature(c, &p); err != nil {
		return fmt.Errorf("function %q: %w", key, err)
	}
	return nil
}

// signature sets the captures, arguments and results of a trace.
func (r *objectReader) signature(c *ConcreteFunction, p *pb.SavedConcreteFunction) error {
	for _, id := range p.BoundInputs {
		if id == -1 { // an input that TensorFlow couldn't save
			c.Captures = append(slices.Grow(c.Captures, len(p.BoundInputs)-len(c.Captures)), nil)
			continue
		}
		o, err := r.object(id)
		if err != nil {
			return fmt.Errorf("it captures a missing object: %w", err)
		}
		c.Captures = append(slices.Grow(c.Captures, len(p.BoundInputs)-len(c.Captures)), o)
	}
	var err error
	if c.Out, err = r.structure(p.OutputSignature); err != nil {
		return err
	}
	in, err := r.structure(p.CanonicalizedInputSignature)
	if err != nil || in.IsNone() { // a graph wrapped as a function: it takes flat tensors
		return err
	}
	c.In, err = pairOf(in)
	return err
}

// pairOf returns a pair of a tuple and a dict; older files have a list.
func pairOf(in *graph.Structure) (*graph.Structure, error) {
	if in.Kind == graph.TupleStructure && len(in.Elems) == 2 && isSequence(in.Elems[0]) && in.Elems[1].Kind == graph.DictStructure {
		if in.Elems[0].Kind == graph.TupleStructure {
			return in, nil
		}
		return graph.TupleOf(graph.TupleOf(in.Elems[0].Elems...), in.Elems[1]), nil
	}
	return nil, errors.New("its input signature isn't a pair of a tuple and a dict")
}

// structure reads a structured value. For a nil l its Kind is
// graph.UnsetStructure.
func (r *objectReader) structure(l *pb.Lazy[pb.StructuredValue]) (*graph.Structure, error) {
	if l == nil {
		return graphInternals.ReadStructure(nil, &r.constants)
	}
	b := l.Encoded()
	if s, ok := r.structures[string(b)]; ok {
		return s, nil
	}
	b = bytes.Clone(b) // which the structure refers to
	var p pb.StructuredValue
	if p.Unmarshal(b) != nil {
		return nil, errDecode
	}
	s, err := graphInternals.ReadStructure(&p, &r.constants)
	if err == nil {
		r.structures[string(b)] = s
	}
	return s, err
}

// function fills a function of several traces.
func (r *objectReader) function(o *Object, b []byte) error {
	var p pb.SavedFunction
	if p.Unmarshal(b) != nil {
		return errDecode
	}
	return r.traces(o, p.ConcreteFunctions, p.FunctionSpec)
}

// bareFunction fills a trace that is an object by itself.
func (r *objectReader) bareFunction(o *Object, b []byte) error {
	var p pb.SavedBareConcreteFunction
	if p.Unmarshal(b) != nil {
		return errDecode
	}
	if err := r.traces(o, []string{p.ConcreteFunctionName}, p.FunctionSpec); err != nil {
		return err
	}
	for i, k := range p.ArgumentKeywords {
		p.ArgumentKeywords[i] = r.name(k)
	}
	o.Function.Keywords, o.Function.Positional = p.ArgumentKeywords, int(p.AllowedPositionalArguments)
	return nil
}

// traces sets the traces and parameters of a function.
func (r *objectReader) traces(o *Object, names []string, spec *pb.Lazy[pb.FunctionSpec]) error {
	f := &FunctionInfo{Concrete: make([]*ConcreteFunction, 0, len(names))}
	o.Function = f
	for _, name := range names {
		c := r.concretes[name]
		if c == nil {
			return fmt.Errorf("the function %q isn't among the concrete functions", name)
		}
		f.Concrete = append(f.Concrete, c)
	}
	var err error
	f.Parameters, err = r.parameters(spec)
	return err
}

// parameters reads the parameters of a Python function; nil means that the file
// lacks them.
func (r *objectReader) parameters(l *pb.Lazy[pb.FunctionSpec]) (*Parameters, error) {
	if l == nil {
		return nil, nil
	}
	b := l.Encoded()
	if p, ok := r.specs[string(b)]; ok {
		return p, nil
	}
	b = bytes.Clone(b) // which the parameters refer to
	var spec pb.FunctionSpec
	if spec.Unmarshal(b) != nil {
		return nil, errDecode
	}
	p, err := parametersOf(&spec, &r.constants)
	if err == nil {
		r.specs[string(b)] = p
	}
	return p, err
}

// parametersOf returns the parameters that a FunctionSpec describes: Fullargspec is a named tuple as
// Python's inspect.FullArgSpec. constants is the number of bytes that tensors in it may still take.
func parametersOf(spec *pb.FunctionSpec, constants *int64) (*Parameters, error) {
	full, err := graphInternals.ReadStructure(spec.Fullargspec, constants)
	if err != nil {
		return nil, err
	}
	p := &Parameters{JITCompile: spec.JitCompile.String()}
	if p.Signature, err = graphInternals.ReadStructure(spec.InputSignature, constants); err != nil {
		return nil, err
	}
	if p.Signature.IsNone() {
		p.Signature = nil
	}
	if full.Kind != graph.NamedStructure {
		return nil, errors.New("the function's parameters aren't a FullArgSpec")
	}
	p.Names, p.KeywordOnly = stringList(full.Lookup("args")), stringList(full.Lookup("kwonlyargs"))
	p.VarArgs, p.VarKwargs = staticOf[string](full.Lookup("varargs")), staticOf[string](full.Lookup("varkw"))
	if d := full.Lookup("defaults"); isSequence(d) {
		p.Defaults = d.Elems
	}
	if d := full.Lookup("kwonlydefaults"); d != nil && d.Kind == graph.DictStructure {
		p.KeywordDefaults = make(map[string]*graph.Structure, len(d.Keys))
		for i, k := range d.Keys {
			p.KeywordDefaults[k] = d.Elems[i]
		}
	}
	if len(p.Defaults) > len(p.Names) {
		return nil, fmt.Errorf("the function has %d defaults for %d parameters", len(p.Defaults), len(p.Names))
	}
	// Older files hold methods with their self, which a call leaves out.
	if spec.IsMethod || len(p.Names) > 0 && p.Names[0] == "self" {
		if len(p.Names) > 0 {
			p.Names = p.Names[1:]
		}
		p.Defaults = p.Defaults[max(0, len(p.Defaults)-len(p.Names)):]
	}
	return p, nil
}

func stringList(s *graph.Structure) []string {
	if !isSequence(s) {
		return nil
	}
	var out []string
	for _, e := range s.Elems {
		out = append(out, staticOf[string](e))
	}
	return out
}
