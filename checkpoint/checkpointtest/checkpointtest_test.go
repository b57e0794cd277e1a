package checkpointtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// recorder is a testing.TB that keeps its messages.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper()                      {}
func (r *recorder) Errorf(f string, args ...any) { r.said = append(r.said, fmt.Sprintf(f, args...)) }
func (r *recorder) wants(t *testing.T, words ...string) {
	t.Helper()
	all := strings.Join(r.said, "\n")
	if len(words) == 0 && all != "" {
		t.Errorf("it said:\n%s", all)
	}
	for _, w := range words {
		if !strings.Contains(all, w) {
			t.Errorf("it doesn't say %q:\n%s", w, all)
		}
	}
}

type model struct {
	trackable.Base
	Kernel, Bias *trackable.Variable
}

func newModel() *model {
	return &model{Kernel: trackable.NewVariable(tensor.Vector[float32](1, 2)), Bias: trackable.NewVariable(tensor.Scalar(0.5))}
}

func TestKeys(t *testing.T) {
	golden := filepath.Join(t.TempDir(), "sub", "model.keys")
	r := &recorder{TB: t}
	Keys(r, newModel(), golden)
	r.wants(t, "no golden file", UpdateEnv)

	t.Setenv(UpdateEnv, "1")
	Keys(t, newModel(), golden)
	t.Setenv(UpdateEnv, "")
	Keys(t, newModel(), golden)
	text, err := os.ReadFile(golden)
	if want := "bias/.ATTRIBUTES/VARIABLE_VALUE float64[]\nkernel/.ATTRIBUTES/VARIABLE_VALUE float32[2]\n"; err != nil || string(text) != want {
		t.Errorf("golden file %q, %v", text, err)
	}
	r = &recorder{TB: t}
	Keys(r, &struct{ Kernel, Offset *trackable.Variable }{newModel().Kernel, newModel().Bias}, golden)
	r.wants(t, "older checkpoints won't restore", "bias/", "offset/")
	r = &recorder{TB: t}
	Keys(r, 3, golden)
	r.wants(t, "checkpoint")
}

func TestCheck(t *testing.T) {
	Check(t, func() any { return newModel() })
	for name, c := range map[string]struct {
		build func() any
		want  string
	}{
		"one object":       {func() any { return shared }, "new object each time"},
		"made on the call": {func() any { return new(restless) }, "don't make them on every call"},
		"greedy":           {func() any { return new(greedy) }, "may still get"},
		"forgetful":        {func() any { n++; return &forgetful{n} }, "differs after"},
		"unexported":       {func() any { return &struct{ v *trackable.Variable }{} }, "isn't exported"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{TB: t}
			Check(r, c.build)
			r.wants(t, c.want)
		})
	}
}

var (
	shared = newModel()
	n      float32
)

type restless struct{ _ int }

func (*restless) TrackableChildren() []trackable.Edge {
	return []trackable.Edge{{Name: "v", Child: newModel()}}
}

type greedy struct {
	model
	W trackable.Variable
}

func (*greedy) AcceptsChild(string) bool { return true }

type forgetful struct{ x float32 }

func (f *forgetful) SerializeToTensors() ([]trackable.Attribute, error) {
	return []trackable.Attribute{{Name: "x", Tensor: tensor.Scalar(f.x)}}, nil
}

func (*forgetful) RestoreFromTensors(map[string]*tensor.Tensor) error { return nil }
