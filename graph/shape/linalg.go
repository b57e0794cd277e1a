package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
)

// linalgRules returns the rules of linear algebra on batches of matrices [..., rows, cols].
func linalgRules() map[string]Rule {
	return join(
		rules(squareMatrix, "Cholesky", "BatchCholesky", "MatrixInverse", "BatchMatrixInverse",
			"MatrixExponential", "MatrixLogarithm", "MatrixSquareRoot"),
		rules(choleskyGrad, "CholeskyGrad", "BatchCholeskyGrad"),
		rules(solveLs, "MatrixSolveLs", "BatchMatrixSolveLs"),
		rules(selfAdjointEigV1, "SelfAdjointEig", "BatchSelfAdjointEig"),
		rules(determinant, "MatrixDeterminant", "BatchMatrixDeterminant", "LogMatrixDeterminant"),
		rules(matrixSolve, "MatrixSolve", "BatchMatrixSolve"),
		rules(triangularSolve, "MatrixTriangularSolve", "BatchMatrixTriangularSolve"),
		rules(selfAdjointEig, "SelfAdjointEigV2", "BatchSelfAdjointEigV2"),
		rules(svd, "Svd", "BatchSvd"),
		map[string]Rule{"Eig": selfAdjointEig, "BandedTriangularSolve": bandedSolve, "Lu": lu, "Qr": qr, "TridiagonalMatMul": tridiagonalMatMul, "TridiagonalSolve": tridiagonalSolve})
}

// square returns the shape s of input i, batches of square matrices, the dimensions
// before them, and the size n of a matrix. In s each of the last two sizes is n.
func (c *Inference) square(i int) (s, outer graph.PartialShape, n int, err error) {
	if s, err = c.minRank(i, 2); err != nil {
		return
	}
	if !s.HasRank() {
		return s, graph.PartialShape{}, graph.NewDim(), nil
	}
	n, ok := graph.MergeDim(s.Dim(-1), s.Dim(-2))
	if !ok {
		return s, s, 0, fmt.Errorf("input %d has matrices of shape %v, which aren't square", i, s)
	}
	if outer, err = s.From(0, s.Rank()-2); err != nil {
		return
	}
	return outer.Concat(graph.ShapeOf(n, n)), outer, n, nil
}

func squareMatrix(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, _, _, err := c.square(0)
	if err == nil {
		c.set(0, s)
	}
	return err
}

func determinant(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	_, outer, _, err := c.square(0)
	if err == nil {
		c.set(0, outer)
		c.set(1, outer) // of LogMatrixDeterminant
	}
	return err
}

// sides returns the sizes of systems of equations: a and b are the dimensions before
// the matrices in input 0 and before the right sides in input 1. Matrices and right
// sides have rows rows, and right sides have cols columns.
func (c *Inference) sides() (a, b graph.PartialShape, rows, cols int, err error) {
	s, a, rows, err := c.square(0)
	if err != nil {
		return
	}
	t, err := c.minRank(1, 2)
	if err != nil {
		return
	}
	if !t.HasRank() {
		return a, t, rows, graph.NewDim(), nil
	}
	m, ok := graph.MergeDim(rows, t.Dim(-2))
	if !ok {
		return a, b, 0, 0, fmt.Errorf("matrices of shape %v don't fit right sides of shape %v", s, t)
	}
	b, err = t.From(0, t.Rank()-2)
	return a, b, m, t.Dim(-1), err
}

func matrixSolve(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	a, b, rows, cols, err := c.sides()
	if err != nil {
		return err
	}
	outer, err := a.Merge(b)
	if err != nil {
		return fmt.Errorf("the batches of matrices %v and right sides %v differ", a, b)
	}
	c.set(0, outer.Concat(graph.ShapeOf(rows, cols)))
	return nil
}

func triangularSolve(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	a, b, rows, cols, err := c.sides()
	if err != nil {
		return err
	}
	outer, err := BroadcastShapes(a, b)
	if err == nil {
		c.set(0, outer.Concat(graph.ShapeOf(rows, cols)))
	}
	return err
}

func lu(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, outer, n, err := c.square(0)
	if err == nil {
		c.set(0, s)
		c.set(1, outer.Concat(graph.ShapeOf(n)))
	}
	return err
}

// selfAdjointEig also infers the outputs of Eig.
func selfAdjointEig(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, outer, n, err := c.square(0)
	if err != nil {
		return err
	}
	c.set(0, outer.Concat(graph.ShapeOf(n)))
	if !c.Attrs.Has("compute_v") || c.Attrs.Bool("compute_v") {
		c.set(1, s)
	} else {
		c.setDims(1, 0)
	}
	return nil
}

