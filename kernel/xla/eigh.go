package xla

import (
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of XlaSelfAdjointEig. The order of rotations is XLA's and must stay: it decides the
// signs of vectors.

// selfAdjointEig computes the eigenvalues of symmetric matrices, rising, and their eigenvectors
// as columns, by Jacobi's rotations in the order of Brent and Luk's tournament (1985). The
// rotations begin at the identity and decide the signs of the vectors, as in XLA.
func selfAdjointEig(n *engine.Node) (func(*engine.Call) error, error) {
	lower, sweeps, tol := n.Attrs.Bool("lower"), n.Attrs.Int("max_iter", 0), n.Attrs.Float("epsilon", 0)
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		shape := c.In(0).Shape()
		rank := len(shape)
		if rank < 2 || shape[rank-1] != shape[rank-2] {
			return fmt.Errorf("the input is %v (want square matrices)", shape)
		}
		size := shape[rank-1]
		even := size + size%2
		outs := []tensor.Shape{shape[:rank-1], shape}
		return decompose(c, outs, 2*even*even+2*even, func(m []float64, outs [][]float64, work []float64, least int64) int64 {
			if size == 1 {
				outs[0][0], outs[1][0] = m[0], 1
				return 0
			}
			e := eigh{n: size, k: even, w: work[:even*even], v: work[even*even : 2*even*even]}
			return e.run(c, m, lower, least, sweeps, tol, outs[0], outs[1], work[2*even*even:])
		})
	}, nil
}

// eigh is the decomposition of one matrix of n rows. The matrix has k rows, an even number: the
// last one may be zeros. w becomes diagonal, and the rows of v the vectors.
type eigh struct {
	n, k int
	w, v []float64
}

// run decomposes m in least to most sweeps. A sweep is a tournament of the rows. In each of k-1 rounds the rows at i and
// k/2+i rotate, and all but the first move to the next place. So each pair meets once a sweep.
func (e *eigh) run(c *engine.Call, m []float64, lower bool, least, most int64, tol float64, values, vectors, work []float64) (sweeps int64) {
	n, k, half := e.n, e.k, e.k/2
	scale := e.load(m, lower)
	players, next := make([]int, k), make([]int, k)
	for i := range k {
		e.v[i*k+i] = 1
		players[i] = i
	}
	cos, sin := work[:half], work[half:k]
	for ; sweeps < most; sweeps++ {
		if whole, off := e.squares(); sweeps >= least && !(whole*tol*tol < off) {
			break
		}
		turned := false
		for range k - 1 {
			c.Check()
			for i := range half {
				p, q := players[i], players[half+i]
				cos[i], sin[i] = rotation(e.w[p*k+p], e.w[p*k+q], e.w[q*k+q])
				turned = turned || sin[i] != 0
			}
			e.round(players, cos, sin)
			next[0] = players[0]
			if half == 1 {
				break
			}
			next[1], next[k-1] = players[half], players[half-1]
			copy(next[2:half], players[1:half-1])
			copy(next[half:k-1], players[half+1:])
			players, next = next, players
		}
		if !turned {
			break // and no later sweep would change anything
		}
	}
	at := make([]int, n) // the rows by the rising order of their values
	for i := range at {
		at[i] = players[i]
	}
	slices.SortStableFunc(at, func(a, b int) int { return totalOrder(e.w[a*k+a], e.w[b*k+b]) })
	for to, from := range at {
		values[to] = e.w[from*k+from] * scale
		for j := range n {
			vectors[j*n+to] = e.v[from*k+j]
		}
	}
	return sweeps
}

// load copies one triangle of a matrix to both of w, divided by the largest element, which it
// returns.
func (e *eigh) load(m []float64, lower bool) (scale float64) {
	n, k := e.n, e.k
	for i := range n {
		for j := range i + 1 {
			a := m[j*n+i]
			if lower {
				a = m[i*n+j]
			}
			e.w[i*k+j], e.w[j*k+i] = a, a
			scale = max(scale, math.Abs(a))
		}
	}
	if scale == 0 {
		return 1
	}
	for i := range e.w {
		e.w[i] /= scale
	}
	return scale
}

// squares returns the sums of the squares of all elements, and of those off the diagonal.
func (e *eigh) squares() (whole, off float64) {
	for i := range e.k {
		for j, x := range e.w[i*e.k : (i+1)*e.k] {
			if whole += x * x; i != j {
				off += x * x
			}
		}
	}
	return whole, off
}

// round applies the rotations of a round to w from both sides, and to the rows of v.
func (e *eigh) round(players []int, cos, sin []float64) {
	k, half := e.k, e.k/2
	for i := range half {
		p, q := players[i], players[half+i]
		rotate(e.w[p*k:(p+1)*k], e.w[q*k:(q+1)*k], cos[i], sin[i])
		rotate(e.v[p*k:(p+1)*k], e.v[q*k:(q+1)*k], cos[i], sin[i])
	}
	for r := range k {
		row := e.w[r*k : (r+1)*k]
		for i := range half {
			p, q := players[i], players[half+i]
			row[p], row[q] = row[p]*cos[i]-row[q]*sin[i], row[p]*sin[i]+row[q]*cos[i]
		}
	}
	for i := range half {
		p, q := players[i], players[half+i]
		e.w[p*k+q], e.w[q*k+p] = 0, 0
	}
}

// rotate rotates two vectors in their plane.
func rotate(a, b []float64, cos, sin float64) {
	for i, x := range a {
		a[i], b[i] = x*cos-b[i]*sin, x*sin+b[i]*cos
	}
}

// rotation returns the cosine and the sine of the rotation that makes [[a, b], [b, d]] diagonal.
func rotation(a, b, d float64) (cos, sin float64) {
	const tiny = 0.1 * 0x1p-23
	if math.Abs(b) <= tiny*min(math.Abs(a), math.Abs(d)) {
		return 1, 0
	}
	tau := (d - a) / (2 * b)
	root := math.Sqrt(1 + tau*tau)
	if !(tau >= 0) {
		root = -root
	}
	t := 1 / (tau + root)
	cos = 1 / math.Sqrt(1+t*t)
	return cos, t * cos
}

// totalOrder compares numbers as XLA's sorting does: -NaN, -Inf, ..., -0, 0, ..., Inf, NaN.
func totalOrder(a, b float64) int {
	key := func(v float64) int64 {
		k := int64(math.Float64bits(v))
		return k ^ (k>>63)&math.MaxInt64
	}
	switch x, y := key(a), key(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
