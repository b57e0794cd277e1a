// Package matmul contains the kernels of matrix products. The order of sums is package gemm's, and
// depends on the shapes only. Rows of a product don't depend on the other rows.
package matmul

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
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
		{Op: "MatMul", Prepare: prepare("transpose_a", "transpose_b", false), Types: engine.Types{"T": runs.Types()}, Precision: engine.Accumulated},
		{Op: "_FusedMatMul", Prepare: prepareFused, Types: engine.Types{"T": {tensor.Float32}}, Precision: engine.Accumulated},
		{Op: "BatchMatMul", Prepare: prepare("adj_x", "adj_y", true), Types: engine.Types{"T": runs.Types()}, Precision: engine.Accumulated},
		{Op: "BatchMatMulV2", Prepare: prepare("adj_x", "adj_y", true), Types: engine.Types{"T": runs.Types()}, Precision: engine.Accumulated},
		{Op: "BatchMatMulV3", Prepare: prepareMixed, Types: engine.Types{"Ta": runs.Types(), "Tb": runs.Types()}, Precision: engine.Accumulated},
		{Op: passes.AttentionOp, Def: attentionDef, Prepare: prepareAttention, Types: engine.Types{"T": {tensor.Float32}}, Precision: engine.Accumulated},
		{Op: passes.RowsOp, Def: rowsDef, Prepare: prepareRows, Types: engine.Types{"T": {tensor.Float32}}, Precision: engine.Accumulated},
		{Op: "XlaEinsum", Prepare: prepareEinsum, Types: engine.Types{"T": {tensor.Float32, tensor.BFloat16, tensor.Complex64}}, Precision: engine.Accumulated},
		{Op: "Einsum", Prepare: prepareEinsum, Types: engine.Types{"T": einsums.Types()}, Precision: engine.Accumulated},
	}
}

// product is one matrix product, or a batch of them.
type product struct {
	m, n, k       int
	ta, tb        bool // the matrix is transposed in memory
	conjugates    bool // and counts as conjugated
	lda, ldb, ldc int  // how far apart the rows are in memory
	batch         int
	a, b          []int // offsets of the batch's matrices; nil: one at 0
	c             []int // offsets of the outputs; nil: one after the other
}

// dense sets the strides of matrices with contiguous rows.
func (p *product) dense() {
	p.lda, p.ldb, p.ldc = p.k, p.n, p.n
	if p.ta {
		p.lda = p.m
	}
	if p.tb {
		p.ldb = p.k
	}
}

// matMul is a prepared product of two tensors.
type matMul struct {
	ta, tb  bool
	batched bool
	run     func(*engine.Call, *product, any, *tensor.Tensor)
	packing engine.Packing             // of the second input
	last    atomic.Pointer[shapedCall] // the call before, whose shapes the next one mostly has too
}

// shapedCall contains the properties that follow from the shapes of a call's
// inputs.
type shapedCall struct {
	a, b, dims tensor.Shape
	product    product
}

// prepare returns the preparation of a product. The attributes with these names
// determine whether its matrices are transposed.
func prepare(transA, transB string, batched bool) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		k, err := newMatMul(n, transA, transB, batched)
		if err != nil {
			return nil, err
		}
		return func(c *engine.Call) error {
			if err := elementwise.Same(c); err != nil {
				return err
			}
			s, err := k.forCall(c)
			if err != nil {
				return err
			}
			_, err = k.compute(c, s)
			return err
		}, nil
	}
}

// newMatMul reads the attributes of a node; transA and transB are names of attributes. batched is
// set for ops that take batches and conjugate a transposed matrix.
func newMatMul(n *engine.Node, transA, transB string, batched bool) (*matMul, error) {
	if len(n.In) < 2 {
		return nil, fmt.Errorf("takes 2 inputs, %d were given", len(n.In))
	}
	k := &matMul{ta: n.Attrs.Bool(transA), tb: n.Attrs.Bool(transB), batched: batched}
	var err error
	if k.run, err = runs.Of(n.In[0].DType); err != nil {
		return nil, err
	}
	a, okA := n.In[0].Shape.Tensor()
	b, okB := n.In[1].Shape.Tensor()
	if okA && okB {
		if s, err := k.plan(a, b, smallPlan); err == nil { // else the call returns the error
			k.packing = s.product.packing(n)
		}
	}
	return k, nil
}

// forCall returns the shapedCall for the shapes of a call's inputs.
func (k *matMul) forCall(c *engine.Call) (*shapedCall, error) {
	a, b := c.In(0).Shape(), c.In(1).Shape()
	if s := k.last.Load(); s != nil && s.a.Equal(a) && s.b.Equal(b) {
		return s, nil
	}
	s, err := k.plan(a, b, c.Afford)
	if err == nil {
		k.last.Store(s)
	}
	return s, err
}

