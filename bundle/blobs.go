package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/internal/cores"
	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/internal/scratch"
	"github.com/cairnml/cairn/tensor"
)

const (
	// The first three numbers are in bytes. All four are ours and may change: they decide the speed and
	// the number of open files, not the results.

	// chunk is the length of a read of a large piece. A chunk's checksum is taken while it is still in
	// the cache. It must stay a multiple of every element's size.
	chunk = 256 << 10
	// small is the maximum length of adjacent pieces that are read together.
	small = 128 << 10
	// gap is the maximum number of bytes between two of these pieces.
	gap = 4 << 10
	// handles is the number of open data files from which on a call, or a Writer, closes
	// those that no worker is reading.
	handles = 64
)

// A piece is a tensor or a slice as stored in a data file.
type piece struct {
	off, size int64 // bytes, in the data file
	elems     int64 // the number of elements
	dtype     tensor.DType
	shard     int32
	crc       uint32 // CRC-32C of the bytes, not masked
}

// piece returns the piece that a record describes.
func (rec *record) piece() piece {
	return piece{off: rec.Offset, size: rec.Size, elems: rec.elems, dtype: rec.DType, shard: int32(rec.Shard), crc: rec.CRC}
}

// A blob is a stored piece being read, and its destination. Without a destination the
// piece is only checked. A restore has one for each variable, so
// rarely used fields are in a separate struct.
type blob struct {
	piece
	owner string             // the tensor's name
	dst   []byte             // its place, bytes in order; nil: see sink
	fix   func([]byte) error // changes or refuses bytes whose checksum was taken, a chunk at a time; nil: nothing to do
	*sink
}

// A sink receives the bytes of a piece that isn't copied to one place in order,
// and records the progress of a large piece. At most one of scatter, strs, copy
// and v1 is set.
type sink struct {
	scatter func(buf []byte, at int64) // takes the bytes at that offset in the piece
	strs    []string                   // destination of strings or variants
	after   func()                     // called once all is there and right
	copy    io.Writer                  // gets the bytes of a piece that is only checked, in order
	v1      *v1Piece                   // of a checkpoint of version 1
	crcs    []uint32                   // of the chunks
	left    atomic.Int64               // chunks to be read
}

// A blobReader reads blobs in parallel. ReadAll, Verify and Pieces make one for a call; a Writer has one for
// all copies from the same Reader. A checksum covers a whole piece, so bytes are handed on before it is known:
// after an error destinations may hold anything.
type blobReader struct {
	r         *Reader
	tables    *v1Tables // in version 1
	workers   int
	progress  func(done, total int64)
	keepGoing bool // collect errors instead of stopping at the first

	blobs     []*blob
	wholes    wholes
	whole     []task // more tasks, besides those of blobs: the small tensors of wholes
	rowSize   int64  // the result of rows
	total     int64  // bytes of all blobs
	done      atomic.Int64
	reporting sync.Mutex // held by the caller of progress

	mu      sync.Mutex
	sources map[int]*openShard // the data files, by number
	open    int                // how many of sources are open
	errs    []nameError        // those collected if keepGoing
	stop    atomic.Bool
}

type nameError struct {
	name string
	err  error
}

// openShard is a data file during a call; its size is known even while it is
// not open.
type openShard struct {
	size   int64
	stored int64 // bytes stored on disk
	src    *source
	err    error
	uses   int // workers that are reading it
}

func newBlobReader(r *Reader, workers int, progress func(done, total int64)) *blobReader {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return &blobReader{r: r, workers: workers, progress: progress, sources: make(map[int]*openShard)}
}

func (br *blobReader) close() {
	for _, s := range br.sources {
		if s.src != nil {
			s.src.close()
			s.src = nil
		}
	}
}

// fail notes an error.
func (br *blobReader) fail(name string, err error) {
	br.mu.Lock()
	defer br.mu.Unlock()
	br.errs = append(br.errs, nameError{name, err})
	if !br.keepGoing {
		br.stop.Store(true)
	}
}

// faults joins the errors that were noted, sorted by name. It lists at most limit of them, each text once, and
// counts the other texts.
func (br *blobReader) faults(limit int) error {
	slices.SortStableFunc(br.errs, func(a, b nameError) int { return cmp.Compare(a.name, b.name) })
	var errs []error
	seen := map[string]bool{} // a file that can't be opened is one fault, not one a tensor
	for _, n := range br.errs {
		s := n.err.Error()
		if !seen[s] && len(errs) < limit {
			errs = append(errs, n.err)
		}
		seen[s] = true
	}
	if more := len(seen) - len(errs); more > 0 {
		errs = append(errs, fmt.Errorf("bundle: %d more faults", more))
	}
	return errors.Join(errs...)
}

