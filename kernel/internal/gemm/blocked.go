package gemm

import (
	"sync"
	"unsafe"
)

// Products of two matrices: how C is cut into tasks, and each task into tiles. The cuts of rows and
// columns don't change bits, those of k do.
//
// A block is up to maxBlockK steps of k. A panel is panelW columns of B. A tile is a part of C: up to
// geometry.rows rows of A times one panel. A micro-kernel adds one block of k to a tile.

// maxBlockK is how many steps of k are summed in registers before the sum is
// added to C. It is one number for all paths, or their results would differ.
const maxBlockK = 256

// maxTask is about the most bytes of B that a task packs at a time: its columns, for one block of
// k. Every tile of rows reads them, so they must fit in the L2 cache. Tests make it small.
var maxTask = 256 << 10

// blockK returns the length of the blocks that k is cut in, near equal.
func blockK(k int) int {
	n := (k + maxBlockK - 1) / maxBlockK
	return ((k+n-1)/n + 7) &^ 7
}

// cut returns the start of piece i of n near equal pieces of total.
func cut(total, n, i int) int {
	q, r := total/n, total%n
	return i*q + min(i, r)
}

// product is one multiplication: operands by address and strides in bytes. m, n and k are the rows
// of A, the columns of B and the steps of a sum.
type product struct {
	a, b, c    unsafe.Pointer
	aRow, aCol uintptr
	bRow, bCol uintptr
	cRow       uintptr
	m, n, k    int
	size       int  // bytes of an element
	add        bool // add to C, rather than overwrite it
	path       Path
	*geometry
}

// job is a product that is being computed. Jobs are pooled, because each has a closure, taskFn, that
// would be allocated again.
type job struct {
	product
	blockK  int
	panelW  int  // columns of a panel
	tiles   int  // how many tiles the rows of A are cut in
	panels  int  // how many panels B is cut in
	lean    bool // few rows: a panel of B meets them all at once
	packs   bool // tasks pack the columns of B that they use
	packA   bool
	rowCuts int // tasks are rowCuts × colCuts
	colCuts int
	check   checker // or nil
	taskFn  func(lo, hi int)
}

var jobs = sync.Pool{New: func() any {
	j := new(job)
	j.taskFn = j.tasks
	return j
}}

// checkedTiles is how many tiles of rows are computed between two looks at the context.
const checkedTiles = 8

// leanTiles is the largest number of tiles of rows for which a task doesn't pack its panels of B in
// advance: each panel is read too few times to repay it.
const leanTiles = 3

// run computes the product, on the workers of par if it takes long enough for several. k is at least
// 1. A nil par has no workers.
func (p *product) run(par Parallel) {
	direct := p.direct(p.n)
	nr := p.lanes * p.vecs
	if direct && p.m <= p.rows && p.n <= nr && p.k <= maxBlockK {
		t := tile{a: p.a, b: p.b, c: p.c, aRow: p.aRow, aCol: p.aCol, bRow: p.bRow, cRow: p.cRow, k: uintptr(p.k), next: uintptr(p.b)}
		if p.add {
			t.add = 1
		}
		t.run(p.path, p.size, p.m, p.n)
		return
	}
	if direct && p.m <= p.rows && (par == nil || p.cost(p.m, p.n, p.k) < 2*taskTime) {
		p.panel()
		return
	}

	j := jobs.Get().(*job)
	j.product = *p
	j.blockK = blockK(p.k)
	j.panelW = nr
	if p.m == 1 && p.bCol == uintptr(p.size) {
		j.panelW = p.lanes * p.wide
	}
	j.tiles = (p.m + p.rows - 1) / p.rows
	j.lean = j.tiles <= leanTiles
	j.packs = !j.lean && !(direct && p.n <= nr)
	j.panels = (p.n + j.panelW - 1) / j.panelW
	j.multiply(par)
	j.product, j.check = product{}, nil
	jobs.Put(j)
}

// panel computes a product of one tile of rows whose B can be read in place. Such a product reads B
// once, so packing gains nothing. It runs on one core: there are no workers, or it takes too little
// time to be divided among them.
func (p *product) panel() {
	width := p.lanes * p.vecs
	if p.m == 1 {
		width = p.lanes * p.wide
	}
	block := blockK(p.k)
	for k := 0; k < p.k; k += block {
		t := tile{aRow: p.aRow, aCol: p.aCol, bRow: p.bRow, cRow: p.cRow, k: uintptr(min(block, p.k-k)), a: unsafe.Add(p.a, uintptr(k)*p.aCol)}
		if p.add || k > 0 {
			t.add = 1
		}
		for col := 0; col < p.n; col += width {
			t.b = unsafe.Add(p.b, uintptr(k)*p.bRow+uintptr(col*p.size))
			t.c = unsafe.Add(p.c, col*p.size)
			t.run(p.path, p.size, p.m, min(width, p.n-col))
		}
	}
}

