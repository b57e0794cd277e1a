package gemm

import (
	"fmt"
	"sync"
	"unsafe"
)

// The gradient of a filter. kernel/conv calls Correlate.

// correlateSteps, correlateParts and correlateTiles decide how sums are cut, and so
// the last bits.
const (
	// correlateSteps is the number of positions that a tile sums before it adds
	// to C: their windows and their rows of y fit in the L1 cache together.
	correlateSteps = 256
	// correlateRows is up to how many elements of windows are copied together.
	correlateRows = 96
	// correlateParts is the approximate number of tasks. It doesn't depend on
	// the number of workers, because sums are cut at the borders of tasks.
	correlateParts = 8
	// correlateTiles is how many tiles of rows a task should have, or it packs y for
	// little.
	correlateTiles = 12
)

// Correlate computes, for the elements i of a window and j in [0, n),
//
//	f[i*ldf+j] = Σ over positions p: window(p)[i] · y[p*ldy+j]
//
// for windows of src, whose positions are counted in their order; the places of
// their outputs aren't used. It is the gradient of [Weights.Slide] by its
// weights. A result does not depend on par, nor on the path of the assembly.
func Correlate[T float32 | float64](f []T, ldf int, src []T, s Windows, y []T, ldy, n int, par Parallel) {
	positions, m := s.Positions[0].N*s.Positions[1].N*s.Positions[2].N*s.Positions[3].N, s.runs()*s.Run
	check("the windows' gradient", len(f), ldf, m, n, false)
	check("the outputs' gradient", len(y), ldy, positions, n, false)
	if m == 0 || n == 0 {
		return
	}
	if positions == 0 {
		for i := range m {
			clear(f[i*ldf:][:n])
		}
		return
	}
	if lo, hi, _, _ := s.reach(); lo < 0 || hi+s.Run > len(src) {
		panic(fmt.Sprintf("BUG: gemm: windows reach from %d to %d of %d elements", lo, hi+s.Run, len(src)))
	}
	j := newCorrelation[T]()
	defer j.free()
	path := Path(current.Load())
	size := int(unsafe.Sizeof(T(0)))
	j.Windows, j.path, j.geometry, j.size = s, path, &geometries[path][size/8], size
	j.f, j.src, j.y = unsafe.Pointer(unsafe.SliceData(f)), unsafe.Pointer(unsafe.SliceData(src)), unsafe.Pointer(unsafe.SliceData(y))
	j.fRow, j.yRow = uintptr(ldf*size), uintptr(ldy*size)
	j.m, j.n, j.positions, j.check = m, n, positions, checkOf(par)
	j.tiles = (m + j.rows - 1) / j.rows
	j.panelW = j.lanes * j.vecs
	j.panels = (n + j.panelW - 1) / j.panelW
	// The cuts are those of the widest tiles on every path, or the sums would differ.
	j.rowCuts = max(1, min(m/(12*correlateTiles), 2*correlateParts))
	j.parts = max(1, min(correlateParts/j.rowCuts, positions/(4*correlateSteps)))
	if j.parts > 1 {
		j.sums = getBuffer((j.parts - 1) * m * n * size)
		defer j.sums.put()
	}
	ns := j.cost(m, n, positions)
	each(par, j.rowCuts*j.parts, ns/float64(j.rowCuts*j.parts), j.work)
	for part := 1; part < j.parts; part++ {
		sum := unsafe.Slice((*T)(unsafe.Add(j.sums.p, (part-1)*m*n*size)), m*n)
		for i := range m {
			row := f[i*ldf:][:n]
			for k, v := range sum[i*n:][:n] {
				row[k] += v
			}
		}
	}
}

// correlation is one call of Correlate under way.
type correlation[T float32 | float64] struct {
	Windows
	*geometry
	path       Path
	f, src, y  unsafe.Pointer
	fRow, yRow uintptr
	size       int // of an element
	m, n       int
	positions  int
	tiles      int // of rows
	panelW     int
	panels     int
	rowCuts    int              // tasks are rowCuts × parts
	parts      int              // of the positions
	sums       *buffer          // of the parts but the first
	work       func(lo, hi int) // tasks
	check      checker          // or nil
}

// correlations keeps the working memory of calls, by the size of the elements.
var correlations [2]sync.Pool

