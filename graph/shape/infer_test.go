package shape_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
)

// infer returns the facts of n outputs by the rule of an op.
func infer(op string, n int, attrs graph.Attrs, in ...graph.Fact) ([]graph.Fact, error) {
	c := &shape.Inference{Op: op, Attrs: attrs, In: in, Out: make([]graph.Fact, n)}
	for i := range c.Out {
		if len(in) > 0 {
			c.Out[i].DType = in[0].DType
		}
	}
	err := shape.All().Infer(c)
	return c.Out, err
}

// one infers as infer does, for ops with one output that must not fail.
func one(t *testing.T, op string, attrs graph.Attrs, in ...graph.Fact) graph.Fact {
	t.Helper()
	out, err := infer(op, 1, attrs, in...)
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	return out[0]
}

func floats(dims ...int) graph.Fact {
	return graph.Fact{DType: tensor.Float32, Shape: graph.ShapeOf(dims...)}
}

func ints(v ...int32) graph.Fact { return graph.FactOf(tensor.Vector(v...)) }

func num(v int32) graph.Fact { return graph.FactOf(tensor.Scalar(v)) }

// shapeOf returns the fact that the op Shape infers for a value, as int32.
func shapeOf(t *testing.T, f graph.Fact) graph.Fact {
	t.Helper()
	c := &shape.Inference{Op: "Shape", In: []graph.Fact{f}, Out: []graph.Fact{{DType: tensor.Int32}}}
	if err := shape.All().Infer(c); err != nil {
		t.Fatal(err)
	}
	return c.Out[0]
}

// index returns v[i:i+1] or, for a scalar, v[i].
func index(t *testing.T, v graph.Fact, i int32, scalar bool) graph.Fact {
	t.Helper()
	mask := int64(0)
	if scalar {
		mask = 1
	}
	return one(t, "StridedSlice", graph.Attrs{graph.Int("shrink_axis_mask", mask)}, v, ints(i), ints(i+1), ints(1))
}

