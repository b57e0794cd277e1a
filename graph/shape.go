package graph

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/cairnml/cairn/tensor"
)

// PartialShape is a shape of which parts may be unknown: all of it, or some
// sizes. The zero value is a shape of unknown rank.
//
// A size is an int as in [tensor.Shape], so that a complete shape needs no
// conversion. A negative size is unknown. -1 is a size without identity; any
// other negative number is the identity of a size (see [NewDim]). Two sizes of
// the same identity are the same number.
type PartialShape struct {
	dims  tensor.Shape
	known bool // the rank is
}

// UnknownShape is a shape of unknown rank, the zero value.
var UnknownShape = PartialShape{}

// ShapeOf returns the shape of these sizes; a negative one is unknown. The
// slice is not copied.
func ShapeOf(dims ...int) PartialShape { return PartialShape{dims: dims, known: true} }

// Whole returns the partial shape that is s. The slice is not copied.
func Whole(s tensor.Shape) PartialShape { return PartialShape{dims: s, known: true} }

// OfRank returns a shape of n unknown sizes, each with a new identity. A rank
// above [tensor.MaxRank] is an unknown rank, because no tensor has it.
func OfRank(n int) PartialShape {
	if n < 0 || n > tensor.MaxRank {
		return PartialShape{}
	}
	dims := make(tensor.Shape, n)
	for i := range dims {
		dims[i] = NewDim()
	}
	return PartialShape{dims: dims, known: true}
}

var lastDim atomic.Int64

// NewDim returns an unknown size with a new identity: it isn't known to equal
// any other.
func NewDim() int {
	for {
		n := lastDim.Add(1)
		if n < math.MaxInt { // an int of 32 bits runs out of them
			return int(-1 - n)
		}
		lastDim.CompareAndSwap(n, 0)
	}
}

// KnownDim reports whether a size is known.
func KnownDim(d int) bool { return d >= 0 }

// SameDim reports whether two sizes are known to be the same number.
func SameDim(a, b int) bool { return a == b && a != -1 }

// HasRank reports whether the number of dimensions is known.
func (s PartialShape) HasRank() bool { return s.known }

// Rank returns the number of dimensions, or -1 if it is unknown.
func (s PartialShape) Rank() int {
	if !s.known {
		return -1
	}
	return len(s.dims)
}

// Dims returns the sizes, or nil if the rank is unknown. They must not be
// changed.
func (s PartialShape) Dims() tensor.Shape { return s.dims }

// Dim returns the size of dimension i; a negative i counts from the end. The
// size is unknown if the rank is. It panics if the dimension doesn't exist.
func (s PartialShape) Dim(i int) int {
	if !s.known {
		return -1
	}
	if i < 0 {
		i += len(s.dims)
	}
	return s.dims[i]
}

// Known reports whether every size is known.
func (s PartialShape) Known() bool { return s.known && s.dims.Known() }

// Tensor returns the shape as that of a tensor, and whether every size is
// known.
func (s PartialShape) Tensor() (tensor.Shape, bool) {
	if !s.Known() {
		return nil, false
	}
	return s.dims, true
}

// NumElements returns the product of the sizes, and whether it is known. A
// product that doesn't fit an int counts as unknown.
func (s PartialShape) NumElements() (int, bool) {
	if !s.known {
		return 0, false
	}
	for _, d := range s.dims {
		if d == 0 {
			return 0, true // whatever the others are
		}
	}
	if !s.dims.Known() {
		return 0, false
	}
	n, err := s.dims.NumElements()
	return n, err == nil
}

// Equal reports whether both have the same rank, and the same sizes or
// identities of sizes.
func (s PartialShape) Equal(o PartialShape) bool {
	return s.known == o.known && s.dims.Equal(o.dims)
}

// Anonymous returns the shape with every unknown size as -1, as files have it.
func (s PartialShape) Anonymous() PartialShape {
	if !s.known || s.dims.Known() {
		return s
	}
	out := s.dims.Clone()
	for i, d := range out {
		out[i] = max(d, -1)
	}
	return PartialShape{dims: out, known: true}
}

// Identified returns the shape with a fresh identity for every size that has
// none.
func (s PartialShape) Identified() PartialShape {
	for i, d := range s.dims {
		if d != -1 {
			continue
		}
		out := s.dims.Clone()
		for j := i; j < len(out); j++ {
			if out[j] == -1 {
				out[j] = NewDim()
			}
		}
		return PartialShape{dims: out, known: true}
	}
	return s
}

// Accepts reports whether a tensor of shape o may have this shape.
func (s PartialShape) Accepts(o tensor.Shape) bool { return !s.known || s.dims.Accepts(o) }

// Compatible reports whether a tensor can have both shapes.
func (s PartialShape) Compatible(o PartialShape) bool {
	_, err := s.Merge(o)
	return err == nil
}

