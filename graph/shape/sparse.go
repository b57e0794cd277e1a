package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
)

// sparseRules returns the rules of ops on sparse and ragged tensors.
func sparseRules() map[string]Rule {
	return join(setRules(), csrRules(),
		rules(sparseSegments, "SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSumWithNumSegments",
			"SparseSegmentMeanWithNumSegments", "SparseSegmentSqrtNWithNumSegments"),
		map[string]Rule{
			"SparseToDense": sparseToDense, "SparseReshape": sparseReshape, "SparseReorder": sparseReorder, "SparseConcat": sparseConcat,
			"SparseSlice": sparseSlice, "SparseFillEmptyRows": sparseFillEmptyRows, "SparseFillEmptyRowsGrad": sparseFillEmptyRowsGrad,
			"SparseTensorDenseMatMul": sparseMatMul,
			"RaggedTensorToTensor":    raggedToTensor, "RaggedTensorToSparse": raggedToSparse, "RaggedRange": raggedRange, "RaggedGather": raggedGather,
			"DynamicPartition": dynamicPartition, "RaggedTensorToVariant": raggedToVariant, "RaggedTensorFromVariant": raggedFromVariant,
			"RaggedTensorToVariantGradient": raggedVariantGrad, "RaggedFillEmptyRows": raggedFillEmptyRows, "RaggedFillEmptyRowsGrad": sparseFillEmptyRowsGrad,
		})
}

// matrixAnd checks the shapes of a sparse tensor's indices, values and shape.
// It returns the number of values and of dimensions, which may be unknown.
func (c *Inference) matrixAnd(indices, values, shape int) (n, rank int, err error) {
	at, err := c.ranked(indices, 2)
	if err != nil {
		return 0, 0, err
	}
	n, rank = at.Dim(0), at.Dim(1)
	for _, x := range []struct {
		in int
		d  *int
	}{{values, &n}, {shape, &rank}} {
		if x.in < 0 {
			continue
		}
		d, err := c.vector(x.in)
		if err != nil {
			return 0, 0, err
		}
		m, ok := graph.MergeDim(*x.d, d)
		if !ok {
			return 0, 0, fmt.Errorf("input %d has %d elements, not %d", x.in, d, *x.d)
		}
		*x.d = m
	}
	return n, rank, nil
}

func sparseToDense(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	s, err := c.sizes(1, "the shape")
	if err == nil {
		c.set(0, s)
	}
	return err
}

func sparseReshape(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	n, _, err := c.matrixAnd(0, -1, 1)
	if err != nil {
		return err
	}
	rank, err := c.vector(2)
	if err != nil {
		return err
	}
	c.setDims(0, n, rank)
	c.setDims(1, rank)
	return nil
}

func sparseReorder(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	n, rank, err := c.matrixAnd(0, 1, 2)
	if err != nil {
		return err
	}
	c.setDims(0, n, rank)
	c.setDims(1, n)
	return nil
}

func sparseConcat(c *Inference) error {
	count := int(c.Attrs.Int("N", 0))
	if count < 1 || count > len(c.In) || len(c.In) != 3*count {
		return fmt.Errorf("takes three lists of %d inputs, %d were given", count, len(c.In))
	}
	total, rank := 0, -1
	for i := range count {
		n, r, err := c.matrixAnd(i, count+i, 2*count+i)
		if err != nil {
			return err
		}
		if total, err = AddDims(total, n); err != nil {
			return err
		}
		if i == 0 {
			rank = r
			continue
		}
		m, ok := graph.MergeDim(rank, r)
		if !ok {
			return fmt.Errorf("tensors of %d and %d dimensions", rank, r)
		}
		rank = m
	}
	c.setDims(0, total, rank)
	c.setDims(1, total)
	c.setDims(2, rank)
	return nil
}

func sparseSlice(c *Inference) error {
	if err := c.need(5); err != nil {
		return err
	}
	s := c.shape(2)
	for i := 3; i < 5; i++ {
		var err error
		if s, err = s.Merge(c.shape(i)); err != nil {
			return err
		}
	}
	at, err := c.ranked(0, 2)
	if err != nil {
		return err
	}
	if s, err = s.Merge(graph.ShapeOf(at.Dim(1))); err != nil {
		return err
	}
	n := graph.NewDim()
	c.setDims(0, n, s.Dim(0))
	c.setDims(1, n)
	c.set(2, s)
	return nil
}

