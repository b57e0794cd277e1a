package hdf5

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/cairnml/cairn/internal/limit"
)

// Options are the options for reading a file; nil means the defaults.
type Options struct {
	// MaxMemory raises the memory that one call may take: for a dataset, or for the
	// structures that lead to it. The links of all groups that a File has read may take as
	// much together. Default: 64 MiB and 16 times the bytes that the file takes on the disk,
	// so that a small file can't fill the memory; less has no effect.
	MaxMemory int64
}

// A File is an HDF5 file, open for reading. It may be used by many goroutines.
type File struct {
	r      io.ReaderAt
	base   int64  // offset of address 0
	size   uint64 // bytes from there to the end of the file
	memory int64  // the most that one call may take, and the links of all groups together

	offsetSize, lengthSize int // bytes of an address, and of a length
	root                   *Group

	mu     sync.Mutex
	groups map[uint64]*links // by the address of their headers
	kept   *meter            // of the memory of groups, since headers may share their links
}

// Open reads the superblock of a file of size bytes, and the header of its root group. r must
// stay open as long as the File is used. An error is a [CorruptError], an [UnsupportedError],
// or r's.
func Open(r io.ReaderAt, size int64, opts *Options) (*File, error) {
	f := &File{r: r, groups: map[uint64]*links{}}
	f.memory = limit.Memory(limit.Stored(r, size))
	if opts != nil {
		f.memory = max(f.memory, opts.MaxMemory)
	}
	f.kept = f.meter()
	root, err := f.readSuperblock(size)
	if err != nil {
		return nil, err
	}
	h, err := f.header(f.meter(), root)
	if err != nil {
		return nil, at("/", err)
	}
	if f.root, err = f.group("/", h); err != nil {
		return nil, at("/", err)
	}
	return f, nil
}

// Root returns the root group.
func (f *File) Root() *Group { return f.root }

// A meter counts the memory that one call uses for reading.
type meter struct{ limit, left int64 }

func (f *File) meter() *meter { return &meter{f.memory, f.memory} }

// take counts n bytes used for what.
func (m *meter) take(n uint64, what string) error {
	if n > uint64(m.left) {
		return &LimitError{What: what, Bytes: m.limit - m.left + int64(min(n, 1<<62)), Limit: m.limit}
	}
	m.left -= int64(n)
	return nil
}

// inside returns an error unless n bytes at an address are inside the file.
func (f *File) inside(addr, n uint64, what string) error {
	switch {
	case addr == undefined:
		return &CorruptError{Offset: f.base, What: what + " has no address"}
	case addr > f.size || n > f.size-addr:
		return &CorruptError{Offset: f.base + int64(min(addr, 1<<62)), What: fmt.Sprintf("%s of %d bytes is beyond the file's end, which is at byte %d", what, n, f.base+int64(f.size))}
	}
	return nil
}

// read returns n bytes at an address.
func (f *File) read(m *meter, addr, n uint64, what string) ([]byte, error) {
	if err := f.inside(addr, n, what); err != nil {
		return nil, err
	}
	if err := m.take(n, what); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	return b, f.readAt(b, addr, what)
}

// readUpTo returns n bytes at an address, or fewer at the end of the file.
func (f *File) readUpTo(m *meter, addr, n uint64, what string) ([]byte, error) {
	if addr < f.size {
		n = min(n, f.size-addr)
	}
	return f.read(m, addr, n, what)
}

// readAt fills b with the bytes at an address, which are inside the file.
func (f *File) readAt(b []byte, addr uint64, what string) error {
	n, err := f.r.ReadAt(b, f.base+int64(addr))
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return &CorruptError{Offset: f.base + int64(addr) + int64(n), What: what + " is cut off", Err: io.ErrUnexpectedEOF}
	}
	return fmt.Errorf("hdf5: read %s at byte %d: %w", what, f.base+int64(addr), err)
}

// checksummed returns a structure of n bytes that begins with a signature and ends with a
// checksum of all before it, and a cursor after the signature that ends before the checksum.
func (f *File) checksummed(m *meter, addr, n uint64, signature, what string) (*cursor, error) {
	b, err := f.read(m, addr, n, what)
	if err != nil {
		return nil, err
	}
	return f.checked(b, addr, signature, what)
}

// checked does the same for bytes that are in memory.
func (f *File) checked(b []byte, addr uint64, signature, what string) (*cursor, error) {
	if len(b) < 8 {
		return nil, &CorruptError{Offset: f.base + int64(addr), What: what + " is cut off"}
	}
	if string(b[:4]) != signature {
		return nil, &CorruptError{Offset: f.base + int64(addr), What: fmt.Sprintf("%s begins with %q, not %q", what, b[:4], signature)}
	}
	body := b[:len(b)-4]
	if err := f.checkSum(body, b[len(body):], addr, what); err != nil {
		return nil, err
	}
	c := f.cursor(body, addr)
	c.skip(4)
	return c, nil
}

// checkSum compares the checksum of body, which is at addr, with the stored one.
func (f *File) checkSum(body, stored []byte, addr uint64, what string) error {
	got := f.cursor(stored, 0)
	if sum := lookup3(body); sum != got.u32() {
		return &CorruptError{Offset: f.base + int64(addr), What: fmt.Sprintf("the checksum of %s differs (got %08x, want %08x)", what, f.cursor(stored, 0).u32(), sum)}
	}
	return nil
}
