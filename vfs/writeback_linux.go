//go:build !arm

package vfs

import (
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// osFile is a file of the operating system being written.
type osFile struct{ *os.File }

// Preallocate allocates disk space for the next writes to a range, at once and in
// one piece if possible. Then neither the write nor the Sync needs to search for
// space. A failure changes nothing: a file system may not support it, and a full
// disk is reported by the write.
func (f osFile) Preallocate(off, n int64) {
	const keepSize = 1 // FALLOC_FL_KEEP_SIZE
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) { syscall.Fallocate(int(fd), keepSize, off, n) })
}

// StartWriteback lets the disk work while more is written, so that the Sync at
// the end has less to wait for. That it fails changes nothing.
func (f osFile) StartWriteback(off, n int64) {
	const syncFileRangeWrite = 2
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) { syscall.SyncFileRange(int(fd), off, n, syncFileRangeWrite) })
}

// Evict implements [Evicter]. Data that is not on disk yet stays in memory.
func (d *osDir) Evict(name string) {
	p, err := local("evict", name)
	if err != nil {
		return
	}
	f, err := openRegular(filepath.Join(d.root, p))
	if err != nil {
		return
	}
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) { _ = unix.Fadvise(int(fd), 0, 0, unix.FADV_DONTNEED) })
}
