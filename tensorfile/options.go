package tensorfile

import (
	"io/fs"
	"math"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/limit"
)

// Options are the options for opening a file; nil means the defaults.
type Options struct {
	// FS is the path's file system. Default: the operating system's.
	FS fs.FS
	// MaxMemory raises the memory that reading may take. Default: for each file 64
	// MiB and 16 times its bytes on the disk, so that a small file can't fill the
	// memory; less than that has no effect.
	MaxMemory int64
}

// raises is the hint that names the option for a limit.
const raises = "Options.MaxMemory raises it"

// graphShare is the memory of an object graph's trees, edges and paths, as a
// multiple of the memory of its messages.
const graphShare = 4

// newStore returns a File without a backend, which [Open] and openFS set.
func newStore(path string, o *Options) *File {
	s := &File{Path: path, Prefix: path}
	if o != nil {
		s.opts = *o
	}
	return s
}

// memory returns the bytes of memory that reading a file of stored bytes on the disk may take.
func (o *Options) memory(stored int64) int64 { return max(limit.Memory(stored), o.MaxMemory) }

const (
	// shardMemory is the memory in bytes that a data file of a checkpoint needs while it is open.
	shardMemory = 1 << 10
	// defaultMaxShards is the default of bundle.ReaderOptions.MaxShards.
	defaultMaxShards = 100_000
)

// reader returns the options for checkpoints, which package bundle reads.
func (o *Options) reader() *bundle.ReaderOptions {
	r := &bundle.ReaderOptions{MaxMemory: o.MaxMemory}
	if n := o.MaxMemory / shardMemory; n > defaultMaxShards {
		r.MaxShards = int(min(n, math.MaxInt32))
	}
	return r
}
