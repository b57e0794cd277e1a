package xla

import (
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of XlaDequantize.

// rounded returns the nearest bfloat16.
func rounded(v float32) float32 { return tensor.ToBF16(v).Float() }

// dequantize makes four numbers of each word, one for each byte, the highest byte
// first. They are neighbours in the last dimension. It multiplies a byte by the width of
// a quantum and adds the range's minimum, in bfloat16, and rounds after each operation.
// transpose_output reverses the order of all dimensions of the result.
func dequantize(n *engine.Node) (func(*engine.Call) error, error) {
	if m := n.Attrs.String("mode", ""); m != "MIN_COMBINED" {
		return nil, fmt.Errorf("mode is %q (want MIN_COMBINED, the only one that XLA has)", m)
	}
	low, high := float32(n.Attrs.Float("min_range", 0)), float32(n.Attrs.Float("max_range", 0))
	var table [256]tensor.BF16
	least := rounded(low)
	step := rounded(rounded(rounded(high)-least) / 255)
	for i := range table {
		table[i] = tensor.ToBF16(rounded(float32(i)*step) + least)
	}
	transpose := n.Attrs.Bool("transpose_output")
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		in := c.In(0)
		shape := in.Shape().Clone()
		rank := len(shape)
		if rank == 0 {
			return fmt.Errorf("the input is a scalar (want one dimension at least)")
		}
		if shape[rank-1] > math.MaxInt/4 {
			return fmt.Errorf("dimension %d would be too large", rank-1)
		}
		if shape[rank-1] *= 4; transpose {
			slices.Reverse(shape)
		}
		out, err := c.Alloc(0, tensor.BFloat16, shape)
		if err != nil {
			return err
		}
		v, words := tensor.Values[tensor.BF16](out), tensor.Values[uint32](in)
		if !transpose {
			c.Parallel(len(words), 4, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					w := words[i]
					v[4*i], v[4*i+1], v[4*i+2], v[4*i+3] = table[w>>24], table[byte(w>>16)], table[byte(w>>8)], table[byte(w)]
				}
			})
			return nil
		}
		// The strides of the output's dimensions, in the order of the input's.
		strides := make([]int, rank)
		for d, s := 0, 1; d < rank; d++ {
			strides[d] = s
			s *= shape[rank-1-d]
		}
		index := make([]int, rank)
		for i, w := range words {
			c.Step(i)
			to := 0
			for d, k := range index {
				if d == rank-1 {
					k *= 4
				}
				to += k * strides[d]
			}
			for b := range 4 {
				v[to+b*strides[rank-1]] = table[byte(w>>(24-8*b))]
			}
			next(index, in.Shape())
		}
		return nil
	}, nil
}