func newCorrelation[T float32 | float64]() *correlation[T] {
	j, _ := correlations[unsafe.Sizeof(T(0))/8].Get().(*correlation[T])
	if j == nil {
		j = new(correlation[T])
		j.work = j.tasks
	}
	return j
}

func (j *correlation[T]) free() {
	*j = correlation[T]{work: j.work}
	correlations[unsafe.Sizeof(T(0))/8].Put(j)
}

// tasks runs tasks lo to hi, each some tiles of rows over a part of the positions.
func (j *correlation[T]) tasks(lo, hi int) {
	windows := getBuffer(correlateSteps * j.pitch())
	defer windows.put()
	panels := getBuffer(j.panels * j.panelW * correlateSteps * j.size)
	defer panels.put()
	for i := lo; i < hi; i++ {
		part, cutting := i/j.rowCuts, i%j.rowCuts
		t0, t1 := cut(j.tiles, j.rowCuts, cutting), cut(j.tiles, j.rowCuts, cutting+1)
		to, row := j.f, j.fRow
		if part > 0 {
			to, row = unsafe.Add(j.sums.p, (part-1)*j.m*j.n*j.size), uintptr(j.n*j.size)
		}
		first, end := cut(j.positions, j.parts, part), cut(j.positions, j.parts, part+1)
		for p := first; p < end; p += correlateSteps {
			if j.check != nil {
				j.check.Check()
			}
			j.block(to, row, windows, panels, t0, t1, p, min(correlateSteps, end-p), p > first)
		}
	}
}

// pitch returns the distance between copied windows, in bytes: their length and
// one vector. Copying may write a vector too many, and windows fall into
// different sets of the cache.
func (j *correlation[T]) pitch() int { return correlateRows*j.size + slack }

// block adds n positions from p on to tiles t0 to t1 at to, or sets these without add.
func (j *correlation[T]) block(to unsafe.Pointer, row uintptr, windows, panels *buffer, t0, t1, p, n int, add bool) {
	panel := j.panelW * correlateSteps * j.size
	for q := range j.panels {
		cols := min(j.panelW, j.n-q*j.panelW)
		packColumns(j.path, j.size, unsafe.Add(panels.p, q*panel), unsafe.Add(j.y, p*int(j.yRow)+q*j.panelW*j.size), uintptr(j.panelW*j.size), j.yRow, cols, n)
	}
	pitch := uintptr(j.pitch())
	t := tile{aRow: uintptr(j.size), aCol: pitch, bRow: uintptr(j.panelW * j.size), cRow: row, k: uintptr(n)}
	if add {
		t.add = 1
	}
	together := correlateRows / j.rows
	for ; t0 < t1; t0 += together {
		from, end := cut(j.m, j.tiles, t0), cut(j.m, j.tiles, min(t0+together, t1))
		j.copy(windows.p, pitch, p, n, from, end-from)
		for i := t0; i < min(t0+together, t1); i++ {
			first := cut(j.m, j.tiles, i)
			t.a = unsafe.Add(windows.p, (first-from)*j.size)
			for q := range j.panels {
				t.b = unsafe.Add(panels.p, q*panel)
				t.next = uintptr(t.b)
				t.c = unsafe.Add(to, first*int(row)+q*j.panelW*j.size)
				t.run(j.path, j.size, cut(j.m, j.tiles, i+1)-first, min(j.panelW, j.n-q*j.panelW))
			}
		}
	}
}

// copy puts elements from up to from+m of the windows of n positions from p on side by
// side, a row each.
func (j *correlation[T]) copy(dst unsafe.Pointer, pitch uintptr, p, n, from, m int) {
	step := uintptr(j.Positions[3].Src * j.size)
	for n > 0 {
		// The positions up to the end of the last axis are a fixed step apart.
		line := min(n, j.Positions[3].N-p%j.Positions[3].N)
		at, _ := j.place(p)
		i, first := from/j.Run, from%j.Run
		for done := 0; done < m; {
			cols := min(j.Run-first, m-done)
			packColumns(j.path, j.size, unsafe.Add(dst, done*j.size), unsafe.Add(j.src, (at+j.run(i)+first)*j.size), pitch, step, cols, line)
			done += cols
			i, first = i+1, 0
		}
		dst = unsafe.Add(dst, line*int(pitch))
		p += line
		n -= line
	}
}
