package savedmodel_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	fn "github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

type metadata struct {
	Name string `json:"name"`
}

// CustomV1 is the first version of the RFC's class: it keeps its variables in a list.
type CustomV1 struct {
	trackable.Base
	Name string `cairn:"-"`
	Vars []*trackable.Variable
}

func (c *CustomV1) SavedModelSpec(*savedmodel.SaveContext) (*savedmodel.SaveSpec, error) {
	b, err := json.Marshal(metadata{c.Name})
	return &savedmodel.SaveSpec{Metadata: b}, err
}

// Custom is the second version.
type Custom struct {
	trackable.Base
	Name string                           `cairn:"-"`
	Var1 *trackable.Variable              `cairn:"var_1"`
	Var2 *trackable.Variable              `cairn:"var_2"`
	Call *fn.Func[*ops.Value, *ops.Value] // edge "call"
}

func NewCustom(name string) *Custom {
	c := &Custom{Name: name, Var1: trackable.NewVariable(tensor.Scalar[float32](0)), Var2: trackable.NewVariable(tensor.Scalar[float32](1))}
	c.Call = fn.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, ops.Mul(s, x, c.Var1), c.Var2) })
	return c
}

func (c *Custom) SavedModelSpec(sc *savedmodel.SaveContext) (*savedmodel.SaveSpec, error) {
	spec, err := sc.Default(c) // var_1, var_2, call
	if err != nil {
		return nil, err
	}
	spec.Metadata, err = json.Marshal(metadata{c.Name})
	return spec, err
}

func loadCustom(ctx context.Context, spec *savedmodel.LoadSpec) (*Custom, error) {
	var m metadata
	if err := json.Unmarshal(spec.Metadata, &m); err != nil {
		return nil, err
	}
	c := NewCustom(m.Name)
	switch spec.Version {
	case 1: // version 1 had its variables in a list "vars": SetCheckpoint assigns their values to c's
		return c, spec.SetCheckpoint(&struct{ Vars []*trackable.Variable }{[]*trackable.Variable{c.Var1, c.Var2}})
	case 2:
		var err error
		if c.Var1, err = savedmodel.Child[*trackable.Variable](ctx, spec, "var_1"); err != nil {
			return nil, err
		}
		c.Var2, err = savedmodel.Child[*trackable.Variable](ctx, spec, "var_2")
		return c, err
	}
	return nil, &savedmodel.VersionError{Identifier: spec.Identifier, Got: spec.Version, Max: 2}
}

func serializerV2(t testing.TB) *savedmodel.Serializer {
	classes := new(savedmodel.Classes)
	if err := savedmodel.Register(classes, savedmodel.Class[*Custom]{Package: "Example", Name: "CustomSerializable", Version: 2, Load: loadCustom}); err != nil {
		t.Fatal(err)
	}
	return &savedmodel.Serializer{Package: "Example", Classes: classes}
}

func serializerV1(t testing.TB) *savedmodel.Serializer {
	classes := new(savedmodel.Classes)
	if err := savedmodel.Register(classes, savedmodel.Class[*CustomV1]{Package: "Example", Name: "CustomSerializable"}); err != nil {
		t.Fatal(err)
	}
	return &savedmodel.Serializer{Package: "Example", Classes: classes}
}

func float(v *trackable.Variable) float32 { return tensor.Values[float32](v.Load())[0] }

