// Package misplaced recognizes files that replace others: the pointers that Git
// LFS leaves, and the pages that a browser or curl stores for a wrong address.
package misplaced

import (
	"bytes"
	"errors"
	"io"

	"github.com/cairnml/cairn/internal/gitlfs"
)

// ErrPage explains a page, and how to get the file.
var ErrPage = errors.New("it is an HTML page, not the file that it offers: open it in a browser, and download the file that it leads to")

// headSize is how many bytes of a file are looked at.
const headSize = 256

// Check returns an error if a file with these first bytes is a pointer of Git LFS
// ([gitlfs.ErrPointer]) or a page ([ErrPage]).
func Check(head []byte) error {
	if gitlfs.IsPointer(head) {
		return gitlfs.ErrPointer
	}
	head = bytes.ToLower(bytes.TrimLeft(head[:min(len(head), headSize)], "\ufeff \t\r\n"))
	if bytes.HasPrefix(head, []byte("<!doctype")) || bytes.HasPrefix(head, []byte("<html")) {
		return ErrPage
	}
	return nil
}

// CheckReader works like [Check], and reads only the first bytes. If they can't be read it
// returns nil.
func CheckReader(r io.ReaderAt) error {
	head := make([]byte, headSize)
	n, _ := r.ReadAt(head, 0)
	return Check(head[:n])
}
