//go:build amd64 && !noasm

package simd

import "golang.org/x/sys/cpu"

// Sums of products of half precision. Package stepwise calls Products.

// halving reports whether the CPU converts to float16 and back.
var halving = enabled && cpu.X86.HasF16C

// most is how many vectors of sums the loops hold.
const most = 8

// lanesBelow has a mask of the first n lanes at 8-n.
var lanesBelow = [2 * lanes32]uint32{1 << 31, 1 << 31, 1 << 31, 1 << 31, 1 << 31, 1 << 31, 1 << 31, 1 << 31}

// Products makes the steps, see [Steps], and reports whether it can.
func Products(sums, x, right []float32, s Steps) bool {
	depth := (len(x) + s.Step - 1) / s.Step
	if !halving || len(sums) == 0 || depth == 0 {
		return halving
	}
	_ = right[(depth-1)*s.Stride+len(sums)-1]
	for j := 0; j < len(sums); {
		vecs := most
		for vecs > 1 && vecs*lanes32 > len(sums)-j {
			vecs /= 2
		}
		columns := min(vecs*lanes32, len(sums)-j)
		mask := &lanesBelow[lanes32-min(columns, lanes32)]
		// Pieces keep a call of assembly short
		part := piece / columns
		for k := 0; k < depth; k += part {
			n := min(part, depth-k)
			dst, a, b := &sums[j], &x[k*s.Step], &right[k*s.Stride+j]
			switch {
			case s.To == ToFloat16 && s.Products:
				roundedProductsF16(dst, a, b, s.Step, s.Stride, n, vecs, mask)
			case s.To == ToFloat16:
				productsF16(dst, a, b, s.Step, s.Stride, n, vecs, mask)
			case s.Products:
				roundedProductsBF16(dst, a, b, s.Step, s.Stride, n, vecs, mask)
			default:
				productsBF16(dst, a, b, s.Step, s.Stride, n, vecs, mask)
			}
		}
		j += columns
	}
	return true
}
