package gemm

import (
	"fmt"
	"math"
	"sync"
	"unsafe"
)

// Products of windows with packed weights: convolutions, and products with constant matrices.
// kernel/conv and kernel/matmul use them through Slide and Multiply.

// Slide computes, for each position, dst[position:][:n] = window · weights, and
// then applies the epilogue; nil means none. Sums run as in [F32], for any
// windows and positions.
func (w *Weights[T]) Slide(dst, src []T, s Windows, e *Epilogue[T], par Parallel) {
	positions := s.Positions[0].N * s.Positions[1].N * s.Positions[2].N * s.Positions[3].N
	if positions == 0 || w.n == 0 {
		return
	}
	if s.runs()*s.Run != w.k || w.k == 0 {
		panic(fmt.Sprintf("BUG: gemm: windows of %d runs of %d for weights of %d rows", s.runs(), s.Run, w.k))
	}
	lo, hi, dlo, dhi := s.reach()
	if lo < 0 || hi+s.Run > len(src) || dlo < 0 || dhi+w.n > len(dst) {
		panic(fmt.Sprintf("BUG: gemm: windows reach from %d to %d of %d elements, their outputs from %d to %d of %d",
			lo, hi+s.Run, len(src), dlo, dhi+w.n, len(dst)))
	}
	j := newSlide[T]()
	defer j.free()
	j.Weights, j.Windows, j.geometry, j.finisher = w, s, &geometries[w.path][unsafe.Sizeof(T(0))/8], newFinisher(e, w.path, dst, w.n)
	j.dst, j.src = unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	j.blockK = blockK(w.k)
	// Rows of contiguous windows that one panel needs are read in place. So are rows so
	// few (less than leastRows) that reading the weights takes the time.
	size := int(unsafe.Sizeof(T(0)))
	j.inPlace = s.runs() == 1 && (w.panels() == 1 || positions < leastRows)
	j.wholeRuns = s.runs() == 1 || s.Run*size%runBytes == 0
	j.farSrc, j.farAdd = s.runs() == 1 && len(src)*size > nearBytes, len(dst)*size > nearBytes
	j.line = s.Positions[3].N
	if !j.inPlace {
		j.line = s.line()
	}
	j.perLine = (j.line + j.rows - 1) / j.rows
	j.tiles = positions / j.line * j.perLine
	ns := j.cost(positions, w.n, w.k)
	workers := 1
	if par != nil {
		workers = par.Count()
	}
	j.rowCuts, j.colCuts = cutSlide(j.tiles, w.panels(), workers, ns, !j.inPlace)
	tasks := j.rowCuts * j.colCuts
	j.check = checkOf(par)
	each(par, tasks, ns/float64(tasks), j.work)
}

// cutSlide returns the numbers of parts in which tiles and panels are cut for
// the workers, if all takes ns nanoseconds: the cuts after which the last
// worker is done first. The time of a task has three parts: the products of its
// tiles and panels, fetching each panel, and reading or copying each tile's
// windows. Workers begin with the same number of tasks each; those that are
// done early help the others.
func cutSlide(tiles, panels, workers int, ns float64, copies bool) (rowCuts, colCuts int) {
	// The numbers are measured; they decide the speed only.
	const (
		fetched   = 0.03   // the time to fetch a panel, of that of a product of one tile and one panel
		read      = 0.05   // the same to read a tile's windows in place
		copied    = 0.14   // the same to copy them
		smallest  = 10_000 // nanoseconds of a task
		ownTime   = 100    // nanoseconds that a task takes besides
		disturbed = 0.5    // of a task: its time can't be predicted exactly
	)
	most := int(min(ns/smallest, maxTasks))
	if workers == 1 || most < 2 {
		return 1, 1
	}
	again := read
	if copies {
		again = copied
	}
	own := ownTime * float64(tiles*panels) / ns
	best := math.Inf(1)
	for r := 1; r <= min(tiles, most); r += 1 + r/8 {
		for c := 1; c <= min(panels, most/r); c += 1 + c/4 {
			largest, before := 0, 0
			for k := 1; k <= workers; k++ {
				row, col := r*c*k/workers/c, r*c*k/workers%c
				first, end := row*tiles/r, (row+1)*tiles/r
				done := first*panels + (end-first)*(col*panels/c)
				largest, before = max(largest, done-before), done
			}
			task := float64((tiles + r - 1) / r * ((panels + c - 1) / c))
			time := min(float64(largest), float64(tiles*panels)/float64(workers)+task) + disturbed*task +
				(float64(c*tiles)*again+float64(r*panels)*fetched+float64(r*c)*own)/float64(workers)
			if time < best {
				best, rowCuts, colCuts = time, r, c
			}
		}
	}
	return rowCuts, colCuts
}