func TestTheSameUnknownSizeStaysTheSame(t *testing.T) {
	n, m := graph.NewDim(), graph.NewDim()
	x := floats(n, 3)
	s := shapeOf(t, x)
	first := index(t, s, 0, true)
	for _, c := range []struct {
		name string
		got  graph.Fact
		want []int
	}{
		{"Add", one(t, "AddV2", nil, x, floats(n, 1)), []int{n, 3}},
		{"Add of a row", one(t, "AddV2", nil, x, floats(3)), []int{n, 3}},
		{"Select", one(t, "SelectV2", nil, floats(n, 1), x, floats()), []int{n, 3}},
		{"Concat along another axis", one(t, "ConcatV2", nil, x, floats(n, 2), num(1)), []int{n, 5}},
		{"Concat with nothing", one(t, "ConcatV2", nil, x, floats(0, 3), num(0)), []int{n, 3}},
		{"Pack", one(t, "Pack", graph.Attrs{graph.Int("axis", 1)}, x, x), []int{n, 2, 3}},
		{"Transpose", one(t, "Transpose", nil, x, ints(1, 0)), []int{3, n}},
		{"Reshape with -1 that is the unknown size", one(t, "Reshape", nil, x, ints(-1, 3)), []int{n, 3}},
		{"Reshape to its own shape", one(t, "Reshape", nil, floats(n, 3), s), []int{n, 3}},
		{"Reshape of all but the unknown size", one(t, "Reshape", nil, floats(n, 2, 3), one(t, "Pack", nil, first, num(-1))), []int{n, 6}},
		{"Reshape that splits", one(t, "Reshape", nil, floats(n, 6), one(t, "Pack", nil, first, num(2), num(3))), []int{n, 2, 3}},
		{"Reshape with -1 between", one(t, "Reshape", nil, floats(n, m, 4), one(t, "Pack", nil, first, num(2), num(-1), index(t, shapeOf(t, floats(m)), 0, true))), []int{n, 2, 2, m}},
		{"Flatten and back", one(t, "Reshape", nil, one(t, "Reshape", nil, x, ints(-1)), s), []int{n, 3}},
		{"Fill", one(t, "Fill", nil, s, floats()), []int{n, 3}},
		{"Range", one(t, "Range", nil, num(0), first, num(1)), []int{n}},
		{"BroadcastTo", one(t, "BroadcastTo", nil, floats(3), s), []int{n, 3}},
		{"Sum", one(t, "Sum", nil, x, ints(1)), []int{n}},
		{"MatMul", one(t, "MatMul", nil, x, floats(3, m)), []int{n, m}},
		{"MatMul whose inner size tells", one(t, "MatMul", graph.Attrs{graph.Bool("transpose_a", true)}, x, floats(7, 2)), []int{3, 2}},
		{"Gather", one(t, "GatherV2", nil, floats(m, 3), floats(n), num(0)), []int{n, 3}},
		{"OneHot", one(t, "OneHot", graph.Attrs{graph.Int("axis", -1)}, floats(n), num(4), floats(), floats()), []int{n, 4}},
		{"Pad of the other dimension", one(t, "Pad", nil, x, graph.FactOf(tensor.Must(tensor.New([]int32{0, 0, 1, 1}, 2, 2)))), []int{n, 5}},
		{"Tile once", one(t, "Tile", nil, x, ints(1, 2)), []int{n, 6}},
		{"Slice from the beginning", one(t, "Slice", nil, x, ints(0, 1), ints(-1, 2)), []int{n, 2}},
		{"Slice of the size", one(t, "Slice", nil, x, ints(0, 0), one(t, "Pack", nil, first, num(2))), []int{n, 2}},
		{"StridedSlice of all", one(t, "StridedSlice", graph.Attrs{graph.Int("begin_mask", 1), graph.Int("end_mask", 1)}, x, ints(0), ints(0), ints(1)), []int{n, 3}},
		{"StridedSlice backwards", one(t, "StridedSlice", graph.Attrs{graph.Int("begin_mask", 1), graph.Int("end_mask", 1)}, x, ints(0), ints(0), ints(-1)), []int{n, 3}},
		{"StridedSlice up to the size", one(t, "StridedSlice", nil, x, ints(0), index(t, s, 0, false), ints(1)), []int{n, 3}},
		{"ExpandDims and Squeeze", one(t, "Squeeze", graph.Attrs{graph.Ints("squeeze_dims", 1)}, one(t, "ExpandDims", nil, x, num(1))), []int{n, 3}},
		{"BiasAdd", one(t, "BiasAdd", nil, x, floats(3)), []int{n, 3}},
	} {
		if want := graph.ShapeOf(c.want...); !c.got.Shape.Equal(want) {
			t.Errorf("%s: %v, want %v", c.name, c.got.Shape.Dims(), c.want)
		}
	}
}

func TestImagesKeepTheirUnknownSizes(t *testing.T) {
	n, h := graph.NewDim(), graph.NewDim()
	x, f := floats(n, h, 8, 3), floats(3, 3, 3, 5)
	ones := graph.Ints("strides", 1, 1, 1, 1)
	for _, c := range []struct {
		name string
		got  graph.Fact
		want []int
	}{
		{"SAME", one(t, "Conv2D", graph.Attrs{ones, graph.String("padding", "SAME")}, x, f), []int{n, h, 8, 5}},
		{"VALID with a filter of one", one(t, "Conv2D", graph.Attrs{ones, graph.String("padding", "VALID")}, x, floats(1, 1, 3, 5)), []int{n, h, 8, 5}},
		{"paddings that make up for the filter", one(t, "Conv2D", graph.Attrs{ones, graph.String("padding", "EXPLICIT"), graph.Ints("explicit_paddings", 0, 0, 1, 1, 1, 1, 0, 0)}, x, f), []int{n, h, 8, 5}},
		{"the channels of a depthwise filter", one(t, "DepthwiseConv2dNative", graph.Attrs{ones, graph.String("padding", "SAME")}, floats(n, h, 8, -1), floats(3, 3, 3, 2)), []int{n, h, 8, 6}},
		{"normalised", one(t, "FusedBatchNormV3", graph.Attrs{graph.Bool("is_training", true)}, floats(n, h, 8, -1), floats(3), floats(3), floats(0), floats(0)), []int{n, h, 8, 3}},
	} {
		if want := graph.ShapeOf(c.want...); !c.got.Shape.Equal(want) {
			t.Errorf("%s: %v, want %v", c.name, c.got.Shape.Dims(), c.want)
		}
	}
	valid := graph.Attrs{ones, graph.String("padding", "VALID")}
	if _, err := infer("Conv2D", 1, valid, floats(1, 1, 8, 3), f); err == nil || !strings.Contains(err.Error(), "doesn't fit 1") {
		t.Error(err)
	}
	if _, err := infer("Conv2D", 1, valid, floats(1, 8, 8, 4), f); err == nil || !strings.Contains(err.Error(), "the filter takes 3") {
		t.Error(err)
	}
}

