package run_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	fn "github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// recorded contains the results of TensorFlow for a model that it trains
// further.
type recorded struct {
	X, Loss, DX plainTensor
	Variables   []struct {
		Name            string
		Value, Gradient plainTensor
	}
}

type plainTensor struct {
	Shape  []int
	Values []float32
}

func (p plainTensor) tensor() *tensor.Tensor { return tensor.Must(tensor.New(p.Values, p.Shape...)) }

func (p plainTensor) largest() (m float64) {
	for _, v := range p.Values {
		m = max(m, math.Abs(float64(v)))
	}
	return m
}

// closeTo compares with a precision of 1e-5 of the largest element, or of scale
// if that is larger: a gradient may consist of the rounding errors of larger
// ones.
func closeTo(t *testing.T, what string, got *tensor.Tensor, want plainTensor, scale float64) {
	t.Helper()
	scale = max(scale, want.largest())
	if !got.Shape().Equal(tensor.Shape(want.Shape)) {
		t.Fatalf("%s: shape %v, want %v", what, got.Shape(), want.Shape)
	}
	for i, v := range tensor.Values[float32](got) {
		if !(math.Abs(float64(v-want.Values[i])) <= 1e-5*scale) {
			t.Fatalf("%s: element %d is %v, TensorFlow has %v", what, i, v, want.Values[i])
		}
	}
}

// TestALoadedModelIsDifferentiatedAsInTensorFlow trains models further, eagerly and in a trace: a
// dense, a convolutional and a recurrent one, and three whose gradients were saved with them. One
// of these gradients captures values and a variable of the functions around it; one is missing for
// an argument in the middle.
func TestALoadedModelIsDifferentiatedAsInTensorFlow(t *testing.T) {
	for _, name := range []string{"dense", "convolution", "lstm", "custom", "outer", "some"} {
		fsys := files(t, "finetune_"+name)
		var want recorded
		if err := json.Unmarshal(fsys["gradients.json"].Data, &want); err != nil {
			t.Fatal(err)
		}
		for _, mode := range []fn.Mode{fn.Eagerly, fn.Traced} {
			m, err := run.Load(ctx, fsys, &run.LoadOptions{Kernels: kernel.All()})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			f, err := m.Function("forward")
			if err != nil {
				t.Fatal(err)
			}
			c, err := f.Concrete(ctx, []any{graph.TensorOf("", graph.Fact{DType: tensor.Float32, Shape: graph.Whole(want.X.Shape)})}, nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var vars []*trackable.Variable
			for _, w := range want.Variables {
				var found *trackable.Variable
				for _, v := range m.Variables() {
					if v.Trainable() && v.Name() == w.Name && v.ValueShape().Equal(tensor.Shape(w.Value.Shape)) && v.Load().Equal(w.Value.tensor()) {
						found = v
					}
				}
				if found == nil {
					t.Fatalf("%s: no variable %s", name, w.Name)
				}
				vars = append(vars, found)
			}
			step := fn.New(func(s *ops.Scope, x *ops.Value) []*ops.Value {
				loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
					return ops.Sum(s, ops.Square(s, fn.Apply(s, c, x)[0]))
				}, &grad.Options{Watch: []*ops.Value{x}, Persistent: true})
				out := []*ops.Value{loss, tape.GradientOf(loss, x)[0]}
				for _, g := range tape.Gradient(loss, vars) {
					out = append(out, g.Grad)
				}
				return out
			}, &fn.Options{Mode: mode})
			out, err := step.Call(ctx, ops.ValueOf(want.X.tensor()))
			if err != nil {
				t.Fatalf("%s, %v: %v", name, mode, err)
			}
			answers := []plainTensor{want.Loss, want.DX}
			for _, w := range want.Variables {
				answers = append(answers, w.Gradient)
			}
			scale := 0.0
			for _, a := range answers {
				scale = max(scale, a.largest()/10)
			}
			for i, v := range out {
				got, err := v.Tensor()
				if err != nil {
					t.Fatal(err)
				}
				what := name + ": loss or input"
				if i > 1 {
					what = name + ": " + want.Variables[i-2].Name
				}
				closeTo(t, what, got, answers[i], scale)
			}
		}
	}
}

