package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// program is something that is traced here, run in TensorFlow, and run eagerly
// here from the same state.
type program struct {
	name string // of its case
	// vars are made anew for each run.
	vars func() []*trackable.Variable
	// with makes the objects that the run uses besides vars, such as an optimizer,
	// anew for each run; nil if there are none.
	with func() any
	// in are the inputs of each call.
	in []*tensor.Tensor
	// calls is the number of calls, one after the other; 0 means one.
	calls int
	// run makes one call and returns its outputs.
	run func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value
	// runWith is run with the result of with.
	runWith func(s *ops.Scope, with any, vars []*trackable.Variable, in []*ops.Value) []*ops.Value
	// attrs are those of the op, if the program is one call.
	attrs graph.Attrs
	// flows are the outputs into which gradients flow; nil means all.
	flows []int
	// tolerance is the greatest distance of an element from TensorFlow's, relative to the
	// largest element; 0 means equal numbers.
	tolerance float64
	// gradientTolerance is the same for gradients, if the element type's is too small:
	// gradients of long programs add up the roundings of their ops.
	gradientTolerance float64
	// wholeAtBorders lets a gradient be whole that TensorFlow returns as slices: it
	// passes slices into the gradients of branches, while ours become whole.
	wholeAtBorders bool
	// traced has the plan's run compared in place of the eager one: eager ops have no
	// nodes that count their draws.
	traced bool
	// differ compares output k, or variable k afterwards, in place of tolerance; it returns
	// the difference, "" for none. nil means tolerance.
	differ func(variable bool, k int, got, want *tensor.Tensor) string
}

// programIn is the argument of a program's trace.
type programIn struct{ X []*ops.Value }

// instance returns the program's variables, made anew, and the program that works
// with them.
func (p *program) instance() (vars []*trackable.Variable, run func(s *ops.Scope, in []*ops.Value) []*ops.Value) {
	vars = p.vars()
	if p.with == nil {
		return vars, func(s *ops.Scope, in []*ops.Value) []*ops.Value { return p.run(s, vars, in) }
	}
	with := p.with()
	return vars, func(s *ops.Scope, in []*ops.Value) []*ops.Value { return p.runWith(s, with, vars, in) }
}

// function returns a function that runs the program with separate state.
func (p *program) function() func(mode function.Mode) *function.Func[programIn, []*ops.Value] {
	_, run := p.instance()
	return func(mode function.Mode) *function.Func[programIn, []*ops.Value] {
		return function.New(func(s *ops.Scope, in programIn) []*ops.Value { return run(s, in.X) }, &function.Options{Mode: mode})
	}
}

// values returns the inputs of a call.
func (p *program) values() programIn {
	var in programIn
	for _, x := range p.in {
		in.X = append(in.X, ops.ValueOf(x))
	}
	return in
}

// judged is a program with files in a directory.
type judged struct {
	*program
	dir   string
	trace *graph.Concrete
}

// write traces the program and writes the files with which TensorFlow runs it.
func (p *program) write(dir string) (*judged, error) {
	c, err := p.function()(function.Traced).Trace(p.values())
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	withInputShapes(c.Function)
	lib := graph.Assemble(c.Function)
	arrays := map[string]*tensor.Tensor{}
	var calls judgeCalls
	args, err := calls.arguments("", p.in, c.Captures, arrays)
	if err != nil {
		return nil, err
	}
	for i := range max(1, p.calls) {
		calls.Calls = append(calls.Calls, judgeCall{Function: lib.NameOf(c.Function), Inputs: "in.npz", Args: args, Outputs: fmt.Sprintf("out%d.npz", i)})
	}
	return &judged{p, dir, c}, calls.write(dir, lib, arrays)
}

