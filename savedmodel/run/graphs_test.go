package run_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// graphAnswer is a call of a GraphDef with the results of a session of
// TensorFlow.
type graphAnswer struct {
	Graph   string
	Feeds   map[string]plain
	Fetches []string
	Out     map[string]plain
	Error   string
}

// TestGraphDefsAnswerAsTensorFlow runs graphs alone by feeds and fetches.
func TestGraphDefsAnswerAsTensorFlow(t *testing.T) {
	dir := os.DirFS("../testdata/graphs")
	b, err := os.ReadFile("../testdata/graphs/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []graphAnswer
	if err := json.Unmarshal(b, &list); err != nil || len(list) == 0 {
		t.Fatal(err)
	}
	models := map[string]*run.Model{}
	for i, a := range list {
		m := models[a.Graph]
		if m == nil {
			if m, err = run.LoadGraphDef(t.Context(), dir, a.Graph, &run.LoadOptions{Kernels: kernel.All()}); err != nil {
				t.Fatal(err)
			}
			models[a.Graph] = m
		}
		in := map[string]*tensor.Tensor{}
		for k, p := range a.Feeds {
			in[k] = p.tensor(t)
		}
		var out map[string]*tensor.Tensor
		s, err := m.Prune(slices.Sorted(maps.Keys(in)), a.Fetches)
		if err == nil {
			out, err = s.Call(t.Context(), in)
		}
		switch {
		case a.Error != "":
			if err == nil || a.Graph == "branches.pb" && !errors.Is(err, engine.ErrDead) {
				t.Errorf("call %d, %s %v: %v, got %v, TensorFlow gave a %s", i, a.Graph, a.Fetches, err, out, a.Error)
			}
			continue
		case err != nil:
			t.Errorf("call %d, %s %v: %v", i, a.Graph, a.Fetches, err)
			continue
		case len(out) != len(a.Out):
			t.Errorf("call %d, %s: %d outputs, want %d", i, a.Graph, len(out), len(a.Out))
		}
		for k, p := range a.Out {
			if want := p.tensor(t); out[k] == nil || !close(out[k], want) {
				t.Errorf("call %d, %s: %s is %v, want %v", i, a.Graph, k, out[k], want)
			}
		}
	}
}

// TestEndpointsOfAGraphDef checks the feeds and fetches that are proposed for a
// GraphDef.
func TestEndpointsOfAGraphDef(t *testing.T) {
	m, err := run.LoadGraphDef(t.Context(), os.DirFS("../testdata/graphs"), "frozen.pb", &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	feeds, fetches, err := m.MetaGraph().Endpoints()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		what string
		list []savedmodel.TensorInfo
		want []string
	}{
		{"feeds", feeds, []string{"scale: float32[] (scale:0)", "who: string[] (who:0)", "x: float32[?,3] (x:0)"}},
		{"fetches", fetches, []string{"hello: string<unknown> (hello:0)", "top: float32<unknown> (top:0)", "top:1: int32<unknown> (top:1)"}},
	} {
		var got []string
		for _, f := range x.list {
			got = append(got, f.String())
		}
		if slices.Sort(got); !slices.Equal(got, x.want) {
			t.Errorf("%s: got %q, want %q", x.what, got, x.want)
		}
	}
	if names, err := m.Placeholders([]string{"top:1"}); err != nil || !slices.Equal(names, []string{"x"}) {
		t.Errorf("top:1 needs %v, %v", names, err)
	}
}

// TestReadingOtherFilesAsGraphDefFails checks that each error names the kind of file.
func TestReadingOtherFilesAsGraphDefFails(t *testing.T) {
	o := &run.LoadOptions{Kernels: kernel.All()}
	_, err := run.LoadGraphDef(t.Context(), os.DirFS("../testdata/models/table"), "saved_model.pb", o)
	var format *savedmodel.FormatError
	if !errors.As(err, &format) {
		t.Errorf("a SavedModel: %v", err)
	}
	if _, err = run.LoadGraphDef(t.Context(), os.DirFS("../testdata/graphs"), "answers.json", o); err == nil {
		t.Error("JSON is a graph")
	}
	if _, err = run.LoadGraphDef(t.Context(), os.DirFS("."), "none.pb", o); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
