package graph

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// writer makes messages of a graph or of a function.
type writer struct {
	lib      *Library
	names    map[*Node]string // of nodes that are written under another name than their own
	fn       *Function        // whose body is written; nil for a graph
	args     map[*Node]bool   // the arguments of fn
	effects  *Effects         // of fn and the functions that it calls
	controls []ControlResult  // those of fn for a file

	places placeCache
}

func (w *writer) name(n *Node) string {
	if s, ok := w.names[n]; ok {
		return s
	}
	return n.Name
}

func (w *writer) fail(n *Node, err error) error {
	e := &NodeDefError{Node: n.Name, Op: n.Op, Err: err}
	if w.fn != nil {
		e.Function = w.fn.Name
	}
	return e
}

// nodes returns the nodes of a graph, without a function's arguments.
func (w *writer) nodes(g *Graph) ([]*pb.NodeDef, error) {
	out := make([]*pb.NodeDef, 0, len(g.nodes))
	for _, n := range g.nodes {
		if w.args[n] {
			continue
		}
		p, err := w.node(g, n)
		if err != nil {
			return nil, w.fail(n, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func (w *writer) node(g *Graph, n *Node) (*pb.NodeDef, error) {
	p := &pb.NodeDef{Name: w.name(n), Op: n.Op, Device: n.Device}
	if f := g.Library.Lookup(n.Op); f != nil {
		p.Op = w.lib.nameOf(Callee{Function: f})
	}
	attrs := n.Attrs
	if w.lib != nil {
		if name, ok := w.lib.gradients[n]; ok {
			attrs = attrs.Set(String(gradientType, name))
		}
	}
	var err error
	if p.Attr, err = w.attrs(attrs); err != nil {
		return nil, err
	}
	if len(n.In)+len(n.Control) > 0 {
		p.Input = make([]string, 0, len(n.In)+len(n.Control))
	}
	for i, in := range n.In {
		name, err := w.input(g, in)
		if err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		p.Input = append(p.Input, name)
	}
	for _, c := range n.Control {
		if c == nil || c.graph != g {
			return nil, errors.New("a control input leads out of the graph")
		}
		p.Input = append(p.Input, "^"+w.name(c))
	}
	if x := n.Extra; x != nil {
		p.ExperimentalDebugInfo, p.ExperimentalType, p.Unknown = x.debugInfo, x.fullType, x.unknown
	}
	return p, nil
}

// input returns an output's name: in a function that of the output argument
// too.
func (w *writer) input(g *Graph, o Output) (string, error) {
	switch {
	case o.Node == nil || o.Node.graph != g:
		return "", fmt.Errorf("%v leads out of the graph", o)
	case w.fn == nil && o.Index == 0:
		return w.name(o.Node), nil
	case w.fn == nil:
		return w.name(o.Node) + ":" + strconv.Itoa(o.Index), nil
	case w.args[o.Node]:
		return w.name(o.Node), nil
	}
	def := o.Node.definition()
	if def == nil {
		return "", fmt.Errorf("%v: %s: %w", o, o.Node.Op, ErrUnknownOp)
	}
	places, err := w.places.of(o.Node, def)
	if err != nil {
		return "", fmt.Errorf("%v: %w", o, err)
	}
	arg, at, ok := places.argument(o.Index)
	if !ok {
		return "", fmt.Errorf("%s has no output %d", o.Node.Op, o.Index)
	}
	return w.name(o.Node) + ":" + def.Outputs[arg].Name + ":" + strconv.Itoa(at), nil
}

// definition returns the op's definition, or TensorFlow's if the node has none.
func (n *Node) definition() *OpDef {
	if n.Def != nil {
		return n.Def
	}
	if n.graph != nil {
		if f := n.graph.Library.Lookup(n.Op); f != nil {
			return f.signature()
		}
	}
	return LookupOp(n.Op)
}

// proto returns the function as a FunctionDef. lib has the names of the
// functions that it refers to; nil means the Name of each function. Maps are
// sorted by key. Graph.proto lists the differences from a message that was
// read.
//
// A function that was not read gets a signature: names of arguments and results
// that TensorFlow accepts, element types, whether it is stateful.
func (fn *Function) proto(lib *Library, effects *Effects) (*pb.FunctionDef, error) {
	w := &writer{
		lib: lib, names: nodeNames(fn.Graph, fn), fn: fn, args: make(map[*Node]bool, len(fn.Args)),
		effects: effects, controls: fn.controlResults(effects),
	}
	for _, a := range fn.Args {
		w.args[a] = true
	}
	p, err := w.function()
	if err != nil {
		var node *NodeDefError
		if errors.As(err, &node) {
			return nil, err
		}
		return nil, &FunctionDefError{fn.Name, err}
	}
	return p, nil
}

func (w *writer) function() (*pb.FunctionDef, error) {
	fn := w.fn
	x := fn.Extra
	if x == nil {
		x = &FunctionExtra{}
	}
	sig, results, err := fn.sign(w.lib, w.names, w.effects, w.controls)
	if err != nil {
		return nil, err
	}
	p := &pb.FunctionDef{Signature: sig, ResourceArgUniqueId: slices.Clone(x.resources), Unknown: x.unknown}
	pb.SortEntries(p.ResourceArgUniqueId)
	attrs, argAttrs := fn.Attrs, fn.ArgAttrs
	made := x.signature == nil
	if made {
		attrs, argAttrs = fn.shapeAttrs()
	}
	if p.Attr, err = w.attrs(attrs); err != nil {
		return nil, err
	}
	for _, i := range slices.Sorted(maps.Keys(argAttrs)) {
		as, err := w.attrs(argAttrs[i])
		if err != nil {
			return nil, fmt.Errorf("attributes of argument %d: %w", i, err)
		}
		p.ArgAttr = append(p.ArgAttr, &pb.Uint32ArgAttrsEntry{Key: uint32(i), Value: &pb.ArgAttrs{Attr: as, Unknown: x.args[i]}})
	}
	pb.SortEntries(p.ArgAttr)
	if p.NodeDef, err = w.nodes(fn.Graph); err != nil {
		return nil, err
	}
	behind := func(i int, name string) string { return name }
	if made {
		if behind, err = w.orderResults(p); err != nil {
			return nil, err
		}
	}
	for i, r := range fn.Results {
		name, err := w.input(fn.Graph, r.Output)
		if err != nil {
			return nil, fmt.Errorf("result %q: %w", r.Name, err)
		}
		name = behind(i, name)
		p.Ret = append(p.Ret, &pb.StringEntry{Key: results[i], Value: name})
	}
	pb.SortEntries(p.Ret)
	for i, c := range w.controls {
		if c.Node == nil || c.Node.graph != fn.Graph {
			return nil, fmt.Errorf("control result %q leads out of the function", c.Name)
		}
		p.ControlRet = append(p.ControlRet, &pb.StringEntry{Key: sig.ControlOutput[i], Value: w.name(c.Node)})
	}
	pb.SortEntries(p.ControlRet)
	return p, nil
}

// shapeAttrs returns the attributes of a function that was not read, and those
// of its arguments, with the arguments' shapes as TensorFlow writes them.
// TensorFlow reads them when it differentiates the function.
func (fn *Function) shapeAttrs() (Attrs, map[int]Attrs) {
	attrs, args := fn.Attrs, make(map[int]Attrs, len(fn.Args))
	shapes := make([]PartialShape, len(fn.Args))
	for i, a := range fn.Args {
		of := fn.ArgAttrs[i]
		if len(a.Out) > 0 {
			f := a.Out[0]
			shapes[i] = f.Shape.Anonymous()
			if f.DType != tensor.Resource && !of.Has(outputShapes) {
				of = of.Set(Shapes(outputShapes, shapes[i]))
			}
		}
		if len(of) > 0 {
			args[i] = of
		}
	}
	if !attrs.Has(inputShapes) && len(shapes) > 0 {
		attrs = attrs.Set(Shapes(inputShapes, shapes...))
	}
	return attrs, args
}

// Attributes with the shapes of arguments.
const (
	inputShapes  = "_input_shapes"
	outputShapes = "_output_shapes"
)

// orderResults adds nodes to the message of a function that was not read: a
// NoOp after all control results, and for each result an Identity after that.
// So a fetched result implies the effects, in TensorFlow too. It returns a
// function that renames a result.
func (w *writer) orderResults(p *pb.FunctionDef) (func(i int, name string) string, error) {
	fn := w.fn
	controls := w.controls
	if len(controls) == 0 || len(fn.Results) == 0 {
		return func(_ int, name string) string { return name }, nil
	}
	taken := make(map[string]bool, len(p.NodeDef)+len(fn.Args))
	for _, n := range p.NodeDef {
		taken[n.Name] = true
	}
	for _, a := range p.Signature.InputArg {
		taken[a.Name] = true
	}
	unique := func(base string) string {
		name := uniqueIn(taken, base)
		taken[name] = true
		return name
	}
	all := &pb.NodeDef{Name: unique("NoOp"), Op: "NoOp"}
	for _, c := range controls {
		if c.Node == nil || c.Node.graph != fn.Graph {
			return nil, fmt.Errorf("control result %q leads out of the function", c.Name)
		}
		all.Input = append(all.Input, "^"+w.name(c.Node))
	}
	p.NodeDef = append(p.NodeDef, all)
	return func(i int, name string) string {
		n := &pb.NodeDef{Name: unique("Identity"), Op: "Identity", Input: []string{name, "^" + all.Name}}
		n.Attr = []*pb.AttrValueEntry{{Key: "T", Value: &pb.AttrValue{Which: pb.AttrValueType, Type: pb.DataType(fn.Results[i].Output.Fact().DType)}}}
		p.NodeDef = append(p.NodeDef, n)
		return n.Name + ":output:0"
	}, nil
}

// controlResults returns the control results for a file. Those of a function
// that was not read are fn.Control and the nodes that read state, by effects. In TensorFlow
// a call ends when its control results have run, and a later write must come
// after the reads.
func (fn *Function) controlResults(effects *Effects) []ControlResult {
	if fn.Extra != nil && fn.Extra.signature != nil {
		return fn.Control
	}
	list := slices.Clip(fn.Control)
	have := make(map[*Node]bool, len(list))
	for _, c := range list {
		have[c.Node] = true
	}
	for _, n := range fn.Graph.Nodes() {
		if effects.OfNode(n)&Reads != 0 && !have[n] {
			list = append(list, ControlResult{n.Name, n})
		}
	}
	return list
}

// sign returns the function's signature and the names of its results. list has its control
// results for a file.
func (fn *Function) sign(lib *Library, names map[*Node]string, effects *Effects, list []ControlResult) (*pb.OpDef, []string, error) {
	var read *OpDef
	if fn.Extra != nil && fn.Extra.signature != nil {
		read = fn.Extra.signature
	} else {
		read = &OpDef{Stateful: effects.Stateful(fn)}
	}
	inputs, outputs := argsByName(read.Inputs), argsByName(read.Outputs)
	controls := make(map[string]bool, len(read.ControlOutputs))
	for _, s := range read.ControlOutputs {
		controls[s] = true
	}
	sig := read.proto()
	sig.Name, sig.InputArg, sig.OutputArg, sig.ControlOutput = lib.nameOf(Callee{Function: fn}), nil, nil, nil
	for _, a := range fn.Args {
		if a.graph != fn.Graph || len(a.Out) == 0 {
			return nil, nil, fmt.Errorf("argument %q is not in the function", a.Name)
		}
		name := a.Name
		if s, ok := names[a]; ok {
			name = s
		}
		typ, _ := a.Attrs.Lookup("T")
		arg, err := argProto(inputs[a.Name], name, a.Out[0], typ)
		if err != nil {
			return nil, nil, fmt.Errorf("argument %q: %w", a.Name, err)
		}
		sig.InputArg = append(sig.InputArg, arg)
	}
	taken := map[string]bool{}
	var results []string
	for _, r := range fn.Results {
		def := outputs[r.Name]
		name := r.Name
		if def == nil {
			name = uniqueIn(taken, argName(name))
		}
		taken[name] = true
		results = append(results, name)
		arg, err := argProto(def, name, r.Output.Fact(), Attr{})
		if err != nil {
			return nil, nil, fmt.Errorf("result %q: %w", r.Name, err)
		}
		sig.OutputArg = append(sig.OutputArg, arg)
	}
	clear(taken)
	for _, c := range list {
		name := c.Name
		if !controls[name] {
			name = uniqueIn(taken, nodeName(name))
		}
		taken[name] = true
		sig.ControlOutput = append(sig.ControlOutput, name)
	}
	return sig, results, nil
}

func argsByName(args []ArgDef) map[string]*ArgDef {
	out := make(map[string]*ArgDef, len(args))
	for i := range args {
		out[args[i].Name] = &args[i]
	}
	return out
}

// argProto returns an argument or result of a signature. def is its definition
// in the file, or nil; typ is the attribute T of an argument.
func argProto(def *ArgDef, name string, f Fact, typ Attr) (*pb.ArgDef, error) {
	if def != nil && (!f.DType.Valid() || typeFact(def.Type, def.Ref).DType == f.DType) {
		p := argProtos([]ArgDef{*def})[0]
		p.Name = name
		return p, nil
	}
	p := &pb.ArgDef{Name: name, Type: pb.DataType(f.DType), IsRef: f.Ref}
	switch {
	case f.DType.Valid():
	case typ.Kind == AttrPlaceholder:
		p.Type, p.TypeAttr = 0, typ.str
	default:
		return nil, errors.New("its element type is unknown")
	}
	for _, c := range f.Handle {
		if f.DType == tensor.Resource || f.DType == tensor.Variant {
			p.HandleData = append(p.HandleData, &pb.DtypeAndShape{Dtype: pb.DataType(c.DType), Shape: shapeProto(c.Shape)})
		}
	}
	return p, nil
}

// signature returns the definition of a call of the function by its name.
func (fn *Function) signature() *OpDef {
	if fn.Extra != nil && fn.Extra.signature != nil {
		return fn.Extra.signature
	}
	effects := new(Effects)
	p, _, err := fn.sign(nil, nodeNames(fn.Graph, fn), effects, fn.controlResults(effects))
	if err != nil {
		return nil
	}
	d, err := opDefFromProto(p)
	if err != nil {
		return nil
	}
	return d
}

// nodeNames returns the new names of nodes that can't be written under their own.
// In a file, a node's name has letters, digits and _ . - / >. That of an argument
// has small letters, digits and _ only. Names that were read stay as they are.
func nodeNames(g *Graph, fn *Function) map[*Node]string {
	var out map[*Node]string
	var taken map[string]bool
	rename := func(n *Node, to string) {
		if to == n.Name {
			return
		}
		if out == nil {
			out, taken = map[*Node]string{}, make(map[string]bool, len(g.nodes))
			for _, n := range g.nodes {
				taken[n.Name] = true
			}
		}
		out[n] = uniqueIn(taken, to)
		taken[out[n]] = true
	}
	var args map[*Node]bool
	if fn != nil {
		args = make(map[*Node]bool, len(fn.Args))
		var read map[string]*ArgDef
		if fn.Extra != nil && fn.Extra.signature != nil {
			read = argsByName(fn.Extra.signature.Inputs)
		}
		for _, a := range fn.Args {
			args[a] = true
			if read[a.Name] == nil {
				rename(a, argName(a.Name))
			}
		}
	}
	for _, n := range g.nodes {
		if !args[n] && !n.read {
			rename(n, nodeName(n.Name))
		}
	}
	return out
}

// NameInFile returns the name that a node of fn has in a file: the most similar
// valid name if its name isn't valid there.
func (fn *Function) NameInFile(n *Node) string {
	if name, ok := nodeNames(fn.Graph, fn)[n]; ok {
		return name
	}
	return n.Name
}

// uniqueIn returns base, or base with a number, so that it isn't taken.
func uniqueIn(taken map[string]bool, base string) string {
	name := base
	for i := 1; taken[name]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	return name
}

// argName returns the name of an argument or result that is most like s.
func argName(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_':
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '_'
	}, s)
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		s = "arg_" + strings.TrimLeft(s, "_")
	}
	return s
}

// nodeName returns the name of a node that is most like s.
func nodeName(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.ContainsRune("_.-/>", c):
			return c
		}
		return '_'
	}, s)
	if s == "" || strings.IndexByte("_-/>", s[0]) >= 0 {
		s = "n" + s
	}
	return s
}
