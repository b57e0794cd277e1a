package metrics_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// metricCase is a case that testdata/gen_metrics.py has run.
type metricCase struct {
	Name           string
	KerasName      string `json:"keras_name"`
	Updates        [][]string
	Config, Legacy json.RawMessage
	Early, Graph   []string
	Variables      []string
}

type metricFixture struct {
	Cases  []metricCase
	Chosen []struct {
		Identifier, Type, Name, Fn string
		Truth, Predicted           tensor.Shape
	}
	Names map[string]string
}

func fixture(t *testing.T) (f metricFixture, arrays map[string]*tensor.Tensor) {
	kerastest.JSON(t, "testdata/metrics.json", &f)
	return f, kerastest.Arrays(t, "testdata/metrics.npz")
}

// valued is implemented by metrics of values.
type valued interface {
	metrics.Accumulator
	Update(s *ops.Scope, values, weights ops.Input)
}

func update(s *ops.Scope, m metrics.Accumulator, in []*ops.Value) {
	var weights ops.Input
	last := func(n int) {
		if len(in) > n {
			weights = in[n]
		}
	}
	if w, ok := m.(*metrics.SumOverBatchSizeMetricWrapper); ok {
		w.Fn = losses.Func(losses.MeanSquaredError{}.Call) // which no config has
	}
	switch m := m.(type) {
	case valued:
		last(1)
		m.Update(s, in[0], weights)
	case metrics.Metric:
		last(2)
		m.Update(s, in[0], in[1], weights)
	}
}

func tolerance(d tensor.DType) float64 {
	if d == tensor.Float16 {
		return 5e-3
	}
	return 2e-5
}

func TestMetricsAreTfKeras(t *testing.T) {
	f, arrays := fixture(t)
	if len(f.Cases) < 180 {
		t.Fatalf("only %d cases", len(f.Cases))
	}
	classes := map[string]bool{}
	for _, c := range f.Cases {
		make := func(t *testing.T) metrics.Accumulator {
			m, err := metrics.Get(c.Config)
			kerastest.Must(t, err)
			return m
		}
		classes[fmt.Sprintf("%T", make(t))] = true
		t.Run(c.Name, func(t *testing.T) {
			t.Run("config", func(t *testing.T) {
				for form, data := range map[string]json.RawMessage{"new": c.Config, "legacy": c.Legacy} {
					m, err := metrics.Get(data)
					kerastest.Must(t, err)
					got, err := keras.Config(m, &keras.ConfigOptions{Legacy: form == "legacy"})
					kerastest.Must(t, err)
					kerastest.SameJSON(t, form, data, got)
					if name := metrics.NameOf(m); name != c.KerasName {
						t.Errorf("the name is %q, want %q", name, c.KerasName)
					}
				}
				if _, err := keras.FromConfig(c.Config, nil); err != nil {
					t.Error(err)
				}
			})
			t.Run("graph", func(t *testing.T) {
				m := make(t)
				if d := cmp.Diff(c.Early, edges(t, m)); d != "" {
					t.Errorf("before an update (-tf_keras +ours):\n%s", d)
				}
				s := function.Eager(context.Background())
				update(s, m, inputs(&c, arrays, 0))
				kerastest.Must(t, s.Err())
				if d := cmp.Diff(c.Graph, edges(t, m)); d != "" {
					t.Errorf("after an update (-tf_keras +ours):\n%s", d)
				}
			})
			t.Run("eager", func(t *testing.T) {
				m := make(t)
				s := function.Eager(context.Background())
				for i := range c.Updates {
					update(s, m, inputs(&c, arrays, i))
					kerastest.Must(t, s.Err())
					check(t, s, &c, arrays, m, i, m.Result(s))
				}
				m.Reset(s)
				if want := arrays[c.Name+"/reset"]; want != nil {
					kerastest.Near(t, "after a reset", m.Result(s), want, 0)
				}
				kerastest.Must(t, s.Err())
			})
			t.Run("traced", func(t *testing.T) {
				m := make(t)
				step := function.New(func(s *ops.Scope, in []*ops.Value) *ops.Value {
					update(s, m, in)
					return m.Result(s)
				}, &function.Options{Mode: function.Traced})
				for i := range c.Updates {
					out, err := step.Call(t.Context(), inputs(&c, arrays, i))
					kerastest.Must(t, err)
					check(t, function.Eager(t.Context()), &c, arrays, m, i, out)
				}
			})
		})
	}
	if len(classes) < 46 {
		t.Errorf("cases of only %d classes: %v", len(classes), classes)
	}
}

