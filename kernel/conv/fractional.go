package conv

import (
	"fmt"
	"math"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/draws"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of FractionalMaxPool, FractionalAvgPool and their gradients. The
// random numbers, and the order in which they are drawn, are those of
// TensorFlow's fractional_pool_common.cc: rows before columns.

// fractional is a node that pools windows of sizes that differ by one, in an order
// that is drawn.
type fractional struct {
	ratios                             [4]float32 // pooling_ratio: of an input's size to the output's, by dimension
	pseudo, overlapping, deterministic bool
}

// drawn is a node's state between calls: its random state and, if it draws only
// once, the beginnings of the windows along rows and columns.
type drawn struct {
	state      *draws.State
	mu         sync.Mutex
	rows, cols []int64
}

// prepareFractional prepares FractionalMaxPool or FractionalAvgPool with a
// table by element type.
func prepareFractional(table engine.ByType[fractionalFunc]) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		f := &fractional{pseudo: n.Attrs.Bool("pseudo_random"), overlapping: n.Attrs.Bool("overlapping"), deterministic: n.Attrs.Bool("deterministic")}
		var err error
		if f.ratios, err = shape.Ratios(n.Attrs); err != nil {
			return nil, err
		}
		if !f.deterministic && (n.Attrs.Int("seed", 0) != 0 || n.Attrs.Int("seed2", 0) != 0) {
			return nil, fmt.Errorf("seed and seed2 have to be 0 where deterministic is false")
		}
		create := func() any { return &drawn{state: draws.New(n)} }
		return func(c *engine.Call) error {
			if err := c.Need(1); err != nil {
				return err
			}
			run, err := table.Of(c.In(0).DType())
			if err != nil {
				return err
			}
			return f.run(c, c.NodeState(create).(*drawn), run)
		}, nil
	}
}

// run draws the windows and pools input 0 over them. Outputs 1 and 2 are the
// beginnings of the windows.
func (f *fractional) run(c *engine.Call, kept *drawn, run fractionalFunc) error {
	x := c.In(0)
	s := x.Shape()
	if len(s) != 4 {
		return fmt.Errorf("images of shape %v, where 4 dimensions are needed", s)
	}
	dims, err := shape.Fractions(s, f.ratios)
	if err != nil {
		return err
	}
	draw := func() (rows, cols []int64) {
		return f.cuts(kept.state, s[1], dims[1]), f.cuts(kept.state, s[2], dims[2])
	}
	var rows, cols []int64
	if f.deterministic {
		kept.mu.Lock()
		if len(kept.rows) != dims[1]+1 || len(kept.cols) != dims[2]+1 || kept.rows[dims[1]] != int64(s[1]) || kept.cols[dims[2]] != int64(s[2]) {
			kept.rows, kept.cols = draw()
		}
		rows, cols = kept.rows, kept.cols
		kept.mu.Unlock()
	} else {
		rows, cols = draw()
	}
	out, err := c.Alloc(0, x.DType(), dims)
	if err != nil {
		return err
	}
	for i, v := range [][]int64{rows, cols} {
		t, err := c.Alloc(1+i, tensor.Int64, tensor.Shape{len(v)})
		if err != nil {
			return err
		}
		copy(tensor.Values[int64](t), v)
	}
	run(out, x, &regions{rows, cols, s, dims, f.overlapping})
	return nil
}

