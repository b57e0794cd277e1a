package bundle

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/table"
	"github.com/cairnml/cairn/internal/tensorproto"
	"github.com/cairnml/cairn/tensor"
)

// Version 1 (tensorflow/core/util/tensor_slice_reader.cc, saved_tensor_slice.proto)
// is one table, or several called prefix-00000-of-00002 and so on. The empty key has
// a list of the tensors and their slices; each slice's key, in ordered code, has a
// message with its values. There are no data files.

// v1Files are the tables of a version 1 checkpoint.
type v1Files struct {
	names []string // in the file system
	shown []string // in errors
	limit int64    // how many bytes of a file that can't be read by position may be in memory
}

// v1Part is the file and position of a slice.
type v1Part struct {
	file  int
	slice Slice
}

// findV1 lists the files of a version 1 checkpoint, or returns nil if there are
// none.
func findV1(fsys fs.FS, prefix string) []string {
	if info, err := fs.Stat(fsys, prefix); err == nil && !info.IsDir() {
		return []string{prefix}
	}
	// State files name a sharded checkpoint by a pattern of its files.
	if cut := len(prefix) - len("-?????-of-00000"); cut > 0 && strings.HasPrefix(prefix[cut:], "-?????-of-") {
		prefix = prefix[:cut]
	}
	entries, err := fs.ReadDir(fsys, path.Dir(prefix))
	if err != nil {
		return nil
	}
	var names []string
	shards := 0
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), path.Base(prefix)+"-")
		if !ok {
			continue
		}
		a, b, ok := strings.Cut(rest, "-of-")
		if !ok {
			continue
		}
		i, err1 := parseCount(a)
		n, err2 := parseCount(b)
		if err1 != nil || err2 != nil || i >= n {
			continue
		}
		if shards = n; len(names) != i {
			return nil
		}
		names = append(names, path.Join(path.Dir(prefix), e.Name()))
	}
	if len(names) != shards {
		return nil
	}
	return names
}

