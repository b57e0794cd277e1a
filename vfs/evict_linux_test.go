//go:build !arm

package vfs

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resident returns how many of a file's pages are in memory.
func resident(t *testing.T, path string) (n int) {
	t.Helper()
	b, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	info, err := b.Stat()
	if err != nil {
		t.Fatal(err)
	}
	m, err := unix.Mmap(int(b.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(m)
	pages := make([]byte, (len(m)+os.Getpagesize()-1)/os.Getpagesize())
	if _, _, errno := syscall.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&m[0])), uintptr(len(m)), uintptr(unsafe.Pointer(&pages[0]))); errno != 0 {
		t.Fatal(errno)
	}
	for _, p := range pages {
		n += int(p & 1)
	}
	return n
}

func TestAnEvictedFileLeavesMemoryAndKeepsItsContent(t *testing.T) {
	folder := t.TempDir()
	d := OSDir(folder)
	f, err := d.Create("f")
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 1<<20)
	for i := range want {
		want[i] = byte(i)
	}
	if _, err := f.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "f")
	before := resident(t, path)
	d.(Evicter).Evict("f")
	// A file system that lives in memory keeps its pages.
	if after := resident(t, path); after > 0 && after != before {
		t.Errorf("%d pages of %d are in memory still", after, before)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	d.(Evicter).Evict("nothing")
	d.(Evicter).Evict("../f")
}
