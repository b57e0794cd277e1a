package shape_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/internal/testkit/packed"
	"github.com/cairnml/cairn/tensor"
)

const kernels = "../../kernel/testdata/tf2.21"

// entry is a call of an op and the shapes that TensorFlow infers;
// testdata/tf2.21/gen_shapes.py describes it.
type entry struct {
	Op   string
	I    int
	Call *opfixture.Fixture
	Out  map[string]string
}

func entries(t *testing.T) []entry {
	t.Helper()
	files, err := filepath.Glob("testdata/tf2.21/shapes*.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded shapes: %v", err)
	}
	var all []entry
	for _, name := range files {
		var list []entry
		if err := json.Unmarshal(packed.Read(t, name), &list); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, list...)
	}
	return all
}

// exception is a kind of call for which ours may be less precise.
type exception struct {
	modes   func(modes string) bool // those that it is about
	outputs int                     // how many outputs are compared nevertheless
	why     string
	attr    string // if it isn't empty: only calls in which this attribute is false
}

// exceptions are the ops whose rule may know less than TensorFlow's, each with
// the reason.
var exceptions = map[string]exception{
	"SplitV": {modes: func(m string) bool { return m[2] != 'C' },
		why: "TensorFlow takes an axis that it doesn't know for the last one, which is wrong"},
	"MatrixDiagV2": {modes: func(m string) bool { return m[2] != 'C' || m[3] != 'C' },
		why: "TensorFlow takes a size that it doesn't know for the smallest one, which is wrong"},
	"MatrixDiagV3": {modes: func(m string) bool { return m[0] == 'D' || m[2] != 'C' || m[3] != 'C' },
		why: "as MatrixDiagV2; and it computes with a length of diagonals of -1"},
	"MatrixSetDiagV2": {modes: func(m string) bool { return m[0] == 'R' && m[2] != 'C' },
		why: "TensorFlow takes a range that it doesn't know for a single diagonal, which is wrong"},
	"MatrixSetDiagV3": {modes: func(m string) bool { return m[0] == 'R' && m[2] != 'C' },
		why: "as MatrixSetDiagV2"},
	"DenseCountSparseOutput": {modes: func(m string) bool { return m[0] == 'R' },
		why: "TensorFlow takes the weights' rank for that of the numbers, which is wrong for a matrix without weights"},
	"ExtractVolumePatches": {modes: func(m string) bool { return m == "D" || m == "R" },
		why: "TensorFlow gives volumes of unknown sizes 4 dimensions, which is wrong"},
	"Equal": {modes: partly, attr: "incompatible_shape_error",
		why: "TensorFlow takes shapes that may not broadcast for ones that do; where they don't, the answer is a scalar"},
	"NotEqual": {modes: partly, attr: "incompatible_shape_error", why: "as Equal"},
	"DebugNanCount": {modes: func(string) bool { return true },
		why: "TensorFlow infers a scalar, the kernel gives a vector"},
	"FractionalAvgPool": {modes: func(string) bool { return true }, outputs: 1,
		why: "TensorFlow forgets that the places of windows have the end behind them"},
	"FractionalMaxPool": {modes: func(string) bool { return true }, outputs: 1, why: "as FractionalAvgPool"},
	"StatelessRandomUniformIntV2": {modes: func(m string) bool { return m == "CCCCCC" },
		why: "TensorFlow runs the kernel on constants; here that is the folding pass's work"},
}

// partly reports that some size isn't known.
func partly(modes string) bool { return strings.Trim(modes, "CK") != "" }

// computed are ops that TensorFlow runs if all inputs are constants, because
// its rules don't infer their values. Here the folding pass computes them.
var computed = map[string]bool{
	"StatelessRandomUniformInt": true, "StatelessRandomUniformFullInt": true, "DataFormatDimMap": true, "DataFormatVecPermute": true, "HistogramFixedWidth": true, "UnravelIndex": true,
	"EuclideanNorm": true, "Bincount": true, "Bucketize": true, "DenseBincount": true, "ListDiff": true, "LowerBound": true, "UpperBound": true,
	"RaggedGather": true, "RaggedRange": true, "RaggedTensorToSparse": true, "RaggedTensorToTensor": true, "SparseFillEmptyRows": true,
	"SparseReshape": true, "SparseSegmentSum": true, "SparseToDense": true, "SparseSlice": true, "SparseConcat": true, "SparseReorder": true,
	"UniqueV2": true, "UniqueWithCountsV2": true, "DynamicPartition": true, "SparseFillEmptyRowsGrad": true,
	"DenseCountSparseOutput": true, "RaggedCountSparseOutput": true, "SparseCountSparseOutput": true, "SparseBincount": true,
	"DenseToDenseSetOperation": true, "DenseToSparseSetOperation": true, "SparseToSparseSetOperation": true,
	"RaggedFillEmptyRows": true, "RaggedFillEmptyRowsGrad": true,
	"SparseSegmentSumWithNumSegments": true, "SparseTensorDenseMatMul": true, "ComputeAccidentalHits": true, "RandomIndexShuffle": true,
}

