package random

import (
	"fmt"
	"math"
	"sort"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of KMC2ChainInitialization and KmeansPlusPlusInitialization. The
// words of each draw and the sums in float32 are those of TensorFlow's
// clustering_ops.cc; they must stay, because a seed decides the points.

// wordStream returns a generator's words one by one.
type wordStream struct {
	g    philox.Generator
	left []uint32
}

// next returns the next word.
func (w *wordStream) next() uint32 {
	if len(w.left) == 0 {
		b := w.g.Block()
		w.left = b[:]
	}
	x := w.left[0]
	w.left = w.left[1:]
	return x
}

// float returns a number in [0, 1) of one word.
func (w *wordStream) float() float32 { return philox.Float32(w.next()) }

// long returns 64 bits of two words, the lower half first.
func (w *wordStream) long() uint64 {
	low := uint64(w.next())
	return low | uint64(w.next())<<32
}

// wordsOf returns the words of the seed in input i.
func wordsOf(c *engine.Call, i int) (*wordStream, error) {
	seed, err := tensor.Item[int64](c.In(i))
	if err != nil {
		return nil, fmt.Errorf("the seed: %w", err)
	}
	return &wordStream{g: philox.New(uint64(seed), 0, 0)}, nil
}

// chain draws one of several points by their distances: the last state of a
// Markov chain.
func chain(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	d, err := tensor.ValuesOf[float32](c.In(0))
	if err != nil {
		return err
	}
	if len(c.In(0).Shape()) != 1 || len(d) == 0 {
		return fmt.Errorf("the distances have shape %v, not that of a vector with elements", c.In(0).Shape())
	}
	w, err := wordsOf(c, 1)
	if err != nil {
		return err
	}
	at := 0
	for i := 1; i < len(d); i++ {
		if d[i] > float32(w.float()*d[at]) {
			at = i
		}
	}
	c.Set(0, tensor.Scalar(int64(at)))
	return nil
}

// maxRetries bounds the number of points that are tried for each one.
const maxRetries = 1 << 20

// spread draws points that are far from each other, as initial centers of
// clusters. Each is the best of several, which are drawn by their distance to
// the nearest earlier one.
func spread(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	x, err := tensor.ValuesOf[float32](c.In(0))
	if err != nil {
		return err
	}
	if len(c.In(0).Shape()) != 2 || len(x) == 0 {
		return fmt.Errorf("the points have shape %v, not that of a matrix with elements", c.In(0).Shape())
	}
	n, width := c.In(0).Shape()[0], c.In(0).Shape()[1]
	count, err := tensor.Item[int64](c.In(1))
	if err != nil {
		return err
	}
	if count < 1 || count > int64(n) {
		return fmt.Errorf("%d of %d points are asked for", count, n)
	}
	w, err := wordsOf(c, 2)
	if err != nil {
		return err
	}
	again, err := tensor.Item[int64](c.In(3))
	if err != nil {
		return err
	}
	if again > maxRetries {
		return fmt.Errorf("%d tries for a sample are more than %d", again, maxRetries)
	}
	if again < 0 {
		again = 2 + int64(math.Log(float64(count)))
	}
	out, err := c.Alloc(0, tensor.Float32, tensor.Shape{int(count), width})
	if err != nil {
		return err
	}
	row := func(i int) []float32 { return x[i*width : (i+1)*width] }
	half := make([]float32, n) // of the squared norms
	for i := range half {
		half[i] = dot(row(i), row(i)) * 0.5
	}
	nearest, sums := make([]float32, n), make([]float32, n)
	tried, best := make([]float32, n), make([]float32, n)
	for i := range nearest {
		nearest[i] = float32(math.Inf(1))
	}
	for k := range int(count) {
		var sum float32
		for i, d := range nearest {
			sum += d
			sums[i] = sum
		}
		chosen, least := 0, float32(math.Inf(1))
		for range 1 + again {
			if err := c.Context().Err(); err != nil {
				return err
			}
			var at int
			if k == 0 {
				at = int(w.long() % uint64(n))
			} else {
				to := w.float() * sum
				at = min(sort.Search(n, func(i int) bool { return sums[i] > to }), n-1)
			}
			var total float32
			for i := range tried {
				tried[i] = min(nearest[i], half[i]+half[at]-dot(row(i), row(at)))
				total += tried[i]
			}
			if total < least {
				chosen, least = at, total
				best, tried = tried, best
			}
		}
		if math.IsInf(float64(least), 1) {
			copy(best, nearest)
		}
		nearest, best = best, nearest
		copy(tensor.Values[float32](out)[k*width:], row(chosen))
	}
	return nil
}

// dot multiplies two vectors, with each product rounded.
func dot(a, b []float32) (sum float32) {
	for i, x := range a {
		sum += float32(x * b[i])
	}
	return sum
}