// cuts draws the beginnings of the windows of a line of n elements, and appends
// the line's end. The result has windows+1 elements. Pseudo-random windows
// follow from one random number; others are a shuffle of the two sizes.
func (f *fractional) cuts(state *draws.State, n, windows int) []int64 {
	sizes := make([]int64, windows)
	k := n / windows
	if f.pseudo {
		ratio := float64(n) / float64(windows)
		most := min(float64(k+2)/ratio-1, float64(n+1-k)/ratio-float64(windows-1))
		u := draws.NewStream(state.Reserve(1)).Float64() * most
		at := int64(1)
		for i := range sizes {
			next := int64(n + 1)
			if i+1 < windows {
				next = int64(math.Ceil(ratio * (float64(i+1) + u)))
			}
			sizes[i], at = next-at, next
		}
	} else {
		for i := range sizes {
			if sizes[i] = int64(k); i < n%windows {
				sizes[i]++
			}
		}
		words := draws.NewStream(state.Reserve(uint64(windows+3) / 4))
		for i := range windows - 1 {
			j := i + int(words.Next()%uint32(windows-i))
			sizes[i], sizes[j] = sizes[j], sizes[i]
		}
	}
	out := make([]int64, windows+1)
	for i, v := range sizes {
		out[i+1] = out[i] + v
	}
	return out
}

// regions are the windows over images of a shape.
type regions struct {
	rows, cols  []int64
	in, out     tensor.Shape
	overlapping bool
}

// each visits the windows with the offset of their channels in the output and
// the offsets of their elements.
func (r *regions) each(visit func(at int, taps []int)) {
	var taps []int
	span := func(v []int64, i, n int) (int, int) {
		end := v[i+1]
		if r.overlapping {
			end++
		}
		return int(v[i]), int(min(end, int64(n)))
	}
	c := r.in[3]
	for p := range r.out[0] * r.out[1] * r.out[2] {
		b, y, x := p/(r.out[1]*r.out[2]), p/r.out[2]%r.out[1], p%r.out[2]
		y0, y1 := span(r.rows, y, r.in[1])
		x0, x1 := span(r.cols, x, r.in[2])
		taps = taps[:0]
		for i := y0; i < y1; i++ {
			for j := x0; j < x1; j++ {
				taps = append(taps, ((b*r.in[1]+i)*r.in[2]+j)*c)
			}
		}
		visit(p*c, taps)
	}
}

// fractionalType has the element types of the ops.
type fractionalType interface {
	int32 | int64 | float32 | float64
}

// fractionalFunc pools x over the regions.
type fractionalFunc func(out, x *tensor.Tensor, r *regions)

// fractionalMax takes the largest element of each window.
func fractionalMax[T fractionalType](out, x *tensor.Tensor, r *regions) {
	y, v := tensor.Values[T](out), tensor.Values[T](x)
	r.each(func(at int, taps []int) {
		for c := range r.in[3] {
			y[at+c] = v[largest(v, taps, c)]
		}
	})
}

// fractionalMean takes the mean of each window, summed in T.
func fractionalMean[T fractionalType](out, x *tensor.Tensor, r *regions) {
	y, v := tensor.Values[T](out), tensor.Values[T](x)
	r.each(func(at int, taps []int) {
		for c := range r.in[3] {
			var sum T
			for _, t := range taps {
				sum += v[t+c]
			}
			y[at+c] = sum / T(len(taps))
		}
	})
}

var (
	fractionalMaxes = engine.ByType[fractionalFunc]{tensor.Int32: fractionalMax[int32], tensor.Int64: fractionalMax[int64], tensor.Float32: fractionalMax[float32], tensor.Float64: fractionalMax[float64]}
	fractionalMeans = engine.ByType[fractionalFunc]{tensor.Int32: fractionalMean[int32], tensor.Int64: fractionalMean[int64], tensor.Float32: fractionalMean[float32], tensor.Float64: fractionalMean[float64]}
)

