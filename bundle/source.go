package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/cairnml/cairn/internal/gitlfs"
	"github.com/cairnml/cairn/internal/limit"
)

// A source is a file being read by position. Files without ReadAt are read by
// seeking, or from front to back and opened again to go back; then parallel is
// false.
type source struct {
	io.ReaderAt
	name     string // for errors
	size     int64  // bytes
	stored   int64  // number of its bytes stored on disk
	parallel bool
	close    func() error
}

// openSource opens a file of fsys.
func openSource(fsys fs.FS, name string) (*source, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if info.IsDir() {
		f.Close()
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("is a directory")}
	}
	s := &source{name: name, size: info.Size(), close: f.Close}
	s.stored = limit.Stored(f, s.size)
	switch r := f.(type) {
	case io.ReaderAt:
		s.ReaderAt, s.parallel = r, true
	case io.ReadSeeker:
		s.ReaderAt = &seeker{r: r}
	default:
		again := &rewinder{f: f, open: func() (fs.File, error) { return fsys.Open(name) }}
		s.ReaderAt, s.close = again, again.Close
	}
	return s, nil
}

// seeker reads by position from a file that can seek.
type seeker struct {
	mu sync.Mutex
	r  io.ReadSeeker
}

func (s *seeker) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.r.Seek(off, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(s.r, p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

// rewinder reads by position from a file that can only be read from its front.
type rewinder struct {
	mu   sync.Mutex
	f    fs.File
	at   int64
	open func() (fs.File, error)
}

func (r *rewinder) ReadAt(p []byte, off int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if off < r.at {
		f, err := r.open()
		if err != nil {
			return 0, err
		}
		r.f.Close()
		r.f, r.at = f, 0
	}
	if off > r.at {
		n, err := io.CopyN(io.Discard, r.f, off-r.at)
		r.at += n
		if err != nil {
			return 0, err
		}
	}
	n, err := io.ReadFull(r.f, p)
	r.at += int64(n)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

func (r *rewinder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.f.Close()
}

// spool reads a source that can't be read in parallel into memory. A source of more than limit
// bytes is an error.
func (s *source) spool(limit int64) error {
	if s.size > limit {
		return fmt.Errorf("bundle: %s has %d bytes and can only be read from its front; at most %d are held in memory: %w", s.name, s.size, limit, errors.ErrUnsupported)
	}
	b := make([]byte, s.size)
	if n, err := s.ReadAt(b, 0); n < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			return &CorruptError{File: s.name, Offset: int64(n), What: fmt.Sprintf("the file ends early: it should have %d bytes", s.size)}
		}
		return err
	}
	s.ReaderAt, s.parallel = bytes.NewReader(b), true
	return nil
}

// explain replaces the error of a file by a more specific one if something else
// is at its path.
func (s *source) explain(err error) error {
	var c *CorruptError
	if errors.As(err, &c) && gitlfs.ReadsPointer(s) {
		return &CorruptError{File: c.File, Offset: -1, Name: c.Name, What: "another file is in its place", Err: gitlfs.ErrPointer}
	}
	return err
}
