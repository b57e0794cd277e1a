package graph

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// function fills fn from its message p. Before the call fn has only its name.
func (r *reader) function(fn *Function, p *functionDef) error {
	sig := r.calls[fn]
	fn.Extra = &FunctionExtra{signature: sig, resources: p.ResourceArgUniqueId, unknown: p.Unknown}
	var err error
	if fn.Attrs, err = r.attrs(p.Attr, sig, 0); err != nil {
		return err
	}
	for i, a := range fn.Attrs {
		if a.Kind == AttrString && a.src == nil && (a.Name == "forward_function_name" || a.Name == "backward_function_name") {
			if f := r.lib.Lookup(a.str); f != nil {
				fn.Attrs[i] = FunctionName(a.Name, f)
			}
		}
	}
	for _, e := range p.ArgAttr {
		if e.Value == nil {
			e.Value = &pb.ArgAttrs{}
		}
		as, err := r.attrs(e.Value.Attr, nil, 0)
		if err != nil {
			return fmt.Errorf("attributes of argument %d: %w", e.Key, err)
		}
		if int64(int(e.Key)) != int64(e.Key) {
			return fmt.Errorf("there is no argument %d", e.Key)
		}
		if fn.ArgAttrs == nil {
			fn.ArgAttrs = make(map[int]Attrs, len(p.ArgAttr))
		}
		fn.ArgAttrs[int(e.Key)] = as
		if e.Value.Unknown != nil {
			if fn.Extra.args == nil {
				fn.Extra.args = map[int][]byte{}
			}
			fn.Extra.args[int(e.Key)] = e.Value.Unknown
		}
	}
	in := &nodeReader{reader: r, graph: fn.Graph, function: fn}
	if err := in.arguments(); err != nil {
		return err
	}
	if err := in.nodes(p.nodes); err != nil {
		return err
	}
	if err := in.results(p.FunctionDef); err != nil {
		return err
	}
	for _, n := range fn.Graph.nodes {
		if n.Def != nil && n.Def == r.guessed[n.Op] {
			n.Def = nil // it served to read the function
		}
	}
	return nil
}

// arguments adds the nodes that are the arguments.
func (r *nodeReader) arguments() error {
	fn := r.function
	sig := r.calls[fn]
	r.args = make(map[string]Output, len(sig.Inputs))
	shapes := fn.Attrs.Shapes("_input_shapes")
	for i := range sig.Inputs {
		def := &sig.Inputs[i]
		if def.List() {
			return fmt.Errorf("argument %q is a list: %w", def.Name, errors.ErrUnsupported)
		}
		f := typeFact(def.Type, def.Ref)
		if i < len(shapes) {
			f.Shape = shapes[i].Identified()
		}
		if s := fn.ArgAttrs[i].Shapes("_output_shapes"); len(s) == 1 {
			f.Shape = s[0].Identified()
		}
		if def.rest != nil {
			for _, h := range def.rest.HandleData {
				s, _, err := readShape(h.Shape)
				if err != nil {
					return fmt.Errorf("the value of the handle %q: %w", def.Name, err)
				}
				f.Handle = append(f.Handle, Content{tensor.DType(h.Dtype), s.Identified()})
			}
		}
		o, err := fn.AddArg(def.Name, f)
		if err != nil {
			return fmt.Errorf("argument %q: %w", def.Name, err)
		}
		switch {
		case def.TypeAttr != "":
			o.Node.Attrs[0] = Placeholder("T", def.TypeAttr)
		case !def.Type.Valid():
			o.Node.Attrs[0] = Type("T", def.Type)
		}
		r.args[def.Name] = o
	}
	return nil
}

// results sets the function's results and the nodes that run in every call.
func (r *nodeReader) results(p *pb.FunctionDef) error {
	fn := r.function
	sig := r.calls[fn]
	rets := make(map[string]string, len(p.Ret))
	for _, e := range p.Ret {
		rets[e.Key] = e.Value
	}
	for i := range sig.Outputs {
		def := &sig.Outputs[i]
		name, ok := rets[def.Name]
		switch {
		case def.List():
			return fmt.Errorf("result %q is a list: %w", def.Name, errors.ErrUnsupported)
		case !ok:
			return fmt.Errorf("the result %q is not defined", def.Name)
		}
		delete(rets, def.Name)
		lo, hi, from, err := r.find(name)
		if err != nil {
			return fmt.Errorf("result %q (%q): %w", def.Name, name, err)
		}
		if hi != lo+1 {
			return fmt.Errorf("result %q (%q) is %d tensors", def.Name, name, hi-lo)
		}
		fn.Results = append(fn.Results, Result{def.Name, Output{from, lo}})
	}
	for _, name := range slices.Sorted(maps.Keys(rets)) {
		return fmt.Errorf("it returns %q, which its signature lacks", name)
	}
	controls := make(map[string]string, len(p.ControlRet))
	for _, e := range p.ControlRet {
		controls[e.Key] = e.Value
	}
	for _, name := range sig.ControlOutputs {
		node, ok := controls[name]
		if !ok {
			return fmt.Errorf("the control result %q is not defined, or is defined twice", name)
		}
		delete(controls, name)
		n := fn.Graph.Lookup(node)
		if n == nil {
			return fmt.Errorf("control result %q (%q): there is no such node", name, node)
		}
		fn.Control = append(fn.Control, ControlResult{name, n})
	}
	for _, name := range slices.Sorted(maps.Keys(controls)) {
		return fmt.Errorf("it has the control result %q, which its signature lacks", name)
	}
	return nil
}
