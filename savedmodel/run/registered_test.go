package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	fn "github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// stack is the object whose parts the fixture's saver writes as one tensor.
type stack struct {
	trackable.Base
	Parts []*trackable.Variable
}

// saverOf returns the fixture's saver for these stacks and their parts.
func saverOf(stacks ...*stack) fn.Saver {
	slices := func(s *ops.Scope, objs checkpoint.Objects) (out []ops.Slice) {
		for prefix, st := range checkpoint.Only[*stack](objs) {
			out = append(out, ops.Slice{Name: prefix + "/value", Value: ops.Zeros(s, tensor.Float32, len(st.Parts), 2)})
		}
		return out
	}
	return fn.Saver{
		Name: "Stacks",
		Matches: func(o trackable.Trackable) bool {
			for _, st := range stacks {
				if v, ok := o.(*trackable.Variable); o == st || ok && containsVariable(st.Parts, v) {
					return true
				}
			}
			return false
		},
		Save: func(s *ops.Scope, objs checkpoint.Objects, prefix *ops.Value) *ops.Value {
			return ops.SaveV2(s, prefix, slices(s, objs))
		},
		Restore: func(s *ops.Scope, objs checkpoint.Objects, prefix *ops.Value) {
			values, i := ops.RestoreV2(s, prefix, slices(s, objs)), 0
			for _, st := range checkpoint.Only[*stack](objs) {
				for j, part := range ops.Unstack(s, values[i], len(st.Parts)) {
					ops.Assign(s, st.Parts[j], part)
				}
				i++
			}
		},
	}
}

func containsVariable(list []*trackable.Variable, v *trackable.Variable) bool {
	return slices.Contains(list, v)
}

// TestVariablesOfARegisteredSaverAreRestoredThroughVariables loads a model
// whose restore op TensorFlow itself can't run. A Go version of its saver
// assigns the values of the directory variables to the model's variables.
func TestVariablesOfARegisteredSaverAreRestoredThroughVariables(t *testing.T) {
	ctx := context.Background()
	dir := os.DirFS("../testdata/models/registered")
	_, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernel.All()})
	var saver *run.SaverError
	if !errors.As(err, &saver) || saver.Saver != "Custom.Stacks" || !slices.Equal(saver.Paths, []string{"a/parts/0", "a/parts/1", "a/parts/2", "w/parts/0"}) {
		t.Fatalf("loading without the saver: %v", err)
	}
	if !strings.Contains(err.Error(), "LoadOptions.Partial") {
		t.Errorf("the error doesn't say what to do: %v", err)
	}

	m, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernel.All(), Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	variable := func(path string) *trackable.Variable {
		v, err := m.Variable(path)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	a := &stack{Parts: []*trackable.Variable{variable("a/parts/0"), variable("a/parts/1"), variable("a/parts/2")}}
	w := &stack{Parts: []*trackable.Variable{variable("w/parts/0")}}
	savers := new(checkpoint.Savers)
	if err := savers.Register("Custom", saverOf(a, w)); err != nil {
		t.Fatal(err)
	}
	root := &struct{ A, W *stack }{a, w}
	ckpt, err := checkpoint.New(root, &checkpoint.Options{Savers: savers})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ckpt.RestoreFS(ctx, dir, savedmodel.VariablesPrefix, &checkpoint.RestoreOptions{Partial: true}); err != nil {
		t.Fatal(err)
	}

	b, err := os.ReadFile("../testdata/models/registered/registered.json")
	if err != nil {
		t.Fatal(err)
	}
	var answers []answer
	if err := json.Unmarshal(b, &answers); err != nil {
		t.Fatal(err)
	}
	for _, r := range answers {
		in := map[string]*tensor.Tensor{}
		for k, v := range r.In {
			in[k] = v.tensor(t)
		}
		out, err := m.Call(ctx, "serving_default", in)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range r.Out {
			if !out[k].Equal(v.tensor(t)) {
				t.Errorf("%s is %v, TensorFlow has %v", k, out[k], v.Values)
			}
		}
	}
}
