package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

func readText(t *testing.T, files *engine.Files, name string) (string, error) {
	t.Helper()
	s := function.Eager(t.Context(), &function.Options{Files: files})
	v, err := raw.ReadFile(s, ops.Const(s, name)).Tensor()
	if err = errors.Join(err, s.Err()); err != nil {
		return "", err
	}
	return v.Strings()[0], nil
}

func writeText(t *testing.T, files *engine.Files, name string) error {
	t.Helper()
	s := function.Eager(t.Context(), &function.Options{Files: files})
	raw.WriteFile(s, ops.Const(s, name), ops.Const(s, "new"))
	return s.Err()
}

// TestAbsoluteNamesBelowAGrantAreGranted: models bake absolute paths.
func TestAbsoluteNamesBelowAGrantAreGranted(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, d := range []string{in, filepath.Join(in, "sub"), out} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"in/a.txt": "a", "in/sub/b.txt": "b", "secret": "s", "input": "i"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	slashed := filepath.ToSlash(in)
	both, err := engine.GrantDirs(in, out)
	if err != nil {
		t.Fatal(err)
	}
	root, err := engine.GrantDirs("/", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		files *engine.Files
		name  string
		want  string // "" if it is denied
	}{
		{both, "a.txt", "a"}, {both, slashed + "/a.txt", "a"}, {both, "file://" + slashed + "/sub/b.txt", "b"}, {both, slashed + "/sub/../a.txt", "a"},
		{root, slashed + "/a.txt", "a"}, {root, slashed[1:] + "/a.txt", "a"},
		{both, filepath.ToSlash(dir) + "/secret", ""}, {both, slashed + "put", ""}, {both, slashed + "/../secret", ""}, {both, "../secret", "invalid"},
		{nil, "a.txt", ""}, {&engine.Files{Read: fstest.MapFS{"a.txt": {Data: []byte("a")}}}, "/a.txt", ""},
		{&engine.Files{Read: fstest.MapFS{"a.txt": {Data: []byte("a")}}, ReadRoot: "/data"}, "/data/a.txt", "a"},
		{(*engine.Files)(nil).With(fstest.MapFS{"assets/v": {Data: []byte("v")}}, "assets/v"), "assets/v", "v"},
		{(*engine.Files)(nil).With(fstest.MapFS{"w": {Data: []byte("v")}}, "assets/v"), "w", ""},
		{both.With(fstest.MapFS{}, "x"), slashed + "/a.txt", "a"},
	} {
		got, err := readText(t, c.files, c.name)
		var denied *engine.DeniedError
		switch {
		case c.want == "":
			if !errors.As(err, &denied) || !errors.Is(err, engine.ErrNotGranted) || denied.Name != c.name || denied.Op != "ReadFile" || denied.Write || !strings.Contains(err.Error(), c.name) {
				t.Errorf("%s: %q, %v", c.name, got, err)
			}
		case c.want == "invalid":
			if err == nil {
				t.Errorf("%s is read", c.name)
			}
		case err != nil || got != c.want:
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
	if err := writeText(t, both, filepath.ToSlash(out)+"/x/y"); err != nil {
		t.Error(err)
	}
	if got, err := readText(t, both, filepath.ToSlash(out)+"/x/y"); got != "new" {
		t.Error(got, err)
	}
	var denied *engine.DeniedError
	if err := writeText(t, both, slashed+"/a.txt"); !errors.As(err, &denied) || !denied.Write {
		t.Error(err)
	}
	s := function.Eager(t.Context(), &function.Options{Files: both})
	list, err := raw.MatchingFiles(s, ops.Const(s, slashed+"/*.txt")).Tensor()
	if err != nil || len(list.Strings()) != 1 || list.Strings()[0] != slashed+"/a.txt" {
		t.Error(list, err)
	}
}

// TestCheckpointsHaveAbsoluteNames: SaveV2, RestoreV2 and MergeV2Checkpoints take
// prefixes.
func TestCheckpointsHaveAbsoluteNames(t *testing.T) {
	files := &engine.Files{Write: vfs.MemDir(), WriteRoot: "/jobs"}
	s := function.Eager(t.Context(), &function.Options{Files: files})
	names, specs := ops.Const(s, []string{"x"}), ops.Const(s, []string{""})
	raw.SaveV2(s, ops.Const(s, "/jobs/1/part"), names, specs, []ops.Input{ops.Const(s, []float32{1, 2})})
	raw.MergeV2Checkpoints(s, ops.Const(s, []string{"/jobs/1/part"}), ops.Const(s, "/jobs/1/all"), nil)
	back := raw.RestoreV2(s, ops.Const(s, "/jobs/1/all"), names, specs, []tensor.DType{tensor.Float32})
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	if x, err := back[0].Tensor(); err != nil || !x.Equal(tensor.Vector[float32](1, 2)) {
		t.Error(x, err)
	}
}

func TestAGrantOfAMissingDirectoryIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file + "/none", file + "none", file} {
		if _, err := engine.GrantDirs(dir, ""); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s is granted to be read: %v", dir, err)
		}
		if _, err := engine.GrantDirs("", dir); err == nil {
			t.Errorf("%s is granted to be written", dir)
		}
	}
}

// TestADatasetsDenialNamesTheDataset, not only the op that takes its elements.
func TestADatasetsDenialNamesTheDataset(t *testing.T) {
	s := function.Eager(t.Context(), nil)
	ds := raw.TextLineDataset(s, ops.Const(s, []string{"/etc/passwd"}), ops.Const(s, ""), ops.Const(s, int64(0)), nil)
	raw.DatasetToSingleElement(s, ds, []tensor.DType{tensor.String}, []graph.PartialShape{graph.ShapeOf()}, nil)
	var denied *engine.DeniedError
	if err := s.Err(); !errors.As(err, &denied) || denied.Op != "TextLineDataset" || denied.Name != "/etc/passwd" || !strings.Contains(err.Error(), "for the TextLineDataset") {
		t.Error(err)
	}
}

// TestNoKernelReachesOutsideBesideFiles: no run has the effects on networks and
// code that are in the table of effects.
func TestNoKernelReachesOutsideBesideFiles(t *testing.T) {
	conditional := map[string]bool{"Copy": true, "CopyHost": true, "DebugIdentity": true, "DebugIdentityV2": true, "DebugIdentityV3": true, "DebugNanCount": true}
	for _, op := range kernel.All().Ops() {
		d := graph.LookupOp(op)
		if d == nil || d.Effect()&(graph.Network|graph.Code) == 0 {
			continue
		}
		if !conditional[op] {
			t.Errorf("there is a kernel for %s, whose effect is %v", op, d.Effect())
			continue
		}
		attr := graph.Strings("debug_urls", "grpc://evil:1")
		if d.Attr("debug_urls") == nil {
			attr = graph.Strings("debug_ops_spec", "DebugIdentity;grpc://evil:1;0")
		}
		in := []engine.Value{engine.ValueOf(tensor.Scalar[float32](1))}
		if _, err := kernel.All().PrepareEager(op, graph.Attrs{attr}, in); err == nil || !strings.Contains(err.Error(), "grpc://evil:1") {
			t.Errorf("%s with an address is run: %v", op, err)
		}
		if _, err := kernel.All().PrepareEager(op, nil, in); err != nil {
			t.Errorf("%s without an address: %v", op, err)
		}
	}
}
