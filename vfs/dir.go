// Package vfs is the interface through which all files are written: a [Dir] is a
// directory of the operating system ([OSDir]), in memory ([MemDir]), or a
// program's own, which stores elsewhere or injects faults. Reading needs no
// more than an [fs.FS].
package vfs

import (
	"io"
	"io/fs"
)

// File is a file being written.
type File interface {
	io.Writer
	io.WriterAt
	Sync() error // makes written bytes durable
	Close() error
}

// Hinter is an optional interface of a [File]: it receives hints about the next
// writes, so that the Sync at the end has less to do. Neither method can fail: a
// file system may not support these hints, and a full disk is reported by the
// write.
type Hinter interface {
	// Preallocate finds space on the disk for a range that is about to be written.
	Preallocate(off, n int64)
	// StartWriteback begins to write a range to the disk and doesn't wait for it.
	StartWriteback(off, n int64)
}

// Evicter is an optional interface of a [Dir]: it receives the name of a file whose
// content will soon be replaced or deleted. Like the methods of [Hinter], Evict
// can't fail.
type Evicter interface {
	// Evict drops the system's cache of the file's content. The next writes find
	// memory there. Memory that a virtual machine has to get from its host first
	// can take longer to write to than the disk.
	Evict(name string)
}

// Appender is an optional interface of a [Dir] whose files can be continued.
type Appender interface {
	// OpenAppend opens a file for writing after its end, and makes it if it doesn't exist.
	OpenAppend(name string) (File, error)
}

// Dir is a directory that files can be written to and read back from. Names are
// slash-separated and relative, as package fs has them. The methods may be
// called from many goroutines.
type Dir interface {
	fs.FS // Open, for reading back

	// Create creates the file, or empties it if it exists, and creates missing
	// parent directories.
	Create(name string) (File, error)
	// Rename renames a file, replaces a file of the new name, and creates missing
	// parent directories.
	Rename(oldname, newname string) error
	// Remove deletes a file or an empty directory.
	Remove(name string) error
	// Sync makes durable the changes of Create, Rename and Remove to names since
	// the last Sync, in every directory that they touched.
	Sync() error
}
