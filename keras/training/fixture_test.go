package training_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/cairnml/cairn/dataset"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/callbacks"
	"github.com/cairnml/cairn/keras/training"
	"github.com/cairnml/cairn/tensor"
)

var ctx = context.Background()

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fitCase is a training of tf_keras's, with its results.
type fitCase struct {
	Name            string
	Layers          []json.RawMessage
	Optimizer       json.RawMessage
	Loss            json.RawMessage
	Model           json.RawMessage
	LossWeights     map[string]float64 `json:"loss_weights"`
	Dataset         bool
	Metrics         any
	WeightedMetrics any `json:"weighted_metrics"`
	Fit             fitArguments
	Callbacks       [][2]json.RawMessage
	Again           bool
	Seed            uint64
	History, Second map[string][]float64
	Epoch           []int
	Evaluate        map[string]float64
	TrainOnBatch    map[string]float64 `json:"train_on_batch"`
	TestOnBatch     map[string]float64 `json:"test_on_batch"`
}

// fitArguments are arguments of fit.
type fitArguments struct {
	Epochs              int
	InitialEpoch        int                `json:"initial_epoch"`
	BatchSize           int                `json:"batch_size"`
	StepsPerEpoch       int                `json:"steps_per_epoch"`
	ClassWeight         map[string]float64 `json:"class_weight"`
	ValidationSplit     float64            `json:"validation_split"`
	ValidationBatchSize int                `json:"validation_batch_size"`
	ValidationSteps     int                `json:"validation_steps"`
	ValidationFreq      any                `json:"validation_freq"`
	Shuffle             *bool
}

func (c *fitCase) options(t *testing.T, arrays map[string]*tensor.Tensor) *training.FitOptions {
	f := &c.Fit
	o := &training.FitOptions{
		BatchSize: f.BatchSize, Epochs: f.Epochs, InitialEpoch: f.InitialEpoch, StepsPerEpoch: f.StepsPerEpoch,
		ValidationSplit: f.ValidationSplit, ValidationBatchSize: f.ValidationBatchSize, ValidationSteps: f.ValidationSteps,
		InOrder: f.Shuffle != nil && !*f.Shuffle,
	}
	for i := range len(f.ClassWeight) {
		o.ClassWeight = append(o.ClassWeight, f.ClassWeight[string(rune('0'+i))])
	}
	switch freq := f.ValidationFreq.(type) {
	case float64:
		o.ValidationFreq = int(freq)
	case []any:
		for _, e := range freq {
			o.ValidationEpochs = append(o.ValidationEpochs, int(e.(float64)))
		}
	}
	if x := arrays["validation_x"]; x != nil {
		o.ValidationData = &training.Examples{X: x, Y: arrays["validation_y"]}
	}
	for _, row := range c.Callbacks {
		var name string
		must(t, json.Unmarshal(row[0], &name))
		made := map[string]callbacks.Callback{"ReduceLROnPlateau": new(callbacks.ReduceLROnPlateau), "EarlyStopping": new(callbacks.EarlyStopping)}[name]
		set(t, made, row[1])
		o.Callbacks = append(o.Callbacks, made)
	}
	return o
}

// set sets the fields of a callback by tf_keras's names of its arguments.
func set(t *testing.T, callback any, args json.RawMessage) {
	var values map[string]json.RawMessage
	must(t, json.Unmarshal(args, &values))
	for name, value := range values {
		f := reflect.ValueOf(callback).Elem().FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, strings.ReplaceAll(name, "_", "")) })
		must(t, json.Unmarshal(value, f.Addr().Interface()))
	}
}

// fixture reads the trainings and their data.
func fixture(t *testing.T) (cases []fitCase, arrays func(c string) map[string]*tensor.Tensor) {
	t.Helper()
	text, err := os.ReadFile("testdata/fit.json")
	must(t, err)
	must(t, json.Unmarshal(text, &cases))
	data, err := os.ReadFile("testdata/fit.npz")
	must(t, err)
	npz, err := tensor.OpenNPZ(bytes.NewReader(data), int64(len(data)), nil)
	must(t, err)
	return cases, func(c string) map[string]*tensor.Tensor {
		out := map[string]*tensor.Tensor{}
		for _, name := range npz.Names() {
			if rest, ok := strings.CutPrefix(name, strings.ReplaceAll(c, " ", "_")+"/"); ok {
				x, err := npz.Read(ctx, name)
				must(t, err)
				out[rest] = x
			}
		}
		return out
	}
}

func (c *fitCase) trainer(t *testing.T) *training.Trainer {
	t.Helper()
	var model base.Callable
	if c.Model != nil {
		made, err := keras.FromConfig(c.Model, nil)
		must(t, err)
		model = made.(base.Callable)
	} else {
		model = c.sequential(t)
	}
	var loss any = c.Loss
	if c.Loss[0] != '{' || bytes.Contains(c.Loss, []byte("value")) {
		must(t, json.Unmarshal(c.Loss, &loss))
	}
	o := &training.CompileOptions{Optimizer: c.Optimizer, Loss: loss, Metrics: c.Metrics, WeightedMetrics: c.WeightedMetrics, Seed: &c.Seed}
	if c.LossWeights != nil {
		o.LossWeights = c.LossWeights
	}
	trainer, err := training.Compile(model, o)
	must(t, err)
	return trainer
}

func (c *fitCase) sequential(t *testing.T) base.Callable {
	model := keras.NewSequential()
	for _, data := range c.Layers {
		l, err := keras.FromConfig(data, nil)
		must(t, err)
		must(t, model.Add(l.(base.Callable)))
	}
	return model
}

