package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
)

// setRules returns the rules of sums, parts and counts of sparse tensors, of sets
// in their rows and of crosses of features.
func setRules() map[string]Rule {
	return join(
		rules(sparseUnion, "SparseAdd", "SparseSparseMaximum", "SparseSparseMinimum"),
		rules(sparseReduce, "SparseReduceSum", "SparseReduceMax"),
		rules(sparseReduceSparse, "SparseReduceSumSparse", "SparseReduceMaxSparse"),
		rules(sparseCwise, "SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"),
		rules(anySparse, "DeserializeSparse", "DeserializeManySparse", "TakeManySparseFromTensorsMap"),
		rules(segmentsGrad(false), "SparseSegmentSumGrad", "SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad"),
		rules(segmentsGrad(true), "SparseSegmentSumGradV2", "SparseSegmentMeanGradV2", "SparseSegmentSqrtNGradV2"),
		rules(counts, "SparseCountSparseOutput", "DenseCountSparseOutput", "RaggedCountSparseOutput"),
		rules(crosses, "SparseCross", "SparseCrossV2", "SparseCrossHashed"),
		rules(setOperation, "DenseToDenseSetOperation", "DenseToSparseSetOperation", "SparseToSparseSetOperation"),
		map[string]Rule{
			"SparseAddGrad": sparseAddGrad, "SparseSplit": sparseSplit, "SparseSliceGrad": sparseSliceGrad,
			"SparseTensorDenseAdd": sparseDenseAdd, "SparseSoftmax": sparseSoftmax,
			"SerializeSparse": func(c *Inference) error { return c.serialized(false) }, "SerializeManySparse": func(c *Inference) error { return c.serialized(true) },
			"AddSparseToTensorsMap": func(c *Inference) error { return c.tensorsMap(false) }, "AddManySparseToTensorsMap": func(c *Inference) error { return c.tensorsMap(true) },
			"SparseBincount": sparseBincount, "RaggedBincount": raggedBincount, "EditDistance": editDistance, "SetSize": setSize,
			"RaggedCross": raggedCross,
		})
}

// sparseUnion infers the values at indices of either of two sparse tensors.
func sparseUnion(c *Inference) error {
	if err := c.atLeast(6); err != nil {
		return err
	}
	_, rank, err := c.matrixAnd(0, 1, 2)
	if err != nil {
		return err
	}
	_, other, err := c.matrixAnd(3, 4, 5)
	if err != nil {
		return err
	}
	rank, ok := graph.MergeDim(rank, other)
	if !ok {
		return fmt.Errorf("the tensors have %d and %d dimensions", rank, other)
	}
	n := graph.NewDim()
	c.setDims(0, n, rank)
	c.setDims(1, n)
	if len(c.Out) > 2 {
		c.setDims(2, rank)
	}
	return nil
}

func sparseAddGrad(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	for i := range 2 {
		s, err := c.ranked(1+i, 2)
		if err != nil {
			return err
		}
		c.setDims(i, s.Dim(0))
	}
	return nil
}

func sparseSplit(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	_, rank, err := c.matrixAnd(1, 2, 3)
	if err != nil {
		return err
	}
	count := len(c.Out) / 3
	for i := range count {
		n := graph.NewDim()
		c.setDims(i, n, rank)
		c.setDims(count+i, n)
		c.setDims(2*count+i, rank)
	}
	return nil
}

func sparseSliceGrad(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	s, err := c.ranked(1, 2)
	if err != nil {
		return err
	}
	c.setDims(0, s.Dim(0))
	return nil
}

// sparseReduce drops the dimensions that are named, or leaves them with size 1.
func sparseReduce(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	_, rank, err := c.matrixAnd(0, 1, 2)
	if err != nil {
		return err
	}
	keep := c.Attrs.Bool("keep_dims")
	axes, ok := c.knownInts(3)
	if rank < 0 || !ok {
		if rank >= 0 && keep {
			c.set(0, graph.OfRank(rank))
		}
		return nil
	}
	reduced := make([]bool, rank)
	for _, a := range axes {
		k, err := Axis(a, rank)
		if err != nil {
			return err
		}
		reduced[k] = true
	}
	in, _, err := c.In[2].AsShape()
	if err != nil {
		return err
	}
	var dims []int
	for d := range rank {
		switch {
		case !reduced[d] && in.HasRank():
			dims = append(dims, in.Dim(d))
		case !reduced[d]:
			dims = append(dims, graph.NewDim())
		case keep:
			dims = append(dims, 1)
		}
	}
	c.setDims(0, dims...)
	return nil
}

