package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"

	"github.com/cairnml/cairn/internal/crc32c"
)

// A Writer writes a table. Keys must be added in strictly increasing order. It must not
// be used by several goroutines at once.
type Writer struct {
	w      io.Writer
	offset uint64 // the number of bytes written

	data, index block
	last        []byte // the last key added
	any         bool   // whether a key was added
	pending     bool   // a block ended: its index entry waits for the next key
	done        handle // that block
	snappy      bool   // compress blocks
	err         error  // the first one; after Finish, that it is finished
}

// NewWriter begins a table that goes to w, without compression, byte for byte
// as TensorFlow writes it.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w, data: block{interval: RestartInterval}, index: block{interval: 1}}
}

// NewSnappyWriter begins a table whose blocks are compressed if that makes them
// smaller by more than an eighth, as in old checkpoints. Which compressed bytes it
// writes is the choice of the library of snappy.
func NewSnappyWriter(w io.Writer) *Writer {
	t := NewWriter(w)
	t.snappy = true
	return t
}

// Add appends an entry. The first error sticks.
func (w *Writer) Add(key, value []byte) error {
	if w.err != nil {
		return w.err
	}
	if w.any && bytes.Compare(key, w.last) <= 0 {
		w.err = fmt.Errorf("table: key %q after %q", key, w.last)
		return w.err
	}
	if w.pending {
		w.index.add(separator(w.last, key), w.done.append(nil))
		w.pending = false
	}
	w.data.add(key, value)
	w.last = append(w.last[:0], key...)
	w.any = true
	if w.data.estimate() >= BlockSize {
		w.endBlock()
	}
	return w.err
}

// endBlock writes the data block. Its index entry needs the next key, so it waits.
func (w *Writer) endBlock() {
	w.done = w.write(&w.data)
	w.pending = true
}

// Finish writes the rest, index and footer. It doesn't close the file. A second call,
// and an Add after it, is an error.
func (w *Writer) Finish() error {
	if w.err != nil {
		return w.err
	}
	if !w.data.empty() {
		w.endBlock()
	}
	meta := w.write(&block{interval: RestartInterval})
	if w.pending {
		w.index.add(successor(w.last), w.done.append(nil))
	}
	index := w.write(&w.index)
	w.put(footer(meta, index))
	if w.err == nil {
		w.err = fmt.Errorf("table: already finished")
		return nil
	}
	return w.err
}

// Size returns the number of bytes written so far.
func (w *Writer) Size() int64 { return int64(w.offset) }

// put writes b, unless there was an error before.
func (w *Writer) put(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
		w.offset += uint64(len(b))
	}
}

// write ends b, writes it with its trailer and empties it.
func (w *Writer) write(b *block) handle {
	contents, kind := b.finish(), byte(typeRaw)
	if w.snappy {
		if small := snappy.Encode(nil, contents); len(small) < len(contents)-len(contents)/8 {
			contents, kind = small, typeSnappy
		}
	}
	h := handle{w.offset, uint64(len(contents))}
	contents = append(contents, kind)
	contents = binary.LittleEndian.AppendUint32(contents, crc32c.Mask(crc32c.Value(contents)))
	w.put(contents)
	b.reset(contents)
	return h
}

// footer returns the end of a table.
func footer(meta, index handle) []byte {
	foot := make([]byte, 0, footerLen)
	foot = index.append(meta.append(foot))
	return binary.LittleEndian.AppendUint64(append(foot, make([]byte, 2*maxHandle-len(foot))...), magic)
}

func (h handle) append(b []byte) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, h.offset), h.size)
}

// A block is one being built.
type block struct {
	interval int      // the number of entries from one restart to the next
	buf      []byte   // the entries so far
	restarts []uint32 // their offsets in buf; the first, at 0, is understood
	count    int      // entries since the last restart
	last     []byte   // the last entry's key
}

func (b *block) empty() bool { return len(b.buf) == 0 }

// reset empties the block, which takes over buf's memory.
func (b *block) reset(buf []byte) {
	b.buf, b.restarts, b.count, b.last = buf[:0], b.restarts[:0], 0, b.last[:0]
}

// estimate returns the size in bytes of the block as it would be finished now.
func (b *block) estimate() int { return len(b.buf) + 4*(len(b.restarts)+1) + 4 }

// add appends an entry, which may begin a new restart.
func (b *block) add(key, value []byte) {
	shared := 0
	if b.count < b.interval {
		n := min(len(b.last), len(key))
		for shared < n && b.last[shared] == key[shared] {
			shared++
		}
	} else {
		b.restarts = append(b.restarts, uint32(len(b.buf)))
		b.count = 0
	}
	b.buf = binary.AppendUvarint(b.buf, uint64(shared))
	b.buf = binary.AppendUvarint(b.buf, uint64(len(key)-shared))
	b.buf = binary.AppendUvarint(b.buf, uint64(len(value)))
	b.buf = append(b.buf, key[shared:]...)
	b.buf = append(b.buf, value...)
	b.last = append(b.last[:0], key...)
	b.count++
}

// finish appends the restarts and returns the block's contents.
func (b *block) finish() []byte {
	b.buf = binary.LittleEndian.AppendUint32(b.buf, 0)
	for _, r := range b.restarts {
		b.buf = binary.LittleEndian.AppendUint32(b.buf, r)
	}
	return binary.LittleEndian.AppendUint32(b.buf, uint32(len(b.restarts)+1))
}

// separator returns a short key s with a <= s < b: a up to the first byte that differs
// from b's, raised; a itself if it would reach b's. It must return the same as LevelDB's
// FindShortestSeparator.
func separator(a, b []byte) []byte {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	if i < n && a[i] < 0xff && a[i]+1 < b[i] {
		s := bytes.Clone(a[:i+1])
		s[i]++
		return s
	}
	return bytes.Clone(a)
}

// successor returns a short key not smaller than a: a up to its first byte that
// isn't 0xff, raised; a itself if all are. It must return the same as LevelDB's
// FindShortSuccessor.
func successor(a []byte) []byte {
	for i, c := range a {
		if c != 0xff {
			s := bytes.Clone(a[:i+1])
			s[i]++
			return s
		}
	}
	return bytes.Clone(a)
}
