package training_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/training"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestFormsAreTfKeras trains models with sparse and ragged inputs as testdata/gen_forms.py
// has done.
func TestFormsAreTfKeras(t *testing.T) {
	var cases []struct {
		Name     string
		Config   json.RawMessage
		Forms    []string
		History  map[string][]float64
		Evaluate []float64
		Summary  string
	}
	kerastest.JSON(t, "testdata/forms.json", &cases)
	arrays := kerastest.Arrays(t, "testdata/forms.npz")
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			obj, err := keras.FromConfig(c.Config, nil)
			must(t, err)
			again, err := keras.Config(obj, nil)
			must(t, err)
			kerastest.SameJSON(t, "config", c.Config, again)
			model := obj.(base.Callable)
			for i, v := range keras.Variables(model) {
				must(t, v.Store(arrays[fmt.Sprintf("%s/weight%d", c.Name, i)].Clone()))
			}
			var summary bytes.Buffer
			must(t, keras.Summary(&summary, model, nil))
			if summary.String() != c.Summary {
				t.Errorf("the summary is\n%s\ntf_keras's is\n%s", &summary, c.Summary)
			}
			s := function.Eager(ctx)
			var x []any
			for i, form := range c.Forms {
				part := func(k int) *ops.Value { return ops.ValueOf(arrays[fmt.Sprintf("%s/x%d/%d", c.Name, i, k)]) }
				switch form {
				case "sparse":
					x = append(x, base.Sparse{Indices: part(0), Values: part(1), Shape: part(2)})
				case "ragged":
					x = append(x, base.Ragged{Values: part(0), Splits: []*ops.Value{part(1)}}.Value(s))
				default:
					x = append(x, part(0))
				}
			}
			var in any = x
			if len(x) == 1 {
				in = x[0]
			}
			adam := optimizers.NewAdam(0.01)
			must(t, adam.SetLayout(optimizers.NewLayout))
			trainer, err := training.Compile(model, &training.CompileOptions{Optimizer: adam, Loss: "mse", Metrics: "mae"})
			must(t, err)
			data := &training.Examples{X: in, Y: arrays[c.Name+"/y"]}
			h, err := trainer.Fit(ctx, data, &training.FitOptions{BatchSize: 5, Epochs: 3, InOrder: true})
			must(t, err)
			for name, want := range c.History {
				for i, w := range want {
					if got := h.History[name][i]; !near(got, w) {
						t.Errorf("%s of epoch %d is %v, tf_keras's is %v", name, i, got, w)
					}
				}
			}
			out, err := trainer.Predict(ctx, data, &training.EvaluateOptions{BatchSize: 5})
			must(t, err)
			kerastest.Near(t, "predicted", ops.ValueOf(out), arrays[c.Name+"/predicted"], 1e-4)
			logs, err := trainer.Evaluate(ctx, data, &training.EvaluateOptions{BatchSize: 4})
			must(t, err)
			if !near(logs["loss"], c.Evaluate[0]) || !near(logs["mae"], c.Evaluate[1]) {
				t.Errorf("evaluated %v, tf_keras has %v", logs, c.Evaluate)
			}
			_, err = trainer.Fit(ctx, data, &training.FitOptions{BatchSize: 5, ValidationSplit: 0.3}) // shuffled
			must(t, err)
		})
	}
}

// TestFormsRefused trains with values without rows, and with others than the dense
// tensors that a layer requires.
func TestFormsRefused(t *testing.T) {
	s := function.Eager(ctx)
	rows := base.Ragged{Values: ops.Const(s, []float32{1, 2, 3}), Splits: []*ops.Value{ops.Const(s, []int64{0, 1, 3})}}
	dense := tensor.Must(tensor.Zeros(tensor.Float32, 2, 1))
	symbolic := keras.Symbolic(ctx)
	x := keras.Input(symbolic, tensor.Shape{-1}, &keras.InputOptions{Ragged: true})
	model, err := keras.NewModel(x, new(layers.ReLU).Call(symbolic, x), nil)
	must(t, err)
	for name, tt := range map[string]struct {
		data *training.Examples
		want string
	}{
		"output":       {&training.Examples{X: rows, Y: dense}, "output 0 of the model is a ragged tensor"},
		"dense input":  {&training.Examples{X: dense, Y: dense}, "input 0 is a dense tensor, want a ragged one"},
		"truths":       {&training.Examples{X: rows, Y: rows}, "Y has a sparse or a ragged tensor"},
		"ends":         {&training.Examples{X: base.Ragged{Values: ops.Const(s, []float32{1}), Splits: rows.Splits}, Y: dense}, "the splits end with 3"},
		"falling":      {&training.Examples{X: base.Ragged{Values: rows.Values, Splits: []*ops.Value{ops.Const(s, []int64{0, 4, 3})}}, Y: dense}, "or fall"},
		"outside":      {&training.Examples{X: base.Sparse{Indices: ops.Const(s, [][]int64{{2, 0}}), Values: ops.Const(s, []float32{1}), Shape: ops.Const(s, []int64{2, 1})}, Y: dense}, "outside of the shape"},
		"negative":     {&training.Examples{X: base.Sparse{Indices: ops.Const(s, [][]int64{{2, 0}}), Values: ops.Const(s, []float32{1}), Shape: ops.Const(s, []int64{-2, 1})}, Y: dense}, "want a first size from 0"},
		"huge":         {&training.Examples{X: base.Sparse{Indices: ops.Const(s, [][]int64{{2, 0}}), Values: ops.Const(s, []float32{1}), Shape: ops.Const(s, []int64{1 << 40, 1})}, Y: dense}, "want a first size from 0"},
		"other number": {&training.Examples{X: rows, Y: tensor.Must(tensor.Zeros(tensor.Float32, 3, 1))}, "Y has 3 examples, want 2"},
	} {
		trainer, err := training.Compile(model, &training.CompileOptions{Loss: "mse"})
		must(t, err)
		if _, err := trainer.Fit(ctx, tt.data, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, tt.want)
		}
	}
}
