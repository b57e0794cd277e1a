package array

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of MatrixDiagV2 and V3, MatrixDiagPartV2 and V3, MatrixSetDiag,
// V2 and V3, and BatchMatrixSetDiag. Matrices are the last two dimensions of a tensor. Packed diagonals
// have the shape […, n, longest], or […, longest] for one diagonal: a row for each,
// from the highest down. Shorter ones are padded on the side that the attribute
// align names.

// diagonalKernels returns this file's part of the family's table, and the other
// Batch forms, which run the kernels of the first versions.
func diagonalKernels() []engine.Kernel {
	return []engine.Kernel{
		{Op: "MatrixDiagV2", Run: diagonalMatrix},
		{Op: "MatrixDiagV3", Run: diagonalMatrix},
		{Op: "MatrixDiagPartV2", Run: diagonalPart},
		{Op: "MatrixDiagPartV3", Run: diagonalPart},
		{Op: "MatrixSetDiag", Run: setDiagonal},
		{Op: "MatrixSetDiagV2", Run: setDiagonal},
		{Op: "MatrixSetDiagV3", Run: setDiagonal},
		{Op: "BatchMatrixDiag", Run: matrixDiag},
		{Op: "BatchMatrixDiagPart", Run: matrixDiagPart},
		{Op: "BatchMatrixSetDiag", Run: setDiagonal},
		{Op: "BatchMatrixBandPart", Run: matrixBandPart},
	}
}

// diagonals reads the range of diagonals in input i.
func diagonals(c *engine.Call, i int) (shape.Diagonals, error) {
	k, err := shapes.Ints(c.In(i), "k")
	if err != nil {
		return shape.Diagonals{}, err
	}
	return shape.DiagonalsOf(k, shape.Align(c.Op(), c.Attrs()))
}

// eachDiagonal calls f for each diagonal of matrices of shape s. All four numbers
// count elements: matrix is the offset of the diagonal's first element in the
// matrices, and step the distance to the next. packed is the offset of the first
// in the packed diagonals, whose rows are as long as the longest one. n is the
// diagonal's length.
func eachDiagonal(d shape.Diagonals, s tensor.Shape, f func(matrix, packed, step, n int)) {
	rows, cols := s[len(s)-2], s[len(s)-1]
	longest := d.Longest(rows, cols)
	for b := range shapes.Count(s[:len(s)-2]) {
		for i := range d.Count() {
			k := d.High - i
			n := d.Len(k, rows, cols)
			if n <= 0 {
				continue // the diagonal is outside of the matrices
			}
			first := max(-k, 0)*cols + max(k, 0)
			f(b*rows*cols+first, (b*d.Count()+i)*longest+d.Offset(k, n, longest), cols+1, n)
		}
	}
}

// stretch fills a tensor with a scalar of its type.
func stretch(c *engine.Call, out, v *tensor.Tensor) error {
	if v.DType() != out.DType() || v.Len() != 1 {
		return fmt.Errorf("the padding value is %v%v, not one %v", v.DType(), v.Shape(), out.DType())
	}
	move(c, out, v, []int{out.Len()}, view{strides: []int{1}}, view{strides: []int{0}})
	return nil
}

func diagonalMatrix(c *engine.Call) error {
	if err := c.Need(5); err != nil {
		return err
	}
	x := c.In(0)
	d, err := diagonals(c, 1)
	if err != nil {
		return err
	}
	rows, err := shapes.Int(c.In(2), "num_rows")
	if err != nil {
		return err
	}
	cols, err := shapes.Int(c.In(3), "num_cols")
	if err != nil {
		return err
	}
	dims, err := d.Matrix(x.Shape(), rows, cols)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, x.DType(), dims)
	if err == nil {
		err = stretch(c, out, c.In(4))
	}
	if err != nil || out.Len() == 0 {
		return err
	}
	eachDiagonal(d, dims, func(matrix, packed, step, n int) {
		move(nil, out, x, []int{n}, view{matrix, []int{step}}, view{packed, []int{1}})
	})
	return nil
}

func diagonalPart(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x := c.In(0)
	d, err := diagonals(c, 1)
	if err != nil {
		return err
	}
	dims, err := d.Part(x.Shape())
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, x.DType(), dims)
	if err == nil {
		err = stretch(c, out, c.In(2))
	}
	if err != nil || out.Len() == 0 {
		return err
	}
	eachDiagonal(d, x.Shape(), func(matrix, packed, step, n int) {
		move(nil, out, x, []int{n}, view{packed, []int{1}}, view{matrix, []int{step}})
	})
	return nil
}

func setDiagonal(c *engine.Call) error {
	if c.NumIn() != 2 && c.NumIn() != 3 {
		return fmt.Errorf("takes 2 or 3 inputs, %d were given", c.NumIn())
	}
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	x, v := c.In(0), c.In(1)
	if x.DType() != v.DType() {
		return fmt.Errorf("the matrices are %v, the diagonals %v", x.DType(), v.DType())
	}
	var d shape.Diagonals
	if c.NumIn() == 3 {
		var err error
		if d, err = diagonals(c, 2); err != nil {
			return err
		}
	}
	if err := d.Set(x.Shape(), v.Shape()); err != nil {
		return err
	}
	out, err := copyOf(c)
	if err != nil || out.Len() == 0 {
		return err
	}
	eachDiagonal(d, x.Shape(), func(matrix, packed, step, n int) {
		move(nil, out, v, []int{n}, view{matrix, []int{step}}, view{packed, []int{1}})
	})
	return nil
}
