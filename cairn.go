package cairn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cairnml/cairn/internal/app/store"
	"github.com/cairnml/cairn/tensor"
)

// Entry says what a file holds under one name.
type Entry struct {
	Name  string
	DType tensor.DType
	Shape tensor.Shape
	Bytes int64 // what the elements take in the file

	// Shard is the number of the data file in which the bytes lie, and Offset
	// where in it: -1 where that isn't known or the tensor is stored in slices.
	Shard  int
	Offset int64
	// Slices are the parts in which the tensor is stored, as TensorFlow writes
	// them ("0,5:-"); nil where it is stored in one.
	Slices []string
}

// MarshalJSON returns the object that `cairn ls --json` prints.
func (e Entry) MarshalJSON() ([]byte, error) { return store.Entry(e).MarshalJSON() }

// NotFoundError says that a file has no tensor of a name, and lists the nearest
// names. errors.Is finds fs.ErrNotExist in it.
type NotFoundError struct {
	Path    string   // the checkpoint's prefix, or the file
	Name    string   // what was asked for
	Nearest []string // the names most like it, best first
}

// Error names the file, the tensor and the nearest names.
func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("cairn: %s has no tensor called %q", e.Path, e.Name)
	if len(e.Nearest) > 0 {
		s += "; the nearest names are " + strings.Join(e.Nearest, ", ")
	}
	return s
}

// Is reports whether target is fs.ErrNotExist.
func (e *NotFoundError) Is(target error) bool { return target == fs.ErrNotExist }

// publicError returns err with this package's NotFoundError for the internal
// one.
func publicError(err error) error {
	var missing *store.NotFoundError
	if errors.As(err, &missing) {
		return (*NotFoundError)(missing)
	}
	return err
}

// open opens what lies at path: of fsys, or of the operating system where that
// is nil.
func open(ctx context.Context, fsys fs.FS, path string, maxMemory int64) (*store.Store, error) {
	if fsys != nil {
		return store.OpenFS(ctx, fsys, path, &store.Options{MaxMemory: maxMemory})
	}
	return store.Open(ctx, path, &store.Options{MaxMemory: maxMemory})
}

// List returns what lies at path, sorted by name, without reading a value. The
// path is a checkpoint's prefix or one of its files, a directory with a
// "checkpoint" state file (its latest checkpoint), a SavedModel's directory, a
// .npz or a .safetensors file; an error says what was found instead.
func List(ctx context.Context, path string) ([]Entry, error) { return list(ctx, nil, path) }

// ListFS does what [List] does, for a path of fsys.
func ListFS(ctx context.Context, fsys fs.FS, path string) ([]Entry, error) {
	return list(ctx, fsys, path)
}

func list(ctx context.Context, fsys fs.FS, path string) ([]Entry, error) {
	s, err := open(ctx, fsys, path, 0)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	out := make([]Entry, len(s.Entries()))
	for i, e := range s.Entries() {
		out[i] = Entry(e)
	}
	return out, nil
}

// Read returns one tensor of what lies at path, its checksum verified. The
// ending "/.ATTRIBUTES/VARIABLE_VALUE" of a variable's name may be left out. A
// name that isn't there is a *[NotFoundError].
func Read(ctx context.Context, path, name string) (*tensor.Tensor, error) {
	return read(ctx, nil, path, name)
}

// ReadFS does what [Read] does, from a path of fsys.
func ReadFS(ctx context.Context, fsys fs.FS, path, name string) (*tensor.Tensor, error) {
	return read(ctx, fsys, path, name)
}

func read(ctx context.Context, fsys fs.FS, path, name string) (*tensor.Tensor, error) {
	s, err := open(ctx, fsys, path, 0)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	e, _, err := s.Find(ctx, name)
	if err != nil {
		return nil, publicError(err)
	}
	return s.Read(ctx, e.Name)
}
