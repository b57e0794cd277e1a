package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/klauspost/compress/snappy"

	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/internal/wire"
)

// keyBudget bounds the memory that prefix-compressed keys of the index block may
// grow to: so many bytes, and so many times the block's length. A sound one's
// keys all stand in full.
const (
	keyBudgetBase   = 4 << 20
	keyBudgetFactor = 16
)

// snappyRatio is more than the most that snappy can compress: three bytes of
// its input stand for at most 64.
const snappyRatio = 22

// A Reader reads a table. It is safe for use by many goroutines.
type Reader struct {
	r      io.ReaderAt
	size   int64
	most   uint64 // the most bytes that a block may take in memory
	blocks []indexed
}

type indexed struct {
	handle
	limit []byte // no key in the block is greater
}

// ErrLimit is what errors.Is finds where a sound table asks for more memory than
// its reader allows.
var ErrLimit = errors.New("beyond the limit on memory")

// Open reads footer and index block of the table of that size. No block may
// take more than so many bytes in memory, as it stands or decompressed.
func Open(r io.ReaderAt, size, most int64) (*Reader, error) {
	if size < footerLen {
		return nil, corrupt(0, "the file has %d bytes, too few for a table's footer of %d", size, footerLen)
	}
	at := size - footerLen
	foot := make([]byte, footerLen)
	if err := readFull(r, foot, at); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint64(foot[footerLen-8:]) != magic {
		return nil, corrupt(size-8, "the table's magic number is missing: the file is truncated, or no table")
	}
	t := &Reader{r: r, size: size, most: uint64(most)}
	c := wire.NewCursor(foot[:footerLen-8], at)
	meta, h := handleAt(&c), handleAt(&c)
	if err := c.Err(); err != nil {
		return nil, corrupt(err.Offset, "footer: %s", err.What)
	}
	// The footer has no checksum, but there is one way only to write it.
	if canonical := footer(meta, h); !bytes.Equal(foot, canonical) {
		i := 0
		for foot[i] == canonical[i] {
			i++
		}
		return nil, corrupt(at+int64(i), "footer: byte %d is %#02x, it should be %#02x", i, foot[i], canonical[i])
	}
	// Nothing depends on the metaindex, but that it is as it was written tells
	// that the file is.
	if _, err := t.read(meta, nil); err != nil {
		return nil, err
	}
	contents, err := t.read(h, nil)
	if err != nil {
		return nil, err
	}
	end := uint64(0)
	budget := keyBudgetBase + keyBudgetFactor*len(contents)
	err = scan(contents, int64(h.offset), func(key, value []byte, offset int64) error {
		if budget -= len(key); budget < 0 {
			return corrupt(offset, "the keys of the index block are out of proportion to its size")
		}
		c := wire.NewCursor(value, offset)
		b := indexed{handle: handleAt(&c), limit: bytes.Clone(key)}
		switch {
		case c.Err() != nil:
			return corrupt(offset, "index entry: %s", c.Err().What)
		case c.Len() != 0:
			return corrupt(offset, "index entry: %d bytes after the block's handle", c.Len())
		case b.offset < end:
			return corrupt(offset, "index entry: the block at %d overlaps the one before, which ends at %d", b.offset, end)
		case !t.fits(b.handle):
			return corrupt(offset, "index entry: the block at %d of %d bytes reaches beyond the file", b.offset, b.size)
		}
		end = b.offset + b.size + trailerLen
		t.blocks = append(t.blocks, b)
		return nil
	})
	return t, err
}

func handleAt(c *wire.Cursor) handle { return handle{c.Uvarint(), c.Uvarint()} }

// fits reports whether block and trailer lie before the footer.
func (t *Reader) fits(h handle) bool {
	blocks := uint64(t.size - footerLen)
	return h.offset <= blocks && h.size <= blocks-h.offset && trailerLen <= blocks-h.offset-h.size
}

func readFull(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return corrupt(at+int64(n), "the file ends %d bytes too early", len(b)-n)
	}
	return err
}