// slide is one call of Slide under way.
type slide[T float32 | float64] struct {
	*Weights[T]
	Windows
	*geometry
	finisher finisher[T]
	dst, src unsafe.Pointer
	line     int  // positions whose outputs are a fixed step apart
	perLine  int  // tiles of a line
	inPlace  bool // windows are read in place, without packing
	// Windows are packed straight into their tile, without a copy of whole rows in
	// between, because their runs are whole runs of a packed tile.
	wholeRuns bool
	farSrc    bool // windows have to be fetched ahead
	farAdd    bool // the epilogue's summands have to be fetched ahead
	blockK    int
	tiles     int
	rowCuts   int
	colCuts   int
	work      func(lo, hi int) // runTasks
	check     checker          // or nil
}

// slides keeps the working memory of calls, by the size of the elements.
var slides [2]sync.Pool

func newSlide[T float32 | float64]() *slide[T] {
	j, _ := slides[unsafe.Sizeof(T(0))/8].Get().(*slide[T])
	if j == nil {
		j = new(slide[T])
		j.work = j.runTasks
	}
	return j
}

func (j *slide[T]) free() {
	*j = slide[T]{work: j.work}
	slides[unsafe.Sizeof(T(0))/8].Put(j)
}

// runTasks runs tasks lo to hi.
func (j *slide[T]) runTasks(lo, hi int) {
	for i := lo; i < hi; i++ {
		r, c := i/j.colCuts, i%j.colCuts
		// The cuts are spread evenly: any run of neighbouring tasks is about as large as
		// any other of the same length. So workers get equal shares.
		j.task(r*j.tiles/j.rowCuts, (r+1)*j.tiles/j.rowCuts, c*j.panels()/j.colCuts, (c+1)*j.panels()/j.colCuts)
	}
}

// groupTiles is how many tiles meet a panel while it is in the L1 cache: their
// windows, packed, stay in L2. It decides the speed only.
const groupTiles = 24

// leastRows is from how many rows on it is worth to pack them. It decides the speed only.
const leastRows = 4

// packedTile returns the bytes of a tile's packed windows.
func (j *slide[T]) packedTile() int { return j.rows * j.blockK * int(unsafe.Sizeof(T(0))) }

// pitch returns the distance between the rows of a tile's copied windows, in
// bytes: their length and one vector, because copying may write a vector too
// many.
func (j *slide[T]) pitch() int { return j.blockK*int(unsafe.Sizeof(T(0))) + slack }

// task computes tiles t0 to t1 of panels q0 to q1.
func (j *slide[T]) task(t0, t1, q0, q1 int) {
	var windows windowRoom
	if !j.inPlace {
		tiles := min(t1-t0, groupTiles) * j.packedTile()
		n := tiles
		if !j.wholeRuns {
			n += j.rows * j.pitch()
		}
		b := getBuffer(n)
		defer b.put()
		windows = windowRoom{packed: b.p, copied: unsafe.Add(b.p, tiles)}
	}
	n := (t1 - t0 + groupTiles - 1) / groupTiles
	for i := range n {
		if j.check != nil {
			j.check.Check()
		}
		j.group(windows, t0+cut(t1-t0, n, i), t0+cut(t1-t0, n, i+1), q0, q1)
	}
}

// windowRoom is room for the windows of a group of tiles.
type windowRoom struct {
	packed unsafe.Pointer // of all tiles
	copied unsafe.Pointer // of one tile, rows of whole windows; unused if they are packed straight into the tile (wholeRuns)
}

// slideTile is a tile's positions and the place of their outputs.
type slideTile struct {
	first, rows int
	src, dst    unsafe.Pointer
}

