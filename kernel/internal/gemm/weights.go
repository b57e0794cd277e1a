package gemm

import (
	"fmt"
	"unsafe"
)

// Weights is a matrix packed for products in which it stands on the right: the
// filter of a convolution, packed once and used by many calls. It never changes
// and may be used by many goroutines at once.
type Weights[T float32 | float64] struct {
	k, n   int
	path   Path
	panelW int
	p      unsafe.Pointer
	mem    []T     // keeps what p points to
	lent   *buffer // or this does
}

// Pack packs the k×n matrix b: rows ldb elements apart or, with transB, n rows
// of k that lie ldb apart.
func Pack[T float32 | float64](b []T, ldb int, transB bool, k, n int) *Weights[T] {
	w := newWeights[T](k, n)
	size := int(unsafe.Sizeof(T(0)))
	w.mem = make([]T, w.panels()*w.panelW*k+(slack+lineSize)/size)
	w.p = unsafe.Pointer(unsafe.SliceData(w.mem))
	if off := uintptr(w.p) % lineSize; off != 0 {
		w.p = unsafe.Add(w.p, lineSize-off)
	}
	w.fill(b, ldb, transB, nil)
	return w
}

// NumBytes returns the size of the memory that [Pack] made.
func (w *Weights[T]) NumBytes() int { return cap(w.mem) * int(unsafe.Sizeof(T(0))) }

// PackTemporary does what [Pack] does, into pooled memory, on par's workers. Free gives the
// memory back.
func PackTemporary[T float32 | float64](b []T, ldb int, transB bool, k, n int, par Parallel) *Weights[T] {
	w := newWeights[T](k, n)
	w.lent = getBuffer(w.panels() * w.panelW * k * int(unsafe.Sizeof(T(0))))
	w.p = w.lent.p
	w.fill(b, ldb, transB, par)
	return w
}

// Free gives the memory of [PackTemporary] back; the weights must not be used
// any more. It does nothing to those of [Pack].
func (w *Weights[T]) Free() {
	if w.lent != nil {
		w.lent.put()
		w.lent, w.p = nil, nil
	}
}

func newWeights[T float32 | float64](k, n int) *Weights[T] {
	path := Path(current.Load())
	g := &geometries[path][unsafe.Sizeof(T(0))/8]
	return &Weights[T]{k: k, n: n, path: path, panelW: g.lanes * g.vecs}
}

func (w *Weights[T]) panels() int { return (w.n + w.panelW - 1) / w.panelW }

func (w *Weights[T]) fill(b []T, ldb int, transB bool, par Parallel) {
	check("B", len(b), ldb, w.k, w.n, transB)
	if w.k == 0 || w.n == 0 {
		return
	}
	size := int(unsafe.Sizeof(T(0)))
	src := unsafe.Pointer(unsafe.SliceData(b))
	row := uintptr(w.panelW * size)
	each(par, w.panels(), float64(w.panelW*w.k)*0.2, func(lo, hi int) {
		for q := lo; q < hi; q++ {
			dst := unsafe.Add(w.p, q*w.panelW*w.k*size)
			cols := min(w.panelW, w.n-q*w.panelW)
			if transB {
				packRows(w.path, size, dst, unsafe.Add(src, q*w.panelW*ldb*size), row, uintptr(ldb*size), cols, w.k)
			} else {
				packColumns(w.path, size, dst, unsafe.Add(src, q*w.panelW*size), row, uintptr(ldb*size), cols, w.k)
			}
		}
	})
}

// Axis is one of the dimensions along which a window is moved, or in which its
// runs lie: how many steps there are and how many elements a step is long in
// the source and in the destination.
type Axis struct{ N, Src, Dst int }

// Windows describes the left side of a product whose rows are windows of src,
// which may overlap: the implicit matrix of a convolution. A window consists of
// runs of contiguous elements, as many as the taps' axes have places; it stands
// at each of the positions. The row of a position is its runs, one after the
// other, the last axis moving fastest.
type Windows struct {
	Src, Dst  int     // where the first window and its output start
	Positions [4]Axis // the last one is cut into tiles; all steps are the same
	Taps      [3]Axis // Dst isn't used
	Run       int     // elements of a run
}