func TestUnknownSizesThatMayDifferStayApart(t *testing.T) {
	n, m := graph.NewDim(), graph.NewDim()
	for name, f := range map[string]graph.Fact{
		"Add":    one(t, "AddV2", nil, floats(n), floats(m)),
		"Concat": one(t, "ConcatV2", nil, floats(n), floats(n), num(0)),
		"Tile":   one(t, "Tile", nil, floats(n), ints(2)),
		"Stride": one(t, "StridedSlice", graph.Attrs{graph.Int("begin_mask", 1), graph.Int("end_mask", 1)}, floats(n), ints(0), ints(0), ints(2)),
	} {
		if d := f.Shape.Dim(0); d >= 0 || d == n || d == m || d == -1 {
			t.Errorf("%s: %d of %d and %d", name, d, n, m)
		}
	}
}

func TestElementsAreCarried(t *testing.T) {
	n := graph.NewDim()
	s := shapeOf(t, floats(n, 3, 4)) // [n,3,4]
	elem := func(d int) graph.Elem { return graph.SizeElem(d) }
	first := index(t, s, 0, true)
	cast := func(f graph.Fact) graph.Fact {
		c := &shape.Inference{Op: "Cast", Attrs: graph.Attrs{graph.Type("DstT", tensor.Int64)}, In: []graph.Fact{f}, Out: []graph.Fact{{DType: tensor.Int64}}}
		if err := shape.All().Infer(c); err != nil {
			t.Fatal(err)
		}
		return c.Out[0]
	}
	for _, c := range []struct {
		name string
		got  graph.Fact
		want []graph.Elem
	}{
		{"Shape", s, []graph.Elem{elem(n), elem(3), elem(4)}},
		{"Identity", one(t, "Identity", nil, s), []graph.Elem{elem(n), elem(3), elem(4)}},
		{"StridedSlice", index(t, s, 1, false), []graph.Elem{elem(3)}},
		{"StridedSlice backwards", one(t, "StridedSlice", graph.Attrs{graph.Int("begin_mask", 1), graph.Int("end_mask", 1)}, s, ints(0), ints(0), ints(-1)), []graph.Elem{elem(4), elem(3), elem(n)}},
		{"Slice", one(t, "Slice", nil, s, ints(0), ints(2)), []graph.Elem{elem(n), elem(3)}},
		{"Pack", one(t, "Pack", nil, first, num(7)), []graph.Elem{elem(n), elem(7)}},
		{"ConcatV2", one(t, "ConcatV2", nil, index(t, s, 0, false), ints(5, 6), num(0)), []graph.Elem{elem(n), elem(5), elem(6)}},
		{"Gather", one(t, "GatherV2", nil, s, ints(2, 0), num(0)), []graph.Elem{elem(4), elem(n)}},
		{"Cast", cast(s), []graph.Elem{elem(n), elem(3), elem(4)}},
		{"ExpandDims", one(t, "ExpandDims", nil, first, num(0)), []graph.Elem{elem(n)}},
		{"Reshape", one(t, "Reshape", nil, first, ints(1)), []graph.Elem{elem(n)}},
		{"Squeeze", one(t, "Squeeze", nil, index(t, s, 0, false)), []graph.Elem{elem(n)}},
		{"Mul by ones", one(t, "Mul", nil, s, ints(1, 2, 3)), []graph.Elem{elem(n), elem(6), elem(12)}},
		{"Add", one(t, "AddV2", nil, s, ints(0, 1, 2)), []graph.Elem{elem(n), elem(4), elem(6)}},
		{"Sub of itself", one(t, "Sub", nil, s, s), []graph.Elem{elem(0), elem(0), elem(0)}},
		{"FloorDiv", one(t, "FloorDiv", nil, s, ints(1, 2, 2)), []graph.Elem{elem(n), elem(1), elem(2)}},
		{"Maximum", one(t, "Maximum", nil, s, num(0)), []graph.Elem{elem(n), elem(3), elem(4)}},
		{"Minimum of itself", one(t, "Minimum", nil, s, s), []graph.Elem{elem(n), elem(3), elem(4)}},
		{"Prod", one(t, "Prod", nil, index(t, s, 0, false), ints(0)), []graph.Elem{elem(n)}},
		{"Prod of the known", one(t, "Prod", nil, one(t, "Slice", nil, s, ints(1), ints(2)), ints(0)), []graph.Elem{elem(12)}},
		{"BroadcastArgs", one(t, "BroadcastArgs", nil, s, ints(4)), []graph.Elem{elem(n), elem(3), elem(4)}},
		{"Range", one(t, "Range", nil, num(1), num(4), num(1)), []graph.Elem{elem(1), elem(2), elem(3)}},
	} {
		got, ok := c.got.Ints()
		if !ok || len(got) != len(c.want) {
			t.Errorf("%s: %v", c.name, c.got)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: element %d of %v is %v", c.name, i, c.got, got[i])
			}
		}
	}
}

