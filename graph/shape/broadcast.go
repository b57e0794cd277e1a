package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Broadcast returns the shape that a and b broadcast to. If that equals one of
// them, the result is that slice and must not be changed. Sizes may be unknown.
func Broadcast(a, b tensor.Shape) (tensor.Shape, error) {
	n := max(len(a), len(b))
	isA, isB := len(a) == n, len(b) == n
	for i := range n {
		da, db := sizeAt(a, i, n), sizeAt(b, i, n)
		d, ok := broadcastDim(da, db)
		if !ok {
			return nil, fmt.Errorf("shapes %v and %v don't broadcast: sizes %d and %d meet", a, b, da, db)
		}
		isA, isB = isA && d == da, isB && d == db
	}
	switch {
	case isA:
		return a, nil
	case isB:
		return b, nil
	}
	out := make(tensor.Shape, n)
	for i := range n {
		out[i], _ = broadcastDim(sizeAt(a, i, n), sizeAt(b, i, n))
	}
	return out, nil
}

// sizeAt returns dimension i of a shape that stretches to rank n.
func sizeAt(s tensor.Shape, i, n int) int {
	if i -= n - len(s); i >= 0 {
		return s[i]
	}
	return 1
}

// broadcastDim returns the size that two sizes broadcast to, or false if they
// don't.
func broadcastDim(a, b int) (int, bool) {
	switch {
	case b == 1, graph.SameDim(a, b):
		return a, true
	case a == 1:
		return b, true
	case a >= 0 && b >= 0:
		return 0, false
	case a >= 0: // b is unknown: it is a, or 1
		return a, true
	case b >= 0:
		return b, true
	}
	return graph.NewDim(), true
}

// BroadcastShapes returns the shape that a and b broadcast to. Their sizes may
// be unknown.
func BroadcastShapes(a, b graph.PartialShape) (graph.PartialShape, error) {
	if !a.HasRank() || !b.HasRank() {
		return graph.PartialShape{}, nil
	}
	out, err := Broadcast(a.Dims(), b.Dims())
	if err != nil {
		return graph.PartialShape{}, err
	}
	return graph.ShapeOf(out...), nil
}

// BroadcastTo checks that a tensor of shape s broadcasts to shape to. An unknown
// size fits every size.
func BroadcastTo(s, to tensor.Shape) error {
	if len(s) > len(to) {
		return fmt.Errorf("shape %v doesn't broadcast to %v", s, to)
	}
	for i, d := range s {
		if t := to[i+len(to)-len(s)]; d >= 0 && t >= 0 && d != t && d != 1 {
			return fmt.Errorf("shape %v doesn't broadcast to %v", s, to)
		}
	}
	return nil
}

// GradientAxes returns the axes of the broadcast of a and b along which each
// was stretched. An axis of size 1 in both counts for both, as in TensorFlow,
// unless the shapes are equal. It returns false if the result depends on
// unknown sizes. The shape rule and the kernel of BroadcastGradientArgs call it.
func GradientAxes(a, b tensor.Shape) (ra, rb []int, ok bool) {
	if a.Equal(b) {
		for _, d := range a {
			// -1 is unknown without an identity, so two of them may differ
			if d == -1 {
				return nil, nil, false
			}
		}
		return nil, nil, true
	}
	n := max(len(a), len(b))
	for i := range n {
		da, db := sizeAt(a, i, n), sizeAt(b, i, n)
		switch {
		case da == 1 && db == 1:
			ra, rb = append(ra, i), append(rb, i)
		case graph.SameDim(da, db):
			// If the unknown size is 1, both count, which sums over one
			// element. But the lists would differ.
			if da < 0 {
				return nil, nil, false
			}
		case da < 0 || db < 0:
			return nil, nil, false
		case da == 1:
			ra = append(ra, i)
		case db == 1:
			rb = append(rb, i)
		}
	}
	return ra, rb, true
}
