package tensor

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// MaxRank is the largest number of dimensions. It is TensorFlow's limit.
const MaxRank = 254

// Shape lists the sizes of a tensor's dimensions, outermost first. A scalar's
// shape is empty. The shape of a [Tensor] has no negative size; in a
// specification -1 means an unknown one.
type Shape []int

// NumElements returns the product of the sizes: 1 for a scalar, 0 if any
// size is 0. An unknown size, a rank over [MaxRank] and a product that doesn't
// fit an int are errors.
func (s Shape) NumElements() (int, error) {
	if len(s) > MaxRank {
		return 0, fmt.Errorf("tensor: a shape of %d dimensions; the most is %d", len(s), MaxRank)
	}
	n, zero := 1, false
	for i, d := range s {
		switch {
		case d < 0:
			return 0, fmt.Errorf("tensor: shape %s has the negative size %d in dimension %d", s.String(), d, i)
		case d == 0:
			zero = true
		case n > math.MaxInt/d:
			// The product may overflow before a later zero; TensorFlow
			// refuses that too.
			return 0, errOverflow(s)
		default:
			n *= d
		}
	}
	if zero {
		return 0, nil
	}
	return n, nil
}

func errOverflow(s Shape) error {
	return fmt.Errorf("tensor: shape %s has more elements than this platform can count: %w", s.String(), errors.ErrUnsupported)
}

// Known reports whether no size is unknown (negative).
func (s Shape) Known() bool { return !slices.ContainsFunc(s, func(d int) bool { return d < 0 }) }

// Equal reports whether both have the same sizes.
func (s Shape) Equal(o Shape) bool { return slices.Equal(s, o) }

// Clone returns a copy; a scalar's is empty but not nil.
func (s Shape) Clone() Shape { return append(Shape{}, s...) }

// Accepts reports whether a tensor of shape o fits the specification s: same
// rank, and equal sizes wherever s knows them.
func (s Shape) Accepts(o Shape) bool {
	if len(s) != len(o) {
		return false
	}
	for i, d := range s {
		if d >= 0 && d != o[i] {
			return false
		}
	}
	return true
}

// String returns "[2,3]", "[]" for a scalar, "?" for an unknown size.
func (s Shape) String() string {
	var b strings.Builder
	b.WriteByte('[')
	for i, d := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		if i == 300 { // more than TensorFlow's tensors can have
			fmt.Fprintf(&b, "… (%d dimensions)", len(s))
			break
		}
		if d < 0 {
			b.WriteByte('?')
		} else {
			fmt.Fprint(&b, d)
		}
	}
	b.WriteByte(']')
	return b.String()
}
