package featurecolumn

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Inputs are the features of one call.
type Inputs struct {
	// Values has the features by name. Vectors are columns of one element in each row.
	Values map[string]*ops.Value

	deep bool // features may have any number of dimensions of 2 or more
}

// dense returns a feature that is no sparse tensor, with 2 dimensions or more.
func (in *Inputs) dense(s *ops.Scope, name string) (*ops.Value, error) {
	x := in.Values[name]
	if x == nil {
		return nil, fmt.Errorf("there is no feature %q", name)
	}
	if _, ok := base.SparseOf(x); ok {
		return nil, fmt.Errorf("the feature %q is sparse, want a dense one", name)
	}
	switch rank := x.Fact().Shape.Rank(); {
	case rank < 1:
		return nil, fmt.Errorf("the feature %q has the shape %v, want a batch's dimension", name, x.Fact().Shape)
	case rank == 1:
		x = ops.ExpandDims(s, x, -1)
	}
	return x, nil
}

// sparse returns a feature as a sparse matrix, or as a sparse tensor of any rank if in is deep. Of a dense feature it
// takes the elements that differ from ignore. A nil ignore means the empty string, -1 for integers and 0 for floats, as
// in TensorFlow's _to_sparse_input_and_drop_ignore_values.
func (in *Inputs) sparse(s *ops.Scope, name string, ignore ops.Input) (base.Sparse, error) {
	x := in.Values[name]
	if x != nil {
		if t, ok := base.SparseOf(x); ok {
			return in.matrix(s, name, t)
		}
	}
	x, err := in.dense(s, name)
	if err != nil {
		return base.Sparse{}, err
	}
	if rank := x.Fact().Shape.Rank(); rank != 2 && !in.deep {
		return base.Sparse{}, fmt.Errorf("the feature %q has %d dimensions, want 1 or 2", name, rank)
	}
	switch d := x.DType(); {
	case ignore != nil:
	case d == tensor.String:
		ignore = tensor.Must(tensor.New([]string{""}))
	case d.IsInteger():
		ignore = ops.ConstOf(s, d, -1)
	default:
		ignore = ops.ConstOf(s, d, 0)
	}
	indices := ops.WhereIndices(s, ops.NotEqual(s, x, ignore))
	return base.Sparse{Indices: indices, Values: ops.GatherND(s, x, indices), Shape: ops.Cast(s, ops.Shape(s, x), tensor.Int64)}, nil
}

// matrix returns a sparse tensor of 1 or 2 dimensions as a matrix.
func (in *Inputs) matrix(s *ops.Scope, name string, t base.Sparse) (base.Sparse, error) {
	shape, _, err := t.Shape.Fact().AsShape()
	if err != nil {
		return t, err
	}
	switch rank := shape.Rank(); {
	case rank == 2, rank > 2 && in.deep:
		return t, nil
	case rank == 1:
		return base.Sparse{Indices: ops.Pad(s, t.Indices, [2]int{}, [2]int{0, 1}), Values: t.Values,
			Shape: ops.Concat(s, []ops.Input{t.Shape, []int64{1}}, 0)}, nil
	}
	return t, fmt.Errorf("the sparse feature %q has the shape %v, want 1 or 2 dimensions", name, shape)
}

// failed returns a failed tensor of categories.
func failed(s *ops.Scope, column string, err error) base.Sparse {
	v := s.Fail("Column", fmt.Errorf("column %s: %w", column, err))
	return base.Sparse{Indices: v, Values: v, Shape: v}
}

// sumByRow returns the sums of values [n, …] of the places of a sparse matrix, for each row.
func sumByRow(s *ops.Scope, t base.Sparse, values *ops.Value) *ops.Value {
	rows := ops.StridedSlice(s, t.Indices, ops.Whole(), ops.At(0))
	return ops.UnsortedSegmentSumOf(s, values, rows, ops.StridedSlice(s, t.Shape, ops.At(0)))
}

// crossed returns the hashes of all combinations of the rows' elements, by the op SparseCross with
// buckets categories and the key of the hash. Integers are hashed as int64. The order of in decides
// the hashes.
func crossed(s *ops.Scope, in []*ops.Value, buckets, key int64) base.Sparse {
	var indices, values, shapes, dense []ops.Input
	var sparseTypes, denseTypes []tensor.DType
	internal := tensor.String
	whole := func(v *ops.Value) *ops.Value {
		if v.DType() == tensor.String {
			return v
		}
		internal = tensor.Int64
		return ops.Cast(s, v, tensor.Int64)
	}
	for _, x := range in {
		if t, ok := base.SparseOf(x); ok {
			v := whole(t.Values)
			indices, values, shapes = append(indices, t.Indices), append(values, v), append(shapes, t.Shape)
			sparseTypes = append(sparseTypes, v.DType())
			continue
		}
		v := whole(x)
		dense, denseTypes = append(dense, v), append(denseTypes, v.DType())
	}
	all := append(append(append(indices, values...), shapes...), dense...)
	out := s.EmitN(3, "SparseCross", graph.Attrs{graph.Int("N", int64(len(sparseTypes))), graph.Types("sparse_types", sparseTypes...), graph.Types("dense_types", denseTypes...),
		graph.Bool("hashed_output", true), graph.Int("num_buckets", buckets), graph.Int("hash_key", key),
		graph.Type("out_type", tensor.Int64), graph.Type("internal_type", internal)}, all...)
	return base.Sparse{Indices: out[0], Values: out[1], Shape: out[2]}
}