func TestAnOpenSizeBesideZeroMayBeAny(t *testing.T) {
	rows := graph.NewDim()
	x := graph.Fact{DType: tensor.Float32, Shape: graph.ShapeOf(0, 3)}
	to := graph.Fact{DType: tensor.Int32, Shape: graph.ShapeOf(3)}.WithElems([]graph.Elem{graph.SizeElem(rows), graph.ElemOf(0), graph.ElemOf(3)})
	if got := one(t, "Reshape", nil, x, to).Shape; got.Dim(0) != rows {
		t.Errorf("the rows of no elements became %v", got)
	}
}

func TestTheOnlyOpenSizeOfNoElementsIsZero(t *testing.T) {
	x := graph.Fact{DType: tensor.Float32, Shape: graph.ShapeOf(0, graph.NewDim())}
	to := graph.Fact{DType: tensor.Int32, Shape: graph.ShapeOf(2)}.WithElems([]graph.Elem{graph.ElemOf(5), graph.SizeElem(graph.NewDim())})
	if got := one(t, "Reshape", nil, x, to).Shape; got.Dim(0) != 5 || got.Dim(1) != 0 {
		t.Errorf("no elements became %v", got)
	}
}

func TestArithmeticThatOverflowsIsUnknown(t *testing.T) {
	big := ints(1<<31-1, -1<<31)
	for op, in := range map[string]graph.Fact{"AddV2": ints(1, -1), "Sub": ints(-1, 1), "Mul": ints(2, 2), "FloorDiv": ints(0, -1)} {
		f := one(t, op, nil, big, in)
		if e, _ := f.Ints(); len(e) != 2 || e[0] != graph.UnknownElem() || e[1] != graph.UnknownElem() {
			t.Errorf("%s: %v", op, f)
		}
	}
}

func TestBroadcastGivesBackWhatItIsGiven(t *testing.T) {
	a, b := tensor.Shape{2, 3}, tensor.Shape{1, 3}
	for _, p := range [][2]tensor.Shape{{a, a}, {a, b}, {b, a}, {a, {}}, {{}, a}, {a, {3}}} {
		if n := testing.AllocsPerRun(100, func() {
			if s, err := shape.Broadcast(p[0], p[1]); err != nil || len(s) != 2 {
				t.Fatal(s, err)
			}
		}); n != 0 {
			t.Errorf("%v and %v: %v allocations", p[0], p[1], n)
		}
	}
	if _, err := shape.Broadcast(tensor.Shape{2}, tensor.Shape{2, 3}); err == nil || !strings.Contains(err.Error(), "shapes [2] and [2,3] don't broadcast: sizes 2 and 3 meet") {
		t.Error(err)
	}
}

