package riegeli

import (
	"encoding/binary"
	"io"

	"github.com/minio/highwayhash"
	"google.golang.org/protobuf/encoding/protowire"
)

// Writer writes a file of records, each in a separate chunk and without compression.
// It keeps no record and never seeks back.
type Writer struct {
	w   io.Writer
	at  int64 // bytes written
	err error // the first failure, which every later call returns
}

// NewWriter returns a writer to w that has written the signature. The caller buffers
// and closes w.
func NewWriter(w io.Writer) *Writer {
	out := &Writer{w: w}
	out.chunk('s', 0, 0)
	return out
}

// Write writes a record and returns its position.
func (w *Writer) Write(record []byte) (position uint64, err error) {
	sizes := protowire.AppendVarint(nil, uint64(len(record)))
	prefix := protowire.AppendVarint([]byte{0}, uint64(len(sizes)))
	position = uint64(w.at) // the chunk's beginning and 0, the record's number in it
	w.chunk('r', 1, uint64(len(record)), append(prefix, sizes...), record)
	return position, w.err
}

// chunk writes a chunk whose data is the parts one after the other.
func (w *Writer) chunk(kind byte, count int, decoded uint64, parts ...[]byte) {
	h, err := highwayhash.New64(key)
	if err != nil {
		w.err = err
		return
	}
	size := 0
	for _, p := range parts {
		size += len(p)
		h.Write(p)
	}
	header := binary.LittleEndian.AppendUint64(make([]byte, 8, chunkHeaderSize), uint64(size))
	header = binary.LittleEndian.AppendUint64(header, h.Sum64())
	header = binary.LittleEndian.AppendUint64(header, uint64(count)<<8|uint64(kind))
	header = binary.LittleEndian.AppendUint64(header, decoded)
	binary.LittleEndian.PutUint64(header, hash(header[8:]))

	begin, length := w.at, int64(chunkHeaderSize+size)
	headers := (length + (begin+usableBlock-1)%blockSize) / usableBlock
	end := max(begin+length+headers*blockHeaderSize, boundary(begin+int64(count)))
	for _, p := range append([][]byte{header}, parts...) {
		w.bytes(p, begin, end)
	}
	if w.err == nil && w.at < end {
		w.bytes(make([]byte, end-w.at), begin, end) // a chunk of one record is padded by few bytes
	}
}

// bytes writes b, and at the beginning of a block the block's header. The chunk is
// at [begin, end).
func (w *Writer) bytes(b []byte, begin, end int64) {
	for len(b) > 0 && w.err == nil && w.at < end {
		if w.at%blockSize == 0 {
			rest := binary.LittleEndian.AppendUint64(make([]byte, 8, blockHeaderSize), uint64(w.at-begin))
			rest = binary.LittleEndian.AppendUint64(rest, uint64(end-w.at))
			binary.LittleEndian.PutUint64(rest, hash(rest[8:]))
			w.put(rest)
			continue
		}
		n := min(int64(len(b)), blockSize-w.at%blockSize)
		w.put(b[:n])
		b = b[n:]
	}
}

// put writes b to the file. After an error bytes calls it no more.
func (w *Writer) put(b []byte) {
	n, err := w.w.Write(b)
	w.at += int64(n)
	w.err = err
}
