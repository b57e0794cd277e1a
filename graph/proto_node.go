package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// nodeReader adds the nodes of a GraphDef, or of a function's body, to a graph.
type nodeReader struct {
	*reader
	graph    *Graph
	function *Function         // whose body the graph is; nil for a graph outside of a function
	args     map[string]Output // the function's arguments
	places   placeCache
}

func (r *nodeReader) fail(n *Node, err error) error {
	e := &NodeDefError{Node: n.Name, Op: n.Op, Err: err}
	if r.function != nil {
		e.Function = r.function.Name
	}
	return e
}

// Numbers of the fields of a NodeDef.
const (
	fieldName   = 1
	fieldOp     = 2
	fieldInput  = 3
	fieldDevice = 4
	fieldAttr   = 5
)

// nodes adds all encoded nodes, then connects them, because the node of an
// input may come later.
func (r *nodeReader) nodes(defs [][]byte) error {
	room := make([]Node, len(defs))
	if r.graph.byName == nil {
		r.graph.byName = make(map[string]*Node, len(defs))
	}
	r.graph.nodes = slices.Grow(r.graph.nodes, len(defs))
	for i, b := range defs {
		if err := r.node(&room[i], b); err != nil {
			return r.fail(&room[i], err)
		}
	}
	for i, b := range defs {
		r.reader.inputs = r.reader.inputs[:0]
		for f := (pb.Fields{Rest: b}); f.Next(); {
			if f.Number == fieldInput && f.Bytes != nil {
				r.reader.inputs = append(r.reader.inputs, f.Text())
			}
		}
		if err := r.connect(&room[i], r.reader.inputs); err != nil {
			return r.fail(&room[i], err)
		}
	}
	return nil
}

// node fills a node from its encoded NodeDef, except for its inputs, and adds
// it.
func (r *nodeReader) node(n *Node, b []byte) error {
	n.read = true
	attrs, plain := 0, true
	for f := (pb.Fields{Rest: b}); ; {
		if !f.Next() {
			if f.Bad || f.Passed || !plain { // rare: decoding the whole message reads the rest or returns the error
				var err error
				if n.Extra, err = extraOf(b); err != nil {
					return err
				}
			}
			break
		}
		switch {
		case f.Bytes == nil:
			plain = false
		case f.Number == fieldName:
			n.Name = f.Text()
		case f.Number == fieldOp:
			n.Op = f.Text()
		case f.Number == fieldDevice:
			n.Device = f.Text()
		case f.Number == fieldAttr:
			attrs++
		case f.Number != fieldInput:
			plain = false
		}
	}
	switch {
	case n.Name == "":
		return errors.New("it has no name")
	case n.Op == "":
		return errors.New("it has no op")
	case n.Name[0] == '^' || strings.ContainsRune(n.Name, ':'):
		return errors.New("no node can have this name: a colon and a leading ^ mean something else in an input")
	}
	n.Def = r.def(n.Op)
	if n.Def == nil && r.function != nil {
		n.Def = r.guessed[n.Op]
	}
	var err error
	if n.Attrs, err = r.attrsOf(b, attrs, n.Def); err != nil {
		return err
	}
	if more := r.later[n.Op]; more != nil && r.lib.Lookup(n.Op) == nil {
		n.Def = n.Def.readsAs(more, n.Attrs)
	}
	if n.Def != nil {
		if n.Out, err = r.outputs(n.Def, n.Attrs); err != nil {
			return err
		}
	}
	if r.graph.byName[n.Name] != nil {
		return errors.New("there are two nodes of this name")
	}
	return r.graph.Add(n)
}

// extraOf returns the part of an encoded NodeDef that this module doesn't use;
// nil if there is none.
func extraOf(b []byte) (*NodeExtra, error) {
	var p pb.NodeDef
	if err := p.Unmarshal(b); err != nil {
		return nil, err
	}
	if p.ExperimentalDebugInfo == nil && p.ExperimentalType == nil && p.Unknown == nil {
		return nil, nil
	}
	return &NodeExtra{p.ExperimentalDebugInfo, p.ExperimentalType, p.Unknown}, nil
}

