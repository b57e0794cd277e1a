package checkpoint

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// lyingDir reports writes as done and loses the last byte of each file whose
// name holds part, or changes it.
type lyingDir struct {
	*vfs.Mem
	part    string
	changes bool
	lost    int
}

func (d *lyingDir) Create(name string) (vfs.File, error) {
	f, err := d.Mem.Create(name)
	if err != nil || d.part == "" || !strings.Contains(name, d.part) {
		return f, err
	}
	return &lyingFile{f, d, name}, nil
}

type lyingFile struct {
	vfs.File
	d    *lyingDir
	name string
}

func (f *lyingFile) Close() error {
	if err := f.File.Close(); err != nil {
		return err
	}
	b, err := fs.ReadFile(f.d.Mem, f.name)
	if err != nil || len(b) == 0 {
		return err
	}
	g, err := f.d.Mem.Create(f.name)
	if err != nil {
		return err
	}
	last := b[len(b)-1] ^ 1
	if b = b[:len(b)-1]; f.d.changes {
		b = append(b, last)
	}
	if _, err := g.Write(b); err != nil {
		return err
	}
	f.d.lost++
	return g.Close()
}

// TestNoSaveReportsWhatCannotBeOpenedAgain simulates a disk that loses the end
// of data it reported as written. In every way of writing checkpoints this is
// an error, and the previous checkpoint stays.
func TestNoSaveReportsWhatCannotBeOpenedAgain(t *testing.T) {
	ctx := context.Background()
	for _, part := range []string{".data-", ".index", "c.index"} { // the last is that of a merged one alone
		for what, save := range map[string]func(t *testing.T, d vfs.Dir) error{
			"Checkpoint.WriteTo": func(t *testing.T, d vfs.Dir) error {
				_, ck := newSteps(t)
				return ck.WriteTo(ctx, d, "c")
			},
			"with a registered saver": func(t *testing.T, d vfs.Dir) error {
				savers := new(Savers)
				if err := savers.Register("Test", oddSaver); err != nil {
					t.Fatal(err)
				}
				ck, err := New(&struct{ Odd *oddPart }{newOdd()}, &Options{Savers: savers})
				if err != nil {
					t.Fatal(err)
				}
				return ck.WriteTo(ctx, d, "c")
			},
			"Manager.Save": func(t *testing.T, d vfs.Dir) error {
				_, ck := newSteps(t)
				m := newManager(t, ck, "run", &ManagerOptions{Dir: d, CheckpointName: "m", MaxToKeep: 1})
				defer m.Close()
				path, err := m.Save(ctx)
				if (path == "") != (err != nil) {
					t.Errorf("%q and %v", path, err)
				}
				return err
			},
			"Manager.Save in the background": func(t *testing.T, d vfs.Dir) error {
				_, ck := newSteps(t)
				m := newManager(t, ck, "run", &ManagerOptions{Dir: d, CheckpointName: "m", MaxToKeep: 1, Async: true})
				defer m.Close()
				if _, err := m.Save(ctx); err != nil {
					t.Fatal(err)
				}
				return m.Wait(ctx)
			},
			"View.Rewrite": func(t *testing.T, d vfs.Dir) error {
				_, ck := newSteps(t)
				src := vfs.MemDir()
				if err := ck.WriteTo(ctx, src, "s"); err != nil {
					t.Fatal(err)
				}
				v, err := OpenFS(ctx, src, "s", nil)
				if err != nil {
					t.Fatal(err)
				}
				defer v.Close()
				return v.Rewrite(ctx, d, "c", nil)
			},
		} {
			if part == "c.index" && strings.HasPrefix(what, "Manager") {
				continue // its checkpoints are called m-1
			}
			t.Run(what+part, func(t *testing.T) {
				d := &lyingDir{Mem: vfs.MemDir()}
				if err := save(t, d); err != nil {
					t.Fatal(err)
				}
				before := memNames(t, d)
				d.part = part
				err := save(t, d)
				if d.lost == 0 {
					t.Fatal("nothing was lost")
				}
				if err == nil {
					t.Error("the save reports success")
				}
				if part == "c.index" && what == "with a registered saver" {
					return // merged over its files in place, which isn't atomic
				}
				if got := memNames(t, d); !slices.Equal(got, before) {
					t.Errorf("the disk holds %q, before the save %q", got, before)
				}
				for _, f := range before {
					if prefix, ok := strings.CutSuffix(f, ".index"); ok {
						r, err := bundle.Open(ctx, d, prefix, nil)
						if err == nil {
							err = r.Verify(ctx, nil)
						}
						if err != nil {
							t.Errorf("the checkpoint of before: %v", err)
						}
					}
				}
			})
		}
	}
}

func memNames(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	var out []string
	if err := fs.WalkDir(fsys, ".", func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, p)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func newOdd() *oddPart { return &oddPart{*trackable.NewVariable(weightAt(0))} }

// TestReplacementIsKeptUntilItsCopyIsVerified checks that a save over a checkpoint,
// which copies a replacement, keeps the replacement until every byte of the copy is
// verified.
func TestReplacementIsKeptUntilItsCopyIsVerified(t *testing.T) {
	ctx := context.Background()
	for _, changes := range []bool{false, true} {
		for _, part := range []string{"m-7.data-", "m-7.index"} {
			d := &lyingDir{Mem: vfs.MemDir(), changes: changes}
			root, ck := newSteps(t)
			m := newManager(t, ck, "run", &ManagerOptions{Dir: d, CheckpointName: "m", MaxToKeep: 1})
			if _, err := m.SaveAs(ctx, 7); err != nil {
				t.Fatal(err)
			}
			root.Step.Set(5)
			d.part = part
			path, err := m.SaveAs(ctx, 7)
			if path != "" || err == nil || d.lost == 0 {
				t.Errorf("%s, changes %v: saved %q, %v; %d files were hit", part, changes, path, err, d.lost)
			}
			d.part = ""
			root.Step.Set(0)
			if _, err := m.RestoreLatest(ctx); err != nil || root.Step.Get() != 5 {
				t.Errorf("%s, changes %v: restored step %d, %v", part, changes, root.Step.Get(), err)
			}
			if path, err := m.SaveAs(ctx, 7); err != nil || path != m.Latest() {
				t.Errorf("%s, changes %v: afterwards: %q, %v", part, changes, path, err)
			}
			if got := memNames(t, d); !slices.Equal(got, []string{"checkpoint", "m-7.data-00000-of-00001", "m-7.index"}) {
				t.Errorf("%s, changes %v: the disk holds %q", part, changes, got)
			}
		}
	}
}
