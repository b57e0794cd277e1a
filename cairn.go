package cairn

import (
	"context"

	"github.com/cairnml/cairn/internal/inspect"
	"github.com/cairnml/cairn/internal/store"
	"github.com/cairnml/cairn/tensor"
)

// Entry says what a file holds under one name: the name, the element type, the
// shape, the bytes that the elements take, and where they lie.
type Entry = store.Entry

// NotFoundError says that a file has no tensor of a name, and lists the nearest
// names. errors.Is finds fs.ErrNotExist in it.
type NotFoundError = store.NotFoundError

// Difference is one way in which two files differ.
type Difference = inspect.Difference

// DiffOptions say when two values count as equal; nil means that they are equal
// to the bit, and that object graphs aren't compared.
type DiffOptions = inspect.DiffOptions

// Fault is something wrong with a file: which file, where in it, and what.
type Fault = inspect.Fault

// List tells what lies at path, sorted by name, without reading a value. The
// path is a checkpoint's prefix or one of its files, a directory with a
// "checkpoint" state file (its latest checkpoint), a SavedModel's directory, a
// .npz or a .safetensors file; an error says what was found instead.
func List(ctx context.Context, path string) ([]Entry, error) {
	s, err := store.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return append([]Entry(nil), s.Entries()...), nil
}

// Read is one tensor of what lies at path, its checksum verified. The ending
// "/.ATTRIBUTES/VARIABLE_VALUE" of a variable's name may be left out. A name
// that isn't there is a *[NotFoundError].
func Read(ctx context.Context, path, name string) (*tensor.Tensor, error) {
	s, err := store.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	e, _, err := s.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	return s.Read(ctx, e.Name)
}

// Diff compares what lies at two paths, of the same kind or not, tensor by
// tensor: names, types, shapes and values. No difference is an empty list. One
// tensor of each side is in memory at a time.
func Diff(ctx context.Context, a, b string, o *DiffOptions) ([]Difference, error) {
	sa, err := store.Open(ctx, a)
	if err != nil {
		return nil, err
	}
	defer sa.Close()
	sb, err := store.Open(ctx, b)
	if err != nil {
		return nil, err
	}
	defer sb.Close()
	return inspect.Diff(ctx, sa, sb, o)
}

// Verify reads all that lies at path and lists every fault: wrong checksums and
// sizes, what can't be decoded, references that lead nowhere. A damaged file is
// no error but a list of faults; the error is for what kept Verify from looking.
func Verify(ctx context.Context, path string) ([]Fault, error) {
	s, faults, err := inspect.Verify(ctx, path, nil)
	if s != nil {
		defer s.Close()
	}
	return faults, err
}
