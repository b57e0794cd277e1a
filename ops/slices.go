package ops

import (
	"errors"

	"github.com/cairnml/cairn/graph"
)

// IndexedSlices is a tensor that is given by some slices along the first
// dimension; all others are zero. It is the gradient with regard to a table if
// a step has read a few rows of it.
type IndexedSlices struct {
	// Values are the slices, concatenated along the first dimension.
	Values *Value
	// Indices has the place of each slice, an int32 or int64 vector. A place that
	// is named more than once has the sum.
	Indices *Value
	// Shape is the whole tensor's shape, an int32 or int64 vector.
	Shape *Value
}

// sparse is the data of a value that is an IndexedSlices.
type sparse struct {
	IndexedSlices
	scope *Scope // on which the slices were made
	fact  graph.Fact
	dense *Value // nil until it is first needed
}

var errNoSlices = errors.New("the values, the indices or the shape of the slices are nil")

// Value returns the tensor that the slices are parts of. It can be used as any other
// value: an op that takes it gets the whole tensor. That is made once, when it is first
// needed. [Value.IndexedSlices] returns the slices.
func (x IndexedSlices) Value(s *Scope) *Value {
	if !s.alive() {
		return s.failed()
	}
	if x.Values == nil || x.Indices == nil || x.Shape == nil {
		return s.Fail("IndexedSlices", errNoSlices)
	}
	v := s.newValue(nil)
	v.mark().sparse = &sparse{IndexedSlices: x, scope: s, fact: x.fact()}
	return v
}

// fact returns the known facts about the whole tensor.
func (x IndexedSlices) fact() graph.Fact {
	f := graph.Fact{DType: x.Values.DType()}
	if shape, ok, err := x.Shape.Fact().AsShape(); ok && err == nil && shape.HasRank() {
		f.Shape = shape
	} else if of := x.Values.Fact().Shape; of.HasRank() && of.Rank() > 0 {
		f.Shape = of.Anonymous().With(0, -1)
	}
	return f
}

// IndexedSlices returns the value as slices, if it was made of some: a gradient with
// regard to a table is, if all uses of the table were look-ups.
func (v *Value) IndexedSlices() (x IndexedSlices, ok bool) {
	if v == nil || v.extras().sparse == nil {
		return IndexedSlices{}, false
	}
	return v.extra.sparse.IndexedSlices, true
}

// whole returns the whole tensor if v is slices of one, and v otherwise.
func (v *Value) whole() *Value {
	if v == nil || v.extras().sparse == nil {
		return v
	}
	p := v.extra.sparse
	if p.dense == nil {
		s := p.scope
		var rows *Value
		if f := p.fact.Shape; f.HasRank() && f.Rank() > 0 && f.Dim(0) >= 0 {
			rows = s.scalar32(f.Dim(0))
		} else {
			rows = StridedSlice(s, p.Shape, At(0))
		}
		p.dense = s.Emit1("UnsortedSegmentSum", nil, p.Values, p.Indices, rows)
	}
	return p.dense
}

// wholeInputs makes the whole tensors of an op's inputs that are slices. Making them emits
// other ops, which must happen before this op's inputs are collected in step.ins.
func wholeInputs(inputs []Input) {
	for _, in := range inputs {
		if v, ok := in.(*Value); ok && v != nil && v.extra != nil && v.extra.sparse != nil {
			v.whole()
		}
	}
}
