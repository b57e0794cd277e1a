package stepwise

import (
	"math"

	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/simd"
	"github.com/cairnml/cairn/tensor"
)

// Time is the approximate time of a step of a product, in nanoseconds.
const Time = 4

// Product is a product of matrices of half precision whose sums are rounded at every step, in
// the order of Eigen's kernel for blocks and panels without fused instructions
// (GeneralBlockPanelKernel.h): 8 columns are a vector, and sums run along depth in blocks.
type Product struct {
	Rows, Cols, Depth int
	Right             []float32 // Depth rows of Cols

	r     rounder
	block int
}

// NewProduct returns a product of so many rows with a right side of depth rows of cols, widened
// from type H.
func NewProduct[H elementwise.Half](rows, cols, depth int, right []float32) *Product {
	return &Product{Rows: rows, Cols: cols, Depth: depth, Right: right, r: rounderOf[H](), block: depthOf(rows, cols, depth)}
}

// The numbers are Eigen's and must stay: they decide the order of sums.
const (
	// panel is the number of rows that Eigen's kernel computes together.
	panel = 4
	// peel is how many steps of depth it unrolls.
	peel = 8
	// deepest is how many steps of depth a panel may have in a cache of 32 KiB.
	deepest = 816
	// smallest is the size below which nothing is cut into blocks.
	smallest = 48
)

// depthOf returns how many steps of depth a block has: blocks are of about one size.
func depthOf(rows, cols, depth int) int {
	if depth <= deepest || max(rows, cols, depth) < smallest {
		return max(depth, 1)
	}
	over := depth % deepest
	if over == 0 {
		return deepest
	}
	return deepest - peel*((deepest-1-over)/(peel*(depth/deepest+1)))
}

// Row sets dst to row i of the product. x is row i of the left side.
func (p *Product) Row(dst, x []float32, i int) {
	if p.Rows == 1 {
		p.Vector(dst, x)
		return
	}
	clear(dst)
	for k := 0; k < p.Depth; k += p.block {
		part, right := x[k:min(k+p.block, p.Depth)], p.Right[k*p.Cols:]
		j := p.Cols / (2 * lanes) * (2 * lanes)
		p.r.steps(dst[:j], part, right, p.Cols)
		if j+lanes <= p.Cols {
			if i < p.Rows/panel*panel {
				p.r.twofold(dst[j:j+lanes], part, right[j:], p.Cols)
			} else {
				p.r.steps(dst[j:j+lanes], part, right[j:], p.Cols)
			}
			j += lanes
		}
		p.r.fused(dst[j:], part, right[j:], p.Cols)
	}
}

// Vector computes a row as Eigen does when it multiplies a vector by a matrix (GeneralMatrixVector.h).
func (p *Product) Vector(dst, x []float32) {
	p.r.vector(dst, x, p.Right, p.Cols)
}

// vector sets dst to the product of a vector with a matrix, whose rows are stride apart.
func (r *rounder) vector(dst, x, right []float32, stride int) {
	clear(dst)
	block := len(x)
	if block >= 128 {
		if block = 16; 2*stride >= 32000 {
			block = 4
		}
	}
	whole := len(dst) - len(dst)%lanes
	for k := 0; k < len(x); k += block {
		part, rows := x[k:min(k+block, len(x))], right[k*stride:]
		r.fused(dst[:whole], part, rows, stride)
		r.steps(dst[whole:], part, rows[whole:], stride)
	}
}

// Stored describes the memory layout of the sides of a product. It determines the steps of small products and of those with
// vectors.
type Stored struct {
	Left, Right bool // transposed
}

// small is the sum of a product's sizes below which each element is computed by itself.
const small = 20

