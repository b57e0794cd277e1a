package grad

import (
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// give adds dx to the gradient of a slot. Several slices are kept and joined
// when the sum is needed, so that any number of lookups in one table costs no
// more than their rows. Slices added to a whole tensor become one.
func (b *Op) give(slot int32, dx *ops.Value) {
	have := b.grads[slot]
	if have == nil {
		dx.Pin() // the gradient may live longer than the tape's hold on an input
		b.grads[slot] = dx
		return
	}
	if dx.DType() == tensor.Variant {
		b.grads[slot] = b.s.Emit1("AddN", nil, have, dx)
		return
	}
	if x, ok := dx.IndexedSlices(); ok {
		if _, ok := have.IndexedSlices(); ok {
			dx.Pin()
			b.slices[slot] = append(b.slices[slot], x)
			return
		}
	}
	b.grads[slot] = ops.Add(b.s, b.gradAt(slot), dx)
}

// change replaces the gradient with regard to input i by f of it, if there is
// one already, and reports whether there is.
func (b *Op) change(i int, f func(have *ops.Value) *ops.Value) bool {
	in := b.node.in[i]
	if in.slot < 0 || !b.needed[in.slot] || b.grads[in.slot] == nil {
		return false
	}
	b.grads[in.slot] = f(b.gradAt(in.slot))
	return true
}

// gradAt returns the gradient of a slot, nil if there is none.
func (b *Op) gradAt(slot int32) *ops.Value {
	more := b.slices[slot]
	if len(more) > 0 {
		first, _ := b.grads[slot].IndexedSlices()
		b.grads[slot] = joinSlices(b.s, append([]ops.IndexedSlices{first}, more...)).Value(b.s)
		delete(b.slices, slot)
	}
	return b.grads[slot]
}

// joinSlices returns the sum of slices of tensors of one shape: all of them,
// concatenated.
func joinSlices(s *ops.Scope, all []ops.IndexedSlices) ops.IndexedSlices {
	indices := sameIndices(s, all)
	values, at := make([]ops.Input, len(all)), make([]ops.Input, len(all))
	for i, x := range all {
		values[i], at[i] = x.Values, indices[i]
	}
	return ops.IndexedSlices{Values: ops.Concat(s, values, 0), Indices: ops.Concat(s, at, 0), Shape: all[0].Shape}
}

// sameIndices returns the indices with one type for all: int64 where they differ.
func sameIndices(s *ops.Scope, all []ops.IndexedSlices) []*ops.Value {
	indices, mixed := make([]*ops.Value, len(all)), false
	for i, x := range all {
		indices[i] = x.Indices
		mixed = mixed || x.Indices.DType() != all[0].Indices.DType()
	}
	if mixed {
		for i, x := range indices {
			indices[i] = ops.Cast(s, x, tensor.Int64)
		}
	}
	return indices
}

// slicesOf returns the gradient of a lookup of rows: dy, by the indices of any
// shape, of a table whose shape is an int32 vector.
func slicesOf(s *ops.Scope, dy, indices, shape *ops.Value) *ops.Value {
	flat := ops.Reshape(s, indices, -1)
	var values *ops.Value
	if dims, ok := ints(shape); ok && allKnown(indices) {
		values = ops.Reshape(s, dy, append([]int{count(indices.Shape())}, dims[1:]...)...)
	} else {
		tail := ops.StridedSlice(s, shape, ops.From(1))
		values = s.Emit1("Reshape", nil, dy, joinVectors(s, vector(s, ops.Size(s, flat)), tail))
	}
	return ops.IndexedSlices{Values: values, Indices: flat, Shape: shape}.Value(s)
}

// onSlices returns f of a gradient; f works element by element and preserves zeros:
// slices of slices.
func onSlices(s *ops.Scope, dy *ops.Value, f func(dy *ops.Value) *ops.Value) *ops.Value {
	x, ok := dy.IndexedSlices()
	if !ok {
		return f(dy)
	}
	x.Values = f(x.Values)
	if s.Err() != nil {
		return nil
	}
	return x.Value(s)
}

// asSlices returns a gradient as slices: of a whole tensor all rows.
func asSlices(s *ops.Scope, x *ops.Value) ops.IndexedSlices {
	if slices, ok := x.IndexedSlices(); ok {
		return slices
	}
	return ops.IndexedSlices{Values: x, Indices: upTo(s, sizeAt(s, x, ops.Const(s, int32(0)))), Shape: sizesOf(s, x)}
}
