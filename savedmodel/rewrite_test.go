package savedmodel_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/vfs"
)

// TestModelsAreWrittenAgain reads each model of the test data, writes it, and
// reads the copy: it has the same signatures, objects, functions, assets and
// collections.
func TestModelsAreWrittenAgain(t *testing.T) {
	names, err := filepath.Glob("testdata/models/*")
	if err != nil || len(names) < 40 {
		t.Fatal(len(names), err)
	}
	for _, from := range names {
		t.Run(filepath.Base(from), func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			read := func(dir string) *savedmodel.SavedModel {
				t.Helper()
				m, err := savedmodel.Read(ctx, os.DirFS(dir), nil)
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			old, dir := read(from), t.TempDir()
			var notes []string
			err := savedmodel.Rewrite(ctx, old, vfs.OSDir(dir), "again", &savedmodel.RewriteOptions{Note: func(text string) { notes = append(notes, text) }})
			if registered := filepath.Base(from) == "registered"; registered != (len(notes) > 0) {
				t.Errorf("notes %q", notes)
			}
			if err != nil {
				t.Fatal(err)
			}
			again := read(filepath.Join(dir, "again"))
			if len(old.MetaGraphs) != len(again.MetaGraphs) {
				t.Fatalf("%d MetaGraphs, want %d", len(again.MetaGraphs), len(old.MetaGraphs))
			}
			for i, g := range old.MetaGraphs {
				compareMetaGraphs(t, again.MetaGraphs[i], g)
			}
			for _, a := range old.MetaGraphs[0].Assets {
				want, err := fs.ReadFile(os.DirFS(from), a.Path())
				if err != nil {
					t.Fatal(err)
				}
				if got, err := fs.ReadFile(os.DirFS(filepath.Join(dir, "again")), a.Path()); err != nil || string(got) != string(want) {
					t.Errorf("asset %s: %v", a.Name, err)
				}
			}
		})
	}
}

// TestAModelWhoseSaverIsUnknownIsCopied rewrites a model whose values a saver in Python
// wrote: the copy has the same files of values, and an edit of it is an error.
func TestAModelWhoseSaverIsUnknownIsCopied(t *testing.T) {
	ctx := context.Background()
	from, dir := os.DirFS("testdata/models/registered"), t.TempDir()
	m, err := savedmodel.Read(ctx, from, nil)
	if err != nil {
		t.Fatal(err)
	}
	edit := &savedmodel.RewriteOptions{Edit: func(*savedmodel.Restored) error { return nil }}
	var refused *savedmodel.SaveError
	if err := savedmodel.Rewrite(ctx, m, vfs.OSDir(dir), "edited", edit); !errors.As(err, &refused) || refused.Path != "a/parts/0" {
		t.Errorf("%v", err)
	}
	if err := savedmodel.Rewrite(ctx, m, vfs.OSDir(dir), "again", nil); err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(from, "variables/*")
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		want, err := fs.ReadFile(from, name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "again", name)); err != nil || string(got) != string(want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func compareMetaGraphs(t *testing.T, got, want *savedmodel.MetaGraph) {
	t.Helper()
	a, b := slices.Sorted(slices.Values(got.Tags)), slices.Sorted(slices.Values(want.Tags))
	if !slices.Equal(a, b) {
		t.Errorf("tags %q, want %q", a, b)
	}
	calls := func(g *savedmodel.MetaGraph) (out []string) {
		for _, s := range g.Signatures {
			line := s.Name
			for _, list := range [][]savedmodel.TensorInfo{savedmodel.PlainTensors(s.Inputs), savedmodel.PlainTensors(s.Outputs)} {
				line += " |"
				for _, x := range list {
					line += " " + x.Name + x.DType.String() + x.Shape.String()
				}
			}
			out = append(out, line)
		}
		return out
	}
	if x, y := calls(got), calls(want); !slices.Equal(x, y) {
		t.Errorf("signatures\n%q, want\n%q", x, y)
	}
	if x, y := objects(got), objects(want); !slices.Equal(x, y) {
		t.Errorf("objects (-want +got):\n%s", cmp.Diff(y, x))
	}
	var names [2][]string
	for i, g := range []*savedmodel.MetaGraph{got, want} {
		for _, c := range g.Collections() {
			names[i] = append(names[i], c.Name)
		}
	}
	if len(want.Objects) == 0 && !slices.Equal(names[0], names[1]) {
		t.Errorf("collections %q, want %q", names[0], names[1])
	}
}

// objects lists the objects that the root reaches, by their paths, with their traces.
func objects(g *savedmodel.MetaGraph) []string {
	var out []string
	for id, p := range g.Paths() {
		o := g.Objects[id]
		line := p + " " + o.Kind.String() + " " + o.Identifier + " " + o.RegisteredName + " " + o.Metadata
		if o.Function != nil {
			for _, c := range o.Function.Concrete {
				line += " " + c.Takes()
			}
		}
		if v := o.Variable; v != nil {
			line += v.Name + v.DType.String() + v.Shape.String() + v.Synchronization + v.Aggregation
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}
