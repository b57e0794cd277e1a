package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/table"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// ReaderOptions are the options for opening a checkpoint; nil means the
// defaults.
type ReaderOptions struct {
	// MaxIndex is the maximum size in bytes of an index file (in version 1: of a
	// whole file). Default 1 GiB; in version 1 no limit if the file can be read by
	// position; and if the file has holes, 64 MiB plus 16 times the bytes stored on
	// disk.
	MaxIndex int64
	// MaxRead is the maximum number of bytes of storage that one call of Read,
	// ReadSlice or ReadAll allocates. The caller's storage doesn't count. Default
	// 64 MiB plus 16 times the size on disk of the data files read. This is no
	// limit for files without holes, but small files can't fill the memory.
	MaxRead int64
	// MaxShards is the maximum number of data files in a header. Default 100,000,
	// the most that the five digits of their names can express.
	MaxShards int
	// MaxMemory raises to this number of bytes the limits that are proportional to
	// the bytes on disk, and that on the length of an index, if they are lower. If
	// MaxIndex and MaxRead are set, they take precedence. Package checkpoint also
	// applies it to object graphs. Default: the limits are unchanged.
	MaxMemory int64
	// Ahead is the name of a tensor that Open reads in parallel with its other
	// work. The first [Reader.Read] of it returns the result, or its error. Version 1
	// ignores it. Default: none.
	Ahead string
}

// The defaults are ours; TensorFlow has no such limits.
const (
	defaultMaxIndex  = 1 << 30 // bytes
	defaultMaxShards = 100_000
)

func (o *ReaderOptions) maxIndex() int64 {
	switch {
	case o == nil:
		return defaultMaxIndex
	case o.MaxIndex <= 0:
		return max(defaultMaxIndex, o.MaxMemory)
	}
	return o.MaxIndex
}

// memory returns how much an index file, or a block of one, may take in memory.
func (o *ReaderOptions) memory(src *source) int64 {
	if o == nil {
		return limit.Memory(src.stored)
	}
	return max(limit.Memory(src.stored), o.MaxIndex, o.MaxMemory)
}

// maxRead returns the limit of storage for data from files with the given
// number of bytes stored on disk.
func (o *ReaderOptions) maxRead(stored int64) int64 {
	switch {
	case o == nil:
		return limit.Memory(stored)
	case o.MaxRead <= 0:
		return max(limit.Memory(stored), o.MaxMemory)
	}
	return o.MaxRead
}

func (o *ReaderOptions) maxShards() int {
	if o == nil || o.MaxShards <= 0 {
		return defaultMaxShards
	}
	return o.MaxShards
}

// A Reader reads one checkpoint. It is safe for use by many goroutines and
// keeps no file open between calls.
type Reader struct {
	fsys    fs.FS
	prefix  string
	shown   string   // the prefix as errors name it
	files   []string // the data files, if they don't have their final names yet; otherwise nil
	version int
	number  uint16 // distinguishes the handles of Readers
	header  Header
	index   index    // in version 2
	recs    []record // in version 1, sorted by name
	v1      *v1Files
	opts    ReaderOptions
	closed  atomic.Bool
	ahead   atomic.Pointer[aheadRead]
}

// aheadRead is the result of reading a tensor ahead.
type aheadRead struct {
	name string
	t    *tensor.Tensor
	err  error
}

// readAhead reads ReaderOptions.Ahead, if there is such a tensor.
func (r *Reader) readAhead(ctx context.Context) {
	name := r.opts.Ahead
	if name == "" {
		return
	}
	if _, ok := r.lookup(name); !ok {
		return
	}
	t, err := r.read(ctx, name)
	r.ahead.Store(&aheadRead{name, t, err})
}

// Header is the index's description of the whole checkpoint.
type Header struct {
	NumShards    int
	BigEndian    bool
	Producer     int    // the version of the format it was written in
	MinConsumer  int    // the oldest version that can read it
	BadConsumers []int  // versions that can't, though they are not older
	Raw          []byte // the encoded message; nil in version 1
}

var readers atomic.Uint32 // how many there were

