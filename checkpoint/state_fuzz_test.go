package checkpoint

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// FuzzManagerOverState creates a manager with any contents of the state file and
// saves with it. It must not panic, the new checkpoint is the latest, and files
// that don't belong to a checkpoint stay.
func FuzzManagerOverState(f *testing.F) {
	for _, s := range []string{
		"", "model_checkpoint_path: \"ckpt-1\"\nall_model_checkpoint_paths: \"ckpt-1\"\nall_model_checkpoint_timestamps: 1732158522.25\nlast_preserved_timestamp: 1732158521.5\n",
		`model_checkpoint_path: "C:\\x\\ckpt-1" all_model_checkpoint_paths: ["..", ".", "/", "a/../b", "", "ckpt-1/", "checkpoint", "mine"] all_model_checkpoint_timestamps: [1, 2, 3, 4, nan, inf, 5, 6]`,
		`model_checkpoint_path: "../../etc/passwd" all_model_checkpoint_paths: "mine" all_model_checkpoint_timestamps: 1`,
		`model_checkpoint_path: "ckpt-1-replacement" all_model_checkpoint_paths: "ckpt-1-replacement" all_model_checkpoint_timestamps: 1`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ctx := context.Background()
		dir := vfs.MemDir()
		for name, b := range map[string]string{"checkpoint": text, "mine": "x", "ckpt-1.index": "", "ckpt-1.data-00000-of-00001": ""} {
			if err := dir.WriteFile(name, []byte(b)); err != nil {
				t.Fatal(err)
			}
		}
		ck, err := New(&stepRoot{trackable.NewScalar[int64](1)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewManager(ck, "run", &ManagerOptions{Dir: dir, MaxToKeep: 1, Clock: func() time.Time { return time.Unix(1_800_000_000, 0) }})
		if err != nil {
			var se *StateError
			if !errors.As(err, &se) {
				t.Fatal(err)
			}
			return
		}
		if _, err := m.RestoreLatest(ctx); err == nil {
			t.Fatalf("restored %q, where nothing can be", m.Latest())
		}
		path, err := m.Save(ctx)
		var refused *RefusedError
		if errors.As(err, &refused) { // over a checkpoint that isn't managed, or after one that is damaged
			path, err = m.SaveWith(ctx, &SaveOptions{Replace: true})
		}
		if err != nil || path != m.Latest() || !slices.Contains(dir.Names(), "mine") {
			t.Fatalf("%q, %v; files %q", path, err, dir.Names())
		}
		if _, err := m.RestoreLatest(ctx); err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestACheckpointBelowAFileIsNone checks a state file that lists a checkpoint in a
// directory whose name is that of a file. There is nothing to delete, so saves succeed
// and stop listing it.
func TestACheckpointBelowAFileIsNone(t *testing.T) {
	ctx := context.Background()
	for name, dir := range map[string]vfs.Dir{"memory": vfs.MemDir(), "disk": vfs.OSDir(t.TempDir())} {
		for file, text := range map[string]string{
			"checkpoint": `model_checkpoint_path: "ckpt-1" all_model_checkpoint_paths: ["mine/b", "mine/b/c", "ckpt-1"] all_model_checkpoint_timestamps: [1, 2, 3]`,
			"mine":       "x",
		} {
			if err := vfs.WriteFile(dir, file, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
				t.Fatal(err)
			}
		}
		ck, err := New(&stepRoot{trackable.NewScalar[int64](1)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewManager(ck, "run", &ManagerOptions{Dir: dir, MaxToKeep: 1})
		if err != nil {
			t.Fatal(err)
		}
		path, err := m.Save(ctx)
		if err != nil || !slices.Equal(m.Checkpoints(), []string{path}) {
			t.Errorf("%s: %q, %v; of these are listed: %q", name, path, err, m.Checkpoints())
		}
	}
}
