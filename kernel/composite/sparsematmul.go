package composite

import (
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of SparseMatMul.

// sparseMatMul multiplies matrices, which may have many zeros, to float32.
func sparseMatMul(b *body, in []graph.Output) []graph.Output {
	return b.op("MatMul", b.attrs("transpose_a", "transpose_b"), b.cast(in[0], tensor.Float32), b.cast(in[1], tensor.Float32))
}

// prepareSparseMatMul prepares SparseMatMul. TensorFlow leaves out the zeros of a
// matrix that an attribute calls sparse: of the second one only if the first isn't.
// That matters if the other matrix has elements that aren't finite.
func prepareSparseMatMul(n *engine.Node) (func(*engine.Call) error, error) {
	product, err := of(2, sparseMatMul)(n)
	left, right := n.Attrs.Bool("a_is_sparse"), n.Attrs.Bool("b_is_sparse")
	if err != nil || !left && !right {
		return product, err
	}
	dense := 1
	if !left {
		dense = 0
	}
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		a, b := matrixOf(c, 0, n.Attrs.Bool("transpose_a")), matrixOf(c, 1, n.Attrs.Bool("transpose_b"))
		if a == nil || b == nil || a.columns != b.rows || [...]*matrix{a, b}[dense].finite(c) {
			return product(c)
		}
		return withoutZeros(c, a, b, left)
	}, nil
}

// matrix is an input of a product, after its transposition.
type matrix struct {
	rows, columns int
	down, across  int // steps in the elements
	elements      []float32
}

// matrixOf returns input i, or nil if it is no matrix of a type that the op takes.
func matrixOf(c *engine.Call, i int, transposed bool) *matrix {
	t := c.In(i)
	s := t.Shape()
	if len(s) != 2 {
		return nil
	}
	m := &matrix{rows: s[0], columns: s[1], down: s[1], across: 1}
	if transposed {
		m = &matrix{rows: s[1], columns: s[0], down: 1, across: s[1]}
	}
	switch t.DType() {
	case tensor.Float32:
		m.elements = tensor.Values[float32](t)
	case tensor.BFloat16:
		m.elements = elementwise.Widened[tensor.BF16](c, t)
	default:
		return nil
	}
	return m
}

// finite reports whether all elements are finite.
func (m *matrix) finite(c *engine.Call) bool {
	for i, v := range m.elements {
		c.Step(i)
		if math.IsInf(float64(v), 0) || v != v {
			return false
		}
	}
	return true
}

// withoutZeros computes the product without the zeros of a, if left is set, or else
// of b.
func withoutZeros(c *engine.Call, a, b *matrix, left bool) error {
	out, err := c.AllocZero(0, tensor.Float32, tensor.Shape{a.rows, b.columns})
	if err != nil {
		return err
	}
	y := tensor.Values[float32](out)
	c.Parallel(a.rows, float64(a.columns)*float64(b.columns), func(lo, hi int) {
		pace := engine.NewPace(c)
		for i := lo; i < hi; i++ {
			row := y[i*b.columns:][:b.columns]
			for k := range a.columns {
				pace.Work(len(row) + 1)
				v := a.elements[i*a.down+k*a.across]
				if left && v == 0 {
					continue
				}
				for j := range row {
					if w := b.elements[k*b.down+j*b.across]; left || w != 0 {
						row[j] += v * w
					}
				}
			}
		}
	})
	return nil
}
