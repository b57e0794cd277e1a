package hdf5

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cairnml/cairn/tensor"
)

// ErrCorrupt is found by errors.Is in every [CorruptError].
var ErrCorrupt = errors.New("hdf5: corrupt file")

// A CorruptError reports bytes that break the rules of the format.
type CorruptError struct {
	Path   string // the object at fault, "" if it isn't known
	Offset int64  // offset of the fault in the file, or of its beginning
	What   string // the fault
	Err    error  // the cause, or nil
}

// Error returns the object, the offset and the fault.
func (e *CorruptError) Error() string {
	s := "hdf5: "
	if e.Path != "" {
		s += fmt.Sprintf("%.300q: ", e.Path)
	}
	s += fmt.Sprintf("corrupt at byte %d: %s", e.Offset, e.What)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Is reports whether target is [ErrCorrupt].
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// An UnsupportedError names a feature of HDF5 that this package does not read or write.
type UnsupportedError struct {
	Path    string // the object, "" for the file as a whole
	Feature string // for example "the filter szip"
}

// Error returns the object and the feature.
func (e *UnsupportedError) Error() string {
	if e.Path == "" {
		return "hdf5: not supported: " + e.Feature
	}
	return fmt.Sprintf("hdf5: %.300q: not supported: %s", e.Path, e.Feature)
}

// Is reports whether target is [errors.ErrUnsupported].
func (e *UnsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }

// A LimitError refuses a read that would take more memory than [Options] allow.
type LimitError struct {
	Path  string // the object, "" if it isn't known
	What  string // the structure that needs the memory
	Bytes int64  // how many bytes it needs
	Limit int64  // how many bytes are allowed
}

// Error returns the need, the limit and how to raise it.
func (e *LimitError) Error() string {
	s := "hdf5: "
	if e.Path != "" {
		s += fmt.Sprintf("%.300q: ", e.Path)
	}
	return s + fmt.Sprintf("%s takes %d bytes of memory, the limit for a file of this size is %d; Options.MaxMemory raises it", e.What, e.Bytes, e.Limit)
}

// Is reports whether target is [errors.ErrUnsupported].
func (e *LimitError) Is(target error) bool { return target == errors.ErrUnsupported }

// A NotFoundError reports a path that leads to no object, or to one of another kind.
type NotFoundError struct {
	Path    string
	What    string   // "object", "group", "dataset" or "attribute"
	Nearest []string // the most similar names, best first
}

// Error returns the path and the most similar names.
func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("hdf5: no %s %.300q", e.What, e.Path)
	if len(e.Nearest) > 0 {
		s += fmt.Sprintf("; similar names: %q", e.Nearest)
	}
	return s
}

// Is reports whether target is [fs.ErrNotExist].
func (e *NotFoundError) Is(target error) bool { return target == fs.ErrNotExist }

// A MismatchError reports a tensor that a dataset can't be read into.
type MismatchError struct {
	Path      string
	Want      tensor.DType // the dataset's element type
	WantShape tensor.Shape
	Got       tensor.DType // the tensor's element type
	GotShape  tensor.Shape
}

// Error returns both types and shapes.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("hdf5: read %.300q: wrong tensor (got %v%v, want %v%v)", e.Path, e.Got, e.GotShape, e.Want, e.WantShape)
}

// at fills in the object's path in an error that does not have one.
func at(path string, err error) error {
	var c *CorruptError
	var u *UnsupportedError
	var l *LimitError
	switch {
	case errors.As(err, &c) && c.Path == "":
		c.Path = path
	case errors.As(err, &u) && u.Path == "":
		u.Path = path
	case errors.As(err, &l) && l.Path == "":
		l.Path = path
	}
	return err
}
