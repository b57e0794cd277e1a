//go:build unix

package checkpoint

import (
	"io/fs"
	"syscall"
)

// plainFile makes opening a symbolic link fail, and opening a pipe return.
const plainFile = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// hardLinked reports whether a file has more names than one.
func hardLinked(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 1
}
