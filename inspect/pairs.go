package inspect

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// Limits of a batch. They may change: they decide time and memory only. Small tensors are read together,
// because to open a file for each would take far longer than to read it. Others are compared in parallel.
const (
	maxPairs    = 4096      // pairs
	maxBatch    = 8 << 20   // bytes of small tensors
	maxStreamed = 256 << 20 // bytes of others, between two reports of progress
)

// pairs are tensors of two stores that are to be compared, for [Diff]. All have equal shapes. The
// result doesn't depend on the number of workers.
type pairs struct {
	a, b            *tensorfile.File
	x, y            []tensorfile.Entry // of a and of b; x[i] is compared with y[i]
	bytes, streamed int64              // of the small tensors, of the others
}

// add adds a pair. It reports true if the batch is full and has to be compared.
func (p *pairs) add(x, y tensorfile.Entry) bool {
	p.x, p.y = append(p.x, x), append(p.y, y)
	if p.small(len(p.x) - 1) {
		p.bytes += x.Bytes + y.Bytes
	} else {
		p.streamed += x.Bytes + y.Bytes
	}
	return len(p.x) == maxPairs || p.bytes > maxBatch || p.streamed > maxStreamed
}

// small reports whether a pair is read whole.
func (p *pairs) small(i int) bool { return p.x[i].Bytes <= whole && p.y[i].Bytes <= whole }

// compare lists the differences of the values, and forgets the pairs.
func (p *pairs) compare(ctx context.Context, o *DiffOptions) ([]Difference, error) {
	// Both sides' small tensors at once, the others each in pieces.
	left, err := readSmall(ctx, p.a, p.x, p.small)
	if err != nil {
		return nil, err
	}
	right, err := readSmall(ctx, p.b, p.y, p.small)
	if err != nil {
		return nil, err
	}
	workers := 1
	if p.a.Bundle() != nil && p.b.Bundle() != nil { // others hold whole tensors
		workers = min(runtime.GOMAXPROCS(0), len(p.x))
	}
	found := make([]*valueDiff, len(p.x))
	errs := make([]error, len(p.x))
	var next atomic.Int64
	var alone sync.Mutex // held for tensors that come whole, so that few of them are in memory
	work := func() {
		var sa, sb tensorfile.Scratch
		for i := int(next.Add(1)) - 1; i < len(p.x); i = int(next.Add(1)) - 1 {
			d := newValueDiff(p.x[i], o)
			if errs[i] = ctx.Err(); errs[i] == nil {
				if left[i] != nil && right[i] != nil {
					d.add(left[i], right[i])
				} else if inPieces(p.a, p.x[i]) && inPieces(p.b, p.y[i]) {
					errs[i] = p.stream(ctx, i, d, &sa, &sb)
				} else {
					alone.Lock()
					errs[i] = p.stream(ctx, i, d, &sa, &sb)
					alone.Unlock()
				}
			}
			if errs[i] != nil {
				next.Store(int64(len(p.x))) // no worker begins another pair; the first error by index is returned
				return
			}
			found[i] = d
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	var out []Difference
	for i, d := range found {
		switch {
		case errs[i] != nil:
			return nil, errs[i]
		case d != nil && d.Differ > 0:
			out = append(out, d.Difference)
		}
	}
	p.x, p.y, p.bytes, p.streamed = p.x[:0], p.y[:0], 0, 0
	return out, nil
}

// inPieces reports whether a tensor of a bundle is read in pieces.
func inPieces(s *tensorfile.File, e tensorfile.Entry) bool {
	r := s.Bundle()
	return r != nil && r.Version() > 1 && e.DType.Fixed() && len(e.Slices) == 0
}

// readSmall reads the tensors that are small; the others, and those of a store that
// is no bundle, are nil.
func readSmall(ctx context.Context, s *tensorfile.File, list []tensorfile.Entry, small func(i int) bool) ([]*tensor.Tensor, error) {
	out := make([]*tensor.Tensor, len(list))
	var names []string
	for i, e := range list {
		if small(i) {
			names = append(names, e.Name)
		}
	}
	read, ok, err := s.ReadTogether(ctx, names)
	if err != nil || !ok {
		return out, err
	}
	for i := range list {
		if small(i) {
			out[i], read = read[0], read[1:]
		}
	}
	return out, nil
}

// stream compares two tensors piece by piece. A side that comes whole is cut as
// the other one comes.
func (p *pairs) stream(ctx context.Context, i int, d *valueDiff, sa, sb *tensorfile.Scratch) error {
	x, y := p.x[i], p.y[i]
	nextA, stopA := iter.Pull2(p.a.Pieces(ctx, x.Name, sa))
	defer stopA()
	nextB, stopB := iter.Pull2(p.b.Pieces(ctx, y.Name, sb))
	defer stopB()
	var a, b *tensor.Tensor
	for {
		var err error
		if a, err = more(a, nextA); err != nil {
			return err
		}
		if b, err = more(b, nextB); err != nil {
			return err
		}
		if a == nil && b == nil {
			return nil
		}
		if a == nil || b == nil {
			return fmt.Errorf("%s: the tensors have different numbers of elements", x.Name)
		}
		n := min(a.Len(), b.Len())
		var headA, headB *tensor.Tensor
		if headA, a, err = cut(a, n); err != nil {
			return err
		}
		if headB, b, err = cut(b, n); err != nil {
			return err
		}
		d.add(headA, headB)
	}
}

// more returns the rest of a piece, or the next one that isn't empty; nil at
// the end.
func more(t *tensor.Tensor, next func() (*tensor.Tensor, error, bool)) (*tensor.Tensor, error) {
	for t == nil || t.Len() == 0 {
		var err error
		var ok bool
		if t, err, ok = next(); err != nil || !ok {
			return nil, err
		}
	}
	return t, nil
}

// cut parts a tensor of one dimension after n elements, without a copy.
func cut(t *tensor.Tensor, n int) (head, rest *tensor.Tensor, err error) {
	if n == t.Len() {
		return t, nil, nil
	}
	part := func(lo, hi int) *tensor.Tensor {
		var p *tensor.Tensor
		if err != nil {
			return nil
		}
		if width := t.DType().Size(); width > 0 {
			p, err = tensor.FromBytes(t.DType(), t.Bytes()[lo*width:hi*width:hi*width], hi-lo)
		} else {
			p, err = tensor.FromStrings(t.DType(), t.Strings()[lo:hi:hi], hi-lo)
		}
		return p
	}
	head, rest = part(0, n), part(n, t.Len())
	return head, rest, err
}
