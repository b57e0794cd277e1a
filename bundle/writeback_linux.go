//go:build !arm

package bundle

import (
	"os"
	"syscall"
)

// osFile is a file of the operating system being written.
type osFile struct{ *os.File }

// startWriteback lets the disk work while more is written, so that the Sync at
// the end has less to wait for. That it fails changes nothing.
func (f osFile) startWriteback(off, n int64) {
	const syncFileRangeWrite = 2
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) { syscall.SyncFileRange(int(fd), off, n, syncFileRangeWrite) })
}
