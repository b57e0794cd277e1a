// Export traces a Go function and saves it with its variables as a SavedModel, which
// TensorFlow, TensorFlow Serving and this module load.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Features is the input of the model.
type Features struct{ X *ops.Value } // "x"

// Scores is its output.
type Scores struct{ Probs *ops.Value } // "probs"

// Linear is a linear classifier.
type Linear struct {
	W, B    *trackable.Variable
	Predict *function.Func[Features, Scores] // edge "predict"
}

// NewLinear returns a classifier with these weights.
func NewLinear(w, b *tensor.Tensor) *Linear {
	m := &Linear{W: trackable.NewVariable(w), B: trackable.NewVariable(b)}
	m.Predict = function.New(m.predict)
	return m
}

// predict returns the probabilities of the classes for each row.
func (m *Linear) predict(s *ops.Scope, in Features) Scores {
	return Scores{ops.Softmax(s, ops.Add(s, ops.MatMul(s, in.X, m.W), m.B))}
}

// export saves the model with the signature serving_default, for any number of rows of 4.
func export(ctx context.Context, m *Linear, dir string) error {
	serve, err := m.Predict.Trace(Features{X: ops.Spec(tensor.Float32, -1, 4)}) // a spec is an example value without data
	if err != nil {
		return err
	}
	return savedmodel.Save(ctx, m, dir, &savedmodel.SaveOptions{Signatures: map[string]*function.Concrete{"serving_default": serve}})
}

func main() {
	dir := flag.String("o", "linear_model", "the directory to write")
	flag.Parse()
	w := tensor.Must(tensor.New([]float32{1, -1, 0.5, -0.5, -1, 1, 0.25, 0}, 4, 2))
	if err := export(context.Background(), NewLinear(w, tensor.Vector[float32](0.5, -0.5)), *dir); err != nil {
		log.Fatal(err)
	}
	fmt.Println("wrote", *dir)
}
