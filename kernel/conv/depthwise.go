package conv

import (
	"math"
	"sync"
	"unsafe"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/kernel/internal/simd"
	"github.com/cairnml/cairn/kernel/internal/vec"
)

// The sums of DepthwiseConv2dNative, of its gradients, and of convolutions with as many groups as
// channels. conv.go calls them.

// eachChannel makes g a depthwise convolution if its groups have one channel
// each and its filter has a depthwise one's memory layout. It reports whether g
// is depthwise.
func (g *geometry) eachChannel() bool {
	if g.in[0] > 1 || g.out[0] > 1 || g.size[0] > 1 {
		return false
	}
	if g.depthwise == 0 && g.groups == g.c && g.c > 1 {
		g.depthwise, g.groups = g.o/g.c, 1
	}
	return g.depthwise > 0
}

// depthwiseGradient computes a gradient of a depthwise convolution.
func depthwiseGradient[T real](c *engine.Call, dir direction, g *geometry, out, a, b []T) {
	if dir == backInput {
		depthwiseInput(c, g, out, a, b)
	} else {
		plain(backFilter, g, out, a, b)
	}
}

// depthwiseForward computes a depthwise convolution and applies the epilogue.
// If a channel has several outputs, the image's channels are repeated, so that
// the filter has one tap per channel again.
func depthwiseForward[T real](c *engine.Call, g *geometry, y, x, f []T, e *gemm.Epilogue[T]) {
	d := newDepthwise[T]()
	defer d.release()
	// Channels that have to move are framed on the way.
	border := [3]int{}
	d.geometry = *g
	if g.channelsFirst || g.depthwise > 1 {
		d.in, d.before, border = g.reach(), border, g.before
	}
	d.fr = framed(c, x, g.channelsFirst, g.n, g.c, g.in, d.in, border, g.depthwise)
	defer d.fr.free()
	out, done := last(c, y, g.channelsFirst, g.n, g.out, g.o)
	defer done()
	d.y, d.f, d.call = out, f, c
	d.end(e)
	c.Parallel(g.n*g.out[1], float64(g.out[2]*g.o*g.taps())*0.02+50, d.work)
}

// depthwiseCall is the working memory of a call of depthwiseForward.
type depthwiseCall[T real] struct {
	geometry
	fr     frame[T]
	y, f   []T
	ending simd.Ending[T]
	with   *simd.Ending[T]  // ending, or nil if the sums apply no steps themselves
	rest   gemm.Epilogue[T] // the steps after the sums
	call   *engine.Call
	work   func(lo, hi int) // rows
}

// depthwiseCalls keeps the working memory of calls, by the size of the
// elements.
var depthwiseCalls [2]sync.Pool

func newDepthwise[T real]() *depthwiseCall[T] {
	d, _ := depthwiseCalls[unsafe.Sizeof(T(0))/8].Get().(*depthwiseCall[T])
	if d == nil {
		d = new(depthwiseCall[T])
		d.work = d.rows
	}
	return d
}

func (d *depthwiseCall[T]) release() {
	*d = depthwiseCall[T]{work: d.work}
	depthwiseCalls[unsafe.Sizeof(T(0))/8].Put(d)
}

// rows computes rows lo to hi of places.
func (d *depthwiseCall[T]) rows(lo, hi int) {
	for r := lo; r < hi; r++ {
		from, to := r*d.out[2]*d.o, (r+1)*d.out[2]*d.o
		depthwiseRow(&d.geometry, &d.fr, d.y[from:to], d.f, r, d.with, d.call)
		d.rest.Rows(d.y, from, to, d.o)
	}
}

// end splits an epilogue into the part that the sums apply themselves, and the
// rest.
func (d *depthwiseCall[T]) end(e *gemm.Epilogue[T]) {
	switch {
	case e == nil:
	case e.Add != nil || e.Bias == nil:
		d.rest = *e
	default:
		d.ending = simd.Ending[T]{Bias: e.Bias[:d.o], Low: T(math.Inf(-1)), High: T(math.Inf(1))}
		if e.Clamp {
			d.ending.Low, d.ending.High = e.Low, e.High
		}
		d.with, d.rest = &d.ending, gemm.Epilogue[T]{Map: e.Map}
	}
}

// longRow is the number of products of a row between two checks of the context.
const longRow = 1 << 22

// depthwiseRow computes a row of places. Taps outside the image are left out: at
// its sides place by place, between them for all places at once.
func depthwiseRow[T real](g *geometry, fr *frame[T], dst, f []T, r int, end *simd.Ending[T], c *engine.Call) {
	s, image := fr.strides()
	y := r % g.out[1]
	y0, y1 := g.span(1, y)
	from := r/g.out[1]*image + g.place(1, y)*s[1]
	taps := simd.Taps{RowStep: g.dilation[1] * s[1], ColumnStep: g.dilation[2] * s[2], WeightStep: g.size[2] * g.o,
		PlaceStep: g.stride[2] * s[2], Channels: g.o}
	most := max(1, longRow/(g.taps()*g.o)) // places at once
	if most < g.out[2] {
		c.Check()
	}
	for x := 0; x < g.out[2]; {
		x0, x1 := g.span(2, x)
		n := 1
		if x0 == 0 && x1 == g.size[2] {
			// All places up to the last one that reaches the image's end see all taps.
			reach := (g.size[2]-1)*g.dilation[2] + 1
			n = min(g.out[2], (g.in[2]-reach+g.before[2])/g.stride[2]+1) - x
			if n > most {
				n = most
				c.Check()
			}
		}
		to := dst[x*g.o : (x+n)*g.o]
		if taps.Rows, taps.Columns, taps.Places = y1-y0, x1-x0, n; taps.Rows <= 0 || taps.Columns <= 0 {
			clear(to)
			if end != nil {
				vec.Finish(to, end)
			}
		} else {
			vec.Depthwise(to, fr.data[from+y0*taps.RowStep+g.place(2, x)*s[2]+x0*taps.ColumnStep:], f[y0*taps.WeightStep+x0*g.o:], &taps, end)
		}
		x += n
	}
}

