// Package gitlfs recognizes the pointers that Git LFS leaves in place of files if
// a repository is cloned without it. Packages bundle and internal/misplaced use it.
package gitlfs

import (
	"bytes"
	"errors"
	"io"
)

// ErrPointer explains a pointer, and how to get the file.
var ErrPointer = errors.New("it is a pointer of Git LFS, not the file itself: \"git lfs pull\" in the repository brings that")

// prefix begins every pointer.
const prefix = "version https://git-lfs.github.com/spec/"

// IsPointer reports whether a file with these first bytes is a pointer.
func IsPointer(head []byte) bool { return bytes.HasPrefix(head, []byte(prefix)) }

// ReadsPointer reports whether r is a pointer. It reads the first bytes only.
func ReadsPointer(r io.ReaderAt) bool {
	head := make([]byte, len(prefix))
	n, _ := r.ReadAt(head, 0) // an unreadable file isn't a pointer
	return IsPointer(head[:n])
}