func sparseFillEmptyRows(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	n, rank, err := c.matrixAnd(0, 1, 2)
	if err != nil {
		return err
	}
	if err := c.scalar(3); err != nil {
		return err
	}
	total, rows := graph.NewDim(), graph.NewDim()
	if e, ok := c.In[2].Ints(); ok && len(e) > 0 {
		if d, ok := e[0].Size(); ok {
			rows = d
		}
	}
	c.setDims(0, total, rank)
	c.setDims(1, total)
	c.setDims(2, rows)
	c.setDims(3, n)
	return nil
}

func sparseFillEmptyRowsGrad(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	if _, err := c.vector(1); err != nil {
		return err
	}
	s, err := c.ranked(0, 1)
	if err != nil {
		return err
	}
	c.set(0, s)
	c.setDims(1)
	return nil
}

// segments returns the shape of input 0, rows that the indices in input 1 name for
// as many segments in input 2.
func (c *Inference) segments() (graph.PartialShape, error) {
	s, err := c.minRank(0, 1)
	if err != nil {
		return s, err
	}
	a, err := c.vector(1)
	if err != nil {
		return s, err
	}
	b, err := c.vector(2)
	if err != nil {
		return s, err
	}
	if _, ok := graph.MergeDim(a, b); !ok {
		return s, fmt.Errorf("there are %d indices and %d segments", a, b)
	}
	return s, nil
}

// setRows sets output 0's shape to n rows of the shape of those of s.
func (c *Inference) setRows(n int, s graph.PartialShape) error {
	if !s.HasRank() {
		return nil
	}
	rest, err := s.From(1, graph.End)
	if err == nil {
		c.set(0, graph.ShapeOf(n).Concat(rest))
	}
	return err
}

// sparseSegments infers one row per segment. Their number is the last input, or
// depends on values.
func sparseSegments(c *Inference) error {
	if err := c.atLeast(3); err != nil {
		return err
	}
	s, err := c.segments()
	if err != nil {
		return err
	}
	n := graph.NewDim()
	if len(c.In) > 3 {
		if err := c.scalar(3); err != nil {
			return err
		}
		if n, err = c.size(3, "the number of segments"); err != nil {
			return err
		}
	}
	return c.setRows(n, s)
}

func sparseMatMul(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	if _, _, err := c.matrixAnd(0, 1, 2); err != nil {
		return err
	}
	b, err := c.ranked(3, 2)
	if err != nil {
		return err
	}
	rows, inner := graph.NewDim(), graph.NewDim()
	if e, ok := c.In[2].Ints(); ok {
		if len(e) != 2 {
			return fmt.Errorf("the sparse tensor has %d dimensions", len(e))
		}
		r, rok := e[0].Size()
		i, iok := e[1].Size()
		if !rok || !iok {
			return fmt.Errorf("the sparse tensor's shape is %v", e)
		}
		rows, inner = r, i
	}
	if c.Attrs.Bool("adjoint_a") {
		rows, inner = inner, rows
	}
	k, cols := b.Dim(0), b.Dim(1)
	if c.Attrs.Bool("adjoint_b") {
		k, cols = cols, k
	}
	if _, ok := graph.MergeDim(inner, k); !ok {
		return fmt.Errorf("the inner sizes are %d and %d", inner, k)
	}
	c.setDims(0, rows, cols)
	return nil
}

// raggedToTensor infers the requested shape. Sizes that it leaves open depend
// on the rows, or are those of the values.
func raggedToTensor(c *Inference) error {
	if err := c.atLeast(3); err != nil {
		return err
	}
	levels := len(c.In) - 3
	if t := c.Attrs.Strings("row_partition_types"); len(t) > 0 && t[0] == "FIRST_DIM_SIZE" {
		levels--
	}
	out := graph.UnknownShape
	if n := c.shape(0); n.Rank() == 1 { // the scalar -1 asks for any shape
		s, ok, err := c.In[0].AsShape()
		switch {
		case err != nil:
			return err
		case ok:
			out = s
		case n.Dim(0) >= 0:
			out = graph.OfRank(n.Dim(0))
		}
	}
	if s := c.shape(1); s.HasRank() && levels >= 0 {
		if s.Rank() < 1 {
			return fmt.Errorf("the values are a scalar")
		}
		inner, err := s.From(1, graph.End)
		if err != nil {
			return err
		}
		all := graph.OfRank(1 + levels).Concat(inner)
		if !all.HasRank() {
			return nil
		}
		if out, err = out.Merge(all); err != nil {
			return fmt.Errorf("the shape: %w", err)
		}
	}
	c.set(0, out)
	return nil
}

