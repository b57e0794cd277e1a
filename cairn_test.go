package cairn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/inspect"
	"github.com/cairnml/cairn/tensorfile"
)

// streams hides random access from its users, as a file in an archive does.
type streams struct{ fs.FS }

type stream struct{ fs.File }

func (s streams) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	if info, e := fs.Stat(s.FS, name); e == nil && info.IsDir() {
		return f, err
	}
	return stream{f}, err
}

// files returns one checkpoint in every kind of file, in a directory and in
// memory.
func files(t *testing.T) (dir string, mem fstest.MapFS) {
	t.Helper()
	dir, mem = t.TempDir(), fstest.MapFS{}
	prefix := saved(dir)
	for _, dst := range []string{"w.npz", "w.safetensors"} {
		if _, err := cairn.Convert(t.Context(), prefix, filepath.Join(dir, dst), nil); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		mem[e.Name()] = &fstest.MapFile{Data: data, Mode: 0o444}
	}
	return dir, mem
}

func TestFileSystemsHoldWhatPathsHold(t *testing.T) {
	ctx := context.Background()
	dir, mem := files(t)
	for name, fsys := range map[string]fs.FS{"memory": mem, "streams": streams{mem}, "directory": os.DirFS(dir)} {
		for _, file := range []string{"ckpt", "w.npz", "w.safetensors"} {
			path := filepath.Join(dir, file)
			want, err := cairn.List(ctx, path, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := cairn.List(ctx, file, &tensorfile.Options{FS: fsys})
			if err != nil {
				t.Errorf("%s %s: %v", name, file, err)
				continue
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s %s lists (-path +file system):\n%s", name, file, d)
			}
			a, err := cairn.Read(ctx, path, "net/kernel", nil)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := cairn.Read(ctx, file, "net/kernel", &tensorfile.Options{FS: fsys}); err != nil || !b.Equal(a) {
				t.Errorf("%s %s: %v, want %v (%v)", name, file, b, a, err)
			}
			if faults, err := cairn.Verify(ctx, file, &inspect.VerifyOptions{Open: tensorfile.Options{FS: fsys}}); err != nil || len(faults) > 0 {
				t.Errorf("%s %s: %v %v", name, file, faults, err)
			}
			if d, err := cairn.Diff(ctx, path, file, &inspect.DiffOptions{OpenB: tensorfile.Options{FS: fsys}}); err != nil || len(d.Differences) > 0 {
				t.Errorf("%s %s: %v %v", name, file, d, err)
			}
			if s, err := cairn.Stat(ctx, file, &inspect.StatOptions{Open: tensorfile.Options{FS: fsys}, Names: []string{"bias"}}); err != nil || len(s) != 1 || s[0].Max != 0.5 {
				t.Errorf("%s %s: %v %v", name, file, s, err)
			}
			var onDisk, inFS bytes.Buffer
			if err := errors.Join(cairn.Show(ctx, &onDisk, path, nil), cairn.Show(ctx, &inFS, file, &inspect.ShowOptions{Open: tensorfile.Options{FS: fsys}})); err != nil || strings.ReplaceAll(onDisk.String(), path, file) != inFS.String() {
				t.Errorf("%s %s shows\n%s, want\n%s (%v)", name, file, &inFS, &onDisk, err)
			}
		}
	}
}

func TestFaultsInFileSystemsAreFound(t *testing.T) {
	_, mem := files(t)
	data := mem["ckpt.data-00000-of-00001"].Data
	data[0] ^= 1
	for _, fsys := range []fs.FS{mem, streams{mem}} {
		faults, err := cairn.Verify(t.Context(), "ckpt", &inspect.VerifyOptions{Open: tensorfile.Options{FS: fsys}})
		if err != nil || len(faults) != 1 || !strings.HasSuffix(faults[0].File, "ckpt.data-00000-of-00001") {
			t.Errorf("faults %v, error %v", faults, err)
		}
	}
	if _, err := cairn.List(t.Context(), "nothing", &tensorfile.Options{FS: mem}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an absent checkpoint gives %v", err)
	}
	if _, err := cairn.List(t.Context(), "nothing.npz", &tensorfile.Options{FS: mem}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an absent file gives %v", err)
	}
}

func TestAbsentNamesAreErrorsOfThisPackage(t *testing.T) {
	dir, _ := files(t)
	for _, file := range []string{"ckpt", "w.npz", "w.safetensors"} {
		_, err := cairn.Read(t.Context(), filepath.Join(dir, file), "net/kernal", nil)
		var missing *tensorfile.NotFoundError
		if !errors.As(err, &missing) || missing.Name != "net/kernal" || len(missing.Nearest) == 0 || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestJSONIsTheCommands(t *testing.T) {
	dir, _ := files(t)
	path := filepath.Join(dir, "ckpt")
	entries, err := cairn.List(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := cairn.Stat(t.Context(), path, &inspect.StatOptions{Names: []string{"bias"}})
	if err != nil {
		t.Fatal(err)
	}
	for want, v := range map[string]any{
		`{"name":"net/bias/.ATTRIBUTES/VARIABLE_VALUE","dtype":"float32","shape":[2],"bytes":8,"shard":0,"offset":16}`:                                                            entries[1],
		`{"name":"net/bias/.ATTRIBUTES/VARIABLE_VALUE","dtype":"float32","shape":[2],"count":2,"min":0,"max":0.5,"mean":0.25,"std":0.25,"zeros":1,"nan":0,"posinf":0,"neginf":0}`: stats[0],
		`{"file":"f","tensor":"t","what":"w"}`: inspect.Fault{File: "f", Offset: -1, Tensor: "t", What: "w"},
	} {
		got, err := json.Marshal(v)
		if err != nil || string(got) != want {
			t.Errorf("got  %s (%v)\nwant %s", got, err, want)
		}
	}
}

func TestGraphFormats(t *testing.T) {
	dir, _ := files(t)
	for format, want := range map[inspect.GraphFormat]string{inspect.Tree: "kernel", inspect.DOT: "digraph", inspect.SVG: "<svg"} {
		var b strings.Builder
		if err := cairn.Show(t.Context(), &b, filepath.Join(dir, "ckpt"), &inspect.ShowOptions{Format: format}); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("format %d: %v\n%s", format, err, b.String())
		}
	}
	if err := cairn.Show(t.Context(), new(strings.Builder), filepath.Join(dir, "ckpt"), &inspect.ShowOptions{Format: 9}); err == nil {
		t.Error("format 9 is taken")
	}
}

func TestEditsWithoutAPatternAreRefused(t *testing.T) {
	dir, _ := files(t)
	for _, e := range []convert.Edits{{Drop: []*regexp.Regexp{nil}}, {Cast: []convert.Cast{{}}}, {Rename: []convert.Rename{{}}}} {
		if _, _, err := cairn.Edit(t.Context(), filepath.Join(dir, "ckpt"), filepath.Join(dir, "new"), e, nil); err == nil || !strings.Contains(err.Error(), "has no pattern") {
			t.Errorf("%v: %v", e, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "new*")); err != nil || len(left) > 0 {
		t.Errorf("%v was written (%v)", left, err)
	}
}

func TestWritingAsksBeforeItReplaces(t *testing.T) {
	dir, _ := files(t)
	src, dst := filepath.Join(dir, "ckpt"), filepath.Join(dir, "w.npz")
	if _, err := cairn.Convert(t.Context(), src, dst, nil); err == nil {
		t.Error("a file was replaced unasked")
	}
	var done int64
	w, err := cairn.Convert(t.Context(), src, dst, &convert.Options{Force: true, Progress: func(n, _ int64) { done = n }})
	if err != nil || len(w.Files) != 1 || w.Bytes == 0 || done == 0 {
		t.Errorf("%+v, %d bytes reported (%v)", w, done, err)
	}
	if changes, w, err := cairn.Edit(t.Context(), src, "", convert.Edits{Drop: []*regexp.Regexp{regexp.MustCompile("bias")}}, nil); err != nil || len(changes) != 1 || !changes[0].Drop {
		t.Errorf("a dry run gives %v, %v, %v", changes, w, err)
	}
}

func TestMergeOfTwoGraphsSaysHow(t *testing.T) {
	a, b := saved(t.TempDir()), saved(t.TempDir())
	dst := filepath.Join(t.TempDir(), "both")
	var graphs *convert.GraphsError
	if _, err := cairn.Merge(t.Context(), []string{a, b}, dst, nil); !errors.As(err, &graphs) || len(graphs.Sources) != 2 || !strings.Contains(err.Error(), "MergeOptions.Join") {
		t.Errorf("two graphs give %v", err)
	}
	if _, err := cairn.Merge(t.Context(), []string{a, b}, dst, &convert.MergeOptions{Join: []string{"a", "b"}}); err != nil {
		t.Fatal(err)
	}
	if x, err := cairn.Read(t.Context(), dst, "b/net/bias", nil); err != nil || x.Len() != 2 {
		t.Errorf("after the merge: %v (%v)", x, err)
	}
	var clash *convert.ClashError
	if _, err := cairn.Merge(t.Context(), []string{a, b}, dst+"2", &convert.MergeOptions{Graph: a}); !errors.As(err, &clash) {
		t.Errorf("equal names give %v", err)
	}
}
