package cairn

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/app/rewrite"
	"github.com/cairnml/cairn/internal/app/store"
	"github.com/cairnml/cairn/tensor"
)

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

// GraphsError says that several of [Merge]'s sources have an object graph.
type GraphsError struct {
	Sources []string // those that have one
}

// Error names the sources and the options that help.
func (e *GraphsError) Error() string {
	return fmt.Sprintf("cairn: Merge: %s each have an object graph: MergeOptions.Join makes one of them, MergeOptions.Graph keeps one",
		strings.Join(e.Sources, ", "))
}

// ClashError says that two of [Merge]'s sources have a tensor of one name.
type ClashError struct {
	Sources [2]string
	Name    string
}

// Error names the sources, the tensor and the option that helps.
func (e *ClashError) Error() string {
	return fmt.Sprintf("cairn: Merge: %s and %s both have a tensor called %q: MergeOptions.Join gives the names of each a beginning of their own",
		e.Sources[0], e.Sources[1], e.Name)
}

// SharedError says that tensors which [Edit] would drop by their names are in use
// elsewhere: TensorFlow names a variable by the shortest way to it, which in
// Keras 3's checkpoints leads through the optimizer.
type SharedError struct {
	Path   string
	Shared map[string]string // the tensors' names, and the paths that aren't dropped
}

// Error names the tensors and the options that decide.
func (e *SharedError) Error() string {
	names := slices.Sorted(maps.Keys(e.Shared))
	if len(names) > 3 {
		names = append(names[:3], "…")
	}
	return fmt.Sprintf("cairn: Edit: %s: %d of the tensors to drop are used by other objects too, %s: Edits.KeepShared keeps them, WriteOptions.Lossy drops them",
		e.Path, len(e.Shared), strings.Join(names, ", "))
}

// CastError says that a cast of [Edit] would lose more than digits: NaN, a
// fraction, what is beyond the type's range.
type CastError struct {
	Name     string // the tensor's name
	From, To tensor.DType
	Index    int    // of the first element that is lost, counted flat
	Value    string // what it is
	Becomes  string // and what it would be
	Lost     int    // how many are
}

// Error names the tensor, its first value that is lost and the option that
// allows it.
func (e *CastError) Error() string {
	return fmt.Sprintf("cairn: Edit: %q cast from %v to %v: %s would become %s, and %d in all change their value; WriteOptions.Lossy casts them all the same",
		e.Name, e.From, e.To, e.Value, e.Becomes, e.Lost)
}

// OverwriteError says that what would be written lies where a source is.
type OverwriteError struct {
	Path   string // what would be overwritten
	Source string // the source that it belongs to
}

// Error names the file and what to do.
func (e *OverwriteError) Error() string {
	return fmt.Sprintf("cairn: %s belongs to %s, which is read; write to another name", e.Path, e.Source)
}

// ForeignError says that a file is of a kind that this module doesn't read or
// write, and what to do instead.
type ForeignError struct {
	Path string
	Kind string // what it is: "a Keras archive", "an HDF5 file", …
	Hint string // what to do instead
}

// Error names the kind and what to do.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("cairn: %s is %s: %s", e.Path, e.Kind, e.Hint)
}

// publicError returns err with this package's types for the internal ones.
func publicError(err error) error {
	var (
		missing   *store.NotFoundError
		overwrite *store.OverwriteError
		foreign   *store.ForeignError
		graphs    *rewrite.GraphsError
		clash     *rewrite.ClashError
		shared    *rewrite.SharedError
		cast      *rewrite.CastError
	)
	switch {
	case errors.As(err, &missing):
		return (*NotFoundError)(missing)
	case errors.As(err, &overwrite):
		return (*OverwriteError)(overwrite)
	case errors.As(err, &foreign):
		return (*ForeignError)(foreign)
	case errors.As(err, &graphs):
		return (*GraphsError)(graphs)
	case errors.As(err, &clash):
		return (*ClashError)(clash)
	case errors.As(err, &shared):
		return (*SharedError)(shared)
	case errors.As(err, &cast):
		return (*CastError)(cast)
	}
	return err
}
