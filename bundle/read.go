package bundle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/tensor"
)

// A ReadRequest asks for one tensor, or a part of one.
type ReadRequest struct {
	Name string
	// Entry is the result of [Reader.Entry] for Name, which avoids another look-up.
	// If it is nil, or the read concerns slices or version 1, Name is looked up.
	// Otherwise the read uses Entry's type, shape and location, without the index.
	Entry *Entry
	// Handle is the result of [Reader.Find] for Name, which avoids a look-up too.
	// The zero value means none.
	Handle Handle
	Slice  *Slice         // nil: all of it
	Dst    *tensor.Tensor // destination; if nil, ReadAll allocates it and sets it here
}

// ReadAllOptions are the options for reading many tensors; nil means the
// defaults.
type ReadAllOptions struct {
	// Workers is how many goroutines read and check. Default GOMAXPROCS.
	Workers int
	// Progress is called now and then with the bytes read so far and the bytes
	// of all requests; calls don't overlap. Default nil.
	Progress func(done, total int64)
	// Whole are more tensors to read completely. Even very many of them take little
	// memory and time. Into returns their destinations. Default nil.
	Whole []Handle
	// Into calls fill with the destinations and returns its error. The destinations are
	// tensors of the types and shapes of those entries of Whole whose numbers are in
	// reads. Small adjacent tensors are requested together, by several goroutines; all
	// others at once and before them. It isn't called before all reads were checked
	// against the index. It must not be nil if Whole isn't empty.
	Into func(reads []int32, fill func(dst []*tensor.Tensor) error) error
}

// Read reads a whole tensor into new storage.
func (r *Reader) Read(ctx context.Context, name string) (*tensor.Tensor, error) {
	if a := r.ahead.Load(); a != nil && a.name == name && r.checkOpen() == nil && r.ahead.CompareAndSwap(a, nil) {
		return a.t, a.err
	}
	return r.read(ctx, name)
}

// read works like Read, for tensors that weren't read ahead.
func (r *Reader) read(ctx context.Context, name string) (*tensor.Tensor, error) {
	reqs := []ReadRequest{{Name: name}}
	err := r.ReadAll(ctx, reqs, nil)
	if err != nil {
		return nil, err
	}
	return reqs[0].Dst, nil
}

// ReadInto reads a whole tensor into dst, whose type and shape must be the
// entry's: a [MismatchError] otherwise. After an error dst may hold anything.
func (r *Reader) ReadInto(ctx context.Context, name string, dst *tensor.Tensor) error {
	if dst == nil {
		return fmt.Errorf("bundle: read tensor %q: the destination is a nil tensor", name)
	}
	return r.ReadAll(ctx, []ReadRequest{{Name: name, Dst: dst}}, nil)
}

// ReadSlice reads a part of a tensor into new storage. The tensor may be stored
// whole or in other slices, which together must cover the requested part.
func (r *Reader) ReadSlice(ctx context.Context, name string, s Slice) (*tensor.Tensor, error) {
	reqs := []ReadRequest{{Name: name, Slice: &s}}
	err := r.ReadAll(ctx, reqs, nil)
	if err != nil {
		return nil, err
	}
	return reqs[0].Dst, nil
}

// ReadAll reads many tensors in parallel, straight into their storage, and
// verifies their checksums. Names, types and shapes are checked before the
// first byte is read. The first error ends it; destinations may hold anything
// then. No two requests may have the same destination.
//
// For any part of a tensor all the stored pieces it touches are read, since a
// checksum covers a piece.
func (r *Reader) ReadAll(ctx context.Context, reqs []ReadRequest, opts *ReadAllOptions) error {
	if err := r.checkOpen(); err != nil {
		return err
	}
	if opts == nil {
		opts = &ReadAllOptions{}
	}
	if r.version == 1 {
		return r.readAllV1(ctx, reqs, opts)
	}
	br := newBlobReader(r, opts.Workers, opts.Progress)
	defer br.close()
	br.wholes = wholes{opts.Whole, opts.Into}
	whole, err := r.planWhole(ctx, br, opts.Whole)
	if err != nil {
		return err
	}
	br.total = whole.total
	if err := r.withWhole(opts, whole.other, reqs, func(reqs []ReadRequest) error { return r.readEach(ctx, br, reqs) }); err != nil {
		return err
	}
	br.blobs, br.whole = nil, whole.tasks
	return br.run(ctx)
}