// program is a function library as Go closures.
type program map[string]func(t *testing.T, in []graph.Fact) []graph.Fact

func (p program) infer(t *testing.T, op string, attrs graph.Attrs, in ...graph.Fact) ([]graph.Fact, error) {
	n := len(in)
	if op != "While" {
		n = 1
	}
	c := &shape.Inference{Op: op, Attrs: attrs, In: in, Out: make([]graph.Fact, n), Call: func(f graph.Callee, in []graph.Fact) ([]graph.Fact, error) {
		if out := p[f.Name](t, in); out != nil {
			return out, nil
		}
		return nil, errors.New("no such inputs")
	}}
	err := shape.All().Infer(c)
	return c.Out, err
}

func named(attr, f string) graph.Attr { return graph.Call(attr, graph.Callee{Name: f}) }

func TestLoopVariablesReachAFixedPoint(t *testing.T) {
	n := graph.NewDim()
	p := program{"body": func(t *testing.T, in []graph.Fact) []graph.Fact {
		return []graph.Fact{
			one(t, "AddV2", nil, in[0], num(1)), // a counter
			in[1],                               // never changes
			one(t, "ConcatV2", nil, in[2], in[2], num(0)), // doubles
			one(t, "ExpandDims", nil, in[3], num(0)),      // grows a dimension
			in[5], in[4],                                  // change places
			one(t, "TensorListSetItem", graph.Attrs{graph.Type("element_dtype", tensor.Float32)}, in[6], in[0], in[1]),
		}
	}}
	list := one(t, "TensorListReserve", graph.Attrs{graph.Type("element_dtype", tensor.Float32)}, ints(-1, 3), num(5))
	list.DType = tensor.Variant
	out, err := p.infer(t, "While", graph.Attrs{named("body", "body")}, num(0), floats(n, 3), floats(1, 2), floats(2), floats(4, n), floats(5, n), list)
	if err != nil {
		t.Fatal(err)
	}
	if out[0].Value != nil || out[0].Shape.Rank() != 0 {
		t.Errorf("the counter: %v", out[0])
	}
	if !out[1].Shape.Equal(graph.ShapeOf(n, 3)) {
		t.Errorf("what never changes: %v", out[1])
	}
	if s := out[2].Shape; s.Rank() != 2 || s.Dim(0) >= 0 || s.Dim(1) != 2 {
		t.Errorf("what doubles: %v", out[2])
	}
	if out[3].Shape.HasRank() {
		t.Errorf("what grows a dimension: %v", out[3])
	}
	if s := out[4].Shape; s.Rank() != 2 || s.Dim(0) >= 0 || s.Dim(1) != n {
		t.Errorf("what changes places: %v", out[4])
	}
	if h := out[6].Handle; len(h) != 1 || h[0].DType != tensor.Float32 || h[0].Shape.Rank() != 2 || h[0].Shape.Dim(1) != 3 {
		t.Errorf("the list: %v", out[6])
	}
	stacked := &shape.Inference{Op: "TensorListStack", Attrs: graph.Attrs{graph.Type("element_dtype", tensor.Float32)}, In: []graph.Fact{out[6], ints(-1, -1)}, Out: make([]graph.Fact, 1)}
	if err := shape.All().Infer(stacked); err != nil || stacked.Out[0].Shape.String() != "[?,?,3]" {
		t.Errorf("%v, %v", stacked.Out[0].Shape, err)
	}
}

// A body whose results never settle must not be looked at without end.
func TestALoopThatNeverSettlesIsGivenUp(t *testing.T) {
	calls := 0
	p := program{"body": func(t *testing.T, in []graph.Fact) []graph.Fact {
		calls++
		out := append([]graph.Fact{}, in...)
		for i := range out {
			out[i].Shape = graph.ShapeOf(calls, i) // a rule whose results are wrong
		}
		return out
	}}
	in := make([]graph.Fact, 50)
	for i := range in {
		in[i] = floats(0, 0)
	}
	if _, err := p.infer(t, "While", graph.Attrs{named("body", "body")}, in...); err != nil {
		t.Error(err)
	}
	if calls > 40 {
		t.Errorf("%d calls", calls)
	}
}