// read returns a block's contents, checked and decompressed. They lie in buf until
// the next read with it, where buf isn't nil.
func (t *Reader) read(h handle, buf *[]byte) ([]byte, error) {
	if !t.fits(h) {
		return nil, corrupt(t.size-footerLen, "a block at %d of %d bytes reaches beyond the file", h.offset, h.size)
	}
	if h.size > min(t.most, uint64(maxInt-trailerLen)) {
		return nil, t.tooLarge(h, h.size)
	}
	var b []byte
	if size := int(h.size + trailerLen); buf != nil && size <= maxKept {
		*buf = slices.Grow((*buf)[:0], size)
		b = (*buf)[:size]
	} else {
		b = make([]byte, size)
	}
	if err := readFull(t.r, b, int64(h.offset)); err != nil {
		return nil, err
	}
	body := b[:h.size+1]
	want := crc32c.Unmask(binary.LittleEndian.Uint32(b[h.size+1:]))
	if got := crc32c.Value(body); got != want {
		return nil, corrupt(int64(h.offset), "the checksum of the block of %d bytes is %08x, stored is %08x", h.size, got, want)
	}
	switch kind := body[h.size]; kind {
	case typeRaw:
		return body[:h.size:h.size], nil
	case typeSnappy:
		n, err := snappy.DecodedLen(body[:h.size])
		if err != nil || uint64(n) > h.size*snappyRatio+64 {
			return nil, corrupt(int64(h.offset), "the compressed block of %d bytes lies about its length", h.size)
		}
		if uint64(n) > t.most {
			return nil, t.tooLarge(h, uint64(n))
		}
		out, err := snappy.Decode(nil, body[:h.size])
		if err != nil {
			return nil, corrupt(int64(h.offset), "the compressed block of %d bytes: %v", h.size, err)
		}
		return out, nil
	default:
		return nil, corrupt(int64(h.offset+h.size), "compression type %d is unknown", kind)
	}
}

func (t *Reader) tooLarge(h handle, n uint64) error {
	return fmt.Errorf("the block at offset %d takes %d bytes in memory, the most is %d: %w", h.offset, n, t.most, ErrLimit)
}

// maxKept is up to how many bytes a buffer is used for the next block, too.
const maxKept = 1 << 20

const maxInt = int(^uint(0) >> 1)

// All calls f for every entry in order. Key and value are valid during the call
// only. The offset is the entry's
// place in the file; where its block is compressed, it is the block's place plus
// the entry's in the decompressed contents.
func (t *Reader) All(f func(key, value []byte, offset int64) error) error {
	var buf []byte
	for i := range t.blocks {
		if err := t.Scan(i, &buf, f); err != nil {
			return err
		}
	}
	return nil
}

// Blocks returns how many blocks there are.
func (t *Reader) Blocks() int { return len(t.blocks) }

// LargestBlock returns the length of the longest one in the file.
func (t *Reader) LargestBlock() (n uint64) {
	for _, b := range t.blocks {
		n = max(n, b.size)
	}
	return n
}

// Scan does what All does, for one block, which lies in buf until the next Scan
// with it. That every block is sound tells that the table is.
func (t *Reader) Scan(i int, buf *[]byte, f func(key, value []byte, offset int64) error) error {
	first := i > 0
	return t.scan(i, buf, func(key, value []byte, offset int64) error {
		if first { // the order within a block is checked by scan
			first = false
			if last := t.blocks[i-1].limit; bytes.Compare(key, last) <= 0 {
				return corrupt(offset, "key %.100q comes after %.100q", key, last)
			}
		}
		return f(key, value, offset)
	})
}

// scan calls f for the entries of block i, which lie in buf as in read.
func (t *Reader) scan(i int, buf *[]byte, f func(key, value []byte, offset int64) error) error {
	b := t.blocks[i]
	contents, err := t.read(b.handle, buf)
	if err != nil {
		return err
	}
	return scan(contents, int64(b.offset), func(key, value []byte, offset int64) error {
		if bytes.Compare(key, b.limit) > 0 {
			return corrupt(offset, "key %.100q is greater than its block's key in the index, %.100q", key, b.limit)
		}
		return f(key, value, offset)
	})
}

// errStop ends a scan early.
var errStop = errors.New("stop")