// Open reads the index of the checkpoint with that prefix: "model.ckpt-10" if
// the files are model.ckpt-10.index and model.ckpt-10.data-00000-of-00001. If
// there is no such index, a file called prefix itself, or files called
// prefix-00000-of-00002 and so on, are taken for a checkpoint of version 1.
// Tensors are read when asked for.
//
// Files of fsys need not implement ReadAt (those of a zip archive don't): an
// index is held in memory, up to [ReaderOptions].MaxIndex, and data files are
// read from front to back, by one goroutine.
//
// If an index violates the format, the error is a [CorruptError]; if it requires
// other readers, a [VersionError]; if there is no checkpoint, a [PathError] that
// describes the files found.
func Open(ctx context.Context, fsys fs.FS, prefix string, opts *ReaderOptions) (*Reader, error) {
	return open(ctx, fsys, prefix, prefix, opts)
}

// OpenFile works like [Open], for a prefix that is a path of the operating system.
func OpenFile(ctx context.Context, path string, opts *ReaderOptions) (*Reader, error) {
	dir, base := filepath.Split(filepath.FromSlash(path))
	if dir == "" {
		dir = "."
	}
	return open(ctx, vfs.OSDir(dir), base, path, opts)
}

// open opens a bundle of version 2. A prefix without an index may be one of version 1. shown is the prefix as
// errors name it.
func open(ctx context.Context, fsys fs.FS, prefix, shown string, opts *ReaderOptions) (*Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkPrefix(prefix); err != nil {
		return nil, &PathError{Path: shown, Found: "no usable path", Err: err}
	}
	r := &Reader{fsys: fsys, prefix: prefix, shown: shown, version: 2, number: uint16(readers.Add(1))}
	if opts != nil {
		r.opts = *opts
	}
	src, err := openSource(fsys, IndexName(prefix))
	if errors.Is(err, fs.ErrNotExist) {
		if files := findV1(fsys, prefix); len(files) > 0 && !otherFile(prefix) {
			err := r.openV1(files, opts)
			return r, err
		}
		return nil, describe(fsys, prefix, shown, err)
	}
	if err != nil {
		return nil, openError(IndexName(shown), err)
	}
	defer src.close()
	src.name = IndexName(shown)
	if err := r.load(ctx, src, opts); err != nil {
		return nil, err
	}
	return r, nil
}

// fault adds the file's name to a table's error.
func fault(file string, err error) error {
	var c *table.CorruptError
	if errors.As(err, &c) {
		return &CorruptError{File: file, Offset: c.Offset, What: c.What}
	}
	if errors.Is(err, table.ErrLimit) {
		return errUnsupported("%s: %v; ReaderOptions.MaxIndex raises it", file, err)
	}
	return err
}

// load reads a V2 index.
func (r *Reader) load(ctx context.Context, src *source, opts *ReaderOptions) error {
	if most := opts.maxIndex(); src.size > most {
		return errUnsupported("%s has %d bytes, the most for an index is %d; ReaderOptions.MaxIndex raises it", src.name, src.size, most)
	}
	if most := opts.memory(src); src.size > most {
		return errUnsupported("%s has %d bytes, of which %d are on the disk; the most for such an index is %d, ReaderOptions.MaxIndex raises it", src.name, src.size, src.stored, most)
	}
	if !src.parallel {
		if err := src.spool(opts.maxIndex()); err != nil {
			return err
		}
	}
	t, err := table.Open(src, src.size, opts.memory(src))
	if err != nil {
		return src.explain(fault(src.name, err))
	}
	l := &indexLoad{r: r, table: t, file: src.name, maxShards: opts.maxShards()}
	// The memory of the entries is bounded by the bytes stored on disk: the keys of
	// a hostile index could grow to the square of its length, and its blocks may be
	// compressed. Those of a valid index don't exceed sixteen times it, because
	// every sixteenth key is stored in full.
	l.budget.Store(opts.memory(src) - limit.Base*3/4)
	if err := l.run(ctx); err != nil {
		return fault(src.name, err)
	}
	if err := r.linkSlices(ctx, src.name, l.sliced); err != nil {
		return err
	}
	var wg sync.WaitGroup
	wg.Go(func() { r.readAhead(ctx) })
	order, rank, err := r.index.sortPlaces(src.name)
	wg.Wait() // it looks at the index
	r.index.order, r.index.rank = order, rank
	return err
}

