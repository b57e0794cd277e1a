//go:build unix

package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestPipesInTheDirectoryAreRefusedAtOnce(t *testing.T) {
	for _, name := range []string{"checkpoint", lockName, "checkpoint.cairn.json"} {
		dir := t.TempDir()
		_, ck := newSteps(t)
		if name == sideName { // which is read only if there is a state file
			m := newManager(t, ck, dir, nil)
			if _, err := m.Save(context.Background()); err != nil {
				t.Fatal(err)
			}
			m.Close()
		}
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o666); err != nil {
			t.Skip(err)
		}
		done := make(chan error, 1)
		go func() {
			m, err := NewManager(ck, dir, nil)
			if err == nil {
				m.Close()
			}
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil || name != lockName && !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s: the manager hangs", name)
		}
	}
}
