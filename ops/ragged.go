package ops

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Ragged is a ragged tensor of one ragged dimension: rows of different lengths, such as
// the words of several sentences.
type Ragged struct {
	// Values are the elements of all rows, one row after the other.
	Values *Value
	// RowSplits is an int64 vector: row i is Values[RowSplits[i]:RowSplits[i+1]].
	RowSplits *Value
}

// RaggedOfRows returns the ragged tensor whose values belong to rows, an int64 vector that
// rises. n is the number of rows.
func RaggedOfRows(s *Scope, values, rows, n Input) Ragged {
	rows = Const(s, rows)
	counts := s.Emit1("UnsortedSegmentSum", nil, OnesLike(s, rows), rows, n)
	splits := Concat(s, []*Value{Zeros(s, tensor.Int64, 1), CumSum(s, counts, 0)}, 0)
	return Ragged{Const(s, values), splits}
}

// RowLengths returns the lengths of the rows, an int64 vector.
func (r Ragged) RowLengths(s *Scope) *Value {
	return Sub(s, StridedSlice(s, r.RowSplits, From(1)), StridedSlice(s, r.RowSplits, To(-1)))
}

// ToTensor returns a tensor with a row for each row, filled up with missing to the length of
// the longest.
func (r Ragged) ToTensor(s *Scope, missing Input) *Value {
	return s.Emit1("RaggedTensorToTensor", graph.Attrs{graph.Strings("row_partition_types", "ROW_SPLITS")},
		ConstOf(s, tensor.Int64, []int{-1, -1}), r.Values, missing, r.RowSplits)
}
