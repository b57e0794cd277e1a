package bundle

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/vfs"
	"github.com/google/go-cmp/cmp"
)

func TestFindPrefix(t *testing.T) {
	dir := vfs.MemDir()
	for _, p := range []string{"run/ckpt-1", "run/ckpt-2", "model/variables/variables", "v/variables/variables", "moved/here", "odd/a.index"} {
		smallBundle(t, dir, p)
	}
	put := func(name, text string) { dir.WriteFile(name, []byte(text)) }
	v1, err := os.ReadFile(fixtures + "/v1/ckpt")
	if err != nil {
		t.Fatal(err)
	}
	put("old/model.ckpt", string(v1))
	put("shards/m-00000-of-00002", string(v1))
	put("shards/m-00001-of-00002", string(v1))
	put("run/checkpoint", "model_checkpoint_path: \"ckpt-2\"\nall_model_checkpoint_paths: \"ckpt-1\"\n")
	put("moved/checkpoint", "model_checkpoint_path: \"/gone/from/here\"\n")
	put("windows/checkpoint", `model_checkpoint_path: "..\\run\\ckpt-1"`)
	put("stale/checkpoint", "model_checkpoint_path: \"ckpt-9\"\n")
	put("broken/checkpoint", "model_checkpoint_path: ckpt\n")
	put("model/saved_model.pb", "")
	put("stateless/saved_model.pb", "")
	put("run/notes.txt", "hello, this is no table")
	put("lost/x.data-00000-of-00001", "")
	put("empty/readme", "")

	for _, c := range []struct {
		name string
		want Found
	}{
		{"run/ckpt-1", Found{FoundPrefix, "run/ckpt-1", "run", false}},
		{"run/ckpt-1.index", Found{FoundIndex, "run/ckpt-1", "run", false}},
		{"run/ckpt-1.data-00001-of-00002", Found{FoundData, "run/ckpt-1", "run", false}},
		{"run", Found{FoundState, "run/ckpt-2", "run", false}},
		{"run/", Found{FoundState, "run/ckpt-2", "run", false}},
		{"run/checkpoint", Found{FoundState, "run/ckpt-2", "run", false}},
		{"moved", Found{FoundState, "moved/here", "moved", false}},
		{"windows", Found{FoundState, "run/ckpt-1", "windows", true}},
		{"model", Found{FoundSavedModel, "model/variables/variables", "model", false}},
		{"v/variables", Found{FoundSavedModel, "v/variables/variables", "v", false}},
		{"old/model.ckpt", Found{FoundV1, "old/model.ckpt", "old", false}},
		{"shards/m", Found{FoundV1, "shards/m", "shards", false}},
		{"odd/a.index", Found{FoundPrefix, "odd/a.index", "odd", false}},
	} {
		got, err := FindPrefix(dir, c.name)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}

	for _, c := range []struct{ name, want string }{
		{"run/ckpt-3", `found nothing; the directory holds the checkpoints "run/ckpt-1", "run/ckpt-2"`},
		{"none/ckpt", "found nothing; the directory none doesn't exist either"},
		{"empty", "found a directory without a checkpoint file; the directory holds no checkpoints"},
		{"stale", "found a directory whose checkpoint file lists only missing checkpoints (it names \"ckpt-9\"); the directory holds no checkpoints"},
		{"broken", "lists only missing checkpoints"},
		{"stateless", "found a SavedModel without variables"},
		{"run/notes.txt", "found a file of 23 bytes that is no checkpoint"},
		{"lost/x.data-00000-of-00001", "a data file whose index, x.index, is missing"},
		{"../x", "no usable path"},
	} {
		_, err := FindPrefix(dir, c.name)
		var p *PathError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}

	for _, c := range []struct{ name, want string }{
		{"run/ckpt-1.index", `found an index file; the prefix is "run/ckpt-1"`},
		{"run/ckpt-1.data-00001-of-00002", `found a data file; the prefix is "run/ckpt-1"`},
		{"run", `found a directory with a checkpoint state file; its latest checkpoint has the prefix "run/ckpt-2"`},
		{"model", `found a SavedModel's directory; its values have the prefix "model/variables/variables"`},
		{"empty", "found a directory without a checkpoint file"},
		{"run/checkpoint", `found a checkpoint state file; the latest checkpoint that it names has the prefix "run/ckpt-2"`},
		{"run/ckpt-7", `found nothing; the directory holds the checkpoints "run/ckpt-1", "run/ckpt-2"`},
	} {
		_, err := Open(t.Context(), dir, c.name, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open %s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestFindFile(t *testing.T) {
	root := t.TempDir()
	smallBundle(t, vfs.OSDir(root), "run/ckpt-1")
	state := filepath.Join(root, "run", "checkpoint")
	if err := os.WriteFile(state, []byte("model_checkpoint_path: \"ckpt-1\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	prefix := filepath.Join(root, "run", "ckpt-1")
	for _, p := range []string{prefix, prefix + ".index", state, filepath.Join(root, "run"), filepath.Join(root, "run") + string(filepath.Separator)} {
		got, err := FindFile(p)
		if err != nil || got.Prefix != prefix || got.Dir != filepath.Dir(prefix) {
			t.Errorf("%s: %+v, %v", p, got, err)
		}
	}
	t.Chdir(filepath.Join(root, "run"))
	for _, p := range []string{".", "ckpt-1", "./ckpt-1.index", "checkpoint"} {
		if got, err := FindFile(p); err != nil || got.Prefix != "ckpt-1" {
			t.Errorf("%s: %+v, %v", p, got, err)
		}
	}
	// The state file may name a checkpoint elsewhere.
	other := filepath.Join(root, "other")
	if err := os.Mkdir(other, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "checkpoint"), []byte("model_checkpoint_path: \""+strings.ReplaceAll(prefix, `\`, `\\`)+"\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := FindFile(other); err != nil || got.Prefix != prefix || got.Kind != FoundState || !got.Elsewhere {
		t.Errorf("an absolute path in the state file: %+v, %v", got, err)
	}
	// In a copy of the directory, the copied files come before those of the original.
	smallBundle(t, vfs.OSDir(root), "other/ckpt-1")
	if got, err := FindFile(other); err != nil || got.Prefix != filepath.Join(other, "ckpt-1") || got.Kind != FoundState || got.Elsewhere {
		t.Errorf("a copied directory: %+v, %v", got, err)
	}
	if _, err := FindFile(filepath.Join(root, "none")); !errors.Is(err, ErrNotFound) {
		t.Errorf("nothing: %v", err)
	}
}

// closedFS refuses to open one of its files.
type closedFS struct {
	fs.FS
	closed string
}

func (f closedFS) Open(name string) (fs.File, error) {
	if name == f.closed {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f.FS.Open(name)
}

func TestFilesThatMayNotBeReadAreNoMissingOnes(t *testing.T) {
	dir := vfs.MemDir()
	smallBundle(t, dir, "run/ckpt-1")
	dir.WriteFile("run/checkpoint", []byte("model_checkpoint_path: \"ckpt-1\"\n"))
	index := closedFS{dir, "run/ckpt-1.index"}
	for _, name := range []string{"run/ckpt-1", "run"} {
		found, err := FindPrefix(index, name)
		if err != nil || found.Prefix != "run/ckpt-1" {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	_, err := Open(t.Context(), index, "run/ckpt-1", nil)
	if want := "bundle: open run/ckpt-1.index: permission denied"; !errors.Is(err, fs.ErrPermission) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	r, err := Open(t.Context(), closedFS{dir, DataName("run/ckpt-1", 0, 2)}, "run/ckpt-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Verify(t.Context(), nil)
	if want := "bundle: open run/ckpt-1.data-00000-of-00002: permission denied"; !errors.Is(err, fs.ErrPermission) || err.Error() != want {
		t.Errorf("%v, want %s, once", err, want)
	}
}
