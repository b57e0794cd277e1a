package convert

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// writeCheckpoint writes the items as a checkpoint of the format V2. The byte order, alignment,
// shards and slices are the source's, so that a checkpoint that was converted to safetensors
// becomes the same bytes again. This must stay: convert promises it. step is called after each
// tensor. After an error the old checkpoint is unchanged.
func writeCheckpoint(ctx context.Context, items *list, dst string, o *Options, res *Result, step func(item)) error {
	s, to := items.s, o.target(dst)
	if err := to.checkpoint(o.Force); err != nil {
		return err
	}
	layout := s.Layout()
	if most := o.maxAlignment(); layout != nil && int64(layout.Alignment) > most {
		return fmt.Errorf("%s asks for an alignment of %d bytes; the most is %d, Options.MaxAlignment raises it", s.Prefix, layout.Alignment, most)
	}
	wo := &bundle.WriterOptions{}
	switch r := s.Bundle(); {
	case layout != nil:
		wo.Alignment, wo.BigEndian = layout.Alignment, layout.BigEndian
	case r != nil && r.Version() == 2:
		wo.BigEndian = r.Header().BigEndian
		if a, ok := r.Alignment(); ok {
			wo.Alignment = a
		}
	}
	w, err := bundle.NewWriter(to.dir, to.base, wo)
	if err != nil {
		return err
	}
	defer w.Abort()
	if layout != nil && len(layout.Shards) > 0 {
		err = fromLayout(ctx, w, items, layout, step)
	} else {
		err = copyItems(ctx, w, items, step)
	}
	if err != nil {
		return err
	}
	if err := w.Finish(ctx); err != nil {
		return err
	}
	for _, f := range w.Files() {
		res.Files = append(res.Files, to.shown(f))
	}
	to.removeStale(res.Files)
	if layout != nil && layout.Index != "" {
		if got, err := indexDigest(to.dir, to.base); err == nil && got != layout.Index {
			res.note("the bytes differ from those of the checkpoint that the file was made of: its tensors have changed since")
		}
	}
	return nil
}

// copyItems writes items in order. Unchanged data of another bundle are copied
// byte for byte, so that fields unknown to this package are kept.
func copyItems(ctx context.Context, w *bundle.Writer, items *list, step func(item)) error {
	s := items.s
	r := s.Bundle()
	shard := 0
	from := &ahead{s: s, len: items.len(), at: items.at}
	for n := range items.len() {
		i := items.at(n)
		if err := ctx.Err(); err != nil {
			return err
		}
		if n > 0 && i.entry.Shard > shard {
			if err := w.NextShard(); err != nil {
				return err
			}
		}
		shard = max(shard, i.entry.Shard)
		var err error
		if r != nil && !i.cast && i.value == nil {
			err = w.CopyFrom(ctx, r, i.from(), i.name)
		} else {
			var t *tensor.Tensor
			if t, err = from.read(ctx, n); err == nil {
				err = w.Add(ctx, i.name, t)
			}
		}
		if err != nil {
			return err
		}
		step(i)
	}
	return nil
}

// fromLayout writes a checkpoint in the layout that a safetensors file's metadata describe.
// Pieces of tensors that an edit dropped are left out, and tensors that the layout doesn't
// mention are written last. A tensor in slices is kept in memory (last) from one slice to the next.
func fromLayout(ctx context.Context, w *bundle.Writer, items *list, l *tensorfile.Layout, step func(item)) error {
	s := items.s
	var scratch tensorfile.Scratch
	var last struct {
		name string
		t    *tensor.Tensor
	}
	get := func(i item) (*tensor.Tensor, error) {
		if last.t == nil || last.name != i.from() {
			t, err := i.read(ctx, s, &scratch)
			if err != nil {
				return nil, err
			}
			last.name, last.t = i.from(), t
		}
		return last.t, nil
	}
	done := map[string]bool{}
	for n, shard := range l.Shards {
		if n > 0 {
			if err := w.NextShard(); err != nil {
				return err
			}
		}
		for _, p := range shard {
			if err := ctx.Err(); err != nil {
				return err
			}
			i, ok := items.from(p.Name)
			if !ok {
				continue
			}
			t, err := get(i)
			if err != nil {
				return err
			}
			if p.Slice == "" || i.cast {
				if done[p.Name] {
					continue
				}
				err = w.Add(ctx, i.name, t)
			} else {
				err = addSlice(ctx, w, i.name, p.Slice, t)
			}
			if err != nil {
				return err
			}
			if !done[p.Name] {
				step(i)
			}
			done[p.Name] = true
		}
	}
	for i := range items.all() {
		if done[i.from()] {
			continue
		}
		t, err := get(i)
		if err != nil {
			return err
		}
		if err := w.Add(ctx, i.name, t); err != nil {
			return err
		}
		step(i)
	}
	return nil
}

// addSlice writes the part of t that spec describes ("0,2:-", as [bundle.ParseSlice] reads it).
func addSlice(ctx context.Context, w *bundle.Writer, name, spec string, t *tensor.Tensor) error {
	sl, err := bundle.ParseSlice(spec)
	if err != nil {
		return err
	}
	shape, err := sl.Shape(t.Shape())
	if err != nil {
		return err
	}
	index := make([]tensorfile.Index, len(shape))
	for i, e := range sl.Extents {
		index[i] = tensorfile.Index{Start: int(e.Start), Stop: int(e.Start) + shape[i]}
	}
	part, err := tensorfile.Cut(t, index)
	if err != nil {
		return err
	}
	return w.AddSlice(ctx, name, t.Shape(), sl, part)
}

// piece is the place of a stored piece.
type piece struct {
	name, slice  string // slice: "" for a whole tensor
	shard        int
	offset, size int64
}

// pieces lists every piece of a checkpoint in the order of its data files.
func pieces(r *bundle.Reader) ([]piece, error) {
	all := make([]piece, 0, r.Len())
	for e := range r.Entries() {
		if len(e.Slices) == 0 {
			all = append(all, piece{e.Name, "", e.Shard, e.Offset, e.Size})
			continue
		}
		parts, err := r.Parts(e.Name)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", e.Name, err)
		}
		for _, p := range parts {
			all = append(all, piece{p.Name, p.Slices[0].String(), p.Shard, p.Offset, p.Size})
		}
	}
	slices.SortFunc(all, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.offset, b.offset), cmp.Compare(a.size, b.size))
	})
	return all, nil
}
