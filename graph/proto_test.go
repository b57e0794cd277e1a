package graph

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/tensorproto"
	"github.com/cairnml/cairn/tensor"
)

func nodeDef(name, op string, inputs ...string) *pb.NodeDef {
	return &pb.NodeDef{Name: name, Op: op, Input: inputs}
}

func typed(n *pb.NodeDef, attrs ...string) *pb.NodeDef {
	for _, a := range attrs {
		n.Attr = append(n.Attr, &pb.AttrValueEntry{Key: a, Value: &pb.AttrValue{Which: pb.AttrValueType, Type: 1}})
	}
	return n
}

func withAttr(n *pb.NodeDef, key string, v *pb.AttrValue) *pb.NodeDef {
	n.Attr = append(n.Attr, &pb.AttrValueEntry{Key: key, Value: v})
	return n
}

func TestWrongNodesAreRefused(t *testing.T) {
	number := func(n int64) *pb.AttrValue { return &pb.AttrValue{Which: pb.AttrValueI, I: n} }
	splat := &pb.AttrValue{Which: pb.AttrValueTensor, Tensor: &pb.TensorProto{Dtype: 1, TensorShape: tensorproto.EncodeShape(tensor.Shape{1 << 29}), FloatVal: []float32{1}}}
	deep := &pb.AttrValue{Which: pb.AttrValueFunc, Func: &pb.NameAttrList{Name: "f"}}
	for range maxAttrDepth + 1 {
		deep = &pb.AttrValue{Which: pb.AttrValueFunc, Func: &pb.NameAttrList{Name: "f", Attr: []*pb.AttrValueEntry{{Key: "g", Value: deep}}}}
	}
	for _, c := range []struct {
		name  string
		nodes []*pb.NodeDef
		want  string
	}{
		{"nameless", []*pb.NodeDef{nodeDef("", "NoOp")}, "no name"},
		{"without op", []*pb.NodeDef{nodeDef("a", "")}, "no op"},
		{"name of an output", []*pb.NodeDef{nodeDef("a:1", "NoOp")}, "no node can have this name"},
		{"twice", []*pb.NodeDef{nodeDef("a", "NoOp"), nodeDef("a", "NoOp")}, "two nodes of this name"},
		{"dangling", []*pb.NodeDef{typed(nodeDef("a", "Identity", "b"), "T")}, `input 0 ("b"): there is no such node`},
		{"dangling control", []*pb.NodeDef{nodeDef("a", "NoOp", "^b")}, `control input "^b" leads to no node`},
		{"itself", []*pb.NodeDef{typed(nodeDef("a", "Identity", "a"), "T")}, "the node itself"},
		{"itself as control", []*pb.NodeDef{nodeDef("a", "NoOp", "^a")}, "the node itself"},
		{"output too high", []*pb.NodeDef{typed(nodeDef("a", "Identity", "b:1"), "T"), typed(nodeDef("b", "Placeholder"), "dtype")}, "has 1 outputs"},
		{"no output", []*pb.NodeDef{typed(nodeDef("a", "Identity", "b"), "T"), nodeDef("b", "NoOp")}, "has 0 outputs"},
		{"no number", []*pb.NodeDef{typed(nodeDef("a", "Identity", "b:-1"), "T"), nodeDef("b", "Mine")}, `"-1" is no number`},
		{"output of an unknown op", []*pb.NodeDef{typed(nodeDef("a", "Identity", "b:70000"), "T"), nodeDef("b", "Mine")}, "has 65536 outputs"},
		{"data after control", []*pb.NodeDef{nodeDef("b", "NoOp"), typed(nodeDef("a", "Identity", "^b", "b"), "T")}, "follows a control input"},
		{"too many outputs", []*pb.NodeDef{withAttr(typed(nodeDef("a", "Unpack"), "T"), "num", number(1<<30))}, "too many outputs"},
		{"number of outputs below zero", []*pb.NodeDef{withAttr(typed(nodeDef("a", "Unpack"), "T"), "num", number(-1))}, `attribute "num" is -1`},
		{"no number of outputs", []*pb.NodeDef{typed(nodeDef("a", "Unpack"), "T")}, `attribute "num" is missing`},
		{"huge constant", []*pb.NodeDef{withAttr(nodeDef("a", "Const"), "value", splat)}, `attribute "value": a float32[536870912] of few values takes`},
		{"two kinds", []*pb.NodeDef{withAttr(nodeDef("a", "NoOp"), "_x", &pb.AttrValue{Which: pb.AttrValueList, List: &pb.AttrValueListValue{I: []int64{1}, B: []bool{true}}})}, "several kinds"},
		{"deep", []*pb.NodeDef{withAttr(nodeDef("a", "NoOp"), "_x", deep)}, "deep"},
	} {
		_, err := fromProto(&pb.GraphDef{Node: c.nodes}, nil)
		var e *NodeDefError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func floatArg(name string) *pb.ArgDef { return &pb.ArgDef{Name: name, Type: 1} }

func lazily(fns ...*pb.FunctionDef) (out []pb.Lazy[pb.FunctionDef]) {
	for _, f := range fns {
		out = append(out, pb.LazyOf(f))
	}
	return out
}

func TestWrongFunctionsAreRefused(t *testing.T) {
	sig := func() *pb.OpDef {
		return &pb.OpDef{Name: "f", InputArg: []*pb.ArgDef{floatArg("x")}, OutputArg: []*pb.ArgDef{floatArg("y")}}
	}
	split := withAttr(typed(nodeDef("s", "Split", "i:output:0", "x"), "T"), "num_split", &pb.AttrValue{Which: pb.AttrValueI, I: maxPort})
	lists := []*pb.NodeDef{split, withAttr(nodeDef("i", "Const"), "dtype", &pb.AttrValue{Which: pb.AttrValueType, Type: 3})}
	for i := range maxListed/maxPort + 2 {
		lists = append(lists, nodeDef(fmt.Sprint("n", i), "NoOp", "s:output"))
	}
	ret := func(s string) []*pb.StringEntry { return []*pb.StringEntry{{Key: "y", Value: s}} }
	for _, c := range []struct {
		name string
		fns  []*pb.FunctionDef
		want string
	}{
		{"no signature", []*pb.FunctionDef{{}}, "no name"},
		{"an op's name", []*pb.FunctionDef{{Signature: &pb.OpDef{Name: "MatMul"}}}, "an op has the same name"},
		{"twice", []*pb.FunctionDef{{Signature: &pb.OpDef{Name: "f"}}, {Signature: &pb.OpDef{Name: "f"}}}, "two functions of this name"},
		{"no result", []*pb.FunctionDef{{Signature: sig()}}, `the result "y" is not defined`},
		{"dangling result", []*pb.FunctionDef{{Signature: sig(), Ret: ret("n:y:0")}}, "no such node"},
		{"result without an output", []*pb.FunctionDef{{Signature: sig(), Ret: ret("n"), NodeDef: []*pb.NodeDef{typed(nodeDef("n", "Identity", "x"), "T")}}}, "without the name of an output"},
		{"no such output", []*pb.FunctionDef{{Signature: sig(), Ret: ret("n:z:0"), NodeDef: []*pb.NodeDef{typed(nodeDef("n", "Identity", "x"), "T")}}}, `Identity has no output "z"`},
		{"output too high", []*pb.FunctionDef{{Signature: sig(), Ret: ret("n:output:1"), NodeDef: []*pb.NodeDef{typed(nodeDef("n", "Identity", "x"), "T")}}}, "has 1 tensors"},
		{"unknown op", []*pb.FunctionDef{{Signature: sig(), Ret: ret("n:y:0"), NodeDef: []*pb.NodeDef{nodeDef("n", "Mine", "x")}}}, "put its definition"},
		{"lists of many tensors", []*pb.FunctionDef{{Signature: sig(), Ret: ret("x"), NodeDef: lists}}, "more tensors than names"},
		{"unknown results", []*pb.FunctionDef{{Signature: sig(), Ret: append(ret("x"), &pb.StringEntry{Key: "z", Value: "x"}, &pb.StringEntry{Key: "b", Value: "x"}, &pb.StringEntry{Key: "c", Value: "x"})}}, `returns "b"`},
		{"unknown control results", []*pb.FunctionDef{{Signature: sig(), Ret: ret("x"), ControlRet: []*pb.StringEntry{{Key: "e", Value: "n"}, {Key: "c", Value: "n"}, {Key: "d", Value: "n"}}}}, `control result "c"`},
		{"unknown result", []*pb.FunctionDef{{Signature: sig(), Ret: append(ret("x"), &pb.StringEntry{Key: "z", Value: "x"})}}, `returns "z"`},
		{"unknown control result", []*pb.FunctionDef{{Signature: sig(), Ret: ret("x"), ControlRet: []*pb.StringEntry{{Key: "c", Value: "n"}}}}, `control result "c"`},
		{"name of an argument", []*pb.FunctionDef{{Signature: sig(), Ret: ret("x"), NodeDef: []*pb.NodeDef{nodeDef("x", "NoOp")}}}, "two nodes of this name"},
	} {
		_, err := fromProto(&pb.GraphDef{Library: &pb.FunctionDefLibrary{Function: lazily(c.fns...)}}, nil)
		var n *NodeDefError
		var f *FunctionDefError
		if !errors.As(err, &f) && !errors.As(err, &n) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestFunctionsReferToThemselvesByPointer(t *testing.T) {
	call := withAttr(nodeDef("n", "PartitionedCall", "x"), "f", &pb.AttrValue{Which: pb.AttrValueFunc, Func: &pb.NameAttrList{Name: "f"}})
	types := &pb.AttrValue{Which: pb.AttrValueList, List: &pb.AttrValueListValue{Type: []pb.DataType{1}}}
	withAttr(withAttr(call, "Tin", types), "Tout", types)
	g, err := fromProto(&pb.GraphDef{
		Library: &pb.FunctionDefLibrary{Function: lazily(&pb.FunctionDef{
			Signature: &pb.OpDef{Name: "f", InputArg: []*pb.ArgDef{floatArg("x")}, OutputArg: []*pb.ArgDef{floatArg("y")}},
			NodeDef:   []*pb.NodeDef{call},
			Ret:       []*pb.StringEntry{{Key: "y", Value: "n:output:0"}},
		})},
		Node: []*pb.NodeDef{typed(nodeDef("p", "Placeholder"), "dtype"), nodeDef("c", "f", "p"),
			withAttr(nodeDef("u", "NoOp"), "_f", &pb.AttrValue{Which: pb.AttrValueFunc, Func: &pb.NameAttrList{Name: "unknown"}})},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := g.Library.Lookup("f")
	if c, ok := f.Graph.Lookup("n").Attrs.Func("f"); !ok || c.Function != f {
		t.Error("f doesn't call itself by pointer")
	}
	if n := g.Lookup("c"); n.Def == nil || len(n.Out) != 1 || n.Out[0].DType != tensor.Float32 {
		t.Errorf("the call by name: %v", n)
	}
	if c, ok := g.Lookup("u").Attrs.Func("_f"); !ok || c.Function != nil || c.FuncName() != "unknown" {
		t.Error("the name of a function that isn't there is lost")
	}
	f.Name = "g" // a name counts only when it is written
	p, err := g.proto(nil)
	if err != nil {
		t.Fatal(err)
	}
	def, _ := p.Library.Function[0].Get()
	callee, _ := pb.Lookup(def.NodeDef[0].Attr, "f")
	if def.Signature.Name != "g" || callee.Func.Name != "g" || p.Node[1].Op != "g" {
		t.Errorf("renamed, it is called %s, by %s and %s", def.Signature.Name, callee.Func.Name, p.Node[1].Op)
	}
}

// traced returns a function as tracing makes it: no file, any names.
func traced(t *testing.T, name string) *Function {
	t.Helper()
	fn := NewFunction(name)
	x, err := fn.AddArg("Inputs/0:x", Fact{DType: tensor.Float32, Shape: ShapeOf(-1)})
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{Name: "a split:0", Op: "SplitV", Def: LookupOp("SplitV"), Attrs: Attrs{Int("num_split", 2)}, In: []Output{x}, Out: []Fact{{DType: tensor.Float32}, {DType: tensor.Float32}}}
	if err := fn.Graph.Add(n); err != nil {
		t.Fatal(err)
	}
	fn.AddResult("Out", n.Output(1))
	fn.AddResult("Out", x)
	fn.Control = []ControlResult{{"a split:0", n}}
	return fn
}

func TestTracedFunctionsGetNamesThatFilesTake(t *testing.T) {
	p, err := traced(t, "f").proto(nil, new(Effects))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Signature.InputArg[0].Name; got != "inputs_0_x" {
		t.Errorf("argument %q", got)
	}
	if n := p.NodeDef[0]; len(p.NodeDef) != 4 || n.Name != "a_split_0" || n.Input[0] != "inputs_0_x" {
		t.Errorf("nodes %+v", p.NodeDef)
	}
	first, _ := pb.Lookup(p.Ret, "out")
	second, _ := pb.Lookup(p.Ret, "out_1")
	if first != "Identity:output:0" || second != "Identity_1:output:0" || p.Signature.OutputArg[1].Name != "out_1" {
		t.Errorf("returns %q and %q", first, second)
	}
	// As TensorFlow has it, a result depends on all effects.
	for i, n := range p.NodeDef[2:] {
		if from := []string{"a_split_0:output:1", "inputs_0_x"}[i]; n.Op != "Identity" || !slices.Equal(n.Input, []string{from, "^NoOp"}) {
			t.Errorf("result %d is the node %+v", i, n)
		}
	}
	if n := p.NodeDef[1]; n.Op != "NoOp" || !slices.Equal(n.Input, []string{"^a_split_0"}) {
		t.Errorf("before the results stands %+v", n)
	}
	if p.ControlRet[0].Value != "a_split_0" || p.Signature.ControlOutput[0] != p.ControlRet[0].Key {
		t.Errorf("control results %+v", p.ControlRet[0])
	}
}

func TestLibrariesMakeNamesUnique(t *testing.T) {
	a, b, c := traced(t, "f"), traced(t, "f"), traced(t, "Identity")
	for _, callee := range []*Function{b, c} {
		if err := a.Graph.Add(&Node{Op: "PartitionedCall", Def: LookupOp("PartitionedCall"), Attrs: Attrs{Func("f", callee)}}); err != nil {
			t.Fatal(err)
		}
	}
	b.Attrs = Attrs{FunctionName("forward_function_name", a)}
	l := Assemble(a)
	if a, b, c := l.NameOf(a), l.NameOf(b), l.NameOf(c); a != "f" || b != "f_1" || c != "Identity_1" {
		t.Errorf("names %s, %s, %s", a, b, c)
	}
	p, err := l.proto(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Function) != 3 {
		t.Fatalf("%d functions", len(p.Function))
	}
	first, _ := p.Function[0].Get()
	second, _ := p.Function[1].Get()
	forward, _ := pb.Lookup(second.Attr, "forward_function_name")
	if first.NodeDef[1].Attr[0].Value.Func.Name != "f_1" || forward == nil || string(forward.S) != "f" {
		t.Errorf("references to functions are wrong")
	}
}

func FuzzFromProto(f *testing.F) {
	for _, g := range tfGraphs(f) {
		if b := g.def.Marshal(); len(b) < 20000 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := Unmarshal(b, &Options{MaxExpanded: 1 << 16})
		if err != nil {
			return
		}
		_ = g.String()
		p, err := g.proto(nil)
		if err != nil {
			t.Fatalf("what was read can't be written: %v", err)
		}
		first := p.Marshal()
		again, err := Unmarshal(first, &Options{MaxExpanded: 1 << 16})
		if err != nil {
			t.Fatalf("what was written can't be read: %v", err)
		}
		p, err = again.proto(nil)
		if err != nil || string(p.Marshal()) != string(first) {
			t.Errorf("the second writing differs: %v", err)
		}
	})
}

// TestOnlyReachedFunctionsAreRead: those that nodes call, refer to by attributes or name
// the gradients of, and those that these reach.
func TestOnlyReachedFunctionsAreRead(t *testing.T) {
	fn := func(name string, nodes ...*pb.NodeDef) *pb.FunctionDef {
		return &pb.FunctionDef{Signature: &pb.OpDef{Name: name}, NodeDef: nodes}
	}
	refer := func(names ...string) *pb.NodeDef {
		list := &pb.AttrValueListValue{}
		for _, s := range names[1:] {
			list.Func = append(list.Func, &pb.NameAttrList{Name: s})
		}
		n := withAttr(nodeDef("refers to "+names[0], "NoOp"), "_f", &pb.AttrValue{Which: pb.AttrValueFunc, Func: &pb.NameAttrList{Name: names[0]}})
		return withAttr(n, "_fs", &pb.AttrValue{Which: pb.AttrValueList, List: list})
	}
	named := withAttr(nodeDef("custom", "NoOp"), "_gradient_op_type", &pb.AttrValue{Which: pb.AttrValueS, S: []byte("Custom-1")})
	def := &pb.GraphDef{
		Node: []*pb.NodeDef{nodeDef("call", "a")},
		Library: &pb.FunctionDefLibrary{
			Function: lazily(fn("unused", refer("b")), fn("c"), fn("a", refer("b", "c", "a")), fn("b", named), fn("grad of b"), fn("custom gradient", nodeDef("n", "d")),
				fn("other gradient"), fn("d"), fn("asked for", nodeDef("n", "e")), fn("e"), fn("unused too")),
			Gradient: []*pb.GradientDef{{FunctionName: "b", GradientFunc: "grad of b"}},
			RegisteredGradients: []*pb.RegisteredGradient{{RegisteredOpType: "Custom-1", GradientFunc: "custom gradient"},
				{RegisteredOpType: "Custom-2", GradientFunc: "other gradient"}},
		},
	}
	encoded := def.Marshal()
	for _, only := range [][]string{{"asked for", "nowhere"}, {}, nil} {
		var read pb.GraphDef
		if err := read.Unmarshal(encoded); err != nil {
			t.Fatal(err)
		}
		g, err := fromProto(&read, &Options{Only: only})
		if err != nil {
			t.Fatal(err)
		}
		want := "a,b,c,custom gradient,d,grad of b"
		switch {
		case only == nil:
			want = "a,asked for,b,c,custom gradient,d,e,grad of b,other gradient,unused,unused too"
		case len(only) > 0:
			want = "a,asked for,b,c,custom gradient,d,e,grad of b"
		}
		if got := strings.Join(g.Library.Names(), ","); got != want {
			t.Errorf("only %q: %s, want %s", only, got, want)
		}
		if c, _ := g.Library.Lookup("a").Graph.Nodes()[0].Attrs.Func("_f"); c.Function != g.Library.Lookup("b") {
			t.Errorf("only %q: a refers to %v", only, c)
		}
	}
}

// TestAttributesOfLaterReleases: a file's own definition of an op may have attributes that
// TensorFlow 2.21's lacks; a node may have them as they are by default, and is written with
// them again.
func TestAttributesOfLaterReleases(t *testing.T) {
	own := LookupOp("Relu").proto()
	no := &pb.AttrValue{Which: pb.AttrValueB}
	own.Attr = append(own.Attr, &pb.AttrDef{Name: "sharp", Type: "bool", DefaultValue: no})
	def, err := opDefFromProto(own)
	if err != nil {
		t.Fatal(err)
	}
	relu := func(sharp bool) *pb.GraphDef {
		return &pb.GraphDef{Node: []*pb.NodeDef{
			{Name: "x", Op: "Placeholder", Attr: []*pb.AttrValueEntry{{Key: "dtype", Value: &pb.AttrValue{Which: pb.AttrValueType, Type: 1}}}},
			{Name: "y", Op: "Relu", Input: []string{"x"}, Attr: []*pb.AttrValueEntry{
				{Key: "T", Value: &pb.AttrValue{Which: pb.AttrValueType, Type: 1}},
				{Key: "sharp", Value: &pb.AttrValue{Which: pb.AttrValueB, B: sharp}}}},
		}}
	}
	for _, sharp := range []bool{false, true} {
		g, err := fromProto(relu(sharp), &Options{Ops: []*OpDef{def}})
		if err != nil {
			t.Fatal(err)
		}
		y := g.Nodes()[1]
		if _, _, err := y.Def.Bind(y.Attrs, facts(tensor.Float32)); (err != nil) != sharp {
			t.Errorf("sharp %v: %v", sharp, err)
		}
		p, err := g.proto(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.Node[1].Marshal(), relu(sharp).Node[1].Marshal(); !bytes.Equal(got, want) {
			t.Errorf("sharp %v: the node is written as %q, want %q", sharp, got, want)
		}
	}
}

// TestFunctionsSayTheShapesOfTheirArguments has the attributes that TensorFlow
// 2.21 writes for a function of float32[?,3], a float32 of unknown rank and two
// variables.
func TestFunctionsSayTheShapesOfTheirArguments(t *testing.T) {
	fn := NewFunction("f")
	for _, f := range []Fact{
		{DType: tensor.Float32, Shape: ShapeOf(-1, 3)}, {DType: tensor.Float32}, {DType: tensor.Resource, Shape: ShapeOf()}, {DType: tensor.Resource, Shape: ShapeOf()},
	} {
		f.Shape = f.Shape.Identified()
		if _, err := fn.AddArg("", f); err != nil {
			t.Fatal(err)
		}
	}
	fn.AddResult("y", fn.Args[0].Output(0))
	p, err := fn.proto(nil, new(Effects))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	say := func(of string, attrs []*pb.AttrValueEntry) {
		for _, a := range attrs {
			var shapes []string
			for _, s := range a.Value.List.Shape {
				shape, _, err := readShape(s)
				if err != nil {
					t.Fatal(err)
				}
				shapes = append(shapes, shape.Anonymous().String())
			}
			got = append(got, fmt.Sprint(of, " ", a.Key, shapes))
		}
	}
	say("function", p.Attr)
	for _, a := range p.ArgAttr {
		say(fmt.Sprint(a.Key), a.Value.Attr)
	}
	want := []string{"function _input_shapes[[?,3] <unknown> [] []]", "1 _output_shapes[<unknown>]", "0 _output_shapes[[?,3]]"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