func raggedToSparse(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	levels := len(c.In) - 1
	s := c.shape(levels)
	rank, n := graph.NewDim(), graph.NewDim()
	if s.HasRank() {
		if s.Rank() < 1 {
			return fmt.Errorf("the values are a scalar")
		}
		rank = s.Rank() + levels
		var err error
		if n, err = product(s.Dims()); err != nil {
			return err
		}
	}
	c.setDims(0, n, rank)
	c.setDims(1, n)
	c.setDims(2, rank)
	return nil
}

func raggedRange(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	n, some, unknown := -1, false, false
	for i := range c.In {
		s := c.shape(i)
		switch {
		case !s.HasRank():
			unknown = true
		case s.Rank() > 1:
			return fmt.Errorf("input %d has %d dimensions", i, s.Rank())
		case s.Rank() == 1:
			m, ok := graph.MergeDim(n, s.Dim(0))
			if !ok && some {
				return fmt.Errorf("there are %d and %d rows", n, s.Dim(0))
			}
			n, some = m, true
		}
	}
	switch {
	case some && n >= 0:
		rows, err := AddDims(n, 1)
		if err != nil {
			return err
		}
		c.setDims(0, rows)
	case !some && !unknown:
		c.setDims(0, 2)
	default:
		c.set(0, graph.OfRank(1))
	}
	c.set(1, graph.OfRank(1))
	return nil
}

func raggedGather(c *Inference) error {
	if err := c.atLeast(3); err != nil {
		return err
	}
	values, indices := c.shape(len(c.In)-2), c.shape(len(c.In)-1)
	for i := range len(c.Out) - 1 {
		c.set(i, graph.OfRank(1))
	}
	if indices.HasRank() && indices.Rank() > 0 && len(c.Out) > 1 {
		if n, ok := indices.NumElements(); ok && indices.Rank() == 1 && n < 1<<30 {
			c.setDims(0, n+1)
		}
	}
	if values.HasRank() && len(c.Out) > 0 {
		rest, err := values.From(1, graph.End)
		if err != nil {
			return err
		}
		c.set(len(c.Out)-1, graph.OfRank(1).Concat(rest))
	}
	return nil
}

func dynamicPartition(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, p := c.shape(0), c.shape(1)
	if !s.HasRank() || !p.HasRank() {
		return nil
	}
	begin, err := s.From(0, p.Rank())
	if err != nil {
		return err
	}
	if _, err := begin.Merge(p); err != nil {
		return err
	}
	rest, err := s.From(p.Rank(), graph.End)
	if err != nil {
		return err
	}
	for i := range c.Out {
		c.set(i, graph.OfRank(1).Concat(rest))
	}
	return nil
}

// raggedToVariant infers one variant per row, or a single one.
func raggedToVariant(c *Inference) error {
	levels := len(c.In) - 1
	if err := c.atLeast(1); err != nil {
		return err
	}
	for i := range levels {
		if _, err := c.vector(i); err != nil {
			return err
		}
	}
	if !c.Attrs.Bool("batched_input") {
		c.setDims(0)
		return nil
	}
	n := graph.NewDim()
	switch s := c.shape(levels); {
	case levels > 0:
		if k := c.shape(0).Dim(0); k > 0 {
			n = k - 1
		}
	case s.HasRank() && s.Rank() > 0:
		n = s.Dim(0)
	}
	c.setDims(0, n)
	return nil
}

// raggedFromVariant infers splits for every level. The dimensions of the
// variants are the outermost ones.
func raggedFromVariant(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	for i := range len(c.Out) - 1 {
		c.set(i, graph.OfRank(1))
	}
	s := c.shape(0)
	inner, levels := int(c.Attrs.Int("input_ragged_rank", 0)), int(c.Attrs.Int("output_ragged_rank", 0))
	if inner >= 0 && s.HasRank() && s.Rank()+inner != levels {
		return fmt.Errorf("variants of %d dimensions and ragged rank %d make no tensor of ragged rank %d", s.Rank(), inner, levels)
	}
	return nil
}

func raggedVariantGrad(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	s, err := c.sizes(2, "the shape of the values")
	if err == nil {
		c.set(0, s)
	}
	return err
}

func raggedFillEmptyRows(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	n, err := c.vector(0)
	if err != nil {
		return err
	}
	m, err := c.vector(1)
	if err != nil {
		return err
	}
	n, ok := graph.MergeDim(n, m)
	if !ok {
		return fmt.Errorf("there are %d rows of %d values", n, m)
	}
	rows, err := c.size(2, "the number of rows")
	if err != nil {
		return err
	}
	c.setDims(1, graph.NewDim())
	c.setDims(2, rows)
	c.setDims(3, n)
	return nil
}
