package graph

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

func TestEveryOpOfTensorFlowIsDefined(t *testing.T) {
	var names []string
	for d := range Ops() {
		names = append(names, d.Name)
		if LookupOp(d.Name) != d {
			t.Errorf("%s is looked up as another definition", d.Name)
		}
		raw, _ := registered.lists[0].raw(len(names) - 1)
		if got := d.proto().Marshal(); string(got) != raw {
			t.Errorf("%s is written as\n% x, want\n% x", d.Name, got, raw)
		}
	}
	if len(names) != 1910 || !slices.IsSorted(names) {
		t.Errorf("%d ops, sorted: %v", len(names), slices.IsSorted(names))
	}
	if d := LookupOp("NoSuchOp"); d != nil {
		t.Errorf("NoSuchOp is %+v", d)
	}
}

func TestDefinitionsSayWhatTensorFlowsSay(t *testing.T) {
	mm := LookupOp("MatMul")
	if len(mm.Inputs) != 2 || mm.Inputs[1].Name != "b" || mm.Inputs[1].TypeAttr != "T" || mm.Output("product") == nil || mm.Stateful {
		t.Errorf("MatMul: %+v", mm)
	}
	ta := mm.Attr("transpose_a")
	if ta == nil || ta.Kind != AttrBool || !ta.HasDefault() || ta.defaultProto().Which != pb.AttrValueB || ta.defaultProto().B {
		t.Errorf("MatMul.transpose_a: %+v", ta)
	}
	if typ := mm.Attr("T"); typ.HasDefault() || !slices.Contains(typ.AllowedTypes, tensor.Float32) || slices.Contains(typ.AllowedTypes, tensor.String) {
		t.Errorf("MatMul.T: %+v", typ)
	}
	if n := LookupOp("AddN").Attr("N"); n.Kind != AttrInt || !n.HasMinimum || n.Minimum != 1 {
		t.Errorf("AddN.N: %+v", n)
	}
	if d := LookupOp("AddN"); !d.Aggregate || !d.Commutative || d.Inputs[0].NumberAttr != "N" || !d.Inputs[0].List() {
		t.Errorf("AddN: %+v", d)
	}
	if p := LookupOp("Conv2D").Attr("padding"); !slices.Equal(p.AllowedStrings, []string{"SAME", "VALID", "EXPLICIT"}) {
		t.Errorf("Conv2D.padding: %+v", p)
	}
	if d := LookupOp("Assign"); !d.Inputs[0].Ref || d.Inputs[1].Ref || !d.Outputs[0].Ref || !d.AllowsUninitializedInput {
		t.Errorf("Assign: %+v", d)
	}
	w := LookupOp("While")
	if !w.Stateful || w.Inputs[0].TypeListAttr != "T" || w.Attr("cond").Kind != AttrFunc || w.Attr("output_shapes").Kind != AttrShapes {
		t.Errorf("While: %+v", w)
	}
	if d := LookupOp("VarHandleOp"); !d.Stateful || d.Outputs[0].Type != tensor.Resource {
		t.Errorf("VarHandleOp: %+v", d)
	}
	if d := LookupOp("BatchNormWithGlobalNormalization").Deprecation; d == nil || d.Version != 9 || !strings.Contains(d.Reason, "tf.nn.batch_normalization") {
		t.Errorf("BatchNormWithGlobalNormalization is deprecated: %+v", d)
	}
	if d := LookupOp("CollectiveReduceV2"); !d.DistributedCommunication {
		t.Errorf("CollectiveReduceV2: %+v", d)
	}
}

func TestOpsAreLookedUpByManyAtOnce(t *testing.T) {
	var table opTable
	table.once.Do(table.index)
	got := make([]*OpDef, 8)
	var wg sync.WaitGroup
	for g := range got {
		wg.Go(func() {
			core := &table.lists[0]
			for i := range core.at {
				if d := core.def(i); d.Name == "Conv2D" {
					got[g] = d
				}
			}
		})
	}
	wg.Wait()
	for _, d := range got {
		if d == nil || d != got[0] {
			t.Errorf("goroutines get different definitions: %v", got)
		}
	}
}