// depthwiseInput computes the image's gradient, an image at a time.
func depthwiseInput[T real](c *engine.Call, g *geometry, x, f, y []T) {
	one := *g
	one.n = 1
	nx, ny := len(x)/g.n, len(y)/g.n
	c.Parallel(g.n, float64(ny*g.taps()), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			plain(backInput, &one, x[i*nx:(i+1)*nx], f, y[i*ny:(i+1)*ny])
		}
	})
}

// depthwiseInSteps are the functions for half precision.
var depthwiseInSteps = [...]func(c *engine.Call, g *geometry, out, a, b []float32, round func(float32) float32){
	forward: depthwiseSteps, backInput: depthwiseInputSteps, backFilter: depthwiseFilterSteps,
}

// depthwiseSteps computes a depthwise convolution whose sums are rounded at every step.
func depthwiseSteps(c *engine.Call, g *geometry, y, x, f []float32, round func(float32) float32) {
	clear(y)
	xc, xp := g.channels(g.in, g.c)
	yc, yp := g.channels(g.out, g.o)
	image, output := g.in[0]*g.in[1]*g.in[2]*g.c, g.out[0]*g.out[1]*g.out[2]*g.o
	c.Parallel(g.places(), float64(g.o*g.taps())*5, func(lo, hi int) {
		g.eachOf(lo, hi, func(n, place, in, tap int) {
			from, to := n*image+in*xp, n*output+place*yp
			for o, w := range f[tap*g.o : (tap+1)*g.o] {
				at := to + o*yc
				y[at] = round(y[at] + x[from+o/g.depthwise*xc]*w)
			}
		})
	})
}

// depthwiseFilterSteps computes the filter's gradient of an image and a gradient y: for each
// image a sum over its places, and then their sum, rounded at every step.
func depthwiseFilterSteps(c *engine.Call, g *geometry, f, x, y []float32, round func(float32) float32) {
	xc, xp := g.channels(g.in, g.c)
	yc, yp := g.channels(g.out, g.o)
	image, output := g.in[0]*g.in[1]*g.in[2]*g.c, g.out[0]*g.out[1]*g.out[2]*g.o
	c.Parallel(g.taps(), float64(g.places()*g.o)*5, func(lo, hi int) {
		sums := make([]float32, g.o)
		for tap := lo; tap < hi; tap++ {
			total := f[tap*g.o : (tap+1)*g.o]
			clear(total)
			for n := range g.n {
				clear(sums)
				for place := range g.places() / g.n {
					in, ok := g.under(place, tap)
					if !ok {
						continue
					}
					from, to := n*image+in*xp, n*output+place*yp
					for o := range sums {
						sums[o] = round(sums[o] + x[from+o/g.depthwise*xc]*y[to+o*yc])
					}
				}
				for o, v := range sums {
					total[o] = round(total[o] + v)
				}
			}
		}
	})
}

// depthwiseInputSteps computes the image's gradient of a filter and a gradient y: for each
// element a sum over the filter's taps for each output of its channel, and then their sum,
// rounded at every step.
func depthwiseInputSteps(c *engine.Call, g *geometry, x, f, y []float32, round func(float32) float32) {
	xc, xp := g.channels(g.in, g.c)
	yc, yp := g.channels(g.out, g.o)
	pixels := g.in[0] * g.in[1] * g.in[2]
	image, output := pixels*g.c, g.out[0]*g.out[1]*g.out[2]*g.o
	c.Parallel(g.n*pixels, float64(g.o*g.taps())*5, func(lo, hi int) {
		sums := make([]float32, g.o)
		for i := lo; i < hi; i++ {
			n, in := i/pixels, i%pixels
			clear(sums)
			for tap := range g.taps() {
				place, ok := g.above(in, tap)
				if !ok {
					continue
				}
				for o, w := range f[tap*g.o : (tap+1)*g.o] {
					sums[o] = round(sums[o] + y[n*output+place*yp+o*yc]*w)
				}
			}
			for ch := range g.c {
				sum := sums[ch*g.depthwise]
				for _, v := range sums[ch*g.depthwise+1 : (ch+1)*g.depthwise] {
					sum = round(sum + v)
				}
				x[n*image+in*xp+ch*xc] = sum
			}
		}
	})
}

// split returns the coordinates of number i in a block of sizes s.
func split(i int, s [3]int) [3]int { return [3]int{i / (s[1] * s[2]), i / s[2] % s[1], i % s[2]} }

// under returns the element of the image that a tap takes at a place, if it is
// inside the image.
func (g *geometry) under(place, tap int) (in int, ok bool) {
	p, t := split(place, g.out), split(tap, g.size)
	for d := range 3 {
		at := g.place(d, p[d]) + t[d]*g.dilation[d]
		if at < 0 || at >= g.in[d] {
			return 0, false
		}
		in = in*g.in[d] + at
	}
	return in, true
}

// above returns the place at which a tap takes an element of the image, if there is one.
func (g *geometry) above(in, tap int) (place int, ok bool) {
	x, t := split(in, g.in), split(tap, g.size)
	for d := range 3 {
		at := x[d] + g.before[d] - t[d]*g.dilation[d]
		if at < 0 || at%g.stride[d] != 0 || at/g.stride[d] >= g.out[d] {
			return 0, false
		}
		place = place*g.out[d] + at/g.stride[d]
	}
	return place, true
}
