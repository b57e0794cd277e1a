package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// vector returns a float32 variable called name, with the values times scale. Scale 0
// makes all of them 0, for a restore to fill.
func vector(name string, scale float32, values ...float32) *trackable.Variable {
	for i := range values {
		values[i] *= scale
	}
	return trackable.NewVariable(tensor.Vector(values...)).Named(name)
}

// containersRoot is the object "containers" of peer/models.py: nested Go slices and a
// nested ordered map. The fields are the names of its children, here and in the next types.
type containersRoot struct {
	Listed []any
	Mapped *trackable.Map[any]
	Shared *trackable.Variable
}

// newContainers returns the object with values times k.
func newContainers(k float32) any {
	v := func(x ...float32) *trackable.Variable { return vector("v", k, x...) }
	shared := v(1, 2)
	inner, mapped := trackable.NewMap[any](), trackable.NewMap[any]()
	err := errors.Join(inner.Set("y", v(5)), inner.Set("x", v(6)),
		mapped.Set("b", inner), mapped.Set("a", trackable.NewList[any](v(7), shared)))
	if err != nil {
		panic(err)
	}
	return &containersRoot{
		Listed: []any{v(3), trackable.NewList[any](v(4), trackable.NewList[any](shared)), trackable.NewList[any]()},
		Mapped: mapped,
		Shared: shared,
	}
}

// manyModel is the object "10,000 objects" of peer/models.py.
type manyModel struct {
	trackable.Base
	V []*trackable.Variable
}

func newMany(k float32) any {
	m := &manyModel{V: make([]*trackable.Variable, 10000)}
	for i := range m.V {
		m.V[i] = vector("v", k, float32(i), float32(i)/2)
	}
	return &struct{ Model *manyModel }{m}
}

// part and stack are those of the document about registration, and of peer/models.py.
type part struct{ trackable.Variable }

type stack struct {
	trackable.Base
	Parts []*part
}

func (st *stack) value(s *ops.Scope) *ops.Value { return ops.Stack(s, st.Parts) }

// stacks saves the parts of each stack as one tensor. Its name is in the checkpoint.
var stacks = function.Saver{
	Name: "stacks",
	Matches: func(o trackable.Trackable) bool {
		switch o.(type) {
		case *stack, *part:
			return true
		}
		return false
	},
	Save: func(s *ops.Scope, objs checkpoint.Objects, prefix *ops.Value) *ops.Value {
		return ops.SaveV2(s, prefix, stackSlices(s, objs))
	},
	Restore: func(s *ops.Scope, objs checkpoint.Objects, prefix *ops.Value) {
		values, i := ops.RestoreV2(s, prefix, stackSlices(s, objs)), 0
		for _, st := range checkpoint.Only[*stack](objs) {
			for j, x := range ops.Unstack(s, values[i], len(st.Parts)) {
				ops.Assign(s, st.Parts[j], x)
			}
			i++
		}
	},
}

// stackSlices returns the tensors of the stacks in objs, in the order of objs.
func stackSlices(s *ops.Scope, objs checkpoint.Objects) (out []ops.Slice) {
	for prefix, st := range checkpoint.Only[*stack](objs) {
		out = append(out, ops.Slice{Name: prefix + "/value", Value: st.value(s)})
	}
	return out
}

// newStacks returns the object "stacked parts" of peer/models.py, with values times k.
func newStacks(k float32) any {
	p := func(x ...float32) *part {
		for i := range x {
			x[i] *= k
		}
		p := new(part)
		p.Init(tensor.Vector(x...))
		return p
	}
	return &struct {
		Bias          *trackable.Variable
		First, Second *stack
		Step          *trackable.Variable
	}{
		vector("bias", k, 0.5),
		&stack{Parts: []*part{p(1, 2), p(3, 4), p(5, 6)}},
		&stack{Parts: []*part{p(7)}},
		trackable.NewVariable(tensor.Scalar(int64(9 * k))).Named("step"),
	}
}

