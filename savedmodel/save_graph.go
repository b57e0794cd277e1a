package savedmodel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// bindNode completes a node's attributes and the element types of its outputs.
func bindNode(n *graph.Node) error {
	if n.Def == nil {
		n.Def = graph.LookupOp(n.Op)
	}
	if n.Def == nil {
		return fmt.Errorf("there is no op %s", n.Op)
	}
	facts := make([]graph.Fact, len(n.In))
	for i, in := range n.In {
		facts[i] = in.Fact()
	}
	var err error
	n.Attrs, n.Out, err = n.Def.Bind(n.Attrs, facts)
	return err
}

// addCall adds a node that calls a function.
func addCall(g *graph.Graph, f *graph.Function, args []graph.Output) (*graph.Node, error) {
	op := graph.CallOp
	if f.Stateful() {
		op = graph.StatefulCallOp
	}
	results := f.ResultFacts()
	n := &graph.Node{Op: op, Name: g.UniqueName(op), In: args, Attrs: graph.Attrs{graph.Func("f", f), graph.Types("Tout", graph.ArgTypes(results)...)}}
	if err := bindNode(n); err != nil {
		return nil, err
	}
	for i, r := range results {
		n.Out[i] = r.WithoutValue()
	}
	return n, g.Add(n)
}

// mainGraph is the graph of a MetaGraph, with which sessions of TensorFlow 1 and servers
// run a model: an op for each variable, resource, constant and asset, a call for each
// signature, and the ops that initialize, save and restore.
type mainGraph struct {
	*saver
	g      *graph.Graph
	values []graph.Output       // of the nodes of the walk
	made   []bool               // whether values has the output of a node
	after  []*graph.Node        // the nodes of the initialization
	paths  map[int]graph.Output // of assets, while initialization runs
	err    error
}

// add adds a node; after the first error it does nothing.
func (m *mainGraph) add(op, name string, attrs graph.Attrs, in ...graph.Output) *graph.Node {
	n := &graph.Node{Op: op, Name: m.g.UniqueName(name), Attrs: attrs, In: in}
	if m.err != nil {
		n.Out = make([]graph.Fact, 1)
		return n
	}
	err := bindNode(n)
	if err == nil {
		err = m.g.Add(n)
	}
	if err != nil {
		m.err = fmt.Errorf("%s %q: %w", op, name, err)
		n.Out = make([]graph.Fact, max(1, len(n.Out)))
	}
	return n
}

// constantOf adds a constant.
func (m *mainGraph) constantOf(name string, t *tensor.Tensor) graph.Output {
	return m.add("Const", name, graph.Attrs{graph.Tensor("value", t), graph.Type("dtype", t.DType())}).Output(0)
}

// call adds a call of a function with its captures.
func (m *mainGraph) call(c *graph.Concrete, args ...graph.Output) *graph.Node {
	return m.callIn(false, c, args...)
}

func (m *mainGraph) callIn(initializing bool, c *graph.Concrete, args ...graph.Output) *graph.Node {
	for i := range c.Captures {
		id, err := m.captured(c, i)
		if err != nil {
			if m.err == nil {
				m.err = err
			}
			return &graph.Node{Out: make([]graph.Fact, max(1, len(c.Function.Results)))}
		}
		value := m.value(id)
		if early, ok := m.paths[id]; ok && initializing {
			value = early
		}
		args = append(args, value)
	}
	if m.err != nil {
		return &graph.Node{Out: make([]graph.Fact, max(1, len(c.Function.Results)))}
	}
	n, err := addCall(m.g, c.Function, args)
	if err != nil {
		m.err = err
		return &graph.Node{Out: make([]graph.Fact, max(1, len(c.Function.Results)))}
	}
	return n
}

// variableName returns the name for a variable's op. The method value makes it unique,
// because equal shared names would make variables one.
func (m *mainGraph) variableName(id int) string {
	n := &m.nodes[id]
	name := n.FullName
	if name == "" {
		name = "Variable"
	}
	return validNodeName(name)
}

