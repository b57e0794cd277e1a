package savedmodel

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
)

// TestFieldsOfObjectsAreMerged checks that several fields of one number are
// merged, and that of several kinds the last counts.
func TestFieldsOfObjectsAreMerged(t *testing.T) {
	object := func(pieces ...*pb.SavedObject) (b []byte) {
		for _, p := range pieces {
			b = p.AppendTo(b)
		}
		return b
	}
	root := object(
		&pb.SavedObject{Which: pb.SavedObjectVariable, Variable: &pb.SavedVariable{Name: "replaced"}},
		&pb.SavedObject{Children: []*pb.ObjectReference{{NodeId: 1, LocalName: "a"}}, Which: pb.SavedObjectUserObject, UserObject: &pb.SavedUserObject{Identifier: "x", Metadata: "{}"}},
		&pb.SavedObject{Children: []*pb.ObjectReference{{LocalName: "self"}}, Which: pb.SavedObjectUserObject, UserObject: &pb.SavedUserObject{Identifier: "y"},
			SerializedUserProto: &pb.Any{TypeUrl: "t"}, Dependencies: []*pb.ObjectReference{{NodeId: 1, LocalName: "d"}}},
		&pb.SavedObject{SerializedUserProto: &pb.Any{Value: []byte("v")}, RegisteredName: "n", RegisteredSaver: "s",
			SaveableObjects: []*pb.SaveableObjectEntry{{Key: "k", Value: &pb.SaveableObject{SaveFunction: 1}}},
			SlotVariables:   []*pb.SlotVariableReference{{OriginalVariableNodeId: 1, SlotName: "m"}}},
	)
	variable := object(
		&pb.SavedObject{Which: pb.SavedObjectVariable, Variable: &pb.SavedVariable{Name: "v"}},
		&pb.SavedObject{Which: pb.SavedObjectVariable, Variable: &pb.SavedVariable{Dtype: pb.DataTypeFloat, Shape: &pb.TensorShapeProto{Dim: []*pb.Dim{{Size: 3}}}}})
	var nodes []byte
	for _, n := range [][]byte{root, variable} {
		nodes = append(append(nodes, 1<<3|2, byte(len(n))), n...)
	}
	var objects pb.SavedObjectGraph
	if err := objects.Unmarshal(nodes); err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string][]byte{"in pieces": nodes, "as messages": objects.Marshal()} {
		meta := append([]byte{7<<3 | 2, byte(len(g) | 0x80), byte(len(g) >> 7)}, g...)
		m, err := Unmarshal(append([]byte{2<<3 | 2, byte(len(meta) | 0x80), byte(len(meta) >> 7)}, meta...), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		r, v := m.MetaGraphs[0].Objects[0], m.MetaGraphs[0].Objects[1]
		if r.Kind != UserObject || r.Identifier != "y" || r.Metadata != "{}" || r.Variable != nil || r.Child("a") != v || r.Child("self") != r ||
			r.ProtoType != "t" || string(r.Proto) != "v" || r.Dependencies[0] != (Edge{"d", v}) || r.RegisteredName != "n" || r.RegisteredSaver != "s" ||
			r.Savers["k"] != (Saver{v, r}) || r.Slots[0] != (Slot{"m", v, r}) {
			t.Errorf("%s: the root is %+v", name, *r)
		}
		if v.Kind != VariableObject || v.Variable.Name != "v" || v.Variable.Shape.String() != graph.ShapeOf(3).String() || v.ID != 1 {
			t.Errorf("%s: the variable is %+v, %+v", name, *v, v.Variable)
		}
	}
}

