package checkpoint

import (
	"context"
	"errors"
	"io/fs"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/trackable"
)

// ErrNotFound is what errors.Is finds in the error of a restore where there is
// no checkpoint.
var ErrNotFound = bundle.ErrNotFound

// Options changes how a [Checkpoint] saves and restores; nil means the defaults.
type Options struct {
	// Savers are the registered savers. Default: DefaultSavers.
	Savers *Savers
	// Extra is a struct whose fields become edges of the root, as the keyword
	// arguments of tf.train.Checkpoint(root, **kwargs). Default: none.
	Extra any
	// Partial lets every restore leave values of the checkpoint unused, as
	// RestoreOptions.Partial does for one. Default: false.
	Partial bool
	// Writer says how bundles are written. Default: bundle's defaults.
	Writer *bundle.WriterOptions
	// Shards splits the values over several data files. Default: one file.
	Shards ShardPolicy
	// Progress is called while values are written or read, with bytes done and
	// bytes in all; calls don't overlap. Default: nobody is told.
	Progress func(done, total int64)
	// OnWrite is called in order with the path after each write and save.
	// Default: nobody is told.
	OnWrite []func(ctx context.Context, path string) error
}

// Checkpoint saves and restores everything reachable from one root object:
// TensorFlow's tf.train.Checkpoint.
type Checkpoint struct{}

// New makes a Checkpoint of root. It walks the graph once, so that what can't
// be tracked is an error here.
func New(root any, o *Options) (*Checkpoint, error) { return nil, errors.ErrUnsupported }

// Root is the object given to New.
func (ck *Checkpoint) Root() any { return nil }

// SaveCounter is the variable that counts saves, made when first asked for.
func (ck *Checkpoint) SaveCounter() *trackable.Scalar[int64] { return nil }

// Save counts save_counter up, writes to "<prefix>-<save_counter>", updates the
// "checkpoint" state file beside it, and is the path written.
func (ck *Checkpoint) Save(ctx context.Context, prefix string) (path string, err error) {
	return "", errors.ErrUnsupported
}

// SaveTo is [Checkpoint.Save] into dir.
func (ck *Checkpoint) SaveTo(ctx context.Context, dir bundle.Dir, prefix string) (path string, err error) {
	return "", errors.ErrUnsupported
}

// Write writes a checkpoint with that prefix.
func (ck *Checkpoint) Write(ctx context.Context, path string) error { return errors.ErrUnsupported }

// WriteTo is [Checkpoint.Write] into dir.
func (ck *Checkpoint) WriteTo(ctx context.Context, dir bundle.Dir, prefix string) error {
	return errors.ErrUnsupported
}

// RestoreOptions changes one restore; nil means the defaults.
type RestoreOptions struct {
	// Partial lets values of the checkpoint go unused. Default: they are an error.
	Partial bool
	// SkipSlots leaves optimizers' slot variables out. Default: they are restored.
	SkipSlots bool
	// Workers is how many goroutines read. Default: GOMAXPROCS.
	Workers int
	// Progress is called with bytes read and bytes in all. Default: Options.Progress.
	Progress func(done, total int64)
}

// Restore restores the checkpoint at path, save_counter included. The empty path
// means to start from scratch: nothing happens.
func (ck *Checkpoint) Restore(ctx context.Context, path string, o *RestoreOptions) (*Report, error) {
	return nil, errors.ErrUnsupported
}

// RestoreFS is [Checkpoint.Restore] from fsys.
func (ck *Checkpoint) RestoreFS(ctx context.Context, fsys fs.FS, path string, o *RestoreOptions) (*Report, error) {
	return nil, errors.ErrUnsupported
}

// Read is [Checkpoint.Restore] of what [Checkpoint.Write] wrote: it makes no
// save_counter.
func (ck *Checkpoint) Read(ctx context.Context, path string, o *RestoreOptions) (*Report, error) {
	return nil, errors.ErrUnsupported
}

// ReadFS is [Checkpoint.Read] from fsys.
func (ck *Checkpoint) ReadFS(ctx context.Context, fsys fs.FS, path string, o *RestoreOptions) (*Report, error) {
	return nil, errors.ErrUnsupported
}

// Sync delivers what waits for objects that plain structs, slices and maps hold
// by now. Every save calls it.
func (ck *Checkpoint) Sync(ctx context.Context) error { return errors.ErrUnsupported }