// compare runs the program eagerly and compares with TensorFlow's files.
func (j *judged) compare(ctx context.Context) error {
	var result struct {
		OK    bool
		Error string
	}
	text, err := os.ReadFile(filepath.Join(j.dir, "result.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return err
	}
	if !result.OK {
		return fmt.Errorf("TensorFlow: %s", result.Error)
	}
	// A trace of the twin shows which of its variables are the captures.
	twin := j.function()
	c, err := twin(function.Traced).Trace(j.values())
	if err != nil {
		return err
	}
	mode := function.Eagerly
	if j.traced {
		mode = function.Traced
	}
	f := twin(mode)
	for i := range max(1, j.calls) {
		got, err := f.Call(ctx, j.values())
		if err != nil {
			return fmt.Errorf("here: %w", err)
		}
		if err := j.compareCall(ctx, i, got, c.Captures); err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
	}
	return nil
}

// compareCall compares the outputs of call i, and the captured variables after it.
func (j *judged) compareCall(ctx context.Context, i int, got []*ops.Value, captures []graph.Capture) error {
	z, err := readNPZ(filepath.Join(j.dir, fmt.Sprintf("out%d.npz", i)))
	if err != nil {
		return err
	}
	for k, v := range got {
		x, err := v.Tensor()
		if err != nil {
			return err
		}
		if err := j.near(ctx, z, fmt.Sprint(k), false, k, x); err != nil {
			return fmt.Errorf("output %d: %w", k, err)
		}
	}
	n := 0
	for i, c := range captures {
		if c.Variable == nil {
			continue
		}
		if err := j.near(ctx, z, fmt.Sprintf("variable/c%d", i), true, n, c.Variable.Load()); err != nil {
			return fmt.Errorf("variable %q afterwards: %w", c.Variable.Name(), err)
		}
		n++
	}
	return nil
}

// near compares output k, or variable k, with the array of that name in z.
func (j *judged) near(ctx context.Context, z *tensor.NPZ, name string, variable bool, k int, got *tensor.Tensor) error {
	want, err := z.Read(ctx, name)
	if err != nil {
		return err
	}
	if want.DType() == tensor.Float32 && got.DType() == tensor.BFloat16 { // as npz holds it
		if want, err = tensor.Cast(want, tensor.BFloat16); err != nil {
			return err
		}
	}
	if j.differ != nil && got.DType() != tensor.String {
		if d := j.differ(variable, k, got, want); d != "" {
			return errors.New(d)
		}
		return nil
	}
	if got.DType() == tensor.String || want.DType() == tensor.String {
		if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
			return fmt.Errorf("%v %v, TensorFlow has %v %v", got.DType(), got.Shape(), want.DType(), want.Shape())
		}
		for i, s := range tensor.Values[string](got) {
			if w, err := hex.DecodeString(tensor.Values[string](want)[i]); err != nil || s != string(w) {
				return fmt.Errorf("element %d is %q, TensorFlow has %q", i, s, w)
			}
		}
		return nil
	}
	if !got.Shape().Equal(want.Shape()) {
		return fmt.Errorf("shape %v, TensorFlow has %v", got.Shape(), want.Shape())
	}
	if diff, _ := difference(got, want, j.tolerance, nil); diff != "" {
		return errors.New(diff)
	}
	return nil
}

// compareTraces runs programs in TensorFlow and compares. The kind begins the names of their
// directories, so it must differ from those of other calls.
func (r *run) compareTraces(ctx context.Context, kind string, programs []*program) {
	var all []*judged
	var dirs []string
	for i, p := range programs {
		var j *judged
		err := guarded(func() (err error) {
			j, err = p.write(r.ours("traces", fmt.Sprintf("%s%d", kind, i)))
			return err
		})
		if err != nil {
			r.result("trace "+p.name, wrongs(err), "")
			continue
		}
		all, dirs = append(all, j), append(dirs, j.dir)
	}
	cmd := exec.CommandContext(ctx, r.python, append([]string{"interop/peer/run_functions.py"}, dirs...)...)
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "ran ") && len(all) > 0 {
		r.result("traces in TensorFlow", []string{fmt.Sprintf("%v\n%s", err, out)}, "")
		return
	}
	for _, j := range all {
		r.check("trace "+j.name, func() error { return j.compare(ctx) })
	}
}

// traceCases compares all ops and programs.
func traceCases(ctx context.Context, r *run) {
	r.compareTraces(ctx, "op", opPrograms())
	r.compareTraces(ctx, "program", tracePrograms())
}

// fatal lets fixtures be read outside of a test.
type fatal struct{ testing.TB }

func (fatal) Helper()           {}
func (fatal) Fatal(args ...any) { panic(fmt.Sprint(args...)) }
func (fatal) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}

// opPrograms returns one program an op: all of its fixtures, one after the
// other.
func opPrograms() []*program {
	fixtures := opfixture.Load(fatal{}, "kernel/testdata/tf2.21")
	names := make([]string, 0, len(fixtures))
	for op := range fixtures {
		names = append(names, op)
	}
	sort.Strings(names)
	set := kernel.All()
	var out []*program
	for _, op := range names {
		if set.Lookup(op) != nil && untraced(op) == "" {
			out = append(out, opProgram(op, fixtures[op], set.Lookup(op).Precision))
		}
	}
	return out
}

