package savedmodel

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"testing"
	"time"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/testkit/processor"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// plainObject returns an object without properties.
func plainObject(id int) *Object {
	return &Object{ID: id, Kind: UserObject, Details: &Details{Traits: &Traits{}}}
}

// viewOf returns a checkpoint with an object graph and tensors of these names.
func viewOf(t *testing.T, g *pb.TrackableObjectGraph, names ...string) *checkpoint.View {
	t.Helper()
	dir := vfs.MemDir()
	w, err := bundle.NewWriter(dir, "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if err := w.Add(t.Context(), name, tensor.Scalar(int32(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Add(t.Context(), "_CHECKPOINTABLE_OBJECT_GRAPH", tensor.Scalar(string(g.Marshal()))), w.Finish(t.Context())); err != nil {
		t.Fatal(err)
	}
	view, err := checkpoint.OpenFS(t.Context(), dir, "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// TestManyObjectsForOneNodeTakeLinearTime: a node of the checkpoint may have many edges, attributes and slots, and many
// objects of the model may stand for it.
func TestManyObjectsForOneNodeTakeLinearTime(t *testing.T) {
	const n = 5000
	cp := &pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{{}, {}, {}}}
	m := &MetaGraph{Objects: []*Object{plainObject(0), plainObject(1)}}
	root, x := m.Objects[0], m.Objects[1]
	x.Kind = VariableObject
	root.Children = []Edge{{Name: "x", Object: x}}
	cp.Nodes[0].Children = []*pb.ObjectReference{{NodeId: 2, LocalName: "x"}}
	for i := range n {
		name := fmt.Sprintf("c%d", i)
		cp.Nodes[0].Children = append(cp.Nodes[0].Children, &pb.ObjectReference{NodeId: 1, LocalName: name})
		cp.Nodes[1].Children = append(cp.Nodes[1].Children, &pb.ObjectReference{NodeId: 2, LocalName: name})
		cp.Nodes[1].Attributes = append(cp.Nodes[1].Attributes, &pb.SerializedTensor{Name: name, CheckpointKey: "k"})
		cp.Nodes[1].SlotVariables = append(cp.Nodes[1].SlotVariables, &pb.SlotVariableReference{OriginalVariableNodeId: 2, SlotName: name, SlotVariableNodeId: 2})
		o, child := plainObject(len(m.Objects)), plainObject(len(m.Objects)+1)
		m.Objects = append(m.Objects, o, child)
		o.Children = []Edge{{Name: "c0", Object: child}}
		o.Slots = []Slot{{Name: name, Original: x, Slot: child}}
		root.Children = append(root.Children, Edge{Name: name, Object: o})
	}
	view := viewOf(t, cp)
	end := processor.Begin(t, "the work", 3*time.Second)
	_, byOp := m.matchCheckpoint(view)
	keys := m.attributeKeys(view)
	end()
	if len(byOp) != n || len(keys) != n || len(keys[m.Objects[2]]) != n {
		t.Errorf("%d and %d objects have attributes", len(byOp), len(keys))
	}
	r := &restorer{ctx: t.Context(), meta: m}
	if err := r.readAttributes(view, byOp); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%d objects with %d attributes each: %v", n, n, err)
	}
}

// TestTensorsOfSeveralAttributesAreReadOnce: attributes may have one key, in the order of the objects.
func TestTensorsOfSeveralAttributesAreReadOnce(t *testing.T) {
	cp := &pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{{}}}
	m := &MetaGraph{Objects: []*Object{plainObject(0)}}
	byOp := map[*Object]bool{}
	for i := range 5 {
		name := fmt.Sprintf("c%d", i)
		cp.Nodes[0].Children = append(cp.Nodes[0].Children, &pb.ObjectReference{NodeId: int32(i + 1), LocalName: name})
		cp.Nodes = append(cp.Nodes, &pb.TrackableObject{Attributes: []*pb.SerializedTensor{{Name: "table", CheckpointKey: "k"}}})
		o := plainObject(i + 1)
		m.Objects = append(m.Objects, o)
		m.Objects[0].Children = append(m.Objects[0].Children, Edge{Name: name, Object: o})
		byOp[o] = true
	}
	view := viewOf(t, cp, "k", "k-keys", "k-values", "k.other", "kk-keys")
	r := &restorer{ctx: t.Context(), meta: m}
	if err := r.readAttributes(view, byOp); err != nil {
		t.Fatal(err)
	}
	first := r.attributes[1][0]
	for id := range 5 {
		a := r.attributes[id+1]
		if len(a) != 1 || a[0].Tensor == nil || a[0].Tensor != first.Tensor || len(a[0].Parts) != 2 ||
			a[0].Parts[0] != first.Parts[0] || a[0].Parts[1].Suffix != "-values" {
			t.Errorf("object %d has %v", id+1, a)
		}
	}
}

