package chunked

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/riegeli"
)

// ErrNested reports a file in which chunks are parts of other chunks, unlike those that
// [Write] writes.
var ErrNested = fmt.Errorf("chunked: chunks are parts of other chunks: %w", errors.ErrUnsupported)

// Each calls f with the chunks of a file, as [Write] does: the one that holds most of the message, then
// the others in the order in which the file lists them, each with the path to its field. The fingerprint of
// a split model is made of them in this order. They take no more than most bytes. f must not change a
// chunk.
func Each(b []byte, most int64, f func(path []*pb.FieldIndex, chunk []byte)) error {
	j, m, err := open(b, most)
	if err != nil {
		return err
	}
	if !m.HasChunkIndex {
		return ErrNested
	}
	data, _, err := j.chunk(m.ChunkIndex)
	if err != nil {
		return fmt.Errorf("chunked: %w", err)
	}
	f(nil, data)
	for _, field := range m.ChunkedFields {
		if field == nil || field.Message == nil || !field.Message.HasChunkIndex || len(field.Message.ChunkedFields) > 0 {
			return ErrNested
		}
		if data, _, err = j.chunk(field.Message.ChunkIndex); err != nil {
			return fmt.Errorf("chunked: %w", err)
		}
		f(field.FieldTag, data)
	}
	return nil
}

// open reads a file's records and returns the description of the whole message.
func open(b []byte, most int64) (*joiner, *pb.ChunkedMessage, error) {
	records, err := riegeli.Read(b, most)
	if err != nil {
		return nil, nil, err
	}
	if len(records) == 0 {
		return nil, nil, errors.New("chunked: the file has no records, so its content is not known")
	}
	last := records[len(records)-1]
	var meta pb.ChunkMetadata
	if need := pb.Memory(&meta, last.Data); need > most {
		return nil, nil, ErrLimit
	}
	if err := meta.Unmarshal(last.Data); err != nil {
		return nil, nil, fmt.Errorf("chunked: the last record: %w", err)
	}
	j := &joiner{info: meta.Chunks, at: make(map[uint64][]byte, len(records)), left: most}
	for _, r := range records {
		j.at[r.Position] = r.Data
	}
	if meta.Message == nil {
		return nil, nil, errors.New("chunked: the metadata don't say which message the chunks make")
	}
	return j, meta.Message, nil
}
