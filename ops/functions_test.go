package ops_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// inputs are the values that the calls of functions work on, by name.
type inputs map[string]*ops.Value

// variables makes variables of inputs.
func (in inputs) variables(names ...string) []*trackable.Variable {
	vars := make([]*trackable.Variable, len(names))
	for i, n := range names {
		x, err := in[n].Tensor()
		if err != nil {
			panic(err)
		}
		vars[i] = trackable.NewVariable(x.Clone())
	}
	return vars
}

// call makes one function's calls, whose results are compared with TensorFlow's
// under the same name.
type call func(s *ops.Scope, in inputs) []*ops.Value

func values(v ...*ops.Value) []*ops.Value { return v }

func pair(a, b *ops.Value) []*ops.Value { return values(a, b) }

// functions are TensorFlow's results of the calls.
type functions struct {
	In  map[string]opfixture.Tensor
	Out map[string][]opfixture.Tensor
}

func readFunctions(t *testing.T) (f functions) {
	t.Helper()
	b, err := os.ReadFile("testdata/tf2.21/functions.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f functions) inputs(t *testing.T) inputs {
	in := inputs{}
	for k, x := range f.In {
		in[k] = ops.ValueOf(x.Tensor(t))
	}
	return in
}

func TestFunctionsEqualTensorFlows(t *testing.T) {
	fixture := readFunctions(t)
	calls := functionCalls()
	for name := range fixture.Out {
		if calls[name] == nil {
			t.Errorf("TensorFlow's results for %s are compared with nothing", name)
		}
	}
	for name, f := range calls {
		t.Run(name, func(t *testing.T) {
			s := eager()
			got, want := f(s, fixture.inputs(t)), fixture.Out[name]
			if s.Err() != nil {
				t.Fatal(s.Err())
			}
			if len(got) != len(want) {
				t.Fatalf("%d results, TensorFlow has %d", len(got), len(want))
			}
			for i, v := range got {
				x, err := v.Tensor()
				if err != nil {
					t.Fatal(err)
				}
				sameAs(t, i, x, want[i].Tensor(t))
			}
		})
	}
}

// sameAs fails the test unless got is want, floating elements but for rounding.
func sameAs(t *testing.T, i int, got, want *tensor.Tensor) {
	t.Helper()
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		t.Errorf("result %d is %v%v, want %v%v", i, got.DType(), got.Shape(), want.DType(), want.Shape())
		return
	}
	if !got.DType().IsFloating() {
		if got.DType() == tensor.Complex64 {
			a, b := tensor.Values[complex64](got), tensor.Values[complex64](want)
			for j := range a {
				if d := a[j] - b[j]; math.Hypot(float64(real(d)), float64(imag(d))) > 1e-6 {
					t.Errorf("result %d is %v, want %v", i, got, want)
				}
			}
		} else if !got.Equal(want) {
			t.Errorf("result %d is %v, want %v", i, got, want)
		}
		return
	}
	a, err := got.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	b, err := want.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	for j := range a {
		same := a[j] == b[j] || math.IsNaN(a[j]) && math.IsNaN(b[j]) || math.Abs(a[j]-b[j]) <= 1e-6*(1+math.Abs(b[j]))
		if !same {
			t.Errorf("result %d is %v, want %v: element %d", i, got, want, j)
			return
		}
	}
}

// comparedElsewhere are the functions that no result of TensorFlow under the
// same name can check, and the tests that check them.
var comparedElsewhere = map[string]string{
	"SaveV2":               "function: TestStackedPartsEqualTensorFlowsFiles",
	"RestoreV2":            "function: TestStackedPartsFromTensorFlowAreRestored",
	"MergeV2Checkpoints":   "function: TestMergeV2CheckpointsJoinsShards",
	"Shuffle":              "TestShuffleIsAPermutation: tf.random.Generator has no shuffle",
	"Dropout":              "TestDropoutKeepsTheMean: tf.nn.dropout draws from the global generator",
	"NewRandomFromEntropy": "TestEntropyDiffers",
	"If":                   "TestControlFlowTracedEqualsEager",
	"Case":                 "TestControlFlowTracedEqualsEager",
	"While":                "TestControlFlowTracedEqualsEager",
	"Map":                  "TestControlFlowTracedEqualsEager",
	"Scan":                 "TestControlFlowTracedEqualsEager",
	"Loop":                 "TestControlFlowTracedEqualsEager",
	"RandomBits":           "keras/layers: TestLayersAreTfKeras, whose RandomFlip draws its seeds by it",
	"RandomUniformLike":    "TestRandomNumbersLikeAValue",
	"RandomNormalLike":     "TestRandomNumbersLikeAValue",
	"Unique":               "keras: TestOptimizersFollowTensorFlowBySlices",
	"ScatterAdd":           "keras: TestOptimizersFollowTensorFlowBySlices",
	"ScatterUpdate":        "keras: TestOptimizersFollowTensorFlowBySlices",
	"Handle":               "kernel: TestKernelsEqualTensorFlow, for every op that takes a variable",
	"NewScope":             "no op", "OwnNode": "no op", "SetSlot": "no op", "Slot": "no op", "ValueOf": "no op", "Item": "no op",
	"NewTrace": "no op", "InTrace": "no op", "Recorded": "no op", "InitScope": "no op", "TraceDepth": "no op", "Scoped": "no op", "Spec": "no op", "SpecOf": "no op", "ValueOfData": "no op",
	"FillTo":               "TestSizesThatAreValues",
	"TileBy":               "TestSizesThatAreValues",
	"BroadcastToShape":     "TestSizesThatAreValues",
	"PadBy":                "TestSizesThatAreValues",
	"PadWithBy":            "TestSizesThatAreValues",
	"TopKOf":               "TestSizesThatAreValues",
	"OneHotOf":             "TestSizesThatAreValues",
	"UnsortedSegmentSumOf": "TestSizesThatAreValues",
	"GatherBatch":          "TestBatchesAreGatheredAndTensorsScattered",
	"TensorScatterUpdate":  "TestBatchesAreGatheredAndTensorsScattered",
	"TensorScatterAdd":     "TestBatchesAreGatheredAndTensorsScattered",
	"TensorScatterSub":     "TestBatchesAreGatheredAndTensorsScattered",
	"TensorScatterMax":     "TestBatchesAreGatheredAndTensorsScattered",
	"TensorScatterMin":     "TestBatchesAreGatheredAndTensorsScattered",
	"CapturedData":         "no op", "CapturedInputs": "no op", "GrantCaptured": "no op", "NewRunner": "no op",
}

// TestEveryFunctionIsComparedWithTensorFlow keeps the table of calls whole.
func TestEveryFunctionIsComparedWithTensorFlow(t *testing.T) {
	calls := functionCalls()
	named := map[string]bool{}
	for name := range calls {
		named[strings.Fields(name)[0]] = true
	}
	fset := token.NewFileSet()
	files, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !fn.Name.IsExported() {
				continue
			}
			name := fn.Name.Name
			if why := comparedElsewhere[name]; named[name] == (why != "") {
				t.Errorf("%s: called by a comparison: %v; excused: %q", name, named[name], why)
			}
		}
	}
}
