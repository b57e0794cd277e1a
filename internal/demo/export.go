package demo

import (
	"context"
	"encoding/json"
	"os"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/internal/digits"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	modelrun "github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Images is the input of the exported model's signature for serving: [n, 64].
type Images struct{ Images *ops.Value }

// Logits is its output: [n, 10].
type Logits struct{ Logits *ops.Value }

// Exported is the trained model as saved in a SavedModel: the functions for serving
// and training, and their state.
type Exported struct {
	trackable.Base
	Step      *trackable.Scalar[int64]
	Optimizer *optimizers.Adam
	Net       *Net
	Random    *ops.Random
	Predict   *function.Func[Images, Logits]
	Train     *function.Func[Batch, *ops.Value]
}

// exportMetadata is the metadata that the class of the exported model saves.
type exportMetadata struct {
	Classes int    `json:"classes"`
	Data    string `json:"data"`
}

// SavedModelSpec saves the model's edges, and describes its input in the metadata.
func (e *Exported) SavedModelSpec(sc *savedmodel.SaveContext) (*savedmodel.SaveSpec, error) {
	spec, err := sc.Default(e)
	if err != nil {
		return nil, err
	}
	spec.Metadata, err = json.Marshal(exportMetadata{digits.Classes, "handwritten digits of 8 by 8 pixels"})
	return spec, err
}

// Export writes the trained model as a SavedModel in dir, with the signatures
// "serving_default" and "train".
func (r *Run) Export(ctx context.Context, dir string) error {
	t := r.Training
	e := &Exported{Step: t.Step, Optimizer: t.Optimizer, Net: t.Net, Random: t.Random}
	e.Predict = function.New(func(s *ops.Scope, in Images) Logits { return Logits{t.Net.Call(s, in.Images)} })
	e.Train = function.New(func(s *ops.Scope, b Batch) *ops.Value {
		loss := t.step(s.WithTraining(true), b)
		ops.AssignAdd(s, t.Step, ops.Const(s, int64(1)))
		return loss
	})
	predict, err := e.Predict.Trace(Images{ops.Spec(tensor.Float32, -1, digits.Pixels)})
	if err != nil {
		return err
	}
	train, err := e.Train.Trace(Batch{ops.Spec(tensor.Float32, -1, digits.Pixels), ops.Spec(tensor.Int64, -1)})
	if err != nil {
		return err
	}
	classes := new(savedmodel.Classes)
	if err := savedmodel.Register(classes, savedmodel.Class[*Exported]{Package: "cairn", Name: "Digits"}); err != nil {
		return err
	}
	z := &savedmodel.Serializer{Package: "cairn", Classes: classes}
	return z.Save(ctx, e, dir, &savedmodel.SaveOptions{
		Signatures: map[string]*function.Concrete{savedmodel.DefaultSignature: predict, "train": train},
	})
}

// step trains on a batch and returns the loss before it.
func (t *Training) step(s *ops.Scope, b Batch) *ops.Value {
	value, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		return loss.Loss(s, b.Labels, t.Net.Call(s, b.Images), nil)
	})
	t.Optimizer.Apply(s, tape.Gradient(value, keras.Trainable(t.Net)))
	return value
}

// Reloaded is the result of running an exported model in a separate program.
type Reloaded struct {
	Accuracy    float64 // of the held-out images, before it trained on
	Steps       int     // that it trained on
	First, Last float64 // the losses of the first and the last of them
}

// Reload loads an exported model without the Go types that made it, lets it read the
// held-out digits, and trains it on by its own training step.
func Reload(ctx context.Context, dir string, steps int) (*Reloaded, error) {
	m, err := modelrun.Load(ctx, os.DirFS(dir), &modelrun.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		return nil, err
	}
	train, heldOut, err := Split()
	if err != nil {
		return nil, err
	}
	images, err := heldOut.Images.Tensor()
	if err != nil {
		return nil, err
	}
	labels, err := heldOut.Labels.Tensor()
	if err != nil {
		return nil, err
	}
	out, err := m.Call(ctx, savedmodel.DefaultSignature, map[string]*tensor.Tensor{"images": images})
	if err != nil {
		return nil, err
	}
	logits := tensor.Values[float32](out["logits"])
	right := 0
	for i, truth := range tensor.Values[int64](labels) {
		row := logits[i*digits.Classes : (i+1)*digits.Classes]
		best := 0
		for j := range row {
			if row[j] > row[best] {
				best = j
			}
		}
		if int64(best) == truth {
			right++
		}
	}
	r := &Reloaded{Accuracy: float64(right) / float64(labels.Len()), Steps: steps}
	x, err := train.Images.Tensor()
	if err != nil {
		return nil, err
	}
	y, err := train.Labels.Tensor()
	if err != nil {
		return nil, err
	}
	for i := range steps {
		out, err := m.Call(ctx, "train", map[string]*tensor.Tensor{"images": x, "labels": y})
		if err != nil {
			return nil, err
		}
		loss := float64(tensor.Values[float32](out["output_0"])[0])
		if i == 0 {
			r.First = loss
		}
		r.Last = loss
	}
	return r, nil
}
