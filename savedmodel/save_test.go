package savedmodel_test

import (
	"bytes"
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	fn "github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
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

// subFS returns a directory of a directory.
func subFS(fsys fs.FS, name string) (fs.FS, error) { return fs.Sub(fsys, name) }

func TestTheOnlyFunctionIsTheDefaultSignature(t *testing.T) {
	type root struct {
		V       *trackable.Variable
		Predict *fn.Func[Features, Scores]
		Other   *fn.Func[*ops.Value, *ops.Value] // takes anything
	}
	v := trackable.NewVariable(tensor.Scalar[float32](2))
	predict := func(s *ops.Scope, in Features) Scores { return Scores{ops.Mul(s, in.X, v)} }
	signed := fn.New(predict, &fn.Options{Signature: Features{ops.Spec(tensor.Float32, -1)}})
	free := fn.New(predict)
	other := fn.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Neg(s, x) })
	example := Features{ops.Spec(tensor.Float32, -1)}
	for _, f := range []*fn.Func[Features, Scores]{signed, free} {
		if _, err := f.Trace(example); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := other.Trace(ops.Spec(tensor.Float32)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		root root
		opts *savedmodel.SaveOptions
		want int
	}{
		{"a function with a signature", root{v, signed, other}, nil, 1},
		{"functions that take anything", root{v, free, other}, nil, 0},
		{"no signatures, explicitly", root{v, signed, other}, &savedmodel.SaveOptions{Signatures: map[string]*fn.Concrete{}}, 0},
	} {
		dir := vfs.MemDir()
		if err := savedmodel.SaveFS(context.Background(), &c.root, dir, "m", c.opts); err != nil {
			t.Fatal(err)
		}
		fsys, err := subFS(dir, "m")
		if err != nil {
			t.Fatal(err)
		}
		m, err := savedmodel.Read(context.Background(), fsys, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(m.MetaGraphs[0].Signatures); got != c.want {
			t.Errorf("%s: there are %d signatures, want %d", c.name, got, c.want)
		}
	}
}

func TestTheDefaultSignatureIsChosenAsInTensorFlow(t *testing.T) {
	type nested struct{ Inner Scores }
	x := Features{ops.Spec(tensor.Float32, -1)}
	scores := func(s *ops.Scope, in Features) Scores { return Scores{ops.Neg(s, in.X)} }
	signed := func() *fn.Func[Features, Scores] { return fn.New(scores, &fn.Options{Signature: x}) }
	odd := fn.New(func(s *ops.Scope, in Features) nested { return nested{scores(s, in)} }, &fn.Options{Signature: x})
	named := fn.New(func(s *ops.Scope, in Features) *ops.Value { return ops.Abs(s, in.X) }, &fn.Options{Signature: x})
	none := fn.New(func(s *ops.Scope, in Features) struct{} { return struct{}{} }, &fn.Options{Signature: x})
	for _, c := range []struct {
		name string
		root any
		want string // the name of an output; empty: there is no signature
	}{
		{"a function with nested outputs is no candidate", &struct {
			A *fn.Func[Features, nested]
			B *fn.Func[Features, Scores]
		}{odd, signed()}, "probs"},
		{"a function without outputs is no candidate", &struct {
			A *fn.Func[Features, struct{}]
			B *fn.Func[Features, Scores]
		}{none, signed()}, "probs"},
		{"the named edge after two candidates", &struct {
			A, B  *fn.Func[Features, Scores]
			Named *fn.Func[Features, *ops.Value] `cairn:"_default_save_signature"`
		}{signed(), signed(), named}, "output_0"},
		{"two candidates", &struct{ A, B *fn.Func[Features, Scores] }{signed(), signed()}, ""},
		{"two candidates before one with nested outputs", &struct {
			A, B *fn.Func[Features, Scores]
			C    *fn.Func[Features, nested]
		}{signed(), signed(), odd}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := vfs.MemDir()
			if err := savedmodel.SaveFS(t.Context(), c.root, dir, "m", nil); err != nil {
				t.Fatal(err)
			}
			fsys, err := subFS(dir, "m")
			if err != nil {
				t.Fatal(err)
			}
			m, err := savedmodel.Read(t.Context(), fsys, nil)
			if err != nil {
				t.Fatal(err)
			}
			var outputs []string
			for _, s := range m.MetaGraphs[0].Signatures {
				for _, o := range s.Outputs {
					outputs = append(outputs, o.Name)
				}
			}
			if got := strings.Join(outputs, ","); got != c.want {
				t.Fatalf("the signatures' outputs are %q, want %q", got, c.want)
			}
		})
	}
	dir := vfs.MemDir()
	err := savedmodel.SaveFS(t.Context(), &struct {
		Named *fn.Func[Features, nested] `cairn:"_default_save_signature"`
	}{odd}, dir, "m", nil)
	if err == nil {
		t.Fatal("a named default signature with nested outputs was saved")
	}
}

func TestAModelIsSavedOverItself(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "m")
	words := filepath.Join(t.TempDir(), "words.txt")
	if err := os.WriteFile(words, []byte("a\nb\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	type root struct {
		V     *trackable.Variable
		Words *savedmodel.TrackableAsset
	}
	if err := savedmodel.Save(ctx, &root{trackable.NewVariable(tensor.Scalar[float32](2)), savedmodel.NewAsset(words)}, dir, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := savedmodel.Restore(ctx, os.DirFS(dir), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := savedmodel.Save(ctx, r.Root, dir, nil); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, savedmodel.AssetsDir, "words.txt")); err != nil || string(b) != "a\nb\n" {
		t.Errorf("the asset is %q, %v", b, err)
	}
}
