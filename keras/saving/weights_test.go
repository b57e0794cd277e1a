package saving_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/saving"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// stacked returns the sequential model of testdata/make_weights.py.
func stacked() *keras.Sequential {
	frozen := keras.Named("frozen", &layers.Dense{Units: 3})
	frozen.NotTrainable = true
	return keras.NewSequential(
		keras.Named("both", &layers.Bidirectional{Inner: &layers.LSTM{Units: 2, ReturnSequences: true}}),
		keras.Named("cells", &layers.RNN{Cell: &layers.StackedRNNCells{Cells: []layers.Cell{&layers.LSTMCell{Units: 2}, &layers.GRUCell{Units: 3}}}, ReturnSequences: true}),
		keras.Named("steps", &layers.TimeDistributed{Inner: &layers.Dense{Units: 3}}),
		keras.Named("norm", &layers.BatchNormalization{}),
		keras.Named("conv", &layers.SeparableConv1D{Filters: 2, KernelSize: []int{2}}),
		keras.Named("flat", &layers.Flatten{}),
		keras.NewSequential(frozen, keras.Named("inner_norm", &layers.BatchNormalization{}), keras.Named("thawed", &layers.Dense{Units: 4})),
		keras.Named("dense", &layers.Dense{Units: 2}),
		keras.Named("last", &layers.Dense{Units: 2}),
	)
}

// part is the layer of testdata/make_weights.py.
type part struct {
	keras.Layer
	Z, A  *layers.Dense
	Li    []keras.Callable
	Fixed *trackable.Variable `cairn:"-"`
	Scale *trackable.Variable `cairn:"-"`
}

func (p *part) Weights(in keras.Shapes) ([]keras.Weight, error) {
	n, err := in.Last()
	return []keras.Weight{
		{To: &p.Fixed, Edge: "fixed", Shape: tensor.Shape{n}, NotTrainable: true},
		{To: &p.Scale, Edge: "scale", Shape: tensor.Shape{n}, Init: initializers.Ones{}},
	}, err
}

func (p *part) Call(s *ops.Scope, x ops.Input) *ops.Value { return p.Run(s, p, x, nil) }

func (p *part) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	y := p.Li[1].Call(s, p.Li[0].Call(s, p.A.Call(s, p.Z.Call(s, x))))
	return ops.Add(s, ops.Mul(s, y, p.Scale), p.Fixed)
}

// net is the subclassed model of testdata/make_weights.py.
type net struct {
	keras.Model
	O, D   *layers.Dense
	Blocks []*layers.Dense
	Part   *part
	Attend *layers.MultiHeadAttention
}

func newNet() *net {
	dense := func() *layers.Dense { return &layers.Dense{Units: 3} }
	return &net{O: dense(), D: dense(), Blocks: []*layers.Dense{dense(), dense()},
		Part:   &part{Z: dense(), A: dense(), Li: []keras.Callable{dense(), &layers.BatchNormalization{}}},
		Attend: &layers.MultiHeadAttention{NumHeads: 2, KeyDim: 2}}
}

func (n *net) Call(s *ops.Scope, x ops.Input) *ops.Value {
	v := n.Part.Call(s, n.Blocks[1].Call(s, n.Blocks[0].Call(s, n.D.Call(s, n.O.Call(s, x)))))
	return n.Attend.Run(s, n.Attend, []*ops.Value{v, v}, nil)
}

func fixture(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	return unzipped(t, b)
}

func unzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return b
}

