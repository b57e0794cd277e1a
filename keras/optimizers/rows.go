package optimizers

import "github.com/cairnml/cairn/ops"

// The gradient of a table of which a step has looked up some rows is slices. What
// the optimizers do with them is not always what they do with the whole tensor,
// of which the other rows are zero: some leave the other rows' slots as they are,
// and the sums are rounded otherwise. The formulas are tf_keras', as they stand
// beside the dense ones there.

// summed returns slices of which no two are of one row: those that are, are added
// up, as all optimizers have it that don't say otherwise.
func summed(s *ops.Scope, x ops.IndexedSlices) ops.IndexedSlices {
	rows, place := ops.Unique(s, x.Indices)
	n := ops.StridedSlice(s, ops.Shape(s, rows), ops.At(0))
	return ops.IndexedSlices{Values: s.Emit1("UnsortedSegmentSum", nil, x.Values, place, n), Indices: rows, Shape: x.Shape}
}

// onValues changes the values of a gradient: the slices' where it is slices.
func onValues(s *ops.Scope, g *ops.Value, f func(*ops.Value) *ops.Value) *ops.Value {
	x, ok := g.IndexedSlices()
	if !ok {
		return f(g)
	}
	x.Values = f(x.Values)
	return x.Value(s)
}

// valuesOf returns a gradient's values: the slices' where it is slices.
func valuesOf(g *ops.Value) *ops.Value {
	if x, ok := g.IndexedSlices(); ok {
		return x.Values
	}
	return g
}
