//go:build !arm

package vfs

import (
	"testing"
)

func TestPreallocatingKeepsTheSize(t *testing.T) {
	f, err := OSDir(t.TempDir()).Create("f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := f.(Hinter)
	h.Preallocate(0, 1<<20)
	h.StartWriteback(0, 1<<20)
	if info, err := f.(osFile).Stat(); err != nil || info.Size() != 0 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
}
