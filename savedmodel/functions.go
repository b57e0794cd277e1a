package savedmodel

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
)

// FunctionInfo describes a function of the graph of objects.
type FunctionInfo struct {
	// Concrete are the function's traces, in the order of the file.
	Concrete []*ConcreteFunction
	// Parameters are what the Python function takes; nil where the file doesn't
	// say.
	Parameters *Parameters
	// Keywords are the names of a bare function's inputs, of which so many may be
	// given by place.
	Keywords   []string
	Positional int
}

// ConcreteFunction is one trace of a function.
type ConcreteFunction struct {
	// Name is the function's name in the graph's library.
	Name string
	// Captures are the objects that are the function's last arguments.
	Captures []*Object
	// Args and Kwargs are what it takes: TensorSpecs, TypeSpecs, and the values
	// that other arguments had when it was traced.
	Args   []any
	Kwargs map[string]any
	// Output is what it gives.
	Output any
	// Known says whether the file tells what the function takes and gives.
	Known bool
}

// String returns "name(args; kwargs) → output".
func (c *ConcreteFunction) String() string {
	return fmt.Sprintf("%s(%s) → %s", c.Name, formatCall(c.Args, c.Kwargs), Format(c.Output))
}

// Takes returns the arguments that the trace takes, as a call has them.
func (c *ConcreteFunction) Takes() string { return formatCall(c.Args, c.Kwargs) }

// formatCall writes arguments as a call has them.
func formatCall(args []any, kwargs map[string]any) string {
	var parts []string
	for _, a := range args {
		parts = append(parts, Format(a))
	}
	for _, k := range sortedKeys(kwargs) {
		parts = append(parts, k+"="+Format(kwargs[k]))
	}
	return strings.Join(parts, ", ")
}

// Parameters are the parameters of a Python function.
type Parameters struct {
	// Names are those of the parameters that may be given by place; self is left
	// out.
	Names []string
	// Defaults are the values of the last of Names.
	Defaults []any
	// VarArgs and VarKwargs are the names of *args and **kwargs; "" for none.
	VarArgs, VarKwargs string
	// KeywordOnly are the parameters that can't be given by place, with those of
	// them that may be left out.
	KeywordOnly     []string
	KeywordDefaults map[string]any
	// Signature is the function's fixed input signature; nil for most.
	Signature any
	// JITCompile says what the function asks for: "DEFAULT", "ON", "OFF".
	JITCompile string
}

// String returns "(x, training=False, *, mask=None)".
func (p *Parameters) String() string {
	var parts []string
	first := len(p.Names) - len(p.Defaults)
	for i, n := range p.Names {
		if i >= first {
			n += "=" + Format(p.Defaults[i-first])
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
			n += "=" + Format(v)
		}
		parts = append(parts, n)
	}
	if p.VarKwargs != "" {
		parts = append(parts, "**"+p.VarKwargs)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// readConcrete makes the traces, by their names.
func (g *MetaGraph) readConcrete(list []*pb.SavedConcreteFunctionEntry) error {
	g.concretes = make(map[string]*ConcreteFunction, len(list))
	for _, e := range list {
		c := &ConcreteFunction{Name: e.Key}
		g.concretes[e.Key] = c
		if e.Value == nil {
			continue
		}
		for _, id := range e.Value.BoundInputs {
			if id == -1 { // an input that TensorFlow couldn't save
				c.Captures = append(c.Captures, nil)
				continue
			}
			o, err := g.object(id)
			if err != nil {
				return fmt.Errorf("function %q captures what isn't there: %w", e.Key, err)
			}
			c.Captures = append(c.Captures, o)
		}
		var err error
		if c.Output, err = decodeStructure(e.Value.OutputSignature, 0); err != nil {
			return fmt.Errorf("function %q: %w", e.Key, err)
		}
		if e.Value.CanonicalizedInputSignature == nil {
			continue
		}
		in, err := decodeStructure(e.Value.CanonicalizedInputSignature, 0)
		if err != nil {
			return fmt.Errorf("function %q: %w", e.Key, err)
		}
		if in == nil { // a graph wrapped as a function: it takes flat tensors
			continue
		}
		if c.Args, c.Kwargs, err = argsAndKwargs(in); err != nil {
			return fmt.Errorf("function %q: %w", e.Key, err)
		}
		c.Known = true
	}
	return nil
}

// argsAndKwargs takes a pair of a tuple and a dict apart.
func argsAndKwargs(v any) ([]any, map[string]any, error) {
	pair, ok := v.(Tuple)
	if ok && len(pair) == 2 {
		kwargs, isDict := pair[1].(map[string]any)
		switch args := pair[0].(type) {
		case Tuple:
			if isDict {
				return args, kwargs, nil
			}
		case List:
			if isDict {
				return args, kwargs, nil
			}
		}
	}
	return nil, nil, fmt.Errorf("its input signature isn't a pair of a tuple and a dict")
}

func (g *MetaGraph) readFunction(o *Object, names []string, spec *pb.FunctionSpec) error {
	f := &FunctionInfo{}
	o.Function = f
	for _, name := range names {
		c := g.concretes[name]
		if c == nil {
			return fmt.Errorf("the function %q isn't among the concrete functions", name)
		}
		f.Concrete = append(f.Concrete, c)
	}
	if spec == nil {
		return nil
	}
	p, err := parameters(spec)
	if err != nil {
		return err
	}
	f.Parameters = p
	return nil
}

func parameters(spec *pb.FunctionSpec) (*Parameters, error) {
	v, err := decodeStructure(spec.Fullargspec, 0)
	if err != nil {
		return nil, err
	}
	p := &Parameters{JITCompile: spec.JitCompile.String()}
	if p.Signature, err = decodeStructure(spec.InputSignature, 0); err != nil {
		return nil, err
	}
	full, ok := v.(*NamedTuple)
	if !ok {
		return nil, errors.New("the function's parameters aren't a FullArgSpec")
	}
	for i, key := range full.Keys {
		v := full.Values[i]
		switch key {
		case "args":
			p.Names = stringList(v)
		case "varargs":
			p.VarArgs, _ = v.(string)
		case "varkw":
			p.VarKwargs, _ = v.(string)
		case "defaults":
			p.Defaults = sequence(v)
		case "kwonlyargs":
			p.KeywordOnly = stringList(v)
		case "kwonlydefaults":
			p.KeywordDefaults, _ = v.(map[string]any)
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

// sequence returns the elements of a list or tuple.
func sequence(v any) []any {
	switch v := v.(type) {
	case List:
		return v
	case Tuple:
		return v
	}
	return nil
}

func stringList(v any) []string {
	var out []string
	for _, x := range sequence(v) {
		s, _ := x.(string)
		out = append(out, s)
	}
	return out
}
