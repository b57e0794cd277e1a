package cairn

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"

	"github.com/cairnml/cairn/internal/app/rewrite"
	"github.com/cairnml/cairn/internal/app/store"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// WriteOptions say how [Convert], [Edit] and [Merge] write; nil means the
// defaults.
type WriteOptions struct {
	// Lossy allows what can't be undone: strings that lose trailing NULs in a
	// .npz, variants left out, a layout that can't be rebuilt. Default: false.
	Lossy bool
	// Force replaces a destination that exists. Default: false.
	Force bool
	// Progress is called with the bytes written and the bytes in all. Default: nil.
	Progress func(done, total int64)
	// FS is the sources' file system. Default: the operating system's.
	FS fs.FS
	// Dir is the folder that the destination is a name in: [vfs.OSDir],
	// [vfs.MemDir], or a program's own. Default: the destination is a path of the
	// operating system.
	Dir vfs.Dir
	// MaxMemory raises the memory that reading a source may take. Default: for each file 64
	// MiB and 16 times its bytes on the disk, so that a small file can't fill the
	// memory; less than that has no effect.
	MaxMemory int64
	// MaxAlignment is the most bytes that the metadata of a .safetensors file may
	// align a checkpoint's tensors to. Default: 64 KiB.
	MaxAlignment int64
}

func (o *WriteOptions) internal() *rewrite.Options {
	if o == nil {
		return nil
	}
	return &rewrite.Options{Lossy: o.Lossy, Force: o.Force, Progress: o.Progress, MaxAlignment: o.MaxAlignment, FS: o.FS, Dir: o.Dir, Source: store.Options{MaxMemory: o.MaxMemory}}
}

// Written says what was written.
type Written struct {
	Files   []string // the files
	Tensors int      // how many tensors they hold
	Bytes   int64    // what these take
	Notes   []string // what the user should know
}

func written(r *rewrite.Result) *Written {
	if r == nil {
		return nil
	}
	return &Written{Files: r.Files, Tensors: r.Tensors, Bytes: r.Bytes, Notes: r.Notes}
}

// Convert writes what lies at src to dst, whose kind its suffix says: .npz,
// .safetensors, else a checkpoint's prefix.
//
// A checkpoint that became a .safetensors file becomes the same checkpoint
// again, byte for byte; where that can't be promised the conversion is refused
// unless Lossy. In a .npz bfloat16, float8 and float4 widen to float32, narrow
// integers to 8 bits, and strings become S arrays.
func Convert(ctx context.Context, src, dst string, o *WriteOptions) (*Written, error) {
	r, err := rewrite.Convert(ctx, src, dst, o.internal())
	return written(r), publicError(err)
}

// Rename replaces what matches Match in a name by With, in which $1 stands for
// the first group.
type Rename struct {
	Match *regexp.Regexp
	With  string
}

// Cast gives the tensors whose names match another type.
type Cast struct {
	Match *regexp.Regexp
	To    tensor.DType
}

// Edits are the changes that [Edit] makes, in this order: names that match any
// of Drop are left out, the others cast, then renamed. All patterns see the
// names as they are in the source.
type Edits struct {
	Drop   []*regexp.Regexp
	Cast   []Cast
	Rename []Rename
	// KeepShared keeps tensors whose names a pattern of Drop matches while other
	// paths of the object graph lead to them too, as in Keras 3's checkpoints,
	// where kernels go by names below the optimizer. Default: false, which refuses
	// to drop them unless WriteOptions.Lossy.
	KeepShared bool
}

// check refuses patterns that are missing.
func (e Edits) check() error {
	missing := func(kind string, i int) error {
		return fmt.Errorf("cairn: Edit: %s %d has no pattern; regexp.MustCompile makes one", kind, i)
	}
	for i, re := range e.Drop {
		if re == nil {
			return missing("Drop", i)
		}
	}
	for i, c := range e.Cast {
		if c.Match == nil {
			return missing("Cast", i)
		}
	}
	for i, r := range e.Rename {
		if r.Match == nil {
			return missing("Rename", i)
		}
	}
	return nil
}

// Change is what [Edit] does with one tensor.
type Change struct {
	Name string `json:"name"`           // its name in the source
	To   string `json:"to,omitempty"`   // its new name, "" where it keeps its own
	Cast string `json:"cast,omitempty"` // its new type, "" where it keeps its own
	Drop bool   `json:"drop,omitempty"` // it is left out
}

// Edit writes what lies at src to dst with tensors renamed, dropped and cast,
// and returns the changes. The object graph goes with them: its keys are the new
// names, and where all that lies below an object moves, the edge to it is
// renamed too, so that a program whose objects go by the new names restores
// them. What is not changed is copied as it stands. With an empty dst nothing is
// written: the changes are those that would be made.
func Edit(ctx context.Context, src, dst string, e Edits, o *WriteOptions) ([]Change, *Written, error) {
	if err := e.check(); err != nil {
		return nil, nil, err
	}
	edits := rewrite.Edits{Drop: e.Drop, KeepShared: e.KeepShared}
	for _, c := range e.Cast {
		edits.Cast = append(edits.Cast, rewrite.CastTo{Match: c.Match, To: c.To})
	}
	for _, r := range e.Rename {
		edits.Rename = append(edits.Rename, rewrite.Rename{Match: r.Match, With: r.With})
	}
	made, r, err := rewrite.Edit(ctx, src, dst, edits, o.internal())
	var changes []Change
	for _, c := range made {
		changes = append(changes, Change{Name: c.Name, To: c.To, Cast: c.Cast, Drop: c.Drop})
	}
	return changes, written(r), publicError(err)
}

// MergeOptions say how [Merge] joins and writes; nil means the defaults.
type MergeOptions struct {
	WriteOptions
	// Join names the sources, one after the other: their object graphs become one
	// whose root has them as children of these names, and their tensors' names
	// begin with them. Default: nil, names stay as they are.
	Join []string
	// Graph is the source, as it was given, whose object graph is kept where
	// several have one. Default: "", more than one is a [GraphsError].
	Graph string
}

// Merge makes one file, dst, of several. Checkpoints become the shards of one
// checkpoint, their bytes as they are, as TensorFlow merges the parts that
// several workers wrote; slices of one tensor may come from several of them.
// Object graphs are joined under names or one of them is kept, as the options
// say. Where another kind is among the sources or asked for, tensors are written
// one by one. A name that two sources have is a *[ClashError]. All that is
// copied is verified. The sources stay.
func Merge(ctx context.Context, srcs []string, dst string, o *MergeOptions) (*Written, error) {
	if o == nil {
		o = &MergeOptions{}
	}
	r, err := rewrite.Merge(ctx, srcs, dst, &rewrite.MergeOptions{Options: *o.internal(), Join: o.Join, Graph: o.Graph})
	return written(r), publicError(err)
}
