package shape

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// diagonalRules returns the rules of ops on a range of diagonals. matrix.go has those on the main one.
func diagonalRules() map[string]Rule {
	return join(
		rules(diagonalMatrix, "MatrixDiagV2", "MatrixDiagV3"),
		rules(diagonalPart, "MatrixDiagPartV2", "MatrixDiagPartV3"),
		rules(setDiagonal, "MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3", "BatchMatrixSetDiag"),
		rules(matrixBandPart, "BatchMatrixBandPart"))
}

// Diagonals are a range of a matrix's diagonals, from Low up to High: 0 is the
// main one, those above it count up.
type Diagonals struct {
	Low, High int
	// UpperLeft and LowerLeft report whether a shorter diagonal above or below
	// the main one begins at the left end of its row.
	UpperLeft, LowerLeft bool
}

// DiagonalsOf reads a range from one number or two, and the alignment of
// diagonals.
func DiagonalsOf(k []int64, align string) (Diagonals, error) {
	if len(k) != 1 && len(k) != 2 {
		return Diagonals{}, fmt.Errorf("k has %d elements, not 1 or 2", len(k))
	}
	const most = 1 << 31
	for _, x := range k {
		if x < -most || x >= most {
			return Diagonals{}, fmt.Errorf("k holds %d", x)
		}
	}
	d := Diagonals{Low: int(k[0]), High: int(k[len(k)-1])}
	if d.Low > d.High {
		return d, fmt.Errorf("the lower diagonal %d is above the upper one %d", d.Low, d.High)
	}
	switch align {
	case "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_LEFT", "RIGHT_RIGHT":
	default:
		return d, fmt.Errorf("align is %q, not LEFT_RIGHT, RIGHT_LEFT, LEFT_LEFT or RIGHT_RIGHT", align)
	}
	d.UpperLeft, d.LowerLeft = strings.HasPrefix(align, "LEFT"), strings.HasSuffix(align, "_LEFT")
	return d, nil
}

// Align returns the op's attribute for the alignment of diagonals. Versions
// without the attribute align them at the left.
func Align(op string, a graph.Attrs) string {
	if strings.HasSuffix(op, "V3") {
		return a.String("align", "RIGHT_LEFT")
	}
	return "LEFT_LEFT"
}

// Count returns the number of diagonals.
func (d Diagonals) Count() int { return d.High - d.Low + 1 }

// Len returns the length of diagonal k of a matrix.
func (d Diagonals) Len(k, rows, cols int) int {
	return min(rows+min(k, 0), cols-max(k, 0))
}

// Longest returns the length of the longest of the diagonals.
func (d Diagonals) Longest(rows, cols int) int {
	return min(rows+min(d.High, 0), cols-max(d.Low, 0))
}

// Offset returns the index in a row of n elements at which diagonal k of length
// size begins.
func (d Diagonals) Offset(k, size, n int) int {
	if k >= 0 && d.UpperLeft || k <= 0 && d.LowerLeft {
		return 0
	}
	return n - size
}

// In checks that a matrix has the diagonals.
func (d Diagonals) In(rows, cols int) error {
	for _, k := range [...]int{d.Low, d.High} {
		if (k <= -rows || k >= cols) && k != 0 {
			return fmt.Errorf("diagonal %d is outside of matrices of %d rows and %d columns", k, rows, cols)
		}
	}
	return nil
}

// diagonals returns the range in input i, or false if it is unknown.
func (c *Inference) diagonals(i int) (Diagonals, bool, error) {
	if r := c.shape(i).Rank(); r > 1 {
		return Diagonals{}, false, fmt.Errorf("k has shape %v, neither a scalar's nor a vector's", c.shape(i))
	}
	k, ok := c.knownInts(i)
	if !ok {
		return Diagonals{}, false, nil
	}
	d, err := DiagonalsOf(k, Align(c.Op, c.Attrs))
	return d, err == nil, err
}

// Part returns the shape of the diagonals of matrices of shape s.
func (d Diagonals) Part(s tensor.Shape) (tensor.Shape, error) {
	if len(s) < 2 {
		return nil, errMatrix
	}
	rows, cols := s[len(s)-2], s[len(s)-1]
	if err := d.In(rows, cols); err != nil {
		return nil, err
	}
	out := s[:len(s)-2].Clone()
	if d.Low != d.High {
		out = append(out, d.Count())
	}
	return append(out, d.Longest(rows, cols)), nil
}

