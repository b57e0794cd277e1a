// Package matmul holds the kernels of matrix products.
package matmul

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	return []engine.Kernel{
		{Op: "MatMul", Run: matMul, Types: engine.Types{"T": runs.Types()}, Precision: engine.Accumulated},
		{Op: "_FusedMatMul", Prepare: prepareFused, Types: engine.Types{"T": {tensor.Float32}}, Precision: engine.Accumulated},
		{Op: "BatchMatMul", Run: batchMatMul, Types: engine.Types{"T": runs.Types()}, Precision: engine.Accumulated},
		{Op: "BatchMatMulV2", Run: batchMatMul, Types: engine.Types{"T": runs.Types()}, Precision: engine.Accumulated},
		{Op: "BatchMatMulV3", Run: batchMatMul, Types: engine.Types{"Ta": runs.Types(), "Tb": runs.Types()}, Precision: engine.Accumulated},
		{Op: "Einsum", Prepare: prepareEinsum, Types: engine.Types{"T": einsums.Types()}, Precision: engine.Accumulated},
	}
}

// product is one matrix product, or a batch of them.
type product struct {
	m, n, k    int
	ta, tb     bool // the matrix lies transposed in memory
	conjugates bool // and counts as conjugated
	batch      int
	a, b       []int // offsets of the batch's matrices; nil: one at 0
}

func matMul(c *engine.Call) error {
	if err := elementwise.Same(c); err != nil {
		return err
	}
	as, bs := c.In(0).Shape(), c.In(1).Shape()
	p := product{batch: 1, ta: c.Attrs().Bool("transpose_a"), tb: c.Attrs().Bool("transpose_b")}
	sizes, err := shape.TwoMatrices(as, bs, p.ta, p.tb)
	if err != nil {
		return err
	}
	p.m, p.n, p.k = sizes.M, sizes.N, sizes.K
	return p.run(c, tensor.Shape{p.m, p.n})
}

func batchMatMul(c *engine.Call) error {
	if err := elementwise.Same(c); err != nil {
		return err
	}
	as, bs := c.In(0).Shape(), c.In(1).Shape()
	p := product{ta: c.Attrs().Bool("adj_x"), tb: c.Attrs().Bool("adj_y"), conjugates: true}
	sizes, lead, err := shape.Batch(as, bs, p.ta, p.tb)
	if err != nil {
		return err
	}
	p.m, p.n, p.k = sizes.M, sizes.N, sizes.K
	ab, bb := as[:len(as)-2], bs[:len(bs)-2]
	p.batch = shapes.Count(lead)
	if p.batch > 1 {
		sa, sb := shapes.BroadcastStrides(ab, lead), shapes.BroadcastStrides(bb, lead)
		p.a, p.b = make([]int, p.batch), make([]int, p.batch)
		for i := range p.batch {
			for d, rest := len(lead)-1, i; d >= 0; d-- {
				x := rest % lead[d]
				rest /= lead[d]
				p.a[i] += x * sa[d] * p.m * p.k
				p.b[i] += x * sb[d] * p.k * p.n
			}
		}
	}
	return p.run(c, append(append(tensor.Shape{}, lead...), p.m, p.n))
}

func (p *product) run(c *engine.Call, dims tensor.Shape) error {
	d := c.In(0).DType()
	f, err := runs.Of(d)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, d, dims)
	if err != nil {
		return err
	}
	if out.Len() == 0 {
		return nil
	}
	if p.k == 0 {
		clear(out.Bytes())
		return nil
	}
	f(c, p, out)
	return nil
}

var runs = engine.ByType[func(*engine.Call, *product, *tensor.Tensor)]{
	tensor.Float32: float32s, tensor.Float64: float64s,
	tensor.Float16: half[tensor.F16], tensor.BFloat16: half[tensor.BF16],
	tensor.Int8: plain[int8], tensor.Int16: plain[int16], tensor.Int32: plain[int32], tensor.Int64: plain[int64],
	tensor.Uint8: plain[uint8], tensor.Uint16: plain[uint16], tensor.Uint32: plain[uint32], tensor.Uint64: plain[uint64],
	tensor.Complex64: complexes[complex64], tensor.Complex128: complexes[complex128],
}

type number interface {
	vec.Number
	tensor.Element
}

