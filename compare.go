package cairn

import (
	"context"
	"io/fs"

	"github.com/cairnml/cairn/internal/app/inspect"
	"github.com/cairnml/cairn/internal/app/store"
)

// Difference is one way in which two files differ.
type Difference struct {
	// Kind is "only in A", "only in B", "dtype", "shape", "values" or "graph".
	Kind string `json:"kind"`
	// Name is the tensor's name, or the path of an object.
	Name string `json:"name"`
	// A and B say what either side has, where that is the difference.
	A string `json:"a,omitempty"`
	B string `json:"b,omitempty"`

	// For values: how many elements differ, of how many, the largest absolute
	// and relative difference, and the index of the first one.
	Differ int      `json:"differ,omitempty"`
	Count  int      `json:"count,omitempty"`
	MaxAbs *float64 `json:"max_abs,omitempty"`
	MaxRel *float64 `json:"max_rel,omitempty"`
	First  []int    `json:"first,omitempty"`
}

// DiffOptions say when two files count as equal; nil means the defaults.
type DiffOptions struct {
	// RTol and ATol let values differ: a and b are equal where
	// |a-b| <= ATol + RTol*|b|, NaNs where both are. Default: 0, equal values.
	RTol, ATol float64
	// Graph compares the object graphs too, where both have one. Default: false.
	Graph bool
	// FSA and FSB are the file systems of the two paths. Default: the operating
	// system's.
	FSA, FSB fs.FS
	// MaxMemory raises the memory that reading may take. Default: for each file 64
	// MiB and 16 times its bytes on the disk, so that a small file can't fill the
	// memory; less than that has no effect.
	MaxMemory int64
	// Progress is called with the bytes compared and the bytes in all. Default: nil.
	Progress func(done, total int64)
}

// Diff compares what lies at two paths, of the same kind or not, tensor by
// tensor: names, types, shapes and values. No difference is an empty list. One
// tensor of each side is in memory at a time.
func Diff(ctx context.Context, a, b string, o *DiffOptions) ([]Difference, error) {
	if o == nil {
		o = &DiffOptions{}
	}
	sa, err := open(ctx, o.FSA, a, o.MaxMemory)
	if err != nil {
		return nil, err
	}
	defer sa.Close()
	sb, err := open(ctx, o.FSB, b, o.MaxMemory)
	if err != nil {
		return nil, err
	}
	defer sb.Close()
	found, err := inspect.Diff(ctx, sa, sb, &inspect.DiffOptions{RTol: o.RTol, ATol: o.ATol, Graph: o.Graph, Progress: o.Progress})
	out := make([]Difference, len(found))
	for i, d := range found {
		out[i] = Difference(d)
	}
	return out, err
}

// Fault is something wrong with a file.
type Fault struct {
	File   string // which file
	Offset int64  // where in it; -1 where no single place is at fault
	Tensor string // the tensor it belongs to, or ""
	What   string // what is wrong

	// Missing says that the file isn't there; one fault then stands for all the
	// Tensors that lie in it.
	Missing bool
	Tensors int
}

// MarshalJSON returns the object that `cairn verify --json` prints.
func (f Fault) MarshalJSON() ([]byte, error) { return inspect.Fault(f).MarshalJSON() }

// String returns "file: byte 12: tensor: what".
func (f Fault) String() string { return inspect.Fault(f).String() }

// Verify reads all that lies at path and returns every fault: wrong checksums
// and sizes, what can't be decoded, references that lead nowhere; in a SavedModel's
// directory its graphs and assets too. A damaged file
// is no error but a list of faults; the error is for what kept Verify from
// looking.
func Verify(ctx context.Context, path string, o *ReadOptions) (list []Fault, err error) {
	if o == nil {
		o = &ReadOptions{}
	}
	var found []inspect.Fault
	if opts := (&store.Options{MaxMemory: o.MaxMemory}); o.FS != nil {
		_, found, err = inspect.VerifyFS(ctx, o.FS, path, opts, nil)
	} else {
		_, found, err = inspect.Verify(ctx, path, opts, nil)
	}
	for _, f := range found {
		list = append(list, Fault(f))
	}
	return list, publicError(err)
}