// inputs returns the arguments of update i.
func inputs(c *metricCase, arrays map[string]*tensor.Tensor, i int) []*ops.Value {
	var in []*ops.Value
	for _, key := range c.Updates[i] {
		in = append(in, ops.ValueOf(arrays[fmt.Sprintf("%s/%d/%s", c.Name, i, key)]))
	}
	return in
}

// check compares variables and a result with tf_keras's after update i.
func check(t *testing.T, s *ops.Scope, c *metricCase, arrays map[string]*tensor.Tensor, m metrics.Accumulator, i int, result *ops.Value) {
	t.Helper()
	want := arrays[fmt.Sprintf("%s/%d/result", c.Name, i)]
	tol := tolerance(want.DType())
	kerastest.Near(t, fmt.Sprintf("result %d", i), result, want, tol)
	var names []string
	for _, v := range metrics.Variables(m) {
		names = append(names, v.Name())
		kerastest.Near(t, fmt.Sprintf("%s %d", v.Name(), i), ops.ReadVariable(s, v), arrays[fmt.Sprintf("%s/%d/state/%s", c.Name, i, v.Name())], tol)
	}
	if !slices.Equal(names, c.Variables) {
		t.Errorf("the variables are %q, want %q", names, c.Variables)
	}
}

// edges saves a metric and lists its edges, and the full names and keys of its variables.
func edges(t *testing.T, m metrics.Accumulator) []string {
	t.Helper()
	ctx := t.Context()
	ck, err := checkpoint.New(&struct{ M metrics.Accumulator }{m}, nil)
	kerastest.Must(t, err)
	dir := vfs.MemDir()
	path, err := ck.SaveTo(ctx, dir, "x")
	kerastest.Must(t, err)
	r, err := bundle.Open(ctx, dir, path, nil)
	kerastest.Must(t, err)
	defer r.Close()
	raw, err := r.Read(ctx, trackable.ObjectGraphKey)
	kerastest.Must(t, err)
	text, err := tensor.Item[string](raw)
	kerastest.Must(t, err)
	var g pb.TrackableObjectGraph
	kerastest.Must(t, g.Unmarshal([]byte(text)))
	out := []string{}
	at := slices.IndexFunc(g.Nodes[0].Children, func(c *pb.ObjectReference) bool { return c.LocalName == "m" })
	for _, c := range g.Nodes[g.Nodes[0].Children[at].NodeId].Children {
		line := []string{c.LocalName}
		for _, a := range g.Nodes[c.NodeId].Attributes {
			line = append(line, a.FullName, a.CheckpointKey)
		}
		out = append(out, strings.Join(line, " "))
	}
	return out
}

func TestForChoosesAsCompileDoes(t *testing.T) {
	f, _ := fixture(t)
	if len(f.Chosen) < 77 {
		t.Fatalf("only %d choices", len(f.Chosen))
	}
	for _, c := range f.Chosen {
		m, err := metrics.For(c.Identifier, c.Truth, c.Predicted)
		kerastest.Must(t, err)
		if typ := strings.TrimPrefix(fmt.Sprintf("%T", m), "*metrics."); typ != c.Type || metrics.NameOf(m) != c.Name {
			t.Errorf("%s for %v, %v: %s %q, want %s %q", c.Identifier, c.Truth, c.Predicted, typ, metrics.NameOf(m), c.Type, c.Name)
		}
		if w, ok := m.(*metrics.MeanMetricWrapper); ok {
			if fn, ok := w.Fn.(interface{ Name() string }); !ok || fn.Name() != c.Fn {
				t.Errorf("%s for %v, %v: the function is %v, want %s", c.Identifier, c.Truth, c.Predicted, w.Fn, c.Fn)
			}
		}
	}
	for _, id := range []any{"acuracy", 3, nil, "Mean", []byte(`{"class_name": "AUC", "config": {"curve": "ROCK"}}`)} {
		if m, err := metrics.For(id, tensor.Shape{4}, tensor.Shape{4, 3}); err == nil {
			t.Errorf("For(%v) = %v", id, m)
		}
	}
}

func TestGetKnowsTfKerasNames(t *testing.T) {
	f, _ := fixture(t)
	for name, want := range f.Names {
		m, err := metrics.Get(name)
		kerastest.Must(t, err)
		if w, ok := m.(*metrics.MeanMetricWrapper); ok {
			if fn := w.Fn.(interface{ Name() string }); fn.Name() != want || metrics.NameOf(m) != name {
				t.Errorf("%s is the mean of %s, called %s; want %s", name, fn.Name(), metrics.NameOf(m), want)
			}
		} else if typ := strings.TrimPrefix(fmt.Sprintf("%T", m), "*metrics."); typ != want {
			t.Errorf("%s is %s, want %s", name, typ, want)
		}
	}
}