// validNodeName replaces the characters that a node's name can't have.
func validNodeName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./-", r) {
			return r
		}
		return '_'
	}, name)
	if name == "" || strings.ContainsRune("_/-", rune(name[0])) {
		name = "v" + name
	}
	return name
}

// value returns the output in the main graph for a node of the object graph.
func (m *mainGraph) value(id int) graph.Output {
	if m.made[id] {
		return m.values[id]
	}
	m.made[id] = true
	n := &m.nodes[id]
	var out graph.Output
	switch kindOf(n.Object) {
	case VariableObject:
		v := n.Variable()
		name := m.g.UniqueName(m.variableName(id))
		h := m.add("VarHandleOp", name, graph.Attrs{graph.Type("dtype", v.DType()), graph.Shape("shape", partialShape(v)), graph.String("shared_name", name)})
		if t := v.Traits(); m.opts.Devices && t != nil {
			h.Device = t.Device
		}
		m.add("ReadVariableOp", name+"/Read/ReadVariableOp", graph.Attrs{graph.Type("dtype", v.DType())}, h.Output(0))
		out = h.Output(0)
	case ConstantObject:
		out = m.constantOf("Const", n.Object.(*TrackableConstant).Tensor)
	case AssetObject:
		a := m.assetOf(n.Object.(*TrackableAsset))
		out = m.asset(id, a)
	case ResourceObject:
		out = m.resource(id)
	default:
		if m.err == nil {
			m.err = fmt.Errorf("%s, a %v, can't be captured", m.human(id), kindOf(n.Object))
		}
		return graph.Output{Node: &graph.Node{Out: make([]graph.Fact, 1)}}
	}
	m.values[id] = out
	return out
}

// asset adds the ops for the path of an asset. Loaders feed it only while they initialize
// the model, so a variable keeps it for the calls.
func (m *mainGraph) asset(id int, a *savedAsset) graph.Output {
	scalar := graph.Attrs{graph.Type("dtype", tensor.String), graph.Shape("shape", graph.ShapeOf())}
	fed := m.add("Placeholder", "asset_path_initializer", scalar)
	fed.Out[0].Shape = graph.ShapeOf()
	a.tensor = fed.Name + ":0"
	name := m.g.UniqueName("asset_path")
	h := m.add("VarHandleOp", name, append(scalar[:2:2], graph.String("shared_name", name)))
	assign := m.add("AssignVariableOp", name+"/Assign", graph.Attrs{graph.Type("dtype", tensor.String)}, h.Output(0), fed.Output(0))
	m.after = append(m.after, assign)
	read := func() *graph.Node {
		return m.add("ReadVariableOp", name+"/Read/ReadVariableOp", graph.Attrs{graph.Type("dtype", tensor.String)}, h.Output(0))
	}
	early := read()
	early.Control = append(early.Control, assign)
	if m.paths == nil {
		m.paths = map[int]graph.Output{}
	}
	m.paths[id] = early.Output(0)
	return read().Output(0)
}

// partialShape returns the shape of the values that a variable takes.
func partialShape(v *trackable.Variable) graph.PartialShape {
	if v.Unranked() {
		return graph.PartialShape{}
	}
	return graph.Whole(v.ValueShape()).Anonymous()
}

// resource adds the ops that make a resource's handle, and the call that fills it.
func (m *mainGraph) resource(id int) graph.Output {
	none := graph.Output{Node: &graph.Node{Out: make([]graph.Fact, 1)}}
	create := m.child(id, "_create_resource")
	if create == nil {
		if m.err == nil {
			m.err = &SaveError{m.human(id), fmt.Errorf("the resource has no function %q, which makes it", "_create_resource")}
		}
		return none
	}
	out := m.inline(create, "table_"+strconv.Itoa(id))
	m.values[id] = out
	if init := m.child(id, "_initialize"); init != nil {
		m.after = append(m.after, m.callIn(true, init))
	}
	return out
}

