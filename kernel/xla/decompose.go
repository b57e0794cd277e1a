package xla

import (
	"unsafe"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The loop over matrices for XlaSelfAdjointEig and XlaSvd.

// decomposition decomposes a matrix in at least as many sweeps as requested,
// and returns the number of sweeps. Its working memory is zeros.
type decomposition func(m []float64, outs [][]float64, work []float64, least int64) (sweeps int64)

// decompose runs f for each matrix of a batch, in float64. It rounds the
// results to the input's type, in outputs of the given shapes. work is the size
// of f's working memory. XLA does as many sweeps for all matrices as the
// slowest needs, so matrices with fewer are decomposed twice.
func decompose(c *engine.Call, shapes []tensor.Shape, work int, f decomposition) error {
	in := c.In(0)
	rank := len(in.Shape())
	size, batch := in.Shape()[rank-1]*in.Shape()[rank-2], 1
	for _, d := range in.Shape()[:rank-2] {
		batch *= d
	}
	outs := make([]*tensor.Tensor, len(shapes))
	each := make([]int, len(shapes))
	total := size + work
	for i, s := range shapes {
		var err error
		if outs[i], err = c.Alloc(i, in.DType(), s); err != nil {
			return err
		}
		each[i] = outs[i].Len() / max(batch, 1)
		total += each[i]
	}
	if size == 0 || batch == 0 {
		return nil
	}
	mem, free := c.Scratch(8 * total)
	defer free()
	memory := unsafe.Slice((*float64)(unsafe.Pointer(&mem[0])), total)
	m, rest := memory[:size], memory[size:]
	results := make([][]float64, len(shapes))
	for i := range results {
		results[i], rest = rest[:each[i]], rest[each[i]:]
	}
	one := func(b int, least int64) int64 {
		c.Check()
		clear(memory)
		load(m, in, b*size)
		n := f(m, results, rest, least)
		for i, r := range results {
			store(outs[i], b*each[i], r)
		}
		return n
	}
	sweeps, grew := one(0, 0), 0 // index of the last matrix that took more sweeps than those before it
	for b := 1; b < batch; b++ {
		if n := one(b, sweeps); n > sweeps {
			sweeps, grew = n, b
		}
	}
	for b := range grew {
		one(b, sweeps)
	}
	return nil
}

// load reads elements from the given one on.
func load(dst []float64, t *tensor.Tensor, at int) {
	switch t.DType() {
	case tensor.Float64:
		copy(dst, tensor.Values[float64](t)[at:])
	case tensor.Float32:
		for i := range dst {
			dst[i] = float64(tensor.Values[float32](t)[at+i])
		}
	case tensor.Float16:
		for i := range dst {
			dst[i] = float64(tensor.Values[tensor.F16](t)[at+i].Float())
		}
	case tensor.BFloat16:
		for i := range dst {
			dst[i] = float64(tensor.Values[tensor.BF16](t)[at+i].Float())
		}
	}
}

// store rounds numbers into elements from the given one on.
func store(t *tensor.Tensor, at int, src []float64) {
	switch t.DType() {
	case tensor.Float64:
		copy(tensor.Values[float64](t)[at:], src)
	case tensor.Float32:
		for i, v := range src {
			tensor.Values[float32](t)[at+i] = float32(v)
		}
	case tensor.Float16:
		for i, v := range src {
			tensor.Values[tensor.F16](t)[at+i] = tensor.ToF16(float32(v))
		}
	case tensor.BFloat16:
		for i, v := range src {
			tensor.Values[tensor.BF16](t)[at+i] = tensor.ToBF16(float32(v))
		}
	}
}
