package savedmodel_test

import (
	"context"
	"encoding/json"
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
	"github.com/cairnml/cairn/vfs"
)

// part and partStack are the classes of the fixture "registered" in Go.
type part struct{ trackable.Variable }

type partStack struct {
	trackable.Base
	Parts []*part
	Value trackable.Trackable // the function of the file
}

func (st *partStack) stacked(s *ops.Scope) *ops.Value { return ops.Stack(s, st.Parts) }

var partStacks = fn.Saver{
	Name: "Stacks",
	Matches: func(o trackable.Trackable) bool {
		switch o.(type) {
		case *part, *partStack:
			return true
		}
		return false
	},
	Save: func(s *ops.Scope, objs checkpoint.Objects, prefix *ops.Value) *ops.Value {
		return ops.SaveV2(s, prefix, stackSlices(s, objs))
	},
	Restore: func(s *ops.Scope, objs checkpoint.Objects, prefix *ops.Value) {
		values, i := ops.RestoreV2(s, prefix, stackSlices(s, objs)), 0
		for _, st := range checkpoint.Only[*partStack](objs) {
			for j, p := range ops.Unstack(s, values[i], len(st.Parts)) {
				ops.Assign(s, st.Parts[j], p)
			}
			i++
		}
	},
}

func stackSlices(s *ops.Scope, objs checkpoint.Objects) (out []ops.Slice) {
	for prefix, st := range checkpoint.Only[*partStack](objs) {
		out = append(out, ops.Slice{Name: prefix + "/value", Value: st.stacked(s)})
	}
	return out
}

func stackSavers(t testing.TB) *checkpoint.Savers {
	savers := new(checkpoint.Savers)
	if err := savers.Register("Custom", partStacks); err != nil {
		t.Fatal(err)
	}
	return savers
}

func stackClasses(t testing.TB) *savedmodel.Classes {
	classes := new(savedmodel.Classes)
	err := savedmodel.Register(classes, savedmodel.Class[*part]{Package: "Custom", Name: "Part", Load: func(_ context.Context, spec *savedmodel.LoadSpec) (*part, error) {
		p := new(part)
		p.Init(tensor.Vector[float32](0, 0)) // as the Python class
		return p, nil
	}})
	if err == nil {
		err = savedmodel.Register(classes, savedmodel.Class[*partStack]{Package: "Custom", Name: "Stack", Registered: true, Load: loadPartStack})
	}
	if err != nil {
		t.Fatal(err)
	}
	return classes
}

func loadPartStack(ctx context.Context, spec *savedmodel.LoadSpec) (*partStack, error) {
	list, err := spec.Child("parts")
	if err != nil {
		return nil, err
	}
	st := new(partStack)
	for _, name := range list.Children() {
		p, err := savedmodel.Child[*part](ctx, list, name)
		if err != nil {
			return nil, err
		}
		st.Parts = append(st.Parts, p)
	}
	if err := spec.Publish(st); err != nil {
		return nil, err
	}
	st.Value, err = savedmodel.Child[trackable.Trackable](ctx, spec, "value")
	return st, err
}

// answersOf returns the calls that a fixture was asked in TensorFlow.
func registeredAnswer(t testing.TB) []float32 {
	b, err := os.ReadFile("testdata/models/registered/registered.json")
	if err != nil {
		t.Fatal(err)
	}
	var calls []struct {
		Out map[string]struct{ Values []float32 }
	}
	if err := json.Unmarshal(b, &calls); err != nil {
		t.Fatal(err)
	}
	return calls[0].Out["y"].Values
}

