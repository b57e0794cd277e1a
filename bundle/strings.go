package bundle

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"

	"github.com/cairnml/cairn/internal/crc32c"
)

// The elements of strings and variants in data files. Their forms are those of WriteStringTensor and
// WriteVariantTensor in TensorFlow's tensor_bundle.cc.

// A fieldError is a fault at an offset of a data file.
type fieldError struct {
	offset int64
	what   string
}

func (e *fieldError) Error() string { return e.what }

func faultAt(offset int64, format string, args ...any) error {
	return &fieldError{offset, fmt.Sprintf(format, args...)}
}

// A counter reads a run of a data file and counts.
type counter struct {
	br *bufio.Reader
	at int64 // in the file
}

// newCounter returns a counter of size bytes at off, the first of which are n lengths.
func newCounter(src io.ReaderAt, off, size, n int64, tee io.Writer) *counter {
	var r io.Reader = io.NewSectionReader(src, off, size)
	if tee != nil {
		r = io.TeeReader(r, tee)
	}
	return &counter{bufio.NewReaderSize(r, int(min(size, max(2*min(n, size), 512), 64<<10))), off}
}

// uvarint reads a varint. An error of the format is a fieldError.
func (c *counter) uvarint() (uint64, error) {
	start := c.at
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b, err := c.br.ReadByte()
		if err != nil {
			return 0, cutOff(err, start)
		}
		c.at++
		if shift == 63 && b > 1 {
			return 0, faultAt(start, "a length is longer than 64 bits")
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, nil
		}
	}
}

func (c *counter) full(b []byte) error {
	n, err := io.ReadFull(c.br, b)
	c.at += int64(n)
	if err != nil {
		return cutOff(err, c.at)
	}
	return nil
}

func cutOff(err error, at int64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return faultAt(at, "the tensor's bytes end too early")
	}
	return err
}

// keptLengths is how many lengths are kept in memory between the two times they
// are needed; more are read again.
const keptLengths = 1 << 16

// readStrings reads a string tensor of n elements that takes size bytes at off into dst,
// and returns its checksum. If dst is nil it only checks the bytes. It writes all bytes
// that it reads to tee, unless that is nil. big is the byte order of the file.
//
// The strings share one piece of memory.
func readStrings(src io.ReaderAt, off, size, n int64, big bool, dst []string, tee io.Writer) (crc uint32, err error) {
	if size == 0 && n == 0 {
		return 0, nil
	}
	c := newCounter(src, off, size, n, tee)
	var lengths []uint64
	var total uint64
	nums := make([]byte, 0, 4096)
	for range n {
		v, err := c.uvarint()
		if err != nil {
			return 0, err
		}
		if v > uint64(size) || total+v > uint64(size) {
			return 0, faultAt(c.at, "the strings' lengths add up to more than the tensor's %d bytes", size)
		}
		total += v
		if n <= keptLengths && dst != nil {
			lengths = append(lengths, v)
		}
		if nums = appendLength(nums, v, big); len(nums) > 4080 {
			crc = crc32c.Extend(crc, nums)
			nums = nums[:0]
		}
	}
	crc = crc32c.Extend(crc, nums)
	at := c.at
	var stored [4]byte
	if err := c.full(stored[:]); err != nil {
		return 0, err
	}
	if want := crc32c.Unmask(uint32At(stored[:], big)); crc != want {
		return 0, faultAt(at, "the checksum of the strings' lengths is %08x, stored is %08x", crc, want)
	}
	crc = crc32c.Extend(crc, stored[:])
	if rest := uint64(off + size - c.at); rest != total {
		return 0, faultAt(c.at, "the strings' lengths add up to %d bytes, the tensor has %d", total, rest)
	}
	if dst == nil {
		buf := make([]byte, 64<<10)
		for total > 0 {
			b := buf[:min(uint64(len(buf)), total)]
			if err := c.full(b); err != nil {
				return 0, err
			}
			crc = crc32c.Extend(crc, b)
			total -= uint64(len(b))
		}
		return crc, nil
	}
	if total > math.MaxInt/2 {
		return 0, errUnsupported("%d bytes of strings are more than this platform can hold", total)
	}
	payload := make([]byte, total)
	for b := payload; len(b) > 0; {
		k := min(len(b), 1<<20)
		if err := c.full(b[:k]); err != nil {
			return 0, err
		}
		crc = crc32c.Extend(crc, b[:k])
		b = b[k:]
	}
	again := newCounter(src, off, size, n, nil)
	for i := range dst {
		var v uint64
		if lengths != nil {
			v = lengths[i]
		} else if v, err = again.uvarint(); err != nil {
			return 0, err
		}
		if v > uint64(len(payload)) {
			return 0, faultAt(again.at, "the strings' lengths changed while they were read")
		}
		dst[i] = unsafe.String(unsafe.SliceData(payload), int(v))
		payload = payload[v:]
	}
	return crc, nil
}

// readVariants works like readStrings, for variants. Each element of dst becomes an encoded message.
func readVariants(src io.ReaderAt, off, size, n int64, big bool, dst []string, tee io.Writer) (crc uint32, err error) {
	if size == 0 && n == 0 {
		return 0, nil
	}
	c := newCounter(src, off, size, n, tee)
	end := off + size
	buf := make([]byte, 64<<10)
	for i := range n {
		v, err := c.uvarint()
		if err != nil {
			return 0, err
		}
		if v > uint64(end-c.at) || v > math.MaxInt/2 {
			return 0, faultAt(c.at, "variant %d has %d bytes, %d are left", i, v, end-c.at)
		}
		crc = crc32c.Extend(crc, appendUint64(nil, v, big))
		var whole []byte
		if dst != nil {
			whole = make([]byte, v)
		}
		for done := uint64(0); done < v; {
			b := buf[:min(uint64(len(buf)), v-done)]
			if dst != nil {
				b = whole[done:min(v, done+1<<20)]
			}
			if err := c.full(b); err != nil {
				return 0, err
			}
			crc = crc32c.Extend(crc, b)
			done += uint64(len(b))
		}
		at := c.at
		var stored [4]byte
		if err := c.full(stored[:]); err != nil {
			return 0, err
		}
		if want := crc32c.Unmask(uint32At(stored[:], big)); crc != want {
			return 0, faultAt(at, "the checksum up to variant %d is %08x, stored is %08x", i, crc, want)
		}
		crc = crc32c.Extend(crc, stored[:])
		if dst != nil {
			dst[i] = unsafe.String(unsafe.SliceData(whole), len(whole))
		}
	}
	if c.at != end {
		return 0, faultAt(c.at, "%d bytes are left over after the last variant", end-c.at)
	}
	return crc, nil
}
