package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// matrixRules returns the rules of ops on main diagonals and bands, and of those that search, sort and count.
func matrixRules() map[string]Rule {
	return map[string]Rule{
		"MatrixDiag": matrixDiag, "BatchMatrixDiag": matrixDiag, "MatrixDiagPart": matrixDiagPart, "BatchMatrixDiagPart": matrixDiagPart,
		"MatrixBandPart": matrixBandPart, "Where": where, "TopKV2": topK, "TopK": topKAttr, "Diag": diag, "DiagPart": diagPart,
		"Unique": unique, "UniqueWithCounts": unique, "UniqueV2": uniqueV2, "UniqueWithCountsV2": uniqueV2,
		"Bincount": bincount, "DenseBincount": denseBincount, "LowerBound": searchSorted, "UpperBound": searchSorted,
		"InTopK": inTopK, "InTopKV2": inTopK, "ListDiff": listDiff,
	}
}

// MatrixDiag returns the shape of matrices with the vectors of the last
// dimension of s on their diagonals.
func MatrixDiag(s tensor.Shape) (tensor.Shape, error) {
	if len(s) < 1 {
		return nil, fmt.Errorf("takes at least one dimension")
	}
	return append(s.Clone(), s[len(s)-1]), nil
}

func matrixDiag(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, ok := c.dims(0)
	if !ok {
		return nil
	}
	out, err := MatrixDiag(s)
	if err == nil {
		c.setDims(0, out...)
	}
	return err
}

// MatrixDiagPart returns the shape of the diagonals of the matrices of the last
// two dimensions of s.
func MatrixDiagPart(s tensor.Shape) (tensor.Shape, error) {
	if len(s) < 2 {
		return nil, errMatrix
	}
	n := len(s)
	return append(s[:n-2].Clone(), MinDims(s[n-2], s[n-1])), nil
}

var errMatrix = fmt.Errorf("takes at least two dimensions")

func matrixDiagPart(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, ok := c.dims(0)
	if !ok {
		return nil
	}
	out, err := MatrixDiagPart(s)
	if err == nil {
		c.setDims(0, out...)
	}
	return err
}

// Band checks the numbers of diagonals below and above the main one that
// MatrixBandPart keeps, of matrices of the last two dimensions of s.
func Band(s tensor.Shape, lower, upper int64) error {
	if len(s) < 2 {
		return errMatrix
	}
	rows, cols := s[len(s)-2], s[len(s)-1]
	if rows >= 0 && lower > int64(rows) || cols >= 0 && upper > int64(cols) {
		return fmt.Errorf("a band of %d and %d is larger than %d by %d", lower, upper, rows, cols)
	}
	return nil
}

func matrixBandPart(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	c.set(0, c.shape(0))
	s, ok := c.dims(0)
	if !ok {
		return nil
	}
	lower, ok := c.In[1].Int()
	if !ok {
		lower = -1
	}
	upper, ok := c.In[2].Int()
	if !ok {
		upper = -1
	}
	return Band(s, lower, upper)
}

func where(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	d := -1
	if r := c.shape(0).Rank(); r >= 0 {
		d = r
	}
	c.set(0, graph.ShapeOf(graph.NewDim(), d).Identified())
	return nil
}

// TopK returns the shape of the k largest of each row of s.
func TopK(s tensor.Shape, k int) (tensor.Shape, error) {
	if len(s) < 1 || k >= 0 && s[len(s)-1] >= 0 && k > s[len(s)-1] {
		return nil, fmt.Errorf("k is %d, the input's shape %v", k, s)
	}
	return append(s[:len(s)-1].Clone(), k), nil
}

func (c *Inference) topK(k int) error {
	s, ok := c.dims(0)
	if !ok {
		return nil
	}
	out, err := TopK(s, k)
	if err != nil {
		return err
	}
	c.setDims(0, out...)
	c.setDims(1, out...)
	return nil
}

func topK(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	k, err := c.size(1, "k")
	if err != nil {
		return fmt.Errorf("%w, the input's shape %v", err, c.shape(0))
	}
	return c.topK(k)
}

func topKAttr(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	k := c.Attrs.Int("k", -1)
	if k < 0 || k != int64(int(k)) {
		return fmt.Errorf("k is %d", k)
	}
	return c.topK(int(k))
}

func diag(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	c.set(0, c.shape(0).Concat(c.shape(0)))
	return nil
}

func diagPart(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s := c.shape(0)
	if !s.HasRank() {
		return nil
	}
	if s.Rank()%2 != 0 || s.Rank() == 0 {
		return fmt.Errorf("the input has shape %v, of an odd number of dimensions", s)
	}
	a, _ := s.From(0, s.Rank()/2)
	b, _ := s.From(s.Rank()/2, graph.End)
	out, err := a.Merge(b)
	if err == nil {
		c.set(0, out)
	}
	return err
}

func unique(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	s, err := c.ranked(0, 1)
	if err != nil {
		return err
	}
	if s.HasRank() && s.Dim(0) == 0 {
		c.setDims(0, 0)
		c.set(1, s)
		c.setDims(2, 0)
		if len(c.Out) > 0 && c.In[0].Value != nil {
			c.Out[0].Value = c.In[0].Value
		}
		return nil
	}
	n := graph.NewDim()
	c.setDims(0, n)
	c.set(1, s)
	c.setDims(2, n)
	return nil
}

func uniqueV2(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	s := c.shape(0)
	n := graph.NewDim()
	c.setDims(2, n)
	switch axis, ok := c.knownInts(1); {
	case s.Rank() == 1 || ok && len(axis) == 0:
		c.setDims(0, n)
		c.set(1, s)
	case ok && s.HasRank():
		a, err := Axis(axis[0], s.Rank())
		if err != nil {
			return err
		}
		c.set(0, s.With(a, n))
		c.setDims(1, s.Dim(a))
	default:
		c.set(1, graph.OfRank(1))
		if s.HasRank() {
			c.set(0, graph.OfRank(s.Rank()))
		}
	}
	return nil
}

func bincount(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	d, err := c.size(1, "the number of bins")
	if err == nil {
		c.setDims(0, d)
	}
	return err
}

func denseBincount(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	d, err := c.size(1, "the number of bins")
	if err != nil {
		return err
	}
	switch s := c.shape(0); s.Rank() {
	case 0, 1:
		c.setDims(0, d)
	case 2:
		c.setDims(0, s.Dim(0), d)
	}
	return nil
}

func searchSorted(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	if _, err := c.ranked(0, 2); err != nil {
		return err
	}
	s, err := c.ranked(1, 2)
	if err == nil {
		c.set(0, s)
	}
	return err
}

func inTopK(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	p, err := c.ranked(0, 2)
	if err != nil {
		return err
	}
	t, err := c.ranked(1, 1)
	if err != nil {
		return err
	}
	d, ok := graph.MergeDim(p.Dim(0), t.Dim(0))
	if !ok {
		return fmt.Errorf("there are %d predictions and %d targets", p.Dim(0), t.Dim(0))
	}
	c.setDims(0, d)
	return nil
}

func listDiff(c *Inference) error {
	n := graph.NewDim()
	c.setDims(0, n)
	c.setDims(1, n)
	return nil
}
