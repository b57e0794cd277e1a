package bundle

import (
	"context"
	"errors"
	"io/fs"
	"iter"

	"github.com/cairnml/cairn/tensor"
)

// ReaderOptions says how to open a bundle; nil means the defaults.
type ReaderOptions struct {
	// MaxIndex is the most bytes of an index file that are read. Default 1 GiB.
	MaxIndex int64
}

// A Reader reads one checkpoint. It is safe for use by many goroutines and
// keeps no file open between calls.
type Reader struct{}

// Open reads the index of the checkpoint with that prefix: "model.ckpt-10"
// where the files are model.ckpt-10.index and model.ckpt-10.data-00000-of-00001.
// A file called prefix itself is taken for a checkpoint of version 1. Tensors
// are read when asked for.
func Open(ctx context.Context, fsys fs.FS, prefix string, opts *ReaderOptions) (*Reader, error) {
	return nil, errors.ErrUnsupported
}

// OpenFile is [Open] with a prefix that is a path of the operating system.
func OpenFile(ctx context.Context, path string, opts *ReaderOptions) (*Reader, error) {
	return nil, errors.ErrUnsupported
}

// Prefix is what the bundle was opened with.
func (r *Reader) Prefix() string { return "" }

// Version is 2 for a bundle, 1 for the older format.
func (r *Reader) Version() int { return 2 }

// Header is what the index says about the whole bundle.
type Header struct {
	NumShards    int
	BigEndian    bool
	Producer     int // the writer's version of the format
	MinConsumer  int // the oldest version that can read it
	BadConsumers []int
	Raw          []byte // the encoded message; nil in version 1
}

// Header is the bundle's header. In version 1 only the versions are set.
func (r *Reader) Header() Header { return Header{} }

// Len is the number of tensors.
func (r *Reader) Len() int { return 0 }

// Names lists the tensors, sorted by their bytes.
func (r *Reader) Names() []string { return nil }

// Entries yields the tensors' entries, sorted by name.
func (r *Reader) Entries() iter.Seq[Entry] { return func(func(Entry) bool) {} }

// Entry finds the entry of the tensor with that name.
func (r *Reader) Entry(name string) (Entry, bool) { return Entry{}, false }

// Parts lists where a tensor's slices lie, in the order of Entry.Slices: each
// has the tensor's name and one slice. For a tensor in one piece it is the
// entry itself.
func (r *Reader) Parts(name string) ([]Entry, error) { return nil, errors.ErrUnsupported }

// Read reads a whole tensor into new storage.
func (r *Reader) Read(ctx context.Context, name string) (*tensor.Tensor, error) {
	return nil, errors.ErrUnsupported
}

// ReadInto reads a whole tensor into dst, whose type and shape must be the
// entry's. After an error dst may hold anything.
func (r *Reader) ReadInto(ctx context.Context, name string, dst *tensor.Tensor) error {
	return errors.ErrUnsupported
}

// ReadSlice reads a part of a tensor. The tensor may be stored whole or in
// other slices, which together must cover what is asked for.
func (r *Reader) ReadSlice(ctx context.Context, name string, s Slice) (*tensor.Tensor, error) {
	return nil, errors.ErrUnsupported
}

// A ReadRequest asks for one tensor, or a part of one.
type ReadRequest struct {
	Name  string
	Slice *Slice         // nil: all of it
	Dst   *tensor.Tensor // where it goes; nil: ReadAll makes it and sets it here
}

// ReadAllOptions says how to read many tensors; nil means the defaults.
type ReadAllOptions struct {
	// Workers is how many goroutines read and check. Default GOMAXPROCS.
	Workers int
	// Progress is called now and then with the bytes read so far and the bytes
	// of all requests; calls don't overlap. Default nil.
	Progress func(done, total int64)
}

// ReadAll reads many tensors in parallel and verifies their checksums. Names,
// types and shapes are checked before the first byte is read; the first error
// ends it.
func (r *Reader) ReadAll(ctx context.Context, reqs []ReadRequest, opts *ReadAllOptions) error {
	return errors.ErrUnsupported
}

// VerifyOptions says how to verify; nil means the defaults.
type VerifyOptions struct {
	// Workers and Progress are as in ReadAllOptions.
	Workers  int
	Progress func(done, total int64)
	// MaxErrors is how many faults are listed. Default 100.
	MaxErrors int
}

// Verify reads everything and checks every checksum and size. The error joins
// all faults found (errors.Join), each a [CorruptError] where a file is at
// fault.
func (r *Reader) Verify(ctx context.Context, opts *VerifyOptions) error { return errors.ErrUnsupported }

// Close releases what the Reader holds. A second call does nothing.
func (r *Reader) Close() error { return nil }
