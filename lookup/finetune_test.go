package lookup_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/lookup"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// textModel sums up the vectors of words.
type textModel struct {
	trackable.Base
	Words   *lookup.StaticHashTable
	Vectors *trackable.Variable
	Score   *function.Func[*ops.Value, *ops.Value]
}

// TestLoadedTextModelsAreTrainedTraced: a loaded function with a table is applied in a trace and
// differentiated there, as eagerly. Arguments of another type are an error.
func TestLoadedTextModelsAreTrainedTraced(t *testing.T) {
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "m")
	m := &textModel{Vectors: trackable.NewVariable(tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6}, 3, 2)))}
	m.Words = must(lookup.NewStaticHashTable(lookup.KeyValueTensorInitializer{Keys: []string{"x", "y"}, Values: []int64{1, 2}}, 0, nil))
	m.Score = function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		return ops.Sum(s, ops.Gather(s, ops.ReadVariable(s, m.Vectors), m.Words.Lookup(s, x)))
	})
	if _, err := m.Score.Trace(ops.Spec(tensor.String, -1)); err != nil {
		t.Fatal(err)
	}
	if err := savedmodel.Save(ctx, m, dir, nil); err != nil {
		t.Fatal(err)
	}
	loaded, err := run.Load(ctx, os.DirFS(dir), &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := loaded.Function("score")
	if err != nil {
		t.Fatal(err)
	}
	words := tensor.Vector("y", "none", "y")
	score, err := f.Concrete(ctx, []any{words}, nil)
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := loaded.Variable("vectors")
	if err != nil {
		t.Fatal(err)
	}
	step := func(s *ops.Scope, x *ops.Value) []*ops.Value {
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return function.Apply(s, score, x)[0] })
		g := tape.Gradient(loss, []*trackable.Variable{vectors})[0].Grad
		ops.AssignSub(s, vectors, g)
		return []*ops.Value{loss, g, ops.ReadVariable(s, vectors)}
	}
	for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
		vectors.Store(tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6}, 3, 2)))
		out, err := function.New(step, &function.Options{Mode: mode}).Call(ctx, ops.ValueOf(words))
		if err != nil {
			t.Fatalf("mode %v: %v", mode, err)
		}
		for i, want := range [][]float32{{25}, {1, 1, 0, 0, 2, 2}, {0, 1, 3, 4, 3, 4}} {
			if got := floats(out[i]); !slices.Equal(got, want) {
				t.Errorf("mode %v: result %d is %v, want %v", mode, i, got, want)
			}
		}
		wrong := func(s *ops.Scope, x *ops.Value) *ops.Value { return function.Apply(s, score, x)[0] }
		_, err = function.New(wrong, &function.Options{Mode: mode}).Call(ctx, ops.ValueOf(tensor.Vector[int64](1, 2)))
		if err == nil || !strings.Contains(err.Error(), "int64") || !strings.Contains(err.Error(), "string") {
			t.Errorf("mode %v: an argument of another type gives %v", mode, err)
		}
	}
}
