package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// ErrCorrupt is matched by errors.Is in every [CorruptError].
var ErrCorrupt = errors.New("bundle: corrupt checkpoint")

// ErrNotFound is matched by errors.Is in every [NotFoundError] and in every
// [PathError]. It wraps [fs.ErrNotExist].
var ErrNotFound error = notFound{}

type notFound struct{}

func (notFound) Error() string        { return "bundle: not found" }
func (notFound) Is(target error) bool { return target == fs.ErrNotExist }

// ErrIncomplete is matched by errors.Is if the stored slices of a tensor don't
// cover the requested part: in a part of a checkpoint that is still to be
// merged, or for a partitioned tensor that was saved in part.
var ErrIncomplete = errors.New("bundle: slices are missing")

// A CorruptError reports that a file violates its format: it is truncated, a
// checksum differs, a size is wrong, a message can't be decoded.
type CorruptError struct {
	File   string // the file's name, as it was opened
	Offset int64  // offset of the fault in the file, or of its beginning; -1 if it has no single place
	Name   string // the tensor that the fault belongs to, "" if there is none
	What   string // the fault
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
	if e.Err != nil && !errors.Is(e.Err, fs.ErrNotExist) { // What contains that
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrCorrupt].
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// A NotFoundError reports that a bundle has no tensor of that name.
type NotFoundError struct {
	Prefix  string   // the bundle's prefix
	Name    string   // the requested name
	Nearest []string // the names most like it, best first; at most five
}

// Error names the tensor and the nearest names.
func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("bundle: %s has no tensor %q", e.Prefix, e.Name)
	if len(e.Nearest) > 0 {
		s += fmt.Sprintf("; similar names: %q", e.Nearest)
	}
	return s
}

// Is reports whether target is [ErrNotFound] or [fs.ErrNotExist].
func (e *NotFoundError) Is(target error) bool {
	return target == ErrNotFound || target == fs.ErrNotExist
}

// A MismatchError reports that the destination of a read has a different type
// or shape, or that a slice doesn't fit the tensor.
type MismatchError struct {
	Name      string       // the tensor
	Want      tensor.DType // that of the bundle
	WantShape tensor.Shape
	Got       tensor.DType // that of the caller
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

// A PathError reports that there is no bundle at a path, and describes the file
// found there instead.
type PathError struct {
	Path  string // the path looked up
	Found string // description of the file there: "nothing", "a directory without a checkpoint file", …
	Hint  string // remedy, or ""
	Err   error  // the cause, or nil
}

// Error describes the file found and the remedy.
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

// ErrVersion is matched by errors.Is in every [VersionError].
var ErrVersion = errors.New("bundle: version of the format not supported")

// A VersionError reports that a checkpoint's header requires another version of
// the reader.
type VersionError struct {
	File        string // the index file
	Producer    int    // the version it was written in
	MinConsumer int    // the oldest version that can read it, according to the header
	Reader      int    // this reader's version
	What        string // which rule is broken
}

// Error names the file and the rule.
func (e *VersionError) Error() string { return fmt.Sprintf("bundle: %s: %s", e.File, e.What) }

// Is reports whether target is [ErrVersion].
func (e *VersionError) Is(target error) bool { return target == ErrVersion }
