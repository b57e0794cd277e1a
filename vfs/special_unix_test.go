//go:build unix

package vfs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSpecialFilesAreRefused: a reader learns what the path has, and only a writer is advised to
// remove it.
func TestSpecialFilesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	_, read := openRegular(path)
	_, write := OSDir(filepath.Dir(path)).Create("pipe")
	for err, want := range map[error]string{read: "a named pipe, not a file", write: "a named pipe, not a file; remove it"} {
		if !errors.Is(err, fs.ErrInvalid) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
