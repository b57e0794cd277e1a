package savedmodel_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/vfs"
)

// future is a field that no release knows: number 9,999, the varint 1.
var future = []byte{0xf8, 0xf0, 0x04, 0x01}

// graphOf returns the objects of a model's file.
func graphOf(t *testing.T, fsys fs.FS) (*pb.SavedModel, *pb.SavedObjectGraph) {
	t.Helper()
	b, err := fs.ReadFile(fsys, savedmodel.GraphFile)
	if err != nil {
		t.Fatal(err)
	}
	m := new(pb.SavedModel)
	if err := m.Unmarshal(b); err != nil {
		t.Fatal(err)
	}
	g, err := m.MetaGraphs[0].ObjectGraphDef.Get()
	if err != nil {
		t.Fatal(err)
	}
	return m, g
}

// TestFieldsOfTheFutureAreKeptOrRefused adds an unknown field to one message of each kind,
// and writes the model again.
func TestFieldsOfTheFutureAreKeptOrRefused(t *testing.T) {
	ctx := context.Background()
	spec := func(l *pb.Lazy[pb.FunctionSpec]) {
		m, err := l.Get()
		if err != nil {
			t.Fatal(err)
		}
		m.Unknown = future
		*l = pb.LazyOf(m)
	}
	edits := []struct {
		name string
		keep bool
		edit func(g *pb.SavedObjectGraph, o *pb.SavedObject) bool
	}{
		{"object", true, func(_ *pb.SavedObjectGraph, o *pb.SavedObject) bool { o.Unknown = future; return true }},
		{"edge", true, func(_ *pb.SavedObjectGraph, o *pb.SavedObject) bool {
			if len(o.Children) == 0 {
				return false
			}
			o.Children[0].Unknown = future
			return true
		}},
		{"user object", true, func(_ *pb.SavedObjectGraph, o *pb.SavedObject) bool {
			if o.UserObject == nil {
				return false
			}
			o.UserObject.Unknown = future
			return true
		}},
		{"version", true, func(_ *pb.SavedObjectGraph, o *pb.SavedObject) bool {
			if o.UserObject == nil || o.UserObject.Version == nil {
				return false
			}
			o.UserObject.Version.Unknown = future
			return true
		}},
		{"asset", true, func(_ *pb.SavedObjectGraph, o *pb.SavedObject) bool {
			if o.Asset == nil {
				return false
			}
			o.Asset.Unknown = future
			return true
		}},
		{"function", true, func(_ *pb.SavedObjectGraph, o *pb.SavedObject) bool {
			if o.Function == nil {
				return false
			}
			o.Function.Unknown = future
			return true
		}},
		{"function spec", true, func(_ *pb.SavedObjectGraph, o *pb.SavedObject) bool {
			if o.Function == nil || o.Function.FunctionSpec == nil {
				return false
			}
			spec(o.Function.FunctionSpec)
			return true
		}},
		{"variable", true, func(_ *pb.SavedObjectGraph, o *pb.SavedObject) bool {
			if o.Variable == nil {
				return false
			}
			o.Variable.Unknown = future
			return true
		}},
		{"bare function", true, func(_ *pb.SavedObjectGraph, o *pb.SavedObject) bool {
			if o.BareConcreteFunction == nil {
				return false
			}
			o.BareConcreteFunction.Unknown = future
			return true
		}},
		{"constant", true, func(_ *pb.SavedObjectGraph, o *pb.SavedObject) bool {
			if o.Constant == nil {
				return false
			}
			o.Constant.Unknown = future
			return true
		}},
		{"resource", true, func(_ *pb.SavedObjectGraph, o *pb.SavedObject) bool {
			if o.Resource == nil {
				return false
			}
			o.Resource.Unknown = future
			return true
		}},
		{"functions that save", true, func(_ *pb.SavedObjectGraph, o *pb.SavedObject) bool {
			if len(o.SaveableObjects) == 0 {
				return false
			}
			o.SaveableObjects[0].Value.Unknown = future
			return true
		}},
		{"slot", false, func(_ *pb.SavedObjectGraph, o *pb.SavedObject) bool {
			if len(o.SlotVariables) == 0 {
				return false
			}
			o.SlotVariables[0].Unknown = future
			return true
		}},
		{"trace", false, func(g *pb.SavedObjectGraph, _ *pb.SavedObject) bool {
			if len(g.ConcreteFunctions) == 0 {
				return false
			}
			g.ConcreteFunctions[0].Value.Unknown = future
			return true
		}},
		{"object graph", false, func(g *pb.SavedObjectGraph, _ *pb.SavedObject) bool { g.Unknown = future; return true }},
	}
	for _, e := range edits {
		met := 0
		for _, name := range []string{"table", "tables", "slots", "module", "mlp"} {
			from := os.DirFS("testdata/models/" + name)
			m, g := graphOf(t, from)
			found := false
			for _, o := range g.Nodes {
				if found = e.edit(g, o); found {
					break
				}
			}
			if !found {
				continue
			}
			met++
			m.MetaGraphs[0].ObjectGraphDef = lazy(g)
			files := fstest.MapFS{savedmodel.GraphFile: {Data: m.Marshal()}}
			for _, dir := range []string{"variables", "assets"} {
				list, _ := fs.ReadDir(from, dir)
				for _, f := range list {
					b, err := fs.ReadFile(from, dir+"/"+f.Name())
					if err != nil {
						t.Fatal(err)
					}
					files[dir+"/"+f.Name()] = &fstest.MapFile{Data: b}
				}
			}
			read, err := savedmodel.Read(ctx, files, nil)
			if err != nil {
				t.Fatal(err)
			}
			out := vfs.MemDir()
			err = savedmodel.Rewrite(ctx, read, out, "m", nil)
			what := fmt.Sprintf("%s of %s", e.name, name)
			if !e.keep {
				if err == nil || !strings.Contains(err.Error(), "doesn't know") {
					t.Errorf("%s: %v", what, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			fsys, err := subFS(out, "m")
			if err != nil {
				t.Fatal(err)
			}
			_, again := graphOf(t, fsys)
			if !bytes.Contains(again.Marshal(), future) {
				t.Errorf("%s: the field is gone", what)
			}
		}
		if met == 0 {
			t.Errorf("no model has a %s", e.name)
		}
	}
}

func lazy(g *pb.SavedObjectGraph) *pb.Lazy[pb.SavedObjectGraph] {
	l := pb.LazyOf(g)
	return &l
}
