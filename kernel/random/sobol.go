package random

import (
	_ "embed"
	"fmt"
	"math"
	"math/bits"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of SobolSample.

// sobolData has the direction numbers of S. Joe and F. Y. Kuo for the dimensions after the first (new-joe-kuo-6; see
// sobol.LICENSE). For each dimension it has m(2) to m(s); s is the degree of the dimension's polynomial. m(i) is odd and
// below 2^i; it is stored as its i-1 bits above the lowest, lowest first. m(1) is 1.
//
//go:embed sobol.bin
var sobolData []byte

// sobolSample returns points of the Sobol sequence, in the order of Gray's code, without the first, which is zero.
func sobolSample(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	var in [3]int
	for i, what := range []string{"dim", "num_results", "skip"} {
		n, err := tensor.Item[int32](c.In(i))
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		in[i] = int(n)
	}
	dim, n, skip := in[0], in[1], in[2]
	switch {
	case dim < 1 || dim > shape.SobolDims:
		return fmt.Errorf("dim is %d, not from 1 to %d", dim, shape.SobolDims)
	case n < 1 || skip < 0 || int64(n)+int64(skip) >= math.MaxInt32:
		return fmt.Errorf("num_results is %d and skip %d; there are %d points", n, skip, math.MaxInt32-1)
	}
	d := c.Attrs().Type("dtype", tensor.Float32)
	if err := c.Afford(int64(dim) * 4 * sobolBits); err != nil {
		return err
	}
	out, err := c.Alloc(0, d, tensor.Shape{n, dim})
	if err != nil {
		return err
	}
	set := func(i int, v uint32) { tensor.Values[float32](out)[i] = float32(v) * 0x1p-32 }
	if d == tensor.Float64 {
		set = func(i int, v uint32) { tensor.Values[float64](out)[i] = float64(v) * 0x1p-32 }
	}
	directions := sobolDirections(dim, c.Step)
	point := make([]uint32, dim)
	first := uint32(skip) + 1
	for g := first ^ first>>1; g != 0; g &= g - 1 {
		k := bits.TrailingZeros32(g)
		for j := range point {
			point[j] ^= directions[j][k]
		}
	}
	for i := range n {
		if err := c.Context().Err(); err != nil {
			return err
		}
		for j, v := range point {
			set(i*dim+j, v)
		}
		k := bits.TrailingZeros32(first + uint32(i) + 1)
		for j := range point {
			point[j] ^= directions[j][k]
		}
	}
	return nil
}

// sobolBits is the number of direction numbers that a dimension needs: there are fewer than 2^31 points.
const sobolBits = 31

// sobolDirections returns the direction numbers of the first dimensions, as fractions of 2^32.
func sobolDirections(dims int, step func(int)) [][sobolBits]uint32 {
	out := make([][sobolBits]uint32, dims)
	for k := range out[0] {
		out[0][k] = 1 << (31 - k)
	}
	j, at := 1, 0
	for s := 1; j < dims; s++ {
		primitive(s, step, func(a uint32) bool {
			v := &out[j]
			for k := range sobolBits {
				if k >= s {
					// The recurrence of the polynomial x^s + a(1)x^(s-1) + … + 1.
					v[k] = v[k-s] ^ v[k-s]>>s
					for i := 1; i < s; i++ {
						if a>>(s-1-i)&1 != 0 {
							v[k] ^= v[k-i]
						}
					}
					continue
				}
				m := uint32(1)
				for b := 1; b <= k; b++ {
					m |= uint32(sobolData[at/8]>>(at%8)&1) << b
					at++
				}
				v[k] = m << (31 - k)
			}
			j++
			return j < dims
		})
	}
	return out
}

// primitive visits the primitive polynomials of degree s over GF(2), in order, until visit returns false. It calls step with
// the number of each candidate. It passes the bits of a polynomial between its first and its last, which are 1.
func primitive(s int, step func(int), visit func(a uint32) bool) {
	order := uint32(1)<<s - 1
	var primes []uint32
	for n, f := order, uint32(2); n > 1; f++ {
		if n%f == 0 {
			primes = append(primes, f)
		}
		for n%f == 0 {
			n /= f
		}
	}
	for a := range uint32(1) << (s - 1) {
		step(int(a))
		p := uint32(1)<<s | a<<1 | 1
		if s == 1 {
			visit(a)
			return
		}
		// The order of x is 2^s-1: its power 2^s is x again, and no proper divisor of 2^s-1 is the order.
		x := uint32(2)
		for range s {
			x = times(x, x, p, s)
		}
		full := x == 2
		for _, f := range primes {
			if !full {
				break
			}
			full = f == order || power(order/f, p, s) != 1
		}
		if full && !visit(a) {
			return
		}
	}
}

// times multiplies polynomials modulo p, whose degree is s.
func times(a, b, p uint32, s int) (r uint32) {
	for ; b != 0; b >>= 1 {
		if b&1 != 0 {
			r ^= a
		}
		if a <<= 1; a>>s != 0 {
			a ^= p
		}
	}
	return r
}

// power returns x^e modulo p, whose degree s is at least 2.
func power(e, p uint32, s int) uint32 {
	r, b := uint32(1), uint32(2)
	for ; e != 0; e >>= 1 {
		if e&1 != 0 {
			r = times(r, b, p, s)
		}
		b = times(b, b, p, s)
	}
	return r
}
