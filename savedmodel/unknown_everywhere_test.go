package savedmodel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// messages calls visit for the first message of each field of each type below a message.
// visit may change it: the messages that are kept encoded are decoded first.
func messages(t *testing.T, top any, visit func(field string, m reflect.Value)) {
	seen := map[string]bool{}
	var walk func(field string, v reflect.Value)
	walk = func(field string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() {
				return
			}
			var err error
			switch l := v.Interface().(type) {
			case *pb.Lazy[pb.GraphDef]:
				err = walkLazy(l, field, walk)
			case *pb.Lazy[pb.SavedObjectGraph]:
				err = walkLazy(l, field, walk)
			case *pb.Lazy[pb.FunctionDef]:
				err = walkLazy(l, field, walk)
			case *pb.Lazy[pb.FunctionSpec]:
				err = walkLazy(l, field, walk)
			case *pb.Lazy[pb.StructuredValue]:
				err = walkLazy(l, field, walk)
			default:
				walk(field, v.Elem())
			}
			if err != nil {
				t.Fatal(err)
			}
		case reflect.Slice:
			if k := v.Type().Elem().Kind(); k != reflect.Pointer && k != reflect.Struct {
				return
			}
			for i := range v.Len() {
				e := v.Index(i)
				if e.Kind() == reflect.Struct {
					e = e.Addr()
				}
				walk(field, e)
			}
		case reflect.Struct:
			// Readers of protocol buffers drop unknown fields of a map's entries.
			if v.FieldByName("Unknown").IsValid() && !seen[field] && !strings.HasSuffix(v.Type().Name(), "Entry") {
				seen[field] = true
				visit(field, v)
			}
			name := v.Type().Name()
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() && f.Name != "Unknown" {
					if e := v.Field(i); e.Kind() != reflect.Struct {
						walk(name+"."+f.Name, e)
					} else {
						walk(name+"."+f.Name, e.Addr())
					}
				}
			}
		}
	}
	walk(reflect.TypeOf(top).Elem().Name(), reflect.ValueOf(top))
}

func walkLazy[M any](l *pb.Lazy[M], field string, walk func(string, reflect.Value)) error {
	m, err := l.Get()
	if err != nil {
		return err
	}
	walk(field, reflect.ValueOf(m))
	*l = pb.LazyOf(m)
	return nil
}