func sparseReduceSparse(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	c.sparse(0, -1)
	return nil
}

func sparseCwise(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	n, _, err := c.matrixAnd(0, 1, 2)
	if err != nil {
		return err
	}
	c.setDims(0, n)
	return nil
}

func sparseDenseAdd(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	if _, _, err := c.matrixAnd(0, 1, 2); err != nil {
		return err
	}
	c.set(0, c.shape(3))
	return nil
}

func sparseSoftmax(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	n, _, err := c.matrixAnd(0, 1, 2)
	if err != nil {
		return err
	}
	c.setDims(0, n)
	return nil
}

// serialized infers three strings for a sparse tensor, or for each of its rows.
func (c *Inference) serialized(many bool) error {
	if err := c.need(3); err != nil {
		return err
	}
	if _, _, err := c.matrixAnd(0, 1, 2); err != nil {
		return err
	}
	if many {
		c.setDims(0, c.firstSize(2), 3)
	} else {
		c.setDims(0, 3)
	}
	return nil
}

// firstSize returns the first element of the shape in input i.
func (c *Inference) firstSize(i int) int {
	if e, ok := c.In[i].Ints(); ok && len(e) > 0 {
		if n, ok := e[0].Size(); ok {
			return n
		}
	}
	return graph.NewDim()
}

// tensorsMap infers a number for a sparse tensor, or for each of its rows.
func (c *Inference) tensorsMap(many bool) error {
	if err := c.need(3); err != nil {
		return err
	}
	if _, _, err := c.matrixAnd(0, 1, 2); err != nil {
		return err
	}
	if many {
		c.setDims(0, c.firstSize(2))
	} else {
		c.setDims(0)
	}
	return nil
}

func anySparse(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	c.sparse(0, -1)
	return nil
}

// segmentsGrad infers a row of gradients for each row of the data. If compact,
// it infers one for each row that the indices name.
func segmentsGrad(compact bool) Rule {
	return func(c *Inference) error {
		if err := c.need(4); err != nil {
			return err
		}
		s, err := c.segments()
		if err != nil {
			return err
		}
		if err := c.scalar(3); err != nil {
			return err
		}
		n := graph.NewDim()
		if compact {
			c.setDims(1, n)
		} else if n, err = c.size(3, "the number of rows"); err != nil {
			return err
		}
		return c.setRows(n, s)
	}
}

// counts infers a sparse tensor with the rank of the numbers.
func counts(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	rank := -1
	switch c.Op {
	case "RaggedCountSparseOutput":
		rank = 2
	case "DenseCountSparseOutput":
		rank = c.shape(0).Rank()
	default:
		if err := c.need(4); err != nil {
			return err
		}
		_, r, err := c.matrixAnd(0, 1, 2)
		if err != nil {
			return err
		}
		rank = r
	}
	c.sparse(0, rank)
	return nil
}

func sparseBincount(c *Inference) error {
	if err := c.need(5); err != nil {
		return err
	}
	_, rank, err := c.matrixAnd(0, 1, 2)
	if err != nil {
		return err
	}
	size, err := c.size(3, "the number of bins")
	if err != nil {
		return err
	}
	switch rank {
	case 1:
		c.setDims(0, size)
	case 2:
		c.setDims(0, c.firstSize(2), size)
	}
	return nil
}

func raggedBincount(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	n, err := c.vector(0)
	if err != nil {
		return err
	}
	size, err := c.size(2, "the number of bins")
	if err != nil {
		return err
	}
	rows := graph.NewDim()
	if n > 0 {
		rows = n - 1
	}
	c.setDims(0, rows, size)
	return nil
}

