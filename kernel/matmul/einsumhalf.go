package matmul

import (
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/stepwise"
	"github.com/cairnml/cairn/tensor"
)

// einsumHalf computes an einsum whose every step is rounded, in TensorFlow's order.
func einsumHalf[H elementwise.Half](c *engine.Call, s *sum, _ engine.Packing, y *tensor.Tensor) {
	var in [2][]float32
	for i := range c.NumIn() {
		in[i] = s.reduced(elementwise.Widened[H](c, c.In(i)), i, stepwise.Rounding[H](), tensor.TypeOf[H]() == tensor.Float16)
	}
	data := in[0]
	if len(s.in) == 2 {
		data = make([]float32, s.product.batch*s.product.m*s.product.n)
		multiplySteps[H](c, s, data, in[0], in[1])
	}
	if s.scatter != nil {
		dst := elementwise.Wide(c, y.Len())
		relay(s.scatter, dst, data)
		data = dst
	}
	elementwise.Narrow(tensor.Values[H](y), data)
}

// reduced returns operand i in its product's order, summed over the labels that
// the product doesn't need. It adds one by one. If steps is set, each sum is
// rounded, otherwise only the last.
func (s *sum) reduced(x []float32, i int, round func(float32) float32, steps bool) []float32 {
	if g := s.gather[i]; g != nil {
		dst := make([]float32, g.n)
		relay(g, dst, x)
		x = dst
	}
	n := 1
	for _, l := range s.in[i].labels {
		if s.role(i, l) == reduce {
			n *= s.in[i].sizes[l]
		}
	}
	if n == 1 {
		return x
	}
	sums := make([]float32, len(x)/max(n, 1))
	for i := range sums {
		for _, v := range x[i*n:][:n] {
			if sums[i] += v; steps {
				sums[i] = round(sums[i])
			}
		}
		sums[i] = round(sums[i])
	}
	return sums
}

// role is the function of a label in an operand. The constants are in
// TensorFlow's order of the dimensions of a transposed matrix.
type role int

const (
	broadcast role = iota
	batch
	contract
	free
	reduce
)

// role returns the function of a label in operand i.
func (s *sum) role(i int, l label) role {
	_, other := 0, false
	if len(s.in) == 2 {
		_, other = s.in[1-i].sizes[l]
		other = other && s.in[0].sizes[l] == s.in[1].sizes[l] || other && slices.Contains(s.out, l)
	}
	switch kept := slices.Contains(s.out, l); {
	case l < 0 && kept:
		return broadcast
	case kept && other:
		return batch
	case kept:
		return free
	case other:
		return contract
	}
	return reduce
}

// transposed reports whether TensorFlow multiplies operand i in its layout,
// contracted labels before free ones.
func (s *sum) transposed(i int) bool {
	labels := s.in[i].labels
	return slices.IsSortedFunc(labels, func(a, b label) int {
		if d := int(s.role(i, a) - s.role(i, b)); d != 0 {
			return d
		}
		return s.rank(a) - s.rank(b)
	})
}

// most is TensorFlow's limit for a product of a batch, in multiplications. TensorFlow computes
// larger ones one by one as contractions, whose sums have another order.
const most = 128 * 128

func multiplySteps[H elementwise.Half](c *engine.Call, s *sum, dst, a, b []float32) {
	p := &s.product
	if p.k == 0 {
		clear(dst)
		return
	}
	tensors := min(p.m, p.n, p.k) > 1 && (p.batch == 1 || p.m*p.n*p.k > most)
	stored := stepwise.Stored{Left: s.transposed(0), Right: !s.transposed(1)}
	product := func(i int) (*stepwise.Product, []float32, []float32) {
		return stepwise.NewProduct[H](p.m, p.n, p.k, b[p.b[i]:][:p.k*p.n]), a[p.a[i]:][:p.m*p.k], dst[i*p.m*p.n:][:p.m*p.n]
	}
	each := stepwise.Time * float64(p.k) * float64(p.n)
	if !tensors {
		c.Parallel(p.batch, each*float64(p.m), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				m, x, y := product(i)
				m.Matrix(y, x, stored, i*p.m*p.n)
			}
		})
		return
	}
	for i := range p.batch {
		m, x, y := product(i)
		c.Parallel(p.m, each, func(lo, hi int) {
			for r := lo; r < hi; r++ {
				m.Row(y[r*p.n:][:p.n], x[r*p.k:][:p.k], r)
			}
		})
	}
}
