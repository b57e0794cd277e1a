package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// csrRules returns the rules of sparse matrices that are variants. Their
// handles have the element type and the shape.
func csrRules() map[string]Rule {
	return map[string]Rule{
		"SparseTensorToCSRSparseMatrix": sparseToCSR, "DenseToCSRSparseMatrix": denseToCSR, "CSRSparseMatrixToSparseTensor": csrToSparse,
		"CSRSparseMatrixToDense": csrToDense, "CSRSparseMatrixComponents": csrComponents, "SparseMatrixNNZ": csrCount,
		"SparseMatrixTranspose": csrTranspose, "SparseMatrixMatMul": csrMatMul, "SparseMatrixSparseMatMul": csrProduct,
		"SparseMatrixSparseCholesky": csrCholesky,
	}
}

// csr returns the shape of the matrices that input i refers to. It has 2 or 3
// dimensions, if anything is known.
func (c *Inference) csr(i int, attr string) (graph.PartialShape, error) {
	if err := c.scalar(i); err != nil {
		return graph.UnknownShape, err
	}
	h, ok := c.held(i)
	if !ok {
		return graph.UnknownShape, nil
	}
	if d := c.Attrs.Type(attr, tensor.Invalid); attr != "" && d != tensor.Invalid && h.DType != tensor.Invalid && h.DType != d {
		return h.Shape, fmt.Errorf("the matrix holds %v, not %v", h.DType, d)
	}
	return h.Shape, matrixOrBatch(h.Shape)
}

func matrixOrBatch(s graph.PartialShape) error {
	if s.HasRank() && s.Rank() != 2 && s.Rank() != 3 {
		return fmt.Errorf("takes a matrix or a batch of matrices, not %v", s)
	}
	return nil
}

func sparseToCSR(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	_, rank, err := c.matrixAnd(0, 1, 2)
	if err != nil {
		return err
	}
	s, err := c.sizes(2, "the shape")
	if err != nil {
		return err
	}
	if !s.HasRank() && rank >= 0 {
		s = graph.OfRank(rank)
	}
	c.setList(0, c.In[1].DType, s)
	return matrixOrBatch(s)
}

func denseToCSR(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s := c.shape(0)
	at, err := c.ranked(1, 2)
	if err != nil {
		return err
	}
	if _, ok := graph.MergeDim(at.Dim(1), s.Rank()); s.HasRank() && !ok {
		return fmt.Errorf("indices of %d numbers in %d dimensions", at.Dim(1), s.Rank())
	}
	c.setList(0, c.In[0].DType, s)
	return matrixOrBatch(s)
}

func csrToSparse(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, err := c.csr(0, "type")
	if err != nil {
		return err
	}
	n, rank := graph.NewDim(), graph.NewDim()
	if s.HasRank() {
		rank = s.Rank()
	}
	c.setDims(0, n, rank)
	c.setDims(1, n)
	c.setDims(2, rank)
	return nil
}

func csrToDense(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, err := c.csr(0, "type")
	c.set(0, s)
	return err
}

func csrComponents(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := c.csr(0, "type")
	if err != nil {
		return err
	}
	rows, n := graph.NewDim(), graph.NewDim()
	if s.HasRank() {
		if k := s.Dim(s.Rank() - 2); k >= 0 {
			rows = k + 1
		}
	}
	c.setDims(0, rows)
	c.setDims(1, n)
	c.setDims(2, n)
	return c.scalar(1)
}

func csrCount(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, err := c.csr(0, "")
	if err != nil || !s.HasRank() {
		return err
	}
	if s.Rank() == 3 {
		c.setDims(0, s.Dim(0))
	} else {
		c.setDims(0)
	}
	return nil
}

// turnedShape returns a shape whose last two sizes change places.
func turnedShape(s graph.PartialShape, turn bool) graph.PartialShape {
	if !turn || !s.HasRank() {
		return s
	}
	dims := make([]int, s.Rank())
	for i := range dims {
		dims[i] = s.Dim(i)
	}
	n := len(dims)
	dims[n-1], dims[n-2] = dims[n-2], dims[n-1]
	return graph.ShapeOf(dims...)
}

func csrTranspose(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, err := c.csr(0, "type")
	if err == nil {
		c.setList(0, c.Attrs.Type("type", tensor.Invalid), turnedShape(s, true))
	}
	return err
}

// csrOperands returns the shape of the product of a and b, in the forms that the
// attributes ask for.
func (c *Inference) csrOperands(a, b graph.PartialShape) (graph.PartialShape, error) {
	for _, name := range []string{"a", "b"} {
		if c.Attrs.Bool("transpose_"+name) && c.Attrs.Bool("adjoint_"+name) {
			return a, fmt.Errorf("one of transpose_%s and adjoint_%s may be set, not both", name, name)
		}
	}
	a = turnedShape(a, c.Attrs.Bool("transpose_a") || c.Attrs.Bool("adjoint_a"))
	b = turnedShape(b, c.Attrs.Bool("transpose_b") || c.Attrs.Bool("adjoint_b"))
	if !a.HasRank() || !b.HasRank() {
		return graph.UnknownShape, nil
	}
	rank := a.Rank()
	if b.Rank() != rank {
		return a, fmt.Errorf("matrices of %d and %d dimensions", rank, b.Rank())
	}
	if _, ok := graph.MergeDim(a.Dim(rank-1), b.Dim(rank-2)); !ok {
		return a, fmt.Errorf("the inner sizes are %d and %d", a.Dim(rank-1), b.Dim(rank-2))
	}
	dims := []int{a.Dim(rank - 2), b.Dim(rank - 1)}
	if rank == 3 {
		n, ok := graph.MergeDim(a.Dim(0), b.Dim(0))
		if !ok {
			return a, fmt.Errorf("%d and %d matrices", a.Dim(0), b.Dim(0))
		}
		dims = append([]int{n}, dims...)
	}
	return graph.ShapeOf(dims...), nil
}

func csrMatMul(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	a, err := c.csr(0, "T")
	if err != nil {
		return err
	}
	b := c.shape(1)
	if err := matrixOrBatch(b); err != nil {
		return err
	}
	s, err := c.csrOperands(a, b)
	c.set(0, turnedShape(s, c.Attrs.Bool("transpose_output")))
	return err
}

func csrProduct(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	a, err := c.csr(0, "type")
	if err != nil {
		return err
	}
	b, err := c.csr(1, "type")
	if err != nil {
		return err
	}
	s, err := c.csrOperands(a, b)
	if err == nil {
		c.setList(0, c.Attrs.Type("type", tensor.Invalid), s)
	}
	return err
}

func csrCholesky(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := c.csr(0, "type")
	if err != nil {
		return err
	}
	if p := c.shape(1); s.HasRank() && p.HasRank() && p.Rank() != s.Rank()-1 {
		return fmt.Errorf("a permutation of shape %v for matrices of shape %v", p, s)
	}
	c.setList(0, c.Attrs.Type("type", tensor.Invalid), s)
	return nil
}