// editDistance infers a number for each row of both tensors.
func editDistance(c *Inference) error {
	if err := c.need(6); err != nil {
		return err
	}
	_, rank, err := c.matrixAnd(0, 1, 2)
	if err != nil {
		return err
	}
	_, other, err := c.matrixAnd(3, 4, 5)
	if err != nil {
		return err
	}
	rank, ok := graph.MergeDim(rank, other)
	if !ok || rank == 0 {
		return fmt.Errorf("the tensors have %d and %d dimensions", rank, other)
	}
	if rank < 0 {
		return nil
	}
	dims := make([]int, rank-1)
	a, aok, err := c.In[2].AsShape()
	if err != nil {
		return err
	}
	b, bok, err := c.In[5].AsShape()
	if err != nil {
		return err
	}
	for d := range dims {
		dims[d] = graph.NewDim()
		if aok && bok && a.HasRank() && b.HasRank() && a.Dim(d) >= 0 && b.Dim(d) >= 0 {
			dims[d] = max(a.Dim(d), b.Dim(d))
		}
	}
	c.setDims(0, dims...)
	return nil
}

// setOperation infers a sparse tensor with the rank of the sets.
func setOperation(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	rank := -1
	merge := func(r int) error {
		if r < 0 {
			return nil
		}
		if r < 2 || rank >= 0 && r != rank {
			return fmt.Errorf("the sets have %d dimensions (want 2 or more, the same for both)", r)
		}
		rank = r
		return nil
	}
	at := 0
	if c.Op == "SparseToSparseSetOperation" {
		if err := c.need(6); err != nil {
			return err
		}
		_, r, err := c.matrixAnd(0, 1, 2)
		if err != nil {
			return err
		}
		if err := merge(r); err != nil {
			return err
		}
		at = 3
	} else {
		if err := merge(c.shape(0).Rank()); err != nil {
			return err
		}
		at = 1
	}
	if c.Op == "DenseToDenseSetOperation" {
		if err := merge(c.shape(at).Rank()); err != nil {
			return err
		}
	} else {
		if err := c.atLeast(at + 3); err != nil {
			return err
		}
		_, r, err := c.matrixAnd(at, at+1, at+2)
		if err != nil {
			return err
		}
		if err := merge(r); err != nil {
			return err
		}
	}
	c.sparse(0, rank)
	return nil
}

func setSize(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	if _, _, err := c.matrixAnd(0, 1, 2); err != nil {
		return err
	}
	s, ok, err := c.In[2].AsShape()
	if err != nil || !ok || !s.HasRank() || s.Rank() < 1 {
		return err
	}
	outer, err := s.From(0, s.Rank()-1)
	if err != nil {
		return err
	}
	c.set(0, outer)
	return nil
}

func crosses(c *Inference) error {
	c.sparse(0, 2)
	return nil
}

// raggedCross infers values and row splits, one more than there are rows.
func raggedCross(c *Inference) error {
	c.setDims(0, graph.NewDim())
	ragged, sparse := len(c.Attrs.Types("ragged_values_types")), int(c.Attrs.Int("Nsparse", 0))
	if sparse < 0 || sparse > len(c.In) || len(c.In) != 2*ragged+3*sparse+len(c.Attrs.Types("dense_types")) {
		return fmt.Errorf("there are %d inputs for %d ragged and %d sparse tensors", len(c.In), ragged, sparse)
	}
	splits := graph.NewDim()
	merge := func(n int) error {
		m, ok := graph.MergeDim(splits, n)
		if !ok {
			return fmt.Errorf("the features have %d and %d rows", splits-1, n-1)
		}
		splits = m
		return nil
	}
	for i := range ragged {
		n, err := c.vector(ragged + i)
		if err == nil {
			err = merge(n)
		}
		if err != nil {
			return err
		}
	}
	for i := range sparse {
		if n := c.firstSize(2*ragged + 2*sparse + i); n >= 0 {
			if err := merge(n + 1); err != nil {
				return err
			}
		}
	}
	for i := 2*ragged + 3*sparse; i < len(c.In); i++ {
		s, err := c.ranked(i, 2)
		if err != nil {
			return err
		}
		if n := s.Dim(0); n >= 0 {
			if err := merge(n + 1); err != nil {
				return err
			}
		}
	}
	c.setDims(1, splits)
	return nil
}
