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

// keyBudgetBase and keyBudgetFactor bound the memory that prefix-compressed keys of the
// index block may grow to: so many bytes, plus so many times the block's length. The keys
// of an index that TensorFlow wrote are stored in full, so that it never reaches the
// bound. Both are Cairn's choice.
const (
	keyBudgetBase   = 4 << 20
	keyBudgetFactor = 16
)

// snappyRatio is more than the maximum compression of snappy: three bytes of
// its input produce at most 64.
const snappyRatio = 22

// A Reader reads a table. It is safe for use by many goroutines.
type Reader struct {
	r      io.ReaderAt
	size   int64
	most   uint64 // the most bytes that a block may take in memory
	blocks []indexed
}

// indexed is a data block as the index block describes it.
type indexed struct {
	handle
	limit []byte // no key in the block is greater
}

// ErrLimit is matched by errors.Is if a sound table needs more memory than its
// reader allows. Package bundle decides by it whether a file counts as damaged.
var ErrLimit = errors.New("beyond the limit on memory")

// Open reads footer and index block of the table of that size. No block may take more
// than most bytes in memory, as stored or decompressed. If the index block is damaged in
// the middle, the Reader of the blocks before is returned with the error.
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
	// Nothing depends on the metaindex, but checking it shows that the file is
	// unchanged.
	if _, err := t.read(meta, nil); err != nil {
		return nil, err
	}
	contents, err := t.read(h, nil)
	if err != nil {
		return nil, err
	}
	end := uint64(0)
	budget := keyBudgetBase + keyBudgetFactor*len(contents)
	e := entries(contents, int64(h.offset))
	for e.Next() {
		if budget -= len(e.Key); budget < 0 {
			return t, corrupt(e.Offset, "the keys of the index block are out of proportion to its size")
		}
		c := wire.NewCursor(e.Value, e.Offset)
		b := indexed{handle: handleAt(&c), limit: bytes.Clone(e.Key)}
		switch {
		case c.Err() != nil:
			return t, corrupt(e.Offset, "index entry: %s", c.Err().What)
		case c.Len() != 0:
			return t, corrupt(e.Offset, "index entry: %d bytes after the block's handle", c.Len())
		case b.offset < end:
			return t, corrupt(e.Offset, "index entry: the block at %d overlaps the one before, which ends at %d", b.offset, end)
		case !t.fits(b.handle):
			return t, corrupt(e.Offset, "index entry: the block at %d of %d bytes reaches beyond the file", b.offset, b.size)
		}
		end = b.offset + b.size + trailerLen
		t.blocks = append(t.blocks, b)
	}
	return t, e.Err()
}

// handleAt reads a handle at c. An error is c's.
func handleAt(c *wire.Cursor) handle { return handle{c.Uvarint(), c.Uvarint()} }

// fits reports whether block and trailer are before the footer.
func (t *Reader) fits(h handle) bool {
	blocks := uint64(t.size - footerLen)
	return h.offset <= blocks && h.size <= blocks-h.offset && trailerLen <= blocks-h.offset-h.size
}

// readFull fills b from offset at on. A file that ends too early is corrupt.
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

// read returns a block's contents, checked and decompressed. If buf isn't nil they may
// be in buf, so that they are valid until the next read with it. The errors are
// [*CorruptError], [ErrLimit] or those of the file.
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
			return nil, corrupt(int64(h.offset), "the compressed block of %d bytes has a wrong length", h.size)
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

// maxKept is the greatest size in bytes of a block that is read into the common buffer. A
// larger block has a new buffer, so that the common one doesn't keep its memory.
// The number may change.
const maxKept = 1 << 20

const maxInt = int(^uint(0) >> 1)

// All calls f for every entry in order. Key and value are valid during the call
// only; the offset is as in [Entries].
func (t *Reader) All(f func(key, value []byte, offset int64) error) error {
	var buf []byte
	for i := range t.blocks {
		e := t.Scan(i, &buf)
		for e.Next() {
			if err := f(e.Key, e.Value, e.Offset); err != nil {
				return err
			}
		}
		if e.Err() != nil {
			return e.Err()
		}
	}
	return nil
}