// TestErrorsInObjectsNameThePlace: with the message, the field and the byte, though the
// object graph is read without making messages of it.
func TestErrorsInObjectsNameThePlace(t *testing.T) {
	user := &pb.SavedObject{Which: pb.SavedObjectUserObject, UserObject: &pb.SavedUserObject{Identifier: "identifier"}}
	variable := &pb.SavedObject{Which: pb.SavedObjectVariable, Variable: &pb.SavedVariable{Name: "identifier"}}
	for field, n := range map[string]*pb.SavedObject{"user_object": user, "variable": variable,
		"children": {Children: []*pb.ObjectReference{{LocalName: "identifier"}}}, "saveable_objects": {SaveableObjects: []*pb.SaveableObjectEntry{{Key: "identifier"}}}} {
		b := (&pb.SavedModel{MetaGraphs: []*pb.MetaGraphDef{{ObjectGraphDef: lazyOf(&pb.SavedObjectGraph{Nodes: []*pb.SavedObject{n}})}}}).Marshal()
		at := strings.Index(string(b), "identifier")
		b[at-1] += 5 // the length of the name, which then reaches out of its message
		var fault *pb.DecodeError
		_, err := Unmarshal(b, nil)
		if !errors.As(err, &fault) || !strings.Contains(fault.Message, "nodes") || !strings.Contains(fault.Message, field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestEqualPropertiesOfObjectsAreShared: thousands of traces with equal types take the memory
// of their numbers.
func TestEqualPropertiesOfObjectsAreShared(t *testing.T) {
	spec := func(name string) *pb.StructuredValue {
		x := &pb.StructuredValue{Which: pb.StructuredValueTensorSpecValue, TensorSpecValue: &pb.TensorSpecProto{Name: name, Dtype: pb.DataTypeFloat,
			Shape: &pb.TensorShapeProto{Dim: []*pb.Dim{{Size: -1}, {Size: 7}, {Size: 7}, {Size: 1024}}}}}
		tuple := func(v ...*pb.StructuredValue) *pb.StructuredValue {
			return &pb.StructuredValue{Which: pb.StructuredValueTupleValue, TupleValue: &pb.TupleValue{Values: v}}
		}
		return tuple(tuple(x), &pb.StructuredValue{Which: pb.StructuredValueDictValue, DictValue: &pb.DictValue{}})
	}
	const n = 5000
	objects := &pb.SavedObjectGraph{Nodes: []*pb.SavedObject{{}}}
	for i := range n {
		key := fmt.Sprint("f", i)
		objects.ConcreteFunctions = append(objects.ConcreteFunctions, &pb.SavedConcreteFunctionEntry{Key: key, Value: &pb.SavedConcreteFunction{
			CanonicalizedInputSignature: lazyOf(spec([]string{"x", "y"}[i%2])), OutputSignature: lazyOf(spec("").TupleValue.Values[0])}})
		objects.Nodes = append(objects.Nodes, &pb.SavedObject{Which: pb.SavedObjectFunction, Function: &pb.SavedFunction{ConcreteFunctions: []string{key},
			FunctionSpec: lazyOf(&pb.FunctionSpec{Fullargspec: &pb.StructuredValue{Which: pb.StructuredValueNamedTupleValue,
				NamedTupleValue: &pb.NamedTupleValue{Name: "FullArgSpec"}}})}})
	}
	b := (&pb.SavedModel{MetaGraphs: []*pb.MetaGraphDef{{ObjectGraphDef: lazyOf(objects)}}}).Marshal()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := Unmarshal(b, nil)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	took := (after.TotalAlloc - before.TotalAlloc - uint64(len(b))) / n
	t.Logf("%d bytes a function besides the file's %d", took, len(b)/n)
	if took > 400 { // an Object is 64, a FunctionInfo and its trace 200
		t.Errorf("a function took %d bytes besides the file's %d", took, len(b)/n)
	}
	g := m.MetaGraphs[0]
	for i := range n {
		c := g.Objects[1+i].Function.Concrete[0]
		if want := fmt.Sprintf("f%d(%s: float32[?,7,7,1024])", i, []string{"x", "y"}[i%2]); !strings.HasPrefix(c.String(), want) {
			t.Fatalf("%v, want %s", c, want)
		}
	}
}