// TestVariablesThatFunctionsRestoreTakeBoundedMemory: a file names their shapes, and stores no values for them.
func TestVariablesThatFunctionsRestoreTakeBoundedMemory(t *testing.T) {
	for _, c := range []struct {
		dims []int
		most int64
		ok   bool
	}{{[]int{math.MaxInt / 16}, 0, false}, {[]int{1 << (bits.UintSize - 2), 4}, 0, true}, {[]int{1 << 20}, 0, true}, {[]int{17 << 20}, 0, false}, {[]int{17 << 20}, 68 << 20, true}} {
		o := plainObject(1)
		o.Variable = &VariableInfo{DType: tensor.Float32, Shape: graph.ShapeOf(c.dims...)}
		v := new(trackable.Variable)
		r := &restorer{
			ctx: t.Context(), byFunction: map[int][]*Object{1: {plainObject(0)}}, bound: map[int]*trackable.Variable{1: v},
			meta: &MetaGraph{Objects: []*Object{plainObject(0), o}, model: &SavedModel{opts: &ReadOptions{MaxMemory: c.most}}},
		}
		_, err := r.fillEmpty(map[int]*storedValues{0: {}})
		var limit *LimitError
		if c.ok != (err == nil) || !c.ok && !errors.As(err, &limit) {
			t.Errorf("%v with %d bytes: %v", c.dims, c.most, err)
		}
	}
}

// TestCapturesOfGradientsAreFoundInLinearTime: a gradient of many captures that no function has, in a long chain of calls.
func TestCapturesOfGradientsAreFoundInLinearTime(t *testing.T) {
	const n = 4000
	lib := &graph.Library{}
	m := &MetaGraph{concretes: map[string]*ConcreteFunction{}}
	var called *graph.Function
	var last graph.Output
	known := plainObject(7)
	for i := range n {
		f := graph.NewFunction(fmt.Sprint("f", i))
		arg, err := f.AddArg("v", graph.Fact{DType: tensor.Resource})
		if err != nil {
			t.Fatal(err)
		}
		c := &ConcreteFunction{Name: f.Name, Captures: []*Object{plainObject(1)}}
		if i == n-1 {
			c.Captures[0], last = known, arg
		}
		m.concretes[f.Name] = c
		node := &graph.Node{Op: "Identity", Name: "n", Attrs: graph.Attrs{graph.String("_gradient_op_type", "g")}}
		if called != nil {
			node = &graph.Node{Op: "PartitionedCall", Name: "n", Attrs: graph.Attrs{graph.Call("f", graph.Callee{Function: called})}}
		}
		if err := errors.Join(f.Graph.Add(node), lib.Add(f)); err != nil {
			t.Fatal(err)
		}
		called = f
	}
	gradient := graph.NewFunction("gradient")
	c := &ConcreteFunction{Name: "gradient", Captures: []*Object{known}}
	m.concretes["gradient"] = c
	lib.Registered = []graph.RegisteredGradient{{Type: "g", Gradient: graph.Callee{Function: gradient}}}
	m.bindGradients(lib)
	if got := lib.Registered[0].Captures; len(got) != 1 || got[0] != last {
		t.Errorf("captures %v", got)
	}
	for range n {
		c.Captures = append(c.Captures, plainObject(8))
	}
	for range n / 4 { // more gradients than the search has time for
		lib.Registered = append(lib.Registered, lib.Registered[0])
	}
	end := processor.Begin(t, "the work", 5*time.Second)
	m.bindGradients(lib)
	end()
	if lib.Registered[0].Captures != nil {
		t.Error("unknown captures are found")
	}
}

