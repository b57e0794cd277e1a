package quant

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of QuantizedMatMulWithBias and its forms with Relu,
// requantization and dequantization. fusedKernels in table.go lists them.

// exactSteps is the largest number of products of two 8-bit codes whose sum is
// always an integer that float32 represents.
const exactSteps = 512

// multiply computes sums = a·b for a of m rows of k codes and b of k rows of n
// codes, both as floats. It splits sums of many products into parts, so that
// all are exact.
func multiply(sums []int32, a, b []float32, m, k, n int, par gemm.Parallel) {
	part, free := gemm.Borrow[float32](m * n)
	defer free()
	clear(sums[:m*n])
	for from := 0; from < k; from += exactSteps {
		steps := min(exactSteps, k-from)
		gemm.F32(part, n, a[from:], k, false, b[from*n:], n, false, m, n, steps, false, par)
		for i, v := range part[:m*n] {
			sums[i] += int32(v)
		}
	}
}

// floatsOf returns codes of 8 bits as floats in borrowed memory.
func floatsOf(c *engine.Call, i int) (v []float32, free func(), err error) {
	codes, err := byteCodes(c, i)
	if err != nil {
		return nil, nil, err
	}
	v, free = gemm.Borrow[float32](c.In(i).Len())
	for k := range v {
		v[k] = float32(codes.at(k))
	}
	return v, free, nil
}

// prepareFusedMatMul prepares a product of matrices of codes with a bias. In
// the mode MIN_FIRST the bias is corrected. As in TensorFlow, only the op with
// dequantization reads the mode from the attribute; all others use MIN_FIRST.
func prepareFusedMatMul(n *engine.Node) (func(*engine.Call) error, error) {
	f := fusionOf(n.Op)
	if n.Attrs.Bool("transpose_a") || n.Attrs.Bool("transpose_b") {
		return nil, fmt.Errorf("transposed matrices, which TensorFlow has no kernel for")
	}
	out := n.Attrs.Type("Toutput", tensor.QInt32)
	mode := n.Attrs.String("input_quant_mode", "MIN_FIRST")
	if mode != "MIN_FIRST" && mode != "SCALED" {
		return nil, fmt.Errorf("input_quant_mode is %q, neither MIN_FIRST nor SCALED", mode)
	}
	minFirst := mode == "MIN_FIRST" || !f.dequantize
	return func(c *engine.Call) error { return fusedMatMul(c, &f, out, minFirst) }, nil
}

// fusedMatMul multiplies input 0 of shape [m, k] by input 1 of shape [k, n] and
// adds the bias of n numbers in input 2. d is the type of the result. The steps
// in float32 are oneDNN's and must stay.
func fusedMatMul(c *engine.Call, f *fusion, d tensor.DType, minFirst bool) error {
	if err := c.Need(f.inputs()); err != nil {
		return err
	}
	s, t := c.In(0).Shape(), c.In(1).Shape()
	if len(s) != 2 || len(t) != 2 || s[1] != t[0] {
		return fmt.Errorf("matrices of shapes %v and %v can't be multiplied", s, t)
	}
	m, k, n := s[0], s[1], t[1]
	codes, err := signedCodes(c, 1)
	if err != nil {
		return err
	}
	sa, err := spanAt(c, 3)
	if err != nil {
		return err
	}
	sb, err := spanAt(c, 5)
	if err != nil {
		return err
	}
	var to span
	if f.given() {
		if to, err = spanAt(c, 7); err != nil {
			return err
		}
	}
	width, code := sa.widest(), sa.most
	if minFirst {
		width, code = sa.most-sa.least, sa.most-sa.least
	}
	by := float32(float32(float64(width)/255) * float32(float64(sb.widest())/127))
	biasBy := float32(255 * 127 / float64(code*sb.widest()))
	r := scaled{by: []float32{by}, relu: f.relu, inverse: 1}
	r.bias, err = biasOf(c, n, func(_ int, v float32) float32 {
		if minFirst {
			return v / biasBy
		}
		return v * (1 / biasBy)
	})
	if err != nil {
		return err
	}
	if minFirst && c.In(2).DType() == tensor.Float32 {
		r.bias = corrected(r.bias, codes, 255*sa.least/(sa.most-sa.least), k)
	}
	switch {
	case f.requantize:
		r.inverse = 1 / float32(float64(to.widest())/symmetric(d))
	case !f.dequantize:
		r.inverse = 1 / by
		to = productSpan(sa, sb, limitsFor(c.In(0).DType()))
	}
	put, err := r.write(c, d, tensor.Shape{m, n}, limitsFor(d))
	if err != nil {
		return err
	}
	if m*n > 0 {
		a, freeA, err := floatsOf(c, 0)
		if err != nil {
			return err
		}
		defer freeA()
		b, freeB, err := floatsOf(c, 1)
		if err != nil {
			return err
		}
		defer freeB()
		sums, row := engine.Zeroed[int32](c, m*n), make([]float32, n)
		multiply(sums, a, b, m, k, n, c.Workers())
		for i := range m {
			put(i*n, sums[i*n:][:n], row)
		}
	}
	if f.dequantize {
		return nil
	}
	return setSpan(c, 1, to)
}

// corrected returns a bias minus the part of each column's sums that comes from
// the code of zero.
func corrected(bias []float32, codes []int8, zero float32, k int) []float32 {
	n := len(bias)
	out := make([]float32, n)
	for j := range out {
		var sum int32
		for i := range k {
			sum += int32(codes[i*n+j])
		}
		out[j] = bias[j] + float32(float32(sum)*zero)
	}
	return out
}
