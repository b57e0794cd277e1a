package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// registeredPart and registeredStack are Go's classes for those of the Python program
// that wrote the test data's model "registered". The names of fields, of the saver and of
// the classes below are those of the program.
type registeredPart struct{ trackable.Variable }

type registeredStack struct {
	trackable.Base
	Parts []*registeredPart
	Value trackable.Trackable // a function
}

var registeredStacks = function.Saver{
	Name: "Stacks",
	Matches: func(o trackable.Trackable) bool {
		switch o.(type) {
		case *registeredPart, *registeredStack:
			return true
		}
		return false
	},
	Save: func(s *ops.Scope, objs checkpoint.Objects, prefix *ops.Value) *ops.Value {
		return ops.SaveV2(s, prefix, registeredSlices(s, objs))
	},
	Restore: func(s *ops.Scope, objs checkpoint.Objects, prefix *ops.Value) {
		values, i := ops.RestoreV2(s, prefix, registeredSlices(s, objs)), 0
		for _, st := range checkpoint.Only[*registeredStack](objs) {
			for j, p := range ops.Unstack(s, values[i], len(st.Parts)) {
				ops.Assign(s, st.Parts[j], p)
			}
			i++
		}
	},
}

// registeredSlices returns the tensors of the stacks in objs, in the order of objs.
func registeredSlices(s *ops.Scope, objs checkpoint.Objects) (out []ops.Slice) {
	for prefix, st := range checkpoint.Only[*registeredStack](objs) {
		out = append(out, ops.Slice{Name: prefix + "/value", Value: ops.Stack(s, st.Parts)})
	}
	return out
}

// registeredClasses returns the classes under the names that the Python program
// registered.
func registeredClasses() (*savedmodel.Classes, error) {
	classes := new(savedmodel.Classes)
	return classes, errors.Join(
		savedmodel.Register(classes, savedmodel.Class[*registeredPart]{Package: "Custom", Name: "Part",
			Load: func(context.Context, *savedmodel.LoadSpec) (*registeredPart, error) {
				p := new(registeredPart)
				p.Init(tensor.Vector[float32](0, 0))
				return p, nil
			}}),
		savedmodel.Register(classes, savedmodel.Class[*registeredStack]{Package: "Custom", Name: "Stack", Registered: true,
			Load: func(ctx context.Context, spec *savedmodel.LoadSpec) (*registeredStack, error) {
				st := new(registeredStack)
				list, err := spec.Child("parts")
				if err != nil {
					return nil, err
				}
				for _, name := range list.Children() {
					p, err := savedmodel.Child[*registeredPart](ctx, list, name)
					if err != nil {
						return nil, err
					}
					st.Parts = append(st.Parts, p)
				}
				st.Value, err = savedmodel.Child[trackable.Trackable](ctx, spec, "value")
				return st, err
			}}))
}

// saveRegistered writes the model whose values a registered saver of Python wrote, read
// with a Go saver, to the directory that peer/savedmodels.py reads.
func saveRegistered(ctx context.Context, r *run) error {
	classes, err := registeredClasses()
	if err != nil {
		return err
	}
	savers := new(checkpoint.Savers)
	if err := savers.Register("Custom", registeredStacks); err != nil {
		return err
	}
	ser := &savedmodel.Serializer{Package: "Custom", Classes: classes}
	m, err := ser.Load(ctx, os.DirFS(filepath.Join("savedmodel", "testdata", "models", "registered")), &savedmodel.RestoreOptions{Savers: savers})
	if err != nil {
		return err
	}
	dir := r.ours("savedmodels", "registered")
	if err := ser.Save(ctx, m.Root, dir, &savedmodel.SaveOptions{Savers: savers}); err != nil {
		return err
	}
	model, err := cairn.Load(ctx, os.DirFS(dir), nil)
	if err != nil {
		return err
	}
	c := signatureCall{signature: savedmodel.DefaultSignature, in: map[string]*tensor.Tensor{"x": tensor.Vector[float32](1, 2)}}
	if c.out, err = model.Call(ctx, c.signature, c.in); err != nil {
		return err
	}
	if err := writeCalls(dir+".npz", []signatureCall{c}); err != nil {
		return err
	}
	// Without the classes and the saver the model's own functions restore it.
	again := r.ours("savedmodels", "registered_rewritten")
	if _, err := cairn.Convert(ctx, dir, again, nil); err != nil {
		return err
	}
	return errors.Join(writeCalls(again+".npz", []signatureCall{c}), r.restoreByFunctions(ctx, dir, c))
}

// restoreByFunctions has TensorFlow save such a model, reads that without classes and
// saver, saves it and calls it.
func (r *run) restoreByFunctions(ctx context.Context, dir string, want signatureCall) error {
	theirs, ours := r.ours("registered", "tensorflow"), r.ours("registered", "cairn")
	if out, err := exec.CommandContext(ctx, r.python, "interop/peer/again.py", dir, theirs).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	m, err := savedmodel.Restore(ctx, os.DirFS(theirs), &savedmodel.RestoreOptions{Run: cairn.Runner()})
	if err != nil {
		return err
	}
	if len(m.Unfilled) > 0 {
		return fmt.Errorf("variables of TensorFlow's copy have no value: %q", m.Unfilled)
	}
	if err := savedmodel.Save(ctx, m.Root, ours, nil); err != nil {
		return err
	}
	for _, path := range []string{theirs, ours} {
		model, err := cairn.Load(ctx, os.DirFS(path), nil)
		if err != nil {
			return err
		}
		got, err := model.Call(ctx, want.signature, want.in)
		if err != nil {
			return err
		}
		for name, x := range want.out {
			if !x.Equal(got[name]) {
				return fmt.Errorf("%s: %s is %v, want %v", path, name, got[name], x)
			}
		}
	}
	return nil
}
