package hdf5

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/tensor"
)

// maxRank is HDF5's bound on the number of dimensions.
const maxRank = 32

// A space is the shape of a dataset or an attribute.
type space struct {
	null  bool         // there are no elements, and no shape
	shape tensor.Shape // empty for a scalar
	most  []uint64     // the largest sizes of the dimensions; the constant undefined if there is no limit
}

// decodeSpace decodes a dataspace message. encode.go writes it.
func (f *File) decodeSpace(msg message) (space, error) {
	c := f.cursor(msg.body, msg.addr)
	version, rank, flags := c.u8(), int(c.u8()), c.u8()
	null := false
	switch version {
	case 1:
		c.skip(5) // reserved
	case 2:
		kind := c.u8() // 0 scalar, 1 simple, 2 null
		if null = kind == 2; kind > 2 {
			return space{}, &CorruptError{Offset: f.base + int64(msg.addr), What: fmt.Sprintf("a dataspace of kind %d", kind)}
		}
	default:
		return space{}, &UnsupportedError{Feature: fmt.Sprintf("a dataspace of version %d (1 and 2 are)", version)}
	}
	if rank > maxRank {
		return space{}, &CorruptError{Offset: f.base + int64(msg.addr), What: fmt.Sprintf("%d dimensions (the most is %d)", rank, maxRank)}
	}
	s := space{null: null, shape: make(tensor.Shape, rank), most: make([]uint64, rank)}
	for i := range s.shape {
		n := c.length()
		if n > math.MaxInt {
			return space{}, &CorruptError{Offset: f.base + int64(msg.addr), What: fmt.Sprintf("a dimension of %d", n)}
		}
		s.shape[i], s.most[i] = int(n), n
	}
	if flags&1 != 0 {
		for i := range s.most {
			n := c.length()
			if f.lengthSize < 8 && n == 1<<(8*f.lengthSize)-1 {
				n = undefined
			}
			if n < uint64(s.shape[i]) {
				return space{}, &CorruptError{Offset: f.base + int64(msg.addr), What: fmt.Sprintf("a dimension of %d that may become %d", s.shape[i], n)}
			}
			s.most[i] = n
		}
	}
	return s, c.err()
}

// bytes returns the size of all elements, each of size bytes. It returns an error if that
// overflows an int64.
func (s *space) bytes(size int) (uint64, error) {
	if s.null {
		return 0, nil
	}
	n, err := s.shape.NumElements()
	if err != nil || size > 0 && int64(n) > math.MaxInt64/int64(size) {
		return 0, &CorruptError{What: fmt.Sprintf("a shape %v of elements of %d bytes", s.shape, size)}
	}
	return uint64(n) * uint64(size), nil
}