// openError adds the name of the file that can't be opened, once.
func openError(shown string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("bundle: open %s: %w", shown, err)
}

func (br *blobReader) add(b *blob) {
	br.blobs = append(br.blobs, b)
	br.total += b.size
}

// shard opens a data file and holds it until release.
func (br *blobReader) shard(n int) (*source, error) {
	br.mu.Lock()
	defer br.mu.Unlock()
	s := br.sources[n]
	if s == nil {
		s = &openShard{}
		br.sources[n] = s
	}
	if s.src == nil && s.err == nil {
		if br.open >= handles {
			for _, o := range br.sources {
				if o.src != nil && o.uses == 0 {
					o.src.close()
					o.src = nil
					br.open--
				}
			}
		}
		name, shown := br.r.dataName(n)
		s.src, s.err = openSource(br.r.fsys, name)
		switch {
		case errors.Is(s.err, fs.ErrNotExist):
			s.err = &CorruptError{File: shown, Offset: -1, What: "the data file is missing", Err: s.err}
		case s.err != nil:
			s.err = openError(shown, s.err)
		default:
			s.src.name, s.size, s.stored = shown, s.src.size, s.src.stored
			br.open++
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	s.uses++
	return s.src, nil
}

// stored returns the number of bytes on disk of the data files used so far.
func (br *blobReader) stored() int64 {
	br.mu.Lock()
	defer br.mu.Unlock()
	var n int64
	for _, s := range br.sources {
		n += s.stored
	}
	return n
}

func (br *blobReader) release(n int) {
	br.mu.Lock()
	br.sources[n].uses--
	br.mu.Unlock()
}

// check returns an error unless a piece is inside its data file.
func (br *blobReader) check(b *blob) error {
	src, err := br.shard(int(b.shard))
	if err != nil {
		var c *CorruptError
		if errors.As(err, &c) {
			named := *c
			named.Name = b.owner
			return &named
		}
		return err
	}
	defer br.release(int(b.shard))
	if b.off+b.size > src.size {
		return src.explain(&CorruptError{File: src.name, Offset: src.size, Name: b.owner, What: fmt.Sprintf("the file ends here, the tensor's %d bytes begin at %d", b.size, b.off)})
	}
	return nil
}

// checkAll works like check, for many pieces, most of which are in the data file
// of the previous one.
func (br *blobReader) checkAll(blobs []*blob) error {
	shard, size := int32(-1), int64(0)
	for _, b := range blobs {
		if b.shard == shard && b.off+b.size <= size {
			continue
		}
		if err := br.check(b); err != nil {
			return err
		}
		br.mu.Lock()
		shard, size = b.shard, br.sources[int(b.shard)].size
		br.mu.Unlock()
	}
	return nil
}

// ownerOf returns the name of the tensor that a record belongs to.
func (r *Reader) ownerOf(rec *record) string {
	if rec.slice != nil {
		if name, _, err := parseSliceKey(rec.Name); err == nil {
			return name
		}
	}
	return rec.Name
}

// A task is a worker's unit of work: a row of small pieces, one chunk of a
// large one, or a piece that must be read from its beginning.
type task struct {
	blobs []*blob
	chunk int // the number of the chunk of the only blob; -1 for a row; in version 1 the block of all blobs

	// Instead of blobs: small tensors, as numbers in wholes.handles, whose bytes are read at once.
	whole    []int32
	from, to int64 // their bytes in the data file shard
	shard    int
}

// tasks divides the blobs; the list is in the order of the data files.
func (br *blobReader) tasks() []task {
	byPlace := func(a, b *blob) int {
		return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.off, b.off))
	}
	if !slices.IsSortedFunc(br.blobs, byPlace) {
		slices.SortStableFunc(br.blobs, byPlace)
	}
	var out []task
	br.rowSize = br.rows()
	for i := 0; i < len(br.blobs); {
		b := br.blobs[i]
		switch {
		case !b.chunked():
			out = append(out, task{blobs: br.blobs[i : i+1]})
			i++
		case b.size > small:
			n := int((b.size + chunk - 1) / chunk)
			if b.sink == nil {
				b.sink = new(sink)
			}
			b.crcs = make([]uint32, n)
			b.left.Store(int64(n))
			for k := range n {
				out = append(out, task{blobs: br.blobs[i : i+1], chunk: k})
			}
			i++
		default:
			j, start, end := i+1, b.off, b.off+b.size
			for ; j < len(br.blobs); j++ {
				n := br.blobs[j]
				if !n.chunked() || n.size > small || n.shard != b.shard || n.off-end > gap || n.off+n.size-start > br.rowSize {
					break
				}
				end = max(end, n.off+n.size)
			}
			out = append(out, task{blobs: br.blobs[i:j], chunk: -1})
			i = j
		}
	}
	return out
}