func TestWhatABranchGives(t *testing.T) {
	n := graph.NewDim()
	p := program{
		"same": func(t *testing.T, in []graph.Fact) []graph.Fact { return in },
		"twice": func(t *testing.T, in []graph.Fact) []graph.Fact {
			return []graph.Fact{one(t, "ConcatV2", nil, in[0], in[0], num(1))}
		},
		"fails": func(t *testing.T, in []graph.Fact) []graph.Fact { return nil },
	}
	cond := graph.Fact{DType: tensor.Bool, Shape: graph.ShapeOf()}
	x := floats(n, 3)
	for _, c := range []struct {
		name, then, other string
		cond              graph.Fact
		want              string
		first             bool // dimension 0 is still n
	}{
		{"in common", "same", "twice", cond, "[?,?]", true},
		{"alike", "twice", "twice", cond, "[?,6]", true},
		{"known", "same", "twice", graph.FactOf(tensor.Scalar(true)), "[?,3]", true},
		{"one can't run", "same", "fails", cond, "[?,3]", true},
	} {
		out, err := p.infer(t, "If", graph.Attrs{named("then_branch", c.then), named("else_branch", c.other)}, c.cond, x)
		if err != nil || out[0].Shape.String() != c.want || c.first && out[0].Shape.Dim(0) != n {
			t.Errorf("%s: %v, %v", c.name, out, err)
		}
	}
	if _, err := p.infer(t, "If", graph.Attrs{named("then_branch", "fails"), named("else_branch", "fails")}, cond, x); err == nil {
		t.Error("no branch can run, and nobody says so")
	}
	out, err := p.infer(t, "StatefulPartitionedCall", graph.Attrs{named("f", "twice"), graph.Shapes("output_shapes", graph.ShapeOf(4, -1))}, x)
	if err != nil || out[0].Shape.String() != "[4,6]" {
		t.Errorf("%v, %v", out, err)
	}
	out, err = p.infer(t, "Case", graph.Attrs{graph.Funcs("branches", graph.Callee{Name: "same"}, graph.Callee{Name: "twice"})}, num(7), x)
	if err != nil || out[0].Shape.String() != "[?,6]" {
		t.Errorf("%v, %v", out, err)
	}
}

func TestHandlesSayWhatTheyHold(t *testing.T) {
	attrs := graph.Attrs{graph.Type("dtype", tensor.Float32), graph.Shape("shape", graph.ShapeOf(-1, 3))}
	v := one(t, "VarHandleOp", attrs)
	v.DType = tensor.Resource
	read := &shape.Inference{Op: "ReadVariableOp", Attrs: attrs[:1], In: []graph.Fact{one(t, "Identity", nil, v)}, Out: make([]graph.Fact, 1)}
	if err := shape.All().Infer(read); err != nil || read.Out[0].DType != tensor.Float32 || read.Out[0].Shape.String() != "[?,3]" {
		t.Errorf("%v, %v", read.Out, err)
	}
	if _, err := infer("AssignVariableOp", 0, nil, v, floats(2, 4)); err == nil {
		t.Error("a variable took a value of another shape")
	}
	if _, err := infer("ReadVariableOp", 1, graph.Attrs{graph.Type("dtype", tensor.Int32)}, v); err == nil {
		t.Error("a variable was read as another type")
	}
	list := one(t, "TensorListFromTensor", graph.Attrs{graph.Type("element_dtype", tensor.Float32)}, floats(5, 2, 3), ints(-1, -1))
	item := one(t, "TensorListGetItem", graph.Attrs{graph.Type("element_dtype", tensor.Float32)}, list, num(0), ints(-1, -1))
	if item.Shape.String() != "[2,3]" {
		t.Error(item)
	}
	if _, err := infer("TensorListSetItem", 1, graph.Attrs{graph.Type("element_dtype", tensor.Float32)}, list, num(0), floats(2, 2)); err == nil {
		t.Error("a list took an element of another shape")
	}
	if _, err := infer("TensorListGetItem", 1, graph.Attrs{graph.Type("element_dtype", tensor.Int32)}, list, num(0), ints(-1, -1)); err == nil {
		t.Error("a list gave an element of another type")
	}
}

