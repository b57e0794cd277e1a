package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStateThatNamesALostCheckpoint checks that a restore from a directory
// whose state file names a missing checkpoint reports that checkpoint's name.
func TestStateThatNamesALostCheckpoint(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "checkpoint")
	if err := os.WriteFile(file, []byte("model_checkpoint_path: \"ckpt-7\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ck := newCheckpoint(t, &struct{ V any }{variable(1)}, nil)
	for _, path := range []string{dir, file} {
		if _, err := ck.Restore(ctx, path, nil); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "ckpt-7") {
			t.Errorf("restore from %s: %v, want an error that names ckpt-7", path, err)
		}
	}
}

// TestFailedSaveTellsWhetherTheLatestCheckpointOpens: "the latest good
// checkpoint" is one that can be opened.
func TestFailedSaveTellsWhetherTheLatestCheckpointOpens(t *testing.T) {
	for broken, want := range map[error]string{nil: "good checkpoint is still a-1", errors.New("no index"): "can't be opened now: no index"} {
		e := &SaveError{Path: "a-2", Latest: "a-1", Broken: broken, Err: errors.New("failed")}
		if !strings.Contains(e.Error(), want) {
			t.Errorf("the error is %q, want %q in it", e, want)
		}
	}
	dir := t.TempDir()
	m, err := NewManager(newCheckpoint(t, &struct{ V any }{variable(1)}, nil), dir, &ManagerOptions{MaxToKeep: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	path, err := m.Save(ctx)
	if err != nil {
		t.Fatal(err)
	}
	latest := entry{path: path, name: filepath.Base(path)}
	if err := m.canOpen(latest); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path+".index", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var failed *SaveError
	if err := m.saveError(entry{path: "next"}, os.ErrPermission); !errors.As(err, &failed) || failed.Broken == nil {
		t.Errorf("error %v, want one that says the latest checkpoint can't be opened", err)
	}
}