// rows returns the maximum number of bytes of small pieces that are read at once. The buffer for them is
// needed in addition to the destinations, so it is small compared to all pieces. The numbers may change.
func (br *blobReader) rows() int64 {
	const least = 16 << 10
	total := int64(0)
	for _, b := range br.blobs {
		total += b.size
	}
	return max(least, min(total/64, small), min(total/512, chunk))
}

// chunked reports whether a piece can be read in any order.
func (b *blob) chunked() bool {
	return (b.sink == nil || b.v1 == nil && b.copy == nil) && b.dtype.Fixed()
}

// run reads all blobs. It returns the first error, in no particular order if
// several pieces are faulty; with keepGoing, only the context's error.
func (br *blobReader) run(ctx context.Context) error {
	var tasks []task
	if br.tables != nil {
		tasks = br.tasksV1(ctx)
	} else {
		tasks = append(br.tasks(), br.whole...)
	}
	workers := min(br.workers, len(tasks))
	for _, s := range br.sources {
		if s.src != nil && !s.src.parallel {
			workers = min(workers, 1) // reading in order spares reading again
		}
	}
	var next atomic.Int64
	work := func(int) {
		buf := buffers.Get()
		defer buffers.Put(buf)
		for !br.stop.Load() {
			i := int(next.Add(1)) - 1
			if i >= len(tasks) {
				return
			}
			if err := ctx.Err(); err != nil {
				br.stop.Store(true)
				return
			}
			br.do(ctx, tasks[i], buf)
		}
	}
	cores.Each(workers, work)
	if err := ctx.Err(); err != nil {
		return err
	}
	if br.keepGoing || len(br.errs) == 0 {
		br.report(true)
		return nil
	}
	return br.errs[0].err
}

// report calls progress, which is never called twice at a time. If another worker is calling it, only the last
// report waits.
func (br *blobReader) report(last bool) {
	if br.progress == nil {
		return
	}
	if last {
		br.reporting.Lock()
	} else if !br.reporting.TryLock() {
		return
	}
	br.progress(br.done.Load(), br.total)
	br.reporting.Unlock()
}

// do reads the blobs of a task and collects its errors. buf is the worker's memory.
func (br *blobReader) do(ctx context.Context, t task, buf *[]byte) {
	if len(t.whole) > 0 {
		src, err := br.shard(t.shard)
		if err == nil {
			defer br.release(t.shard)
			err = br.wholes.into(t.whole, func(dst []*tensor.Tensor) error { return br.wholeRow(src, t, dst, buf) })
		}
		if err != nil {
			br.fail(br.r.index.key(br.wholes.handles[t.whole[0]].entry()), err)
		}
		return
	}
	first := t.blobs[0]
	if first.sink != nil && first.v1 != nil {
		br.blockV1(ctx, t)
		return
	}
	src, err := br.shard(int(first.shard))
	if err != nil {
		br.fail(first.owner, err)
		return
	}
	defer br.release(int(first.shard))
	switch {
	case !first.chunked():
		br.sequential(ctx, src, first)
	case t.chunk < 0:
		br.row(src, t.blobs, buf)
	default:
		br.piece(src, first, t.chunk, buf)
	}
}

// whileRunning reads a file until a context ends.
type whileRunning struct {
	io.ReaderAt
	ctx context.Context
}

func (w whileRunning) ReadAt(p []byte, off int64) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.ReaderAt.ReadAt(p, off)
}

func (br *blobReader) finish(n int64) {
	br.done.Add(n)
	br.report(false)
}

// buffers are for reads that don't go directly to their destination.
var buffers scratch.Pool[byte]

// readAt fills p, or returns an error that describes the file's fault.
func readAt(src *source, p []byte, off int64, name string) error {
	n, err := src.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return &CorruptError{File: src.name, Offset: off + int64(n), Name: name, What: fmt.Sprintf("the file ends here, %d bytes too early", len(p)-n)}
	}
	return fmt.Errorf("bundle: read %s: %w", src.name, err)
}

// row reads adjacent small pieces.
func (br *blobReader) row(src *source, blobs []*blob, buf *[]byte) {
	start := blobs[0].off
	end := start
	for _, b := range blobs {
		end = max(end, b.off+b.size)
	}
	if len(blobs) == 1 && blobs[0].dst != nil {
		b := blobs[0]
		if err := readAt(src, b.dst, start, b.owner); err != nil {
			br.fail(b.owner, err)
			return
		}
		br.settle(src, b, b.dst, crc32c.Value(b.dst))
		br.finish(b.size)
		return
	}
	all := scratch.Of(buf, int(max(end-start, br.rowSize)))[:end-start] // enough for all rows
	if err := readAt(src, all, start, blobs[0].owner); err != nil {
		if br.keepGoing && len(blobs) > 1 {
			for i := range blobs { // the others may be readable
				br.row(src, blobs[i:i+1], buf)
			}
			return
		}
		br.fail(blobs[0].owner, err)
		return
	}
	for _, b := range blobs {
		part := all[b.off-start:][:b.size]
		if b.dst != nil {
			part = b.dst[:copy(b.dst, part)]
		} else if b.fix != nil && len(blobs) > 1 {
			part = append([]byte(nil), part...) // another piece may be read from the same bytes
		}
		br.settle(src, b, part, crc32c.Value(part))
	}
	br.finish(end - start)
}