// entryMemory is the memory of an entry besides its bytes.
const entryMemory = 64

// readHeader sets r.header from the header's message, and checks it. The offset is that of its entry.
func (r *Reader) readHeader(file string, offset int64, value []byte, maxShards int) error {
	var m pb.BundleHeaderProto
	if err := m.Unmarshal(value); err != nil {
		return &CorruptError{File: file, Offset: offset, What: "the header can't be decoded", Err: err}
	}
	if m.NumShards <= 0 || m.Endianness < 0 || m.Endianness > 1 {
		return &CorruptError{File: file, Offset: offset, What: fmt.Sprintf("the header has %d data files and byte order %d", m.NumShards, m.Endianness)}
	}
	if int(m.NumShards) > maxShards {
		return errUnsupported("%s lists %d data files, the most is %d; ReaderOptions.MaxShards raises it", file, m.NumShards, maxShards)
	}
	r.header = Header{NumShards: int(m.NumShards), BigEndian: m.Endianness == 1, Raw: bytes.Clone(value)}
	return r.checkVersion(file, m.Version)
}

// checkVersion follows TensorFlow's rules for data and the version that reads
// it (core/framework/versions.cc).
func (r *Reader) checkVersion(file string, v *pb.VersionDef) error {
	if v == nil {
		return nil
	}
	r.header.Producer, r.header.MinConsumer = int(v.Producer), int(v.MinConsumer)
	bad := false
	for _, c := range v.BadConsumers {
		r.header.BadConsumers = append(r.header.BadConsumers, int(c))
		bad = bad || c == formatVersion
	}
	e := &VersionError{File: file, Producer: int(v.Producer), MinConsumer: int(v.MinConsumer), Reader: formatVersion}
	switch {
	case v.Producer < formatMinProducer:
		e.What = fmt.Sprintf("it was written in version %d of the format; the oldest that can be read is %d", v.Producer, formatMinProducer)
	case v.MinConsumer > formatVersion:
		e.What = fmt.Sprintf("it asks for a reader of version %d or later, this one is of version %d: a newer release is needed", v.MinConsumer, formatVersion)
	case bad:
		e.What = fmt.Sprintf("it refuses readers of version %d, as this one is: they would misread it", formatVersion)
	default:
		return nil
	}
	return e
}

// linkSlices finds the entries of slices and hides them from view.
func (r *Reader) linkSlices(ctx context.Context, file string, sliced []int) error {
	x := &r.index
	for _, i := range sliced {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec := x.record(i)
		corrupt := func(err error) error {
			return &CorruptError{File: file, Offset: rec.at, Name: keyOwner(rec.Name), What: err.Error()}
		}
		t := &slicedTensor{}
		x.sliced[i] = t
		if rec.err != nil {
			continue
		}
		err := eachSlice(rec.Raw(), rec.Shape, func(n int, s Slice) error {
			if n%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if isFull(s, rec.Shape) {
				return fmt.Errorf("slice %d is the whole tensor", n)
			}
			j, ok := x.find(string(appendSliceKey(nil, rec.Name, s)))
			if !ok {
				return fmt.Errorf("slice %s has no entry: its data is missing", s)
			}
			var part record
			parts, _ := part.parse(x.key(j), x.message(x.at(j)), x.shards, nil)
			shape, err := s.Shape(rec.Shape)
			if err != nil {
				return err
			}
			if _, listed := x.owners[j]; listed {
				return fmt.Errorf("slice %s is listed twice", s)
			}
			switch {
			case part.DType != rec.DType || !part.Shape.Equal(shape):
				return fmt.Errorf("slice %s is %v%v, its own entry says %v%v", s, rec.DType, shape, part.DType, part.Shape)
			case parts > 0:
				return fmt.Errorf("slice %s is itself sliced", s)
			}
			x.owners[j] = sliceOf{int32(i), int32(n)}
			t.slices, t.parts = append(t.slices, s), append(t.parts, j)
			if t.size += part.Size; t.size < 0 {
				return errors.New("the sizes of the slices overflow 64 bits")
			}
			return nil
		})
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return corrupt(err)
		}
	}
	if len(x.owners) == 0 {
		return nil
	}
	x.visible = make([]int32, 0, x.n-len(x.owners))
	for i := range x.n {
		if _, hidden := x.owners[i]; !hidden {
			x.visible = append(x.visible, int32(i))
		}
	}
	return nil
}

