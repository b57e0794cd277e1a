package tensorfile

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
)

// Index is one part of a subscript such as "0:2,:,3": the positions from Start up to Stop,
// exclusive, of a dimension.
type Index struct {
	Start, Stop int
	Drop        bool // a single position, whose dimension goes away
}

// parseIndex understands "a:b", ":b", "a:", ":", "a" and negative numbers that
// count from the end, one for each dimension; missing ones mean all.
func parseIndex(text string, shape tensor.Shape) ([]Index, error) {
	parts := strings.Split(text, ",")
	if strings.TrimSpace(text) == "" {
		parts = nil
	}
	if len(parts) > len(shape) {
		return nil, fmt.Errorf("%d subscripts for a tensor of shape %v", len(parts), shape)
	}
	out := make([]Index, len(shape))
	for i, n := range shape {
		if i >= len(parts) {
			out[i] = Index{0, n, false}
			continue
		}
		a, b, colon := strings.Cut(strings.TrimSpace(parts[i]), ":")
		lo, err := position(a, 0, n)
		if err != nil {
			return nil, err
		}
		if !colon {
			if strings.TrimSpace(a) == "" || lo < 0 || lo >= n {
				return nil, fmt.Errorf("the subscript %q is outside dimension %d, which has %d", parts[i], i, n)
			}
			out[i] = Index{lo, lo + 1, true}
			continue
		}
		hi, err := position(b, n, n)
		if err != nil {
			return nil, err
		}
		lo = min(max(lo, 0), n)
		out[i] = Index{lo, min(max(hi, lo), n), false}
	}
	return out, nil
}

// position returns the position that s has in a dimension of size n: def if s is empty. It may be
// outside of the dimension.
func position(s string, def, n int) (int, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return def, nil
	}
	v, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("the subscript %q is no number; slices look like [0:2,:,-1]", s)
	}
	if v < 0 {
		v += n
	}
	return v, nil
}

// ReadIndex reads a part of a tensor; a nil index means all of it. Of numbers in a
// checkpoint only the part is kept in memory, although each stored piece that it touches is
// read whole, for the checksum. All other tensors are read whole and then cut.
func (s *File) ReadIndex(ctx context.Context, e Entry, index []Index) (*tensor.Tensor, error) {
	if index == nil || len(e.Shape) == 0 {
		return s.Read(ctx, e.Name)
	}
	var part *tensor.Tensor
	shape, final := tensor.Shape{}, tensor.Shape{}
	spec := bundle.Slice{}
	empty := false
	for i, x := range index {
		n := x.Stop - x.Start
		shape = append(shape, n)
		if !x.Drop {
			final = append(final, n)
		}
		empty = empty || n == 0
		spec.Extents = append(spec.Extents, bundle.Extent{Start: int64(x.Start), Length: int64(n), Full: n == e.Shape[i]})
	}
	var err error
	switch r := s.Bundle(); {
	case empty:
		part, err = tensor.Zeros(e.DType, shape...)
	case r != nil && e.DType.Fixed():
		part, err = r.ReadSlice(ctx, e.Name, spec)
	default:
		if part, err = s.Read(ctx, e.Name); err == nil {
			part, err = Cut(part, index)
		}
	}
	if err != nil {
		return nil, err
	}
	return part.Reshape(final...)
}

// Cut copies a part out of t; index has an entry for each dimension. It ignores Drop: all
// dimensions stay.
func Cut(t *tensor.Tensor, index []Index) (*tensor.Tensor, error) {
	shape := make(tensor.Shape, len(index))
	for i, x := range index {
		shape[i] = x.Stop - x.Start
	}
	out, err := tensor.Zeros(t.DType(), shape...)
	if err != nil {
		return nil, err
	}
	rank, run := len(shape), 1
	if rank > 0 {
		run = shape[rank-1]
	}
	if out.Len() == 0 {
		return out, nil
	}
	stride := make([]int, rank)
	for i, at := rank-1, 1; i >= 0; i-- {
		stride[i] = at
		at *= t.Shape()[i]
	}
	size := t.DType().Size()
	at := make([]int, rank)
	for to := 0; to < out.Len(); to += run {
		from := 0
		for i := range rank {
			from += (index[i].Start + at[i]) * stride[i]
		}
		if size > 0 {
			copy(out.Bytes()[to*size:(to+run)*size], t.Bytes()[from*size:])
		} else {
			copy(out.Strings()[to:to+run], t.Strings()[from:])
		}
		for i := rank - 2; i >= 0; i-- {
			if at[i]++; at[i] < shape[i] {
				break
			}
			at[i] = 0
		}
	}
	return out, nil
}