// matrices returns the two of one product of the batch.
func matrices[T any](p *product, a, b []T, i int) (x, y vec.Matrix[T]) {
	var oa, ob int
	if p.a != nil {
		oa, ob = p.a[i], p.b[i]
	}
	x = vec.Matrix[T]{Data: a[oa : oa+p.m*p.k], Row: p.k, Col: 1}
	if p.ta {
		x.Row, x.Col = 1, p.m
	}
	y = vec.Matrix[T]{Data: b[ob : ob+p.k*p.n], Row: p.n, Col: 1}
	if p.tb {
		y.Row, y.Col = 1, p.k
	}
	return x, y
}

func plain[T number](c *engine.Call, p *product, out *tensor.Tensor) {
	over(c, p, tensor.Values[T](out), tensor.Values[T](c.In(0)), tensor.Values[T](c.In(1)))
}

// over runs the products on all cores: whole ones of a batch, or blocks of rows
// of one.
func over[T vec.Number](c *engine.Call, p *product, dst, a, b []T) {
	each := float64(p.m) * float64(p.n) * float64(p.k) * 0.6
	if p.batch > 1 {
		c.Parallel(p.batch, each, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				x, y := matrices(p, a, b, i)
				vec.Gemm(dst[i*p.m*p.n:(i+1)*p.m*p.n], x, y, p.m, p.n, p.k)
			}
		})
		return
	}
	x, y := matrices(p, a, b, 0)
	if !c.Large(1, each) {
		vec.Gemm(dst, x, y, p.m, p.n, p.k)
		return
	}
	c.Parallel(p.m, each/float64(p.m), func(lo, hi int) {
		part := x
		part.Data = x.Data[lo*x.Row:]
		vec.Gemm(dst[lo*p.n:hi*p.n], part, y, hi-lo, p.n, p.k)
	})
}

func float32s(c *engine.Call, p *product, out *tensor.Tensor) {
	packed(c, p, gemm.F32, 4, tensor.Values[float32](out), tensor.Values[float32](c.In(0)), tensor.Values[float32](c.In(1)))
}

func float64s(c *engine.Call, p *product, out *tensor.Tensor) {
	packed(c, p, gemm.F64, 8, tensor.Values[float64](out), tensor.Values[float64](c.In(0)), tensor.Values[float64](c.In(1)))
}

// mulFunc is gemm.F32 or gemm.F64.
type mulFunc[T float32 | float64] func(c []T, ldc int, a []T, lda int, transA bool, b []T, ldb int, transB bool, m, n, k int, accumulate bool, par gemm.Parallel)

// whole is how many nanoseconds of one product of a batch are enough to share
// out the product itself, not the batch.
const whole = 300_000

// packed does what [over] does, for the types that have a fast product.
func packed[T float32 | float64](c *engine.Call, p *product, mul mulFunc[T], size int, dst, a, b []T) {
	lda, ldb := p.k, p.n
	if p.ta {
		lda = p.m
	}
	if p.tb {
		ldb = p.k
	}
	if p.batch == 1 {
		mul(dst, p.n, a, lda, p.ta, b, ldb, p.tb, p.m, p.n, p.k, false, c.Workers())
		return
	}
	one := func(i int, par gemm.Parallel) {
		mul(dst[i*p.m*p.n:], p.n, a[p.a[i]:], lda, p.ta, b[p.b[i]:], ldb, p.tb, p.m, p.n, p.k, false, par)
	}
	each := gemm.Cost(size, p.m, p.n, p.k)
	if each > whole {
		for i := range p.batch {
			one(i, c.Workers())
		}
		return
	}
	c.Parallel(p.batch, each, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			one(i, nil)
		}
	})
}

func half[H elementwise.Half](c *engine.Call, p *product, out *tensor.Tensor) {
	dst := elementwise.Wide(c, out.Len())
	packed(c, p, gemm.F32, 4, dst, elementwise.Widened[H](c, c.In(0)), elementwise.Widened[H](c, c.In(1)))
	elementwise.Narrow(tensor.Values[H](out), dst)
}

func complexes[T interface {
	vec.Complex
	tensor.Element
}](c *engine.Call, p *product, out *tensor.Tensor) {
	a, b := tensor.Values[T](c.In(0)), tensor.Values[T](c.In(1))
	if p.conjugates && p.ta {
		x := make([]T, len(a))
		vec.Conj(x, a)
		a = x
	}
	if p.conjugates && p.tb {
		x := make([]T, len(b))
		vec.Conj(x, b)
		b = x
	}
	over(c, p, tensor.Values[T](out), a, b)
}
