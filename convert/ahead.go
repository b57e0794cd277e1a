package convert

import (
	"context"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// Small tensors are read together, so many or so many bytes of them: to open a
// file for each takes far longer than to read it.
const (
	maxAhead      = 4096
	maxAheadBytes = 8 << 20
	aheadBytes    = 128 << 10 // of one tensor
)

// ahead reads the tensors of items in advance, mostly one after the other.
type ahead struct {
	s   *tensorfile.File // nil: that of each item
	len int
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

// fetch reads the small tensors from item number n on, as far as they follow each
// other.
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
