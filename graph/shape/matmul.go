package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// matmulRules returns the rules of matrix products and of Einsum.
func matmulRules() map[string]Rule {
	return map[string]Rule{
		"MatMul": matMul, "SparseMatMul": matMul, "BatchMatMul": batchMatMul, "BatchMatMulV2": batchMatMul,
		"BatchMatMulV3": batchMatMul, "Einsum": einsum,
	}
}

// Product are the sizes of a matrix product: m by k times k by n.
type Product struct{ M, N, K int }

// MatMul returns the sizes of the product of the matrices in the last two
// dimensions of a and b, each of which may be transposed.
func MatMul(a, b tensor.Shape, ta, tb bool) (p Product, err error) {
	p.M, p.K = a[len(a)-2], a[len(a)-1]
	if ta {
		p.M, p.K = p.K, p.M
	}
	k2 := b[len(b)-2]
	p.N = b[len(b)-1]
	if tb {
		k2, p.N = p.N, k2
	}
	k, ok := graph.MergeDim(p.K, k2)
	if !ok {
		return p, fmt.Errorf("inner dimensions differ: %d and %d", p.K, k2)
	}
	p.K = k
	return p, nil
}

// TwoMatrices returns the sizes of the product of two matrices.
func TwoMatrices(a, b tensor.Shape, ta, tb bool) (Product, error) {
	if len(a) != 2 || len(b) != 2 {
		return Product{}, fmt.Errorf("takes two matrices; the inputs have %d and %d dimensions", len(a), len(b))
	}
	return MatMul(a, b, ta, tb)
}

// Batch returns the sizes of each product of a batch, and the shape of the
// batch: the broadcast of the dimensions before the matrices.
func Batch(a, b tensor.Shape, ta, tb bool) (p Product, lead tensor.Shape, err error) {
	if len(a) < 2 || len(b) < 2 {
		return p, nil, fmt.Errorf("takes inputs of at least two dimensions; they have %d and %d", len(a), len(b))
	}
	if p, err = MatMul(a, b, ta, tb); err != nil {
		return p, nil, err
	}
	lead, err = Broadcast(a[:len(a)-2], b[:len(b)-2])
	return p, lead, err
}

func matMul(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	a, b := c.shapeOr(0, 2), c.shapeOr(1, 2)
	p, err := TwoMatrices(a.Dims(), b.Dims(), c.Attrs.Bool("transpose_a"), c.Attrs.Bool("transpose_b"))
	if err == nil {
		c.setDims(0, p.M, p.N)
	}
	return err
}

func batchMatMul(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	a, err := c.minRank(0, 2)
	if err != nil {
		return err
	}
	b, err := c.minRank(1, 2)
	if err != nil {
		return err
	}
	if !a.HasRank() || !b.HasRank() {
		// BatchMatMul's batches are the same.
		if c.Op != "BatchMatMul" || !a.HasRank() && !b.HasRank() {
			return nil
		}
		if !a.HasRank() {
			a = sameBatch(b)
		} else {
			b = sameBatch(a)
		}
	}
	p, lead, err := Batch(a.Dims(), b.Dims(), c.Attrs.Bool("adj_x"), c.Attrs.Bool("adj_y"))
	if err != nil {
		return err
	}
	if c.Op == "BatchMatMul" && len(a.Dims()) == len(b.Dims()) {
		for i, d := range b.Dims()[:b.Rank()-2] {
			lead = lead.Clone()
			if lead[i], _ = graph.MergeDim(a.Dims()[i], d); lead[i] == -1 {
				lead[i] = graph.NewDim()
			}
		}
	}
	c.setDims(0, append(lead.Clone(), p.M, p.N)...)
	return nil
}

// sameBatch returns a batch of other matrices of the shape of s's.
func sameBatch(s graph.PartialShape) graph.PartialShape {
	return s.With(-1, graph.NewDim()).With(-2, graph.NewDim())
}