// untraced returns the reason why TensorFlow can't run a graph with an op, or why its
// answer can't be compared; "" if it can. The list is about TensorFlow 2.21.
func untraced(op string) string {
	for _, family := range []string{"QuantizedConv2D", "QuantizedDepthwiseConv2D", "QuantizedMatMulWithBias", "QuantizedConcatV2"} {
		if strings.HasPrefix(op, family) {
			return "TensorFlow replaces the op by oneDNN's in graphs and eager calls, and not in such functions"
		}
	}
	switch op {
	case "XlaSetBound", "XlaSpmdFullToShardShape", "XlaSpmdShardToFullShape":
		return "TensorFlow has the op in compiled functions only"
	case "AdjustContrast", "BatchCholesky", "BatchCholeskyGrad", "BatchMatrixBandPart", "BatchMatrixDeterminant", "BatchMatrixDiag",
		"BatchMatrixDiagPart", "BatchMatrixInverse", "BatchMatrixSetDiag", "BatchMatrixSolve", "BatchMatrixSolveLs",
		"BatchMatrixTriangularSolve", "BatchSelfAdjointEig", "MatrixExponential", "SelfAdjointEig",
		"BatchNormWithGlobalNormalization", "BatchNormWithGlobalNormalizationGrad", "Conv3DBackpropInput", "Conv3DBackpropFilter",
		"QuantizeAndDequantize", "AudioSummary":
		return "new graphs can't have the op: it has been removed from them"
	case "_FusedQuantizedConv2D", "_FusedQuantizedDepthwiseConv2D":
		return "a function with the op ends TensorFlow's process with a segmentation fault; sessions, which record the fixtures, run it"
	case "CaseFoldUTF8", "NormalizeUTF8", "RegexSplitWithOffsets":
		return "TensorFlow Text has the op, which isn't installed beside TensorFlow"
	case "_QuantizedMatMul":
		if !cpu.X86.HasAVX512BW && !cpu.X86.HasAVXVNNI {
			return "on a processor without products of bytes, oneDNN ends TensorFlow's process; the fixtures are of one with them"
		}
	case "TensorSummary":
		return "the summary holds the node's name"
	case "DebugIdentity", "DebugIdentityV3":
		return "TensorFlow's debugger alone makes the op, with names of tensors"
	}
	return ""
}

// stored returns a tensor as numpy has it, which knows no quantized types.
func stored(t *tensor.Tensor) *tensor.Tensor {
	as, ok := map[tensor.DType]tensor.DType{tensor.QInt8: tensor.Int8, tensor.QUint8: tensor.Uint8, tensor.QInt16: tensor.Int16,
		tensor.QUint16: tensor.Uint16, tensor.QInt32: tensor.Int32}[t.DType()]
	if !ok {
		return t
	}
	return tensor.Must(tensor.FromBytes(as, t.Bytes(), t.Shape()...))
}

// opProgram returns a program that calls an op once for each fixture that is in a graph.
func opProgram(op string, cases []opfixture.Fixture, precision engine.Precision) *program {
	p := &program{name: op}
	cases = slices.DeleteFunc(slices.Clone(cases), func(f opfixture.Fixture) bool { return f.Elsewhere })
	var outputScale, variableScale []float64
	var recorded []*tensor.Tensor
	undefined := map[int]bool{}
	for _, f := range cases {
		var in, out []*tensor.Tensor
		for _, x := range f.In {
			in = append(in, x.Tensor(fatal{}))
		}
		for _, x := range f.Out {
			out = append(out, x.Tensor(fatal{}))
		}
		scale := opfixture.Scale(in, out)
		for _, k := range f.Undefined {
			undefined[len(outputScale)+k] = true
		}
		if strings.HasPrefix(op, "SparseSegment") && strings.Contains(op, "Grad") && in[1].Len() == 0 {
			undefined[len(outputScale)] = true // TensorFlow leaves uninitialized memory if there are no indices
		}
		for _, x := range out {
			outputScale, recorded = append(outputScale, scale), append(recorded, x)
		}
		for range f.Vars {
			variableScale = append(variableScale, scale)
		}
	}
	p.differ = func(variable bool, k int, got, want *tensor.Tensor) string {
		if !variable && undefined[k] {
			return ""
		}
		if variable {
			return opfixture.Differ(precision, stored(got), stored(want), variableScale[k])
		}
		diff := opfixture.Differ(precision, stored(got), stored(want), outputScale[k])
		if diff != "" && strings.HasPrefix(op, "Xla") {
			// XLA compiles the op for the processor, and orders sums by its vectors. If TensorFlow's answer
			// here isn't quite the recorded one, ours must be the recorded one.
			if opfixture.Differ(precision, stored(want), stored(recorded[k]), 4*outputScale[k]) == "" {
				diff = opfixture.Differ(precision, stored(got), stored(recorded[k]), outputScale[k])
			}
		}
		return diff
	}
	var inputs [][]int // by case: places in p.in
	for _, f := range cases {
		var places []int
		for _, x := range f.In[f.Vars:] {
			places = append(places, len(p.in))
			p.in = append(p.in, x.Tensor(fatal{}))
		}
		inputs = append(inputs, places)
	}
	p.vars = func() []*trackable.Variable {
		var vars []*trackable.Variable
		for _, f := range cases {
			for _, x := range f.In[:f.Vars] {
				vars = append(vars, trackable.NewVariable(x.Tensor(fatal{})).Named(fmt.Sprintf("v%d", len(vars))))
			}
		}
		return vars
	}
	p.run = func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) (out []*ops.Value) {
		for i, f := range cases {
			var args []ops.Input
			for range f.Vars {
				args = append(args, ops.Handle(s, vars[0]))
				vars = vars[1:]
			}
			for _, at := range inputs[i] {
				args = append(args, in[at])
			}
			out = append(out, s.Emit(op, f.EngineAttrs(fatal{}), args...)...)
		}
		return out
	}
	return p
}