func (s *Windows) runs() int { return s.Taps[0].N * s.Taps[1].N * s.Taps[2].N }

// run returns where run i of a window starts.
func (s *Windows) run(i int) int {
	x, i := i%s.Taps[2].N, i/s.Taps[2].N
	return x*s.Taps[2].Src + i%s.Taps[1].N*s.Taps[1].Src + i/s.Taps[1].N*s.Taps[0].Src
}

// row returns where row i of positions starts in the source and the destination.
func (s *Windows) row(i int) (src, dst int) {
	src, dst = s.Src, s.Dst
	for a := 2; a >= 0; a-- {
		x := i % s.Positions[a].N
		i /= s.Positions[a].N
		src += x * s.Positions[a].Src
		dst += x * s.Positions[a].Dst
	}
	return src, dst
}

// reach returns the first element and the one behind the last that axes lead to.
func reach(first int, of func(Axis) int, axes ...Axis) (lo, hi int) {
	lo, hi = first, first
	for _, a := range axes {
		if d := (a.N - 1) * of(a); d < 0 {
			lo += d
		} else {
			hi += d
		}
	}
	return lo, hi
}

// Slide computes, for each position, dst[position:][:n] = window · weights. Sums
// run as in [F32]: over blocks of up to 256 steps, which end at the end of a run
// where runs are long.
func (w *Weights[T]) Slide(dst, src []T, s Windows, par Parallel) {
	rows := s.Positions[0].N * s.Positions[1].N * s.Positions[2].N
	width := s.Positions[3].N
	if rows == 0 || width == 0 || w.n == 0 {
		return
	}
	if s.runs()*s.Run != w.k || w.k == 0 {
		panic(fmt.Sprintf("BUG: gemm: windows of %d runs of %d for weights of %d rows", s.runs(), s.Run, w.k))
	}
	in := func(a Axis) int { return a.Src }
	lo, hi := reach(s.Src, in, append(s.Positions[:], s.Taps[:]...)...)
	dlo, dhi := reach(s.Dst, func(a Axis) int { return a.Dst }, s.Positions[:]...)
	if lo < 0 || hi+s.Run > len(src) || dlo < 0 || dhi+w.n > len(dst) {
		panic(fmt.Sprintf("BUG: gemm: windows reach from %d to %d of %d elements, their outputs from %d to %d of %d",
			lo, hi+s.Run, len(src), dlo, dhi+w.n, len(dst)))
	}
	j := slide[T]{Weights: w, Windows: s, dst: unsafe.Pointer(unsafe.SliceData(dst)), src: unsafe.Pointer(unsafe.SliceData(src)),
		geometry: &geometries[w.path][unsafe.Sizeof(T(0))/8]}
	j.perRow = (width + j.rows - 1) / j.rows
	tiles := rows * j.perRow
	// Short runs and many panels make it worth to gather the windows first.
	j.gather = s.runs() > 1 && s.Run < 48 || w.panels() > 2
	j.blockK = blockK(s.Run)
	if j.gather {
		j.blockK = blockK(w.k)
	}
	ns := j.cost(rows*width, w.n, w.k)
	want := 1
	if par != nil {
		want = int(min(ns/taskTime+1, maxTasks))
	}
	rowCuts := min(want, (tiles+7)/8)
	j.colCuts = max(1, min(w.panels(), want/rowCuts))
	if j.colCuts > 1 {
		j.colCuts = min(w.panels(), (want+rowCuts-1)/rowCuts)
	}
	run := func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r, c := i/j.colCuts, i%j.colCuts
			j.task(cut(tiles, rowCuts, r), cut(tiles, rowCuts, r+1), cut(w.panels(), j.colCuts, c), cut(w.panels(), j.colCuts, c+1))
		}
	}
	each(par, rowCuts*j.colCuts, ns/float64(rowCuts*j.colCuts), run)
}

