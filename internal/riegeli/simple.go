package riegeli

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"
)

// simple appends the records of a chunk of type 'r' that begins at the offset begin. count is the number of
// records, and decoded the bytes of their values, as the chunk's header has them. A record counts 48 bytes
// of memory besides its data.
func (r *reader) simple(begin uint64, data []byte, count int, decoded uint64, out *[]Record) error {
	if len(data) == 0 {
		return errors.New("a chunk of records without data")
	}
	compression, rest := data[0], data[1:]
	n, k := protowire.ConsumeVarint(rest)
	if k < 0 || n > uint64(len(rest)-k) {
		return errors.New("the sizes of the records are cut off")
	}
	sizes, err := r.decompress(compression, rest[k:k+int(n)])
	if err != nil {
		return fmt.Errorf("the sizes of the records: %w", err)
	}
	values, err := r.decompress(compression, rest[k+int(n):])
	if err != nil {
		return fmt.Errorf("the records: %w", err)
	}
	if uint64(len(values)) != decoded {
		return fmt.Errorf("the records have %d bytes, the chunk's header says %d", len(values), decoded)
	}
	if r.left -= int64(count) * 48; r.left < 0 {
		return ErrLimit
	}
	for i := range count {
		size, k := protowire.ConsumeVarint(sizes)
		if k < 0 || size > uint64(len(values)) {
			return fmt.Errorf("record %d is cut off", i)
		}
		*out = append(*out, Record{begin + uint64(i), values[:size:size]})
		sizes, values = sizes[k:], values[size:]
	}
	if len(sizes) > 0 || len(values) > 0 {
		return errors.New("there is more in the chunk than its records")
	}
	return nil
}

// decompress returns the decompressed bytes. Uncompressed bytes aren't copied.
func (r *reader) decompress(compression byte, b []byte) ([]byte, error) {
	if compression == 0 {
		return b, nil
	}
	size, k := protowire.ConsumeVarint(b)
	if k < 0 {
		return nil, errors.New("the decompressed size is cut off")
	}
	b = b[k:]
	if size > uint64(max(0, r.left)) {
		return nil, ErrLimit
	}
	r.left -= int64(size)
	switch compression {
	case 'b':
		return exactly(brotli.NewReader(bytes.NewReader(b)), size)
	case 'z':
		d, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		return exactly(d, size)
	case 's':
		if n, err := snappy.DecodedLen(b); err != nil || uint64(n) != size {
			return nil, errors.New("snappy's length differs from the chunk's")
		}
		return snappy.Decode(nil, b)
	}
	return nil, fmt.Errorf("the unknown compression %#x: %w", compression, errors.ErrUnsupported)
}

// exactly reads size bytes, after which there must be no more. Memory grows with
// the actual data.
func exactly(src io.Reader, size uint64) ([]byte, error) {
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(src, int64(size)+1))
	switch {
	case err != nil:
		return nil, err
	case uint64(n) != size:
		return nil, fmt.Errorf("%d bytes or more were compressed, the chunk says %d", n, size)
	}
	return b.Bytes(), nil
}
