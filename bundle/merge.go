package bundle

import (
	"context"
	"errors"
)

// MergeOptions says how to merge; nil means the defaults.
type MergeOptions struct {
	// KeepSources leaves the sources in place and copies their data files.
	// Default false: data files are renamed and the sources' indexes removed.
	KeepSources bool
	// AllowMissing skips sources that have no index. Default false.
	AllowMissing bool
	// NoSync is as in WriterOptions. Default false.
	NoSync bool
}

// Merge makes one bundle of several, as TensorFlow's MergeV2Checkpoints does:
// data files become the shards of dst in the order of srcs. Slices of one
// tensor may come from several sources; a whole tensor that two sources have is
// an error.
func Merge(ctx context.Context, dir Dir, dst string, srcs []string, opts *MergeOptions) error {
	return errors.ErrUnsupported
}
