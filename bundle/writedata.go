package bundle

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

const (
	// The lengths are in bytes and may change: they decide the speed, never the bytes of a file.

	// gather is how much is collected before it is written.
	gather = 1 << 20
	// direct is the length from which on bytes go to the file without being
	// collected.
	direct = 128 << 10
	// aside is the length from which on the checksum is computed in parallel with
	// the write.
	aside = 1 << 20
	// step is how much is written at a time.
	step = 4 << 20
	// behind is the number of bytes after which the system is asked to begin
	// writing them to disk.
	behind = 16 << 20
)

// A shardWriter is a data file being written. The order of its bytes is that of the calls of put.
type shardWriter struct {
	name  string
	f     vfs.File
	size  int64      // including collected bytes
	flown int64      // bytes in the file
	asked int64      // bytes that the system was asked to write to disk
	ahead vfs.Hinter // for Preallocate and StartWriteback; nil if the file has none
	used  bool       // a tensor was added, which may have no bytes
	shut  bool       // it was closed
}

func (s *shardWriter) close() error {
	if s.shut {
		return nil
	}
	s.shut = true
	return s.f.Close()
}

// put appends b to the data file.
func (w *Writer) put(ctx context.Context, s *shardWriter, b []byte) error {
	s.size += int64(len(b))
	if len(b) < direct {
		if len(w.buf)+len(b) > gather {
			if err := w.flushBeside(s); err != nil {
				return err
			}
		}
		if w.buf == nil {
			w.buf = make([]byte, 0, gather)
		}
		w.buf = append(w.buf, b...)
		return nil
	}
	if err := w.flush(s); err != nil {
		return err
	}
	if len(b) >= step && s.ahead != nil && !w.opts.NoSync {
		s.ahead.Preallocate(s.flown, int64(len(b)))
	}
	for len(b) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(b), step)
		if err := w.wrote(w.write(s, b[:n])); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// flush writes the collected bytes.
func (w *Writer) flush(s *shardWriter) error {
	if err := w.waitForWrite(); err != nil || len(w.buf) == 0 {
		return err
	}
	err := w.wrote(w.write(s, w.buf))
	w.buf = w.buf[:0]
	return err
}

// flushBeside begins to write the collected bytes, and returns while the write
// runs. Meanwhile more bytes are collected, and their checksums computed.
func (w *Writer) flushBeside(s *shardWriter) error {
	if err := w.waitForWrite(); err != nil {
		return err
	}
	b := w.buf
	w.buf, w.spare = w.spare, nil
	w.flight = make(chan written, 1)
	go func() {
		n, err := w.write(s, b)
		w.flight <- written{n, err, b[:0]}
	}()
	return nil
}

// written is the result of a parallel write.
type written struct {
	n   int
	err error
	buf []byte // to be used again
}

// waitForWrite waits for the running write. Nothing else happens to a data file before
// it has ended.
func (w *Writer) waitForWrite() error {
	if w.flight == nil {
		return nil
	}
	done := <-w.flight
	w.flight, w.spare = nil, done.buf
	return w.wrote(done.n, done.err)
}

// write writes b to the data file, and asks the system to go on with it.
func (w *Writer) write(s *shardWriter, b []byte) (int, error) {
	if _, err := s.f.Write(b); err != nil {
		return 0, fmt.Errorf("bundle: write %s: %w", s.name, err)
	}
	s.flown += int64(len(b))
	if n := s.flown - s.asked; n >= behind && s.ahead != nil && !w.opts.NoSync {
		s.ahead.StartWriteback(s.asked, n)
		s.asked = s.flown
	}
	return len(b), nil
}

// wrote counts written bytes.
func (w *Writer) wrote(n int, err error) error {
	if err != nil {
		return err
	}
	w.written += int64(n)
	if w.opts.Progress != nil {
		w.opts.Progress(w.written)
	}
	return nil
}