// each runs fn over n pieces of about ns nanoseconds each, on the workers of par if there are any.
func each(par Parallel, n int, ns float64, fn func(lo, hi int)) {
	if par == nil || n == 1 {
		fn(0, n)
	} else {
		par.Run(n, ns, fn)
	}
}

// taskTime is about how many nanoseconds a task should take: long enough to be
// worth handing out, short enough for all workers to finish together.
const taskTime = 40_000

// maxTasks is up to how many tasks C is cut in; more only cost.
const maxTasks = 64

// tasksEach is the approximate number of tasks per worker. A worker that is
// late, or slowed down, leaves some of its tasks to the others.
const tasksEach = 4

// multiply cuts C into tasks and runs them. A task packs its columns of B itself, on the core that
// then reads them. Cuts of rows pack the same columns again, so columns are cut first, unless there are
// many rows.
func (j *job) multiply(par Parallel) {
	ns := j.cost(j.m, j.n, j.k)
	want := 1
	if par != nil {
		want = int(min(ns/taskTime, maxTasks))
		if !j.lean {
			want = min(want, tasksEach*par.Count())
		}
	}
	j.rowCuts = 1
	perBlock := j.blockK * j.panelW * j.size
	j.colCuts = max(1, (j.panels*perBlock+maxTask-1)/maxTask)
	for j.rowCuts*j.colCuts < want {
		tiles, panels := j.tiles/j.rowCuts, j.panels/j.colCuts
		switch {
		case panels >= 4 && (tiles < 16 || 4*panels*j.panelW >= tiles*j.rows), j.lean && panels > 1:
			j.colCuts = min(j.panels, j.colCuts*2)
		case !j.lean && tiles >= 16:
			j.rowCuts *= 2
		case panels > 1:
			j.colCuts = min(j.panels, j.colCuts*2)
		case !j.lean && tiles >= 4:
			j.rowCuts *= 2
		default:
			want = 0
		}
	}
	least := 3 // panels
	if j.aCol == uintptr(j.size) {
		least = 2 // whole vectors are moved
	}
	j.packA = j.m > 2 && j.panels/j.colCuts >= least
	tasks := j.rowCuts * j.colCuts
	j.check = checkOf(par)
	each(par, tasks, ns/float64(tasks), j.taskFn)
}

// packB packs steps k0 to k0+ks of panel q: rows of panelW elements, one for each
// step of k.
func (j *job) packB(dst unsafe.Pointer, q, k0, ks int) {
	col := q * j.panelW
	cols := min(j.panelW, j.n-col)
	src := unsafe.Add(j.b, uintptr(k0)*j.bRow+uintptr(col)*j.bCol)
	row := uintptr(j.panelW * j.size)
	if j.bCol == uintptr(j.size) {
		packColumns(j.path, j.size, dst, src, row, j.bRow, cols, ks)
	} else {
		packRows(j.path, j.size, dst, src, row, j.bCol, cols, ks)
	}
}

// direct reports whether a panel of cols columns of B can be read in place.
func (p *product) direct(cols int) bool {
	return p.bCol == uintptr(p.size) && (p.masked || cols%p.lanes == 0)
}

// aTile is one tile's rows of A and their address.
type aTile struct {
	first, rows int
	p           unsafe.Pointer
	row, col    uintptr
	run         uintptr // as the tile's aRun
}

// tileA returns tile i's rows of A for ks steps from k0 on, packed into dst
// unless that is nil.
func (j *job) tileA(dst unsafe.Pointer, i, k0, ks int) aTile {
	first := cut(j.m, j.tiles, i)
	rows := cut(j.m, j.tiles, i+1) - first
	src := unsafe.Add(j.a, uintptr(first)*j.aRow+uintptr(k0)*j.aCol)
	if dst == nil {
		return aTile{first, rows, src, j.aRow, j.aCol, 0}
	}
	if j.aCol == uintptr(j.size) {
		apart := uintptr(rows * runBytes)
		packRuns(j.path, j.size, dst, src, apart, j.aRow, ks, rows)
		return aTile{first, rows, dst, runBytes, j.aCol, apart}
	}
	step := uintptr(rows * j.size)
	packColumns(j.path, j.size, dst, src, step, j.aCol, rows, ks)
	return aTile{first, rows, dst, j.aRow, step, 0}
}

