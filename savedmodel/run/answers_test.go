package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// answer is a call of a signature or a function with the results that
// TensorFlow computed.
type answer struct {
	Tags      []string
	Signature string
	In, Out   map[string]plain
	Function  string
	Args      []structured
	Kwargs    map[string]structured
	Result    *structured
	Error     string
}

type plain struct {
	DType   string
	Shape   []int
	Values  []float64
	Strings []string
}

func (p plain) tensor(t testing.TB) *tensor.Tensor {
	t.Helper()
	d, err := tensor.ParseDType(p.DType)
	if err != nil {
		t.Fatal(err)
	}
	if d == tensor.String {
		return tensor.Must(tensor.FromStrings(d, p.Strings, p.Shape...))
	}
	return tensor.Must(tensor.Cast(tensor.Must(tensor.New(p.Values, p.Shape...)), d))
}

// structured is the JSON of a structured value; the fixtures' generator
// documents the form.
type structured struct {
	Tensor    *plain
	None      bool
	Bool      *bool
	Int       *int
	Float     *float64
	Str       *string
	DType     *string
	List      *[]structured
	Tuple     *[]structured
	Dict      map[string]structured
	Composite []plain
}

func (s structured) value(t testing.TB) any {
	all := func(list []structured) (out []any) {
		for _, x := range list {
			out = append(out, x.value(t))
		}
		return out
	}
	switch {
	case s.Tensor != nil:
		return s.Tensor.tensor(t)
	case s.Bool != nil:
		return *s.Bool
	case s.Int != nil:
		return *s.Int
	case s.Float != nil:
		return *s.Float
	case s.Str != nil:
		return *s.Str
	case s.DType != nil:
		d, err := tensor.ParseDType(*s.DType)
		if err != nil {
			t.Fatal(err)
		}
		return d
	case s.List != nil:
		return run.List(all(*s.List))
	case s.Tuple != nil:
		return run.Tuple(all(*s.Tuple))
	case s.Dict != nil:
		out := map[string]any{}
		for k, x := range s.Dict {
			out[k] = x.value(t)
		}
		return out
	case s.Composite != nil:
		var out run.Composite
		for _, p := range s.Composite {
			out = append(out, p.tensor(t))
		}
		return out
	}
	return nil
}

// same compares structured values, tensors to within rounding.
func same(got, want any) bool {
	switch w := want.(type) {
	case *tensor.Tensor:
		g, ok := got.(*tensor.Tensor)
		return ok && close(g, w)
	case run.Composite:
		g, ok := got.(run.Composite)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !close(g[i], w[i]) {
				return false
			}
		}
		return true
	case run.List:
		g, ok := got.(run.List)
		return ok && sameAll(g, w)
	case run.Tuple:
		g, ok := got.(run.Tuple)
		return ok && sameAll(g, w)
	case map[string]any:
		g, ok := got.(map[string]any)
		if n, isNamed := got.(*run.NamedTuple); isNamed { // which the file of answers has as a dict
			g, ok = map[string]any{}, true
			for i, k := range n.Keys {
				g[k] = n.Values[i]
			}
		}
		if !ok || len(g) != len(w) {
			return false
		}
		for k := range w {
			if !same(g[k], w[k]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(got, want)
}

func sameAll(got, want []any) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range want {
		if !same(got[i], want[i]) {
			return false
		}
	}
	return true
}

func close(got, want *tensor.Tensor) bool {
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		return false
	}
	if got.DType() == tensor.String {
		return got.Equal(want)
	}
	g, w := tensor.Must(tensor.Cast(got, tensor.Float64)), tensor.Must(tensor.Cast(want, tensor.Float64))
	for i, x := range tensor.Values[float64](g) {
		y := tensor.Values[float64](w)[i]
		if math.Abs(x-y) > 1e-5*(1+math.Abs(y)) {
			return false
		}
	}
	return true
}

func load(t testing.TB, name string, tags ...string) *run.Model {
	t.Helper()
	m, err := run.Load(context.Background(), os.DirFS(filepath.Join("../testdata", "models", name)), &run.LoadOptions{Kernels: kernel.All(), Tags: tags})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func readAnswers(t testing.TB, name string) []answer {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../testdata", "models", name, "answers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []answer
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestModelsAnswerAsTensorFlow(t *testing.T) {
	dirs, err := filepath.Glob("../testdata/models/*/answers.json")
	if err != nil || len(dirs) < 19 {
		t.Fatal(dirs, err)
	}
	for _, path := range dirs {
		name := filepath.Base(filepath.Dir(path))
		t.Run(name, func(t *testing.T) {
			models := map[string]*run.Model{}
			for i, a := range readAnswers(t, name) {
				key := strings.Join(a.Tags, ",")
				if models[key] == nil {
					models[key] = load(t, name, a.Tags...)
				}
				check(t, models[key], i, a)
			}
		})
	}
}

func check(t *testing.T, m *run.Model, i int, a answer) {
	t.Helper()
	ctx := context.Background()
	if a.Function != "" {
		checkFunction(t, m, i, a)
		return
	}
	in := map[string]*tensor.Tensor{}
	for k, p := range a.In {
		in[k] = p.tensor(t)
	}
	if a.Signature == "" {
		a.Signature = "serving_default"
	}
	out, err := m.Call(ctx, a.Signature, in)
	if a.Error != "" {
		if err == nil {
			t.Errorf("call %d, %s: got %v, TensorFlow gave a %s", i, a.Signature, out, a.Error)
		}
		return
	}
	if err != nil {
		t.Errorf("call %d, %s: %v", i, a.Signature, err)
		return
	}
	if len(out) != len(a.Out) {
		t.Errorf("call %d, %s: %d outputs, want %d", i, a.Signature, len(out), len(a.Out))
	}
	for k, p := range a.Out {
		if want := p.tensor(t); out[k] == nil || !close(out[k], want) {
			t.Errorf("call %d, %s: %s is %v, want %v", i, a.Signature, k, out[k], want)
		}
	}
}

func checkFunction(t *testing.T, m *run.Model, i int, a answer) {
	t.Helper()
	f, err := m.Function(a.Function)
	if err != nil {
		t.Error(err)
		return
	}
	var args []any
	for _, x := range a.Args {
		args = append(args, x.value(t))
	}
	kwargs := map[string]any{}
	for k, x := range a.Kwargs {
		kwargs[k] = x.value(t)
	}
	got, err := f.Call(context.Background(), args, kwargs)
	if a.Error != "" {
		var no *run.MatchError
		if !errors.As(err, &no) || len(no.Candidates) == 0 {
			t.Errorf("call %d, %s: %v, TensorFlow gave a %s", i, a.Function, err, a.Error)
		}
		return
	}
	if err != nil {
		t.Errorf("call %d, %s: %v", i, a.Function, err)
		return
	}
	if want := a.Result.value(t); !same(got, want) {
		t.Errorf("call %d, %s: got %v, want %v", i, a.Function, got, want)
	}
}
