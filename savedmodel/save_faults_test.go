package savedmodel_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	fn "github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// withAsset is a model of all kinds of files.
type withAsset struct {
	Model *Linear
	Words *savedmodel.TrackableAsset
}

func newWithAsset(t *testing.T) (*withAsset, *savedmodel.SaveOptions) {
	files := vfs.MemDir()
	if err := files.WriteFile("words.txt", []byte("a\nb\n")); err != nil {
		t.Fatal(err)
	}
	m := &withAsset{Model: newLinear(), Words: savedmodel.NewAssetFS(files, "words.txt")}
	serve, err := m.Model.Predict.Trace(Features{X: ops.Spec(tensor.Float32, -1, 4)})
	if err != nil {
		t.Fatal(err)
	}
	return m, &savedmodel.SaveOptions{Signatures: map[string]*fn.Concrete{"serving_default": serve}}
}

// TestAFailureAtAnyOperationLeavesNoHalfModel: a directory without the graph's file is no
// model to any loader.
func TestAFailureAtAnyOperationLeavesNoHalfModel(t *testing.T) {
	ctx := context.Background()
	m, opts := newWithAsset(t)
	whole := faultfs.New()
	if err := savedmodel.SaveFS(ctx, m, whole, "m", opts); err != nil {
		t.Fatal(err)
	}
	n := len(whole.Ops())
	if n < 20 {
		t.Fatalf("a save takes %d operations", n)
	}
	for k := range n {
		dir := faultfs.New()
		dir.FailAt(k, faultfs.ErrFault)
		err := savedmodel.SaveFS(ctx, m, dir, "m", opts)
		fsys, _ := fs.Sub(dir, "m")
		_, read := savedmodel.Read(ctx, fsys, nil)
		if err == nil {
			if read != nil {
				t.Errorf("operation %d (%v): the save succeeded, and the model can't be read: %v", k, whole.Ops()[k], read)
			}
			continue
		}
		if !errors.Is(err, faultfs.ErrFault) {
			t.Errorf("operation %d: the error is %v", k, err)
		}
		for _, loss := range faultfs.Losses {
			fsys, _ = fs.Sub(dir.AfterCrash(loss, uint64(k)), "m")
			if _, err := fs.Stat(fsys, savedmodel.GraphFile); err != nil {
				continue // no model
			}
			if _, err := savedmodel.Restore(ctx, fsys, nil); err != nil {
				t.Errorf("operation %d (%v) failed, a crash came (%v), and the model that is there can't be restored: %v", k, whole.Ops()[k], loss, err)
			}
		}
	}
}

func TestAFailedSaveLeavesTheOldModel(t *testing.T) {
	ctx := context.Background()
	m, opts := newWithAsset(t)
	parent := t.TempDir()
	dir := filepath.Join(parent, "m")
	if err := savedmodel.Save(ctx, m.Model, dir, opts); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, savedmodel.GraphFile))
	if err != nil {
		t.Fatal(err)
	}
	missing := &withAsset{m.Model, savedmodel.NewAsset(filepath.Join(parent, "missing.txt"))}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		root trackable.Trackable
	}{{"an asset that is missing", ctx, missing}, {"a context that has ended", ended, m.Model}} {
		if err := savedmodel.Save(c.ctx, c.root, dir, opts); err == nil {
			t.Errorf("%s: the save succeeded", c.name)
		}
		after, err := os.ReadFile(filepath.Join(dir, savedmodel.GraphFile))
		if err != nil || string(after) != string(before) {
			t.Errorf("%s: the old model has changed: %v", c.name, err)
		}
		entries, err := os.ReadDir(parent)
		if err != nil || len(entries) != 1 {
			t.Errorf("%s: the save left %v beside the model", c.name, entries)
		}
	}
}

