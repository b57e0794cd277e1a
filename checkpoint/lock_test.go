package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

func TestSecondManagerIsToldWhoHoldsTheDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	ck, err := New(&stepRoot{trackable.NewScalar[int64](0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewManager(ck, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	me := fmt.Sprintf("process %d on ", os.Getpid())
	var locked *LockedError
	for _, same := range []string{dir, dir + "/.", filepath.Join(dir, "..", "run")} {
		if _, err := NewManager(ck, same, nil); !errors.As(err, &locked) || !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), me) {
			t.Errorf("%s: %v", same, err)
		}
	}
	other, err := NewManager(ck, dir, &ManagerOptions{NoLock: true})
	if err != nil {
		t.Errorf("without a lock: %v", err)
	} else if err := other.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if files := filesBelow(t, dir); len(files) > 0 {
		t.Errorf("left behind: %q", files)
	}

	// Another process holds the lock on the file only.
	file := filepath.Join(dir, lockName)
	f, err := lockFile(file, dir)
	if err != nil {
		t.Fatal(err)
	}
	if f != nil { // if files can be locked
		if _, err := NewManager(ck, dir, nil); !errors.As(err, &locked) || locked.Dir != dir || !strings.Contains(locked.Holder, me) {
			t.Errorf("held by another process: %v", err)
		}
		if err := errors.Join(os.Remove(file), f.Unlock()); err != nil {
			t.Fatal(err)
		}
	}
	// A lock file that a killed process left is no lock.
	if err := os.WriteFile(file, []byte(" process 1 on nowhere"), 0o666); err != nil {
		t.Fatal(err)
	}
	if m, err = NewManager(ck, dir, nil); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}

	mem := vfs.MemDir()
	m, err = NewManager(ck, "run", &ManagerOptions{Dir: mem})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewManager(ck, "run", &ManagerOptions{Dir: mem}); !errors.Is(err, ErrLocked) {
		t.Errorf("a directory in memory: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestManagerMakesItsFolders, whatever their path looks like.
func TestManagerMakesItsFolders(t *testing.T) {
	top := t.TempDir()
	_, ck := newSteps(t)
	for _, dir := range []string{filepath.Join(top, "a", "b", "c"), top + "/d/e/.", top + "/f/"} {
		m, err := NewManager(ck, dir, nil)
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		path, err := m.Save(t.Context())
		if err != nil || !Exists(path) {
			t.Errorf("%s: %q, %v", dir, path, err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	file := filepath.Join(top, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "run")} {
		if _, err := NewManager(ck, dir, nil); err == nil {
			t.Errorf("%s: a manager of a file", dir)
		}
	}
}

// TestALockFileThatHoldsMoreIsLeftAlone checks that a lock file with other
// contents isn't overwritten, because it belongs to another program.
func TestALockFileThatHoldsMoreIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, lockName)
	text := strings.Repeat("precious ", 100)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	_, ck := newSteps(t)
	newManager(t, ck, dir, nil)
	if got, err := os.ReadFile(file); string(got) != text {
		t.Errorf("it holds %q, %v", got, err)
	}
}