func TestAConcreteFunctionTakesItsArgumentsOnly(t *testing.T) {
	m, err := run.Load(ctx, files(t, "finetune_dense"), &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function("forward")
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []graph.Fact{
		{DType: tensor.Float64, Shape: graph.ShapeOf(3, 4)}, {DType: tensor.Float32, Shape: graph.ShapeOf(3, 5)}, {DType: tensor.Float32, Shape: graph.UnknownShape},
	} {
		if _, err := f.Concrete(ctx, []any{graph.TensorOf("", spec)}, nil); err == nil {
			t.Errorf("a trace takes %v", spec)
		}
	}
	c, err := f.Concrete(ctx, []any{graph.TensorOf("", graph.Fact{DType: tensor.Float32, Shape: graph.ShapeOf(-1, 4)})}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if in, out := c.InputSignature().String(), c.Out.String(); !strings.Contains(in, "float32[?,4]") || !strings.Contains(out, "float32") {
		t.Errorf("the trace says that it takes %s and gives %s", in, out)
	}
	s := fn.Eager(ctx)
	if fn.Apply(s, c); s.Err() == nil || !strings.Contains(s.Err().Error(), "takes 1 arguments (got 0)") {
		t.Errorf("%v", s.Err())
	}
}

// TestAModuleIsTrainedFurtherAsInTensorFlow puts a layer on a module in the
// form of TensorFlow Hub's modules and trains both. It compares the losses of
// 20 steps, and the module's outputs and variables after them.
func TestAModuleIsTrainedFurtherAsInTensorFlow(t *testing.T) {
	fsys := files(t, "hub_training")
	var want struct {
		X, Labels, Head, After, Mean plainTensor
		Losses                       []float64
	}
	if err := json.Unmarshal(fsys["training.json"].Data, &want); err != nil {
		t.Fatal(err)
	}
	m, err := run.Load(ctx, fsys, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	module, err := m.Reusable()
	if err != nil || len(module.Lacks) > 0 || len(module.Variables) != 3 || len(module.TrainableVariables) != 2 {
		t.Fatalf("%+v, %v", module, err)
	}
	batch := graph.TensorOf("", graph.Fact{DType: tensor.Float32, Shape: graph.Whole(want.X.Shape)})
	call, err := module.Concrete(ctx, batch, true)
	if err != nil {
		t.Fatal(err)
	}
	losses, err := module.LossFunctions(ctx)
	if err != nil || len(losses) != 1 {
		t.Fatal(losses, err)
	}
	penalty := losses[0]

	head := trackable.NewVariable(want.Head.tensor())
	vars := append(slices.Clone(module.TrainableVariables), head)
	labels := tensor.Must(tensor.Cast(want.Labels.tensor(), tensor.Int64))
	step := fn.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			logits := ops.MatMul(s, fn.Apply(s, call, x)[0], head)
			cross := s.EmitN(2, "SparseSoftmaxCrossEntropyWithLogits", nil, logits, labels)[0]
			return ops.Add(s, ops.Mean(s, cross), fn.Apply(s, penalty)[0])
		})
		for _, g := range tape.Gradient(loss, vars) {
			ops.AssignSub(s, g.Variable, ops.Mul(s, g.Grad, float32(0.2)))
		}
		return loss
	}, nil)
	for i, w := range want.Losses {
		loss, err := step.Call(ctx, ops.ValueOf(want.X.tensor()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := loss.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		if v := tensor.Values[float32](got)[0]; !(math.Abs(float64(v)-w) <= 1e-5*w) {
			t.Errorf("step %d: the loss is %v, TensorFlow has %v", i, v, w)
		}
	}
	out, err := module.Call(ctx, want.X.tensor(), false)
	if err != nil {
		t.Fatal(err)
	}
	closeTo(t, "what it gives then", out.(*tensor.Tensor), want.After, 0)
	closeTo(t, "the mean that it keeps", variable(t, m, "variables/2").Load(), want.Mean, 0)
}

func variable(t *testing.T, m *run.Model, path string) *trackable.Variable {
	t.Helper()
	v, err := m.Variable(path)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestAFunctionWithATableIsApplied looks words up in a loaded model, as a model of texts
// does that is trained further: eagerly, in a trace and in a branch of one.
func TestAFunctionWithATableIsApplied(t *testing.T) {
	m, err := run.Load(ctx, os.DirFS("../testdata/models/table"), &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	sig, err := m.Signature("serving_default")
	if err != nil {
		t.Fatal(err)
	}
	c, err := sig.Concrete(ctx)
	if err != nil {
		t.Fatal(err)
	}
	words, err := tensor.New([]string{"fox", "dog", "the"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	look := func(s *ops.Scope, x *ops.Value) []*ops.Value {
		inBranch := ops.If(s, ops.Equal(s, ops.Size(s, x), 3), func(s *ops.Scope) []*ops.Value { return fn.Apply(s, c, x)[:1] },
			func(s *ops.Scope) []*ops.Value { return []*ops.Value{ops.Zeros(s, tensor.Int64, 3)} })
		return append(inBranch, fn.Apply(s, c, x)...)
	}
	for _, mode := range []fn.Mode{fn.Eagerly, fn.Traced} {
		out, err := fn.New(look, &fn.Options{Mode: mode}).Call(ctx, ops.ValueOf(words))
		if err != nil {
			t.Fatalf("%v: %v", mode, err)
		}
		if got := fmt.Sprint(out); got != "[[ 2 -1  0] [ 2 -1  0] 3]" {
			t.Errorf("%v: %s", mode, got)
		}
	}
	for _, wrong := range []ops.Input{[]int64{1, 2, 3}, 7} {
		s := fn.Eager(ctx)
		if fn.Apply(s, c, wrong); s.Err() == nil {
			t.Errorf("words are taken that are %v", wrong)
		}
		if _, err := fn.New(func(s *ops.Scope, x *ops.Value) []*ops.Value { return fn.Apply(s, c, wrong) }).Trace(ops.ValueOf(words)); err == nil {
			t.Errorf("words are traced that are %v", wrong)
		}
	}
	s := fn.Eager(ctx)
	attrs := graph.Attrs{graph.Func("f", c.Function), graph.Types("Tout", graph.ArgTypes(c.Function.ResultFacts())...)}
	if s.Emit("StatefulPartitionedCall", attrs, append([]ops.Input{[]int64{1}}, ops.CapturedInputs(s, c.Captures)...)...); s.Err() == nil || !strings.Contains(s.Err().Error(), "takes string") {
		t.Errorf("a call of numbers: %v", s.Err())
	}
}