// compute makes output 0.
func (k *matMul) compute(c *engine.Call, s *shapedCall) (*tensor.Tensor, error) {
	out, err := c.Alloc(0, c.In(0).DType(), s.dims)
	switch {
	case err != nil || out.Len() == 0:
	case s.product.k == 0:
		clear(out.Bytes())
	default:
		k.run(c, &s.product, c.Packed(k.packing), out)
	}
	return out, err
}

// smallPlan refuses the memory of plans that a graph's compilation makes without an account.
func smallPlan(bytes int64) error {
	if bytes > 1<<20 {
		return fmt.Errorf("the plan takes %d bytes", bytes)
	}
	return nil
}

// plan returns the product of inputs of these shapes. afford accounts for the offsets of a batch,
// which may be of any length if its matrices have no elements.
func (k *matMul) plan(a, b tensor.Shape, afford func(bytes int64) error) (*shapedCall, error) {
	s := &shapedCall{a: slices.Clone(a), b: slices.Clone(b), product: product{ta: k.ta, tb: k.tb, batch: 1}}
	p := &s.product
	if !k.batched {
		sizes, err := shape.TwoMatrices(a, b, k.ta, k.tb)
		if err != nil {
			return nil, err
		}
		p.m, p.n, p.k = sizes.M, sizes.N, sizes.K
		p.dense()
		s.dims = tensor.Shape{p.m, p.n}
		return s, nil
	}
	sizes, lead, err := shape.Batch(a, b, k.ta, k.tb)
	if err != nil {
		return nil, err
	}
	p.conjugates = true
	p.m, p.n, p.k = sizes.M, sizes.N, sizes.K
	p.dense()
	s.dims = append(slices.Clone(lead), p.m, p.n)
	p.batch = shapes.Count(lead)
	as, bs := a[:len(a)-2], b[:len(b)-2]
	switch {
	case p.batch == 1:
	case !p.ta && shapes.Count(bs) == 1 && shapes.Count(as) == p.batch:
		p.m, p.batch = p.m*p.batch, 1 // one matrix of all rows
	default:
		if err := afford(16 * int64(p.batch)); err != nil {
			return nil, err
		}
		p.a, p.b = offsets(as, lead, p.m*p.k), offsets(bs, lead, p.k*p.n)
	}
	return s, nil
}

// offsets returns the offsets of the matrices of a batch in an input whose
// dimensions s before the matrices are broadcast to lead.
func offsets(s, lead tensor.Shape, size int) []int {
	strides := shapes.BroadcastStrides(s, lead)
	out := make([]int, shapes.Count(lead))
	for i := range out {
		for d, rest := len(lead)-1, i; d >= 0; d-- {
			out[i] += rest % lead[d] * strides[d] * size
			rest /= lead[d]
		}
	}
	return out
}

// packing asks for the second input in packed form, if that is faster for
// products of these sizes.
func (p *product) packing(n *engine.Node) engine.Packing {
	if p.batch != 1 || p.ta || p.k == 0 || p.n == 0 || !gemm.Packs(p.m, p.n, p.k) {
		return 0
	}
	return p.packed(n, 1)
}

// packed asks for the product's right side, input i, in packed form.
func (p *product) packed(n *engine.Node, i int) engine.Packing {
	k, cols, ld, trans := p.k, p.n, p.ldb, p.tb
	return n.Pack(i, fmt.Sprint("gemm: a matrix ", k, cols, ld, trans), func(t *tensor.Tensor) (any, int) {
		switch t.DType() {
		case tensor.Float32:
			w := gemm.Pack(tensor.Values[float32](t), ld, trans, k, cols)
			return w, w.NumBytes()
		case tensor.Float64:
			w := gemm.Pack(tensor.Values[float64](t), ld, trans, k, cols)
			return w, w.NumBytes()
		}
		return nil, 0
	})
}

var runs = engine.ByType[func(*engine.Call, *product, any, *tensor.Tensor)]{
	tensor.Float32: plain[float32], tensor.Float64: plain[float64],
	tensor.Float16: halfF16, tensor.BFloat16: halfBF16,
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
	x = vec.Matrix[T]{Data: a[oa : oa+p.m*p.k], Row: p.lda, Col: 1}
	if p.ta {
		x.Row, x.Col = 1, p.lda
	}
	y = vec.Matrix[T]{Data: b[ob : ob+p.k*p.n], Row: p.ldb, Col: 1}
	if p.tb {
		y.Row, y.Col = 1, p.ldb
	}
	return x, y
}