// tasks runs tasks lo to hi, each a rectangle of tiles and panels. If there are
// few rows (lean), a panel of B stays in the L1 cache for all rows. Otherwise
// one tile's rows of A stay there for all panels, which come from L2.
func (j *job) tasks(lo, hi int) {
	together := 1
	if j.lean {
		together = j.tiles
	}
	var bufA, bufB *buffer
	if j.packA {
		bufA = getBuffer(together * j.rows * j.blockK * j.size)
		defer bufA.put()
	}
	panel := j.panelW * j.blockK * j.size
	switch {
	case j.packs:
		bufB = getBuffer((j.panels + j.colCuts - 1) / j.colCuts * panel)
		defer bufB.put()
	case !j.direct(j.n):
		bufB = getBuffer(panel)
		defer bufB.put()
	}
	for i := lo; i < hi; i++ {
		r, c := i/j.colCuts, i%j.colCuts
		q0, q1 := cut(j.panels, j.colCuts, c), cut(j.panels, j.colCuts, c+1)
		t0, t1 := cut(j.tiles, j.rowCuts, r), cut(j.tiles, j.rowCuts, r+1)
		for k := 0; k < j.k; k += j.blockK {
			if j.packs {
				for q := q0; q < q1; q++ {
					j.packB(unsafe.Add(bufB.p, (q-q0)*panel), q, k, min(j.blockK, j.k-k))
				}
			}
			for t := t0; t < t1; t += together {
				if j.check != nil && t%checkedTiles == 0 {
					j.check.Check()
				}
				j.group(bufA, bufB, t, min(t1, t+together), q0, q1, k)
			}
		}
	}
}

// group runs tiles t0 to t1 × panels q0 to q1 for the block of steps that starts
// at k.
func (j *job) group(bufA, bufB *buffer, t0, t1, q0, q1, k int) {
	ks := min(j.blockK, j.k-k)
	t := tile{cRow: j.cRow, k: uintptr(ks)}
	if j.add || k > 0 {
		t.add = 1
	}
	var tiles [leanTiles]aTile
	for i := t0; i < t1; i++ {
		var dst unsafe.Pointer
		if bufA != nil {
			dst = unsafe.Add(bufA.p, (i-t0)*j.rows*j.blockK*j.size)
		}
		tiles[i-t0] = j.tileA(dst, i, k, ks)
	}
	for q := q0; q < q1; q++ {
		if j.dots(&t, tiles[0], q, k) {
			continue
		}
		col := q * j.panelW
		cols := min(j.panelW, j.n-col)
		t.bRow = uintptr(j.panelW * j.size)
		switch {
		case j.packs:
			t.b = unsafe.Add(bufB.p, (q-q0)*j.panelW*j.blockK*j.size)
		case j.direct(cols):
			t.b, t.bRow = unsafe.Add(j.b, uintptr(k)*j.bRow+uintptr(col*j.size)), j.bRow
		default:
			j.packB(bufB.p, q, k, ks)
			t.b = bufB.p
		}
		t.next = uintptr(t.b)
		for _, a := range tiles[:t1-t0] {
			t.a, t.aRow, t.aCol, t.aRun = a.p, a.row, a.col, a.run
			t.c = unsafe.Add(j.c, uintptr(a.first)*j.cRow+uintptr(col*j.size))
			t.run(j.path, j.size, a.rows, cols)
		}
	}
}

// dots multiplies the rows of a product of one or two rows with panel q,
// reading a transposed B in place: packing it would cost more than it saves. It
// has the bits of tile.run. It reports false if the product has another form: then
// tile.run computes the panel.
func (j *job) dots(t *tile, a aTile, q, k int) bool {
	if j.m > 2 || j.bCol == uintptr(j.size) || j.n-q*j.panelW < j.panelW {
		return false
	}
	for i := range uintptr(j.m) {
		col := uintptr(q * j.panelW)
		t.a, t.aCol = unsafe.Add(a.p, i*a.row), a.col
		t.b = unsafe.Add(j.b, uintptr(k)*j.bRow+col*j.bCol)
		t.bRow = j.bCol
		t.c = unsafe.Add(j.c, i*j.cRow+col*uintptr(j.size))
		if !t.dots(j.path, j.size) {
			return false
		}
	}
	return true
}