// Blocks returns how many blocks there are.
func (t *Reader) Blocks() int { return len(t.blocks) }

// LargestBlock returns the number of bytes that the longest data block takes in the file,
// without its trailer.
func (t *Reader) LargestBlock() (n uint64) {
	for _, b := range t.blocks {
		n = max(n, b.size)
	}
	return n
}

// Scan steps through one block, whose entries come in order; it is in buf until the
// next Scan with it. If every block is sound, the table is.
func (t *Reader) Scan(i int, buf *[]byte) Entries {
	e := t.scan(i, buf)
	if i > 0 {
		e.after = t.blocks[i-1].limit
	}
	return e
}

// scan steps through block i, which is in buf as in read.
func (t *Reader) scan(i int, buf *[]byte) Entries {
	b := t.blocks[i]
	contents, err := t.read(b.handle, buf)
	if err != nil {
		return Entries{err: err}
	}
	e := entries(contents, int64(b.offset))
	e.limit = b.limit
	return e
}

// Get returns the value of a key, and its offset; nil if there is none. It
// reads one block and verifies its checksum, but checks its entries up to the
// key only.
func (t *Reader) Get(key []byte) (value []byte, offset int64, err error) {
	i := sort.Search(len(t.blocks), func(i int) bool { return bytes.Compare(t.blocks[i].limit, key) >= 0 })
	if i == len(t.blocks) {
		return nil, 0, nil
	}
	e := t.scan(i, nil)
	for e.Next() {
		switch c := bytes.Compare(e.Key, key); {
		case c == 0:
			return e.Value, e.Offset, nil
		case c > 0:
			return nil, 0, nil
		}
	}
	return nil, 0, e.Err()
}

// Block returns the number of the block that would contain a key, and the length
// of that block in the file. If the key is greater than all others, the number
// is that of no block.
func (t *Reader) Block(key []byte) (n int, size uint64) {
	i := sort.Search(len(t.blocks), func(i int) bool { return bytes.Compare(t.blocks[i].limit, key) >= 0 })
	if i == len(t.blocks) {
		return i, 0
	}
	return i, t.blocks[i].size
}

// Find calls f for each of the keys, which must increase and be in one block,
// with its value and the value's offset; the value of a missing one is nil. It
// reads the block once. The error of f ends it.
func (t *Reader) Find(block int, keys [][]byte, f func(i int, value []byte, offset int64) error) error {
	next := 0
	missing := func() error {
		next++
		return f(next-1, nil, 0)
	}
	if block < len(t.blocks) {
		e := t.scan(block, nil)
	entries:
		for next < len(keys) && e.Next() {
			for next < len(keys) {
				switch c := bytes.Compare(e.Key, keys[next]); {
				case c < 0:
					continue entries
				case c == 0:
					next++
					if err := f(next-1, e.Value, e.Offset); err != nil {
						return err
					}
					continue entries
				}
				if err := missing(); err != nil {
					return err
				}
			}
		}
		if e.Err() != nil {
			return e.Err()
		}
	}
	for next < len(keys) {
		if err := missing(); err != nil {
			return err
		}
	}
	return nil
}

// Entries steps through the entries of a block. It checks that keys increase and that
// restarts are at entries with whole keys.
type Entries struct {
	// Key and Value are the entry's, valid until the next one.
	Key, Value []byte
	// Offset is the entry's offset in the file; if its block is compressed, it is
	// the block's offset plus the entry's in the decompressed contents.
	Offset int64

	contents []byte // the entries, without the restarts
	at       int    // of the next entry in contents
	base     int64  // the block's offset in the file
	restarts []byte // those to come
	tail     int64  // offset of the restarts' end in the file
	after    []byte // the first key must be greater, unless nil
	limit    []byte // no key may be greater; nil: any may
	started  bool
	err      error
}

