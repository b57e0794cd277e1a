package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/cairnml/cairn/internal/pb"
)

// CopyFrom writes the tensor name of another checkpoint under the name as, with
// its bytes, its slices, and the entry's unknown fields. It verifies checksums.
// If the byte orders differ, and from version 1, the values are read and written
// anew, without unknown fields.
func (w *Writer) CopyFrom(ctx context.Context, r *Reader, name, as string) error {
	if w.err != nil {
		return w.err
	}
	i, ok := r.lookup(name)
	if !ok {
		return w.fail(r.notFound(name))
	}
	rec := r.record(i)
	switch {
	case as == "":
		return w.fail(fmt.Errorf("bundle: copy tensor %q: the new name is empty", name))
	case rec.err != nil:
		return w.fail(rec.err)
	case r.version == 1 || r.header.BigEndian != w.big:
		return w.convert(ctx, r, rec, as)
	case len(rec.Slices) == 0:
		return w.copyPiece(ctx, r, rec, as, as)
	}
	base := len(w.shards) - 1
	for n, s := range rec.Slices {
		if err := w.copyPiece(ctx, r, r.record(rec.parts[n]), string(appendSliceKey(nil, as, s)), as); err != nil {
			return err
		}
	}
	return w.copySliced(rec, as, base)
}

// CopyAll writes all tensors of another checkpoint, each as [Writer.CopyFrom]
// does, in the order of their bytes. Unless values are converted, it makes as many
// data files: a Writer that is Like the Reader writes identical files. If the
// function rename isn't nil, it returns new names, and false for tensors to leave
// out. It is called several times for a tensor in slices and must answer alike.
func (w *Writer) CopyAll(ctx context.Context, r *Reader, rename func(name string) (as string, keep bool)) error {
	if w.err != nil {
		return w.err
	}
	if rename == nil {
		rename = func(name string) (string, bool) { return name, true }
	}
	if r.version == 1 || r.header.BigEndian != w.big {
		for _, name := range r.NamesByPlace() {
			if as, keep := rename(name); keep {
				if err := w.CopyFrom(ctx, r, name, as); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := w.NextShard(); err != nil { // a new one unless this one is empty
		return err
	}
	if err := r.checkData(ctx); err != nil {
		return w.fail(err)
	}
	base := len(w.shards) - 1
	w.least = max(w.least, base+r.header.NumShards)
	for _, i := range r.index.order {
		rec := r.record(int(i))
		owner := r.ownerOf(rec)
		as, keep := rename(owner)
		if !keep {
			continue
		}
		if as == "" {
			return w.fail(fmt.Errorf("bundle: copy tensor %q: the new name is empty", owner))
		}
		if rec.err != nil {
			return w.fail(rec.err)
		}
		for len(w.shards)-1 < base+rec.Shard {
			if err := w.newShard(); err != nil {
				return err
			}
		}
		key := as
		if rec.slice != nil {
			key = string(appendSliceKey(nil, as, *rec.slice))
		}
		if err := w.copyPiece(ctx, r, rec, key, as); err != nil {
			return err
		}
	}
	for len(w.shards) < w.least {
		if err := w.newShard(); err != nil {
			return err
		}
	}
	for _, i := range slices.Sorted(maps.Keys(r.index.sliced)) {
		rec := r.record(i)
		as, keep := rename(rec.Name)
		if len(rec.Slices) == 0 || !keep {
			continue
		}
		if err := w.copySliced(rec, as, base+rec.home); err != nil {
			return err
		}
	}
	return nil
}

// checkData returns an error unless every data file exists. A hostile header may declare
// very many, and its callers do work for each.
func (r *Reader) checkData(ctx context.Context) error {
	for i := range r.header.NumShards {
		if err := ctx.Err(); err != nil {
			return err
		}
		name, shown := r.dataName(i)
		_, err := fs.Stat(r.fsys, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &CorruptError{File: shown, Offset: -1, What: "the data file is missing", Err: err}
		case err != nil:
			return openError(shown, err)
		}
	}
	return nil
}

// copySliced adds the entry of a tensor whose slices were copied. The entry names the data
// file shard, although it has no bytes there.
func (w *Writer) copySliced(rec *record, as string, shard int) error {
	if w.entries.has(as) {
		return w.fail(fmt.Errorf("bundle: tensor %q is added twice", as))
	}
	row, err := slicedRowOf(rec.Raw(), func(int32) int { return shard })
	if err != nil {
		return w.fail(err)
	}
	w.entries.addSliced(as, row)
	return nil
}

// copyPiece copies one stored piece. key is its new key: the tensor's new name as, or a slice's key.
func (w *Writer) copyPiece(ctx context.Context, r *Reader, rec *record, key, as string) error {
	if w.entries.has(key) {
		return w.fail(fmt.Errorf("bundle: tensor %q is added twice", as))
	}
	var e pb.BundleEntryProto
	if err := e.Unmarshal(rec.Raw()); err != nil {
		return w.fail(err)
	}
	at, err := w.place(ctx, func(s *shardWriter) (uint32, error) {
		from := w.source(r)
		b := &blob{piece: rec.piece(), owner: r.ownerOf(rec), sink: &sink{copy: &putter{ctx, w, s}}}
		if err := from.check(b); err != nil {
			return 0, err
		}
		from.add(b)
		return rec.CRC, from.run(ctx)
	})
	if err != nil {
		return w.fail(err)
	}
	at.set(&e)
	w.row = e.AppendTo(w.row[:0])
	w.entries.add(key, w.row)
	return nil
}

// source returns the reader of r's pieces. It reads one after the other, and
// keeps r's files open between them.
func (w *Writer) source(r *Reader) *blobReader {
	if w.from == nil || w.from.r != r {
		w.closeSource()
		w.from = newBlobReader(r, 1, nil)
	}
	w.from.blobs, w.from.errs = w.from.blobs[:0], nil
	w.from.stop.Store(false)
	return w.from
}

func (w *Writer) closeSource() {
	if w.from != nil {
		w.from.close()
		w.from = nil
	}
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

// convert reads a tensor and writes it again, in w's byte order.
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