// modelCases writes and restores the objects of peer/models.py.
func modelCases(ctx context.Context, r *run) {
	savers := new(checkpoint.Savers)
	if err := savers.Register("Custom", stacks); err != nil {
		r.result("stacked parts", wrongs(err), "")
	}
	for _, m := range []struct {
		name string
		make func(k float32) any
	}{{"containers", newContainers}, {"10,000 objects", newMany}, {"stacked parts", newStacks}} {
		ours, theirs := r.ours("models", m.name, "ckpt"), r.tf("models", m.name, "ckpt")
		r.check("our bytes are TensorFlow's: "+m.name, func() error {
			ck, err := checkpoint.New(m.make(1), &checkpoint.Options{Savers: savers})
			if err != nil {
				return err
			}
			if err := ck.Write(ctx, ours); err != nil {
				return err
			}
			return r.sameCheckpoint(ours, theirs)
		})
		r.check("strict restore of TensorFlow's "+m.name, func() error {
			root := m.make(0)
			ck, err := checkpoint.New(root, &checkpoint.Options{Savers: savers})
			if err != nil {
				return err
			}
			report, err := ck.Read(ctx, theirs, nil)
			if err != nil {
				return err
			}
			return errors.Join(report.AssertConsumed(), sameVariables(root, m.make(1)))
		})
	}
}

// sameVariables compares the variables of two graphs of one form.
func sameVariables(got, want any) error {
	a, err := trackable.Variables(got)
	if err != nil {
		return err
	}
	b, err := trackable.Variables(want)
	if err != nil {
		return err
	}
	if len(a) != len(b) || len(a) == 0 {
		return fmt.Errorf("%d variables, want %d", len(a), len(b))
	}
	var errs []error
	for i := range a {
		if err := sameTensor(a[i].Load(), b[i].Load()); err != nil {
			errs = append(errs, fmt.Errorf("variable %d: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// readWant reads the variables that a directory's checkpoint has, as peer/models.py lists them.
func readWant(folder string) (want []namedSpec, err error) {
	text, err := os.ReadFile(filepath.Join(folder, "want.json"))
	if err != nil {
		return nil, err
	}
	return want, json.Unmarshal(text, &want)
}

// byName holds variables whose full names are those of a TF1 graph, at other
// places than TensorFlow would look for.
type byName struct {
	First []*trackable.Variable
	Rest  *trackable.Map[*trackable.Variable]
}

// restoreByName restores a checkpoint without an object graph, of which kind is the directory.
func (r *run) restoreByName(ctx context.Context, kind string) error {
	folder := r.tf("legacy", kind)
	want, err := readWant(folder)
	if err != nil {
		return err
	}
	root := &byName{Rest: trackable.NewMap[*trackable.Variable]()}
	var vars []*trackable.Variable
	for i, w := range want {
		zero, err := w.tensor(true)
		if err != nil {
			return err
		}
		v := trackable.NewVariable(zero).Named(w.Name)
		vars = append(vars, v)
		if i < 3 {
			root.First = append(root.First, v)
		} else if err := root.Rest.Set(fmt.Sprint("v", i), v); err != nil {
			return err
		}
	}
	ck, err := checkpoint.New(root, nil)
	if err != nil {
		return err
	}
	if _, err := ck.Restore(ctx, filepath.Join(folder, "model.ckpt"), nil); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	for i, w := range want {
		if err := w.differs(vars[i].Load()); err != nil {
			return fmt.Errorf("%s: %s: %w", kind, w.Name, err)
		}
	}
	return nil
}

// restoreSavedModel restores the variables of a SavedModel. want has them in the order of the
// fields here.
func (r *run) restoreSavedModel(ctx context.Context) error {
	folder := r.tf("legacy", "SavedModel's variables")
	want, err := readWant(folder)
	if err != nil {
		return err
	}
	zero := func(i int) *trackable.Variable {
		t, err := want[i].tensor(true)
		if err != nil {
			panic(err)
		}
		return trackable.NewVariable(t)
	}
	deep := trackable.NewMap[any]()
	w, part, x := zero(0), zero(1), zero(2)
	if err := deep.Set("deep", x); err != nil {
		return err
	}
	root := &struct {
		trackable.Base
		W     *trackable.Variable
		Parts *trackable.List[any]
	}{W: w, Parts: trackable.NewList[any](part, deep)}
	ck, err := checkpoint.New(root, nil)
	if err != nil {
		return err
	}
	report, err := ck.Restore(ctx, filepath.Join(folder, "model"), nil)
	if err != nil {
		return err
	}
	errs := []error{report.AssertExistingObjectsMatched()}
	for i, v := range []*trackable.Variable{w, part, x} {
		errs = append(errs, want[i].differs(v.Load()))
	}
	return errors.Join(errs...)
}
