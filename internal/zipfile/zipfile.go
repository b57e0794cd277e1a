// Package zipfile opens zip archives. Its errors distinguish an archive that is
// cut off from a file of another kind. Packages keras/kerasfile,
// savedmodel/scan and tensor use it.
package zipfile

import (
	"archive/zip"
	"errors"
	"io"
)

// magic is how an archive with members begins.
const magic = "PK\x03\x04"

var (
	errCut  = errors.New("the end of the zip archive is missing: the file is cut off or damaged")
	errNone = errors.New("it does not begin as a zip archive")
)

// Open returns a reader of the zip archive in r. The size is the length of r in bytes. If r
// contains no archive, the text of the error distinguishes one that is cut off. No caller
// tests for either error.
func Open(r io.ReaderAt, size int64) (*zip.Reader, error) {
	z, err := zip.NewReader(r, size)
	if !errors.Is(err, zip.ErrFormat) {
		return z, err
	}
	var head [len(magic)]byte
	if n, _ := r.ReadAt(head[:], 0); string(head[:n]) == magic {
		return nil, errCut
	}
	return nil, errNone
}
