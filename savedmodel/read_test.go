package savedmodel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

func readModel(t testing.TB, name string) *SavedModel {
	t.Helper()
	m, err := Read(context.Background(), os.DirFS("testdata/models/"+name), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestObjectsAreReadWithTheirPaths(t *testing.T) {
	g, err := readModel(t, "module").Find()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(g.TensorFlowVersion, "2.") || !slices.Equal(g.Tags, []string{"serve"}) {
		t.Error(g.TensorFlowVersion, g.Tags)
	}
	first, err := g.Object("layers/0/w")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"a", "named/first/w", "layers.0.w", "named.first/w"} {
		if o, err := g.Object(path); err != nil || o != first {
			t.Errorf("%s leads to %v (%v), not to the variable that layers/0/w is", path, o, err)
		}
	}
	v := first.Variable
	if v == nil || v.Name != "v" || v.DType != tensor.Float32 || v.Shape.String() != "[3]" || !v.Trainable {
		t.Errorf("layers/0/w: %+v", v)
	}
	if b, _ := g.Object("b"); b.Variable.Trainable {
		t.Error("b is trainable")
	}
	if o, _ := g.Object("any"); o.Variable.Shape.String() != "[?]" {
		t.Errorf("any has shape %v", o.Variable.Shape)
	}
	if n := len(g.Variables()); n != 4 || len(g.TrainableVariables()) != 3 {
		t.Errorf("%d variables, %d trainable", n, len(g.TrainableVariables()))
	}
	if p := g.Paths(); p[0] != "" || p[first.ID] != "a" {
		t.Errorf("paths %v", p)
	}
	var missing *NotFoundError
	if _, err := g.Object("layers/0/wx"); !errors.As(err, &missing) || !slices.Contains(missing.Near, "layers/0/w") {
		t.Errorf("a path that leads nowhere: %v", err)
	}
}

func TestFunctionsAreReadWithTheirTypes(t *testing.T) {
	g, err := readModel(t, "module").Find("serve")
	if err != nil {
		t.Fatal(err)
	}
	o, err := g.Object("options")
	if err != nil || o.Kind != FunctionObject {
		t.Fatal(o, err)
	}
	if got, want := o.Function.Parameters.String(), `(x, training=false, scale=2.0, mode="add", bias=None)`; got != want {
		t.Errorf("parameters %s, want %s", got, want)
	}
	if len(o.Function.Concrete) != 6 {
		t.Errorf("%d traces", len(o.Function.Concrete))
	}
	var seen bool
	for _, c := range o.Function.Concrete {
		seen = seen || c.Takes() == `x: float32[3], true, 2.0, "add", None`
	}
	if !seen {
		t.Error(o.Function.Concrete)
	}
	bare, err := g.Object("bare")
	if err != nil || bare.Kind != BareFunction || len(bare.Function.Concrete) != 1 {
		t.Fatal(bare, err)
	}
	total, _ := g.Object("total")
	big := total.Function.Concrete[0].Captures[0]
	serve, _ := g.Object("serve")
	if big.Kind != ConstantObject || !slices.Contains(serve.Function.Concrete[0].Captures, big) {
		t.Errorf("the constant that two functions capture isn't one object: %v", big)
	}
}

func TestSignaturesListInputsAndOutputs(t *testing.T) {
	g, _ := readModel(t, "module").Find()
	s, err := g.Signature("serving_default")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Inputs) != 1 || len(s.Outputs) != 2 || s.Inputs[0].String() != "x: float32[?,3] (serving_default_x:0)" || s.Outputs[1].Name != "y" {
		t.Errorf("%v → %v", s.Inputs, s.Outputs)
	}
	if len(g.internal) != 1 {
		t.Errorf("%d signatures of TensorFlow's own", len(g.internal))
	}
	var missing *NotFoundError
	if _, err := g.Signature("serving"); !errors.As(err, &missing) || !slices.Contains(missing.Near, "serving_default") {
		t.Error(err)
	}
	sparse, _ := readModel(t, "tf1_sparse").Find()
	s, _ = sparse.Signature("serving_default")
	var names []string
	for _, p := range PlainTensors(s.Inputs) {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, []string{"s/indices", "s/values", "s/dense_shape"}) {
		t.Error(names)
	}
}

