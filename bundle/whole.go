package bundle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/tensor"
)

// A WholeRead asks for all of a tensor that was found, for a place that is there
// already. Very many of them take little memory and time.
type WholeRead struct {
	Handle Handle
	Dst    *tensor.Tensor // of the entry's type and shape
}

// asRequests returns the reads as requests.
func (r *Reader) asRequests(reads []WholeRead) ([]ReadRequest, error) {
	reqs := make([]ReadRequest, len(reads))
	for i, w := range reads {
		if err := r.checkWhole(w); err != nil {
			return nil, err
		}
		reqs[i] = r.Request(w.Handle)
		reqs[i].Dst = w.Dst
	}
	return reqs, nil
}

// checkWhole returns an error about a read that r can't know.
func (r *Reader) checkWhole(w WholeRead) error {
	switch {
	case !w.Handle.Valid() || w.Handle.of != r.number:
		return fmt.Errorf("bundle: the handle of a read of a whole tensor isn't of %s", r.shown)
	case w.Dst == nil:
		return fmt.Errorf("bundle: tensor %q is to be read into a nil tensor", r.Request(w.Handle).Name)
	}
	return nil
}

// wholePlan is what reads of whole tensors come to.
type wholePlan struct {
	small []WholeRead // tensors to be read in rows
	other []WholeRead // all else
	total int64       // the bytes of the small ones
	err   error

	tasks       []task // what reads the small ones, as long as they are in order
	first, last int32  // the ranks of the first and the last one in tasks; -1: there is none
	mixed       bool   // they aren't in the order of their bytes
}

// add adds a small tensor, number i of reads.
func (p *wholePlan) add(x *index, reads []WholeRead, i int) {
	entry := reads[i].Handle.entry()
	rank, at := x.rank[entry], &x.at(entry).place
	p.total += at.size
	if p.mixed = p.mixed || rank < p.last; p.mixed {
		return
	}
	if p.last = rank; p.first < 0 {
		p.first = rank
	}
	end := at.off + at.size
	if n := len(p.tasks); n > 0 {
		t := &p.tasks[n-1]
		follows := len(t.whole) < cap(t.whole) && &t.whole[:cap(t.whole)][len(t.whole)] == &reads[i]
		if follows && t.shard == int(at.shard) && at.off-t.to <= gap && end-t.from <= chunk {
			t.whole = t.whole[:len(t.whole)+1]
			t.to = max(t.to, end)
			return
		}
	}
	p.tasks = append(p.tasks, task{whole: reads[i : i+1], from: at.off, to: end, shard: int(at.shard)})
}

// planWhole checks reads of whole tensors against the index and the data files. The
// error is that of the first one that can't be met.
func (r *Reader) planWhole(ctx context.Context, br *blobReader, reads []WholeRead) (wholePlan, error) {
	plans := make([]wholePlan, max(1, min(br.workers, len(reads)/planBatch)))
	part := func(i int) {
		p := &plans[i]
		from, to := i*len(reads)/len(plans), (i+1)*len(reads)/len(plans)
		p.err = r.planWholeBatch(ctx, br, p, reads[from:to])
	}
	var wg sync.WaitGroup
	for i := 1; i < len(plans); i++ {
		wg.Go(func() { part(i) })
	}
	part(0)
	wg.Wait()
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
	list := make([]WholeRead, 0, len(reads)-len(all.other))
	for i := range plans {
		list = append(list, plans[i].small...)
	}
	slices.SortFunc(list, func(a, b WholeRead) int {
		return cmp.Compare(r.index.rank[a.Handle.entry()], r.index.rank[b.Handle.entry()])
	})
	again := wholePlan{first: -1, last: -1}
	for i := range list {
		again.add(&r.index, list, i)
	}
	all.tasks = again.tasks
	return all, nil
}

// planWholeBatch plans some of the reads. As long as all are small it makes no list.
func (r *Reader) planWholeBatch(ctx context.Context, br *blobReader, plan *wholePlan, reads []WholeRead) error {
	plan.first, plan.last = -1, -1
	shard, size := int32(-1), int64(0)
	for i, w := range reads {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := w.Handle.entry()
		if err := r.checkWhole(w); err != nil {
			return err
		}
		p := r.index.placeOf(at)
		if p == nil || p.kind == 0 || p.size > small || !w.Dst.DType().Fixed() {
			if len(plan.other) == 0 {
				plan.small = append(make([]WholeRead, 0, len(reads)), reads[:i]...)
			}
			plan.other = append(plan.other, w)
			continue
		}
		k := r.index.kinds.numbered(p.kind)
		if w.Dst.DType() != k.dtype || !w.Dst.Shape().Equal(k.shape) {
			return r.agree(&ReadRequest{Name: r.index.key(at), Dst: w.Dst}, k.dtype, k.shape)
		}
		if p.shard != shard || p.off+p.size > size {
			if err := br.check(&blob{piece: p.piece(k), owner: r.index.key(at)}); err != nil {
				return err
			}
			br.mu.Lock()
			shard, size = p.shard, br.sources[int(p.shard)].size
			br.mu.Unlock()
		}
		if len(plan.other) > 0 {
			plan.small = append(plan.small, w)
			plan.add(&r.index, plan.small, len(plan.small)-1)
		} else {
			plan.add(&r.index, reads, i)
		}
	}
	if len(plan.other) == 0 {
		plan.small = reads
	}
	return nil
}

// uncached is from how many bytes on, all together, small tensors are written around the
// processor's caches, which can't hold them.
const uncached = 32 << 20

// wholeRow reads small tensors that lie together.
func (br *blobReader) wholeRow(src *source, t task, buf *[]byte) {
	x := &br.r.index
	all := scratch(buf, t.to-t.from)
	first := t.whole[0].Handle.entry()
	if len(t.whole) == 1 {
		all = t.whole[0].Dst.Bytes()
	}
	if err := readAt(src, all, t.from, x.key(first)); err != nil {
		br.fail(x.key(first), err)
		return
	}
	var last *kind
	var fix func([]byte) error
	sum := int64(0)
	for i := range t.whole {
		w := &t.whole[i]
		at := w.Handle.entry()
		p := x.placeOf(at)
		if k := x.kinds.numbered(p.kind); k != last {
			last, fix = k, br.r.fixer(k.dtype)
		}
		part, dst := all[p.off-t.from:][:p.size], w.Dst.Bytes()
		var crc uint32
		switch {
		case len(t.whole) == 1:
			crc = crc32c.Value(part)
		case br.total >= uncached:
			crc = crc32c.CopyPast(dst, part)
		default:
			crc = crc32c.Value(part)
			copy(dst, part)
		}
		if crc != p.crc {
			br.fail(x.key(at), wrongChecksum(src, p.piece(last), x.key(at), crc))
			return
		}
		if fix != nil && !br.mend(src, &blob{piece: p.piece(last), owner: x.key(at), fix: fix}, dst) {
			return
		}
		sum += p.size
	}
	crc32c.Fence()
	br.finish(sum)
}
