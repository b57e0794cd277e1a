// Package chunked splits protocol buffers into the records of a riegeli file (.cpb),
// because no message may have 2 GiB, and puts together those that TensorFlow or Cairn
// has split. Package savedmodel reads and writes models with it; package inspect verifies the
// fingerprint of a split model by [Each]. The format of the file is that of TensorFlow's
// proto_splitter, and must stay. The division into chunks is Cairn's; see [Write].
//
//	record     chunk: an encoded message, or the value of a field of bytes
//	…
//	record     ChunkMetadata: location of each chunk, and how they form the message
//
// A message consists of one chunk with most of its fields, and of fields that are stored in
// other chunks. The path of such a field lists field numbers, indices of repeated fields
// and keys of maps. The field may itself be a message that consists of chunks. An encoded
// message is merged into another by joining their bytes, so this package needs no types.
package chunked

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/internal/pb"
)

// ErrLimit reports that the message would exceed the limit on memory, the argument most.
var ErrLimit = fmt.Errorf("the message takes more memory than it may: %w", errors.ErrUnsupported)

// Join returns the encoded message that a chunked file holds. It takes no more
// than most bytes, and about as many again while it is put together.
func Join(b []byte, most int64) ([]byte, error) {
	j, whole, err := open(b, most)
	if err != nil {
		return nil, err
	}
	root := &message{}
	if err := j.merge(root, whole, 0); err != nil {
		return nil, fmt.Errorf("chunked: %w", err)
	}
	return root.append(make([]byte, 0, root.size())), nil
}

type joiner struct {
	info []*pb.ChunkInfo   // the chunks, by the numbers that messages refer to
	at   map[uint64][]byte // the records by their places, in bytes from the file's begin
	left int64             // bytes that the message may still take
}

// maxDepth bounds the nesting of messages, in paths and in chunks together. It is Cairn's limit,
// equal to the default of protobuf's parsers, and must not be lower.
const maxDepth = 100

// merge merges the message that p describes into m: its chunk first, then its fields in the
// order in which the file lists them. TensorFlow's merge.cc sorts the fields before, by their
// paths and then by the numbers of their chunks. A nil description adds nothing, as an empty
// message of protobuf does. After an error m is incomplete.
func (j *joiner) merge(m *message, p *pb.ChunkedMessage, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("the chunks nest more than %d deep: %w", maxDepth, errors.ErrUnsupported)
	}
	if p == nil {
		return nil
	}
	if p.HasChunkIndex {
		data, kind, err := j.chunk(p.ChunkIndex)
		if err != nil {
			return err
		}
		if kind == pb.ChunkInfoTypeBytes {
			m.set(data)
		} else {
			m.merge(data)
		}
	}
	for _, f := range p.ChunkedFields {
		if f == nil {
			continue
		}
		to, err := m.find(f.FieldTag)
		if err != nil {
			return err
		}
		if err := j.merge(to, f.Message, depth+1+len(f.FieldTag)); err != nil {
			return err
		}
	}
	return nil
}

// chunk returns a chunk's bytes and its type.
func (j *joiner) chunk(i uint64) ([]byte, pb.ChunkInfoType, error) {
	if i >= uint64(len(j.info)) || j.info[i] == nil {
		return nil, 0, fmt.Errorf("there is no chunk %d: the metadata has %d", i, len(j.info))
	}
	x := j.info[i]
	data, ok := j.at[x.Offset]
	switch {
	case !ok:
		return nil, 0, fmt.Errorf("chunk %d should be at byte %d, where no record begins", i, x.Offset)
	case uint64(len(data)) != x.Size:
		return nil, 0, fmt.Errorf("chunk %d has %d bytes, the metadata has %d", i, len(data), x.Size)
	}
	if j.left -= int64(len(data)); j.left < 0 {
		return nil, 0, ErrLimit
	}
	return data, x.Type, nil
}