// outputs returns facts with the types of a node's outputs. It returns nil if
// an attribute of the surrounding function determines their number.
func (r *reader) outputs(def *OpDef, attrs Attrs) ([]Fact, error) {
	var out []Fact
	for i := range def.Outputs {
		arg := &def.Outputs[i]
		n, known, err := def.length(arg, attrs)
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", arg.Name, err)
		}
		if !known {
			return nil, nil
		}
		if arg.NumberAttr != "" {
			if r.numbered -= int64(n); r.numbered < 0 {
				return nil, fmt.Errorf("output %q: attribute %q asks for too many outputs: the nodes of a file can have %d so", arg.Name, arg.NumberAttr, maxNumbered)
			}
		}
		if arg.TypeListAttr != "" {
			for _, t := range def.types(arg.TypeListAttr, attrs) {
				out = append(out, typeFact(t, arg.Ref))
			}
			continue
		}
		t := arg.Type
		if arg.TypeAttr != "" {
			t = def.typeOf(arg.TypeAttr, attrs)
		}
		for range n {
			out = append(out, typeFact(t, arg.Ref))
		}
	}
	return out, nil
}

// typeFact returns a fact with an element type, which in old graphs may be that
// of a reference.
func typeFact(t tensor.DType, ref bool) Fact {
	if !t.Valid() && (t - refOffset).Valid() {
		t, ref = t-refOffset, true
	}
	return Fact{DType: t, Ref: ref}
}

// refOffset is the number that TensorFlow adds to a type for a reference to it (types.proto).
const refOffset = 100

// length returns the number of tensors of an argument, and whether that is
// known. It is unknown if an attribute of the surrounding function determines
// it.
func (d *OpDef) length(arg *ArgDef, attrs Attrs) (n int, known bool, err error) {
	switch {
	case arg.NumberAttr != "":
		a, given := attrs.valued(arg.NumberAttr)
		var v int64
		switch def := d.Attr(arg.NumberAttr).defaultProto(); {
		case given && a.Kind == AttrPlaceholder:
			return 0, false, nil
		case given && a.Kind == AttrInt:
			v = int64(a.num)
		case given:
			return 0, false, fmt.Errorf("attribute %q is a %v, not an int", arg.NumberAttr, a.Kind)
		case def == nil:
			return 0, false, fmt.Errorf("attribute %q is missing", arg.NumberAttr)
		default:
			v = def.I
		}
		if v < 0 || v > math.MaxInt32 {
			return 0, false, fmt.Errorf("attribute %q is %d", arg.NumberAttr, v)
		}
		return int(v), true, nil
	case arg.TypeListAttr != "":
		a, given := attrs.valued(arg.TypeListAttr)
		_, named := attrs.Lookup(arg.TypeListAttr)
		switch {
		case given && a.Kind == AttrPlaceholder:
			return 0, false, nil
		case given && a.Kind != AttrTypes:
			return 0, false, fmt.Errorf("attribute %q is a %v, not a list(type)", arg.TypeListAttr, a.Kind)
		case !named && !d.Attr(arg.TypeListAttr).HasDefault():
			return 0, false, fmt.Errorf("attribute %q is missing", arg.TypeListAttr)
		}
		return len(d.types(arg.TypeListAttr, attrs)), true, nil
	}
	return 1, true, nil
}

// valued returns an attribute that has a value besides its name.
func (as Attrs) valued(name string) (Attr, bool) {
	a, ok := as.Lookup(name)
	return a, ok && a.Kind != AttrNone
}

// types returns a list of types, or its default.
func (d *OpDef) types(name string, attrs Attrs) []tensor.DType {
	if a, ok := attrs.find(name, AttrTypes); ok {
		return a.value.([]tensor.DType)
	}
	if def := d.Attr(name).defaultProto(); def != nil && def.List != nil {
		return dtypes(def.List.Type)
	}
	return nil
}

// typeOf returns a type, or its default; Invalid if there is neither.
func (d *OpDef) typeOf(name string, attrs Attrs) tensor.DType {
	if a, ok := attrs.Lookup(name); ok {
		if a.Kind == AttrType {
			return tensor.DType(a.num)
		}
		return tensor.Invalid
	}
	if def := d.Attr(name).defaultProto(); def != nil {
		return tensor.DType(def.Type)
	}
	return tensor.Invalid
}