// withWhole calls f with the requests, followed by those for some of the whole tensors.
func (r *Reader) withWhole(opts *ReadAllOptions, whole []int32, reqs []ReadRequest, f func(reqs []ReadRequest) error) error {
	if len(whole) == 0 {
		return f(reqs)
	}
	return opts.Into(whole, func(dst []*tensor.Tensor) error {
		more, err := r.requests(opts.Whole, whole, dst)
		if err != nil {
			return err
		}
		all := slices.Concat(reqs, more)
		defer func() { copy(reqs, all) }() // with the destinations that were made
		return f(all)
	})
}

// readEach reads the requested tensors. Only if all were read, it sets the destinations that it allocated.
func (r *Reader) readEach(ctx context.Context, br *blobReader, reqs []ReadRequest) error {
	plan, err := r.plan(ctx, br, reqs)
	if err != nil {
		return err
	}
	fresh, parts, need := plan.fresh, plan.parts, plan.need
	for i := range parts {
		for _, part := range parts[i].parts {
			if err := br.check(&blob{piece: part.piece(), owner: parts[i].rec.Name}); err != nil {
				return err
			}
		}
		if err := addUp(&need, parts[i].storage()); err != nil {
			return err
		}
	}
	if err := r.checkStorage(len(reqs), need, br.stored()); err != nil {
		return err
	}
	for i := range fresh {
		n := &fresh[i]
		var err error
		if n.t, err = allocate(n.blob.owner, n.blob.dtype, n.shape); err != nil {
			return err
		}
		n.blob.to(n.t)
	}
	for i := range parts {
		if err := parts[i].allocate(); err != nil {
			return err
		}
		for _, part := range parts[i].parts {
			br.add(parts[i].blob(r, part))
		}
	}
	if err := br.run(ctx); err != nil {
		return err
	}
	for _, n := range fresh {
		n.req.Dst = n.t
	}
	for i := range parts {
		parts[i].req.Dst = parts[i].dst
	}
	return nil
}

// checkStorage returns an error if n tensors take more bytes of new storage than one call may allocate.
func (r *Reader) checkStorage(n int, need, stored int64) error {
	if most := r.opts.maxRead(stored); need > most {
		return errUnsupported("%s: %d tensors take %d bytes of storage, of which %d are on the disk; the most is %d, ReaderOptions.MaxRead raises it", r.shown, n, need, stored, most)
	}
	return nil
}

// A checkedRead is a request that agrees with the index.
type checkedRead struct {
	req   *ReadRequest
	rec   *record
	want  []span       // the requested part
	shape tensor.Shape // of the requested part
	parts []*record    // the pieces to read: the record itself or those of slices
	dst   *tensor.Tensor

	v1Parts []int // in version 1: which of the record's slices
}

// agree returns an error unless a tensor can be read as requested. dtype and shape
// are those of the requested part.
func (r *Reader) agree(req *ReadRequest, dtype tensor.DType, shape tensor.Shape) error {
	if dtype == tensor.Variant && r.header.BigEndian {
		return errUnsupported("tensor %q: variants of a big-endian machine can't be read: their bytes are in an order that only their type knows", req.Name)
	}
	if d := req.Dst; d != nil && (d.DType() != dtype || !d.Shape().Equal(shape)) {
		return &MismatchError{Name: req.Name, Want: dtype, WantShape: shape.Clone(), Got: d.DType(), GotShape: d.Shape()}
	}
	return nil
}

// resolve checks a request against its entry.
func (r *Reader) resolve(ctx context.Context, req *ReadRequest, rec *record) (checkedRead, error) {
	p := checkedRead{req: req, rec: rec, shape: rec.Shape, dst: req.Dst}
	var s Slice
	if req.Slice != nil && rec.err == nil {
		s = *req.Slice
		shape, err := s.Shape(rec.Shape)
		if err != nil {
			return checkedRead{}, fmt.Errorf("tensor %q: %w", req.Name, err)
		}
		p.shape = shape
	}
	if rec.err != nil {
		return checkedRead{}, rec.err
	}
	if err := r.agree(req, rec.DType, p.shape); err != nil {
		return checkedRead{}, err
	}
	p.want = spans(s, rec.Shape)
	if len(rec.Slices) == 0 {
		p.parts = []*record{rec}
		p.v1Parts = []int{0}
		return p, nil
	}
	boxes := make([][]span, len(rec.Slices))
	for n, s := range rec.Slices {
		boxes[n] = spans(s, rec.Shape)
	}
	used, err := covering(ctx, p.want, boxes)
	if errors.Is(err, ErrIncomplete) {
		return p, fmt.Errorf("tensor %q: %w", rec.Name, err)
	}
	if ended := ctx.Err(); ended != nil {
		return checkedRead{}, ended
	}
	if err != nil {
		return checkedRead{}, &CorruptError{File: r.indexName(), Offset: rec.at, Name: rec.Name, What: err.Error()}
	}
	p.v1Parts = used
	if r.version == 2 {
		for _, n := range used {
			p.parts = append(p.parts, r.record(rec.parts[n]))
		}
	}
	return p, nil
}