// Merge returns the known parts of both for values that are known to have the
// same shape. A contradiction is an error.
func (s PartialShape) Merge(o PartialShape) (PartialShape, error) {
	switch {
	case !s.known:
		return o, nil
	case !o.known:
		return s, nil
	case len(s.dims) != len(o.dims):
		return PartialShape{}, fmt.Errorf("shapes %v and %v differ in rank", s, o)
	}
	out := s
	for i, d := range s.dims {
		m, ok := MergeDim(d, o.dims[i])
		if !ok {
			return PartialShape{}, fmt.Errorf("shapes %v and %v differ in dimension %d", s, o, i)
		}
		if m != d {
			if &out.dims[0] == &s.dims[0] {
				out.dims = s.dims.Clone()
			}
			out.dims[i] = m
		}
	}
	return out, nil
}

// MergeDim returns the more specific of two sizes that are known to be equal,
// or false if they contradict each other.
func MergeDim(a, b int) (int, bool) {
	switch {
	case a == b:
		return a, true
	case a >= 0 && b >= 0:
		return 0, false
	case a >= 0:
		return a, true
	case b >= 0 || a == -1:
		return b, true
	}
	return a, true
}

// Relax returns the most specific shape that accepts all shapes that either
// accepts. Sizes that differ are unknown, and so is the rank if the ranks
// differ.
func (s PartialShape) Relax(o PartialShape) PartialShape {
	if !s.known || !o.known || len(s.dims) != len(o.dims) {
		return PartialShape{}
	}
	if s.dims.Equal(o.dims) {
		return s
	}
	out := s.dims.Clone()
	for i, d := range o.dims {
		if out[i] != d {
			out[i] = NewDim()
		}
	}
	return PartialShape{dims: out, known: true}
}

// Concat returns the shape whose dimensions are those of s, then those of o.
func (s PartialShape) Concat(o PartialShape) PartialShape {
	if !s.known || !o.known {
		return PartialShape{}
	}
	return PartialShape{dims: append(s.dims.Clone(), o.dims...), known: true}
}

// From returns the dimensions from lo up to but not including hi. Negative
// bounds count from the end; hi of [End] is the end. A bound beyond a known
// rank is an error.
func (s PartialShape) From(lo, hi int) (PartialShape, error) {
	if lo == 0 && hi == End {
		return s, nil
	}
	if !s.known {
		if lo >= 0 && hi != End && hi >= lo {
			return OfRank(hi - lo), nil
		}
		return PartialShape{}, nil
	}
	n := len(s.dims)
	a, b := lo, hi
	if a < 0 {
		a += n
	}
	if b == End {
		b = n
	} else if b < 0 {
		b += n
	}
	if a < 0 || b > n || a > b {
		return PartialShape{}, fmt.Errorf("shape %v has no dimensions from %d to %d", s, lo, hi)
	}
	return PartialShape{dims: s.dims[a:b:b], known: true}, nil
}

// End is the bound of [PartialShape.From] that means the last dimension is in.
const End = math.MaxInt

// With returns the shape with size d at dimension i, which a negative i counts
// from the end.
func (s PartialShape) With(i, d int) PartialShape {
	if !s.known {
		return s
	}
	if i < 0 {
		i += len(s.dims)
	}
	out := s.dims.Clone()
	out[i] = d
	return PartialShape{dims: out, known: true}
}

// String returns "[2,3]", "[2,?]" for an unknown size, "[?a,?a]" for two
// unknown sizes that are known to be equal, or "<unknown>" for an unknown rank.
// savedmodel/describe replaces that text, which [Fact.String] has too.
func (s PartialShape) String() string {
	if !s.known {
		return "<unknown>"
	}
	var b strings.Builder
	b.WriteByte('[')
	for i, d := range s.dims {
		if i > 0 {
			b.WriteByte(',')
		}
		if d >= 0 {
			b.WriteString(strconv.Itoa(d))
			continue
		}
		b.WriteByte('?')
		if d != -1 {
			b.WriteString(s.letter(d))
		}
	}
	b.WriteByte(']')
	return b.String()
}

// letter names an identity that occurs more than once in the shape.
func (s PartialShape) letter(d int) string {
	count, order := 0, 0
	for i, e := range s.dims {
		if e == d {
			count++
			continue
		}
		if count > 0 || e >= -1 {
			continue
		}
		// An identity that occurs twice before the first d takes a letter.
		for j, f := range s.dims {
			if f == e && j < i {
				order++
				break
			}
		}
	}
	if count < 2 {
		return ""
	}
	return string(rune('a' + order%26))
}

// WithRank returns the shape with n dimensions. If the rank was unknown, each
// dimension has an identity. Another rank is an error.
func (s PartialShape) WithRank(n int) (PartialShape, error) {
	switch {
	case !s.known:
		return OfRank(n), nil
	case len(s.dims) != n:
		return s, fmt.Errorf("shape %v has %d dimensions, not %d", s, len(s.dims), n)
	}
	return s, nil
}
