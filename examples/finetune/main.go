// Finetune trains the last layer of a model that TensorFlow wrote, resumes after an
// earlier run stopped, and saves the model again with its training step.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

//go:embed model
var embedded embed.FS

// Batch is the input of a training step: rows of four numbers, and the class of each.
type Batch struct {
	X      *ops.Value // float32 [n, 4]
	Labels *ops.Value // int32 [n]
}

// Loss is the result of a training step.
type Loss struct{ Loss *ops.Value }

// Tuned is the loaded model with its optimizer and training state.
type Tuned struct {
	Model     *savedmodel.TrackableObject
	Optimizer *optimizers.Adam
	Step      *trackable.Scalar[int64]
	Train     *function.Func[Batch, Loss]

	forward *function.Concrete    `cairn:"-"` // the model's function
	last    []*trackable.Variable `cairn:"-"` // the variables that are trained, which the model holds
}

// load makes the objects of the model in fsys.
func load(ctx context.Context, fsys fs.FS) (*Tuned, error) {
	restored, err := savedmodel.Restore(ctx, fsys, nil)
	if err != nil {
		return nil, err
	}
	model, ok := restored.Root.(*savedmodel.TrackableObject)
	if !ok {
		return nil, fmt.Errorf("the model's root is a %T", restored.Root)
	}
	forward, ok := model.Child("forward").(*savedmodel.TrackableFunction)
	if !ok {
		return nil, fmt.Errorf("the model has no function \"forward\"")
	}
	t := &Tuned{Model: model, Optimizer: optimizers.NewAdam(0.05), Step: trackable.NewScalar[int64](0), forward: forward.Traces()[0]}
	layer := model.Child("layers").(*savedmodel.TrackableObject).Child("1").(*savedmodel.TrackableObject)
	for _, name := range []string{"kernel", "bias"} {
		t.last = append(t.last, layer.Child(name).(*trackable.Variable))
	}
	t.Train = function.New(t.train)
	return t, nil
}

// train takes a step of the last layer. The model returns probabilities.
func (t *Tuned) train(s *ops.Scope, b Batch) Loss {
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		probs := function.Apply(s, t.forward, b.X)[0]
		truth := ops.OneHot(s, b.Labels, 2, tensor.Float32)
		return ops.Neg(s, ops.Mean(s, ops.Sum(s, ops.Mul(s, truth, ops.Log(s, probs)), -1)))
	})
	t.Optimizer.Apply(s, tape.Gradient(loss, t.last))
	return Loss{loss}
}

// data returns 64 rows whose class is 1 if their sum is positive.
func data() Batch {
	x, labels := make([]float32, 64*4), make([]int32, 64)
	for i := range labels {
		var sum float32
		for j := range 4 {
			v := float32((i*7+j*13)%17)/8 - 1
			x[i*4+j], sum = v, sum+v
		}
		if sum > 0 {
			labels[i] = 1
		}
	}
	return Batch{ops.ValueOf(tensor.Must(tensor.New(x, 64, 4))), ops.ValueOf(tensor.Vector(labels...))}
}

// run makes 30 steps more, saves a checkpoint in dir every ten, and writes the model to out.
func run(ctx context.Context, fsys fs.FS, dir, out string) error {
	t, err := load(ctx, fsys)
	if err != nil {
		return err
	}
	manager, err := checkpoint.Resume(ctx, t, dir, &checkpoint.ManagerOptions{MaxToKeep: 2})
	if err != nil {
		return err
	}
	defer manager.Close()
	train, err := t.Train.Trace(Batch{ops.Spec(tensor.Float32, -1, 4), ops.Spec(tensor.Int32, -1)})
	if err != nil {
		return err
	}
	batch := data()
	for range 30 {
		loss, err := t.Train.Call(ctx, batch)
		if err != nil {
			return err
		}
		if step := t.Step.Add(1); step%10 == 0 {
			if _, err := manager.Save(ctx); err != nil {
				return err
			}
			fmt.Printf("step %d: loss %.4f\n", step, loss.Loss)
		}
	}
	err = savedmodel.Save(ctx, t, out, &savedmodel.SaveOptions{Signatures: map[string]*function.Concrete{
		"serving_default": t.forward, "train": train}})
	if err == nil {
		fmt.Println("wrote", out)
	}
	return err
}

func main() {
	model := flag.String("model", "", "a SavedModel with a function \"forward\" and two layers; default: the one in the program")
	dir := flag.String("checkpoints", "finetune_run", "the directory of the checkpoints")
	out := flag.String("o", "tuned_model", "the SavedModel to write")
	flag.Parse()
	fsys, err := fs.Sub(embedded, "model")
	if err != nil {
		log.Fatal(err)
	}
	if *model != "" {
		fsys = os.DirFS(*model)
	}
	if err := run(context.Background(), fsys, *dir, *out); err != nil {
		log.Fatal(err)
	}
}
