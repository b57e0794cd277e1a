package bundle

import (
	"errors"
	"io/fs"
)

// Found says what lies at a path that somebody gave for a checkpoint.
type Found struct {
	Kind   FoundKind
	Prefix string // the checkpoint's prefix, to be opened
	Dir    string // the folder given, or the one the prefix is in
}

// FoundKind is how a path led to a checkpoint.
type FoundKind int

// The ways a path leads to a checkpoint.
const (
	FoundPrefix     FoundKind = iota + 1 // the prefix itself
	FoundIndex                           // the .index file
	FoundData                            // one of the .data-00000-of-00001 files
	FoundState                           // a folder with a checkpoint state file (or that file): its latest
	FoundSavedModel                      // a SavedModel's folder: its variables
	FoundV1                              // a single file of version 1
)

// FindPrefix finds the checkpoint that name means: a prefix, one of its files,
// a folder with a checkpoint state file, a SavedModel's folder. Where there is
// none, the [PathError] says what was found instead.
func FindPrefix(fsys fs.FS, name string) (Found, error) { return Found{}, errors.ErrUnsupported }

// FindFile is [FindPrefix] for a path of the operating system.
func FindFile(path string) (Found, error) { return Found{}, errors.ErrUnsupported }