// rectangle returns the dimensions before input 0's last two sizes, and these.
func (c *Inference) rectangle() (outer graph.PartialShape, rows, cols int, err error) {
	s, err := c.minRank(0, 2)
	if err != nil || !s.HasRank() {
		return graph.PartialShape{}, graph.NewDim(), graph.NewDim(), err
	}
	outer, err = s.From(0, s.Rank()-2)
	return outer, s.Dim(-2), s.Dim(-1), err
}

func qr(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	outer, rows, cols, err := c.rectangle()
	if err != nil {
		return err
	}
	p := rows
	if !c.Attrs.Bool("full_matrices") {
		p = MinDims(rows, cols)
	}
	c.set(0, outer.Concat(graph.ShapeOf(rows, p)))
	c.set(1, outer.Concat(graph.ShapeOf(p, cols)))
	return nil
}

func svd(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	outer, rows, cols, err := c.rectangle()
	if err != nil {
		return err
	}
	p := MinDims(rows, cols)
	c.set(0, outer.Concat(graph.ShapeOf(p)))
	switch {
	case !c.Attrs.Bool("compute_uv"):
		c.setDims(1, 0)
		c.setDims(2, 0)
	case c.Attrs.Bool("full_matrices"):
		c.set(1, outer.Concat(graph.ShapeOf(rows, rows)))
		c.set(2, outer.Concat(graph.ShapeOf(cols, cols)))
	default:
		c.set(1, outer.Concat(graph.ShapeOf(rows, p)))
		c.set(2, outer.Concat(graph.ShapeOf(cols, p)))
	}
	return nil
}

func tridiagonalMatMul(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	s, err := c.minRank(3, 2)
	if err == nil {
		c.set(0, s)
	}
	return err
}

func tridiagonalSolve(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	d, err := c.minRank(0, 2)
	if err != nil {
		return err
	}
	s, err := c.minRank(1, 2)
	if err != nil {
		return err
	}
	if !d.HasRank() || !s.HasRank() {
		c.set(0, s)
		return nil
	}
	front, err := d.From(0, d.Rank()-2)
	if err != nil {
		return err
	}
	if s, err = s.Merge(front.Concat(graph.ShapeOf(d.Dim(-1), s.Dim(-1)))); err != nil {
		return fmt.Errorf("diagonals of shape %v don't fit right sides of shape %v", d, c.shape(1))
	}
	c.set(0, s)
	return nil
}

func choleskyGrad(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, _, _, err := c.square(0)
	if err == nil {
		c.set(0, s)
	}
	return err
}

// solveLs infers the least-squares solutions X of a X = b, with as many rows as the
// matrices have columns.
func solveLs(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	outer, rows, n, err := c.rectangle()
	if err != nil {
		return err
	}
	t, err := c.minRank(1, 2)
	if err != nil {
		return err
	}
	if err := c.scalar(2); err != nil {
		return err
	}
	if !t.HasRank() {
		c.set(0, outer.Concat(graph.ShapeOf(n, graph.NewDim())))
		return nil
	}
	front, err := t.From(0, t.Rank()-2)
	if err != nil {
		return err
	}
	if outer, err = outer.Merge(front); err != nil {
		return fmt.Errorf("matrices of shape %v don't fit right sides of shape %v", c.shape(0), t)
	}
	if _, ok := graph.MergeDim(rows, t.Dim(-2)); !ok {
		return fmt.Errorf("matrices of shape %v don't fit right sides of shape %v", c.shape(0), t)
	}
	c.set(0, outer.Concat(graph.ShapeOf(n, t.Dim(-1))))
	return nil
}

// selfAdjointEigV1 infers matrices whose first row has the eigenvalues, and the others
// the vectors.
func selfAdjointEigV1(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	_, outer, n, err := c.square(0)
	if err != nil {
		return err
	}
	rows := graph.NewDim()
	if n >= 0 {
		rows = n + 1
	}
	c.set(0, outer.Concat(graph.ShapeOf(rows, n)))
	return nil
}

// bandedSolve infers the solutions of banded systems. Input 0 has a row for each diagonal, with as
// many columns as the matrix.
func bandedSolve(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	outer, _, n, err := c.rectangle()
	if err != nil {
		return err
	}
	t, err := c.minRank(1, 2)
	if err != nil {
		return err
	}
	if !t.HasRank() {
		return nil
	}
	rows, ok := graph.MergeDim(n, t.Dim(-2))
	if !ok {
		return fmt.Errorf("diagonals of shape %v don't fit right sides of shape %v", c.shape(0), t)
	}
	front, err := t.From(0, t.Rank()-2)
	if err != nil {
		return err
	}
	if outer, err = BroadcastShapes(outer, front); err == nil {
		c.set(0, outer.Concat(graph.ShapeOf(rows, t.Dim(-1))))
	}
	return err
}
