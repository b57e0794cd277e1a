package convert_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

const models = "../savedmodel/testdata/models/"

func pattern(s string) []*regexp.Regexp { return []*regexp.Regexp{regexp.MustCompile(s)} }

func load(t *testing.T, dir string, tags ...string) *run.Model {
	t.Helper()
	m, err := run.Load(t.Context(), os.DirFS(dir), &run.LoadOptions{Kernels: kernel.All(), Tags: tags})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// answers calls a signature with made inputs: floats of unknown sizes are 2.
func answers(t *testing.T, m *run.Model, name string) map[string]*tensor.Tensor {
	t.Helper()
	sig, err := m.Signature(name)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	in := map[string]*tensor.Tensor{}
	for _, x := range sig.Inputs() {
		dims := x.Shape.Dims()
		for i, d := range dims {
			if d < 0 {
				dims[i] = 2
			}
		}
		v := tensor.Must(tensor.Zeros(x.DType, dims...))
		switch x.DType {
		case tensor.Float32:
			for i := range tensor.Values[float32](v) {
				tensor.Values[float32](v)[i] = r.Float32()
			}
		case tensor.String:
			for i := range v.Strings() {
				v.Strings()[i] = []string{"the cat", "a"}[i%2]
			}
		}
		in[x.Name] = v
	}
	out, err := sig.Call(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// far returns the largest difference between outputs.
func far(t *testing.T, a, b map[string]*tensor.Tensor) float64 {
	t.Helper()
	most := 0.0
	for name, x := range a {
		y := b[name]
		if y == nil || x.DType() != y.DType() || !x.Shape().Equal(y.Shape()) {
			t.Fatalf("%s: %v, want %v", name, y, x)
		}
		if x.DType() != tensor.Float32 {
			if !x.Equal(y) {
				most = math.Inf(1)
			}
			continue
		}
		for i, v := range tensor.Values[float32](x) {
			most = max(most, math.Abs(float64(v-tensor.Values[float32](y)[i])))
		}
	}
	return most
}

func TestEditedModelsAnswerAsBefore(t *testing.T) {
	for _, c := range []struct {
		model, name string
		edits       convert.ModelEdits
		within      float64
		variables   int
	}{
		{"mlp", "serving", convert.ModelEdits{Serving: true}, 0, 4},
		{"mlp", "frozen", convert.ModelEdits{Freeze: pattern(".")}, 0, 0},
		{"mlp", "cast", convert.ModelEdits{Cast: []convert.Cast{{Match: regexp.MustCompile("."), To: tensor.Float16}}}, 2e-3, 4},
		{"transformer", "serving, frozen", convert.ModelEdits{Serving: true, Freeze: pattern(".")}, 0, 0},
		{"transformer", "cast", convert.ModelEdits{Serving: true, Cast: []convert.Cast{{Match: regexp.MustCompile("kernel|embeddings"), To: tensor.BFloat16}}}, 5e-2, -1},
		{"lstm", "serving, frozen", convert.ModelEdits{Serving: true, Freeze: pattern(".")}, 0, 0},
		{"text", "serving", convert.ModelEdits{Serving: true}, 0, -1},
		{"tables", "serving", convert.ModelEdits{Serving: true}, 0, -1},
	} {
		t.Run(c.model+" "+c.name, func(t *testing.T) {
			dst := filepath.Join(t.TempDir(), "edited")
			if _, _, err := convert.EditModel(t.Context(), models+c.model, dst, c.edits, nil); err != nil {
				t.Fatal(err)
			}
			before, after := load(t, models+c.model), load(t, dst)
			signature := "serving_default"
			if _, err := before.Signature(signature); err != nil {
				signature = before.MetaGraph().Signatures[0].Name
			}
			if d := far(t, answers(t, before, signature), answers(t, after, signature)); d > c.within {
				t.Errorf("an answer is %g from the one before", d)
			} else if c.within > 0 && d == 0 {
				t.Error("the cast changed nothing")
			}
			if n := len(after.MetaGraph().Variables()); c.variables >= 0 && n != c.variables {
				t.Errorf("it has %d variables, want %d", n, c.variables)
			}
		})
	}
}

func TestSignaturesAndFunctionsAreChosenAndRenamed(t *testing.T) {
	dst := filepath.Join(t.TempDir(), "m")
	changes, _, err := convert.EditModel(t.Context(), models+"mlp", dst, convert.ModelEdits{
		Drop:   pattern(`^signatures\.serving_default$`),
		Rename: []convert.Rename{{Match: regexp.MustCompile(`^signatures\.serve$`), With: "signatures.predict"}},
		Tags:   []string{"gpu"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(changes) != 3 {
		t.Errorf("changes %+v", changes)
	}
	m := load(t, dst, "serve", "gpu")
	var names []string
	for _, s := range m.MetaGraph().Signatures {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"predict"}) {
		t.Errorf("signatures %v", names)
	}
	if d := far(t, answers(t, load(t, models+"mlp"), "serve"), answers(t, m, "predict")); d != 0 {
		t.Errorf("an answer is %g from the one before", d)
	}

	dst = filepath.Join(t.TempDir(), "kept")
	if _, _, err := convert.EditModel(t.Context(), models+"mlp", dst, convert.ModelEdits{Keep: pattern(`^signatures\.serve$`)}, nil); err != nil {
		t.Fatal(err)
	}
	if m := load(t, dst); len(m.MetaGraph().Signatures) != 1 || len(m.MetaGraph().Variables()) == 0 {
		t.Errorf("%d signatures, %d variables", len(m.MetaGraph().Signatures), len(m.MetaGraph().Variables()))
	}
}

func TestEditsOfModelsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		model string
		edits convert.ModelEdits
		want  string
	}{
		{"counter", convert.ModelEdits{Freeze: pattern(".")}, "it changes the variable"},
		{"mlp", convert.ModelEdits{Drop: pattern("^nothing$")}, "matches Edits.Drop"},
		{"mlp", convert.ModelEdits{Rename: []convert.Rename{{Match: regexp.MustCompile(`^signatures\.serve$`), With: "elsewhere"}}}, "below its object"},
		{"mlp", convert.ModelEdits{Rename: []convert.Rename{{Match: regexp.MustCompile(`^signatures\.serve$`), With: "signatures.serving_default"}}}, "already"},
		{"mlp", convert.ModelEdits{Cast: []convert.Cast{{Match: regexp.MustCompile("."), To: tensor.Int8}}}, "want a floating type"},
		{"mlp", convert.ModelEdits{Tags: []string{""}}, "a tag is empty"},
		{"tf1_graphs", convert.ModelEdits{Serving: true}, "want 1)"},
		{"tf1_init", convert.ModelEdits{Serving: true}, "no objects to edit"},
	} {
		dst := filepath.Join(t.TempDir(), "m")
		_, _, err := convert.EditModel(t.Context(), models+c.model, dst, c.edits, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.model, err, c.want)
		}
		if _, err := os.Stat(dst); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a refused edit left %v", c.model, err)
		}
	}
}

func TestADryRunOfAnEditWritesNothing(t *testing.T) {
	changes, res, err := convert.EditModel(t.Context(), models+"mlp", "", convert.ModelEdits{Serving: true, Freeze: pattern(".")}, nil)
	if err != nil || len(changes) == 0 || len(res.Files) != 0 {
		t.Errorf("%v %v %v", changes, res, err)
	}
}