func TestReferencesTakeTheirValuesShape(t *testing.T) {
	v := one(t, "VariableV2", graph.Attrs{graph.Shape("shape", graph.ShapeOf(-1, 3)), graph.Type("dtype", tensor.Float32)})
	if v.Shape.String() != "[?,3]" {
		t.Error(v)
	}
	v.Ref = true
	if f := one(t, "Assign", nil, v, floats(2, 3)); f.Shape.String() != "[2,3]" {
		t.Error(f)
	}
	if _, err := infer("Assign", 1, nil, v, floats(2, 4)); err == nil {
		t.Error("a reference took a value of another shape")
	}
	if f := one(t, "Assign", graph.Attrs{graph.Bool("validate_shape", false)}, v, floats(7)); f.Shape.String() != "[7]" {
		t.Error(f)
	}
}

func TestRulesSayWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		op   string
		in   []graph.Fact
		want string
	}{
		{"MatMul", []graph.Fact{floats(2, 3), floats(4, 5)}, "inner dimensions differ: 3 and 4"},
		{"AddV2", []graph.Fact{floats(2, -1), floats(3, 4)}, "don't broadcast"},
		{"ConcatV2", []graph.Fact{floats(2, 3), floats(3, 3), num(1)}, "they differ in dimension 0"},
		{"Reshape", []graph.Fact{floats(2, 3), ints(4, -1)}, "6 elements can't be divided to shape [4,?]"},
		{"Sum", []graph.Fact{floats(2, 3), ints(2)}, "axis 2 of a tensor of 2 dimensions"},
		{"Transpose", []graph.Fact{floats(2, 3), ints(0, 0)}, "axis 0 is named twice"},
		{"BiasAdd", []graph.Fact{floats(2, 3), floats(4)}, "the bias has 4 elements, dimension 1 of the input 3"},
	} {
		if _, err := infer(c.op, 1, nil, c.in...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.op, err, c.want)
		}
	}
}

func TestRestoreKnowsTheShapesOfSlices(t *testing.T) {
	specs := graph.FactOf(tensor.Must(tensor.FromStrings(tensor.String, []string{"", "4 6 0,2:-"}, 2)))
	names := graph.Fact{DType: tensor.String, Shape: graph.ShapeOf(2)}
	out, err := infer("RestoreV2", 2, nil, graph.Fact{DType: tensor.String, Shape: graph.ShapeOf()}, names, specs)
	if err != nil || out[0].Shape.HasRank() || out[1].Shape.String() != "[2,6]" {
		t.Errorf("%v, %v", out, err)
	}
}

func TestAVectorOfUnknownSizesTellsTheRank(t *testing.T) {
	three := graph.Fact{DType: tensor.Int32, Shape: graph.ShapeOf(3)}
	unknown := graph.Fact{DType: tensor.Float32}
	for _, c := range []struct {
		op string
		in []graph.Fact
	}{
		{"Fill", []graph.Fact{three, floats()}},
		{"BroadcastTo", []graph.Fact{unknown, three}},
		{"ScatterNd", []graph.Fact{ints(0), unknown, three}},
		{"StridedSliceGrad", []graph.Fact{three, unknown, unknown, unknown, unknown}},
		{"SparseToDense", []graph.Fact{unknown, three, unknown, unknown}},
		{"RaggedTensorToVariantGradient", []graph.Fact{unknown, unknown, three}},
		{"RandomGamma", []graph.Fact{three, floats()}},
	} {
		if s := one(t, c.op, nil, c.in...).Shape; s.Rank() != 3 {
			t.Errorf("%s of a vector of 3 unknown sizes has the shape %v, not one of 3 dimensions", c.op, s)
		}
	}
	if out, err := infer("AvgPoolGrad", 1, nil, three, unknown); err == nil {
		t.Errorf("AvgPoolGrad of images of 3 dimensions gives %v", out[0].Shape)
	}
}
