package checkpoint

import (
	"context"
	"errors"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
)

// ShardTensor is one value that goes to a data file.
type ShardTensor struct {
	Name   string
	Tensor *tensor.Tensor
	Full   tensor.Shape  // the whole tensor's shape where Slice is set
	Slice  *bundle.Slice // nil: the whole tensor
}

// ShardPolicy splits the values of a checkpoint, which come in the order of
// writing, over data files.
type ShardPolicy func(values []ShardTensor) ([][]ShardTensor, error)

// snapshot is a consistent cut of a checkpoint's state: it can be written while
// training goes on.
type snapshot struct{}

// writeOptions changes how a snapshot is written; nil means the Checkpoint's.
type writeOptions struct {
	Shards   ShardPolicy
	Progress func(done, total int64)
}

// snapshot takes a consistent cut between training steps, after Sync. An error
// where something of an earlier restore still waits.
func (ck *Checkpoint) snapshot(ctx context.Context) (*snapshot, error) {
	return nil, errors.ErrUnsupported
}

// write writes the snapshot; files are the names in dir, the index last.
func (sn *snapshot) write(ctx context.Context, dir bundle.Dir, prefix string, o *writeOptions) (files []string, err error) {
	return nil, errors.ErrUnsupported
}

// writeNow is snapshot and write in one, for a save that isn't asynchronous:
// registered savers write straight to dir.
func (ck *Checkpoint) writeNow(ctx context.Context, dir bundle.Dir, prefix string, o *writeOptions) (files []string, err error) {
	return nil, errors.ErrUnsupported
}