// structure returns the arrays of one argument: one, a list or a map; nil if there are none.
func structure(arrays map[string]*tensor.Tensor, name string) any {
	if x := arrays[name]; x != nil {
		return x
	}
	byKey := map[string]*tensor.Tensor{}
	var list []*tensor.Tensor
	for key, x := range arrays {
		if rest, ok := strings.CutPrefix(key, name+"/"); ok {
			byKey[rest] = x
		}
	}
	for i := range len(byKey) {
		if x := byKey[strconv.Itoa(i)]; x != nil {
			list = append(list, x)
		}
	}
	switch {
	case len(byKey) == 0:
		return nil
	case list != nil:
		return list
	}
	return byKey
}

// near reports whether numbers are equal to 1e-4.
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-4*math.Max(1, math.Abs(want)) }

func sameLogs(t *testing.T, what string, got callbacks.Logs, want map[string]float64) {
	t.Helper()
	for name, w := range want {
		if g, ok := got[name]; !ok || !near(g, w) {
			t.Errorf("%s: %s is %v, want %v", what, name, g, w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d logs, want %d: %v", what, len(got), len(want), got)
	}
}

func sameHistory(t *testing.T, what string, got *callbacks.History, want map[string][]float64) {
	t.Helper()
	for name, w := range want {
		g := got.History[name]
		if len(g) != len(w) {
			t.Errorf("%s: %s has %d epochs, want %d", what, name, len(g), len(w))
			continue
		}
		for i := range w {
			if !near(g[i], w[i]) {
				t.Errorf("%s: %s is %v, want %v", what, name, g, w)
				break
			}
		}
	}
	if len(got.History) != len(want) {
		t.Errorf("%s: the history has %d logs, want %d: %v", what, len(got.History), len(want), got.History)
	}
}

// TestTrainingIsThatOfTfKeras compares the histories, evaluations and predictions of many
// trainings.
func TestTrainingIsThatOfTfKeras(t *testing.T) {
	cases, arrays := fixture(t)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			a := arrays(c.Name)
			trainer := c.trainer(t)
			data := &training.Examples{X: structure(a, "x"), Y: structure(a, "y"), SampleWeight: structure(a, "sample_weight")}
			var fitted training.Data = data
			if c.Dataset {
				fitted = training.Batches(dataset.FromSlices(pair{a["x"], a["y"]}).
					Shuffle(20, &dataset.ShuffleOptions{Seed: 3, TensorFlow: true, GlobalSeed: &c.Seed}).Batch(8, nil))
			}
			history, err := trainer.Fit(ctx, fitted, c.options(t, a))
			must(t, err)
			sameHistory(t, "fit", history, c.History)
			if !reflect.DeepEqual(history.Epoch, c.Epoch) {
				t.Errorf("epochs %v, want %v", history.Epoch, c.Epoch)
			}
			if c.Again {
				history, err := trainer.Fit(ctx, data, c.options(t, a))
				must(t, err)
				sameHistory(t, "second fit", history, c.Second)
			}
			logs, err := trainer.Evaluate(ctx, data, &training.EvaluateOptions{BatchSize: 13})
			must(t, err)
			sameLogs(t, "evaluate", logs, c.Evaluate)
			predicted, err := trainer.PredictAll(ctx, &training.Examples{X: data.X}, nil)
			must(t, err)
			tolerance := 1e-4
			if strings.HasPrefix(c.Name, "mixed_float16") {
				tolerance = 1.0 / 1024 // a step of float16
			}
			for i, p := range predicted {
				samePredictions(t, p, a["predict/"+strconv.Itoa(i)], tolerance)
			}
			if c.TrainOnBatch == nil {
				return
			}
			batch := &training.Examples{X: first(data.X), Y: first(data.Y), SampleWeight: first(data.SampleWeight)}
			logs, err = trainer.TrainOnBatch(ctx, batch, nil)
			must(t, err)
			sameLogs(t, "train_on_batch", logs, c.TrainOnBatch)
			logs, err = trainer.TestOnBatch(ctx, batch, nil)
			must(t, err)
			sameLogs(t, "test_on_batch", logs, c.TestOnBatch)
		})
	}
}

func samePredictions(t *testing.T, got, want *tensor.Tensor, tolerance float64) {
	t.Helper()
	if !got.Shape().Equal(want.Shape()) {
		t.Fatalf("predictions %v, want %v", got.Shape(), want.Shape())
	}
	for i, w := range tensor.Values[float32](want) {
		if g := tensor.Values[float32](got)[i]; !(math.Abs(float64(g-w)) <= tolerance*math.Max(1, math.Abs(float64(w)))) {
			t.Fatalf("prediction %d is %v, want %v", i, g, w)
		}
	}
}

// first returns the first nine rows of a structure, nil for nil.
func first(x any) any {
	switch x := x.(type) {
	case *tensor.Tensor:
		shape := x.Shape().Clone()
		each := len(x.Bytes()) / shape[0]
		shape[0] = 9
		return tensor.Must(tensor.FromBytes(x.DType(), x.Bytes()[:9*each], shape...))
	case []*tensor.Tensor:
		out := make([]any, len(x))
		for i := range x {
			out[i] = first(x[i])
		}
		return out
	case map[string]*tensor.Tensor:
		out := map[string]any{}
		for key := range x {
			out[key] = first(x[key])
		}
		return out
	}
	return nil
}
