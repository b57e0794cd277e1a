package savedmodel_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

type Features struct{ X *ops.Value }
type Scores struct{ Probs *ops.Value }

// Linear is the model of the program (e).
type Linear struct {
	W, B    *trackable.Variable
	Predict *function.Func[Features, Scores] // edge "predict"
}

func newLinear() *Linear {
	m := &Linear{
		W: trackable.NewVariable(tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2))),
		B: trackable.NewVariable(tensor.Vector[float32](0.5, -0.5)),
	}
	m.Predict = function.New(m.predict)
	return m
}

func (m *Linear) predict(s *ops.Scope, in Features) Scores {
	return Scores{ops.Softmax(s, ops.Add(s, ops.MatMul(s, in.X, m.W), m.B))}
}

func TestSaveLinear(t *testing.T) {
	ctx := context.Background()
	m := newLinear()
	serve, err := m.Predict.Trace(Features{X: ops.Spec(tensor.Float32, -1, 4)})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("/tmp/h/core", "linear")
	for range 2 {
		if err := savedmodel.Save(ctx, m, dir, &savedmodel.SaveOptions{Signatures: map[string]*function.Concrete{"serving_default": serve},
			Log: func(s savedmodel.Saved) { t.Logf("%+v", s) }}); err != nil {
			t.Fatal(err)
		}
	}
}
