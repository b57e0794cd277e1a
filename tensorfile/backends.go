package tensorfile

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/tensor"
)

// bundleStore reads TensorFlow's checkpoints.
type bundleStore struct{ r *bundle.Reader }

// openBundle opens the checkpoint at path as [bundle.FindFile] finds it, or else the only checkpoint
// of a directory without a state file.
func (s *File) openBundle(ctx context.Context, path string) error {
	f, err := bundle.FindFile(path)
	if err != nil {
		lone, ok := loneCheckpoint(os.DirFS(path), ".")
		if !ok {
			return describeForeign(path, err)
		}
		f, s.Found = bundle.Found{Kind: lone.Kind, Prefix: filepath.Join(path, lone.Prefix), Dir: path}, "the directory's only checkpoint"
	}
	s.found(f)
	r, err := bundle.OpenFile(ctx, f.Prefix, s.opts.reader())
	if err != nil {
		return err
	}
	s.b = &bundleStore{r}
	return nil
}

// found records the checkpoint found at a path.
func (s *File) found(f bundle.Found) {
	s.Kind, s.Prefix = Checkpoint, f.Prefix
	switch f.Kind {
	case bundle.FoundSavedModel:
		s.Kind = SavedModel
		if s.Found == "" {
			s.Found = "the SavedModel's variables"
		}
	case bundle.FoundState:
		s.Found = "the latest checkpoint"
		if s.Elsewhere = f.Elsewhere; s.Elsewhere {
			s.Found = "the latest checkpoint, which its state file names in another directory"
		}
	}
}

func (b *bundleStore) len() int { return b.r.Len() }

func (b *bundleStore) entry(i int) Entry { return b.shown(b.r.EntryAt(i)) }

func (b *bundleStore) all() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for e := range b.r.Entries() {
			if !yield(b.shown(e)) {
				return
			}
		}
	}
}

func (b *bundleStore) find(name string) (Entry, bool) {
	e, ok := b.r.Entry(name)
	if !ok {
		return Entry{}, false
	}
	return b.shown(e), true
}

// shown returns an entry of the index as one of a store.
func (b *bundleStore) shown(e bundle.Entry) Entry {
	o := Entry{Name: e.Name, DType: e.DType, Shape: e.Shape, Bytes: e.Size, Shard: e.Shard, Offset: e.Offset}
	if b.r.Version() != 2 {
		o.Shard, o.Offset = 0, -1 // the tensors are in a table, possibly compressed
	}
	if len(e.Slices) > 0 {
		o.Shard, o.Offset = 0, -1
		for _, s := range e.Slices {
			o.Slices = append(o.Slices, s.String())
		}
	}
	return o
}

func (b *bundleStore) read(ctx context.Context, name string) (*tensor.Tensor, error) {
	return b.r.Read(ctx, name)
}

// readInto lets the reader allocate storage that doesn't exist yet: the reader
// first checks that the data file is as long as the index states.
func (b *bundleStore) readInto(ctx context.Context, e Entry, c *Scratch) (*tensor.Tensor, error) {
	if !c.holds(e.DType, e.Shape) {
		c.buf = nil // for the collector, before there is more
		t, err := b.r.Read(ctx, e.Name)
		if err == nil {
			c.buf = t.Bytes()
		}
		return t, err
	}
	t, err := c.tensor(e.DType, e.Shape)
	if err != nil {
		return nil, err
	}
	return t, b.r.ReadInto(ctx, e.Name, t)
}

func (b *bundleStore) close() error { return b.r.Close() }

// npzStore reads numpy's zips.
type npzStore struct {
	listed
	f io.Closer
	z *tensor.NPZ
}

func openNPZ(path string, o *Options) (backend, error) {
	f, size, err := openSized(path)
	if err != nil {
		return nil, err
	}
	b, err := newNPZ(f, size, f, o)
	if err != nil {
		f.Close()
	}
	return b, err
}

// newNPZ reads the list of a zip. The store's close closes f. If newNPZ fails, the caller closes it.
func newNPZ(r io.ReaderAt, size int64, f io.Closer, o *Options) (backend, error) {
	z, err := tensor.OpenNPZ(r, size, &tensor.NPZOptions{MaxSize: o.memory(limit.Stored(f, size))})
	if err != nil {
		return nil, err
	}
	b := &npzStore{f: f, z: z}
	for _, name := range z.Names() {
		h, err := z.Header(name)
		if err != nil {
			return nil, err
		}
		b.listed = append(b.listed, Entry{Name: name, DType: h.DType, Shape: h.Shape, Bytes: h.Size, Offset: -1})
	}
	return b, nil
}

// openSized opens a file, and returns its size in bytes. A directory is an error.
func openSized(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	i, err := f.Stat()
	if err == nil && i.IsDir() {
		err = fmt.Errorf("%s is a directory", path)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, i.Size(), nil
}

func (b *npzStore) read(ctx context.Context, name string) (*tensor.Tensor, error) {
	return b.z.Read(ctx, name)
}

func (b *npzStore) readInto(ctx context.Context, e Entry, c *Scratch) (*tensor.Tensor, error) {
	t, err := c.tensor(e.DType, e.Shape)
	if err != nil {
		return nil, err
	}
	return t, b.z.ReadInto(ctx, e.Name, t)
}

func (b *npzStore) close() error { return b.f.Close() }
