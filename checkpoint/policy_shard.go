package checkpoint

import (
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// ShardByTask puts all values into one data file, as TensorFlow's policy of that
// name does in a program that is one task.
func ShardByTask() ShardPolicy {
	return func(values []ShardTensor) ([][]ShardTensor, error) { return [][]ShardTensor{values}, nil }
}

// MaxShardSize splits the values over data files of at most size bytes of
// values, and cuts tensors that don't fit: TensorFlow's MaxShardSizePolicy
// (python/checkpoint/sharding/sharding_policies.py), slice for slice. A tensor
// larger than the space left in a file is cut along the dimension that needs
// the fewest pieces of that size, into pieces of equal length; so 100 floats in
// files of 300 bytes become [0,50) and [50,75) in the first file and [75,100)
// in the second.
//
// A value that can't be cut gets a separate file even if that is larger than
// size: a scalar, and an element or row beyond size, which TensorFlow tries to
// cut forever. The object graph counts as zero bytes. Tensors without elements,
// which TensorFlow's policy loses, are written.
//
// Pieces share the storage of their tensor, except those of a cut along an
// inner dimension, which are copies.
func MaxShardSize(size int64) ShardPolicy {
	return func(values []ShardTensor) ([][]ShardTensor, error) {
		if size <= 0 {
			return nil, fmt.Errorf("checkpoint: the maximal shard size is %d bytes, want more than 0", size)
		}
		p := partitioner{max: size, left: size, shards: [][]ShardTensor{nil}}
		for _, v := range values {
			if err := p.add(v); err != nil {
				return nil, fmt.Errorf("checkpoint: cutting %q: %w", v.Name, err)
			}
		}
		// TensorFlow leaves empty files in the middle out of its list only by luck
		// of the order; here none is written.
		out := slices.DeleteFunc(p.shards, func(s []ShardTensor) bool { return len(s) == 0 })
		return append(out, p.large...), nil
	}
}

type partitioner struct {
	max, left int64 // bytes of a file, and the bytes left in the last one
	shards    [][]ShardTensor
	large     [][]ShardTensor // those that are too large, each a file
}

func (p *partitioner) next() {
	p.shards = append(p.shards, nil)
	p.left = p.max
}

func (p *partitioner) put(v ShardTensor) {
	last := len(p.shards) - 1
	p.shards[last] = append(p.shards[last], v)
}

// add places one value.
func (p *partitioner) add(v ShardTensor) error {
	elem, total := sizes(v)
	shape := v.Tensor.Shape()
	n := v.Tensor.Len()
	if len(shape) == 0 || n == 0 || elem == 0 {
		switch {
		case total > p.max:
			p.large = append(p.large, []ShardTensor{v})
			return nil
		case total > p.left:
			p.next()
		}
		p.put(v)
		p.left -= total
		return nil
	}

	begin := make([]int, len(shape)) // the part placed already ends here
	rest := shape.Clone()
	size := total
	for size > p.left {
		axis, length := p.nextPart(rest, elem)
		if length == 0 {
			if len(p.shards[len(p.shards)-1]) == 0 && p.left == p.max {
				part, err := cut(v, begin, rest)
				if err != nil {
					return err
				}
				p.large = append(p.large, []ShardTensor{part})
				return nil
			}
			p.next()
			continue
		}
		piece := rest.Clone()
		piece[axis] = length
		part, err := cut(v, begin, piece)
		if err != nil {
			return err
		}
		p.put(part)
		if p.left -= elements(piece) * elem; p.left == 0 {
			p.next()
		}
		begin[axis] += length
		rest[axis] -= length
		size = elements(rest) * elem
	}
	if elements(rest) > 0 {
		part, err := cut(v, begin, rest)
		if err != nil {
			return err
		}
		p.put(part)
	}
	p.left -= size
	return nil
}

// nextPart returns the dimension to cut and the length of the piece, or 0 if
// nothing fits the rest of the file.
func (p *partitioner) nextPart(shape tensor.Shape, elem int64) (axis, length int) {
	n := elements(shape)
	parts := func(axis int) float64 {
		bytes := n / int64(shape[axis]) * elem
		fit := p.left / bytes
		if fit == 0 {
			return math.Inf(1)
		}
		return math.Ceil(float64(shape[axis]) / float64(fit))
	}
	least := parts(0)
	for a := 1; a < len(shape); a++ {
		k := parts(a)
		if k < least && float64(n*elem)/k <= float64(p.left) {
			axis, least = a, k
		}
	}
	return axis, int(math.Ceil(float64(shape[axis]) / least))
}

// sizes returns the number of bytes that TensorFlow's policy assumes for an
// element and for all: for strings the longest one's and the sum, for variants
// and the object graph 0.
func sizes(v ShardTensor) (elem, total int64) {
	switch {
	case v.Name == trackable.ObjectGraphKey || v.Tensor.DType() == tensor.Variant:
		return 0, 0
	case v.Tensor.DType() == tensor.String:
		for _, s := range v.Tensor.Strings() {
			elem = max(elem, int64(len(s)))
		}
		return elem, v.Tensor.NumBytes()
	}
	return int64(v.Tensor.DType().Size()), v.Tensor.NumBytes()
}

func elements(shape tensor.Shape) int64 {
	n := int64(1)
	for _, d := range shape {
		n *= int64(d)
	}
	return n
}

// cut takes the box of shape at begin out of v, which may be a slice itself.
func cut(v ShardTensor, begin []int, shape tensor.Shape) (ShardTensor, error) {
	whole := v.Tensor.Shape()
	if shape.Equal(whole) {
		return v, nil
	}
	part, err := cutTensor(v.Tensor, begin, shape)
	if err != nil {
		return ShardTensor{}, err
	}
	out := ShardTensor{Name: v.Name, Tensor: part, Full: whole, Slice: &bundle.Slice{Extents: make([]bundle.Extent, len(shape))}}
	for i := range shape { // also if a dimension is taken whole, as in TensorFlow
		out.Slice.Extents[i] = bundle.Extent{Start: int64(begin[i]), Length: int64(shape[i])}
	}
	if v.Slice != nil {
		out.Full = v.Full
		for i, e := range v.Slice.Extents {
			out.Slice.Extents[i].Start += e.Start // 0 if the extent is full
		}
	}
	return out, nil
}

// cutTensor returns the box of shape at begin in t. It shares t's storage if its elements are contiguous there.
func cutTensor(t *tensor.Tensor, begin []int, shape tensor.Shape) (*tensor.Tensor, error) {
	whole := t.Shape()
	strides := make([]int, len(whole)) // in elements
	n := 1
	for i := len(whole) - 1; i >= 0; i-- {
		strides[i] = n
		n *= whole[i]
	}
	// The elements from the dimension run on are contiguous.
	run := len(shape) - 1
	for run > 0 && shape[run] == whole[run] {
		run--
	}
	length, rows := int(elements(shape[run:])), int(elements(shape[:run]))
	at := func(row int) int { // offset of a row in t
		off := begin[run] * strides[run]
		for i := run - 1; i >= 0; i-- {
			off += (begin[i] + row%shape[i]) * strides[i]
			row /= shape[i]
		}
		return off
	}
	if size := t.DType().Size(); size > 0 {
		src := t.Bytes()
		if rows == 1 {
			return tensor.FromBytes(t.DType(), src[at(0)*size:][:length*size], shape...)
		}
		out, err := tensor.Zeros(t.DType(), shape...)
		if err != nil {
			return nil, err
		}
		for r := range rows {
			copy(out.Bytes()[r*length*size:], src[at(r)*size:][:length*size])
		}
		return out, nil
	}
	var out []string
	for r := range rows {
		out = append(out, t.Strings()[at(r):][:length]...)
	}
	return tensor.FromStrings(t.DType(), out, shape...)
}