// child returns the trace of a function that is a child of a node, nil for none.
func (m *mainGraph) child(id int, name string) *graph.Concrete {
	for _, e := range m.nodes[id].Edges {
		if e.Name != name {
			continue
		}
		switch f := m.nodes[e.ID].Object.(type) {
		case *graph.Concrete:
			return f
		case *TrackableBareFunction:
			return f.Concrete
		case FunctionNode:
			if traces := f.Traces(); len(traces) > 0 {
				return traces[0]
			}
		}
	}
	return nil
}

// inline copies the body of a function that makes a handle into the main graph
// and returns the handle. If the handle has no name, it gets a unique one:
// sessions find resources by their names.
func (m *mainGraph) inline(c *graph.Concrete, name string) graph.Output {
	none := graph.Output{Node: &graph.Node{Out: make([]graph.Fact, 1)}}
	if len(c.Function.Results) != 1 || c.NumArgs() != 0 {
		if m.err == nil {
			m.err = fmt.Errorf("the function %s that makes a resource must take nothing and return one handle", c.Function.Name)
		}
		return none
	}
	made := map[*graph.Node]*graph.Node{}
	values := map[graph.Output]graph.Output{}
	for i, a := range c.Function.Args {
		id, err := m.captured(c, i)
		if err != nil {
			m.err = err
			return none
		}
		values[a.Output(0)] = m.value(id)
	}
	nodes, err := inOrder(c.Function.Graph.Nodes())
	if err != nil {
		m.err = err
		return none
	}
	for _, n := range nodes {
		if n.IsArg() {
			continue
		}
		copied := &graph.Node{Op: n.Op, Def: n.Def, Name: m.g.UniqueName(name + "/" + n.Name), Device: n.Device, Attrs: slices.Clone(n.Attrs), Out: slices.Clone(n.Out), Extra: n.Extra}
		for _, in := range n.In {
			if v, ok := values[in]; ok {
				copied.In = append(copied.In, v)
			} else {
				copied.In = append(copied.In, graph.Output{Node: made[in.Node], Index: in.Index})
			}
		}
		for _, d := range n.Control {
			if d := made[d]; d != nil {
				copied.Control = append(copied.Control, d)
			}
		}
		if n.Def != nil && n.Def.Attr("shared_name") != nil {
			copied.Attrs = copied.Attrs.Set(graph.String("shared_name", copied.Name))
		}
		if err := m.g.Add(copied); err != nil {
			m.err = err
			return none
		}
		made[n] = copied
	}
	o := c.Function.Results[0].Output
	if v, ok := values[o]; ok {
		return v
	}
	return graph.Output{Node: made[o.Node], Index: o.Index}
}

