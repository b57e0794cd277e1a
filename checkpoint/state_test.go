package checkpoint

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/vfs"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// golden reads a JSON file that TensorFlow's answers were recorded in.
func golden(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/tf2.21/state", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// oneFile returns a Dir that keeps the files written to it, whatever the
// directory.
func oneFile(t *testing.T) *vfs.Mem { t.Helper(); return vfs.MemDir() }

func TestUpdateCheckpointStateWritesTensorFlowsBytes(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("recorded on Linux")
	}
	var cases []struct {
		Dir, Model, Text string
		Paths            []string
		Stamps           []float64
		Last             float64
		Relative         bool
	}
	golden(t, "update.json", &cases)
	for _, c := range cases {
		dir := oneFile(t)
		s := &CheckpointState{ModelCheckpointPath: c.Model, AllModelCheckpointPaths: c.Paths, AllModelCheckpointTimestamps: c.Stamps, LastPreservedTimestamp: c.Last}
		err := UpdateCheckpointState(c.Dir, s, &StateOptions{Relative: c.Relative, Dir: dir})
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		got, err := dir.ReadFile("checkpoint")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.Text, string(got)); d != "" {
			t.Errorf("dir %q model %q paths %q relative %v: %s", c.Dir, c.Model, c.Paths, c.Relative, d)
		}
		if names := dir.Names(); len(names) != 1 {
			t.Errorf("left behind: %q", names)
		}
	}
	if len(cases) < 60 {
		t.Errorf("only %d cases", len(cases))
	}
}

func TestGetCheckpointStateCompletesPathsAsTensorFlow(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("recorded on Linux")
	}
	var cases []struct {
		Dir, Text, Model, Error string
		Paths, Stamps           []string
		Last                    float64
	}
	golden(t, "read.json", &cases)
	for _, c := range cases {
		dir := oneFile(t)
		if err := dir.WriteFile("checkpoint", []byte(c.Text)); err != nil {
			t.Fatal(err)
		}
		s, err := GetCheckpointState(c.Dir, &StateOptions{Dir: dir})
		if strings.Contains(c.Text, "unknown:") {
			if err != nil {
				t.Errorf("an unknown field is refused: %v", err) // TensorFlow ignores the whole file
			}
			continue
		}
		var se *StateError
		if c.Error != "" {
			if !errors.As(err, &se) || (c.Error == "incomplete") != (se.Line == 0) || se.File != joinPath(c.Dir, "checkpoint") {
				t.Errorf("%q: %v, TensorFlow says %s", c.Text, err, c.Error)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.Text, err)
			continue
		}
		want := &CheckpointState{ModelCheckpointPath: c.Model, AllModelCheckpointPaths: c.Paths, LastPreservedTimestamp: c.Last}
		for _, x := range c.Stamps {
			v, err := strconv.ParseFloat(x, 64)
			if err != nil {
				t.Fatal(err)
			}
			want.AllModelCheckpointTimestamps = append(want.AllModelCheckpointTimestamps, v)
		}
		if d := cmp.Diff(want, s, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%q in %q: %s", c.Text, c.Dir, d)
		}
	}
}

func TestStateRefusesWhatCannotBeMeant(t *testing.T) {
	dir := oneFile(t)
	o := &StateOptions{Dir: dir}
	for _, c := range []struct {
		s    *CheckpointState
		want string
	}{
		{nil, "needs the path"},
		{&CheckpointState{}, "needs the path"},
		{&CheckpointState{ModelCheckpointPath: "a", AllModelCheckpointTimestamps: []float64{1, 2}}, "timestamp"},
		{&CheckpointState{ModelCheckpointPath: "run/checkpoint"}, "another name"},
		{&CheckpointState{ModelCheckpointPath: "run/\xff"}, "UTF-8"},
	} {
		if err := UpdateCheckpointState("run", c.s, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.s, err)
		}
	}
	abs, err := filepath.Abs("run")
	if err != nil {
		t.Fatal(err)
	}
	if err := UpdateCheckpointState(abs, &CheckpointState{ModelCheckpointPath: filepath.Join(abs, "checkpoint")}, o); err == nil {
		t.Error("a checkpoint with the state file's own path was taken")
	}
	if names := dir.Names(); len(names) > 0 {
		t.Errorf("written all the same: %q", names)
	}
	if _, err := GetCheckpointState("run", o); !errors.Is(err, ErrNotFound) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no state file: %v", err)
	}
	if _, err := ReadCheckpointState(dir, "checkpoint"); !errors.Is(err, ErrNotFound) {
		t.Errorf("no state file: %v", err)
	}
}