// TestRestoresAreFollowedToTheirReads: by any number of ops, and by control inputs.
func TestRestoresAreFollowedToTheirReads(t *testing.T) {
	f := graph.NewFunction("restore")
	value := graph.Fact{DType: tensor.Float32}
	add := func(op, name string, out int, attrs graph.Attrs, in ...graph.Output) *graph.Node {
		n := &graph.Node{Op: op, Name: name, Attrs: attrs, In: in}
		for range out {
			n.Out = append(n.Out, value)
		}
		if err := f.Graph.Add(n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	x := add("Const", "x", 1, nil)
	names := add("Const", "names", 1, graph.Attrs{graph.Tensor("value", tensor.Vector("a", "b", "c", "d", "e"))})
	r := add("RestoreV2", "r", 5, nil, x.Output(0), names.Output(0))
	long := r.Output(0)
	for i := range 200 {
		long = add("Identity", fmt.Sprint("i", i), 1, nil, long).Output(0)
	}
	assignA := add("AssignVariableOp", "a", 0, nil, x.Output(0), long)
	assignBC := add("AssignVariableOp", "bc", 0, nil, r.Output(1), r.Output(2))
	assignD, assignE := add("AssignVariableOp", "d", 0, nil, x.Output(0), r.Output(3)), add("AssignVariableOp", "e", 0, nil, x.Output(0), r.Output(4))
	assignA.Control = []*graph.Node{r}
	both := add("NoOp", "both", 0, nil)
	both.Control = []*graph.Node{assignD, assignE}
	for _, n := range []*graph.Node{assignA, assignBC, both} {
		f.Control = append(f.Control, graph.ControlResult{Name: n.Name, Node: n})
	}
	groups, err := restoredBy(&graph.Concrete{Function: f})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, g := range groups {
		got += fmt.Sprint(g.keys, " by ", g.effects[0].Name, len(g.effects), "; ")
	}
	if want := "[a] by a1; [b c] by bc1; [d e] by both1; "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	f.Control = append(f.Control, graph.ControlResult{Name: "none", Node: add("NoOp", "none", 0, nil)})
	if _, err := restoredBy(&graph.Concrete{Function: f}); err == nil {
		t.Error("an op that restores nothing is accepted")
	}
}

// TestOpsOfManyOutputsAreGuessedInLinearTime: nodes may ask for very many outputs of an op that has no definition, and
// give it very many lists of types.
func TestOpsOfManyOutputsAreGuessedInLinearTime(t *testing.T) {
	const n = 30_000
	op := &undefinedOp{attrs: map[string]*pb.AttrValue{
		"b": {List: &pb.AttrValueListValue{Type: make([]pb.DataType, 2)}}, "c": {List: &pb.AttrValueListValue{Type: make([]pb.DataType, 2)}},
		"d": {List: &pb.AttrValueListValue{Type: make([]pb.DataType, 3)}}, "in": {List: &pb.AttrValueListValue{Type: make([]pb.DataType, 9)}},
	}}
	for i := range n {
		op.attrs[fmt.Sprint("e", i)] = &pb.AttrValue{List: &pb.AttrValueListValue{Type: make([]pb.DataType, 1)}}
	}
	nodes := map[string]*undefinedOp{"x": op}
	end := processor.Begin(t, "the work", 3*time.Second)
	for i := range n {
		noteOutput(nodes, fmt.Sprintf("x:o%d:%d", i, i%4))
		noteOutput(nodes, fmt.Sprintf("x:o%d:0", i))
	}
	d := op.def("Op")
	end()
	if len(d.OutputArg) != n || len(d.Attr) != 2 {
		t.Fatalf("%d outputs, %d attributes", len(d.OutputArg), len(d.Attr))
	}
	for i, want := range []string{"b", "b", "d", ""} {
		if a := d.OutputArg[i]; a.Name != fmt.Sprint("o", i) || a.TypeListAttr != want {
			t.Errorf("output %d is %s of %q, want %q", i, a.Name, a.TypeListAttr, want)
		}
	}
}

// TestUnknownFieldsOfManyEdgesAreKeptInLinearTime, in whatever order the edges are written.
func TestUnknownFieldsOfManyEdgesAreKeptInLinearTime(t *testing.T) {
	const n = 20_000
	var to, from []*pb.ObjectReference
	for i := range n {
		to = append(to, &pb.ObjectReference{LocalName: fmt.Sprint("e", i)})
		from = append(from, &pb.ObjectReference{LocalName: fmt.Sprint("e", n-1-i), Unknown: []byte{0x78, byte(i % 100)}})
	}
	end := processor.Begin(t, "the work", 3*time.Second)
	if err := graftList(reflect.ValueOf(to), reflect.ValueOf(from), 0); err != nil {
		t.Fatal(err)
	}
	end()
	for i, e := range to {
		if len(e.Unknown) != 2 || e.Unknown[1] != byte((n-1-i)%100) {
			t.Fatalf("edge %d has %v", i, e.Unknown)
		}
	}
}
