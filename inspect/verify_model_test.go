package inspect

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// refusingFS has a file that no caller may read.
type refusingFS struct {
	fs.FS
	name string
}

func (f refusingFS) Open(name string) (fs.File, error) {
	if name == f.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f.FS.Open(name)
}

// modelFiles returns a model of the fixtures, below the directory m.
func modelFiles(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	dir := os.DirFS(filepath.Join("..", "savedmodel", "testdata", "models", name))
	if err := fs.WalkDir(dir, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dir, path)
		out["m/"+path] = &fstest.MapFile{Data: data, Mode: 0o666}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestVerifyComparesTheFingerprint flips bits of a model's files that leave them
// readable.
func TestVerifyComparesTheFingerprint(t *testing.T) {
	models := fstest.MapFS{}
	for _, name := range []string{"base", "constant"} {
		dir := os.DirFS(filepath.Join("testdata", "tf2.21", name))
		if err := fs.WalkDir(dir, ".", func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := fs.ReadFile(dir, path)
			models[name+"/"+path] = &fstest.MapFile{Data: data, Mode: 0o666}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	change := func(file string, change func(b []byte) []byte) fstest.MapFS {
		out := maps.Clone(models)
		out["base/"+file] = &fstest.MapFile{Data: change(bytes.Clone(models["base/"+file].Data)), Mode: 0o666}
		return out
	}
	other := func(file string) func([]byte) []byte {
		return func([]byte) []byte { return models["constant/"+file].Data }
	}
	replaced := func(old, new string) func([]byte) []byte {
		return func(b []byte) []byte {
			if !bytes.Contains(b, []byte(old)) {
				t.Fatalf("no %q", old)
			}
			return bytes.Replace(b, []byte(old), []byte(new), 1)
		}
	}
	for name, c := range map[string]struct {
		fsys       fs.FS
		file, what string
	}{
		"whole":                     {models, "", ""},
		"a bit of the graph":        {change("saved_model.pb", replaced("StatefulPartitionedCall", "StatefulPartitionedCalm")), "saved_model.pb", "the contents differ"},
		"another export's graph":    {change("saved_model.pb", other("saved_model.pb")), "saved_model.pb", "the graph"},
		"a letter of a signature":   {change("saved_model.pb", replaced("tensorflow/serving/predict", "tensorflow/serving/predicT")), "saved_model.pb", "the signatures"},
		"the fingerprint's number":  {change("fingerprint.pb", func(b []byte) []byte { b[12] ^= 1; return b }), "fingerprint.pb", "the graph"},
		"variables of another save": {change("variables/variables.index", func(b []byte) []byte { return append(b[:0:0], indexOf(t)...) }), "variables/variables.index", "the variables aren't those"},
	} {
		_, faults, err := Verify(t.Context(), "base", in(c.fsys))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		found := slices.ContainsFunc(faults, func(f Fault) bool {
			return f.File == filepath.Join("base", filepath.FromSlash(c.file)) && strings.Contains(f.What, c.what)
		})
		if (c.file == "") != (len(faults) == 0) || c.file != "" && !found {
			t.Errorf("%s: %v", name, faults)
		}
	}
}

// indexOf returns the index of a checkpoint with other variables.
func indexOf(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "tf2.21", "object", "variables", "variables.index"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAGraphDefIsNoSavedModel checks a frozen graph with the name of a SavedModel's file.
func TestAGraphDefIsNoSavedModel(t *testing.T) {
	g := &pb.GraphDef{Node: []*pb.NodeDef{{Name: "x", Op: "Placeholder"}}, Versions: &pb.VersionDef{Producer: 1}}
	library := &pb.GraphDef{Library: &pb.FunctionDefLibrary{}, Versions: &pb.VersionDef{Producer: 1}}
	for _, m := range []*pb.GraphDef{g, library} {
		_, faults, err := Verify(t.Context(), "m", in(fstest.MapFS{"m/saved_model.pb": {Data: m.Marshal(), Mode: 0o666}}))
		if err != nil || len(faults) != 1 || !strings.Contains(faults[0].What, "it is a GraphDef") {
			t.Errorf("%v, %v", faults, err)
		}
	}
}

// A SavedModel is its graphs, its assets and its checkpoint; each missing part is
// one fault, wherever the files are.
func TestVerifyOfSavedModels(t *testing.T) {
	without := func(model string, names ...string) fs.FS {
		m := modelFiles(t, model)
		for _, name := range names {
			if m["m/"+name] == nil {
				t.Fatalf("%s has no %s", model, name)
			}
			delete(m, "m/"+name)
		}
		return m
	}
	with := func(model, name, data string) fs.FS {
		m := modelFiles(t, model)
		m["m/"+name] = &fstest.MapFile{Data: []byte(data), Mode: 0o666}
		return m
	}
	const words, index, graph = "assets/words.txt", "variables/variables.index", "saved_model.pb"
	file := func(name string) string { return filepath.Join("m", filepath.FromSlash(name)) }
	for _, c := range []struct {
		name string
		fsys fs.FS
		want []Fault // of Fault.What, only the beginning
		open bool    // there is a checkpoint
	}{
		{"sound", modelFiles(t, "assets"), nil, true},
		{"an asset is missing", without("assets", words), []Fault{{File: file(words), Offset: -1, What: "the asset is missing", Missing: true}}, true},
		{"an asset is out of reach", refusingFS{modelFiles(t, "assets"), "m/" + words}, []Fault{{File: file(words), Offset: -1, What: "the asset can't be read: "}}, true},
		{"the checkpoint is missing", without("counter", index), []Fault{{File: file(index), Offset: -1, What: "the checkpoint is missing; 1 tensor lies in it", Tensors: 1, Missing: true}}, false},
		{"that of TensorFlow 1 is", without("tf1_refs", index), []Fault{{File: file(index), Offset: -1, What: "the checkpoint is missing; 6 tensors lie in it", Tensors: 6, Missing: true}}, false},
		{"both are", without("assets", index, words), []Fault{{File: file(words), Offset: -1, What: "the asset is missing", Missing: true},
			{File: file(index), Offset: -1, What: "the checkpoint is missing; 1 tensor lies in it", Tensors: 1, Missing: true}}, false},
		{"no variables, no checkpoint", fstest.MapFS{"m/saved_model.pb": {Data: []byte("\x08\x01\x12\x00"), Mode: 0o666}}, nil, false},
		{"the graph is cut off", with("counter", graph, "\x08\x01\x12\xff"), []Fault{{File: file(graph), Offset: -1}}, true},
		{"the text is no graph", fstest.MapFS{"m/saved_model.pbtxt": {Data: []byte("meta_graphs {"), Mode: 0o666}}, []Fault{{File: file("saved_model.pbtxt"), Offset: -1}}, false},
		{"a MetaGraph's graph is", with("counter", graph, "\x08\x01\x12\x04\x12\x02\x0a\x7f"), []Fault{{File: file(graph), Offset: -1}}, true},
	} {
		s, got, err := Verify(t.Context(), "m", in(c.fsys))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if (s != nil) != c.open {
			t.Errorf("%s: the checkpoint is %v", c.name, s)
		}
		for i := range got {
			if i < len(c.want) && strings.HasPrefix(got[i].What, c.want[i].What) && got[i].What != "" {
				got[i].What = c.want[i].What
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}

	// On the disk it's the same.
	dir := t.TempDir()
	if err := os.CopyFS(dir, without("assets", words)); err != nil {
		t.Fatal(err)
	}
	_, got, err := Verify(t.Context(), filepath.Join(dir, "m"), nil)
	if err != nil || len(got) != 1 || got[0].File != filepath.Join(dir, "m", "assets", "words.txt") {
		t.Errorf("on the disk: %v, %v", got, err)
	}
	// A file that can't be read for other reasons is no fault.
	if _, _, err := Verify(t.Context(), "m", in(with("counter", graph, "\x08\x02"))); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a newer schema: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Verify(ended, "m", in(modelFiles(t, "counter"))); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// A SavedModel's checkpoint has the same contents as any other, its object
// graph too.
func TestDiffOfSavedModelAndCheckpoint(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, modelFiles(t, "counter")); err != nil {
		t.Fatal(err)
	}
	open := func(path string) *tensorfile.File {
		s, err := tensorfile.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	m, v := open(filepath.Join(dir, "m")), open(filepath.Join(dir, "m", "variables", "variables"))
	if m.Kind == v.Kind {
		t.Fatalf("both are %v", m.Kind)
	}
	if d, err := Diff(t.Context(), m, v, nil); err != nil || len(d) > 0 {
		t.Errorf("%v, %v", d, err)
	}
	d, err := Diff(t.Context(), m, write(t, map[string]*tensor.Tensor{"x": tensor.Scalar(true)}), nil)
	if err != nil || len(d) == 0 || d[0].Name != tensorfile.GraphKey {
		t.Errorf("%v, %v: the object graph is left out", d, err)
	}
}

// in returns the settings to verify a path of fsys.
func in(fsys fs.FS) *VerifyOptions { return &VerifyOptions{Open: tensorfile.Options{FS: fsys}} }

// TestVerifyReadsNoIndexOfHolesForTheFingerprint: an index of any length may take a few bytes on the disk.
func TestVerifyReadsNoIndexOfHolesForTheFingerprint(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "variables"), 0o777); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, "variables", "variables.index")
	if err := os.WriteFile(index, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(index, 120<<20); err != nil {
		t.Fatal(err)
	}
	m := &savedmodel.SavedModel{File: savedmodel.GraphFile, Fingerprint: &savedmodel.Fingerprint{Producer: knownFingerprint}}
	faults, skipped, err := verifyFingerprint(t.Context(), os.DirFS(dir), m, 0, nil)
	if err != nil || len(faults) > 0 || !strings.Contains(skipped, "variables.index") {
		t.Errorf("faults %v, skipped %q, %v", faults, skipped, err)
	}
}