// Matrix sets dst to the whole product with the left side x, as Eigen does for matrices of this layout
// (GeneralMatrixMatrix.h). first is the index of dst's first element in its allocation.
func (p *Product) Matrix(dst, x []float32, in Stored, first int) {
	m, n, k := p.Rows, p.Cols, p.Depth
	switch {
	case m+n+k < small:
		for i := range m {
			p.coefficients(dst[i*n:][:n], x[i*k:][:k], in, first+i*n)
		}
	case m == 1 && n == 1:
		if in.Left || !in.Right {
			dst[0] = 0
			p.r.fused(dst[:1], x, p.Right, 1)
		} else {
			dst[0] = p.r.dot(x, p.Right, dotUnrolled, true)
		}
	case n == 1 && in.Left:
		left := make([]float32, len(x))
		for i := range m {
			for l := range k {
				left[l*m+i] = x[i*k+l]
			}
		}
		p.r.vector(dst, p.Right, left, m)
	case n == 1:
		for i := range m {
			dst[i] = p.r.dot(x[i*k:][:k], p.Right, 1, false)
		}
	case m == 1 && in.Right:
		col := make([]float32, k)
		for j := range n {
			dst[j] = p.r.dot(x, p.column(col, j), 1, false)
		}
	case m == 1:
		p.Vector(dst, x)
	default:
		for i := range m {
			p.Row(dst[i*n:][:n], x[i*k:][:k], i)
		}
	}
}

// column fills col with column j of the right side.
func (p *Product) column(col []float32, j int) []float32 {
	for l := range col {
		col[l] = p.Right[l*p.Cols+j]
	}
	return col
}

// coefficients computes a row of a small product. It uses whole vectors of aligned elements if both sides are row-major,
// otherwise one element at a time.
func (p *Product) coefficients(dst, x []float32, in Stored, first int) {
	clear(dst)
	n := p.Cols
	switch {
	case !in.Left && in.Right:
		col := make([]float32, p.Depth)
		for j := range dst {
			dst[j] = p.r.sum(x, p.column(col, j))
		}
	case in.Left || in.Right:
		p.r.steps(dst, x, p.Right, n)
	default:
		start := min((lanes-first%lanes)%lanes, n)
		end := start + (n-start)/lanes*lanes
		p.r.steps(dst[:start], x, p.Right, n)
		p.r.fused(dst[start:end], x, p.Right[start:], n)
		p.r.steps(dst[end:], x, p.Right[end:], n)
	}
}

// rounder rounds float32 to a shorter type.
type rounder struct {
	bits
	other func(float32) float32
	to    simd.Rounding
}

// bits describes the rounding of numbers whose bits are from low to low+span: it drops bits of the significand.
type bits struct{ drop, half, low, span uint32 }

func rounderOf[H elementwise.Half]() rounder {
	r := rounder{bits{drop: 16, span: 0x7f7f_8000}, Rounding[H](), simd.ToBFloat16}
	if tensor.TypeOf[H]() == tensor.Float16 {
		r.to = simd.ToFloat16
		r.drop, r.low = 13, math.Float32bits(0x1p-14)
		r.span = math.Float32bits(65520) - r.low
	}
	r.half = 1<<(r.drop-1) - 1
	return r
}

// within reports whether dropping bits rounds v.
func (b *bits) within(v float32) bool { return math.Float32bits(v)&(1<<31-1)-b.low < b.span }

// dropped returns v without the bits that are dropped.
func (b *bits) dropped(v float32) float32 {
	u, drop := math.Float32bits(v), b.drop&31
	return math.Float32frombits((u + b.half + u>>drop&1) >> drop << drop)
}

// round rounds v; the fast way is right for the usual exponents only.
func (r *rounder) round(v float32) float32 {
	if r.within(v) {
		return r.dropped(v)
	}
	return r.other(v)
}

// chunk is how many columns are summed up at once in plain Go, and wide with assembly.
const chunk, wide = 2 * lanes, 8 * lanes

// steps adds to dst the product of x with the columns that right begins with, product and sum
// rounded.
func (r *rounder) steps(dst, x, right []float32, stride int) {
	r.sums(dst, x, right, simd.Steps{To: r.to, Products: true, Step: 1, Stride: stride})
}

// fused computes as steps does, but rounds sums only.
func (r *rounder) fused(dst, x, right []float32, stride int) {
	r.sums(dst, x, right, simd.Steps{To: r.to, Step: 1, Stride: stride})
}

// sums adds to dst sums that begin with zero, a block of columns at a time.
func (r *rounder) sums(dst, x, right []float32, s simd.Steps) {
	for j := 0; j < len(dst); j += wide {
		var sums [wide]float32
		n := min(len(dst)-j, wide)
		r.products(sums[:n], x, right[j:], s)
		r.add(dst[j:j+n], sums[:])
	}
}

