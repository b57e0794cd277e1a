package bundle

import (
	"context"
	"fmt"
	"math"

	"github.com/cairnml/cairn/internal/cores"
	"github.com/cairnml/cairn/tensor"
)

// A readPlan is the result of resolving requests with the index; no file has
// been read.
type readPlan struct {
	// Most requests are for whole tensors stored in one piece.
	slab  []blob
	fresh []newTensor   // new tensors for requests without a destination
	parts []checkedRead // the other requests
	need  int64         // the bytes to be allocated
	err   error
}

// newTensor is a whole tensor to be read into new storage.
type newTensor struct {
	req   *ReadRequest
	blob  *blob
	shape tensor.Shape
	t     *tensor.Tensor // nil until readEach allocates it
}

// planBatch is how many requests a worker plans at least.
const planBatch = 4096

// plan looks the requests up, in as many parallel batches as br has workers,
// and adds the pieces of whole tensors to br. The error is that of the first
// request that can't be met.
func (r *Reader) plan(ctx context.Context, br *blobReader, reqs []ReadRequest) (readPlan, error) {
	plans := make([]readPlan, max(1, min(br.workers, len(reqs)/planBatch)))
	slab := make([]blob, len(reqs))
	part := func(i int) {
		from, to := i*len(reqs)/len(plans), (i+1)*len(reqs)/len(plans)
		plans[i].slab = slab[from:from:to]
		plans[i].err = r.planBatch(ctx, &plans[i], reqs[from:to])
	}
	cores.Each(len(plans), part)
	var all readPlan
	br.blobs = make([]*blob, 0, len(reqs))
	for i := range plans {
		p := &plans[i]
		if p.err != nil {
			return all, p.err
		}
		for k := range p.slab {
			br.add(&p.slab[k])
		}
		all.fresh = append(all.fresh, p.fresh...)
		all.parts = append(all.parts, p.parts...)
		if err := addUp(&all.need, p.need); err != nil {
			return all, err
		}
	}
	// A size that the file can't hold must not be allocated.
	return all, br.checkAll(br.blobs)
}

// planBatch plans some of the requests.
func (r *Reader) planBatch(ctx context.Context, p *readPlan, reqs []ReadRequest) error {
	var shape tensor.Shape // memory for a decoded shape
	var rec record
	last := r.index.found.Load()
	for i := range reqs {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		req := &reqs[i]
		if e := req.Entry; e != nil && req.Slice == nil && len(e.Slices) == 0 {
			if err := r.known(&rec, req); err != nil {
				return err
			}
			if err := p.whole(r, req, &rec); err != nil {
				return err
			}
			continue
		}
		var at int
		if req.Handle.Valid() {
			var err error
			if at, err = r.handled(req); err != nil {
				return err
			}
		} else {
			var ok bool
			if at, ok = r.index.findAfter(req.Name, last); !ok || r.index.hidden(at) {
				return r.notFound(req.Name)
			}
		}
		last = int32(at)
		if req.Slice == nil {
			if at := r.index.placeOf(at); at != nil && at.kind != 0 {
				k := r.index.kinds.numbered(at.kind)
				if err := p.add(r, req, at.piece(k), k.shape); err != nil {
					return err
				}
				continue
			}
		}
		if shape == nil {
			shape = make(tensor.Shape, 0, tensor.MaxRank)
		}
		r.index.decode(&rec, at, shape)
		if req.Slice != nil || len(rec.Slices) > 0 {
			part, err := r.resolve(ctx, req, r.index.record(at))
			if err != nil {
				return err
			}
			p.parts = append(p.parts, part)
			continue
		}
		if err := p.whole(r, req, &rec); err != nil {
			return err
		}
	}
	return nil
}

// whole plans the reading of a whole tensor stored in one piece.
func (p *readPlan) whole(r *Reader, req *ReadRequest, rec *record) error {
	if rec.err != nil {
		return rec.err
	}
	return p.add(r, req, rec.piece(), rec.Shape)
}

// add plans the reading of a piece that is a whole tensor of that shape.
func (p *readPlan) add(r *Reader, req *ReadRequest, from piece, shape tensor.Shape) error {
	if err := r.agree(req, from.dtype, shape); err != nil {
		return err
	}
	p.slab = append(p.slab, blob{piece: from, owner: req.Name, fix: r.fixer(from.dtype)})
	b := &p.slab[len(p.slab)-1]
	if req.Dst == nil {
		p.fresh = append(p.fresh, newTensor{req: req, blob: b, shape: shape.Clone()})
	} else {
		b.to(req.Dst)
	}
	if req.Dst != nil && from.dtype.Size() > 0 {
		return nil
	}
	return addUp(&p.need, storage(from.dtype, shape, req.Dst == nil, from))
}

// known converts the entry of a request to a record. Its error is for contents with which
// Open would refuse an index: they aren't this checkpoint's. The caller checks later, for all
// requests, whether their bytes are in the data file.
func (r *Reader) known(rec *record, req *ReadRequest) error {
	e := req.Entry
	*rec = record{Entry: *e, at: -1}
	for _, d := range e.Shape {
		if d < 0 {
			return fmt.Errorf("bundle: tensor %q: the request's entry has the shape %v", req.Name, e.Shape)
		}
	}
	rec.elems = volume(e.Shape)
	if !e.DType.Valid() || e.DType == tensor.Resource {
		rec.err = errUnsupported("tensor %q has elements of %v, which can't be read", req.Name, e.DType)
		return nil
	}
	if e.Name != req.Name || e.Shard < 0 || e.Shard >= r.header.NumShards || e.Offset < 0 || e.Size < 0 || e.Offset > math.MaxInt64-e.Size {
		return fmt.Errorf("bundle: tensor %q: the request's entry isn't this checkpoint's: %q in data file %d at %d", req.Name, e.Name, e.Shard, e.Offset)
	}
	if err := checkSize(e.DType, rec.elems, e.Size); err != nil {
		return fmt.Errorf("bundle: tensor %q: the request's entry: %w", req.Name, err)
	}
	return nil
}