func diagonalPart(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	s, err := c.minRank(0, 2)
	if err != nil {
		return err
	}
	d, ok, err := c.diagonals(1)
	if err != nil || !ok || !s.HasRank() {
		return err
	}
	if s.Dim(-1) >= 0 && s.Dim(-2) >= 0 {
		out, err := d.Part(s.Dims())
		if err == nil {
			c.setDims(0, out...)
		}
		return err
	}
	out := s.Dims()[:s.Rank()-2].Clone()
	if d.Low != d.High {
		out = append(out, d.Count())
	}
	c.setDims(0, append(out, graph.NewDim())...)
	return nil
}

// Matrix returns the shape of matrices that have only diagonals of shape s. If
// rows or cols is -1, it is as small as possible.
func (d Diagonals) Matrix(s tensor.Shape, rows, cols int64) (tensor.Shape, error) {
	if len(s) < 1 || d.Low != d.High && (len(s) < 2 || s[len(s)-2] >= 0 && s[len(s)-2] != d.Count()) {
		return nil, fmt.Errorf("diagonals of shape %v aren't %d diagonals", s, d.Count())
	}
	n := s[len(s)-1]
	minRows, minCols := int64(n-min(d.High, 0)), int64(n+max(d.Low, 0))
	switch {
	case rows == -1 && cols == -1:
		rows = max(minRows, minCols)
		cols = rows
	case rows == -1:
		rows = minRows
	case cols == -1:
		cols = minCols
	}
	if rows < minRows || cols < minCols || rows != int64(int(rows)) || cols != int64(int(cols)) {
		return nil, fmt.Errorf("%d rows and %d columns are fewer than the %d and %d of the diagonals", rows, cols, minRows, minCols)
	}
	if rows != minRows && cols != minCols {
		return nil, fmt.Errorf("of %d rows and %d columns one must be as few as the diagonals have, %d or %d", rows, cols, minRows, minCols)
	}
	out := s[:len(s)-1].Clone()
	if d.Low != d.High {
		out = out[:len(out)-1]
	}
	return append(out, int(rows), int(cols)), nil
}

func diagonalMatrix(c *Inference) error {
	if err := c.need(5); err != nil {
		return err
	}
	s, err := c.minRank(0, 1)
	if err != nil {
		return err
	}
	d, ok, err := c.diagonals(1)
	if err != nil || !ok || !s.HasRank() {
		return err
	}
	rows, rok := c.In[2].Int()
	cols, cok := c.In[3].Int()
	if n := s.Dim(-1); n >= 0 && rok && cok {
		out, err := d.Matrix(s.Dims(), rows, cols)
		if err == nil {
			c.setDims(0, out...)
		}
		return err
	}
	batch := s.Rank() - 1
	if d.Low != d.High {
		batch--
	}
	if batch < 0 {
		return fmt.Errorf("diagonals of shape %v aren't %d diagonals", s, d.Count())
	}
	out := append(s.Dims()[:batch].Clone(), graph.NewDim(), graph.NewDim())
	if rok && rows > 0 && rows == int64(int(rows)) {
		out[batch] = int(rows)
	}
	if cok && cols > 0 && cols == int64(int(cols)) {
		out[batch+1] = int(cols)
	}
	c.setDims(0, out...)
	return nil
}

// Set checks the shape of diagonals that matrices of shape s are to have.
func (d Diagonals) Set(s, diagonal tensor.Shape) error {
	want, err := d.Part(s)
	if err != nil {
		return err
	}
	if !diagonal.Equal(want) {
		return fmt.Errorf("the diagonals have shape %v, not %v", diagonal, want)
	}
	return nil
}

func setDiagonal(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	s, err := c.minRank(0, 2)
	if err != nil {
		return err
	}
	d, ok := Diagonals{}, true
	if len(c.In) > 2 {
		if d, ok, err = c.diagonals(2); err != nil {
			return err
		}
	}
	if v := c.shape(1); v.HasRank() && (ok || s.HasRank()) {
		batch := v.Rank() - 1
		switch {
		case !ok:
			batch = min(batch, s.Rank()-2)
		case d.Low != d.High:
			batch--
		}
		if batch < 0 {
			return fmt.Errorf("diagonals of shape %v aren't %d diagonals", v, d.Count())
		}
		front, err := v.From(0, batch)
		if err != nil {
			return err
		}
		if s, err = s.Merge(front.Concat(graph.OfRank(2))); err != nil {
			return fmt.Errorf("the diagonals have shape %v, the matrices %v", v, c.shape(0))
		}
	}
	c.set(0, s)
	a, aok := s.Tensor()
	b, bok := c.shape(1).Tensor()
	if !ok || !aok || !bok {
		return nil
	}
	return d.Set(a, b)
}
