package conv

import (
	"unsafe"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/gemm"
)

// Sums of the ops that compute the image's gradient, such as
// Conv2DBackpropInput, for many images. conv.go calls them; spread.go has the
// other way.

const (
	// foldBytes is the approximate size, in bytes, of the windows' gradients
	// that are computed before they are added up: they stay in the L2 cache.
	foldBytes = 256 << 10
	// foldImages is the number of images from which on there are enough to be
	// divided among workers.
	foldImages = 8
	// foldOutputs is the number of outputs from which on a product takes longer
	// than adding up its result.
	foldOutputs = 32
)

// folds reports whether the image's gradient is added up from those of windows.
// That costs a product of no more windows than there are; [spread] computes
// borders that are cut off, and copies more. The choice depends on shapes
// alone, so that results don't depend on anything else.
func (g *geometry) folds() bool {
	return g.groups == 1 && g.taps() > 1 && g.n >= foldImages && g.o >= foldOutputs
}

// fold computes the image's gradient from the filter and the output's gradient,
// image by image: the product of the output's gradient with the filter is the
// windows' gradient. It is added at the windows' places. x is the result, f the
// filter and y the output's gradient.
func fold[T real](c *engine.Call, g *geometry, x, f, y []T) {
	dy := framed(c, y, g.channelsFirst, g.n, g.o, g.out, g.out, [3]int{}, 1)
	defer dy.free()
	out, done := last(c, x, g.channelsFirst, g.n, g.in, g.c)
	defer done()
	window := g.taps() * g.c
	w := gemm.PackTemporary(f, g.o, true, g.o, window, c.Workers())
	defer w.Free()
	var z T
	places := g.out[0] * g.out[1] * g.out[2]
	together := min(places, max(12, foldBytes/(window*int(unsafe.Sizeof(z)))/12*12))
	image := g.in[0] * g.in[1] * g.in[2] * g.c
	c.Parallel(g.n, 1.2*gemm.Cost(4, places, window, g.o), func(lo, hi int) {
		buf, free := gemm.Borrow[T](together * window)
		defer free()
		for i := lo; i < hi; i++ {
			dst := out[i*image : (i+1)*image]
			clear(dst)
			for p := 0; p < places; p += together {
				n := min(together, places-p)
				w.Multiply(buf, window, dy.data[(i*places+p)*g.o:], g.o, n, nil, nil)
				g.addWindows(func(to, step, from, rows int) {
					gemm.AddRows(dst[to:], step, buf[from:], window, rows, g.c)
				}, p, n)
			}
		}
	})
}

// addWindows visits the elements of n windows from place p on, without those outside
// of the image. It calls visit for a tap and some places of a row, rows of them. The
// elements of the image begin at to and are step apart. Those of the windows begin
// at from.
func (g *geometry) addWindows(visit func(to, step, from, rows int), p, n int) {
	window := g.taps() * g.c
	for done := 0; done < n; {
		x, y, z := (p+done)%g.out[2], (p+done)/g.out[2]%g.out[1], (p+done)/(g.out[2]*g.out[1])
		row := min(n-done, g.out[2]-x)
		for tap := range g.taps() {
			kz, ky, kx := tap/(g.size[1]*g.size[2]), tap/g.size[2]%g.size[1], tap%g.size[2]
			iz, iy, ix := g.place(0, z)+kz*g.dilation[0], g.place(1, y)+ky*g.dilation[1], g.place(2, x)+kx*g.dilation[2]
			if iz < 0 || iz >= g.in[0] || iy < 0 || iy >= g.in[1] {
				continue
			}
			// The places before first and those from end on have the tap outside.
			first, end := 0, row
			if ix < 0 {
				first = (-ix + g.stride[2] - 1) / g.stride[2]
			}
			if room := g.in[2] - ix; room <= 0 {
				end = 0
			} else {
				end = min(end, (room+g.stride[2]-1)/g.stride[2])
			}
			if first < end {
				visit(((iz*g.in[1]+iy)*g.in[2]+ix+first*g.stride[2])*g.c, g.stride[2]*g.c, (done+first)*window+tap*g.c, end-first)
			}
		}
		done += row
	}
}
