package tensorfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

func TestStarsCrossSlashesAndNothingElseIsSpecial(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true}, {"*", "a/b", true}, {"a*c", "a/b/c", true}, {"a?c", "a/c", true}, {"a?c", "aéc", true}, {"?", "é", true}, {"??", "é", false},
		{"a*c", "a/b", false}, {"*kernel", "net/kernel", true}, {"*kernel", "kernel/m", false}, {"[ab]*", "a1", false}, {"[ab]*", "[ab]1", true},
		{"**a**", "bab", true}, {"a", "ab", false}, {"", "", true}, {"", "a", false},
		{strings.Repeat("*a", 30) + "b", strings.Repeat("a", 5000), false}, // in no time
	} {
		if got := Match(c.pattern, c.name); got != c.want {
			t.Errorf("%q, %q: %v", c.pattern, c.name, got)
		}
	}
}

// keras3 writes a checkpoint whose kernel has a key below the optimizer and is
// reached from the model too.
func keras3(t *testing.T) *File {
	t.Helper()
	edge := func(name string, to int32) *pb.ObjectReference {
		return &pb.ObjectReference{LocalName: name, NodeId: to}
	}
	kernel := "optimizer/_variables/0" + ValueSuffix
	g := &pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{
		{Children: []*pb.ObjectReference{edge("optimizer", 1), edge("model", 2)}},
		{Children: []*pb.ObjectReference{edge("_variables", 3)}},
		{Children: []*pb.ObjectReference{edge("kernel", 4)}},
		{Children: []*pb.ObjectReference{edge("0", 4)}},
		{Attributes: []*pb.SerializedTensor{{Name: "VARIABLE_VALUE", CheckpointKey: kernel}}},
	}}
	dir := t.TempDir()
	w, err := bundle.NewWriter(vfs.OSDir(dir), "c", &bundle.WriterOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]*tensor.Tensor{GraphKey: tensor.Scalar(string(g.Marshal())), kernel: tensor.Vector[float32](1, 2), "other" + ValueSuffix: tensor.Vector[float32](3)} {
		if err := w.Add(t.Context(), name, x); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), filepath.Join(dir, "c"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestNamesPathsAndPatternsMeanTensors(t *testing.T) {
	s := keras3(t)
	for arg, want := range map[string]string{
		"optimizer/_variables/0":   "optimizer/_variables/0",
		"model/kernel":             "optimizer/_variables/0",
		"model/kernel[1:]":         "optimizer/_variables/0 [{1 2 false}]",
		"model/*":                  "optimizer/_variables/0",
		"*kernel[0]":               "optimizer/_variables/0 [{0 1 true}]",
		"*":                        "optimizer/_variables/0, other",
		"other":                    "other",
		"*/.ATTRIBUTES/*":          "optimizer/_variables/0, other",
		"optimizer/_variables/0*":  "optimizer/_variables/0",
		"_CHECKPOINTABLE_OBJECT_*": "error",
		"model":                    "error",
		"mod*x":                    "error",
	} {
		list, err := s.Select(t.Context(), []string{arg})
		var words []string
		for _, x := range list {
			w := Short(x.Name)
			if x.Index != nil {
				w += " " + fmt.Sprint(x.Index)
			}
			words = append(words, w)
		}
		got := strings.Join(words, ", ")
		var missing *NotFoundError
		if err != nil {
			got = "error"
			if !errors.As(err, &missing) {
				t.Errorf("%q: %v", arg, err)
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", arg, got, want)
		}
	}
	for pattern, want := range map[string]int{"kernel": 1, "model": 1, "*kernel": 1, "o": 2, "oth?r": 1} {
		if list, err := s.Filter(t.Context(), []string{pattern}); err != nil || list.Len() != want {
			t.Errorf("%q: %d entries, want %d, %v", pattern, list.Len(), want, err)
		}
	}
}

func TestForeignFilesAreCalledByTheirNames(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string][2]string{
		"weights":          {"\x89HDF\r\n\x1a\n....", "an HDF5 file"},
		"a.npy":            {"\x93NUMPY", "a single numpy array"},
		"ckpt-1.meta":      {"xx", "a MetaGraph, the graph that belongs to a checkpoint: its checkpoint, of the prefix"},
		"frozen.pb":        {"xx", "is no GraphDef: it has no nodes"},
		"x.onnx":           {"xx", "an ONNX model"},
		"notes.unheard-of": {"xx", "a file of 2 bytes that is no checkpoint"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(want[0]), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Open(context.Background(), path, nil)
		if err == nil || !strings.Contains(err.Error(), want[1]) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %q", name, err, want[1])
		}
	}
	for path, want := range map[string]string{"x.he5": "HDF5", "x.onnx": "ONNX", "-": "stdout", "model.ckpt": "", "x.npz": "", "run/ckpt-1": ""} {
		if err := CheckTarget(path); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestNoFileOfTheSourceIsOverwritten(t *testing.T) {
	s := keras3(t)
	dir := filepath.Dir(s.Prefix)
	other := filepath.Join(dir, "sub")
	if err := os.Symlink(dir, other); err != nil {
		other = dir // links need privileges on Windows
	}
	hard := filepath.Join(t.TempDir(), "x.svg")
	if err := os.Link(s.Prefix+".index", hard); err != nil {
		hard = s.Prefix + ".index"
	}
	for _, p := range []string{s.Prefix + ".index", s.Prefix + ".data-00000-of-00001", filepath.Join(other, "c.index"), hard} {
		var e *OverwriteError
		if err := s.Protect(p); !errors.As(err, &e) {
			t.Errorf("%s: %v", p, err)
		}
	}
	if err := s.Protect(filepath.Join(dir, "new.svg"), s.Prefix+".svg"); err != nil {
		t.Error(err)
	}
}

// A sharded checkpoint of version 1 is called by a pattern of its files, too.
func TestNoFileOfAShardedSourceIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../bundle/testdata/tf2.21/v1_sharded")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"ckpt", "ckpt-?????-of-00002"} {
		s, err := Open(context.Background(), filepath.Join(dir, path), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, p := range []string{"ckpt-00000-of-00002", "ckpt-00001-of-00002", "ckpt.meta"} {
			if err := os.WriteFile(filepath.Join(dir, "ckpt.meta"), nil, 0o666); err != nil {
				t.Fatal(err)
			}
			var e *OverwriteError
			if err := s.Protect(filepath.Join(dir, p)); !errors.As(err, &e) {
				t.Errorf("%s, opened as %s: %v", p, path, err)
			}
		}
		if err := s.Protect(filepath.Join(dir, "ckpt-00000-of-00002.svg")); err != nil {
			t.Error(err)
		}
	}
}

func TestAFolderThatMayNotBeReadIsNoTakenName(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("root may read everything: only the way a plain file stands in for a directory is tried")
	}
	dir := t.TempDir()
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	if err := CheckFree(filepath.Join(closed, "x"), false); err != nil && (errors.Is(err, os.ErrExist) || !errors.Is(err, os.ErrPermission)) {
		t.Error(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := CheckFree(filepath.Join(file, "x"), false); err != nil {
		t.Error(err) // the attempt to write reports the error
	}
	if err := CheckFree(file, false); !errors.Is(err, os.ErrExist) {
		t.Error(err)
	}
}