// plain, halfF16, halfBF16 and complexes compute a product for an element type. weights is the
// right side in packed form, or nil.
func plain[T number](c *engine.Call, p *product, weights any, out *tensor.Tensor) {
	multiply(c, p, weights, tensor.Values[T](out), tensor.Values[T](c.In(0)), tensor.Values[T](c.In(1)))
}

// over runs the products on all cores: whole ones of a batch if they are short, or blocks of
// rows of each.
func over[T vec.Number](c *engine.Call, p *product, dst, a, b []T) {
	each := float64(p.m) * float64(p.n) * float64(p.k) * 0.6
	if p.batch > 1 && each <= whole {
		c.Parallel(p.batch, each, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				x, y := matrices(p, a, b, i)
				vec.Gemm(dst[i*p.m*p.n:(i+1)*p.m*p.n], x, y, p.m, p.n, p.k)
			}
		})
		return
	}
	for i := range p.batch {
		x, y := matrices(p, a, b, i)
		to := dst[i*p.m*p.n : (i+1)*p.m*p.n]
		if !c.Large(1, each) {
			vec.Gemm(to, x, y, p.m, p.n, p.k)
			continue
		}
		c.Parallel(p.m, each/float64(p.m), func(lo, hi int) {
			part := x
			part.Data = x.Data[lo*x.Row:]
			vec.Gemm(to[lo*p.n:hi*p.n], part, y, hi-lo, p.n, p.k)
		})
	}
}

// mulFunc is gemm.F32 or gemm.F64.
type mulFunc[T float32 | float64] func(c []T, ldc int, a []T, lda int, transA bool, b []T, ldb int, transB bool, m, n, k int, accumulate bool, par gemm.Parallel)

// whole is the time of one product of a batch, in nanoseconds, from which on
// the product itself is divided among workers, not the batch.
const whole = 300_000

// packed multiplies as [over] does, for the types that have a fast product.
func packed[T float32 | float64](c *engine.Call, p *product, mul mulFunc[T], size int, w *gemm.Weights[T], dst, a, b []T) {
	switch {
	case p.batch == 1 && w != nil:
		w.Multiply(dst, p.ldc, a, p.lda, p.m, nil, c.Workers())
		return
	case p.batch == 1:
		mul(dst, p.ldc, a, p.lda, p.ta, b, p.ldb, p.tb, p.m, p.n, p.k, false, c.Workers())
		return
	}
	one := func(i int, par gemm.Parallel) {
		at := i * p.m * p.n
		if p.c != nil {
			at = p.c[i]
		}
		mul(dst[at:], p.ldc, a[p.a[i]:], p.lda, p.ta, b[p.b[i]:], p.ldb, p.tb, p.m, p.n, p.k, false, par)
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

// multiply computes the product by the fastest way of the type. weights is the right
// side in packed form, or nil.
func multiply[T number](c *engine.Call, p *product, weights any, dst, a, b []T) {
	switch dst := any(dst).(type) {
	case []float32:
		w, _ := weights.(*gemm.Weights[float32])
		packed(c, p, gemm.F32, 4, w, dst, any(a).([]float32), any(b).([]float32))
	case []float64:
		w, _ := weights.(*gemm.Weights[float64])
		packed(c, p, gemm.F64, 8, w, dst, any(a).([]float64), any(b).([]float64))
	default:
		over(c, p, any(dst).([]T), a, b)
	}
}

func halfF16(c *engine.Call, p *product, _ any, out *tensor.Tensor) {
	elementwise.Narrow(tensor.Values[tensor.F16](out), wideProduct[tensor.F16](c, p, out.Len()))
}

// halfBF16 truncates numbers to bfloat16, as TensorFlow's products do: nothing
// is rounded up.
func halfBF16(c *engine.Call, p *product, _ any, out *tensor.Tensor) {
	dst := tensor.Values[tensor.BF16](out)
	for i, v := range wideProduct[tensor.BF16](c, p, len(dst)) {
		dst[i] = tensor.BF16(math.Float32bits(v) >> 16)
	}
}

// wideProduct computes a product of n elements in float32.
func wideProduct[H elementwise.Half](c *engine.Call, p *product, n int) []float32 {
	dst := elementwise.Wide(c, n)
	packed(c, p, gemm.F32, 4, nil, dst, elementwise.Widened[H](c, c.In(0)), elementwise.Widened[H](c, c.In(1)))
	return dst
}

// complexes conjugates the matrices that are transposed, if the op's attributes are adj_x and adj_y.
func complexes[T interface {
	vec.Complex
	tensor.Element
}](c *engine.Call, p *product, _ any, out *tensor.Tensor) {
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
