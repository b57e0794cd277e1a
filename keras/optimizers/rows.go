package optimizers

import "github.com/cairnml/cairn/ops"

// If a step has looked up some rows of a table, the gradient is slices. tf_keras's formulas
// for them differ from those for the whole tensor, whose other rows are zero: some keep the
// slots of the other rows, and sums are rounded in another order. These formulas must stay. The
// rules' UpdateRows have them, and call the functions below.

// summed returns the slices with those of one row added up, so that each row has one slice at
// most. Rows are in the order of their first slices.
func summed(s *ops.Scope, x ops.IndexedSlices) ops.IndexedSlices {
	rows, place := ops.Unique(s, x.Indices)
	n := ops.StridedSlice(s, ops.Shape(s, rows), ops.At(0))
	return ops.IndexedSlices{Values: s.Emit1("UnsortedSegmentSum", nil, x.Values, place, n), Indices: rows, Shape: x.Shape}
}

// onValues changes the values of a gradient, those of its slices if it has some.
func onValues(s *ops.Scope, g *ops.Value, f func(*ops.Value) *ops.Value) *ops.Value {
	x, ok := g.IndexedSlices()
	if !ok {
		return f(g)
	}
	x.Values = f(x.Values)
	return x.Value(s)
}

// valuesOf returns the values of a gradient, those of its slices if it has some.
func valuesOf(g *ops.Value) *ops.Value {
	if x, ok := g.IndexedSlices(); ok {
		return x.Values
	}
	return g
}
