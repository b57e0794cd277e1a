package conv

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of LRN and LRNGrad.

// response is a node of local response normalization, y = x·norm^-beta with
// norm = bias + alpha·(sum of the squares of the neighbouring channels).
type response struct {
	radius            int
	bias, alpha, beta float64
}

func prepareResponse(run func(*engine.Call, *response) error) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		r := n.Attrs.Int("depth_radius", 5)
		if r < 0 || r > 1<<31-1 {
			return nil, fmt.Errorf("depth_radius is %d", r)
		}
		l := &response{int(r), n.Attrs.Float("bias", 1), n.Attrs.Float("alpha", 1), n.Attrs.Float("beta", 0.5)}
		return func(c *engine.Call) error { return run(c, l) }, nil
	}
}

// norms computes the norm of each channel of a place.
func (l *response) norms(c *engine.Call, norm []float64, x []float32) {
	every := l.checkEvery(len(x))
	for i := range x {
		if i%every == every-1 {
			c.Check()
		}
		var sum float64
		for _, v := range x[max(0, i-l.radius):min(len(x), i+l.radius+1)] {
			sum += float64(v) * float64(v)
		}
		norm[i] = l.bias + l.alpha*sum
	}
}

// checkEvery returns after how many sums over neighbours of n channels the call's
// context is checked.
func (l *response) checkEvery(n int) int { return max(1, longWindow/(1+min(l.radius, n))) }

// spoil adds squares that aren't finite to the norms. Norms for which such a
// square is too far away to count become NaN: TensorFlow multiplies all squares
// of a place with a matrix of ones and zeros, and zero times infinity is NaN.
func (l *response) spoil(c *engine.Call, norm []float64, x []float32) {
	for k, v := range x {
		s := float32(v * v) // rounded; otherwise the difference below would be of the exact square
		if s-s == 0 {
			continue
		}
		if len(x) > longWindow {
			c.Check()
		}
		for i := range norm {
			if k < i-l.radius || k > i+l.radius {
				norm[i] = math.NaN()
			} else {
				norm[i] += l.alpha * float64(s)
			}
		}
	}
}

// power returns norm^-beta, by a logarithm as TensorFlow does: there is none below
// zero, and with beta 0 none of zero and infinity.
func (l *response) power(norm float64) float64 {
	if norm > 0 && !math.IsInf(norm, 1) || l.beta == 1 || l.beta == 0.5 {
		return math.Pow(norm, -l.beta)
	}
	return math.Exp(-l.beta * math.Log(norm))
}

func responseForward(c *engine.Call, l *response) error {
	if err := c.Need(1); err != nil {
		return err
	}
	if c.In(0).DType() == tensor.Float16 {
		return responseSteps(c, l)
	}
	return l.over(c, 1, func(norm []float64, dst []float32, in [3][]float32) {
		l.norms(c, norm, in[0])
		l.spoil(c, norm, in[0])
		for i, v := range in[0] {
			dst[i] = float32(float64(v) * l.power(norm[i]))
		}
	})
}

// responseBackward computes the gradient from the gradient of the output, the
// image and the output.
func responseBackward(c *engine.Call, l *response) error {
	if err := c.Need(3); err != nil {
		return err
	}
	return l.over(c, 3, func(norm []float64, dst []float32, in [3][]float32) {
		dy, x, y := in[0], in[1], in[2]
		l.norms(c, norm, x)
		every := l.checkEvery(len(x))
		for i := range x {
			if i%every == every-1 {
				c.Check()
			}
			sum := float64(dy[i]) * math.Pow(norm[i], -l.beta)
			for j := max(0, i-l.radius); j < min(len(x), i+l.radius+1); j++ {
				sum -= 2 * l.alpha * l.beta * float64(x[i]) * float64(y[j]) / norm[j] * float64(dy[j])
			}
			dst[i] = float32(sum)
		}
	})
}

// over runs one place after the other: the channels of n inputs of one shape.
func (l *response) over(c *engine.Call, n int, place func(norm []float64, dst []float32, in [3][]float32)) error {
	x := c.In(0)
	s := x.Shape()
	if len(s) != 4 {
		return fmt.Errorf("images of shape %v, where 4 dimensions are needed", s)
	}
	var in [3][]float32
	for i := range n {
		if c.In(i).DType() != x.DType() || !c.In(i).Shape().Equal(s) {
			return fmt.Errorf("inputs of %v%v and %v%v", x.DType(), s, c.In(i).DType(), c.In(i).Shape())
		}
		v, free, err := wide(c, c.In(i))
		if err != nil {
			return err
		}
		defer free()
		in[i] = v
	}
	out, err := c.Alloc(0, x.DType(), s)
	if err != nil || out.Len() == 0 {
		return err
	}
	dst, done := narrow(c, out)
	ch := s[3]
	c.Parallel(out.Len()/ch, float64(ch)*float64(20+min(ch, 2*l.radius)), func(lo, hi int) {
		norm := make([]float64, ch)
		for p := lo; p < hi; p++ {
			var part [3][]float32
			for i := range n {
				part[i] = in[i][p*ch : (p+1)*ch]
			}
			place(norm, dst[p*ch:(p+1)*ch], part)
		}
	})
	done()
	return nil
}
