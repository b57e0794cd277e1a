package bundle

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/internal/pb"
)

// CopyFrom writes the tensor name of another checkpoint under the name as, with
// its bytes, its slices, and what else its entry holds that this package
// doesn't know; checksums are verified on the way. Where the byte orders
// differ, and from version 1, the values are converted.
//
// A bundle is written again exactly by a Writer that is Like its Reader and
// copies its tensors in the order of [Reader.NamesByPlace], with
// [Writer.NextShard] where the shard changes.
func (w *Writer) CopyFrom(ctx context.Context, r *Reader, name, as string) error {
	if w.err != nil {
		return w.err
	}
	i, ok := r.lookup(name)
	if !ok {
		return w.fail(r.notFound(name))
	}
	rec := &r.recs[i]
	switch {
	case as == "":
		return w.fail(fmt.Errorf("bundle: tensor %q is to be copied to a tensor without a name", name))
	case rec.err != nil:
		return w.fail(rec.err)
	case r.version == 1 || r.header.BigEndian != w.big:
		return w.convert(ctx, r, rec, as)
	case len(rec.Slices) == 0:
		return w.copyPiece(ctx, r, rec, as, as)
	}
	if _, ok := w.entries[as]; ok {
		return w.fail(fmt.Errorf("bundle: tensor %q is added twice", as))
	}
	var e pb.BundleEntryProto
	if err := e.Unmarshal(rec.Raw); err != nil {
		return w.fail(err)
	}
	for n, s := range rec.Slices {
		if err := w.copyPiece(ctx, r, &r.recs[rec.parts[n]], string(appendSliceKey(nil, as, s)), as); err != nil {
			return err
		}
	}
	w.entries[as] = &e
	return nil
}

// copyPiece copies one stored piece.
func (w *Writer) copyPiece(ctx context.Context, r *Reader, rec *record, key, as string) error {
	if _, ok := w.entries[key]; ok {
		return w.fail(fmt.Errorf("bundle: tensor %q is added twice", as))
	}
	var e pb.BundleEntryProto
	if err := e.Unmarshal(rec.Raw); err != nil {
		return w.fail(err)
	}
	err := w.place(ctx, key, &e, func(s *shardWriter) (uint32, error) {
		from := newEngine(r, 1, nil)
		defer from.close()
		if err := from.check(rec); err != nil {
			return 0, err
		}
		from.add(&blob{rec: rec, owner: r.ownerOf(rec), copy: &putter{ctx, w, s}})
		return rec.CRC, from.run(ctx)
	})
	if err != nil {
		return w.fail(err)
	}
	return nil
}

// putter appends to a data file.
type putter struct {
	ctx context.Context
	w   *Writer
	s   *shardWriter
}

func (p *putter) Write(b []byte) (int, error) {
	if err := p.w.put(p.ctx, p.s, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// convert reads a tensor and writes it anew.
func (w *Writer) convert(ctx context.Context, r *Reader, rec *record, as string) error {
	if len(rec.Slices) == 0 {
		t, err := r.Read(ctx, rec.Name)
		if err != nil {
			return w.fail(err)
		}
		return w.Add(ctx, as, t)
	}
	for _, s := range rec.Slices {
		t, err := r.ReadSlice(ctx, rec.Name, s)
		if err != nil {
			return w.fail(err)
		}
		if err := w.AddSlice(ctx, as, rec.Shape, s, t); err != nil {
			return err
		}
	}
	return nil
}
