package savedmodel_test

import (
	"bytes"
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	fn "github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

type Features struct{ X *ops.Value }
type Scores struct{ Probs *ops.Value }

// Linear is the model of the program (e).
type Linear struct {
	W, B    *trackable.Variable
	Predict *fn.Func[Features, Scores] // edge "predict"
}

func newLinear() *Linear {
	m := &Linear{
		W: trackable.NewVariable(tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2))),
		B: trackable.NewVariable(tensor.Vector[float32](0.5, -0.5)),
	}
	m.Predict = fn.New(m.predict)
	return m
}

func (m *Linear) predict(s *ops.Scope, in Features) Scores {
	return Scores{ops.Softmax(s, ops.Add(s, ops.MatMul(s, in.X, m.W), m.B))}
}

func TestASavedModelIsReadAndRunAgain(t *testing.T) {
	ctx := context.Background()
	m := newLinear()
	serve, err := m.Predict.Trace(Features{X: ops.Spec(tensor.Float32, -1, 4)})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "linear")
	var first []byte
	for range 2 { // the second save replaces the first one's directory
		opts := &savedmodel.SaveOptions{Signatures: map[string]*fn.Concrete{"serving_default": serve}}
		if err := savedmodel.Save(ctx, m, dir, opts); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, savedmodel.GraphFile))
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(b, first) {
			t.Error("the second save of the same model wrote other bytes")
		}
		first = b
	}
	model, err := run.Load(ctx, os.DirFS(dir), &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.Must(tensor.New([]float32{0, 1, 2, 3, 4, 5, 6, 7}, 2, 4))
	out, err := model.Call(ctx, "serving_default", map[string]*tensor.Tensor{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Predict.Call(ctx, Features{X: ops.ValueOf(x)})
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := want.Probs.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	got := out["probs"]
	if got == nil || !got.Shape().Equal(wanted.Shape()) {
		t.Fatalf("the loaded model returns %v, the saved one %v", got, wanted)
	}
	// A loaded model runs under passes that may round otherwise.
	for i, v := range tensor.Values[float32](got) {
		if w := tensor.Values[float32](wanted)[i]; math.Abs(float64(v-w)) > 1e-6 {
			t.Errorf("element %d is %v, of the saved model %v", i, v, w)
		}
	}
}

// subFS returns a folder of a directory.
func subFS(fsys fs.FS, name string) (fs.FS, error) { return fs.Sub(fsys, name) }