func TestForeignFilesAreNotLost(t *testing.T) {
	m, opts := newWithAsset(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	err := savedmodel.Save(context.Background(), m.Model, dir, opts)
	if err == nil || !strings.Contains(err.Error(), `"notes.txt"`) {
		t.Errorf("the error is %v", err)
	}
}

func TestSaveErrorsNameTheObject(t *testing.T) {
	ctx := context.Background()
	m, opts := newWithAsset(t)
	type nested struct {
		Inner struct{ A, B *ops.Value }
	}
	deep := fn.New(func(s *ops.Scope, x *ops.Value) nested {
		var n nested
		n.Inner.A, n.Inner.B = x, ops.Neg(s, x)
		return n
	})
	nestedTrace, err := deep.Trace(ops.Spec(tensor.Float32))
	if err != nil {
		t.Fatal(err)
	}
	type nestedIn struct{ Inner struct{ A, B *ops.Value } }
	inner := fn.New(func(s *ops.Scope, in nestedIn) *ops.Value { return ops.Add(s, in.Inner.A, in.Inner.B) })
	var example nestedIn
	example.Inner.A, example.Inner.B = ops.Spec(tensor.Float32), ops.Spec(tensor.Float32)
	innerTrace, err := inner.Trace(example)
	if err != nil {
		t.Fatal(err)
	}
	one := opts.Signatures["serving_default"]
	for _, c := range []struct {
		name, want string
		root       trackable.Trackable
		opts       *savedmodel.SaveOptions
	}{
		{"a signature without a function", `signature "s"`, m.Model, &savedmodel.SaveOptions{Signatures: map[string]*fn.Concrete{"s": nil}}},
		{"a reserved name", "reserved", m.Model, &savedmodel.SaveOptions{Signatures: map[string]*fn.Concrete{"__saved_model_x": one}}},
		{"an empty name", "reserved", m.Model, &savedmodel.SaveOptions{Signatures: map[string]*fn.Concrete{"": one}}},
		{"nested outputs", `the output "inner" is no tensor`, &struct{ F *fn.Func[*ops.Value, nested] }{deep}, &savedmodel.SaveOptions{Signatures: map[string]*fn.Concrete{"s": nestedTrace}}},
		{"nested inputs", "is no tensor", &struct {
			F *fn.Func[nestedIn, *ops.Value]
		}{inner}, &savedmodel.SaveOptions{Signatures: map[string]*fn.Concrete{"s": innerTrace}}},
		{"a default of another shape", `the default of input "x"`, m.Model, &savedmodel.SaveOptions{Signatures: opts.Signatures,
			SignatureDefaults: map[string]map[string]*tensor.Tensor{"serving_default": {"x": tensor.Scalar[float32](1)}}}},
		{"a default of no input", `no input "y"`, m.Model, &savedmodel.SaveOptions{Signatures: opts.Signatures,
			SignatureDefaults: map[string]map[string]*tensor.Tensor{"serving_default": {"y": tensor.Scalar[float32](1)}}}},
		{"defaults of no signature", `signature "other"`, m.Model, &savedmodel.SaveOptions{Signatures: opts.Signatures,
			SignatureDefaults: map[string]map[string]*tensor.Tensor{"other": {}}}},
		{"a reserved edge", `"signatures" is reserved`, &struct {
			Signatures *trackable.Variable
		}{trackable.NewVariable(tensor.Scalar[float32](1))}, nil},
		{"a variable without a value", "has no value", &struct{ V *trackable.Variable }{new(trackable.Variable)}, nil},
		{"an alias of no function", `alias "a"`, m.Model, &savedmodel.SaveOptions{Aliases: map[string]savedmodel.FunctionNode{"a": deep}}},
		{"an asset outside of the model", "leads out", &struct{ A *savedmodel.TrackableAsset }{&savedmodel.TrackableAsset{Name: "../x"}}, nil},
		{"nothing", "nil", nil, nil},
	} {
		dir := vfs.MemDir()
		err := savedmodel.SaveFS(ctx, c.root, dir, "m", c.opts)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v", c.name, err)
		}
		if names := dir.Names(); len(names) > 0 {
			t.Errorf("%s: the save left %q", c.name, names)
		}
	}
}
