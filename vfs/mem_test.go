package vfs

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
)

func TestMemIsAFileSystem(t *testing.T) {
	dir := MemDir()
	for _, name := range []string{"top", "a/b/c.index", "a/b/c.data"} {
		if err := dir.WriteFile(name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := fstest.TestFS(dir, "top", "a/b/c.index", "a/b/c.data"); err != nil {
		t.Error(err)
	}
	if err := dir.Rename("none", "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := dir.Remove("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := dir.Create("../x"); !errors.Is(err, fs.ErrInvalid) {
		t.Error(err)
	}
}
