package bundle

import (
	"context"
	"errors"
	"iter"

	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/tensor"
)

// pieceSize is how many bytes Pieces hands out at a time.
const pieceSize = chunk

// Pieces reads a tensor from its first element to its last, in pieces, for
// callers that need not hold it whole. Each piece is a tensor of one dimension
// that is valid until the next one is requested. The checksum is compared at the
// end, after all pieces have been yielded, so only the last error shows whether
// they were right. An error comes with a nil piece and ends the sequence.
//
// Strings, variants, tensors stored in slices and those of version 1 come in one
// piece, within [ReaderOptions].MaxRead.
func (r *Reader) Pieces(ctx context.Context, name string) iter.Seq2[*tensor.Tensor, error] {
	return func(yield func(*tensor.Tensor, error) bool) {
		err := r.eachPiece(ctx, name, func(t *tensor.Tensor) bool { return yield(t, nil) })
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

var errStopped = errors.New("bundle: no more pieces are wanted")

// eachPiece yields the elements in vectors of at most pieceSize bytes, which share memory. Strings, slices and
// version 1 come as one vector. The checksum is compared after the last piece, so pieces are yielded unchecked.
func (r *Reader) eachPiece(ctx context.Context, name string, yield func(*tensor.Tensor) bool) error {
	if err := r.checkOpen(); err != nil {
		return err
	}
	at, ok := r.lookup(name)
	if !ok {
		return r.notFound(name)
	}
	p, err := r.resolve(ctx, &ReadRequest{Name: name}, r.record(at))
	if err != nil {
		return err
	}
	if r.version == 1 || len(p.rec.Slices) > 0 || !p.rec.DType.Fixed() {
		t, err := r.Read(ctx, name)
		if err != nil {
			return err
		}
		flat, err := t.Reshape(t.Len())
		if err == nil && !yield(flat) {
			err = errStopped
		}
		return err
	}
	rec := p.rec
	br := newBlobReader(r, 1, nil)
	defer br.close()
	if err := br.check(&blob{piece: rec.piece(), owner: rec.Name}); err != nil {
		return err
	}
	src, err := br.shard(rec.Shard)
	if err != nil {
		return err
	}
	defer br.release(rec.Shard)
	width := int64(rec.DType.Size())
	buf, err := tensor.Zeros(rec.DType, int(min(rec.elems, pieceSize/width)))
	if err != nil {
		return err
	}
	fix := r.fixer(rec.DType)
	var crc uint32
	for at := int64(0); at < rec.Size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := buf.Bytes()[:min(buf.NumBytes(), rec.Size-at)]
		if err := readAt(src, b, rec.Offset+at, name); err != nil {
			return err
		}
		crc = crc32c.Extend(crc, b)
		if fix != nil {
			if err := fix(b); err != nil {
				return &CorruptError{File: src.name, Offset: rec.Offset + at, Name: name, What: err.Error()}
			}
		}
		part, err := tensor.FromBytes(rec.DType, b, len(b)/int(width))
		if err != nil {
			return err
		}
		if !yield(part) {
			return errStopped
		}
		at += int64(len(b))
	}
	if crc != rec.CRC {
		return wrongChecksum(src, rec.piece(), name, crc)
	}
	return nil
}
