package tensorfile

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/internal/safetensors"
	"github.com/cairnml/cairn/tensor"
)

// safetensorsStore reads safetensors files. A file made of a checkpoint is
// shown with the checkpoint's tensors.
type safetensorsStore struct {
	f       io.Closer
	r       *safetensors.Reader
	layout  *Layout                   // nil if the file wasn't made of a checkpoint
	types   map[string]tensor.DType   // of tensors that are stored widened ([Carrier])
	strings map[string]*tensor.Tensor // the tensors in the metadata
	texts   []text                    // the places of strings, sorted by name
}

// text is a tensor of the metadata, and its number among all entries in the order of names.
type text struct {
	name string
	at   int
}

func openSafetensors(path string, o *Options) (backend, error) {
	f, size, err := openSized(path)
	if err != nil {
		return nil, err
	}
	b, err := openSafetensorsAt(f, size, f, o)
	if err != nil {
		f.Close()
	}
	return b, err
}

// openSafetensorsAt returns the backend of an open file, whose close closes f. If openSafetensorsAt fails, the
// caller closes it.
func openSafetensorsAt(r io.ReaderAt, size int64, f io.Closer, o *Options) (backend, error) {
	b, err := newSafetensors(r, size, limit.Stored(f, size), o)
	if err != nil {
		return nil, err
	}
	b.f = f
	return b, nil
}

// newSafetensors returns the store of a file of that size, of which stored
// bytes are on disk.
func newSafetensors(r io.ReaderAt, size, stored int64, o *Options) (b *safetensorsStore, err error) {
	b = &safetensorsStore{types: map[string]tensor.DType{}, strings: map[string]*tensor.Tensor{}}
	b.r, err = safetensors.Open(r, size, &safetensors.Options{MaxHeader: headerLimit(stored, o)})
	if err == nil {
		err = b.decode()
	}
	if err == nil {
		b.order()
	}
	return b, err
}

// headerLimit returns the maximum length of a header in bytes. It is below Options.memory, because
// decoded JSON takes a few times its length.
func headerLimit(stored int64, o *Options) int64 {
	return max(stored, o.MaxMemory)
}

// decode reads the metadata. Contradictions between it and the tensors are errors, since either could
// be wrong.
func (b *safetensorsStore) decode() (err error) {
	if b.layout, err = parseLayout(b.r.Metadata()); err != nil || b.layout == nil {
		return err
	}
	for name, d := range b.layout.Types {
		if _, ok := b.r.Info(name); !ok {
			return fmt.Errorf("the metadata has a type for %q, which the file lacks", name)
		}
		if b.types[name], err = tensor.ParseDType(d); err != nil {
			return err
		}
	}
	for name, s := range b.layout.Strings {
		if _, ok := b.r.Info(name); ok {
			return fmt.Errorf("%q is among the tensors and in the metadata", name)
		}
		if b.strings[name], err = s.tensor(); err != nil {
			return fmt.Errorf("the metadata of %q: %w", name, err)
		}
	}
	return nil
}

// order finds the places of the metadata's tensors among the others.
func (b *safetensorsStore) order() {
	infos := b.r.Infos()
	for k, name := range slices.Sorted(maps.Keys(b.strings)) {
		before, _ := slices.BinarySearchFunc(infos, name, func(i safetensors.Info, name string) int { return strings.Compare(i.Name, name) })
		b.texts = append(b.texts, text{name, before + k})
	}
}

func (b *safetensorsStore) len() int { return len(b.r.Infos()) + len(b.texts) }

// entry returns entry number i, sorted by name. It is made when it is asked for: a
// file can hold millions.
func (b *safetensorsStore) entry(i int) Entry {
	before, is := slices.BinarySearchFunc(b.texts, i, func(t text, i int) int { return cmp.Compare(t.at, i) })
	if is {
		return b.textEntry(b.texts[before].name)
	}
	return b.infoEntry(b.r.Infos()[i-before])
}

func (b *safetensorsStore) all() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for i := range b.len() {
			if !yield(b.entry(i)) {
				return
			}
		}
	}
}

func (b *safetensorsStore) find(name string) (Entry, bool) {
	if i, ok := b.r.Info(name); ok {
		return b.infoEntry(i), true
	}
	if _, ok := b.strings[name]; ok {
		return b.textEntry(name), true
	}
	return Entry{}, false
}

func (b *safetensorsStore) infoEntry(i safetensors.Info) Entry {
	e := Entry{Name: i.Name, DType: i.DType, Shape: i.Shape, Bytes: i.Size, Offset: i.Offset}
	if d, ok := b.types[i.Name]; ok {
		e.DType = d
		if n := len(e.Shape) - 1; d == tensor.Complex128 && n >= 0 {
			e.Shape = e.Shape[:n]
		}
	}
	return e
}

func (b *safetensorsStore) textEntry(name string) Entry {
	t := b.strings[name]
	return Entry{Name: name, DType: t.DType(), Shape: t.Shape(), Bytes: t.NumBytes(), Offset: -1}
}

func (b *safetensorsStore) read(ctx context.Context, name string) (*tensor.Tensor, error) {
	if t, ok := b.strings[name]; ok {
		return t, nil
	}
	t, err := b.r.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	if d, ok := b.types[name]; ok {
		return uncarry(t, d)
	}
	return t, nil
}

func (b *safetensorsStore) readInto(ctx context.Context, e Entry, c *Scratch) (*tensor.Tensor, error) {
	if _, ok := b.types[e.Name]; ok {
		return b.read(ctx, e.Name) // converted on the way
	}
	t, err := c.tensor(e.DType, e.Shape)
	if err != nil {
		return nil, err
	}
	return t, b.r.ReadInto(ctx, e.Name, t)
}

func (b *safetensorsStore) close() error { return b.f.Close() }

// Layout returns the description in a safetensors file of the checkpoint it was
// made of, or nil if it has none, and for every other kind.
func (s *File) Layout() *Layout {
	if b, ok := s.b.(*safetensorsStore); ok {
		return b.layout
	}
	return nil
}

// Metadata returns a safetensors file's metadata, [LayoutKey] left out.
func (s *File) Metadata() map[string]string {
	b, ok := s.b.(*safetensorsStore)
	if !ok {
		return nil
	}
	m := maps.Clone(b.r.Metadata())
	delete(m, LayoutKey)
	return m
}
