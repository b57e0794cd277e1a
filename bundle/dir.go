package bundle

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

// Dir is a folder that bundles can be written to and read back from: the seam
// through which every write goes, so that faults can be injected and other
// stores plugged in. Names are slash-separated and relative, as package fs has
// them. [OSDir] and [MemDir] make two of them. The methods may be called from
// many goroutines.
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
