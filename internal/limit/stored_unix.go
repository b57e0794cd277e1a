//go:build unix

package limit

import (
	"io/fs"
	"syscall"
)

// allocated returns the space that a file takes on the disk.
func allocated(info fs.FileInfo) (int64, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int64(s.Blocks) * 512, true
}