// settle checks the checksum of a whole piece that was read at once and hands
// its bytes on.
func (br *blobReader) settle(src *source, b *blob, part []byte, crc uint32) {
	if !br.checkSum(src, b, crc) {
		return
	}
	if err := br.mend(src, b, part); err != nil {
		br.fail(b.owner, err)
		return
	}
	if b.sink != nil && b.scatter != nil {
		b.scatter(part, 0)
	}
}

func (br *blobReader) checkSum(src *source, b *blob, crc uint32) bool {
	if crc == b.crc {
		return true
	}
	br.fail(b.owner, wrongChecksum(src, b.piece, b.owner, crc))
	return false
}

func wrongChecksum(src *source, p piece, name string, crc uint32) error {
	return &CorruptError{File: src.name, Offset: p.off, Name: name, What: fmt.Sprintf("the checksum of its %d bytes is %08x, stored is %08x", p.size, crc, p.crc)}
}

// mend calls fix on the bytes of a piece.
func (br *blobReader) mend(src *source, b *blob, part []byte) error {
	if b.fix == nil {
		return nil
	}
	if err := b.fix(part); err != nil {
		return &CorruptError{File: src.name, Offset: b.off, Name: b.owner, What: err.Error()}
	}
	return nil
}

// piece reads one chunk of a large piece. Its bytes are handed on before the
// piece's checksum is known, since they can't be kept.
func (br *blobReader) piece(src *source, b *blob, k int, buf *[]byte) {
	at := int64(k) * chunk
	n := min(b.size-at, chunk)
	var p []byte
	if b.dst != nil {
		p = b.dst[at : at+n]
	} else {
		p = scratch.Of(buf, int(n))
	}
	if err := readAt(src, p, b.off+at, b.owner); err != nil {
		br.fail(b.owner, err)
		return
	}
	b.crcs[k] = crc32c.Value(p)
	if err := br.mend(src, b, p); err != nil {
		br.fail(b.owner, err)
		return
	}
	if b.scatter != nil {
		b.scatter(p, at)
	}
	br.finish(n)
	if b.left.Add(-1) > 0 {
		return
	}
	var crc uint32
	for i, c := range b.crcs {
		crc = crc32c.Combine(crc, c, min(b.size-int64(i)*chunk, chunk))
	}
	br.checkSum(src, b, crc)
}

// sequential reads a piece from its beginning: strings, variants, and copies.
func (br *blobReader) sequential(ctx context.Context, src *source, b *blob) {
	big := br.r.header.BigEndian
	var crc uint32
	var err error
	to := b.sink
	if to == nil {
		to = new(sink)
	}
	switch b.dtype {
	case tensor.String:
		crc, err = readStrings(whileRunning{src, ctx}, b.off, b.size, b.elems, big, to.strs, to.copy)
	case tensor.Variant:
		crc, err = readVariants(whileRunning{src, ctx}, b.off, b.size, b.elems, big, to.strs, to.copy)
	default:
		crc, err = copyFixed(ctx, src, b.off, b.size, b.owner, to.copy)
	}
	var f *fieldError
	switch {
	case errors.As(err, &f):
		br.fail(b.owner, &CorruptError{File: src.name, Offset: f.offset, Name: b.owner, What: f.what})
		return
	case err != nil:
		br.fail(b.owner, err)
		return
	}
	if !br.checkSum(src, b, crc) {
		return
	}
	if to.after != nil {
		to.after()
	}
	br.finish(b.size)
}

// copyFixed copies elements of fixed size and returns their checksum.
func copyFixed(ctx context.Context, src *source, off, size int64, name string, w io.Writer) (crc uint32, err error) {
	buf := make([]byte, min(chunk, size))
	for size > 0 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		b := buf[:min(int64(len(buf)), size)]
		if err := readAt(src, b, off, name); err != nil {
			return 0, err
		}
		crc = crc32c.Extend(crc, b)
		if _, err := w.Write(b); err != nil {
			return 0, err
		}
		off += int64(len(b))
		size -= int64(len(b))
	}
	return crc, nil
}