func TestOpsAssetsAndCollectionsAreListed(t *testing.T) {
	g, _ := readModel(t, "tf1_init").Find()
	if len(g.Assets) == 0 || g.Assets[0] != (Asset{"words.txt", "Const:0"}) {
		t.Error(g.Assets)
	}
	if got := g.collection("table_initializer"); len(got) != 1 || len(g.collection("saved_model_main_op")) != 1 {
		t.Error(got)
	}
	ops, err := g.OpsUsed()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(ops, func(u OpUse) bool { return u.Op == "HashTableV2" })
	if i < 0 || ops[i].InGraph != 1 || !ops[i].Defined {
		t.Error(ops)
	}
}

// TestUndefinedOpsHaveNoDefinition uses an op that nothing defines, in a function and in the
// graph around it, which uses more outputs. The definition that serves to read the function
// must not be that of a node, whose effect would then be known.
func TestUndefinedOpsHaveNoDefinition(t *testing.T) {
	const text = `meta_graphs { meta_info_def { tags: 'serve' } graph_def {
		node { name: 'c' op: 'Conjure' }
		node { name: 'n' op: 'Neg' input: 'c:2' attr { key: 'T' value { type: DT_FLOAT } } }
		library { function {
			signature { name: 'f' output_arg { name: 'r' type: DT_FLOAT } }
			node_def { name: 'c' op: 'Conjure' attr { key: 'OutT' value { list { type: DT_FLOAT type: DT_FLOAT } } } }
			ret { key: 'r' value: 'c:rabbits:1' } } } } }`
	m, err := Read(t.Context(), fstest.MapFS{"saved_model.pbtxt": {Data: []byte(text)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := m.MetaGraphs[0]
	ops, err := g.OpsUsed()
	if err != nil {
		t.Fatal(err)
	}
	if want := (OpUse{Op: "Conjure", InGraph: 1, InFunctions: 1}); len(ops) != 2 || ops[0] != want {
		t.Errorf("%+v, want %+v first", ops, want)
	}
	gr, _ := g.Graph()
	f := gr.Library.Lookup("f")
	for _, n := range []*graph.Node{gr.Lookup("c"), f.Graph.Lookup("c")} {
		if n.Def != nil || n.Effect() != graph.Code {
			t.Errorf("%v: definition %v, effect %v", n, n.Def, n.Effect())
		}
	}
	if r := f.Results[0].Output; r.Index != 1 {
		t.Errorf("the function returns %v", r)
	}
}

func TestMetaGraphsAreSelectedByTags(t *testing.T) {
	m := readModel(t, "tf1_graphs")
	for _, tags := range [][]string{{"serve", "gpu"}, {"gpu", "serve"}, {"serve"}, nil} {
		g, err := m.Find(tags...)
		if err != nil {
			t.Fatal(tags, err)
		}
		if want := max(len(tags), 1); len(g.Tags) != want {
			t.Errorf("%q found %q", tags, g.Tags)
		}
	}
	var wrong *TagsError
	_, err := m.Find("gpu")
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), `["serve" "gpu"]`) {
		t.Error(err)
	}
	m.MetaGraphs[1].Tags = nil // as in a module of TensorFlow Hub, which also has "train"
	for _, tags := range [][]string{nil, {}} {
		if g, err := m.Find(tags...); err != nil || g != m.MetaGraphs[1] {
			t.Error(g, err)
		}
	}
	m.MetaGraphs[1].Tags = []string{"serve", "gpu"}
	m.MetaGraphs[0].Tags = []string{"train"}
	if _, err := m.Find(); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "2 MetaGraphs") {
		t.Error(err)
	}
}