// openV1 opens a checkpoint of version 1 that consists of files. It reads their lists of tensors, and no values.
func (r *Reader) openV1(files []string, opts *ReaderOptions) error {
	r.version = 1
	r.v1 = &v1Files{names: files, limit: opts.maxIndex()}
	for _, f := range files {
		r.v1.shown = append(r.v1.shown, r.shown+strings.TrimPrefix(f, r.prefix))
	}
	r.header.NumShards = len(files)
	recs := make(map[string]*record)
	for i := range files {
		if err := r.v1Meta(i, recs); err != nil {
			return err
		}
	}
	r.recs = make([]record, 0, len(recs))
	for _, rec := range recs {
		if len(rec.v1) > 1 || !isFull(rec.v1[0].slice, rec.Shape) {
			for _, p := range rec.v1 {
				rec.Slices = append(rec.Slices, p.slice)
			}
		}
		r.recs = append(r.recs, *rec)
	}
	slices.SortFunc(r.recs, func(a, b record) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// table opens file i.
func (v *v1Files) table(fsys fs.FS, i int, opts *ReaderOptions) (*table.Reader, *source, error) {
	src, err := openSource(fsys, v.names[i])
	if err != nil {
		return nil, nil, openError(v.shown[i], err)
	}
	src.name = v.shown[i]
	if !src.parallel {
		if err := src.spool(v.limit); err != nil {
			return nil, nil, errors.Join(err, src.close())
		}
	}
	t, err := table.Open(src, src.size, opts.memory(src))
	if err != nil {
		err = src.explain(fault(src.name, err))
		src.close()
		return nil, nil, err
	}
	return t, src, nil
}

// v1Meta reads the list of tensors of file i.
func (r *Reader) v1Meta(i int, recs map[string]*record) error {
	t, src, err := r.v1.table(r.fsys, i, &r.opts)
	if err != nil {
		var c *CorruptError
		if errors.As(err, &c) && len(r.v1.names) == 1 {
			c.What += " (it was taken for a checkpoint of version 1, since there is no " + path.Base(IndexName(r.shown)) + ")"
		}
		return err
	}
	defer src.close()
	value, offset, err := t.Get(nil)
	if err != nil {
		return fault(src.name, err)
	}
	corrupt := func(name, format string, args ...any) error {
		return &CorruptError{File: src.name, Offset: offset, Name: name, What: fmt.Sprintf(format, args...)}
	}
	if value == nil {
		return corrupt("", "there is no list of tensors under the empty key")
	}
	var m pb.SavedTensorSlices
	if err := m.Unmarshal(value); err != nil {
		return corrupt("", "the list of tensors can't be decoded: %v", err)
	}
	if m.Meta == nil {
		return corrupt("", "the list of tensors is missing")
	}
	if err := r.checkVersion(src.name, m.Meta.Versions); err != nil {
		return err
	}
	for _, tm := range m.Meta.Tensor {
		shape, n, err := parseShape(tm.Shape)
		var later error
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			later = fmt.Errorf("bundle: tensor %q: %w", tm.Name, err)
		case err != nil:
			return corrupt(tm.Name, "%v", err)
		}
		d := tensor.DType(tm.Type)
		switch {
		case tm.Name == "":
			return corrupt("", "a tensor has no name")
		case d <= tensor.Invalid:
			return corrupt(tm.Name, "the entry has no element type")
		case len(tm.Slice) == 0:
			return corrupt(tm.Name, "it has no slices")
		case !d.Valid() || d == tensor.Resource || d == tensor.Variant:
			later = errUnsupported("tensor %q has elements of %v, which can't be read", tm.Name, d)
		}
		rec := recs[tm.Name]
		if rec == nil {
			rec = &record{Entry: Entry{Name: strings.Clone(tm.Name), DType: d, Shape: shape}, at: offset, elems: n, err: later}
			recs[rec.Name] = rec
		}
		if rec.DType != d || !rec.Shape.Equal(shape) {
			return corrupt(tm.Name, "it is %v%v here and %v%v elsewhere", d, shape, rec.DType, rec.Shape)
		}
		if later != nil {
			rec.v1 = append(rec.v1, v1Part{file: i, slice: FullSlice(len(shape))})
			continue
		}
		if width := int64(d.Size()); width > 0 {
			if n > math.MaxInt64/width {
				return corrupt(tm.Name, "the number of bytes overflows 64 bits")
			}
			rec.Size = n * width
		}
		for k, sp := range tm.Slice {
			s, err := v1Slice(sp, shape)
			if err != nil {
				return corrupt(tm.Name, "slice %d: %v", k, err)
			}
			part, _ := s.Shape(shape)
			// Every element takes at least a byte of the table, which snappy can
			// make 22 times smaller.
			if volume(part) > src.size*22+64 {
				return corrupt(tm.Name, "slice %s has %d elements, more than the file can hold", s, volume(part))
			}
			rec.v1 = append(rec.v1, v1Part{file: i, slice: s})
		}
	}
	return nil
}

// v1Slice returns a slice from a list of tensors; one without extents is the
// whole tensor's.
func v1Slice(m *pb.TensorSliceProto, full tensor.Shape) (Slice, error) {
	if len(m.Extent) == 0 {
		return FullSlice(len(full)), nil
	}
	return parseSlice(m, full)
}

// readAllV1 carries out reads of a version 1 checkpoint.
func (r *Reader) readAllV1(ctx context.Context, reqs []ReadRequest, opts *ReadAllOptions) error {
	whole := make([]int32, len(opts.Whole))
	for i, h := range opts.Whole {
		if err := r.checkHandle(h); err != nil {
			return err
		}
		whole[i] = int32(i)
	}
	return r.withWhole(opts, whole, reqs, func(reqs []ReadRequest) error { return r.readEachV1(ctx, reqs, opts) })
}

// readEachV1 reads the requested tensors. Only if all were read, it sets the destinations that it allocated.
func (r *Reader) readEachV1(ctx context.Context, reqs []ReadRequest, opts *ReadAllOptions) error {
	reads := make([]checkedRead, len(reqs))
	for i := range reqs {
		at, ok := r.lookup(reqs[i].Name)
		if !ok {
			return r.notFound(reqs[i].Name)
		}
		var err error
		if reads[i], err = r.resolve(ctx, &reqs[i], r.record(at)); err != nil {
			return err
		}
	}
	br := newBlobReader(r, opts.Workers, opts.Progress)
	br.tables = &v1Tables{r: r}
	defer br.tables.close()
	if err := r.checkStorageV1(br.tables, reads); err != nil {
		return err
	}
	for i := range reads {
		p := &reads[i]
		var mu sync.Mutex // slices of one tensor: who makes the destination
		for _, n := range p.v1Parts {
			part := p.rec.v1[n]
			size := int64(p.rec.DType.Size()) * spanVolume(spans(part.slice, p.rec.Shape))
			br.add(&blob{piece: piece{size: size}, owner: p.rec.Name, sink: &sink{v1: newV1Piece(p.rec, part, func(t *tensor.Tensor) error {
				return p.takeV1(&mu, part, t)
			})}})
		}
	}
	if err := br.run(ctx); err != nil {
		return err
	}
	for i := range reads {
		reads[i].req.Dst = reads[i].dst
	}
	return nil
}

// checkStorageV1 returns an error if the reads take more bytes of new storage than one call may allocate.
func (r *Reader) checkStorageV1(tables *v1Tables, reads []checkedRead) error {
	var need, stored int64
	used := make([]bool, len(r.v1.names))
	for i := range reads {
		p := &reads[i]
		for _, n := range p.v1Parts {
			f := p.rec.v1[n].file
			if used[f] {
				continue
			}
			t, err := tables.get(f)
			if err != nil {
				return err
			}
			used[f] = true
			stored += t.src.stored
		}
		if p.dst != nil {
			continue
		}
		width := int64(p.rec.DType.Size())
		if width == 0 {
			width = stringMemory
		}
		if err := addUp(&need, min(volume(p.shape), math.MaxInt64/width)*width); err != nil {
			return err
		}
	}
	return r.checkStorage(len(reads), need, stored)
}

// takeV1 copies a slice that was read to its destination.
func (p *checkedRead) takeV1(mu *sync.Mutex, part v1Part, t *tensor.Tensor) error {
	from := spans(part.slice, p.rec.Shape)
	mu.Lock()
	if p.dst == nil && equalSpans(from, p.want) {
		p.dst = t
		mu.Unlock()
		return nil
	}
	err := p.allocate()
	mu.Unlock()
	if err != nil {
		return err
	}
	m, width := newScatter(from, p.want), int64(t.DType().Size())
	m.runs(0, int64(t.Len()), func(src, dst, n int64) {
		if width == 0 {
			copy(p.dst.Strings()[dst:dst+n], t.Strings()[src:src+n])
		} else {
			copy(p.dst.Bytes()[dst*width:(dst+n)*width], t.Bytes()[src*width:(src+n)*width])
		}
	})
	return nil
}

// addV1 adds all slices of a tensor, to be read and checked without a destination.
func (br *blobReader) addV1(rec *record) {
	for _, part := range rec.v1 {
		br.add(&blob{owner: rec.Name, sink: &sink{v1: newV1Piece(rec, part, func(*tensor.Tensor) error { return nil })}})
	}
}

// v1Piece is a slice in a table, being read.
type v1Piece struct {
	rec  *record
	part v1Part
	key  []byte                     // of the slice in the table
	take func(*tensor.Tensor) error // receives the slice

	table *v1Table
	block int // the number of the table's block with the key
}

func newV1Piece(rec *record, part v1Part, take func(*tensor.Tensor) error) *v1Piece {
	return &v1Piece{rec: rec, part: part, key: appendSliceKey(nil, rec.Name, part.slice), take: take}
}

// largeBlock is the length of a block in the file from which on one block is
// held in memory at a time.
const largeBlock = 1 << 20

// tasksV1 groups the pieces of one block, so that each block is read and
// decompressed once.
func (br *blobReader) tasksV1(ctx context.Context) []task {
	var found []*blob
	for i, b := range br.blobs {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil
		}
		t, err := br.tables.get(b.v1.part.file)
		if err != nil {
			br.fail(b.owner, err)
			continue
		}
		var size uint64
		b.v1.table = t
		if b.v1.block, size = t.Block(b.v1.key); size > largeBlock {
			br.workers = 1
		}
		found = append(found, b)
	}
	slices.SortStableFunc(found, func(a, b *blob) int {
		return cmp.Or(cmp.Compare(a.v1.part.file, b.v1.part.file), cmp.Compare(a.v1.block, b.v1.block), bytes.Compare(a.v1.key, b.v1.key))
	})
	var out []task
	for i := 0; i < len(found); {
		j := i + 1
		for ; j < len(found) && found[j].v1.table == found[i].v1.table && found[j].v1.block == found[i].v1.block; j++ {
		}
		out = append(out, task{blobs: found[i:j], chunk: found[i].v1.block})
		i = j
	}
	return out
}