// TestRulesEqualTensorFlows compares the rules with TensorFlow's inference.
// They never contradict it, nor the real result, and are never less specific.
func TestRulesEqualTensorFlows(t *testing.T) {
	fixtures := opfixture.Load(t, kernels)
	all := shape.All()
	seen := map[string]bool{}
	for _, e := range entries(t) {
		var f opfixture.Fixture
		if e.Call != nil {
			f = *e.Call
		} else {
			f = fixtures[e.Op][e.I]
		}
		seen[e.Op] = true
		if all.Lookup(e.Op) == nil {
			t.Errorf("%s has no rule", e.Op)
			continue
		}
		for want, modes := range e.Out {
			for _, m := range strings.Fields(modes) {
				if computed[e.Op] && strings.Trim(m, "C") == "" {
					continue
				}
				compared := want
				if x, ok := exceptions[e.Op]; ok && x.modes(m) && (x.attr == "" || want != "s" && !f.EngineAttrs(t).Bool(x.attr)) {
					compared = strings.Join(strings.Split(want, ";")[:x.outputs], ";")
				}
				if why := differs(t, all, f, m, compared); why != "" {
					t.Errorf("%v, inputs %s: %s", f, m, why)
				}
			}
		}
	}
	for op := range fixtures {
		if !seen[op] {
			t.Errorf("%s isn't compared", op)
		}
	}
}

// differs describes how our inference is worse than TensorFlow's want. It
// returns "" if it isn't.
func differs(t *testing.T, all *shape.Rules, f opfixture.Fixture, modes, want string) string {
	c := &shape.Inference{Op: f.Op, Attrs: f.EngineAttrs(t)}
	for i, x := range f.In {
		c.In = append(c.In, hide(x.Tensor(t), modes[i], i < f.Vars))
	}
	var err error
	if c.Attrs, c.Out, err = graph.LookupOp(f.Op).Bind(c.Attrs, c.In); err != nil {
		return err.Error()
	}
	if err := all.Infer(c); err != nil {
		return err.Error()
	}
	for i, x := range f.Out {
		real := x.Tensor(t)
		if !c.Out[i].Shape.Accepts(real.Shape()) {
			return fmt.Sprintf("output %d is %v, really %v", i, c.Out[i], real.Shape())
		}
		if why := lies(c.Out[i], real); why != "" {
			return fmt.Sprintf("output %d is %v: %s", i, c.Out[i], why)
		}
	}
	if want == "!" || want == "" {
		return ""
	}
	texts := strings.Split(want, ";")
	if len(f.Out) == 0 {
		return ""
	}
	for i, text := range texts {
		x := f.Out[i]
		text, carried, vector := strings.Cut(text, "=")
		if why := worse(c.Out[i].Shape, parse(t, text)); why != "" {
			return fmt.Sprintf("output %d is %v, in TensorFlow %s: %s", i, c.Out[i], text, why)
		}
		if vector {
			fill := &shape.Inference{Op: "Fill", In: []graph.Fact{c.Out[i], graph.FactOf(tensor.Scalar(float32(0)))}, Out: make([]graph.Fact, 1)}
			if err := all.Infer(fill); err != nil {
				if v, _ := x.Tensor(t).Int64s(); slices.Min(v) < 0 {
					continue // no shape, as the rule has seen
				}
				return err.Error()
			}
			if why := worse(fill.Out[0].Shape, parse(t, carried)); why != "" {
				return fmt.Sprintf("output %d, %v, stands for the shape %v, in TensorFlow %s: %s", i, c.Out[i], fill.Out[0].Shape, carried, why)
			}
		}
	}
	return ""
}

// lies describes an element of a fact that differs from the tensor's.
func lies(f graph.Fact, real *tensor.Tensor) string {
	e, ok := f.Ints()
	if !ok {
		return ""
	}
	v, err := real.Int64s()
	if err != nil {
		return "" // uint64
	}
	if len(v) != len(e) {
		return fmt.Sprintf("%d elements, really %d", len(e), len(v))
	}
	for i, x := range e {
		if n, ok := x.Int(); ok && n != v[i] {
			return fmt.Sprintf("element %d is really %d", i, v[i])
		}
	}
	return ""
}

// worse describes how a shape contradicts another one, or is less specific.
func worse(got, want graph.PartialShape) string {
	if !got.Compatible(want) {
		return "they contradict each other"
	}
	if !want.HasRank() {
		return ""
	}
	if !got.HasRank() {
		return "the rank is missing"
	}
	for i, d := range want.Dims() {
		if d >= 0 && got.Dim(i) < 0 {
			return fmt.Sprintf("dimension %d is missing", i)
		}
	}
	return ""
}

// hide returns the fact of an input that a mode leaves known.
func hide(v *tensor.Tensor, mode byte, isVar bool) graph.Fact {
	f := graph.Fact{DType: v.DType(), Shape: graph.Whole(v.Shape())}
	s := v.Shape().Clone()
	switch mode {
	case 'C':
		return graph.FactOf(v)
	case 'F':
		s[0] = graph.NewDim()
	case 'L':
		s[len(s)-1] = graph.NewDim()
	case 'D':
		s = graph.OfRank(len(s)).Dims()
	case 'P':
		n, _ := v.Int64s()
		e := []graph.Elem{graph.UnknownElem()}
		for _, x := range n[1:] {
			e = append(e, graph.ElemOf(x))
		}
		return f.WithElems(e)
	}
	f.Shape = graph.ShapeOf(s...)
	if mode == 'R' {
		f.Shape = graph.UnknownShape
	}
	if isVar {
		return graph.Fact{DType: tensor.Resource, Shape: graph.ShapeOf(), Handle: []graph.Content{{DType: f.DType, Shape: f.Shape}}}
	}
	return f
}

func parse(t *testing.T, s string) graph.PartialShape {
	t.Helper()
	switch s {
	case "s":
		return graph.ShapeOf()
	case "?":
		return graph.UnknownShape
	}
	var dims []int
	for _, d := range strings.Split(s, ",") {
		n := -1
		if d != "?" {
			var err error
			if n, err = strconv.Atoi(d); err != nil {
				t.Fatalf("%q: %v", s, err)
			}
		}
		dims = append(dims, n)
	}
	return graph.ShapeOf(dims...)
}
