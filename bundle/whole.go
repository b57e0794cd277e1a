package bundle

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/internal/cores"
	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/internal/scratch"
	"github.com/cairnml/cairn/tensor"
)

// wholes are the reads of ReadAllOptions.Whole and Into. Very many of them take little
// memory and time.
type wholes struct {
	handles []Handle
	into    func(reads []int32, fill func(dst []*tensor.Tensor) error) error
}

// requests returns the requests for the handles with the numbers in reads, with their destinations.
func (r *Reader) requests(handles []Handle, reads []int32, dst []*tensor.Tensor) ([]ReadRequest, error) {
	reqs := make([]ReadRequest, len(reads))
	for i, n := range reads {
		reqs[i] = r.Request(handles[n])
		if reqs[i].Dst = dst[i]; dst[i] == nil {
			return nil, noPlaceFor(reqs[i].Name)
		}
	}
	return reqs, nil
}

func noPlaceFor(name string) error {
	return fmt.Errorf("bundle: read tensor %q: the destination is a nil tensor", name)
}

// checkHandle returns an error unless the handle can be one of r's.
func (r *Reader) checkHandle(h Handle) error {
	if !r.has(h) {
		return fmt.Errorf("bundle: the handle of a read of a whole tensor isn't of %s", r.shown)
	}
	return nil
}

// wholePlan is the plan for reads of whole tensors. Reads are identified by their
// numbers.
type wholePlan struct {
	small []int32 // tensors to be read in rows
	other []int32 // all others
	total int64   // the bytes of the small ones
	err   error

	tasks       []task // tasks that read the small ones, as long as they are in order
	first, last int32  // the ranks of the first and the last one in tasks; -1: there is none
	mixed       bool   // they aren't in the order of their bytes
}

// rowBytes is the maximum number of bytes of small tensors that are read at once. Most of the time goes
// into waiting for their variables' memory, and in long rows the processor fetches that ahead. It may change.
const rowBytes = 1 << 20

// add adds the last of p.small to the tasks. Its entry has the number entry.
func (p *wholePlan) add(x *index, entry int) {
	rank, at := x.rank[entry], &x.at(entry).place
	p.total += at.size
	if p.mixed = p.mixed || rank < p.last; p.mixed {
		return
	}
	if p.last = rank; p.first < 0 {
		p.first = rank
	}
	last, end := len(p.small)-1, at.off+at.size
	if n := len(p.tasks); n > 0 {
		t := &p.tasks[n-1]
		if t.shard == int(at.shard) && at.off-t.to <= gap && end-t.from <= rowBytes {
			t.whole = p.small[last-len(t.whole):]
			t.to = max(t.to, end)
			return
		}
	}
	p.tasks = append(p.tasks, task{whole: p.small[last:], from: at.off, to: end, shard: int(at.shard)})
}

// planWhole checks reads of whole tensors against the index and the data files. The
// error is that of the first one that can't be met.
func (r *Reader) planWhole(ctx context.Context, br *blobReader, handles []Handle) (wholePlan, error) {
	plans := make([]wholePlan, max(1, min(br.workers, len(handles)/planBatch)))
	small := make([]int32, len(handles))
	part := func(i int) {
		from, to := i*len(handles)/len(plans), (i+1)*len(handles)/len(plans)
		p := wholePlan{small: small[from:from:to]} // in no cache line of another worker's
		p.err = r.planWholeBatch(ctx, br, &p, handles, from, to)
		plans[i] = p
	}
	cores.Each(len(plans), part)
	all := wholePlan{first: -1, last: -1}
	for i := range plans {
		p := &plans[i]
		if p.err != nil {
			return all, p.err
		}
		all.other = append(all.other, p.other...)
		all.total += p.total
		all.mixed = all.mixed || p.mixed || p.first >= 0 && p.first < all.last
		all.last = max(all.last, p.last)
		all.tasks = append(all.tasks, p.tasks...)
	}
	if !all.mixed {
		return all, nil
	}
	list := make([]int32, 0, len(handles)-len(all.other))
	for i := range plans {
		list = append(list, plans[i].small...)
	}
	slices.SortFunc(list, func(a, b int32) int {
		return cmp.Compare(r.index.rank[handles[a].entry()], r.index.rank[handles[b].entry()])
	})
	again := wholePlan{first: -1, last: -1}
	for i, n := range list {
		again.small = list[:i+1]
		again.add(&r.index, handles[n].entry())
	}
	all.tasks = again.tasks
	return all, nil
}

// planWholeBatch plans the reads from one number on to another.
func (r *Reader) planWholeBatch(ctx context.Context, br *blobReader, plan *wholePlan, handles []Handle, from, to int) error {
	plan.first, plan.last = -1, -1
	shard, size := int32(-1), int64(0)
	for i := from; i < to; i++ {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.checkHandle(handles[i]); err != nil {
			return err
		}
		at := handles[i].entry()
		p := r.index.placeOf(at)
		if p == nil || p.kind == 0 || p.size > small || !r.index.kinds.numbered(p.kind).dtype.Fixed() {
			plan.other = append(plan.other, int32(i))
			continue
		}
		if p.shard != shard || p.off+p.size > size {
			if err := br.check(&blob{piece: p.piece(r.index.kinds.numbered(p.kind)), owner: r.index.key(at)}); err != nil {
				return err
			}
			br.mu.Lock()
			shard, size = p.shard, br.sources[int(p.shard)].size
			br.mu.Unlock()
		}
		plan.small = append(plan.small, int32(i))
		plan.add(&r.index, at)
	}
	return nil
}

// uncached is the number of bytes of all small tensors from which on they are written past the
// processor's caches, because these can't hold them. It may change.
const uncached = 32 << 20

// wholeRow reads small adjacent tensors.
func (br *blobReader) wholeRow(src *source, t task, dst []*tensor.Tensor, buf *[]byte) error {
	x, handles := &br.r.index, br.wholes.handles
	for i, n := range t.whole {
		at := handles[n].entry()
		if dst[i] == nil {
			return noPlaceFor(x.key(at))
		}
		if k := x.kinds.numbered(handles[n].kind); dst[i].DType() != k.dtype || !dst[i].Shape().Equal(k.shape) {
			return br.r.agree(&ReadRequest{Name: x.key(at), Dst: dst[i]}, k.dtype, k.shape)
		}
	}
	var all []byte
	if len(t.whole) == 1 {
		all = dst[0].Bytes()
	} else {
		all = scratch.Of(buf, int(t.to-t.from))
	}
	if err := readAt(src, all, t.from, x.key(handles[t.whole[0]].entry())); err != nil {
		return err
	}
	defer crc32c.Fence()
	var last *kind
	var fix func([]byte) error
	sum := int64(0)
	for i, n := range t.whole {
		at := handles[n].entry()
		p := x.placeOf(at)
		if k := x.kinds.numbered(p.kind); k != last {
			last, fix = k, br.r.fixer(k.dtype)
		}
		part, to := all[p.off-t.from:][:p.size], dst[i].Bytes()
		var crc uint32
		switch {
		case len(t.whole) == 1:
			crc = crc32c.Value(part)
		case br.total >= uncached:
			crc = crc32c.CopyPast(to, part)
		default:
			crc = crc32c.Value(part)
			copy(to, part)
		}
		if crc != p.crc {
			return wrongChecksum(src, p.piece(last), x.key(at), crc)
		}
		if fix != nil {
			if err := br.mend(src, &blob{piece: p.piece(last), owner: x.key(at), fix: fix}, to); err != nil {
				return err
			}
		}
		sum += p.size
	}
	br.finish(sum)
	return nil
}
