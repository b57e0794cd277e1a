package random

import (
	"errors"
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/kernel/internal/draws"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ParameterizedTruncatedNormal and
// StatelessParameterizedTruncatedNormal. The three methods, their limits and
// every rounding are those of TensorFlow's parameterized_truncated_normal_op.cc
// and must stay.

// prepareTruncated draws the rows along an output's first dimension. The mean, the
// deviation and the limits are those of each row, or the same for all. Inputs are the shape,
// means, deviations, lower and upper limits.
func prepareTruncated(n *engine.Node) (func(*engine.Call) error, error) {
	find := draws.Of(n)
	return func(c *engine.Call) error {
		if err := c.Need(5); err != nil {
			return err
		}
		dims, err := shapes.Dims(c.In(0), "the shape", 0)
		if err != nil {
			return err
		}
		if len(dims) == 0 {
			return fmt.Errorf("takes a shape of at least one dimension")
		}
		d := c.In(1).DType()
		out, err := c.Alloc(0, d, dims)
		if err != nil {
			return err
		}
		if out.Len() > math.MaxInt32 {
			return fmt.Errorf("%v numbers are more than TensorFlow's op draws", dims)
		}
		rows, each := dims[0], shapes.Count(dims[1:])
		same := true // one distribution for all, which is drawn in rows of 100 numbers
		var params [4][]float64
		for k := range params {
			t := c.In(1 + k)
			if len(t.Shape()) > 1 || t.DType() != d || t.Len() != 1 && t.Len() != rows || t.Len() == 0 && out.Len() > 0 {
				return fmt.Errorf("parameter %d is %v%v, not one or %d of %v", k, t.DType(), t.Shape(), rows, d)
			}
			same = same && t.Len() == 1 && (k < 2 || len(t.Shape()) == 0)
			v, err := tensor.Cast(t, tensor.Float64)
			if err != nil {
				return err
			}
			params[k] = tensor.Values[float64](v)
		}
		if same {
			rows, each = (out.Len()+99)/100, 100
		}
		put, err := setter(out)
		if err != nil {
			return err
		}
		// The number of samples to reserve. TensorFlow computes it in 32 bits, so it may
		// overflow.
		g := find(c).Reserve(uint64(int64(int32(rows) * 2 * maxTries * int32(each+3) / 4)))
		for b := range rows {
			var p [4]float64
			for k := range p {
				p[k] = params[k][b%len(params[k])]
			}
			n := min(each, out.Len()-b*each)
			if err := truncate(c, d, p, n, &g, func(i int, x float64) { put(b*each+i, x) }); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// statelessTruncated draws by seeds; the parameters broadcast, and the output's
// shape ends with their common shape.
func statelessTruncated(c *engine.Call) error {
	if err := c.Need(6); err != nil {
		return err
	}
	dims, err := shapes.Dims(c.In(0), "the shape", 0)
	if err != nil {
		return err
	}
	g, err := seeded(c.In(1))
	if err != nil {
		return err
	}
	params, outer, err := broadcast(c, 2, 6)
	if err != nil {
		return err
	}
	if err := endsWith(dims, outer); err != nil {
		return err
	}
	d := c.In(2).DType()
	for k := 3; k < 6; k++ {
		if c.In(k).DType() != d {
			return fmt.Errorf("parameters are of %v and %v", d, c.In(k).DType())
		}
	}
	out, err := c.Alloc(0, d, dims)
	if err != nil || out.Len() == 0 {
		return err
	}
	put, err := setter(out)
	if err != nil {
		return err
	}
	n := shapes.Count(outer)
	for b := range n {
		p := [4]float64{params(0, b), params(1, b), params(2, b), params(3, b)}
		if err := truncate(c, d, p, out.Len()/n, &g, func(i int, x float64) { put(i*n+b, x) }); err != nil {
			return err
		}
	}
	return nil
}

// errTruncated is the error for parameters without a distribution.
var errTruncated = errors.New("deviations must be positive, lower limits below upper ones, and one of these finite")

// truncate draws n normally distributed numbers between two limits. It draws
// normal numbers if most are inside, uniform ones if the limits are near each
// other, and exponential ones far from the mean. p has the mean, the deviation
// and the limits.
func truncate(c *engine.Call, d tensor.DType, p [4]float64, n int, g *philox.Generator, put func(i int, x float64)) error {
	r := rounding(d)
	mean, dev, lo, hi := p[0], p[1], p[2], p[3]
	if !(dev > 0 && lo < hi) || math.IsInf(lo, 0) && math.IsInf(hi, 0) {
		return errTruncated
	}
	if math.IsInf(lo, -1) || hi < mean { // the signs are reversed
		lo, hi, dev = hi, lo, -dev
	}
	from, to := r(r(lo-mean)/dev), r(r(hi-mean)/dev)
	root := r(math.Sqrt(r(r(from*from) + 4)))
	cutoff := r(r(2*r(math.Exp(r(0.5+r(r(from*r(from-root))/4))))) / r(from+root))
	width := r(to - from)
	most := r(1.3)

	uniform := uniforms(d)
	done, tries := 0, 0
	give := func(x float64) bool { put(done, r(r(x*dev)+mean)); done++; tries = 0; return done == n }
	var round func() (bool, error) // draws one block of the generator, or two; reports whether all n numbers are put
	switch {
	case from < -most && to >= 0 || to > most && from <= 0:
		normal := normals(d)
		round = func() (bool, error) {
			var x [4]float64
			for _, x := range x[:normal(g, &x)] {
				if x >= from && x <= to {
					if give(x) {
						return true, nil
					}
				} else if tries++; tries > maxTries {
					return false, errTries
				}
			}
			return false, nil
		}
	case width < cutoff:
		base := 0.0
		if from >= 0 {
			base = r(from * from)
		}
		round = func() (bool, error) {
			var z, u [4]float64
			size := uniform(g, &z)
			uniform(g, &u)
			for i := range size {
				z := r(r(z[i]*width) + from)
				if u[i] <= r(math.Exp(r(r(base-r(z*z))/2))) {
					if give(z) {
						return true, nil
					}
				} else if tries++; tries >= maxTries {
					return false, errTries
				}
			}
			return false, nil
		}
	default:
		alpha := r(r(from+root) / 2)
		round = func() (bool, error) {
			var u [4]float64
			size := uniform(g, &u)
			for i := 0; i+1 < size; i += 2 {
				z := r(r(-r(math.Log(u[i]))/alpha) + from)
				x := r(from - alpha)
				if from < alpha {
					x = r(alpha - z)
				}
				if u[i+1] <= r(math.Exp(r(r(-x*x)/2))) && z < to {
					if give(z) {
						return true, nil
					}
				} else if tries++; tries >= maxTries {
					return false, errTries
				}
			}
			return false, nil
		}
	}
	for k := 0; n > 0; k++ {
		if k%1024 == 0 && c.Context().Err() != nil {
			return c.Context().Err()
		}
		if all, err := round(); all || err != nil {
			return err
		}
	}
	return nil
}
