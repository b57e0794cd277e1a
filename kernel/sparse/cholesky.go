package sparse

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of SparseMatrixSparseCholesky.

// errNotPositive is the error for a matrix that isn't positive definite.
var errNotPositive = errors.New("a matrix has no Cholesky factor: it is not positive definite")

// csrCholesky factorizes self-adjoint matrices with their rows and columns
// permuted: row i of the factor is row permutation[i] of the matrix. It reads
// the lower triangle. A factor has all elements that elimination can reach,
// including zeros.
func csrCholesky[T fields](c *engine.Call) error {
	m, err := matrixAndTensor[T](c)
	if err != nil {
		return err
	}
	n, cols := m.size()
	order, err := shapes.AllInts(c.In(1), "the permutation")
	if err != nil {
		return err
	}
	want := tensor.Shape{n}
	if len(m.shape) == 3 {
		want = tensor.Shape{m.batch(), n}
	}
	if n != cols || !c.In(1).Shape().Equal(want) {
		return fmt.Errorf("takes square matrices and a permutation of the rows of each, not %v and %v", m.shape, c.In(1).Shape())
	}
	out := newCSR[T](c, slices.Clone(m.shape), m.batch())
	for b := range m.batch() {
		f := factor[T]{c: c, a: partOf[T](m, b), n: n, order: order[b*n : (b+1)*n]}
		if err := f.run(out); err != nil {
			return fmt.Errorf("matrix %d: %w", b, err)
		}
		out.endMatrix()
	}
	return out.setOutput(0)
}

// factor computes one Cholesky factor, row by row.
type factor[T fields] struct {
	c     *engine.Call
	a     csrPart[T]
	n     int
	order []int64

	cols   [][]int32 // of the rows so far, ascending, the diagonal last
	values [][]T
	parent []int // the elimination tree: the next row that a column reaches, or -1
}

// entry is an element of a permuted row, on or left of the diagonal.
type entry[T any] struct {
	col int
	v   T
}

// run appends the factor's rows to out.
func (f *factor[T]) run(out *csrMaker[T]) error {
	n := f.n
	f.c.Fits(n, 128) // all that is made for a row
	place := make([]int, n)
	for i := range place {
		place[i] = -1
	}
	for i, from := range f.order {
		if from < 0 || from >= int64(n) || place[from] >= 0 {
			return fmt.Errorf("%v is no permutation", f.order)
		}
		place[from] = i
	}
	rows := make([][]entry[T], n)
	for r := range n {
		cols, values := f.a.row(r)
		for k, v := range values {
			if int(cols[k]) > r {
				continue
			}
			i, j := place[r], place[cols[k]]
			if j > i {
				i, j, v = j, i, conjugate(v)
			}
			rows[i] = append(rows[i], entry[T]{j, v})
		}
	}
	f.parent = make([]int, n)
	mark := make([]int, n) // 1 + the last row that was seen here
	y := make([]T, n)
	f.cols, f.values = make([][]int32, n), make([][]T, n)
	ancestor := make([]int, n)
	total := int64(0)
	for i := range n {
		f.parent[i], ancestor[i] = -1, -1
		var reach []int32
		mark[i] = i + 1
		var diagonal T
		for _, e := range rows[i] {
			if e.col == i {
				diagonal += e.v
				continue
			}
			for j := e.col; j >= 0 && j < i; { // paths in the tree, which the walk shortens
				next := ancestor[j]
				ancestor[j] = i
				if next < 0 {
					f.parent[j] = i
				}
				j = next
			}
			for j := e.col; mark[j] != i+1; j = f.parent[j] {
				mark[j], y[j] = i+1, 0
				reach = append(reach, int32(j))
			}
			y[e.col] += e.v
		}
		slices.Sort(reach)
		if total += int64(len(reach)); total > math.MaxInt32 {
			return errors.New("the factor has more elements than int32 can count")
		}
		if err := f.c.Afford(total * int64(tensor.TypeOf[T]().Size()+4)); err != nil {
			return err
		}
		if err := f.c.Context().Err(); err != nil {
			return err
		}
		values := make([]T, 0, len(reach)+1)
		for _, j := range reach {
			cols, row := f.cols[j], f.values[j]
			v := y[j]
			last := len(cols) - 1
			for k := range last {
				if at := cols[k]; mark[at] == i+1 {
					v -= y[at] * conjugate(row[k])
				}
			}
			v /= row[last]
			y[j] = v
			diagonal -= v * conjugate(v)
			values = append(values, v)
		}
		root, ok := positiveRoot(diagonal)
		if !ok {
			return errNotPositive
		}
		f.cols[i], f.values[i] = append(reach, int32(i)), append(values, root)
		for k, j := range f.cols[i] {
			out.add(j, f.values[i][k])
		}
		if err := out.endRow(); err != nil {
			return err
		}
	}
	return nil
}

// positiveRoot returns the square root of a real part that is above zero.
func positiveRoot[T fields](x T) (T, bool) {
	switch x := any(x).(type) {
	case float32:
		return any(float32(math.Sqrt(float64(x)))).(T), x > 0
	case float64:
		return any(math.Sqrt(x)).(T), x > 0
	case complex64:
		return any(complex(float32(math.Sqrt(float64(real(x)))), 0)).(T), real(x) > 0
	case complex128:
		return any(complex(math.Sqrt(real(x)), 0)).(T), real(x) > 0
	}
	return x, false
}
