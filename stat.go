package cairn

import (
	"context"
	"io/fs"

	"github.com/cairnml/cairn/internal/app/inspect"
	"github.com/cairnml/cairn/internal/app/store"
	"github.com/cairnml/cairn/tensor"
)

// Stats sums up one tensor. Min, Max, Mean and Std are over the finite elements
// (complex numbers by their magnitude) and NaN where there are none; Std is the
// population's, as numpy's. For strings they are over the lengths in bytes.
type Stats struct {
	Name  string
	DType tensor.DType
	Shape tensor.Shape
	Count int // elements

	Min, Max, Mean, Std float64

	Zeros  int // elements equal to zero, or empty strings
	NaN    int
	PosInf int
	NegInf int
}

// MarshalJSON returns the object that `cairn stat --json` prints; what isn't a
// finite number is null.
func (s Stats) MarshalJSON() ([]byte, error) { return inspect.Stats(s).MarshalJSON() }

// StatOptions say what [Stat] sums up; nil means the defaults.
type StatOptions struct {
	// Names keep the tensors whose names contain one of them, or match one with *
	// or ? in it. Default: all tensors.
	Names []string
	// FS is the path's file system. Default: the operating system's.
	FS fs.FS
	// MaxMemory raises the memory that reading may take. Default: for each file 64
	// MiB and 16 times its bytes on the disk, so that a small file can't fill the
	// memory; less than that has no effect.
	MaxMemory int64
	// Progress is called with the bytes read and the bytes in all. Default: nil.
	Progress func(done, total int64)
}

// Stat sums up the tensors of what lies at path, in the order of their names.
// The object graph is left out. One tensor is in memory at a time.
func Stat(ctx context.Context, path string, o *StatOptions) ([]Stats, error) {
	if o == nil {
		o = &StatOptions{}
	}
	s, err := open(ctx, o.FS, path, o.MaxMemory)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	entries, err := s.Filter(ctx, o.Names)
	if err != nil {
		return nil, publicError(err)
	}
	entries = entries.Keep(func(e store.Entry) bool { return e.Name != store.GraphKey })
	var done, total int64
	for e := range entries.All() {
		total += e.Bytes
	}
	out := make([]Stats, 0, entries.Len())
	err = inspect.StatEach(ctx, s, entries, func(e store.Entry, sum inspect.Stats) {
		out = append(out, Stats(sum))
		if done += e.Bytes; o.Progress != nil {
			o.Progress(done, total)
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
