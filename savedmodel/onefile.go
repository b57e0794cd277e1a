package savedmodel

import (
	"bytes"
	"io/fs"
	"time"
)

// oneFile is a directory with one file in memory. Unmarshal and its variants read through it, so that they
// share the code for directories.
type oneFile struct {
	name string
	data []byte
}

// Open implements [fs.FS].
func (f oneFile) Open(name string) (fs.File, error) {
	if name != f.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &memFile{bytes.NewReader(f.data), name}, nil
}

// memFile is the open file and its fs.FileInfo. The Reader has Read, ReadAt and Size.
type memFile struct {
	*bytes.Reader
	name string
}

func (f *memFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *memFile) Close() error               { return nil }
func (f *memFile) Name() string               { return f.name }
func (f *memFile) Mode() fs.FileMode          { return 0o444 }
func (f *memFile) ModTime() time.Time         { return time.Time{} }
func (f *memFile) IsDir() bool                { return false }
func (f *memFile) Sys() any                   { return nil }