// record returns the entry number i of the index.
func (r *Reader) record(i int) *record {
	if r.version == 1 {
		return &r.recs[i]
	}
	return r.index.record(i)
}

// dataName returns the name of a data file, and its name in errors.
func (r *Reader) dataName(shard int) (name, shown string) {
	if r.files != nil {
		return r.files[shard], r.files[shard]
	}
	return DataName(r.prefix, shard, r.header.NumShards), DataName(r.shown, shard, r.header.NumShards)
}

// Prefix returns the prefix passed to Open.
func (r *Reader) Prefix() string { return r.shown }

// Version returns 2 for a bundle, 1 for the older format.
func (r *Reader) Version() int { return r.version }

// Header returns the checkpoint's header. In version 1 the number of shards is
// that of the files.
func (r *Reader) Header() Header { return r.header }

// Len returns the number of tensors.
func (r *Reader) Len() int {
	if r.version == 1 {
		return len(r.recs)
	}
	return r.index.tensors()
}

// tensor returns the number of the entry of the tensor number k.
func (r *Reader) tensor(k int) int {
	if r.version == 1 {
		return k
	}
	return r.index.tensor(k)
}

// name returns the name of the tensor number k.
func (r *Reader) name(k int) string {
	if r.version == 1 {
		return r.recs[k].Name
	}
	return r.index.key(r.index.tensor(k))
}

// Alignment returns the smallest WriterOptions.Alignment that explains the offsets
// of the pieces of a checkpoint of version 2. ok is false if none up to 64 KiB
// does, as with a file assembled by another program.
func (r *Reader) Alignment() (align int, ok bool) {
	if r.version == 1 {
		return 0, false
	}
next:
	for a := int64(1); a <= 1<<16; a *= 2 {
		shard, at := int32(-1), int64(0)
		for _, i := range r.index.order {
			p := &r.index.at(int(i)).place
			if p.shard != shard {
				shard, at = p.shard, 0
			}
			if start := (at + a - 1) / a * a; p.off != start {
				continue next
			}
			at = p.off + p.size
		}
		return int(a), true
	}
	return 0, false
}

// Names lists the tensors, sorted by their bytes.
func (r *Reader) Names() []string {
	names := make([]string, r.Len())
	for k := range names {
		names[k] = r.name(k)
	}
	return names
}

// NamesByPlace lists the tensors in the order of their bytes in the data files,
// those in slices by their first slice: the order to read them in, and to write
// them again in.
func (r *Reader) NamesByPlace() []string {
	if r.version == 1 {
		return r.Names()
	}
	x := &r.index
	names := make([]string, 0, r.Len())
	seen := make(map[int32]bool, len(x.sliced))
	for _, i := range x.order {
		if o, ok := x.owners[int(i)]; ok {
			if seen[o.owner] {
				continue
			}
			seen[o.owner] = true
			i = o.owner
		}
		names = append(names, x.key(int(i)))
	}
	// A tensor stored in slices may have none.
	for k := 0; len(names) < cap(names) && k < r.Len(); k++ {
		if i := x.tensor(k); x.sliced[i] != nil && !seen[int32(i)] {
			names = append(names, x.key(i))
		}
	}
	return names
}

// Entries yields the tensors' entries, sorted by name. Entries that follow each
// other and have equal shapes share one; the caller must not change it.
func (r *Reader) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		var last tensor.Shape // tensors of one shape share it, mostly they follow each other
		buf := make(tensor.Shape, 0, tensor.MaxRank)
		for k := range r.Len() {
			e := r.entry(r.tensor(k), buf)
			if r.version == 2 {
				if !e.Shape.Equal(last) || last == nil {
					last = e.Shape.Clone()
				}
				e.Shape = last
			}
			if !yield(e) {
				return
			}
		}
	}
}

