package array

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/parts"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// view is a strided walk over a tensor's elements: the first element, and a
// stride for each dimension of a block. Strides may be 0 (broadcast) or
// negative (reverse).
type view struct {
	at      int
	strides []int
}

// move copies a block of the given shape from one tensor to another. Most
// kernels of this family are a move. shape, to and from have the same number of
// dimensions. Offsets and strides count elements. Both tensors have one element
// type. If c is nil, the copy stays on this goroutine, for a caller that moves
// many small blocks. The elements of to must not overlap, because workers share
// the first dimension.
func move(c *engine.Call, dst, src *tensor.Tensor, shape []int, to, from view) {
	for _, n := range shape {
		if n == 0 {
			return
		}
	}
	if len(shape) == 1 && to.strides[0] == 1 && from.strides[0] == 1 && (c == nil || !c.Large(shape[0], 1)) {
		parts.Copy(dst, src, to.at, from.at, shape[0])
		return
	}
	var dims, a, b shapes.Room[int]
	shape, to, from = join(shape, to, from, dims[:0], a[:0], b[:0])
	if len(shape) == 0 || len(shape) == 1 && to.strides[0] == 1 && from.strides[0] == 1 && (c == nil || !c.Large(shape[0], 1)) {
		parts.Copy(dst, src, to.at, from.at, shapes.Count(shape))
		return
	}
	switch dst.DType().Size() {
	case 0:
		walk(c, dst.Strings(), src.Strings(), shape, to, from)
	case 1:
		walk(c, elementwise.View[uint8](dst), elementwise.View[uint8](src), shape, to, from)
	case 2:
		walk(c, elementwise.View[uint16](dst), elementwise.View[uint16](src), shape, to, from)
	case 4:
		walk(c, elementwise.View[uint32](dst), elementwise.View[uint32](src), shape, to, from)
	case 8:
		walk(c, elementwise.View[uint64](dst), elementwise.View[uint64](src), shape, to, from)
	case 16:
		walk(c, elementwise.View[[2]uint64](dst), elementwise.View[[2]uint64](src), shape, to, from)
	}
}

// join merges dimensions that both sides traverse as one. It appends the
// results to s, st and sf.
func join(shape []int, to, from view, s, st, sf []int) ([]int, view, view) {
	t, f := view{to.at, st}, view{from.at, sf}
	for i, n := range shape {
		if n == 1 {
			continue
		}
		if k := len(s) - 1; k >= 0 && t.strides[k] == to.strides[i]*n && f.strides[k] == from.strides[i]*n {
			s[k] *= n
			t.strides[k], f.strides[k] = to.strides[i], from.strides[i]
			continue
		}
		s = append(s, n)
		t.strides = append(t.strides, to.strides[i])
		f.strides = append(f.strides, from.strides[i])
	}
	return s, t, f
}

// walk copies a block of elements of one type. It shares the block among
// workers if that is faster.
func walk[T any](c *engine.Call, dst, src []T, shape []int, to, from view) {
	n := 1
	for _, d := range shape {
		n *= d
	}
	const ns = 1
	if len(shape) > 0 && c != nil && c.Large(n, ns) && shape[0] > 1 && to.strides[0] != 0 {
		walkShared(c, dst, src, shape, to, from, float64(n/shape[0])*ns)
		return
	}
	walkPart(dst, src, shape, to, from)
}

// sharedWalk is a walk whose first dimension is shared among workers.
type sharedWalk[T any] struct {
	dst, src []T
	shape    []int
	to, from view
}

// walkShared shares the first dimension among workers.
func walkShared[T any](c *engine.Call, dst, src []T, shape []int, to, from view, ns float64) {
	loop := engine.Share[sharedWalk[T]]()
	w := &loop.State
	w.dst, w.src = dst, src
	w.shape = append(w.shape[:0], shape...)
	w.to = view{to.at, append(w.to.strides[:0], to.strides...)}
	w.from = view{from.at, append(w.from.strides[:0], from.strides...)}
	loop.Parallel(c, shape[0], ns)
	w.dst, w.src = nil, nil
	loop.Free()
}

// Piece walks over rows lo to hi.
func (w *sharedWalk[T]) Piece(lo, hi int) {
	var room shapes.Room[int]
	shape := append(room[:0], w.shape...)
	shape[0] = hi - lo
	walkPart(w.dst, w.src, shape,
		view{w.to.at + lo*w.to.strides[0], w.to.strides}, view{w.from.at + lo*w.from.strides[0], w.from.strides})
}

// walkPart copies a block on this goroutine, a row of the last dimension at a
// time.
func walkPart[T any](dst, src []T, shape []int, to, from view) {
	last := len(shape) - 1
	if last < 0 {
		dst[to.at] = src[from.at]
		return
	}
	n, sd, ss := shape[last], to.strides[last], from.strides[last]
	if last > 0 && ss != 1 && sd == 1 && n >= 8 && shape[last-1] >= 8 && from.strides[last-1] == 1 {
		walkTiles(dst, src, shape, to, from)
		return
	}
	var room shapes.Room[int]
	index := append(room[:0], to.strides[:last]...)
	clear(index)
	i, j := to.at, from.at
	for {
		switch {
		case sd == 1 && ss == 1:
			copy(dst[i:i+n], src[j:j+n])
		case sd == 1 && ss == 0:
			row, v := dst[i:i+n], src[j]
			for k := range row {
				row[k] = v
			}
		default:
			for k, p, q := 0, i, j; k < n; k, p, q = k+1, p+sd, q+ss {
				dst[p] = src[q]
			}
		}
		d := last - 1
		for ; d >= 0; d-- {
			index[d]++
			i, j = i+to.strides[d], j+from.strides[d]
			if index[d] < shape[d] {
				break
			}
			i, j = i-shape[d]*to.strides[d], j-shape[d]*from.strides[d]
			index[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

// walkTiles transposes the last two dimensions in tiles that fit the cache.
func walkTiles[T any](dst, src []T, shape []int, to, from view) {
	const tile = 32
	k := len(shape) - 2
	rows, cols := shape[k], shape[k+1]
	dr, sc := to.strides[k], from.strides[k+1]
	index := make([]int, k)
	i, j := to.at, from.at
	for {
		for r0 := 0; r0 < rows; r0 += tile {
			r1 := min(r0+tile, rows)
			for c0 := 0; c0 < cols; c0 += tile {
				c1 := min(c0+tile, cols)
				for r := r0; r < r1; r++ {
					out := dst[i+r*dr+c0 : i+r*dr+c1]
					q := j + r + c0*sc
					for x := range out {
						out[x] = src[q]
						q += sc
					}
				}
			}
		}
		d := k - 1
		for ; d >= 0; d-- {
			index[d]++
			i, j = i+to.strides[d], j+from.strides[d]
			if index[d] < shape[d] {
				break
			}
			i, j = i-shape[d]*to.strides[d], j-shape[d]*from.strides[d]
			index[d] = 0
		}
		if d < 0 {
			return
		}
	}
}
