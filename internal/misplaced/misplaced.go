// Package misplaced recognizes files with other contents than their names promise:
// pointers of Git LFS, and pages that a browser or curl stored for a wrong address.
// Packages tensorfile and savedmodel ask it before they decode a file.
package misplaced

import (
	"bytes"
	"errors"
	"io"

	"github.com/cairnml/cairn/internal/gitlfs"
)

// ErrPage is the error for an HTML page, with the way to get the file.
var ErrPage = errors.New("it is an HTML page, not the file that it offers: open it in a browser, and download the file that it leads to")

// headSize is the number of bytes of a file that are examined. No format that Cairn reads begins like a
// pointer or a page.
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
