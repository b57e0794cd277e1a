package convert

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/safetensors"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
	"github.com/cairnml/cairn/vfs"
)

// maxMetadata bounds the bytes of strings in a header, of which the format allows 100 MB. They
// are stored as base64, hence the factor of 3/4 below.
const maxMetadata = 64 << 20

// writeSafetensors writes the items as a safetensors file. Strings, types that the format lacks
// and the checkpoint's layout are in its metadata ([tensorfile.Layout]), from which
// writeCheckpoint makes the checkpoint again.
func writeSafetensors(ctx context.Context, items *list, dst string, whole bool, o *Options, res *Result, step func(item)) error {
	s := items.s
	l := &tensorfile.Layout{Version: 1}
	if err := describeCheckpoint(items, whole, l, o, res); err != nil {
		return fmt.Errorf("%s: %w", s.Prefix, err)
	}
	infos := make([]safetensors.Info, 0, items.len())
	var last tensor.Shape // of the tensor before: those with equal shapes share one
	held := 0
	from := &ahead{s: s, len: items.len(), at: items.at}
	for n := range items.len() {
		i := items.at(n)
		as, ok := tensorfile.Carrier(i.dtype)
		if !ok {
			if held += int(min(i.bytes, maxMetadata)); held > maxMetadata*3/4 {
				return fmt.Errorf("%s: the strings take more than the %d MiB that a safetensors header has space for", s.Prefix, maxMetadata>>20)
			}
			t, err := from.read(ctx, n)
			if err != nil {
				return err
			}
			if l.Strings == nil {
				l.Strings = map[string]tensorfile.StringTensor{}
			}
			l.Strings[i.name] = tensorfile.NewStringTensor(t)
			step(i)
			continue
		}
		if shape := i.shape(); !shape.Equal(last) || last == nil {
			last = shape
		}
		info := safetensors.Info{Name: i.name, DType: as, Shape: last}
		if as != i.dtype {
			if l.Types == nil {
				l.Types = map[string]string{}
			}
			l.Types[i.name] = i.dtype.String()
			if i.dtype == tensor.Complex128 {
				info.Shape = append(i.shape().Clone(), 2)
			}
		}
		infos = append(infos, info)
	}
	meta := s.Metadata()
	if l.Shards != nil || l.Strings != nil || l.Types != nil {
		text, err := l.Text()
		if err != nil {
			return err
		}
		if meta == nil {
			meta = map[string]string{}
		}
		meta[tensorfile.LayoutKey] = text
		l = nil // of a million tensors it is large
	}
	f, err := o.target(dst).create(o.Force)
	if err != nil {
		return err
	}
	defer f.Abort()
	from = &ahead{s: s, len: len(infos), at: func(n int) item {
		i, _ := items.named(infos[n].Name)
		return i
	}}
	next := 0
	err = safetensors.Write(ctx, f, infos, meta, func(ctx context.Context, _ string) (*tensor.Tensor, error) {
		t, err := from.read(ctx, next)
		if err != nil {
			return nil, err
		}
		step(from.at(next))
		next++
		return tensorfile.Carry(t)
	})
	if err != nil {
		return err
	}
	res.Files = []string{dst}
	return f.Commit()
}

// describeCheckpoint stores in l how to write the checkpoint again, and checks
// that this produces the same bytes.
func describeCheckpoint(items *list, whole bool, l *tensorfile.Layout, o *Options, res *Result) error {
	s := items.s
	r := s.Bundle()
	if r == nil {
		if old := s.Layout(); old != nil {
			l.Alignment, l.BigEndian = old.Alignment, old.BigEndian
			l.Shards = renamed(old.Shards, items)
			if whole {
				l.Index = old.Index
			}
		}
		return nil
	}
	if r.Version() != 2 {
		res.note("a checkpoint of version 1: the way back makes one of version 2")
		return nil
	}
	all, err := pieces(r)
	if err != nil {
		return err
	}
	l.BigEndian = r.Header().BigEndian
	l.Shards = make([][]tensorfile.Piece, r.Header().NumShards)
	counts := make([]int, len(l.Shards))
	for _, p := range all {
		counts[p.shard]++
	}
	for k, n := range counts {
		if n > 0 {
			l.Shards[k] = make([]tensorfile.Piece, 0, n)
		}
	}
	why := ""
	for _, p := range all {
		i, ok := items.from(p.name)
		if !ok {
			continue
		}
		to := tensorfile.Piece{Name: i.name}
		if !i.cast {
			to.Slice = p.slice
		}
		l.Shards[p.shard] = append(l.Shards[p.shard], to)
	}
	for k, list := range l.Shards {
		if len(list) == 0 {
			l.Shards[k] = nil // as files describe a data file without tensors
		}
	}
	if !whole {
		return nil
	}
	for e := range r.Entries() {
		if !canonical(e.Raw()) {
			why = fmt.Sprintf("the entry of %q holds fields that this program doesn't know", e.Name)
		}
	}
	a, ok := r.Alignment()
	if l.Alignment = a; a == 1 {
		l.Alignment = 0
	}
	if !ok {
		why = "its tensors don't follow each other in its data files"
	}
	if !canonicalHeader(r.Header().Raw) {
		why = "its header holds fields that this program doesn't write"
	}
	if why == "" {
		if o.Source.FS != nil {
			l.Index, err = indexDigest(o.Source.FS, s.Prefix)
		} else {
			l.Index, err = indexDigest(vfs.OSDir(filepath.Dir(s.Prefix)), filepath.Base(s.Prefix))
		}
		return err
	}
	if !o.Lossy {
		return fmt.Errorf("the way back to safetensors would have other bytes: %s; Options.Lossy converts the values alone", why)
	}
	res.note("the way back won't give the same bytes: %s", why)
	return nil
}

// canonical reports whether an index entry has the bytes that Cairn writes for its values.
func canonical(raw []byte) bool {
	var e pb.BundleEntryProto
	if err := e.Unmarshal(raw); err != nil {
		return false
	}
	return len(e.Unknown) == 0 && bytes.Equal(e.Marshal(), raw)
}

// canonicalHeader reports whether an index's header has the bytes that Cairn writes for its values.
func canonicalHeader(raw []byte) bool {
	var h pb.BundleHeaderProto
	if err := h.Unmarshal(raw); err != nil {
		return false
	}
	v := h.Version
	return len(h.Unknown) == 0 && v != nil && v.Producer == 1 && v.MinConsumer == 0 && len(v.BadConsumers) == 0 && len(v.Unknown) == 0 && bytes.Equal(h.Marshal(), raw)
}

// renamed returns shards with the destination's names, without dropped tensors.
func renamed(shards [][]tensorfile.Piece, items *list) [][]tensorfile.Piece {
	var out [][]tensorfile.Piece
	for _, s := range shards {
		var to []tensorfile.Piece
		for _, p := range s {
			if i, ok := items.from(p.Name); ok {
				to = append(to, tensorfile.Piece{Name: i.name, Slice: p.Slice})
			}
		}
		out = append(out, to)
	}
	return out
}
