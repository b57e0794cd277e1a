package savedmodel

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"time"

	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/internal/misplaced"
	"github.com/cairnml/cairn/internal/pb"
)

// Models are read through here, whole (readFile) or in parts (keepOpen). The bound on memory must stay
// for every way of reading. It is the greater of ReadOptions.MaxMemory and package limit's multiple of
// the bytes on disk.

// file is an open file of a model.
type file struct {
	fs.File
	name string
	info fs.FileInfo
	most int64 // the limit of the memory for the decoded file, in bytes
}

// openFile opens a file and finds out how much memory it may take.
func openFile(fsys fs.FS, name string, o *ReadOptions) (*file, error) {
	if fsys == nil {
		return nil, errors.New("the file system is nil; os.DirFS makes one of a directory")
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if info.IsDir() {
		f.Close()
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("is a directory")}
	}
	most := max(limit.Memory(limit.Stored(f, info.Size())), o.maxMemory())
	if info.Size() > most {
		f.Close()
		return nil, &LimitError{name, info.Size(), most}
	}
	return &file{f, name, info, most}, nil
}

// read reads the whole file.
func (f *file) read() ([]byte, error) {
	b := make([]byte, f.info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, fmt.Errorf("savedmodel: %s: %w", f.name, err)
	}
	if err := misplaced.Check(b); err != nil {
		return nil, &FormatError{f.name, err}
	}
	return b, nil
}

// readFile reads a whole file. It also returns the limit of the memory for the
// decoded file.
func readFile(fsys fs.FS, name string, o *ReadOptions) (b []byte, most int64, err error) {
	f, err := openFile(fsys, name, o)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	b, err = f.read()
	return b, f.most, err
}

// maxWholeFile is the size in bytes up to which a file is read whole, even if its parts could be read
// later: so little memory is better than an open descriptor. The number may change.
const maxWholeFile = 256 << 10

// graphFile is an open file whose parts are read when they are needed. It has
// no Close: a cleanup of the garbage collector closes it when it is
// unreachable.
type graphFile struct {
	io.ReaderAt
	name     string
	stat     func() (fs.FileInfo, error) // of the open file, not of the file that has the name now
	size     int64                       // when it was opened, in bytes
	modified time.Time                   // likewise
}

// keepOpen returns the message in the file, and the file if later reads need it.
// The first result is nil if the message is in memory.
func (f *file) keepOpen() (*graphFile, pb.Source, error) {
	at, ok := f.File.(io.ReaderAt)
	if !ok || f.info.Size() <= maxWholeFile || runtime.GOOS == "windows" { // on Windows an open file can't be replaced
		defer f.Close()
		b, err := f.read()
		return nil, pb.InMemory(b), err
	}
	g := &graphFile{at, f.name, f.Stat, f.info.Size(), f.info.ModTime()}
	runtime.AddCleanup(g, func(f fs.File) { f.Close() }, f.File)
	return g, pb.InFile(g, g.size), nil
}

// ReadAt implements [io.ReaderAt].
func (g *graphFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := g.ReaderAt.ReadAt(b, off)
	if err != nil && n < len(b) {
		err = fmt.Errorf("%s: %w", g.name, err)
	}
	return n, err
}

// unchanged returns an error if another program has written over the file since
// it was opened. If the file was replaced or removed, the open one still has
// the old contents.
func (g *graphFile) unchanged() error {
	if g == nil {
		return nil
	}
	info, err := g.stat()
	if err != nil {
		return fmt.Errorf("savedmodel: %s: %w", g.name, err)
	}
	if info.Size() != g.size || !info.ModTime().Equal(g.modified) {
		return fmt.Errorf("savedmodel: %s: %w", g.name, ErrChanged)
	}
	return nil
}

// ErrChanged reports that another program has written over a model's file since
// it was opened. Replacing the file by a rename does no harm to programs that
// have it open.
var ErrChanged = errors.New("the file was changed after it was opened")