// indexName returns the index file's name for errors.
func (r *Reader) indexName() string {
	if r.version == 1 {
		return r.shown
	}
	return IndexName(r.shown)
}

// stringMemory is the size of a string tensor's element without its bytes.
const stringMemory = 16

// storage returns how many bytes are to be allocated for the read.
func (p *checkedRead) storage() int64 {
	pieces := make([]piece, len(p.parts))
	for i, part := range p.parts {
		pieces[i] = part.piece()
	}
	return storage(p.rec.DType, p.shape, p.dst == nil, pieces...)
}

// storage returns the number of bytes to allocate for a read of shape from
// pieces; fresh means that the destination is allocated too.
func storage(d tensor.DType, shape tensor.Shape, fresh bool, pieces ...piece) int64 {
	width := int64(d.Size())
	var n int64
	switch {
	case width > 0 && fresh:
		n = min(volume(shape), math.MaxInt64/width) * width
	case width == 0: // a destination holds their headers only
		for _, p := range pieces {
			n += p.size + stringMemory*p.elems
		}
	}
	return n
}

// addUp adds n to the sum.
func addUp(sum *int64, n int64) error {
	if *sum += n; n < 0 || *sum < 0 {
		return errUnsupported("the tensors take more bytes than 64 bits can count")
	}
	return nil
}

// allocate creates the destination if the caller has none.
func (p *checkedRead) allocate() (err error) {
	if p.dst == nil {
		p.dst, err = allocate(p.rec.Name, p.rec.DType, p.shape)
	}
	return err
}

// allocate returns a new tensor for the values of the one called name.
func allocate(name string, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	if size := int64(d.Size()); size > 0 && volume(shape) > math.MaxInt/size {
		return nil, errUnsupported("tensor %q: %v%v is more than this platform can hold", name, d, shape)
	}
	t, err := tensor.Zeros(d, shape...)
	if err != nil {
		return nil, fmt.Errorf("bundle: tensor %q: %w", name, err)
	}
	return t, nil
}

// to makes dst the place of a whole tensor.
func (b *blob) to(dst *tensor.Tensor) {
	if b.dtype.Size() > 0 {
		b.dst = dst.Bytes()
	} else {
		b.sink = &sink{strs: dst.Strings()}
	}
}

// blob returns the reading of one stored piece.
func (p *checkedRead) blob(r *Reader, part *record) *blob {
	b := &blob{piece: part.piece(), owner: p.rec.Name, fix: r.fixer(part.DType)}
	from := p.want
	switch {
	case part.slice != nil:
		from = spans(*part.slice, p.rec.Shape)
	case p.req.Slice != nil:
		from = spans(Slice{}, p.rec.Shape)
	}
	same := equalSpans(from, p.want)
	width := int64(part.DType.Size())
	switch {
	case same:
		b.to(p.dst)
	case width == 0:
		strs, to := make([]string, part.elems), p.dst.Strings()
		b.sink = &sink{strs: strs, after: func() {
			newScatter(from, p.want).runs(0, part.elems, func(src, dst, n int64) {
				copy(to[dst:dst+n], strs[src:src+n])
			})
		}}
	default:
		to, m := p.dst.Bytes(), newScatter(from, p.want)
		b.sink = &sink{scatter: func(buf []byte, at int64) {
			m.runs(at/width, int64(len(buf))/width, func(src, dst, n int64) {
				src -= at / width
				copy(to[dst*width:(dst+n)*width], buf[src*width:(src+n)*width])
			})
		}}
	}
	return b
}