// filesBeside returns the files of a model besides its graph.
func filesBeside(t *testing.T, from fs.FS) fstest.MapFS {
	files := fstest.MapFS{}
	err := fs.WalkDir(from, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(p, "saved_model.") || strings.HasSuffix(p, ".json") {
			return err
		}
		b, err := fs.ReadFile(from, p)
		files[p] = &fstest.MapFile{Data: b}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestNoUnknownFieldIsLost adds an unknown field to the messages of models, to the first
// one in each field of each type, and rewrites the model: it is in the new file, or the
// model is refused.
func TestNoUnknownFieldIsLost(t *testing.T) {
	types := map[string]bool{}
	for _, name := range []string{"tables", "slots", "mlp", "assets", "finetune_custom", "noise", "session", "tf1_defun", "tf1_sparse"} {
		from := os.DirFS("testdata/models/" + name)
		b, err := fs.ReadFile(from, savedmodel.GraphFile)
		if err != nil {
			t.Fatal(err)
		}
		files := filesBeside(t, from)
		var fields []string
		count := new(pb.SavedModel)
		if err := count.Unmarshal(bytes.Clone(b)); err != nil {
			t.Fatal(err)
		}
		messages(t, count, func(field string, m reflect.Value) { fields = append(fields, field) })
		kept, refused := 0, 0
		for _, field := range fields {
			p := new(pb.SavedModel)
			if err := p.Unmarshal(bytes.Clone(b)); err != nil {
				t.Fatal(err)
			}
			messages(t, p, func(at string, m reflect.Value) {
				if at == field {
					m.FieldByName("Unknown").SetBytes(future)
					types[m.Type().Name()] = true
				}
			})
			files[savedmodel.GraphFile] = &fstest.MapFile{Data: p.Marshal()}
			if bytes.Count(files[savedmodel.GraphFile].Data, future) == 0 {
				t.Fatalf("%s of %s: the field is not in the file", field, name)
			}
			switch ok, err := rewritten(files); {
			case errors.Is(err, savedmodel.ErrUnknownFields):
				refused++
			case err != nil:
				t.Errorf("%s of %s: %v", field, name, err)
			case !ok:
				t.Errorf("%s of %s: the field is gone", field, name)
			default:
				kept++
			}
		}
		t.Logf("%s: %d kept, %d refused", name, kept, refused)
	}
	t.Logf("%d types of messages", len(types))
	for _, want := range []string{"SavedModel", "MetaGraphDef", "MetaInfoDef", "SignatureDef", "TensorInfo", "SaverDef", "AssetFileDef", "CollectionDef", "GraphDef", "NodeDef",
		"AttrValue", "AttrValueListValue", "NameAttrList", "TensorProto", "TensorShapeProto", "Dim", "FunctionDefLibrary", "FunctionDef", "OpDef", "ArgDef", "VersionDef",
		"SavedObjectGraph", "SavedObject", "SavedVariable", "SavedFunction", "SavedConcreteFunction", "SavedBareConcreteFunction", "FunctionSpec", "StructuredValue"} {
		if !types[want] {
			t.Errorf("no model has a %s (there are %q)", want, slices.Sorted(maps.Keys(types)))
			break
		}
	}
}

// TestUnknownFieldsOfACheckpointAreRefused does so for the messages of the object graph
// in variables/.
func TestUnknownFieldsOfACheckpointAreRefused(t *testing.T) {
	ctx := t.Context()
	from := os.DirFS("testdata/models/slots")
	r, err := bundle.Open(ctx, from, savedmodel.VariablesPrefix, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := r.Read(ctx, trackable.ObjectGraphKey)
	if err != nil {
		t.Fatal(err)
	}
	graph := func() *pb.TrackableObjectGraph {
		p := new(pb.TrackableObjectGraph)
		if err := p.Unmarshal([]byte(text.Strings()[0])); err != nil {
			t.Fatal(err)
		}
		return p
	}
	var fields []string
	messages(t, graph(), func(field string, _ reflect.Value) { fields = append(fields, field) })
	for _, field := range fields {
		p := graph()
		messages(t, p, func(at string, m reflect.Value) {
			if at == field {
				m.FieldByName("Unknown").SetBytes(future)
			}
		})
		dir := vfs.MemDir()
		for name, f := range filesBeside(t, from) {
			if err := dir.WriteFile(name, f.Data); err != nil {
				t.Fatal(err)
			}
		}
		b, err := fs.ReadFile(from, savedmodel.GraphFile)
		if err == nil {
			err = dir.WriteFile(savedmodel.GraphFile, b)
		}
		if err != nil {
			t.Fatal(err)
		}
		w, err := bundle.NewWriter(dir, savedmodel.VariablesPrefix, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range r.Names() {
			v, err := r.Read(ctx, name)
			if name == trackable.ObjectGraphKey {
				v = tensor.Scalar(string(p.Marshal()))
			}
			if err == nil {
				err = w.Add(ctx, name, v)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Finish(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := rewritten(dir); !errors.Is(err, savedmodel.ErrUnknownFields) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if len(fields) < 4 {
		t.Errorf("only %q", fields)
	}
}

// rewritten rewrites a model and reports whether the unknown field is in the new file.
func rewritten(files fs.FS) (bool, error) {
	ctx := context.Background()
	m, err := savedmodel.Read(ctx, files, nil)
	if err != nil {
		return false, fmt.Errorf("read: %w", err)
	}
	dir := vfs.MemDir()
	if err := savedmodel.Rewrite(ctx, m, dir, "m", &savedmodel.RewriteOptions{Run: ops.NewRunner(kernel.All())}); err != nil {
		return false, err
	}
	b, err := fs.ReadFile(dir, "m/"+savedmodel.GraphFile)
	return bytes.Contains(b, future), err
}
