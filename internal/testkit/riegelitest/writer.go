// Package riegelitest writes riegeli/records files, for the tests of their
// readers. Tests of internal/chunked, internal/riegeli and savedmodel/run use
// it. It is written from the format's description, apart from the reader, so that
// a fault in one doesn't hide in the other.
package riegelitest

import (
	"bytes"
	"encoding/binary"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/minio/highwayhash"
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	blockSize       = 1 << 16
	blockHeaderSize = 24
	usableBlock     = blockSize - blockHeaderSize
)

// Writer writes a file chunk by chunk. Make one with [New].
type Writer struct {
	// File is the file's contents.
	File []byte
}

// New returns a writer that has written the signature.
func New() *Writer {
	w := &Writer{}
	w.Chunk('s', 0, 0, nil)
	return w
}

// Chunk appends a chunk, with block headers as needed, and returns its offset. Count is
// the number of records, decoded the sum of their sizes in bytes.
func (w *Writer) Chunk(kind byte, count int, decoded uint64, data []byte) (begin int) {
	begin = len(w.File)
	header := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	header = binary.LittleEndian.AppendUint64(header, hash(data))
	header = binary.LittleEndian.AppendUint64(header, uint64(count)<<8|uint64(kind))
	header = binary.LittleEndian.AppendUint64(header, decoded)
	all := append(binary.LittleEndian.AppendUint64(nil, hash(header)), header...)
	all = append(all, data...)
	overhead := (len(all) + (begin+usableBlock-1)%blockSize) / usableBlock
	end := max(begin+len(all)+overhead*blockHeaderSize, boundary(begin+count))
	for len(w.File) < end {
		if len(w.File)%blockSize == 0 {
			rest := binary.LittleEndian.AppendUint64(nil, uint64(len(w.File)-begin))
			rest = binary.LittleEndian.AppendUint64(rest, uint64(end-len(w.File)))
			w.File = append(binary.LittleEndian.AppendUint64(w.File, hash(rest)), rest...)
			continue
		}
		n := min(len(all), blockSize-len(w.File)%blockSize)
		w.File = append(w.File, all[:n]...)
		if all = all[n:]; n == 0 {
			w.File = append(w.File, 0)
		}
	}
	return begin
}

// Records appends a chunk of records and returns its offset. compression is 'b' (brotli),
// 'z' (zstd), 's' (snappy) or 0 (none).
func (w *Writer) Records(compression byte, records ...[]byte) (begin int) {
	var sizes, values []byte
	for _, r := range records {
		sizes = protowire.AppendVarint(sizes, uint64(len(r)))
		values = append(values, r...)
	}
	decoded := uint64(len(values))
	sizes, values = compressed(compression, sizes), compressed(compression, values)
	data := protowire.AppendVarint([]byte{compression}, uint64(len(sizes)))
	data = append(append(data, sizes...), values...)
	return w.Chunk('r', len(records), decoded, data)
}

// boundary returns the first offset, at or after at, at which a chunk may end: not in
// a block's header, nor right after it.
func boundary(at int) int {
	if in := at % blockSize; in > 0 && in <= blockHeaderSize {
		return at - in + blockHeaderSize + 1
	}
	return at
}

// hash returns the checksum of the format: HighwayHash with the format's key.
func hash(b []byte) uint64 { return highwayhash.Sum64(b, []byte("Riegeli/records\nRiegeli/records\n")) }

// compressed returns b with its length before it if it is compressed.
func compressed(compression byte, b []byte) []byte {
	var out bytes.Buffer
	switch compression {
	case 0:
		return b
	case 'b':
		w := brotli.NewWriter(&out)
		w.Write(b)
		w.Close()
	case 'z':
		w, _ := zstd.NewWriter(&out)
		w.Write(b)
		w.Close()
	case 's':
		out.Write(snappy.Encode(nil, b))
	}
	return append(protowire.AppendVarint(nil, uint64(len(b))), out.Bytes()...)
}