// entries steps through a block's contents. base is the block's offset in the file.
func entries(contents []byte, base int64) Entries {
	if len(contents) < 4 {
		return Entries{err: corrupt(base, "a block of %d bytes has no restarts", len(contents))}
	}
	n := uint64(binary.LittleEndian.Uint32(contents[len(contents)-4:]))
	if n == 0 || n > uint64(len(contents)-4)/4 {
		return Entries{err: corrupt(base+int64(len(contents))-4, "a block of %d bytes can't have %d restarts", len(contents), n)}
	}
	end := len(contents) - 4 - 4*int(n)
	return Entries{contents: contents[:end], base: base, restarts: contents[end : len(contents)-4], tail: base + int64(len(contents)) - 4}
}

// Err returns the error that ended the iteration, nil if the block ended. It is a
// [*CorruptError], [ErrLimit] or one of the file.
func (e *Entries) Err() error { return e.err }

// Next steps to the next entry, and reports whether there is one.
func (e *Entries) Next() bool {
	if e.at >= len(e.contents) || e.err != nil {
		return e.end()
	}
	at := e.base + int64(e.at)
	var shared int
	var suffix, value []byte
	// Mostly all three lengths are short.
	if b := e.contents[e.at:]; len(b) >= 3 && b[0]|b[1]|b[2] < 0x80 && 3+int(b[1])+int(b[2]) <= len(b) {
		shared = int(b[0])
		n := 3 + int(b[1])
		suffix, value = b[3:n:n], b[n:n+int(b[2]):n+int(b[2])]
		e.at += n + int(b[2])
	} else {
		c := wire.NewCursor(b, at)
		long, unshared, length := c.Uvarint32(), c.Uvarint32(), c.Uvarint32()
		suffix, value = c.Bytes(uint64(unshared)), c.Bytes(uint64(length))
		if err := c.Err(); err != nil {
			return e.fail(corrupt(err.Offset, "table entry: %s", err.What))
		}
		shared = int(min(uint64(long), uint64(maxInt)))
		e.at += len(b) - c.Len()
	}
	if shared > len(e.Key) {
		return e.fail(corrupt(at, "table entry: shares %d bytes with a key of %d", shared, len(e.Key)))
	}
	if len(e.restarts) > 0 && int64(binary.LittleEndian.Uint32(e.restarts)) == at-e.base {
		if shared != 0 {
			return e.fail(corrupt(at, "table entry: a restart shares %d bytes with the key before", shared))
		}
		e.restarts = e.restarts[4:]
	}
	// Only the suffix can make the key greater than the one before.
	if rest := e.Key[shared:]; e.started && !(len(suffix) > 0 && len(rest) > 0 && suffix[0] > rest[0]) && bytes.Compare(suffix, rest) <= 0 {
		return e.fail(corrupt(at, "table entry: key %.100q is not greater than the one before", append(e.Key[:shared:shared], suffix...)))
	}
	e.Key, e.Value, e.Offset = append(e.Key[:shared], suffix...), value, at
	if !e.started {
		e.started = true
		if e.after != nil && bytes.Compare(e.Key, e.after) <= 0 {
			return e.fail(corrupt(at, "key %.100q comes after %.100q", e.Key, e.after))
		}
	}
	// If no key is greater than the limit, the last one isn't.
	if e.limit != nil && e.at == len(e.contents) && bytes.Compare(e.Key, e.limit) > 0 {
		return e.fail(corrupt(at, "key %.100q is greater than its block's key in the index, %.100q", e.Key, e.limit))
	}
	return true
}

// fail ends the iteration with an error.
func (e *Entries) fail(err error) bool {
	e.err = err
	return false
}

// end makes the checks at the block's end.
func (e *Entries) end() bool {
	if e.err == nil && (len(e.restarts) > 4 || len(e.restarts) == 4 && (len(e.contents) > 0 || binary.LittleEndian.Uint32(e.restarts) != 0)) {
		e.err = corrupt(e.tail-int64(len(e.restarts)), "a restart is at an offset where no entry begins")
	}
	return false
}
