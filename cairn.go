package cairn

import (
	"context"
	"io/fs"

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

// ReadOptions say how [List], [Read] and [Verify] read; nil means the defaults.
type ReadOptions struct {
	// FS is the path's file system. Default: the operating system's.
	FS fs.FS
	// MaxMemory raises the memory that reading may take. Default: for each file 64
	// MiB and 16 times its bytes on the disk, so that a small file can't fill the
	// memory; less than that has no effect.
	MaxMemory int64
}

// open opens what lies at path: of fsys, or of the operating system where that
// is nil.
func open(ctx context.Context, fsys fs.FS, path string, maxMemory int64) (s *store.Store, err error) {
	if fsys != nil {
		s, err = store.OpenFS(ctx, fsys, path, &store.Options{MaxMemory: maxMemory})
	} else {
		s, err = store.Open(ctx, path, &store.Options{MaxMemory: maxMemory})
	}
	return s, publicError(err)
}

// List returns what lies at path, sorted by name, without reading a value. The
// path is a checkpoint's prefix or one of its files, a directory with a
// "checkpoint" state file (its latest checkpoint), a SavedModel's directory, a
// .npz or a .safetensors file; an error says what was found instead.
func List(ctx context.Context, path string, o *ReadOptions) ([]Entry, error) {
	if o == nil {
		o = &ReadOptions{}
	}
	s, err := open(ctx, o.FS, path, o.MaxMemory)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	out := make([]Entry, 0, s.Entries().Len())
	for e := range s.Entries().All() {
		out = append(out, Entry(e))
	}
	return out, nil
}

// Read returns one tensor of what lies at path, its checksum verified. The
// ending "/.ATTRIBUTES/VARIABLE_VALUE" of a variable's name may be left out. A
// name that isn't there is a *[NotFoundError].
func Read(ctx context.Context, path, name string, o *ReadOptions) (*tensor.Tensor, error) {
	if o == nil {
		o = &ReadOptions{}
	}
	s, err := open(ctx, o.FS, path, o.MaxMemory)
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