// connect sets a node's inputs. Data inputs come before control inputs.
func (r *nodeReader) connect(n *Node, names []string) error {
	if len(names) == 0 {
		return nil
	}
	n.In = make([]Output, 0, len(names))
	for i, name := range names {
		if control, ok := strings.CutPrefix(name, "^"); ok {
			from := r.graph.byName[control]
			switch {
			case from == nil:
				return fmt.Errorf("control input %q leads to no node", name)
			case from == n:
				return fmt.Errorf("control input %q is the node itself", name)
			}
			n.Control = append(n.Control, from)
			continue
		}
		if len(n.Control) > 0 {
			return fmt.Errorf("input %d (%q) follows a control input", i, name)
		}
		before := len(n.In)
		var err error
		if r.function != nil {
			err = r.bodyInput(n, name)
		} else {
			err = r.graphInput(n, name)
		}
		if err != nil {
			return fmt.Errorf("input %d (%q): %w", i, name, err)
		}
		for _, in := range n.In[before:] {
			if in.Node == n {
				return fmt.Errorf("input %d (%q) is the node itself", i, name)
			}
		}
	}
	return nil
}

// graphInput adds the input called "node" or "node:1".
func (r *nodeReader) graphInput(n *Node, name string) error {
	node, port, found := strings.Cut(name, ":")
	from := r.graph.byName[node]
	if from == nil {
		return errors.New("there is no such node")
	}
	i := 0
	if found {
		v, err := parsePort(port)
		if err != nil {
			return err
		}
		i = v
	}
	most := len(from.Out)
	if from.Def == nil || from.Out == nil && len(from.Def.Outputs) > 0 {
		most = maxPort
	}
	if i >= most {
		return fmt.Errorf("the node (%s) has %d outputs", from.Op, most)
	}
	n.In = append(n.In, Output{from, i})
	return nil
}

// parsePort returns the number of an output, without signs and leading zeros.
func parsePort(s string) (int, error) {
	v, err := strconv.ParseUint(s, 10, 31)
	if err != nil || len(s) > 1 && s[0] == '0' {
		return 0, fmt.Errorf("%q is no number of an output", s)
	}
	return int(v), nil
}

// bodyInput adds the inputs that a name in a function's body means: an
// argument's name, "node:output:1", or "node:output" for all tensors of an output.
func (r *nodeReader) bodyInput(n *Node, name string) error {
	lo, hi, from, err := r.find(name)
	if err != nil {
		return err
	}
	if len(n.In)+hi-lo > maxPort && hi-lo > 1 {
		return fmt.Errorf("the node has over %d inputs", maxPort)
	}
	if r.listed -= int64(max(hi-lo-1, 0)); r.listed < 0 {
		return fmt.Errorf("it is a list of %d tensors: the inputs of a file's nodes can have %d more tensors than names", hi-lo, maxListed)
	}
	for i := lo; i < hi; i++ {
		n.In = append(n.In, Output{from, i})
	}
	return nil
}

// find returns the outputs of a node that a name in a function's body means.
func (r *nodeReader) find(name string) (lo, hi int, from *Node, err error) {
	node, rest, found := strings.Cut(name, ":")
	if arg, ok := r.args[node]; ok && (!found || rest == "0") {
		return 0, 1, arg.Node, nil
	}
	if from = r.graph.byName[node]; from == nil || r.args[node].Node != nil {
		return 0, 0, nil, errors.New("there is no such node or argument")
	}
	if !found {
		return 0, 0, nil, errors.New("it is a node without the name of an output")
	}
	output, port, one := strings.Cut(rest, ":")
	if from.Def == nil {
		return 0, 0, nil, fmt.Errorf("%s: %w", from.Op, ErrUnknownOp)
	}
	places, err := r.places.of(from, from.Def)
	if err != nil {
		return 0, 0, nil, fmt.Errorf("%q: %w", node, err)
	}
	lo, hi, ok := places.named(from.Def, output)
	switch {
	case !ok:
		return 0, 0, nil, fmt.Errorf("%s has no output %q", from.Op, output)
	case !one:
		return lo, hi, from, nil
	}
	at, err := parsePort(port)
	if err != nil {
		return 0, 0, nil, err
	}
	if at >= hi-lo {
		return 0, 0, nil, fmt.Errorf("output %q of %s has %d tensors", output, from.Op, hi-lo)
	}
	return lo + at, lo + at + 1, from, nil
}
