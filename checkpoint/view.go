package checkpoint

import (
	"context"
	"errors"
	"io/fs"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// View reads a checkpoint without any Go objects: its values, its object graph,
// and how they compare with a program's objects.
type View struct{}

// Open opens the checkpoint at path: a prefix, a file of it, a directory with a
// "checkpoint" file or a SavedModel.
func Open(ctx context.Context, path string, o *bundle.ReaderOptions) (*View, error) {
	return nil, errors.ErrUnsupported
}

// OpenFS is [Open] in fsys.
func OpenFS(ctx context.Context, fsys fs.FS, path string, o *bundle.ReaderOptions) (*View, error) {
	return nil, errors.ErrUnsupported
}

// Value is what [List] tells about one tensor.
type Value struct {
	Name  string
	DType tensor.DType
	Shape tensor.Shape
	Bytes int64
}

// List lists the tensors of a checkpoint, sorted by name.
func List(ctx context.Context, path string) ([]Value, error) { return nil, errors.ErrUnsupported }

// Load reads one tensor of a checkpoint.
func Load(ctx context.Context, path, name string) (*tensor.Tensor, error) {
	return nil, errors.ErrUnsupported
}

// Prefix is the checkpoint's prefix.
func (v *View) Prefix() string { return "" }

// Reader reads the tensors.
func (v *View) Reader() *bundle.Reader { return nil }

// ObjectBased reports whether the checkpoint holds an object graph; one of TF1's
// savers holds names only.
func (v *View) ObjectBased() bool { return false }

// Values lists the tensors, sorted by name.
func (v *View) Values() []Value { return nil }

// Load reads one tensor.
func (v *View) Load(ctx context.Context, name string) (*tensor.Tensor, error) {
	return nil, errors.ErrUnsupported
}

// ViewNode is one object of a checkpoint's graph.
type ViewNode struct {
	ID         int
	Path       string // the first path, raw names joined by dots; "(root)"
	Children   []trackable.Ref
	Attributes []ViewAttribute
	Slots      []trackable.SlotRef
	Saver      string // "package.name" of the registered saver, ""
	SaverName  string // the object's name with that saver
	HasValues  bool
	IsSlot     bool
}

// ViewAttribute is one attribute of a [ViewNode].
type ViewAttribute struct{ Name, Key, FullName string }

// Nodes are the objects in the order of the file.
func (v *View) Nodes() []ViewNode { return nil }

// Diff compares a checkpoint with live objects; see [View.Diff].
type Diff struct {
	// Matched maps node numbers to the objects at the same place.
	Matched map[int]trackable.Trackable
	// OnlyCheckpoint are the nodes that no object matches.
	OnlyCheckpoint []int
	// OnlyObjects are the objects that no node matches, with their paths.
	OnlyObjects []Item
	// Mismatched are matched variables of another type or shape.
	Mismatched []Item
}

// Match maps the checkpoint's nodes to the objects at the same place below root.
func (v *View) Match(root any) (map[int]trackable.Trackable, error) {
	return nil, errors.ErrUnsupported
}

// Diff compares the checkpoint with root's graph without loading a value.
func (v *View) Diff(root any) (*Diff, error) { return nil, errors.ErrUnsupported }

// Close releases what the View holds.
func (v *View) Close() error { return nil }
