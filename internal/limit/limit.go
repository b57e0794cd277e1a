// Package limit limits the cost of reading a file: memory in proportion to the
// bytes stored on disk, whatever contents the file announces. Many packages use
// it.
package limit

import "io/fs"

// A reader may use Base bytes of memory for any file, plus Factor times the bytes stored on the disk. The
// numbers are Cairn's. The documents of options state them, and users' files and tests of memory depend on
// them, so they must not decrease.
const (
	Base   = 64 << 20
	Factor = 16
)

// Memory returns how much memory a file may take of which that many bytes are
// stored.
func Memory(stored int64) int64 {
	const most = 1<<63 - 1
	if stored > (most-Base)/Factor {
		return most
	}
	return Base + Factor*stored
}

// Stored returns the number of bytes stored on disk of a file of that size:
// fewer than its size if it has holes, whose zeros cost nothing to write. It is
// the size if the file, or its system, doesn't report it.
func Stored(f any, size int64) int64 {
	s, ok := f.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return size
	}
	info, err := s.Stat()
	if err != nil {
		return size
	}
	if n, ok := allocated(info); ok && n < size {
		return n
	}
	return size
}
