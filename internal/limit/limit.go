// Package limit says what reading a file may cost: memory in proportion to the
// bytes that lie on the disk, whatever the file says that it holds.
package limit

import "io/fs"

// A reader may take this much memory for any file, and this many times the bytes
// that lie on the disk.
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

// Stored returns how many bytes of a file of that size lie on the disk: fewer
// than its size where it has holes, whose zeros cost nothing to write. It is the
// size where the file, or its system, doesn't tell.
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