func equalSpans(a, b []span) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// fixer returns the function that corrects elements after their checksum was
// computed, or nil if none is needed. It swaps the byte order, drops bits that
// a narrow type doesn't use, and refuses bytes that aren't bools.
func (r *Reader) fixer(d tensor.DType) func([]byte) error {
	if width := d.Swap(); width > 1 {
		if r.header.BigEndian == hostBig {
			return nil
		}
		return func(b []byte) error {
			swapBytes(b, width)
			return nil
		}
	}
	if d == tensor.Bool {
		return func(b []byte) error {
			for _, v := range b {
				if v > 1 {
					return errors.New("an element of a bool tensor is neither 0 nor 1")
				}
			}
			return nil
		}
	}
	if mask := narrowMask(d); mask != 0 {
		return func(b []byte) error {
			for i := range b {
				b[i] &= mask
			}
			return nil
		}
	}
	return nil
}

// VerifyOptions are the options of a verification; nil means the defaults.
type VerifyOptions struct {
	// Workers is how many goroutines read and check. Default GOMAXPROCS.
	Workers int
	// Progress is called now and then with the bytes read so far and all bytes;
	// calls don't overlap. Default nil.
	Progress func(done, total int64)
	// MaxErrors is how many faults are listed; the others are counted. Default 100.
	MaxErrors int
}

// Verify reads everything and checks every checksum and size, and that slices
// don't overlap. They need not cover their tensors: a checkpoint
// may be part of one that is still to be merged. Nothing is kept, so that memory stays small. The error
// joins the faults (errors.Join), sorted by the tensors' names, each a
// [CorruptError] if a file is at fault.
func (r *Reader) Verify(ctx context.Context, opts *VerifyOptions) error {
	if err := r.checkOpen(); err != nil {
		return err
	}
	if opts == nil {
		opts = &VerifyOptions{}
	}
	limit := opts.MaxErrors
	if limit <= 0 {
		limit = 100
	}
	br := newBlobReader(r, opts.Workers, opts.Progress)
	defer br.close()
	br.keepGoing = true
	var err error
	if r.version == 1 {
		err = br.verifyV1(ctx)
	} else {
		err = br.verify(ctx)
	}
	if err != nil {
		return err
	}
	return br.faults(limit)
}

// verifyBatch is how many entries are read at a time, so that a checkpoint of
// millions isn't laid out in memory as a whole.
const verifyBatch = 1 << 14

// verify reads a version 2 checkpoint in the order of its bytes and notes the
// faults.
func (br *blobReader) verify(ctx context.Context) error {
	r := br.r
	skip := make(map[int]bool) // tensors in slices that don't fit together
	for i := range r.index.sliced {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec := r.record(i)
		if err := r.fits(ctx, rec); err != nil {
			br.fail(rec.Name, err)
			skip[i] = true
		}
	}
	order := r.index.order
	for _, i := range order {
		br.total += r.index.at(int(i)).size
	}
	for len(order) > 0 {
		n := min(len(order), verifyBatch)
		br.blobs = br.blobs[:0]
		for _, i := range order[:n] {
			owner, part := r.index.owners[int(i)]
			if part && skip[int(owner.owner)] {
				continue
			}
			rec := r.record(int(i))
			name := r.ownerOf(rec)
			b := &blob{piece: rec.piece(), owner: name}
			err := rec.err
			if err == nil {
				err = br.check(b)
			}
			if err != nil {
				br.fail(name, err)
				continue
			}
			if rec.DType == tensor.Bool {
				b.fix = r.fixer(rec.DType)
			}
			br.blobs = append(br.blobs, b)
		}
		if err := br.run(ctx); err != nil {
			return err
		}
		order = order[n:]
	}
	return nil
}

// verifyV1 works like verify, for version 1.
func (br *blobReader) verifyV1(ctx context.Context) error {
	br.tables = &v1Tables{r: br.r}
	defer br.tables.close()
	for i := range br.r.recs {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec := &br.r.recs[i]
		if err := br.r.fits(ctx, rec); err != nil {
			br.fail(rec.Name, err)
			continue
		}
		br.addV1(rec)
	}
	return br.run(ctx)
}

// fits returns an error if the element type can't be read, or if slices overlap. Other
// obstacles to a read, such as missing slices, are no errors here.
func (r *Reader) fits(ctx context.Context, rec *record) error {
	if rec.err != nil {
		return rec.err
	}
	_, err := r.resolve(ctx, &ReadRequest{Name: rec.Name}, rec)
	var corrupt *CorruptError
	if errors.As(err, &corrupt) {
		return err
	}
	return nil
}