// TestTheTextFormIsTheSame reads a model that was written as text, and again in
// the binary form.
func TestTheTextFormIsTheSame(t *testing.T) {
	text := readModel(t, "text")
	if text.File != TextGraphFile || text.Fingerprint == nil {
		t.Fatal(text.File, text.Fingerprint)
	}
	data, err := os.ReadFile("testdata/models/text/" + TextGraphFile)
	if err != nil {
		t.Fatal(err)
	}
	var p pb.SavedModel
	if err := pb.UnmarshalText(data, &p); err != nil {
		t.Fatal(err)
	}
	b, err := Unmarshal(p.Marshal(), nil)
	if err != nil {
		t.Fatal(err)
	}
	whole := func(m *SavedModel) string {
		g := m.MetaGraphs[0]
		gr, err := g.Graph()
		if err != nil {
			t.Fatal(err)
		}
		def, err := graphInternals.GraphProto(gr, nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(pb.MarshalText(g.proto)) + string(pb.MarshalText(def)) + fmt.Sprint(len(g.Objects), *g.Signatures[0])
	}
	if whole(b) != whole(text) {
		t.Error("the binary form differs")
	}
}

func TestWrongFilesAreRefused(t *testing.T) {
	ctx := context.Background()
	if _, err := Read(ctx, fstest.MapFS{}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty directory: %v", err)
	}
	many := make([]byte, 0, 40<<20)
	for range 20 << 20 / 2 {
		many = append(many, 2<<3|2, 0) // a MetaGraph without anything
	}
	var much *LimitError
	if _, err := Unmarshal(many, nil); !errors.As(err, &much) || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("ten million MetaGraphs: %v", err)
	}
	object := func(o ...*pb.SavedObject) *pb.MetaGraphDef {
		return &pb.MetaGraphDef{ObjectGraphDef: lazyOf(&pb.SavedObjectGraph{Nodes: o})}
	}
	deep := &pb.StructuredValue{}
	for range 80 {
		deep = &pb.StructuredValue{Which: pb.StructuredValueListValue, ListValue: &pb.ListValue{Values: []*pb.StructuredValue{deep}}}
	}
	for name, m := range map[string]*pb.MetaGraphDef{
		"an edge out of the graph": object(&pb.SavedObject{Children: []*pb.ObjectReference{{NodeId: 7}}}),
		"an asset that isn't":      object(&pb.SavedObject{Which: pb.SavedObjectAsset, Asset: &pb.SavedAsset{AssetFileDefIndex: 1}}),
		"a function that isn't":    object(&pb.SavedObject{Which: pb.SavedObjectFunction, Function: &pb.SavedFunction{ConcreteFunctions: []string{"f"}}}),
		"a slot of nothing":        object(&pb.SavedObject{SlotVariables: []*pb.SlotVariableReference{{OriginalVariableNodeId: -1}}}),
		"a deep structure": {ObjectGraphDef: lazyOf(&pb.SavedObjectGraph{ConcreteFunctions: []*pb.SavedConcreteFunctionEntry{{Key: "f",
			Value: &pb.SavedConcreteFunction{OutputSignature: lazyOf(deep)}}}})},
		"an asset elsewhere": {AssetFileDef: []*pb.AssetFileDef{{Filename: "../secret"}}},
	} {
		b := (&pb.SavedModel{MetaGraphs: []*pb.MetaGraphDef{m}}).Marshal()
		var wrong *FormatError
		if _, err := Unmarshal(b, nil); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// lazyOf returns m as a message that is decoded on request.
func lazyOf[M any](m *M) *pb.Lazy[M] {
	l := pb.LazyOf(m)
	return &l
}

func FuzzUnmarshal(f *testing.F) {
	for _, name := range []string{"module", "tf1_control", "tf1_sparse", "hub"} {
		b, err := os.ReadFile("testdata/models/" + name + "/saved_model.pb")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Unmarshal(b, nil)
		if err != nil {
			return
		}
		for _, g := range m.MetaGraphs {
			g.Paths()
			g.Collections()
			_, _ = g.OpsUsed()
			for _, c := range g.concretes {
				_ = c.String()
			}
		}
	})
}
