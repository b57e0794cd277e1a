package conv

import "github.com/cairnml/cairn/engine"

// Convolutions that need no speed, for conv.go.

// plain computes any convolution tap by tap, without a frame: for integers, and
// for strides and paddings that are out of proportion to the image.
func plain[T element](dir direction, g *geometry, out, a, b []T) {
	clear(out)
	plainPlaces(dir, g, out, a, b, 0, g.places())
}

// outside computes a convolution if elements of the filter, or of the output's gradient, are
// infinite or NaN. It leaves the padding out, because zero times infinity is NaN.
func outside[T element](c *engine.Call, dir direction, g *geometry, out, a, b []T) {
	clear(out)
	cost := float64(g.taps() * g.c * g.o / g.groups)
	places := g.places() / g.n
	switch dir {
	case forward:
		c.Parallel(g.places(), cost, func(lo, hi int) { plainPlaces(dir, g, out, a, b, lo, hi) })
		return
	case backFilter: // all places write to the same elements
		plainPlaces(dir, g, out, a, b, 0, g.places())
		return
	}
	// Places write to the same elements of their image.
	c.Parallel(g.n, cost*float64(places), func(lo, hi int) { plainPlaces(dir, g, out, a, b, lo*places, hi*places) })
}

// padded reports whether a window reaches over the end of an image.
func (g *geometry) padded() bool {
	reach := g.reach()
	return g.before != [3]int{} || reach[0] > g.in[0] || reach[1] > g.in[1] || reach[2] > g.in[2]
}

// plainPlaces adds the contributions of places lo to hi. dir decides the roles of a, b and out:
// image, filter and output. The order of additions is that of places, then taps.
func plainPlaces[T element](dir direction, g *geometry, out, a, b []T, lo, hi int) {
	x, f, y := a, b, out
	switch dir {
	case backInput:
		x, f, y = out, a, b
	case backFilter:
		x, f, y = a, out, b
	}
	xc, xp := g.channels(g.in, g.c)
	yc, yp := g.channels(g.out, g.o)
	// A tap of the filter is a matrix, row by row: of a group's channels and all
	// outputs, or of all channels and each one's own outputs.
	cg, og, row := g.c/g.groups, g.o/g.groups, g.o
	tapSize := cg * g.o
	if g.depthwise > 0 {
		cg, og, row, tapSize = 1, g.depthwise, 0, g.o
	}
	g.eachOf(lo, hi, func(n, place, in, tap int) {
		xi := x[n*g.in[0]*g.in[1]*g.in[2]*g.c+in*xp:]
		yi := y[n*g.out[0]*g.out[1]*g.out[2]*g.o+place*yp:]
		fi := f[tap*tapSize:]
		for c := range g.c {
			first := c / cg * og
			for o := first; o < first+og; o++ {
				w := &fi[c%cg*row+o]
				switch dir {
				case forward:
					yi[o*yc] += xi[c*xc] * *w
				case backInput:
					xi[c*xc] += yi[o*yc] * *w
				default:
					*w += xi[c*xc] * yi[o*yc]
				}
			}
		}
	})
}

// eachOf visits the taps within the image of places lo to hi: the image's number, the place, the
// element of the image and the tap.
func (g *geometry) eachOf(lo, hi int, visit func(n, place, in, tap int)) {
	taps := 0
	for i := lo; i < hi; i++ {
		n, place := i/(g.out[0]*g.out[1]*g.out[2]), i%(g.out[0]*g.out[1]*g.out[2])
		z, y, x := place/(g.out[1]*g.out[2]), place/g.out[2]%g.out[1], place%g.out[2]
		z0, z1 := g.span(0, z)
		y0, y1 := g.span(1, y)
		x0, x1 := g.span(2, x)
		for kz := z0; kz < z1; kz++ {
			for ky := y0; ky < y1; ky++ {
				g.look(&taps, max(0, x1-x0)*g.c*max(1, g.o)) // visit may take an output for each channel
				for kx := x0; kx < x1; kx++ {
					in := ((g.place(0, z)+kz*g.dilation[0])*g.in[1]+g.place(1, y)+ky*g.dilation[1])*g.in[2] + g.place(2, x) + kx*g.dilation[2]
					visit(n, place, in, (kz*g.size[1]+ky)*g.size[2]+kx)
				}
			}
		}
	}
}

// channels returns the distances between neighbouring channels and places of an
// image.
func (g *geometry) channels(s [3]int, c int) (channel, place int) {
	if g.channelsFirst {
		return s[0] * s[1] * s[2], 1
	}
	return 1, c
}