// products makes steps, see [simd.Steps].
func (r *rounder) products(sums, x, right []float32, s simd.Steps) {
	if simd.Products(sums, x, right, s) {
		return
	}
	for j := 0; j < len(sums); j += chunk {
		var some [chunk]float32
		n := copy(some[:], sums[j:])
		for k := 0; k*s.Step < len(x); k++ {
			if row := right[k*s.Stride+j:][:n]; s.Products {
				r.step(some[:n], row, x[k*s.Step])
			} else {
				r.fuse(some[:n], row, x[k*s.Step])
			}
		}
		copy(sums[j:], some[:n])
	}
}

// step adds v times a row to sums, product and sum rounded.
func (r *rounder) step(sums, row []float32, v float32) {
	b := r.bits
	sums = sums[:len(row)]
	for l, w := range row {
		p := float32(v * w)
		if b.within(p) {
			p = b.dropped(p)
		} else if p != 0 {
			p = r.other(p)
		}
		p += sums[l]
		if b.within(p) {
			p = b.dropped(p)
		} else if p != 0 {
			p = r.other(p)
		}
		sums[l] = p
	}
}

// fuse adds v times a row to sums, the sum rounded.
func (r *rounder) fuse(sums, row []float32, v float32) {
	b := r.bits
	sums = sums[:len(row)]
	for l, w := range row {
		p := sums[l] + float32(v*w)
		if b.within(p) {
			p = b.dropped(p)
		} else if p != 0 {
			p = r.other(p)
		}
		sums[l] = p
	}
}

// twofold computes as steps does, with separate sums of even and odd steps as far as the kernel unrolls them.
func (r *rounder) twofold(dst, x, right []float32, stride int) {
	var sums, odd [lanes]float32
	s := simd.Steps{To: r.to, Products: true, Step: 1, Stride: stride}
	whole := len(x) - len(x)%peel
	if whole > 0 {
		two := s
		two.Step, two.Stride = 2, 2*stride
		r.products(sums[:], x[:whole], right, two)
		r.products(odd[:], x[1:whole], right[stride:], two)
	}
	r.add(sums[:], odd[:])
	if whole < len(x) {
		r.products(sums[:], x[whole:], right[whole*stride:], s)
	}
	r.add(dst, sums[:])
}

func (r *rounder) add(dst, x []float32) {
	for i, v := range dst {
		dst[i] = r.round(v + x[i])
	}
}

// dotUnrolled is the number of vectors that Eigen sums in parallel in a product of two vectors (InnerProduct.h).
const dotUnrolled = 4

// dot returns the product of two vectors. It sums some vectors in parallel and the remaining elements one by one. The
// products of the remaining elements are rounded too, unless fused is set.
func (r *rounder) dot(x, y []float32, unrolled int, fused bool) float32 {
	var beside [dotUnrolled][lanes]float32
	whole := len(x) / lanes
	unrolled = max(min(unrolled, whole), 1)
	for v := range whole {
		at := &beside[v%unrolled]
		for l := range at {
			at[l] = r.round(at[l] + x[v*lanes+l]*y[v*lanes+l])
		}
	}
	for u := unrolled - 1; u > 0; u-- {
		r.add(beside[u-1][:], beside[u][:])
	}
	return r.rest(r.joined(&beside[0]), x[whole*lanes:], y[whole*lanes:], fused)
}

// rest adds the products of two vectors to sum, one by one.
func (r *rounder) rest(sum float32, x, y []float32, fused bool) float32 {
	for k, v := range x {
		v *= y[k]
		if !fused {
			v = r.round(v)
		}
		sum = r.round(sum + v)
	}
	return sum
}

// sum returns the sum of the rounded products of two vectors, as vectors and then one by one.
func (r *rounder) sum(x, y []float32) float32 {
	var v [lanes]float32
	whole := len(x) - len(x)%lanes
	for k := range whole {
		v[k%lanes] = r.round(v[k%lanes] + r.round(x[k]*y[k]))
	}
	return r.rest(r.joined(&v), x[whole:], y[whole:], false)
}

// joined returns the sum of a vector, rounded at the end.
func (r *rounder) joined(v *[lanes]float32) float32 {
	for k := lanes / 2; k > 0; k /= 2 {
		for i := range k {
			v[i] += v[k+i]
		}
	}
	return r.round(v[0])
}