func TestDefinitionsOfFilesAreKept(t *testing.T) {
	p := &pb.OpDef{
		Name:        "Mine>Op",
		Summary:     "What it does.",
		InputArg:    []*pb.ArgDef{{Name: "x", TypeAttr: "T", Description: "words", Unknown: []byte{0xf8, 0x07, 1}}},
		OutputArg:   []*pb.ArgDef{{Name: "y", Type: pb.DataTypeFloat, ExperimentalFullType: &pb.FullTypeDef{TypeId: pb.FullTypeIdTensor}}},
		Attr:        []*pb.AttrDef{{Name: "T", Type: "type", Minimum: 3, AllowedValues: &pb.AttrValue{Which: pb.AttrValueList, List: &pb.AttrValueListValue{}}}},
		Deprecation: &pb.OpDeprecation{Version: 3},
		Unknown:     []byte{0xf8, 0x07, 2},
	}
	d, err := opDefFromProto(p)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.proto().Marshal(), p.Marshal(); !bytes.Equal(got, want) {
		t.Errorf("written as\n% x, want\n% x", got, want)
	}
}

func TestContradictoryDefinitionsAreRefused(t *testing.T) {
	attr := func(name, kind string) *pb.AttrDef { return &pb.AttrDef{Name: name, Type: kind} }
	for _, c := range []struct {
		name string
		p    pb.OpDef
		want string
	}{
		{"nameless", pb.OpDef{}, "no name"},
		{"unknown kind", pb.OpDef{Attr: []*pb.AttrDef{attr("a", "list(list(int))")}}, `attribute "a": there are no attributes of kind "list(list(int))"`},
		{"twice", pb.OpDef{Attr: []*pb.AttrDef{attr("a", "int"), attr("a", "int")}}, "defined twice"},
		{"default of another kind", pb.OpDef{Attr: []*pb.AttrDef{{Name: "a", Type: "int", DefaultValue: &pb.AttrValue{Which: pb.AttrValueS}}}}, "its default is no int"},
		{"default list of another kind", pb.OpDef{Attr: []*pb.AttrDef{{Name: "a", Type: "list(int)", DefaultValue: &pb.AttrValue{Which: pb.AttrValueList, List: &pb.AttrValueListValue{B: []bool{true}}}}}}, "its default is no list(int)"},
		{"allowed values of another kind", pb.OpDef{Attr: []*pb.AttrDef{{Name: "a", Type: "type", AllowedValues: &pb.AttrValue{Which: pb.AttrValueList, List: &pb.AttrValueListValue{S: [][]byte{nil}}}}}}, "no list(type)"},
		{"allowed values without a list", pb.OpDef{Attr: []*pb.AttrDef{{Name: "a", Type: "string", AllowedValues: &pb.AttrValue{Which: pb.AttrValueList}}}}, "no list(string)"},
		{"allowed integers", pb.OpDef{Attr: []*pb.AttrDef{{Name: "a", Type: "int", AllowedValues: &pb.AttrValue{}}}}, "lists allowed values"},
		{"no type", pb.OpDef{InputArg: []*pb.ArgDef{{Name: "x"}}}, `input "x": it must have either`},
		{"two types", pb.OpDef{OutputArg: []*pb.ArgDef{{Name: "x", Type: 1, TypeAttr: "T"}}}, `output "x": it must have either`},
		{"missing attribute", pb.OpDef{InputArg: []*pb.ArgDef{{Name: "x", TypeAttr: "T"}}}, `"T", which there is not`},
		{"attribute of another kind", pb.OpDef{InputArg: []*pb.ArgDef{{Name: "x", Type: 1, NumberAttr: "N"}}, Attr: []*pb.AttrDef{attr("N", "type")}}, `"N" as int, which is type`},
		{"same input twice", pb.OpDef{InputArg: []*pb.ArgDef{{Name: "x", Type: 1}, {Name: "x", Type: 1}}}, "two of this name"},
	} {
		if c.name != "nameless" {
			c.p.Name = "Op"
		}
		_, err := opDefFromProto(&c.p)
		var e *OpDefError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func BenchmarkOpIndex(b *testing.B) {
	for b.Loop() {
		new(opTable).index()
	}
}

func BenchmarkOpLookup(b *testing.B) {
	for b.Loop() {
		LookupOp("MatMul")
	}
}