// blockV1 reads the pieces of one block.
func (br *blobReader) blockV1(ctx context.Context, t task) {
	table := t.blobs[0].v1.table
	// The same piece may be asked for by several.
	var keys [][]byte
	var byKey [][]*blob
	for i, b := range t.blobs {
		if i == 0 || !bytes.Equal(keys[len(keys)-1], b.v1.key) {
			keys, byKey = append(keys, b.v1.key), append(byKey, nil)
		}
		byKey[len(byKey)-1] = append(byKey[len(byKey)-1], b)
	}
	done := 0
	err := table.Find(t.chunk, keys, func(i int, value []byte, offset int64) error {
		done = i + 1
		for _, b := range byKey[i] {
			if err := ctx.Err(); err != nil {
				return err
			}
			x, err := br.r.decodeV1(table, b.v1, value, offset)
			if err == nil {
				err = b.v1.take(x)
			}
			if err != nil {
				if br.fail(b.owner, err); !br.keepGoing {
					return nil
				}
				continue
			}
			br.finish(b.size)
		}
		return nil
	})
	if err == nil || ctx.Err() != nil {
		return
	}
	for _, list := range byKey[done:] {
		for _, b := range list {
			br.fail(b.owner, fault(table.src.name, err))
		}
	}
}

// v1Tables opens tables when they are needed, and keeps them open until close.
type v1Tables struct {
	r    *Reader
	mu   sync.Mutex
	open map[int]*v1Table
}

