// Package vfs is the seam through which everything that is written to files
// goes: a [Dir] is one folder and what lies below it, of the operating system
// ([OSDir]), in memory ([MemDir]), or a program's own, which stores elsewhere or
// fails on purpose. What is only read needs no more than an [fs.FS].
package vfs

import (
	"io"
	"io/fs"
)

// File is a file being written.
type File interface {
	io.Writer
	io.WriterAt
	Sync() error // makes what was written durable
	Close() error
}

// Hinter is what a [File] may have besides: it takes word of what is about to be
// written, so that the Sync at the end has less to do. Neither method can fail:
// a file system may not know these hints, and a full disk says so at the write.
type Hinter interface {
	// Preallocate finds space on the disk for a range that is about to be written.
	Preallocate(off, n int64)
	// StartWriteback begins to write a range to the disk and doesn't wait for it.
	StartWriteback(off, n int64)
}

// Evicter is what a [Dir] may have besides: it takes word of a file whose content
// will soon be replaced or deleted. Like the methods of [Hinter], Evict can't fail.
type Evicter interface {
	// Evict gives up the memory in which the system keeps the file's content. What
	// is written next finds space there; memory that a virtual machine has to get
	// from its host first can take longer to write to than the disk.
	Evict(name string)
}

// Appender is an optional interface of a [Dir] whose files can be continued.
type Appender interface {
	// OpenAppend opens a file for writing after its end, and makes it if it doesn't exist.
	OpenAppend(name string) (File, error)
}

// Dir is a folder that files can be written to and read back from. Names are
// slash-separated and relative, as package fs has them. The methods may be
// called from many goroutines.
type Dir interface {
	fs.FS // Open, for reading back

	// Create makes the file, or empties it where it exists, and makes missing
	// parent folders.
	Create(name string) (File, error)
	// Rename gives a file a new name, replaces a file that has it already, and
	// makes missing parent folders.
	Rename(oldname, newname string) error
	// Remove deletes a file or an empty folder.
	Remove(name string) error
	// Sync makes durable what Create, Rename and Remove did to names since the
	// last Sync, in every folder that they touched.
	Sync() error
}