// group computes tiles t0 to t1 of panels q0 to q1, one block of k after the other.
func (j *slide[T]) group(windows windowRoom, t0, t1, q0, q1 int) {
	size := int(unsafe.Sizeof(T(0)))
	var tiles [groupTiles]slideTile
	for i := range t1 - t0 {
		line, part := (t0+i)/j.perLine, (t0+i)%j.perLine
		at := cut(j.line, j.perLine, part)
		x := slideTile{first: line*j.line + at, rows: cut(j.line, j.perLine, part+1) - at}
		src, dst := j.place(x.first)
		x.src, x.dst = unsafe.Add(j.src, src*size), unsafe.Add(j.dst, dst*size)
		tiles[i] = x
	}
	srcRow := uintptr(j.Positions[3].Src * size)
	t := tile{aRow: srcRow, aCol: uintptr(size), bRow: uintptr(j.panelW * size), cRow: uintptr(j.Positions[3].Dst * size)}
	if !j.inPlace {
		t.aRow = runBytes
	}
	for k := 0; k < j.k; {
		ks := min(j.blockK, j.k-k)
		t.k = uintptr(ks)
		quarter := ks * j.panelW * size / fetchTiles
		ends := j.finisher.Epilogue != nil && k+ks == j.k
		for q := q0; q < q1; q++ {
			cols := min(j.panelW, j.n-q*j.panelW)
			t.b = unsafe.Add(j.p, (q*j.k+k)*j.panelW*size)
			next := j.weightsAfter(q, q0, q1, k, ks)
			if ends {
				j.finisher.begin(&t, q*j.panelW)
			}
			for i := range t1 - t0 {
				x := &tiles[i]
				if t.next = uintptr(t.b); i < fetchTiles {
					t.next = uintptr(next) + uintptr(i*quarter)
				}
				t.c = unsafe.Add(x.dst, q*j.panelW*size)
				if i+1 < t1-t0 {
					y := &tiles[i+1]
					if ends && j.farAdd && j.finisher.Add != nil {
						fetchLines(j.finisher.addend(unsafe.Add(y.dst, q*j.panelW*size)), t.cRow, y.rows, cols*size)
					}
					if j.farSrc && q == q0 {
						fetchLines(unsafe.Add(y.src, k*size), srcRow, y.rows, ks*size)
					}
				}
				if j.inPlace {
					t.a = unsafe.Add(x.src, k*size)
				} else {
					t.a, t.aRun = unsafe.Add(windows.packed, i*j.packedTile()), uintptr(x.rows*runBytes)
					if q == q0 {
						j.pack(t.a, windows.copied, x, k, ks)
					}
				}
				if ends {
					j.finisher.place(&t)
				}
				t.run(j.path, size, x.rows, cols)
				if ends {
					j.finisher.block(t.c, t.cRow, x.rows, q*j.panelW, cols)
				}
			}
		}
		if k += ks; k == j.k {
			// Whole rows at once, since they are still in the cache. A call for the few
			// elements of a tile's row would cost more than its work.
			cols := min(q1*j.panelW, j.n) - q0*j.panelW
			for i := range t1 - t0 {
				j.finisher.mapRows(unsafe.Add(tiles[i].dst, q0*j.panelW*size), t.cRow, tiles[i].rows, cols)
			}
		}
		t.add = 1
	}
}

// fetchTiles is the number of tiles that fetch the data after their panel, a
// quarter each: one alone would be too fast for the memory. The micro-kernels in
// _asm/tile.go fetch a quarter, so the number changes only together with them.
const fetchTiles = 4

// nearBytes is the size, in bytes, of windows or of an epilogue's summands up
// to which a near cache has them when they are needed. Tiles read a few lines
// of many rows, which the processor doesn't predict by itself. If there are
// more bytes, those of the next tile are fetched while one is computed. It decides the
// speed only. Tests make it small.
var nearBytes = 4 << 20

// weightsAfter returns the part of the weights that is read after steps k to k+ks of
// panel q.
func (j *slide[T]) weightsAfter(q, q0, q1, k, ks int) unsafe.Pointer {
	if q++; q == q1 {
		q, k = q0, (k+ks)%j.k
	}
	return unsafe.Add(j.p, (q*j.k+k)*j.panelW*int(unsafe.Sizeof(T(0))))
}

// pack packs steps k to k+ks of a tile's windows into dst; copied is room for
// windows that aren't packed straight into it.
func (j *slide[T]) pack(dst, copied unsafe.Pointer, x *slideTile, k, ks int) {
	size := int(unsafe.Sizeof(T(0)))
	apart := uintptr(x.rows * runBytes)
	pitch, step := uintptr(j.pitch()), uintptr(j.Positions[3].Src*size)
	for row := 0; row < x.rows; {
		// The rows up to the end of the last axis are a fixed step apart.
		first := x.first + row
		n := min(x.rows-row, j.Positions[3].N-first%j.Positions[3].N)
		src := x.src
		if row > 0 {
			at, _ := j.place(first)
			src = unsafe.Add(j.src, at*size)
		}
		i, at := k/j.Run, k%j.Run
		for done := 0; done < ks; {
			cols := min(j.Run-at, ks-done)
			from := unsafe.Add(src, (j.run(i)+at)*size)
			if j.wholeRuns {
				packRuns(j.path, size, unsafe.Add(dst, row*runBytes+done*size/runBytes*int(apart)), from, apart, step, cols, n)
			} else {
				packColumns(j.path, size, unsafe.Add(copied, row*int(pitch)+done*size), from, pitch, step, cols, n)
			}
			done += cols
			i, at = i+1, 0
		}
		row += n
	}
	if !j.wholeRuns {
		packRuns(j.path, size, dst, copied, apart, pitch, ks, x.rows)
	}
}
