package conv

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/stepwise"
	"github.com/cairnml/cairn/tensor"
)

// LRN and LRNGrad in float16, for lrn.go. Which way is computed, and every
// rounding, is TensorFlow's and must stay.

// TensorFlow sums the squares of up to deepest channels by a product with a band of
// ones. For more channels it adds and subtracts one after the other if beta is 0.5 or
// 1. deepest must stay. widest is Cairn's: for more channels the band would take too
// much memory, so sums are made one after the other for every beta.
const deepest, widest = 384, 1 << 12

// responseSteps computes the response of float16, rounded at every step.
func responseSteps(c *engine.Call, l *response) error {
	in := c.In(0)
	s := in.Shape()
	if len(s) != 4 {
		return fmt.Errorf("images of shape %v, where 4 dimensions are needed", s)
	}
	out, err := c.Alloc(0, tensor.Float16, s)
	if err != nil || out.Len() == 0 {
		return err
	}
	round := stepwise.Rounding[tensor.F16]()
	h := halfResponse{radius: l.radius, round: round, bias: round(float32(l.bias)), alpha: round(float32(l.alpha)), beta: round(float32(l.beta))}
	x, ch := elementwise.Widened[tensor.F16](c, in), s[3]
	dst, band := elementwise.Wide(c, len(x)), (*stepwise.Product)(nil)
	if ch <= deepest || ch <= widest && h.beta != 0.5 && h.beta != 1 {
		ones := engine.Zeroed[float32](c, ch*ch)
		for i := range ch {
			for j := max(0, i-l.radius); j < min(ch, i+l.radius+1); j++ {
				ones[i*ch+j] = 1
			}
		}
		band = stepwise.NewProduct[tensor.F16](len(x)/ch, ch, ch, ones)
	}
	c.Parallel(len(x)/ch, float64(ch)*float64(min(ch, widest))*stepwise.Time, func(lo, hi int) {
		squares := make([]float32, ch)
		for p := lo; p < hi; p++ {
			from, to := x[p*ch:(p+1)*ch], dst[p*ch:(p+1)*ch]
			for i, v := range from {
				squares[i] = round(v * v)
			}
			if band != nil {
				band.Row(to, squares, p)
				for i, v := range to {
					to[i] = round(round(v*h.alpha) + h.bias)
				}
			} else {
				h.slide(c, to, squares)
			}
		}
	})
	h.scale(dst, x)
	elementwise.Narrow(tensor.Values[tensor.F16](out), dst)
	return nil
}

// halfResponse is a [response] whose numbers are rounded to float16.
type halfResponse struct {
	radius            int
	round             func(float32) float32
	bias, alpha, beta float32
}

// slide sets dst to the norms by a sum that moves along squares.
func (h *halfResponse) slide(c *engine.Call, dst, squares []float32) {
	at := func(i int) float32 {
		if i -= h.radius; i < 0 || i >= len(squares) {
			return 0
		}
		return h.round(squares[i] * h.alpha)
	}
	var sum float32
	for i := range min(h.radius, len(squares)) { // the neighbours before the first channel are none
		sum = h.round(sum + at(h.radius+i))
	}
	for i := range dst {
		c.Step(i)
		sum = h.round(sum + at(i+2*h.radius))
		dst[i] = h.round(h.bias + sum)
		sum = h.round(sum - at(i))
	}
}

// scale sets norms to x·norm^-beta. The square roots of elements after the last
// whole vector take a step more.
func (h *halfResponse) scale(norms, x []float32) {
	whole := len(x) - len(x)%8
	for i, v := range norms {
		switch {
		case h.beta == 1:
			v = 1 / v
		case h.beta != 0.5:
			v = float32(math.Exp(float64(h.round(h.round(float32(math.Log(float64(v)))) * -h.beta))))
		case i < whole:
			v = float32(1 / math.Sqrt(float64(v)))
		default:
			v = 1 / h.round(float32(math.Sqrt(float64(v))))
		}
		norms[i] = x[i] * h.round(v)
	}
}