func open(t *testing.T, b []byte) *kerasfile.File {
	t.Helper()
	f, err := kerasfile.Open(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func outputs(t *testing.T) map[string]*tensor.Tensor { return arrays(t, "outputs.npz") }

// arrays returns the arrays of a file in testdata.
func arrays(t *testing.T, file string) map[string]*tensor.Tensor {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	z, err := tensor.OpenNPZ(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*tensor.Tensor{}
	for _, name := range z.Names() {
		if out[name], err = z.Read(context.Background(), name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func call(t *testing.T, m keras.Callable, x *tensor.Tensor) *tensor.Tensor {
	t.Helper()
	s := function.Eager(context.Background())
	y, err := m.Call(s, x).Tensor()
	if err != nil {
		t.Fatal(err)
	}
	return y
}

func compare(t *testing.T, got, want *tensor.Tensor) {
	t.Helper()
	a, b := tensor.Values[float32](got), tensor.Values[float32](want)
	if len(a) != len(b) {
		t.Fatalf("got the shape %v, want %v", got.Shape(), want.Shape())
	}
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 1e-5*max(1, math.Abs(float64(b[i]))) {
			t.Fatalf("element %d: got %v, want %v", i, a[i], b[i])
		}
	}
}

func model(name string) keras.Callable {
	if strings.HasSuffix(name, "_net") {
		return newNet()
	}
	return stacked()
}

var files = []string{
	"keras2_stacked.weights.h5", "keras2_stacked.h5", "keras2_stacked.keras", "keras2_net.weights.h5", "keras2_net.h5",
	"keras3_stacked.weights.h5", "keras3_stacked.keras", "keras3_net.weights.h5",
}

func TestLoadedWeightsGiveTheOutputsOfKeras(t *testing.T) {
	want := outputs(t)
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			name, _, _ := strings.Cut(file, ".")
			m := model(name)
			call(t, m, want["x"]) // builds it
			report, err := saving.LoadWeightsFrom(context.Background(), m, open(t, fixture(t, file)), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Skipped) > 0 {
				t.Errorf("skipped: %q", report.Skipped)
			}
			compare(t, call(t, m, want["x"]), want[name])
		})
	}
}

func TestWrittenWeightsAreThoseOfTfKeras(t *testing.T) {
	x := outputs(t)["x"]
	ctx := context.Background()
	for _, file := range []string{"keras2_stacked.weights.h5", "keras2_stacked.h5", "keras2_net.weights.h5", "keras2_net.h5"} {
		t.Run(file, func(t *testing.T) {
			name, _, _ := strings.Cut(file, ".")
			m := model(name)
			if n, ok := m.(*net); ok {
				named(n)
			}
			call(t, m, x)
			theirs := open(t, fixture(t, file))
			opts, save := &saving.LoadOptions{}, &saving.SaveOptions{}
			if theirs.Format == kerasfile.Weights {
				opt := optimizers.NewAdam(0.01)
				if err := opt.SetLayout(optimizers.NewLayout); err != nil {
					t.Fatal(err)
				}
				opts.Optimizer, save.Optimizer = opt, opt
			}
			if _, err := saving.LoadWeightsFrom(ctx, m, theirs, opts); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := saving.WriteWeights(ctx, &b, m, theirs.Format, save); err != nil {
				t.Fatal(err)
			}
			ours := open(t, b.Bytes())
			same(t, ours, theirs)
		})
	}
}

// named sets the layers of a net to their names in make_weights.py.
func named(n *net) {
	for name, l := range map[string]base.LayerLike{"net": n, "o": n.O, "d": n.D, "b_0": n.Blocks[0], "b_1": n.Blocks[1], "part": n.Part,
		"z": n.Part.Z, "a": n.Part.A, "li_0": n.Part.Li[0].(base.LayerLike), "li_1": n.Part.Li[1].(base.LayerLike), "attend": n.Attend} {
		l.AsLayer().Name = name
	}
}

// same compares the groups that have weights, metrics left out.
func same(t *testing.T, ours, theirs *kerasfile.File) {
	t.Helper()
	list := func(f *kerasfile.File) (out []kerasfile.Group) {
		for _, g := range f.Groups {
			if len(g.Weights) > 0 && !strings.HasPrefix(g.Path, "metrics/") {
				out = append(out, g)
			}
		}
		return out
	}
	a, b := list(ours), list(theirs)
	if len(a) != len(b) {
		t.Fatalf("got %d groups with weights, want %d", len(a), len(b))
	}
	for i := range b {
		if a[i].Path != b[i].Path || len(a[i].Weights) != len(b[i].Weights) {
			t.Fatalf("group %d: got %s with %d weights, want %s with %d", i, a[i].Path, len(a[i].Weights), b[i].Path, len(b[i].Weights))
		}
		for j, w := range b[i].Weights {
			v := a[i].Weights[j]
			if v.Path != w.Path || v.Name != w.Name || v.DType != w.DType {
				t.Errorf("weight %d of %s: got %s (%v), want %s (%v)", j, b[i].Path, v.Path, v.DType, w.Path, w.DType)
				continue
			}
			x, err := v.Read(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			y, err := w.Read(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(x.Bytes(), y.Bytes()) {
				t.Errorf("%s: the values differ", w.Path)
			}
		}
	}
}

func TestWeightsLoadByNameWhereTheModelHasTheLayer(t *testing.T) {
	want := outputs(t)
	m := keras.NewSequential(&layers.Flatten{}, keras.Named("other", &layers.Dense{Units: 4}), keras.Named("last", &layers.Dense{Units: 2}))
	call(t, m, want["x"])
	f := open(t, fixture(t, "keras2_stacked.h5"))
	_, err := saving.LoadWeightsFrom(context.Background(), m, f, &saving.LoadOptions{ByName: true})
	var mismatch *saving.MismatchError
	if !errors.As(err, &mismatch) || mismatch.Layer != "last" {
		t.Fatalf("got %v, want a mismatch of the layer last, whose kernel has another shape", err)
	}
	report, err := saving.LoadWeightsFrom(context.Background(), m, f, &saving.LoadOptions{ByName: true, SkipMismatch: true})
	if err != nil || len(report.Skipped) != 1 {
		t.Fatalf("got %v, %+v; want one layer skipped", err, report)
	}
	m = keras.NewSequential(&layers.Flatten{}, keras.Named("other", &layers.Dense{Units: 2}), keras.Named("last", &layers.Dense{Units: 2}))
	call(t, m, want["x"])
	last := m.Layers[2].(*layers.Dense)
	if _, err := saving.LoadWeightsFrom(context.Background(), m, f, &saving.LoadOptions{ByName: true}); err != nil {
		t.Fatal(err)
	}
	kernel, err := f.Group("last").Weights[0].Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	compare(t, last.Kernel.Load(), kernel)
}

func TestLoadRefusesWhatDoesNotFit(t *testing.T) {
	x := outputs(t)["x"]
	ctx := context.Background()
	built := func(m keras.Callable) keras.Callable { call(t, m, x); return m }
	for name, c := range map[string]struct {
		model keras.Callable
		file  string
		want  string
	}{
		"a model that is not built":   {stacked(), "keras2_stacked.weights.h5", "build the model before"},
		"a model with fewer layers":   {built(keras.NewSequential(keras.Named("a", &layers.Dense{Units: 2}))), "keras2_stacked.h5", "8 layers with weights"},
		"a model of other layers":     {built(keras.NewSequential(&layers.Flatten{})), "keras2_stacked.weights.h5", "no such layer"},
		"a layer of another shape":    {built(keras.NewSequential(&layers.Dense{Units: 7})), "keras2_net.weights.h5", "shape"},
		"a file of the other version": {built(newNet()), "keras2_stacked.keras", "weights"},
	} {
		t.Run(name, func(t *testing.T) {
			var before []*tensor.Tensor
			for _, v := range keras.Variables(c.model) {
				before = append(before, v.Load())
			}
			_, err := saving.LoadWeightsFrom(ctx, c.model, open(t, fixture(t, c.file)), nil)
			var mismatch *saving.MismatchError
			if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want a mismatch that says %q", err, c.want)
			}
			for i, v := range keras.Variables(c.model) {
				if !bytes.Equal(v.Load().Bytes(), before[i].Bytes()) {
					t.Fatalf("%v was changed", v)
				}
			}
		})
	}
}

// nested has a layer in a place that Keras 2 doesn't search.
type nested struct {
	keras.Layer
	Lists [][]*layers.Dense
}

func (n *nested) Call(s *ops.Scope, x ops.Input) *ops.Value { return n.Run(s, n, x, nil) }

func (n *nested) Compute(s *ops.Scope, x *ops.Value) *ops.Value { return n.Lists[0][0].Call(s, x) }

func TestSaveRefusesToLoseWeights(t *testing.T) {
	ctx := context.Background()
	m := keras.NewSequential(&nested{Lists: [][]*layers.Dense{{{Units: 2}}}})
	call(t, m, outputs(t)["x"])
	path := filepath.Join(t.TempDir(), "m.weights.h5")
	if err := saving.SaveWeights(ctx, m, path, nil); err == nil || !strings.Contains(err.Error(), "no place for 2 variables") {
		t.Errorf("got %v, want an error about two variables without a place", err)
	}
	if list, _ := os.ReadDir(filepath.Dir(path)); len(list) > 0 {
		t.Errorf("left %v", list)
	}
	legacy := optimizers.NewAdam(0.1)
	m = keras.NewSequential(&layers.Dense{Units: 2})
	call(t, m, outputs(t)["x"])
	if err := saving.SaveWeights(ctx, m, path, &saving.SaveOptions{Optimizer: legacy}); err == nil || !strings.Contains(err.Error(), "legacy layout") {
		t.Errorf("got %v, want an error about the legacy layout", err)
	}
	if err := saving.SaveWeights(ctx, m, path, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := saving.LoadWeights(ctx, m, path, nil); err != nil {
		t.Fatal(err)
	}
}