// TestARegisteredSaverRestoresTensorFlowsModel loads a model of a Python program with
// registered classes and a registered saver, saves it, and loads that without either.
func TestARegisteredSaverRestoresTensorFlowsModel(t *testing.T) {
	ctx := context.Background()
	ser := &savedmodel.Serializer{Package: "Custom", Classes: stackClasses(t)}
	from := os.DirFS("testdata/models/registered")
	if _, err := ser.Load(ctx, from, &savedmodel.RestoreOptions{Savers: new(checkpoint.Savers)}); err == nil || !strings.Contains(err.Error(), `"Custom.Stacks"`) {
		t.Errorf("a class's variables without their saver: %v", err)
	}
	r, err := ser.Load(ctx, from, &savedmodel.RestoreOptions{Savers: stackSavers(t)})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Unfilled) > 0 || len(r.Unknown) > 0 {
		t.Errorf("unfilled %q, unknown %+v", r.Unfilled, r.Unknown)
	}
	want := registeredAnswer(t)
	check := func(root trackable.Trackable) {
		t.Helper()
		serve := root.(*savedmodel.TrackableObject).Child("serve").(savedmodel.FunctionNode).Traces()[0]
		s := fn.Eager(ctx)
		out := fn.Apply(s, serve, ops.ValueOf(tensor.Vector[float32](1, 2)))
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		// The results of a dict are in the order of its keys: "w", "y".
		y, err := out[1].Tensor()
		if err != nil || !slices.Equal(tensor.Values[float32](y), want) {
			t.Errorf("y is %v, TensorFlow has %v (%v)", y, want, err)
		}
	}
	check(r.Root)
	dir := vfs.MemDir()
	if err := ser.SaveFS(ctx, r.Root, dir, "m", &savedmodel.SaveOptions{Savers: stackSavers(t)}); err != nil {
		t.Fatal(err)
	}
	fsys, err := subFS(dir, "m")
	if err != nil {
		t.Fatal(err)
	}
	m, err := savedmodel.Read(ctx, fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, name := range map[string]string{"a": "Custom.Stack", "a/parts/1": "Custom.Part", "bias": ""} {
		o, err := m.MetaGraphs[0].Object(path)
		if err != nil || o.RegisteredName != name {
			t.Errorf("%s has the registered name %q, want %q (%v)", path, o.RegisteredName, name, err)
		}
	}
	// The model restores itself in a program that has neither.
	model, err := run.Load(ctx, fsys, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := model.Function("serve")
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.Call(ctx, []any{tensor.Vector[float32](1, 2)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	y, ok := out.(map[string]any)["y"].(*tensor.Tensor)
	if !ok || !slices.Equal(tensor.Values[float32](y), want) {
		t.Errorf("y is %v, TensorFlow has %v", out, want)
	}
}

// vocabulary is a class whose objects need another object to be made.
type vocabulary struct {
	trackable.Base
	Words *savedmodel.TrackableAsset
	Of    *vocabulary                `cairn:"-"`
	Proto []byte                     `cairn:"-"`
	File  *savedmodel.TrackableAsset `cairn:"-"`
}

func vocabularies(t testing.TB) *savedmodel.Serializer {
	classes := new(savedmodel.Classes)
	err := savedmodel.Register(classes, savedmodel.Class[*vocabulary]{Name: "Vocabulary", Package: "Text",
		Save: func(sc *savedmodel.SaveContext, v *vocabulary) (*savedmodel.SaveSpec, error) {
			spec, err := sc.Default(v)
			if err != nil {
				return nil, err
			}
			spec.ProtoType, spec.Proto = "type.googleapis.com/text.Vocabulary", v.Proto
			if v.File != nil {
				spec.Dependencies = append(spec.Dependencies, trackable.Edge{Name: "file", Child: v.File})
			}
			if v.Of != nil {
				spec.Dependencies = append(spec.Dependencies, trackable.Edge{Name: "of", Child: v.Of})
			}
			return spec, nil
		},
		Load: func(ctx context.Context, spec *savedmodel.LoadSpec) (*vocabulary, error) {
			v := &vocabulary{Proto: spec.Proto}
			for _, name := range spec.Dependencies() {
				d, err := spec.Dependency(name)
				if err != nil {
					return nil, err
				}
				obj, err := d.Deserialize(ctx)
				if err != nil {
					return nil, err
				}
				switch x := obj.(type) {
				case *vocabulary:
					v.Of = x
				case *savedmodel.TrackableAsset:
					v.File = x
				}
			}
			var err error
			if slices.Contains(spec.Children(), "words") {
				v.Words, err = savedmodel.Child[*savedmodel.TrackableAsset](ctx, spec, "words")
			}
			return v, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	return &savedmodel.Serializer{Package: "Text", Classes: classes}
}

func TestAClassLoadsItsDependenciesFirst(t *testing.T) {
	ctx := context.Background()
	file := t.TempDir() + "/words.txt"
	if err := os.WriteFile(file, []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	base := &vocabulary{Words: savedmodel.NewAsset(file), Proto: []byte{8, 1}}
	base.File = base.Words
	root := &struct{ Second, First *vocabulary }{&vocabulary{Of: base, Proto: []byte{8, 2}}, base}
	ser := vocabularies(t)
	dir := vfs.MemDir()
	if err := ser.SaveFS(ctx, root, dir, "m", nil); err != nil {
		t.Fatal(err)
	}
	load := func(name string, z *savedmodel.Serializer) *savedmodel.TrackableObject {
		t.Helper()
		fsys, err := subFS(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := z.Load(ctx, fsys, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Root.(*savedmodel.TrackableObject)
	}
	check := func(root *savedmodel.TrackableObject) {
		t.Helper()
		first, second := root.Child("first").(*vocabulary), root.Child("second").(*vocabulary)
		if second.Of != first || first.File != first.Words || first.Words == nil || !slices.Equal(second.Proto, []byte{8, 2}) {
			t.Errorf("first %+v, second %+v", first, second)
		}
	}
	check(load("m", ser))
	// A program without the class keeps messages and dependencies.
	if err := savedmodel.SaveFS(ctx, load("m", new(savedmodel.Serializer)), dir, "n", nil); err != nil {
		t.Fatal(err)
	}
	check(load("n", ser))
}

func TestDependenciesThatCannotBeMadeAreRefused(t *testing.T) {
	ctx := context.Background()
	a, b := new(vocabulary), new(vocabulary)
	a.Of, b.Of = b, a
	for _, c := range []struct {
		name, want string
		root       trackable.Trackable
	}{
		{"cyclic", "depends on itself by way of a → b → a", &struct{ A, B *vocabulary }{a, b}},
		{"untracked", "no edge leads", &struct{ A *vocabulary }{&vocabulary{Of: new(vocabulary)}}},
	} {
		err := vocabularies(t).SaveFS(ctx, c.root, vfs.MemDir(), "m", nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
