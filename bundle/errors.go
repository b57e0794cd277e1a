package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// ErrCorrupt is what errors.Is finds in every [CorruptError].
var ErrCorrupt = errors.New("bundle: corrupt checkpoint")

// ErrNotFound is what errors.Is finds in every [NotFoundError] and in every
// [PathError]. It is of the family of [fs.ErrNotExist]: errors.Is finds that
// one too.
var ErrNotFound error = notFound{}

type notFound struct{}

func (notFound) Error() string        { return "bundle: not found" }
func (notFound) Is(target error) bool { return target == fs.ErrNotExist }

// ErrIncomplete is what errors.Is finds where the slices of a tensor that are
// there don't cover what is asked for: part of a checkpoint that is still to be
// merged, or a partitioned tensor that was saved in part.
var ErrIncomplete = errors.New("bundle: not all slices are there")

// A CorruptError says that a file is not what its format asks for: it is
// truncated, a checksum differs, a size lies, a message can't be decoded.
type CorruptError struct {
	File   string // the file's name, as it was opened
	Offset int64  // where in the file the fault lies, or begins; -1 where no single place is at fault
	Name   string // the tensor that the fault belongs to, "" where it is none's
	What   string // what is wrong
	Err    error  // the cause, or nil
}

// Error names file, offset, tensor and fault.
func (e *CorruptError) Error() string {
	var b strings.Builder
	b.WriteString("bundle: ")
	b.WriteString(e.File)
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " at offset %d", e.Offset)
	}
	b.WriteString(" is corrupt")
	if e.Name != "" {
		fmt.Fprintf(&b, ": tensor %.300q", e.Name)
	}
	b.WriteString(": ")
	b.WriteString(e.What)
	if e.Err != nil && !errors.Is(e.Err, fs.ErrNotExist) { // What says that
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrCorrupt].
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// A NotFoundError says that a bundle has no tensor of that name.
type NotFoundError struct {
	Prefix  string   // the bundle's prefix
	Name    string   // what was asked for
	Nearest []string // the names most like it, best first; at most five
}

// Error names the tensor and the nearest names.
func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("bundle: %s has no tensor %q", e.Prefix, e.Name)
	if len(e.Nearest) > 0 {
		s += fmt.Sprintf("; the nearest names are %q", e.Nearest)
	}
	return s
}

// Is reports whether target is [ErrNotFound] or [fs.ErrNotExist].
func (e *NotFoundError) Is(target error) bool {
	return target == ErrNotFound || target == fs.ErrNotExist
}

// A MismatchError says that a tensor was to be read into another one of a
// different type or shape, or that a slice doesn't fit the tensor.
type MismatchError struct {
	Name      string       // the tensor
	Want      tensor.DType // what the bundle holds
	WantShape tensor.Shape
	Got       tensor.DType // what the caller gave
	GotShape  tensor.Shape
	What      string // more words, or ""
}

// Error names both types and shapes.
func (e *MismatchError) Error() string {
	s := fmt.Sprintf("bundle: tensor %q is %v%v in the checkpoint, %v%v was given", e.Name, e.Want, e.WantShape, e.Got, e.GotShape)
	if e.What != "" {
		s += ": " + e.What
	}
	return s
}

// A PathError says that no bundle lies where one was looked for, and what was
// found there instead.
type PathError struct {
	Path  string // what was given
	Found string // what lies there, in words: "nothing", "a directory without a checkpoint file", …
	Hint  string // what to do instead, or ""
	Err   error  // the cause, or nil
}

// Error says what was found and what to do.
func (e *PathError) Error() string {
	s := fmt.Sprintf("bundle: no checkpoint at %q: found %s", e.Path, e.Found)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	if e.Err != nil && !errors.Is(e.Err, fs.ErrNotExist) {
		s += fmt.Sprintf(" (%v)", e.Err)
	}
	return s
}

// Unwrap returns the cause.
func (e *PathError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrNotFound] or [fs.ErrNotExist].
func (e *PathError) Is(target error) bool { return target == ErrNotFound || target == fs.ErrNotExist }

// ErrVersion is what errors.Is finds in every [VersionError].
var ErrVersion = errors.New("bundle: version of the format not supported")

// A VersionError says that a checkpoint's header is for other readers than this
// one.
type VersionError struct {
	File        string // the index file
	Producer    int    // the version it was written in
	MinConsumer int    // the oldest version that it says can read it
	Reader      int    // this reader's version
	What        string // which rule is broken
}

// Error names the file and the rule.
func (e *VersionError) Error() string { return fmt.Sprintf("bundle: %s: %s", e.File, e.What) }

// Is reports whether target is [ErrVersion].
func (e *VersionError) Is(target error) bool { return target == ErrVersion }