func TestAClassLoadsWhatItSaved(t *testing.T) {
	ctx := context.Background()
	ser := serializerV2(t)
	c := NewCustom("Obj")
	if err := c.Var1.Store(tensor.Scalar[float32](3)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call.Trace(ops.Spec(tensor.Float32)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "custom")
	if err := ser.Save(ctx, c, dir, nil); err != nil {
		t.Fatal(err)
	}
	got, err := savedmodel.LoadAs[*Custom](ctx, ser, os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "Obj" || float(got.Var1) != 3 || float(got.Var2) != 1 {
		t.Errorf("got %q, %v, %v", got.Name, float(got.Var1), float(got.Var2))
	}
	// A program that doesn't know the class gets a generic object that computes.
	r, err := savedmodel.Restore(ctx, os.DirFS(dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	root, ok := r.Root.(*savedmodel.TrackableObject)
	if !ok {
		t.Fatalf("the root is a %T", r.Root)
	}
	if root.Traits.Identifier != "Example.CustomSerializable" || root.Traits.Version != 2 || root.Traits.Metadata != `{"name":"Obj"}` {
		t.Errorf("the generic object has %+v", root.Traits)
	}
	call := root.Child("call").(*savedmodel.TrackableFunction).Traces()[0]
	s := fn.Eager(ctx)
	y := fn.Apply(s, call, ops.ValueOf(tensor.Scalar[float32](2)))
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	if v, err := y[0].Tensor(); err != nil || tensor.Values[float32](v)[0] != 7 {
		t.Errorf("the generic object's function returns %v, %v", v, err)
	}
	// Saved again by that program, the class finds all that it wrote.
	again := filepath.Join(t.TempDir(), "again")
	if err := savedmodel.Save(ctx, r.Root, again, nil); err != nil {
		t.Fatal(err)
	}
	got, err = savedmodel.LoadAs[*Custom](ctx, ser, os.DirFS(again))
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "Obj" || float(got.Var1) != 3 {
		t.Errorf("after a stranger's save: %q, %v", got.Name, float(got.Var1))
	}
}

func TestAnOlderVersionLoadsIntoANewerClass(t *testing.T) {
	ctx := context.Background()
	dir := vfs.MemDir()
	old := &CustomV1{Name: "Old", Vars: []*trackable.Variable{trackable.NewVariable(tensor.Scalar[float32](5)), trackable.NewVariable(tensor.Scalar[float32](6))}}
	if err := serializerV1(t).SaveFS(ctx, old, dir, "m", nil); err != nil {
		t.Fatal(err)
	}
	fsys, err := subFS(dir, "m")
	if err != nil {
		t.Fatal(err)
	}
	got, err := savedmodel.LoadAs[*Custom](ctx, serializerV2(t), fsys)
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "Old" || float(got.Var1) != 5 || float(got.Var2) != 6 {
		t.Errorf("got %q, %v, %v", got.Name, float(got.Var1), float(got.Var2))
	}
	// The other way: the old program has no Load, and gets a generic object.
	if err := serializerV2(t).SaveFS(ctx, NewCustom("New"), dir, "n", nil); err != nil {
		t.Fatal(err)
	}
	fsys, err = subFS(dir, "n")
	if err != nil {
		t.Fatal(err)
	}
	r, err := serializerV1(t).Load(ctx, fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Unknown) != 1 || r.Unknown[0].Version != 2 {
		t.Errorf("unknown: %+v", r.Unknown)
	}
}

func TestClassesOfOtherPackagesAreNotAsked(t *testing.T) {
	ctx := context.Background()
	ser := serializerV2(t)
	for _, z := range []*savedmodel.Serializer{{Classes: ser.Classes}, {Package: "Other", Classes: ser.Classes}} {
		dir := vfs.MemDir()
		if err := z.SaveFS(ctx, NewCustom("Obj"), dir, "m", nil); err != nil {
			t.Fatal(err)
		}
		fsys, err := subFS(dir, "m")
		if err != nil {
			t.Fatal(err)
		}
		r, err := ser.Load(ctx, fsys, nil)
		if err != nil {
			t.Fatal(err)
		}
		if root, ok := r.Root.(*savedmodel.TrackableObject); !ok || root.Traits.Identifier != "_generic_user_object" {
			t.Errorf("package %q: the root is %T", z.Package, r.Root)
		}
	}
}

func TestRegistrationsThatClashAreRefused(t *testing.T) {
	classes := new(savedmodel.Classes)
	register := func(c savedmodel.Class[*Custom]) error { return savedmodel.Register(classes, c) }
	if err := register(savedmodel.Class[*Custom]{Package: "a.b", Name: "c", AlternateIDs: []string{"old"}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []savedmodel.Class[*Custom]{
		{}, {Package: "a", Name: "b.c"}, {Name: "old"}, {Package: "x", Name: "y", AlternateIDs: []string{"a.b.c"}},
		{Package: "tf", Name: "Mine"}, {Name: "z", Version: 1, MinConsumer: 2}, {Name: "z", Version: -1},
	} {
		if err := register(c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

func TestUntrackedCapturesAreNamed(t *testing.T) {
	hidden := trackable.NewVariable(tensor.Scalar[float32](1)).Named("hidden")
	m := &struct {
		F *fn.Func[*ops.Value, *ops.Value]
	}{fn.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, hidden) })}
	if _, err := m.F.Trace(ops.Spec(tensor.Float32)); err != nil {
		t.Fatal(err)
	}
	dir := vfs.MemDir()
	err := savedmodel.SaveFS(context.Background(), m, dir, "m", nil)
	var capture *savedmodel.UntrackedCaptureError
	if !errors.As(err, &capture) || capture.Function != "f" || capture.Capture != `variable "hidden"` {
		t.Errorf("the error is %v", err)
	}
	if names := dir.Names(); len(names) > 0 {
		t.Errorf("the failed save left %q", names)
	}
}