type v1Table struct {
	*table.Reader
	src *source
}

func (v *v1Tables) get(i int) (*v1Table, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if t := v.open[i]; t != nil {
		return t, nil
	}
	t, src, err := v.r.v1.table(v.r.fsys, i, &v.r.opts)
	if err != nil {
		return nil, err
	}
	if v.open == nil {
		v.open = make(map[int]*v1Table)
	}
	v.open[i] = &v1Table{t, src}
	return v.open[i], nil
}

func (v *v1Tables) close() {
	for _, t := range v.open {
		t.src.close()
	}
}

// decodeV1 decodes the value of a piece's key, a slice.
func (r *Reader) decodeV1(t *v1Table, p *v1Piece, value []byte, offset int64) (*tensor.Tensor, error) {
	rec, part := p.rec, p.part
	corrupt := func(format string, args ...any) error {
		return &CorruptError{File: t.src.name, Offset: offset, Name: rec.Name, What: fmt.Sprintf(format, args...)}
	}
	if value == nil {
		offset = rec.at
		return nil, corrupt("slice %s is listed, but its data is missing", part.slice)
	}
	// A number may take one byte in the message and eight once it is decoded, a
	// string two and more than twenty.
	width := max(8, int64(rec.DType.Size()))
	if rec.DType == tensor.String {
		width = 24 + stringMemory
	}
	if n := spanVolume(spans(part.slice, rec.Shape)); len(value) > 1<<20 && int64(len(value)) > r.opts.maxRead(t.src.stored)-n*width {
		return nil, errUnsupported("%s: slice %s of %q takes %d bytes and as many elements as %d in memory; the most is %d, ReaderOptions.MaxRead raises it", t.src.name, part.slice, rec.Name, len(value), n, r.opts.maxRead(t.src.stored))
	}
	var m pb.SavedTensorSlices
	if err := m.Unmarshal(value); err != nil {
		return nil, corrupt("the slice can't be decoded: %v", err)
	}
	if m.Data == nil || m.Data.Data == nil {
		return nil, corrupt("slice %s has no data", part.slice)
	}
	if m.Data.Name != rec.Name {
		return nil, corrupt("the slice's key is that of a slice of %q", m.Data.Name)
	}
	if m.Data.Slice != nil {
		s, err := v1Slice(m.Data.Slice, rec.Shape)
		if err != nil {
			return nil, corrupt("the slice under its key: %v", err)
		}
		if !equalSpans(spans(s, rec.Shape), spans(part.slice, rec.Shape)) {
			return nil, corrupt("the key of slice %s has slice %s", part.slice, s)
		}
	}
	shape, err := part.slice.Shape(rec.Shape)
	if err != nil {
		return nil, corrupt("%v", err)
	}
	out, err := tensorproto.Exact(m.Data.Data, rec.DType, shape)
	if err != nil {
		return nil, corrupt("slice %s: %v", part.slice, err)
	}
	return out, nil
}