// EntryAt returns the entry of tensor number i, from 0 up to [Reader.Len], in the order of
// the names.
func (r *Reader) EntryAt(i int) Entry { return r.entry(r.tensor(i), nil) }

// entry returns the entry number i of the index; shape is the parameter into of decodeEntry.
func (r *Reader) entry(i int, shape tensor.Shape) Entry {
	if r.version == 1 {
		return r.recs[i].Entry
	}
	var rec record
	r.index.decode(&rec, i, shape)
	return rec.Entry
}

// Entry finds the entry of the tensor with that name. Entries that are asked for
// one after the other and have equal shapes share one; the caller must not change it.
func (r *Reader) Entry(name string) (Entry, bool) {
	i, ok := r.lookup(name)
	if !ok {
		return Entry{}, false
	}
	if r.version == 1 {
		return r.entry(i, nil), true
	}
	var like tensor.Shape
	last := r.index.shape.Load()
	if last != nil {
		like = *last
	}
	e := r.entry(i, like)
	if len(e.Shape) > 0 && (len(like) == 0 || &e.Shape[0] != &like[0]) {
		shape := e.Shape
		r.index.shape.Store(&shape)
	}
	return e, true
}

// Parts lists the locations of a tensor's pieces. For a tensor stored in slices
// it returns an entry for each, with the tensor's name, the slice's own shape
// and the slice as the only one of Slices; otherwise the tensor's entry.
func (r *Reader) Parts(name string) ([]Entry, error) {
	i, ok := r.lookup(name)
	if !ok {
		return nil, r.notFound(name)
	}
	rec := r.record(i)
	if len(rec.Slices) == 0 {
		return []Entry{rec.Entry}, nil
	}
	out := make([]Entry, len(rec.Slices))
	for n, s := range rec.Slices {
		if r.version == 2 {
			out[n] = r.record(rec.parts[n]).Entry
		} else { // version 1
			shape, err := s.Shape(rec.Shape)
			if err != nil {
				return nil, err
			}
			out[n] = Entry{DType: rec.DType, Shape: shape, Size: int64(rec.DType.Size()) * volume(shape)}
		}
		out[n].Name, out[n].Slices = name, []Slice{s}
	}
	return out, nil
}

// keyOwner returns the name of a key's tensor for errors: for a slice its
// tensor, as far as the key contains it.
func keyOwner(key string) string {
	if name, s, err := parseSliceKey(key); err == nil {
		return name + " " + s.String()
	}
	return key
}

// lookup finds the entry of a tensor.
func (r *Reader) lookup(name string) (int, bool) {
	if r.version == 1 {
		return slices.BinarySearchFunc(r.recs, name, func(rec record, name string) int { return strings.Compare(rec.Name, name) })
	}
	i, ok := r.index.find(name)
	return i, ok && !r.index.hidden(i)
}

func (r *Reader) notFound(name string) error {
	return &NotFoundError{Prefix: r.shown, Name: name, Nearest: nearest.Names(name, r.Names(), 5)}
}

// checkOpen returns the error of a call after Close.
func (r *Reader) checkOpen() error {
	if r.closed.Load() {
		return fmt.Errorf("bundle: %s: %w", r.shown, fs.ErrClosed)
	}
	return nil
}

// Close ends the use of the Reader: later reads fail. A second call does
// nothing.
func (r *Reader) Close() error {
	r.closed.Store(true)
	return nil
}

// volume returns the number of elements of a shape. The caller has checked that it fits 64 bits.
func volume(s tensor.Shape) int64 {
	n := int64(1)
	for _, d := range s {
		n *= int64(d)
	}
	return n
}

// isFull reports whether a slice takes all of a tensor, by full extents or by the
// sizes of its dimensions.
func isFull(s Slice, full tensor.Shape) bool {
	shape, err := s.Shape(full)
	return err == nil && shape.Equal(full)
}
