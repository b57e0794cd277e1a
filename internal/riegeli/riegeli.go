// Package riegeli reads and writes riegeli/records files: sequences of records of
// bytes, in which TensorFlow splits protocol buffers that are too large for one. Packages
// internal/chunked and savedmodel use it.
//
//	file          chunk chunk … , interrupted every 64 KiB by a block header
//	block header  hash of the rest u64 │ bytes since the chunk began u64 │ bytes to its end u64
//	chunk         header (40 bytes) │ data │ padding
//	chunk header  hash of the rest u64 │ size of data u64 │ hash of data u64 │
//	              type u8 │ records u56 │ decoded size u64
//
// Numbers are little-endian, hashes are HighwayHash64 under a fixed key. A block
// header is at every multiple of 64 KiB, at any point of a chunk, and isn't counted
// in sizes. A chunk takes at least as many bytes as it has records, so that the
// chunk's offset + the record's number identifies each record. It ends neither in
// nor right after a block header.
//
// Types of chunks:
//
//	's'  the signature that begins the file, without data
//	'm'  metadata, 'p' padding: skipped
//	'r'  records: compression u8 │ size of sizes varint │ sizes │ values
//	't'  records whose protocol buffers are split by field
//
// Sizes are a varint a record, values the records one after the other. With a
// compression ('b' brotli, 'z' zstd, 's' snappy) both are compressed, each after its
// decompressed size as a varint. Transposed chunks ('t') are refused: TensorFlow
// doesn't write them.
package riegeli

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/minio/highwayhash"
)

const (
	blockSize       = 1 << 16
	blockHeaderSize = 24
	usableBlock     = blockSize - blockHeaderSize
	chunkHeaderSize = 40
)

// key is the key of the hashes, a constant of the format: "Riegeli/records\n" twice.
var key = []byte("Riegeli/records\nRiegeli/records\n")

// Record is one record of a file.
type Record struct {
	// Position is the offset of the record's chunk plus its number in the chunk.
	Position uint64
	Data     []byte
}

// A FormatError reports the place of a file's damage.
type FormatError struct {
	Offset int64
	Err    error
}

// Error names the place.
func (e *FormatError) Error() string { return fmt.Sprintf("riegeli: at byte %d: %v", e.Offset, e.Err) }

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// ErrLimit reports that the records would exceed the memory limit.
var ErrLimit = fmt.Errorf("the records take more memory than they may: %w", errors.ErrUnsupported)

// Is reports whether b begins as a riegeli/records file does.
func Is(b []byte) bool { return len(b) >= len(signature) && string(b[:len(signature)]) == signature }

// signature is how every file begins: a block header and a chunk header.
const signature = "\x83\xaf\x70\xd1\x0d\x88\x4a\x3f\x00\x00\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00\x91\xba\xc2\x3c\x92\x87\xe1\xa9" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\xe1\x9f\x13\xc0\xe9\xb1\xc3\x72\x73\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// Read returns the records of a file, all hashes verified. Together they take no
// more than most bytes. Records may share memory with b.
func Read(b []byte, most int64) ([]Record, error) {
	if !Is(b) {
		return nil, &FormatError{0, errors.New("the file doesn't begin as a riegeli file does")}
	}
	r := &reader{b: b, left: most}
	var out []Record
	for at := int64(0); at < int64(len(b)); {
		next, err := r.chunk(at, &out)
		if err != nil {
			return nil, &FormatError{at, err}
		}
		at = next
	}
	return out, nil
}

// reader reads one file.
type reader struct {
	b    []byte // the whole file
	left int64  // bytes of memory that records may still take
}

var errShort = errors.New("the file ends in the middle of a chunk")

// chunk reads the chunk that begins at an offset, and returns the offset of the
// next one.
func (r *reader) chunk(begin int64, out *[]Record) (next int64, err error) {
	header, at, err := r.take(begin, chunkHeaderSize)
	if err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint64(header) != hash(header[8:]) {
		return 0, errors.New("the chunk's header is damaged: its hash differs")
	}
	size := binary.LittleEndian.Uint64(header[8:])
	kind := header[24]
	count := binary.LittleEndian.Uint64(header[24:]) >> 8
	decoded := binary.LittleEndian.Uint64(header[32:])
	if size > uint64(len(r.b)) {
		return 0, errShort
	}
	data, at, err := r.take(at, int64(size))
	if err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint64(header[16:]) != hash(data) {
		return 0, errors.New("the chunk's data are damaged: their hash differs")
	}
	if count > uint64(len(r.b)) { // a chunk takes a byte at least for each record
		return 0, fmt.Errorf("a chunk of %d records in a file of %d bytes", count, len(r.b))
	}
	next = max(at, boundary(begin+int64(count)))
	switch kind {
	case 's':
		if size != 0 || count != 0 || decoded != 0 {
			err = errors.New("a signature holds no data")
		}
	case 'm', 'p':
	case 'r':
		err = r.simple(uint64(begin), data, int(count), decoded, out)
	case 't':
		err = fmt.Errorf("a transposed chunk: write the file without transpose: %w", errors.ErrUnsupported)
	default:
		err = fmt.Errorf("a chunk of the unknown type %#x: %w", kind, errors.ErrUnsupported)
	}
	return next, err
}

// boundary returns the first offset, at or after at, at which a chunk may end.
func boundary(at int64) int64 {
	if rest := blockSize - 1 - (at+blockSize-1)%blockSize; rest > usableBlock-1 {
		at += rest - (usableBlock - 1)
	}
	return at
}

// take returns n bytes from an offset on, without the block headers among them,
// and the offset after them.
func (r *reader) take(at, n int64) ([]byte, int64, error) {
	var joined []byte
	for first := true; ; first = false {
		if at%blockSize == 0 && (n > 0 || first) {
			if int64(len(r.b))-at < blockHeaderSize {
				return nil, 0, errShort
			}
			h := r.b[at : at+blockHeaderSize]
			if binary.LittleEndian.Uint64(h) != hash(h[8:]) {
				return nil, 0, fmt.Errorf("the block's header at byte %d is damaged: its hash differs", at)
			}
			at += blockHeaderSize
		}
		here := min(n, blockSize-at%blockSize)
		if int64(len(r.b))-at < here {
			return nil, 0, errShort
		}
		part := r.b[at : at+here : at+here]
		at, n = at+here, n-here
		switch {
		case n == 0 && joined == nil:
			return part, at, nil
		case joined == nil:
			joined = make([]byte, 0, here+min(n, int64(len(r.b))))
		}
		if joined = append(joined, part...); n == 0 {
			return joined, at, nil
		}
	}
}

func hash(b []byte) uint64 { return highwayhash.Sum64(b, key) }
