package savedmodel

import (
	"bytes"
	"io/fs"
	"time"
)

// oneFile is a directory that holds a [GraphFile] and nothing else.
type oneFile []byte

// Open implements [fs.FS].
func (f oneFile) Open(name string) (fs.File, error) {
	if name != GraphFile {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &memFile{bytes.NewReader(f)}, nil
}

type memFile struct{ *bytes.Reader }

func (f *memFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *memFile) Close() error               { return nil }
func (f *memFile) Name() string               { return GraphFile }
func (f *memFile) Mode() fs.FileMode          { return 0o444 }
func (f *memFile) ModTime() time.Time         { return time.Time{} }
func (f *memFile) IsDir() bool                { return false }
func (f *memFile) Sys() any                   { return nil }