// regionsOf checks the beginnings of a gradient's windows, inputs at and at+1,
// and returns the windows. in is the shape of the images and dy that of the
// gradient.
func regionsOf(c *engine.Call, at int, in, dy tensor.Shape) (*regions, error) {
	r := &regions{in: in, out: dy, overlapping: c.Attrs().Bool("overlapping")}
	if len(in) != 4 || len(dy) != 4 || in[0] != dy[0] || in[3] != dy[3] {
		return nil, fmt.Errorf("a gradient of shape %v for images of shape %v", dy, in)
	}
	for i, to := range []*[]int64{&r.rows, &r.cols} {
		v, err := shapes.Ints(c.In(at+i), "the pooling sequence")
		if err != nil {
			return nil, err
		}
		if len(v) != dy[1+i]+1 {
			return nil, fmt.Errorf("a pooling sequence of %d elements for %d windows", len(v), dy[1+i])
		}
		for k, x := range v {
			if x < 0 || x > int64(in[1+i]) || k > 0 && x <= v[k-1] || k+1 == len(v) && k > 0 && x < int64(in[1+i]) {
				return nil, fmt.Errorf("the pooling sequence %v doesn't rise from 0 to %d", v, in[1+i])
			}
		}
		*to = v
	}
	return r, nil
}

// fractionalMeanGradient divides each gradient among its window, in double
// precision.
func fractionalMeanGradient(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	dims, err := shapes.Dims(c.In(0), "the images' shape", 0)
	if err != nil {
		return err
	}
	dy := c.In(1)
	f, err := fractionalGrads.Of(dy.DType())
	if err != nil {
		return err
	}
	r, err := regionsOf(c, 2, dims, dy.Shape())
	if err != nil {
		return err
	}
	out, err := c.AllocZero(0, dy.DType(), dims)
	if err != nil || out.Len() == 0 {
		return err
	}
	f.mean(c, out, dy, r)
	return nil
}

// fractionalMaxGradient adds each gradient to the largest element of its
// window.
func fractionalMaxGradient(c *engine.Call) error {
	if err := c.Need(5); err != nil {
		return err
	}
	x, y, dy := c.In(0), c.In(1), c.In(2)
	f, err := fractionalGrads.Of(x.DType())
	if err != nil {
		return err
	}
	if y.DType() != x.DType() || dy.DType() != x.DType() || !y.Shape().Equal(dy.Shape()) {
		return fmt.Errorf("images of %v%v with an output of %v%v and a gradient of %v%v", x.DType(), x.Shape(), y.DType(), y.Shape(), dy.DType(), dy.Shape())
	}
	r, err := regionsOf(c, 3, x.Shape(), dy.Shape())
	if err != nil {
		return err
	}
	out, err := c.AllocZero(0, x.DType(), x.Shape())
	if err != nil {
		return err
	}
	f.max(out, x, dy, r)
	return nil
}

// fractionalGrad has the gradients of both ops for a type.
type fractionalGrad struct {
	mean func(c *engine.Call, out, dy *tensor.Tensor, r *regions)
	max  func(out, x, dy *tensor.Tensor, r *regions)
}

// fractionalGradOf returns the gradients for type T.
func fractionalGradOf[T fractionalType]() fractionalGrad {
	return fractionalGrad{
		mean: func(call *engine.Call, out, dy *tensor.Tensor, r *regions) {
			sums, free := engine.Scratch[float64](call, out.Len())
			defer free()
			clear(sums)
			g := tensor.Values[T](dy)
			r.each(func(at int, taps []int) {
				for _, t := range taps {
					for c := range r.in[3] {
						sums[t+c] += float64(g[at+c]) / float64(len(taps))
					}
				}
			})
			y := tensor.Values[T](out)
			for i, v := range sums {
				y[i] = T(v)
			}
		},
		max: func(out, x, dy *tensor.Tensor, r *regions) {
			y, v, g := tensor.Values[T](out), tensor.Values[T](x), tensor.Values[T](dy)
			r.each(func(at int, taps []int) {
				for c := 0; c < r.in[3] && len(taps) > 0; c++ {
					y[largest(v, taps, c)] += g[at+c]
				}
			})
		},
	}
}

// fractionalGrads has the gradients by element type.
var fractionalGrads = engine.ByType[fractionalGrad]{tensor.Int32: fractionalGradOf[int32](), tensor.Int64: fractionalGradOf[int64](),
	tensor.Float32: fractionalGradOf[float32](), tensor.Float64: fractionalGradOf[float64]()}
