package engine

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cairnml/cairn/vfs"
)

// Files is a grant: what a kernel may do with files. A call without a grant
// reaches no file at all. Whoever starts the ops makes the grant; function's
// savers grant exactly the place where the checkpoint is written or read.
type Files struct {
	// Read is where checkpoints and other files are read. The default, nil,
	// grants no reading, unless Write is set, which can be read back.
	Read fs.FS
	// Write is where files are written. The default, nil, grants no writing.
	Write vfs.Dir
}

// ErrNotGranted is what an op that wants a file meets where nobody granted it.
var ErrNotGranted = errors.New("engine: no file grant")

// FS returns the file system that the call may read.
func (c *Call) FS() (fs.FS, error) {
	switch f := c.env.Files; {
	case f == nil:
	case f.Read != nil:
		return f.Read, nil
	case f.Write != nil:
		return f.Write, nil
	}
	return nil, fmt.Errorf("%w for reading: function.Options.Files and savedmodel.LoadOptions.Files grant one, and a saver has one", ErrNotGranted)
}

// Dir returns the directory that the call may write to.
func (c *Call) Dir() (vfs.Dir, error) {
	if f := c.env.Files; f != nil && f.Write != nil {
		return f.Write, nil
	}
	return nil, fmt.Errorf("%w for writing: function.Options.Files and savedmodel.LoadOptions.Files grant one, and a saver has one", ErrNotGranted)
}
