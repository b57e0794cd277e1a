package run_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// changed returns a fixture whose first MetaGraph change has seen.
func changed(t *testing.T, name string, change func(g *pb.MetaGraphDef, objects *pb.SavedObjectGraph)) fstest.MapFS {
	t.Helper()
	dir := files(t, name)
	var m pb.SavedModel
	if err := m.Unmarshal(dir["saved_model.pb"].Data); err != nil {
		t.Fatal(err)
	}
	g := m.MetaGraphs[0]
	objects, err := g.ObjectGraphDef.Get()
	if err != nil {
		t.Fatal(err)
	}
	*g.ObjectGraphDef = pb.LazyOf(objects)
	change(g, objects)
	dir["saved_model.pb"].Data = m.Marshal()
	return dir
}

// TestMismatchedVariablesFailOnlyTheCallsThatNeedThem checks a variable whose value in
// the checkpoint has another shape. As in a session of TensorFlow, calls that
// don't need it run.
func TestMismatchedVariablesFailOnlyTheCallsThatNeedThem(t *testing.T) {
	dir := changed(t, "module", func(g *pb.MetaGraphDef, objects *pb.SavedObjectGraph) {
		for _, n := range objects.Nodes {
			if v := n.Variable; v != nil && v.Dtype == pb.DataType(tensor.Int64) {
				v.Shape = &pb.TensorShapeProto{Dim: []*pb.Dim{{Size: 7}}}
			}
		}
	})
	m, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Call(ctx, "serving_default", map[string]*tensor.Tensor{"x": tensor.Must(tensor.Zeros(tensor.Float32, 1, 3))}); err != nil {
		t.Errorf("a signature without the variable: %v", err)
	}
	_, err = m.Call(ctx, "bump", map[string]*tensor.Tensor{"by": tensor.Scalar[int64](1)})
	if err == nil || !strings.Contains(err.Error(), `is int64[7], the checkpoint's "count/.ATTRIBUTES/VARIABLE_VALUE" int64[]`) {
		t.Errorf("a signature with it: %v", err)
	}
}

// TestACapturedTensorIsNamed: a tensor of another function has no value outside of
// it.
func TestACapturedTensorIsNamed(t *testing.T) {
	dir := changed(t, "module", func(g *pb.MetaGraphDef, objects *pb.SavedObjectGraph) {
		for _, n := range objects.Nodes {
			if n.Constant != nil {
				n.Which, n.Constant = pb.SavedObjectCapturedTensor, nil
				n.CapturedTensor = &pb.CapturedTensor{Name: "mul:0", ConcreteFunction: "outer"}
			}
		}
	})
	m, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function("total")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Call(ctx, nil, nil); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), `the tensor "mul:0" of the function "outer", which has a value only while that runs`) {
		t.Errorf("%v", err)
	}
}

// TestErrorOfASingleTraceNamesTheArgument checks that, if a function has one trace,
// the error names the argument and its contents.
func TestErrorOfASingleTraceNamesTheArgument(t *testing.T) {
	m := load(t, "structured")
	f, err := m.Function("words")
	if err != nil {
		t.Fatal(err)
	}
	splits := tensor.Must(tensor.New([]int64{0, 1}, 2))
	bad := run.Composite{tensor.Must(tensor.New([]float32{1}, 1)), splits, splits}
	for want, args := range map[string][]any{
		"argument 0 is RaggedTensorSpec(float32[1], int64[2], int64[2]), not RaggedTensorSpec": {bad},
		"argument 0 is 1.5, not RaggedTensorSpec":                                              {1.5},
		": a Composite holds its tensors, 3 of them":                                           {1.5},
		"the argument \"r\" is missing; it takes (r)":                                          {},
		"it takes 1 arguments by position (got 2)":                                             {1, 2},
	} {
		_, err := f.Call(ctx, args, nil)
		var no *run.MatchError
		if !errors.As(err, &no) || !strings.Contains(err.Error(), want) || len(no.Candidates) != 1 {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
}

// TestAFileOfALaterReleaseRuns: its definitions have attributes that TensorFlow 2.21's lack.
// A node that has them at their defaults runs; another one is refused by its name.
func TestAFileOfALaterReleaseRuns(t *testing.T) {
	for _, sharp := range []bool{false, true} {
		dir := changed(t, "module", func(g *pb.MetaGraphDef, _ *pb.SavedObjectGraph) {
			op := "AssignAddVariableOp"
			for _, d := range g.MetaInfoDef.StrippedOpList.Op {
				if d.Name == op {
					d.Attr = append(d.Attr, &pb.AttrDef{Name: "sharp", Type: "bool", DefaultValue: &pb.AttrValue{Which: pb.AttrValueB}})
				}
			}
			def, err := g.GraphDef.Get()
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for i := range def.Library.Function {
				f, err := def.Library.Function[i].Get()
				if err != nil {
					t.Fatal(err)
				}
				for _, node := range f.NodeDef {
					if node.Op == op {
						node.Attr = append(node.Attr, &pb.AttrValueEntry{Key: "sharp", Value: &pb.AttrValue{Which: pb.AttrValueB, B: sharp}})
						n++
					}
				}
				def.Library.Function[i] = pb.LazyOf(f)
			}
			if n == 0 {
				t.Fatalf("no node is %s", op)
			}
			*g.GraphDef = pb.LazyOf(def)
		})
		m, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernel.All()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Call(ctx, "bump", map[string]*tensor.Tensor{"by": tensor.Scalar[int64](1)})
		if sharp && (err == nil || !strings.Contains(err.Error(), "has no attribute sharp")) || !sharp && err != nil {
			t.Errorf("sharp %v: %v", sharp, err)
		}
	}
}
