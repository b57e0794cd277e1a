package conv

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/vec"
)

// Images in the memory layout that convolutions and pooling compute in.

// element are the types that images consist of.
type element interface{ vec.Real }

// frame contains images with the channels last. Zeros may surround each image: its element
// (0, 0, 0) comes after a border.
type frame[T element] struct {
	data   []T
	dims   [3]int // the border included
	border [3]int // zeros before the first element, by dimension
	c      int    // channels
	free   func() // releases data
}

// strides returns the distances between neighbours along depth, height and width,
// and between images.
func (f frame[T]) strides() (s [3]int, image int) {
	s[2] = f.c
	s[1] = f.dims[2] * s[2]
	s[0] = f.dims[1] * s[1]
	return s, f.dims[0] * s[0]
}

// framed returns n images x of ch channels and sizes in, as a frame of the sizes dims with
// this border before each image. Zeros fill the rest; elements beyond dims are left out.
// Each channel is repeated copies times, next to itself, for the filter of a depthwise
// convolution with several outputs for each channel. If nothing has to move, the frame is x
// itself, so callers only read it. Pooling passes no border: zeros could be its maximum.
func framed[T element](c *engine.Call, x []T, channelsFirst bool, n, ch int, in, dims, border [3]int, copies int) frame[T] {
	if in == dims && border == [3]int{} && copies == 1 && (!channelsFirst || ch == 1 || in == [3]int{1, 1, 1}) {
		return frame[T]{data: x, dims: dims, border: border, c: ch * copies, free: nothing}
	}
	return copied(c, x, channelsFirst, n, ch, in, dims, border, copies)
}

// copied returns a frame in new memory.
func copied[T element](c *engine.Call, x []T, channelsFirst bool, n, ch int, in, dims, border [3]int, copies int) frame[T] {
	_, image := frame[T]{dims: dims, border: border, c: ch * copies}.strides()
	data, free := engine.Scratch[T](c, n*image)
	f := frame[T]{data: data, free: free, dims: dims, border: border, c: ch * copies}
	loop := engine.Share[framing[T]]()
	loop.State = framing[T]{f, x, channelsFirst, ch, in, copies}
	loop.Parallel(c, n*dims[0]*dims[1], float64(dims[2]*f.c)*0.3)
	loop.State = framing[T]{}
	loop.Free()
	return f
}

// framing is a frame that is being filled.
type framing[T element] struct {
	frame[T]
	x             []T
	channelsFirst bool
	ch            int
	in            [3]int
	copies        int
}

// Piece fills rows lo to hi.
func (w *framing[T]) Piece(lo, hi int) {
	width := w.dims[2] * w.c
	for r := lo; r < hi; r++ {
		w.row(w.data[r*width:(r+1)*width], w.x, r, w.channelsFirst, w.ch, w.in, w.copies)
	}
}

// row fills row r of the frame.
func (f frame[T]) row(dst, x []T, r int, channelsFirst bool, ch int, in [3]int, copies int) {
	img, z, y := r/(f.dims[0]*f.dims[1]), r/f.dims[1]%f.dims[0]-f.border[0], r%f.dims[1]-f.border[1]
	if z < 0 || z >= in[0] || y < 0 || y >= in[1] {
		clear(dst)
		return
	}
	before, n := f.border[2]*f.c, min(in[2], f.dims[2]-f.border[2])
	clear(dst[:before])
	clear(dst[before+n*f.c:])
	dst = dst[before : before+n*f.c]
	if !channelsFirst {
		src := x[((img*in[0]+z)*in[1]+y)*in[2]*ch:][:n*ch]
		if copies == 1 {
			copy(dst, src)
			return
		}
		for i, v := range src {
			for k := range copies {
				dst[i*copies+k] = v
			}
		}
		return
	}
	plane := in[0] * in[1] * in[2]
	for k := range ch {
		src := x[(img*ch+k)*plane+(z*in[1]+y)*in[2]:][:n]
		for i, v := range src {
			for p := range copies {
				dst[i*f.c+k*copies+p] = v
			}
		}
	}
}

// toChannelsFirst writes n images of c channels, plane places each, from
// channels last.
func toChannelsFirst[T element](call *engine.Call, dst, src []T, n, plane, c int) {
	call.Parallel(n*c, float64(plane), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			img, k := i/c, i%c
			out := dst[i*plane : (i+1)*plane]
			in := src[img*plane*c:]
			for p := range out {
				out[p] = in[p*c+k]
			}
		}
	})
}

// last returns a buffer for an output of n elements that is written with the channels last; done
// brings it to dst. size is that of an image and ch the number of channels. Its caller writes the
// whole buffer, because it isn't cleared.
func last[T element](c *engine.Call, dst []T, channelsFirst bool, n int, size [3]int, ch int) (buf []T, done func()) {
	plane := size[0] * size[1] * size[2]
	if !channelsFirst || ch == 1 || plane == 1 {
		return dst, nothing
	}
	return turned(c, dst, n, plane, ch)
}

// turned returns a buffer with the channels last; done copies it to dst with
// the channels first.
func turned[T element](c *engine.Call, dst []T, n, plane, ch int) (buf []T, done func()) {
	buf, free := engine.Scratch[T](c, len(dst))
	return buf, func() {
		toChannelsFirst(c, dst, buf, n, plane, ch)
		free()
	}
}

// reach returns the sizes of a frame over which windows move without end checks.
func (g *geometry) reach() (dims [3]int) {
	for d := range dims {
		dims[d] = (g.out[d]-1)*g.stride[d] + (g.size[d]-1)*g.dilation[d] + 1
		if g.before[d] == 0 && dims[d] <= g.in[d] {
			dims[d] = g.in[d] // no border: the image may be longer than the windows reach
		}
	}
	return dims
}

// affordable reports whether a frame of n images, with c channels and the sizes dims, is
// in proportion to the call's tensors. They have that many elements in all. Strange
// strides and paddings make frames huge; then the caller computes without one (plain).
// The limit is Cairn's and may change.
func affordable(dims [3]int, n, c, tensors int) bool {
	most := 16*float64(tensors) + 1<<16
	return float64(dims[0])*float64(dims[1])*float64(dims[2])*float64(n)*float64(c) <= most
}

// nothing releases memory that needs no release. A literal in a generic
// function would be allocated in each call.
func nothing() {}