func TestStateTextRoundTrip(t *testing.T) {
	s := CheckpointState{ModelCheckpointPath: `C:\models\ckpt-1`, AllModelCheckpointPaths: []string{`C:\models\ckpt-0`, `C:\models\ckpt-1`},
		AllModelCheckpointTimestamps: []float64{1700000000.25, 1700000001.5}, LastPreservedTimestamp: 1700000000}
	text, err := s.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var back CheckpointState
	if err := back.UnmarshalText(text); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(s, back); d != "" {
		t.Error(d)
	}
	var se *StateError
	if err := back.UnmarshalText([]byte("model_checkpoint_path: 1")); !errors.As(err, &se) || se.Line != 1 || se.Col != 24 || !errors.Is(err, bundle.ErrCorrupt) {
		t.Errorf("a bad text: %v", err)
	}
}

// touch makes empty files.
func touch(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, n := range names {
		p := filepath.Join(dir, filepath.FromSlash(n))
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func writeText(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "checkpoint"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestLatestCheckpointFindsWhatTheStateNames(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("writes paths with slashes")
	}
	dir := t.TempDir()
	elsewhere := t.TempDir()
	touch(t, dir, "ckpt-1.index", "old-v1", "sub/ckpt-2.index", "shards-00000-of-00002", "shards-00001-of-00002")
	touch(t, elsewhere, "far-1.index")
	for text, want := range map[string]string{
		"ckpt-1":                          "ckpt-1",
		"./ckpt-1":                        "./ckpt-1",
		"old-v1":                          "old-v1",
		"sub/ckpt-2":                      "sub/ckpt-2",
		`sub\ckpt-2`:                      "sub/ckpt-2", // written on Windows
		`C:\runs\7\ckpt-1`:                "ckpt-1",
		`\\host\share\ckpt-1`:             "ckpt-1",
		"/nowhere/at/all/ckpt-1":          "ckpt-1", // the directory was moved
		"shards-?????-of-00002":           "shards-?????-of-00002",
		filepath.Join(elsewhere, "far-1"): filepath.Join(elsewhere, "far-1"),
		filepath.Join(dir, "ckpt-1"):      filepath.Join(dir, "ckpt-1"),
		"ckpt-9":                          "",
		"sub":                             "", // a directory is no checkpoint
		"missing-?????-of-00002":          "",
		filepath.Join(elsewhere, "no/sub/ckpt-3"): "",
	} {
		text, err := (&CheckpointState{ModelCheckpointPath: text}).MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		writeText(t, dir, string(text))
		if want != "" && !filepath.IsAbs(want) {
			want = dir + string(filepath.Separator) + filepath.FromSlash(want)
		}
		got, err := LatestCheckpoint(dir, nil)
		if got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	if _, err := LatestCheckpoint(t.TempDir(), nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("an empty directory: %v", err)
	}
	writeText(t, dir, "{}")
	var se *StateError
	if _, err := LatestCheckpoint(dir, nil); !errors.As(err, &se) {
		t.Errorf("a bad state file: %v", err)
	}
}

func TestLatestCheckpointTakesAnotherStateFile(t *testing.T) {
	dir := t.TempDir()
	touch(t, dir, "a-1.index")
	o := &StateOptions{Filename: "latest"}
	if err := UpdateCheckpointState(dir, &CheckpointState{ModelCheckpointPath: filepath.Join(dir, "a-1")}, &StateOptions{Filename: "latest", Relative: true}); err != nil {
		t.Fatal(err)
	}
	if got, err := LatestCheckpoint(dir, o); err != nil || got != filepath.Join(dir, "a-1") {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := LatestCheckpoint(dir, nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("the default name: %v", err)
	}
}

func TestLatestCheckpointFS(t *testing.T) {
	for text, want := range map[string]string{
		"ckpt-1": "ckpt-1", "./sub/ckpt-2": "sub/ckpt-2", `sub\ckpt-2`: "sub/ckpt-2", "/abs/ckpt-1": "ckpt-1", `C:\x\ckpt-1`: "ckpt-1", "../ckpt-1": "", "ckpt-3": "",
	} {
		text, err := (&CheckpointState{ModelCheckpointPath: text}).MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		fsys := fstest.MapFS{"checkpoint": {Data: text}, "ckpt-1.index": {}, "sub/ckpt-2.index": {}}
		got, err := LatestCheckpointFS(fsys)
		if got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
		under, err := LatestCheckpoint("run", &StateOptions{Dir: readOnly{FS: fsys}})
		if want != "" && under != filepath.Join("run", filepath.FromSlash(want)) {
			t.Errorf("%s: %q, %v", text, under, err)
		}
	}
}

// readOnly is a Dir that can only be read.
type readOnly struct{ fs.FS }

func (readOnly) Create(string) (vfs.File, error) { return nil, fs.ErrPermission }
func (readOnly) Rename(string, string) error     { return fs.ErrPermission }
func (readOnly) Remove(string) error             { return fs.ErrPermission }
func (readOnly) Sync() error                     { return nil }

func TestExistsModTimesAndRemove(t *testing.T) {
	dir := t.TempDir()
	v1, v2, sharded := filepath.Join(dir, "v1"), filepath.Join(dir, "v2"), filepath.Join(dir, "s-?????-of-00002")
	for _, p := range []string{v1, v2, sharded} {
		if Exists(p) {
			t.Errorf("%s exists already", p)
		}
	}
	touch(t, dir, "v1", "v1.meta", "v2.index", "v2.data-00000-of-00002", "v2.data-00001-of-00002", "v2.meta", "s-00000-of-00002", "s-00001-of-00002",
		"v21.index", "v2.index.bak", "v2.data-0000-of-00002", "v2.data-00000-of-00002.tempstate1")
	early, late := time.Unix(1_600_000_000, 0), time.Unix(1_700_000_000, 0)
	for p, at := range map[string]time.Time{"v1": early, "v2.index": late} {
		if err := os.Chtimes(filepath.Join(dir, p), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{v1, v2, sharded} {
		if !Exists(p) {
			t.Errorf("%s does not exist", p)
		}
	}
	if Exists(dir) {
		t.Error("a directory counts as a checkpoint")
	}
	if got := ModTimes(v1, filepath.Join(dir, "none"), v2); len(got) != 2 || !got[0].Equal(early) || !got[1].Equal(late) {
		t.Errorf("times: %v", got)
	}
	for _, p := range []string{v1, v2, v2} { // twice: nothing there is no error
		if err := RemoveCheckpoint(p); err != nil {
			t.Fatal(err)
		}
		if Exists(p) {
			t.Errorf("%s is still there", p)
		}
	}
	var left []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{"s-00000-of-00002", "s-00001-of-00002", "v2.data-0000-of-00002", "v2.data-00000-of-00002.tempstate1", "v2.index.bak", "v21.index"}
	if d := cmp.Diff(want, left); d != "" {
		t.Error(d)
	}
	if err := RemoveCheckpoint(filepath.Join(dir, "no", "folder")); err != nil {
		t.Error(err)
	}
}

// TestStateInADirOfTheProgramsOwn checks that errors of the program's Dir are
// reported.
func TestStateInADirOfTheProgramsOwn(t *testing.T) {
	disk := faultfs.New()
	o := &StateOptions{Dir: disk}
	if p, err := LatestCheckpoint("run", o); p != "" || !errors.Is(err, ErrNotFound) {
		t.Errorf("%q, %v", p, err)
	}
	s := &CheckpointState{ModelCheckpointPath: "ckpt-1"}
	disk.FailFrom(0, faultfs.ErrFault)
	if err := UpdateCheckpointState("", s, o); !errors.Is(err, faultfs.ErrFault) {
		t.Errorf("written with %v", err)
	}
	disk.Hook(nil)
	if err := UpdateCheckpointState("", s, o); err != nil {
		t.Fatal(err)
	}
	if p, err := LatestCheckpoint("run", o); p != "" || !errors.Is(err, ErrNotFound) {
		t.Errorf("the state names what isn't there: %q, %v", p, err)
	}
	disk.Put("ckpt-1.index", nil)
	if p, err := LatestCheckpoint("run", o); filepath.ToSlash(p) != "run/ckpt-1" || err != nil {
		t.Errorf("%q, %v", p, err)
	}
}

func TestCheckpointInTheWorkingDirectoryIsRemoved(t *testing.T) {
	t.Chdir(t.TempDir())
	_, ck := newSteps(t)
	if err := ck.Write(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	if err := RemoveCheckpoint("c"); err != nil || Exists("c") {
		t.Errorf("%v; there: %v", err, Exists("c"))
	}
}