// putFixed writes elements of fixed size and returns their checksum, which runs
// over the bytes in the file's order.
func (w *Writer) putFixed(ctx context.Context, s *shardWriter, t *tensor.Tensor) (uint32, error) {
	b := t.Bytes()
	if width := t.DType().Swap(); width > 1 && w.big != hostBig {
		return w.putSwapped(ctx, s, b, width)
	}
	if len(b) < aside {
		return crc32c.Value(b), w.put(ctx, s, b)
	}
	sum := make(chan uint32, 1)
	go func() { sum <- crc32c.Value(b) }()
	err := w.put(ctx, s, b)
	return <-sum, err
}

// putSwapped writes elements with the bytes of each number reversed, through w.scratch, and returns their checksum.
// width is a number's size in bytes.
func (w *Writer) putSwapped(ctx context.Context, s *shardWriter, b []byte, width int) (crc uint32, err error) {
	if w.scratch == nil {
		w.scratch = make([]byte, 64<<10)
	}
	for len(b) > 0 {
		n := copy(w.scratch, b)
		swapBytes(w.scratch[:n], width)
		crc = crc32c.Extend(crc, w.scratch[:n])
		if err := w.put(ctx, s, w.scratch[:n]); err != nil {
			return 0, err
		}
		b = b[n:]
	}
	return crc, nil
}

// putStrings writes varint lengths, the lengths' masked checksum, the bytes.
// The checksum runs over lengths as numbers of 4 bytes (8 for one that 4 can't
// hold), the stored checksum, the bytes.
func (w *Writer) putStrings(ctx context.Context, s *shardWriter, strs []string) (crc uint32, err error) {
	var lens, nums []byte
	flush := func() error {
		crc = crc32c.Extend(crc, nums)
		err := w.put(ctx, s, lens)
		lens, nums = lens[:0], nums[:0]
		return err
	}
	for _, v := range strs {
		lens = binary.AppendUvarint(lens, uint64(len(v)))
		nums = appendLength(nums, uint64(len(v)), w.big)
		if len(nums) >= 64<<10 {
			if err := flush(); err != nil {
				return 0, err
			}
		}
	}
	if err := flush(); err != nil {
		return 0, err
	}
	stored := appendUint32(nil, crc32c.Mask(crc), w.big)
	crc = crc32c.Extend(crc, stored)
	if err := w.put(ctx, s, stored); err != nil {
		return 0, err
	}
	for _, v := range strs {
		b := unsafe.Slice(unsafe.StringData(v), len(v))
		crc = crc32c.Extend(crc, b)
		if err := w.put(ctx, s, b); err != nil {
			return 0, err
		}
	}
	return crc, nil
}

// appendLength appends a string's length in the form that enters the checksum: 4 bytes, or 8 if it doesn't fit.
func appendLength(b []byte, n uint64, big bool) []byte {
	if n <= math.MaxUint32 {
		return appendUint32(b, uint32(n), big)
	}
	return appendUint64(b, n, big)
}

// putVariants writes for each element its varint length, its bytes, and the
// masked checksum of all so far: lengths as 8 bytes, bytes, stored checksums.
func (w *Writer) putVariants(ctx context.Context, s *shardWriter, strs []string) (crc uint32, err error) {
	for _, v := range strs {
		if err := w.put(ctx, s, binary.AppendUvarint(nil, uint64(len(v)))); err != nil {
			return 0, err
		}
		b := unsafe.Slice(unsafe.StringData(v), len(v))
		crc = crc32c.Extend(crc32c.Extend(crc, appendUint64(nil, uint64(len(v)), w.big)), b)
		if err := w.put(ctx, s, b); err != nil {
			return 0, err
		}
		stored := appendUint32(nil, crc32c.Mask(crc), w.big)
		crc = crc32c.Extend(crc, stored)
		if err := w.put(ctx, s, stored); err != nil {
			return 0, err
		}
	}
	return crc, nil
}