// slide is one call of Slide under way.
type slide[T float32 | float64] struct {
	*Weights[T]
	Windows
	*geometry
	dst, src unsafe.Pointer
	perRow   int // tiles in a row of positions
	gather   bool
	blockK   int
	colCuts  int
}

// groupTiles is how many tiles meet a panel while it is in the L1 cache: their
// gathered windows stay in L2.
const groupTiles = 16

// task computes tiles t0 to t1 of panels q0 to q1.
func (j *slide[T]) task(t0, t1, q0, q1 int) {
	var gathered *buffer
	if j.gather {
		gathered = getBuffer(groupTiles * j.rows * j.blockK * int(unsafe.Sizeof(T(0))))
		defer gathered.put()
	}
	for t := t0; t < t1; t += groupTiles {
		j.group(gathered, t, min(t1, t+groupTiles), q0, q1)
	}
}

// slideTile is a tile's positions and the places of their outputs.
type slideTile struct {
	src, dst unsafe.Pointer
	rows     int
}

func (j *slide[T]) group(gathered *buffer, t0, t1, q0, q1 int) {
	size := int(unsafe.Sizeof(T(0)))
	var tiles [groupTiles]slideTile
	for i := range t1 - t0 {
		row, part := (t0+i)/j.perRow, (t0+i)%j.perRow
		src, dst := j.row(row)
		x := j.Positions[3]
		first := cut(x.N, j.perRow, part)
		tiles[i] = slideTile{
			src:  unsafe.Add(j.src, (src+first*x.Src)*size),
			dst:  unsafe.Add(j.dst, (dst+first*x.Dst)*size),
			rows: cut(x.N, j.perRow, part+1) - first,
		}
	}
	step := uintptr(j.Positions[3].Src * size)
	for k := 0; k < j.k; {
		ks := min(j.blockK, j.k-k)
		var offset int
		if gathered == nil {
			at := k % j.Run
			ks = min(ks, j.Run-at)
			offset = j.run(k/j.Run) + at
		} else {
			for i := range t1 - t0 {
				j.pack(unsafe.Add(gathered.p, i*j.rows*j.blockK*size), &tiles[i], k, ks)
			}
		}
		t := tile{k: uintptr(ks), bRow: uintptr(j.panelW * size), cRow: uintptr(j.Positions[3].Dst * size)}
		if k > 0 {
			t.add = 1
		}
		for q := q0; q < q1; q++ {
			cols := min(j.panelW, j.n-q*j.panelW)
			t.b = unsafe.Add(j.p, (q*j.k+k)*j.panelW*size)
			for i := range t1 - t0 {
				x := &tiles[i]
				if gathered == nil {
					t.a, t.aRow, t.aCol = unsafe.Add(x.src, offset*size), step, uintptr(size)
				} else {
					t.a, t.aRow, t.aCol = unsafe.Add(gathered.p, i*j.rows*j.blockK*size), uintptr(size), uintptr(x.rows*size)
				}
				t.c = unsafe.Add(x.dst, q*j.panelW*size)
				t.run(j.path, size, x.rows, cols)
			}
		}
		k += ks
	}
}

// pack gathers steps k to k+ks of a tile's windows: a row of the tile's
// positions for each step.
func (j *slide[T]) pack(dst unsafe.Pointer, x *slideTile, k, ks int) {
	size := int(unsafe.Sizeof(T(0)))
	row := uintptr(x.rows * size)
	for done := 0; done < ks; {
		at := (k + done) % j.Run
		n := min(j.Run-at, ks-done)
		src := unsafe.Add(x.src, (j.run((k+done)/j.Run)+at)*size)
		packRows(j.path, size, unsafe.Add(dst, uintptr(done)*row), src, row, uintptr(j.Positions[3].Src*size), x.rows, n)
		done += n
	}
}