// inOrder returns nodes so that each comes after those from which it takes something.
func inOrder(nodes []*graph.Node) ([]*graph.Node, error) {
	done := map[*graph.Node]bool{}
	out := make([]*graph.Node, 0, len(nodes))
	for len(out) < len(nodes) {
		before := len(out)
		for _, n := range nodes {
			if done[n] {
				continue
			}
			ready := !slices.ContainsFunc(n.In, func(o graph.Output) bool { return !done[o.Node] }) &&
				!slices.ContainsFunc(n.Control, func(c *graph.Node) bool { return !done[c] })
			if ready {
				done[n] = true
				out = append(out, n)
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("the body of a function that makes a resource has a cycle")
		}
	}
	return out, nil
}

// buildMain makes the main graph and the parts of p that refer to it.
func (s *saver) buildMain(p *pb.MetaGraphDef, nodes []*pb.SavedObject) (*graph.Graph, error) {
	m := &mainGraph{saver: s, g: &graph.Graph{Library: s.lib, Versions: graph.Versions{Producer: producerVersion}},
		values: make([]graph.Output, len(s.nodes)), made: make([]bool, len(s.nodes))}
	for id := range s.nodes {
		switch kindOf(s.nodes[id].Object) {
		case VariableObject, ConstantObject, AssetObject, ResourceObject:
			o := m.value(id)
			if m.err != nil {
				return nil, s.fail(id, m.err)
			}
			if c := nodes[id].Constant; c != nil {
				c.Operation = o.Node.Name
			}
		}
	}
	for _, w := range s.wrappers {
		m.signature(p, w)
		if m.err != nil {
			return nil, signatureError(w.name, m.err)
		}
	}
	m.initializer(p)
	if !s.opts.OmitSaver {
		m.saverOps(p)
	}
	if m.err != nil {
		return nil, &SaveError{Err: m.err}
	}
	for _, a := range s.assets {
		p.AssetFileDef = append(p.AssetFileDef, &pb.AssetFileDef{Filename: a.name,
			TensorInfo: &pb.TensorInfo{Which: pb.TensorInfoName, Name: a.tensor}})
	}
	pb.SortEntries(p.SignatureDef)
	return m.g, nil
}

// producerVersion is the version of graphs that TensorFlow 2.21 writes.
const producerVersion = 2474

// signature adds the placeholders and the call of a signature.
func (m *mainGraph) signature(p *pb.MetaGraphDef, w signatureWrapper) {
	def := &pb.SignatureDef{MethodName: "tensorflow/serving/predict"}
	var args []graph.Output
	for i, key := range w.inputs {
		fact := w.function.Concrete.Function.Args[i].Out[0]
		name := validNodeName(w.name + "_" + key)
		shape := fact.Shape.Anonymous()
		attrs := graph.Attrs{graph.Type("dtype", fact.DType), graph.Shape("shape", shape)}
		var n *graph.Node
		if value := w.defaults[key]; value != nil {
			n = m.add("PlaceholderWithDefault", name, attrs, m.constantOf(name+"/input", value))
			proto, err := encodeDefault(value)
			if err != nil && m.err == nil {
				m.err = err
			}
			def.Defaults = append(def.Defaults, &pb.TensorProtoEntry{Key: key, Value: proto})
		} else {
			n = m.add("Placeholder", name, attrs)
		}
		n.Out[0].Shape = fact.Shape
		args = append(args, n.Output(0))
		def.Inputs = append(def.Inputs, &pb.TensorInfoEntry{Key: key, Value: tensorInfoOf(n.Name+":0", fact)})
	}
	call := m.call(w.function.Concrete, args...)
	if m.err != nil {
		return
	}
	for _, out := range w.outputs {
		info, err := m.outputInfo(w, out, call)
		if err != nil {
			m.err = fmt.Errorf("the output %q: %w", out.name, err)
			return
		}
		def.Outputs = append(def.Outputs, &pb.TensorInfoEntry{Key: out.name, Value: info})
	}
	if len(w.outputs) == 0 { // TensorFlow can't fetch a call without results
		def.Outputs = append(def.Outputs, &pb.TensorInfoEntry{Key: "output_0", Value: &pb.TensorInfo{Which: pb.TensorInfoName, Name: call.Name, TensorShape: &pb.TensorShapeProto{UnknownRank: true}}})
	}
	pb.SortEntries(def.Inputs)
	pb.SortEntries(def.Outputs)
	pb.SortEntries(def.Defaults)
	p.SignatureDef = append(p.SignatureDef, &pb.SignatureDefEntry{Key: w.name, Value: def})
}

// tensorInfoOf describes a tensor of the main graph.
func tensorInfoOf(name string, f graph.Fact) *pb.TensorInfo {
	return &pb.TensorInfo{Which: pb.TensorInfoName, Name: name, Dtype: pb.DataType(f.DType), TensorShape: graphInternals.ShapeProto(f.Shape)}
}

// initializer adds the op that fills tables, which loaders run after they have restored
// the variables.
func (m *mainGraph) initializer(p *pb.MetaGraphDef) {
	n := m.add("NoOp", "NoOp", nil)
	for _, c := range m.after {
		if c != nil && !slices.Contains(n.Control, c) {
			n.Control = append(n.Control, c)
		}
	}
	info := &pb.TensorInfo{Which: pb.TensorInfoName, Name: n.Name, TensorShape: &pb.TensorShapeProto{UnknownRank: true}}
	p.SignatureDef = append(p.SignatureDef, &pb.SignatureDefEntry{Key: initSignature, Value: &pb.SignatureDef{
		Outputs: []*pb.TensorInfoEntry{{Key: initSignature, Value: info}}}})
}
