package convert

import (
	"context"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// Small tensors are read together, because to open a file for each takes far longer than to
// read it. The limits are ours and may change.
const (
	maxAhead      = 4096      // tensors read together
	maxAheadBytes = 8 << 20   // bytes read together
	aheadBytes    = 128 << 10 // bytes of one tensor; larger ones are read singly
)

// ahead reads the tensors of items in advance. Every writer of this package asks it for the
// items in their order; another order is slower, but right.
type ahead struct {
	s   *tensorfile.File // nil: that of each item
	len int              // number of items
	at  func(n int) item // the items in the order in which they are read

	first   int              // the item whose tensor ready begins with
	ready   []*tensor.Tensor // as they were read
	scratch tensorfile.Scratch
}

// read returns the tensor of item number n. It is valid until the next call.
func (a *ahead) read(ctx context.Context, n int) (*tensor.Tensor, error) {
	if n < a.first || n >= a.first+len(a.ready) {
		if err := a.fetch(ctx, n); err != nil {
			return nil, err
		}
	}
	i := a.at(n)
	if n < a.first+len(a.ready) {
		return i.of(a.ready[n-a.first])
	}
	return i.read(ctx, a.source(i), &a.scratch)
}

func (a *ahead) source(i item) *tensorfile.File {
	if a.s != nil {
		return a.s
	}
	return i.source
}

// fetch reads the small tensors from item number n on, up to the first item that is large, a
// string, or of another file. It reads none if fewer than two are small, or if the file can't
// read several together (ok is false); read reads these singly.
func (a *ahead) fetch(ctx context.Context, n int) error {
	a.first, a.ready = n, nil
	s := a.source(a.at(n))
	var names []string
	bytes := int64(0)
	for k := n; k < a.len && len(names) < maxAhead; k++ {
		i := a.at(k)
		if i.value != nil || a.source(i) != s || !i.entry.DType.Fixed() || i.entry.Bytes > aheadBytes {
			break
		}
		if bytes += i.entry.Bytes; bytes > maxAheadBytes {
			break
		}
		names = append(names, i.from())
	}
	if len(names) < 2 {
		return nil
	}
	list, ok, err := s.ReadTogether(ctx, names)
	if ok {
		a.ready = list
	}
	return err
}