// Get finds the value of a key, and where it lies; nil where there is none. It
// reads one block.
func (t *Reader) Get(key []byte) (value []byte, offset int64, err error) {
	i := sort.Search(len(t.blocks), func(i int) bool { return bytes.Compare(t.blocks[i].limit, key) >= 0 })
	if i == len(t.blocks) {
		return nil, 0, nil
	}
	err = t.scan(i, nil, func(k, v []byte, at int64) error {
		switch c := bytes.Compare(k, key); {
		case c < 0:
			return nil
		case c == 0:
			value, offset = v, at
		}
		return errStop
	})
	if err == errStop {
		err = nil
	}
	return value, offset, err
}

// Block returns the number of the block in which a key would lie, and the length
// of that block in the file; the number is that of no block where the key is
// greater than all.
func (t *Reader) Block(key []byte) (n int, size uint64) {
	i := sort.Search(len(t.blocks), func(i int) bool { return bytes.Compare(t.blocks[i].limit, key) >= 0 })
	if i == len(t.blocks) {
		return i, 0
	}
	return i, t.blocks[i].size
}

// Find calls f for each of the keys, which must increase and lie in one block,
// with its value and where that lies; the value of one that isn't there is nil.
// It reads the block once. The error of f ends it.
func (t *Reader) Find(block int, keys [][]byte, f func(i int, value []byte, offset int64) error) error {
	next := 0
	missing := func() error {
		next++
		return f(next-1, nil, 0)
	}
	if block < len(t.blocks) {
		err := t.scan(block, nil, func(k, v []byte, at int64) error {
			for next < len(keys) {
				switch c := bytes.Compare(k, keys[next]); {
				case c < 0:
					return nil
				case c == 0:
					next++
					return f(next-1, v, at)
				}
				if err := missing(); err != nil {
					return err
				}
			}
			return errStop
		})
		if err != nil && err != errStop {
			return err
		}
	}
	for next < len(keys) {
		if err := missing(); err != nil {
			return err
		}
	}
	return nil
}

// scan walks the entries of a block that lies at base. It checks that keys
// increase and that restarts stand where entries begin with whole keys.
func scan(contents []byte, base int64, f func(key, value []byte, offset int64) error) error {
	if len(contents) < 4 {
		return corrupt(base, "a block of %d bytes has no restarts", len(contents))
	}
	n := uint64(binary.LittleEndian.Uint32(contents[len(contents)-4:]))
	if n == 0 || n > uint64(len(contents)-4)/4 {
		return corrupt(base+int64(len(contents))-4, "a block of %d bytes can't have %d restarts", len(contents), n)
	}
	end := len(contents) - 4 - 4*int(n)
	restarts := contents[end : len(contents)-4]
	var key []byte
	first := true
	c := wire.NewCursor(contents[:end], base)
	for c.Len() > 0 {
		at := c.Offset()
		shared, unshared, length := c.Uvarint32(), c.Uvarint32(), c.Uvarint32()
		suffix, value := c.Bytes(uint64(unshared)), c.Bytes(uint64(length))
		if err := c.Err(); err != nil {
			return corrupt(err.Offset, "table entry: %s", err.What)
		}
		if uint64(shared) > uint64(len(key)) {
			return corrupt(at, "table entry: shares %d bytes with a key of %d", shared, len(key))
		}
		if len(restarts) > 0 && int64(binary.LittleEndian.Uint32(restarts)) == at-base {
			if shared != 0 {
				return corrupt(at, "table entry: a restart shares %d bytes with the key before", shared)
			}
			restarts = restarts[4:]
		}
		// Only the suffix can make the key greater than the one before.
		if !first && bytes.Compare(suffix, key[shared:]) <= 0 {
			return corrupt(at, "table entry: key %.100q is not greater than the one before", append(key[:shared:shared], suffix...))
		}
		first = false
		key = append(key[:shared], suffix...)
		if err := f(key, value, at); err != nil {
			return err
		}
	}
	if len(restarts) > 4 || len(restarts) == 4 && (end > 0 || binary.LittleEndian.Uint32(restarts) != 0) {
		return corrupt(base+int64(len(contents)-4-len(restarts)), "a restart stands where no entry begins")
	}
	return nil
}
