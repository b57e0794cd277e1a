package gemm

import "unsafe"

// Weights is a matrix packed as the right operand of products: the filter of a
// convolution, packed once and used by many calls. It never changes and is safe
// for concurrent use.
type Weights[T float32 | float64] struct {
	k, n   int  // rows and columns of the matrix
	path   Path // for which the panels are wide enough
	panelW int  // columns of a panel
	p      unsafe.Pointer
	mem    []T     // keeps the memory of p alive
	lent   *buffer // or this does
}

// Pack packs the k×n matrix b: rows ldb elements apart or, with transB, n rows
// of k that are ldb apart.
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

// Packs reports whether a product of m rows by a matrix of k rows and n columns
// gains by a packed matrix. Without one it would pack the matrix first, or read
// it once from far memory: a panel's part of each row, each in another page of
// memory.
func Packs(m, n, k int) bool {
	return m > leanTiles*geometries[current.Load()][0].rows || n*k >= farWeights
}

// farWeights is the number of elements from which on a matrix is read from far
// memory. It decides the speed only.
const farWeights = 1 << 16

// Multiply computes C = A·weights for an A of m rows, lda elements apart, and a
// C whose rows are ldc apart, with the bits of [F32]. Then it applies the
// epilogue; nil means none.
func (w *Weights[T]) Multiply(c []T, ldc int, a []T, lda, m int, e *Epilogue[T], par Parallel) {
	one := Axis{N: 1}
	w.Slide(c, a, Windows{
		Positions: [4]Axis{one, one, one, {N: m, Src: lda, Dst: ldc}},
		Taps:      [3]Axis{one, one, one},
		Run:       w.k,
	}, e, par)
}

// PackTemporary packs as [Pack] does, into pooled memory, on par's workers.
// Free returns the memory to the pool.
func PackTemporary[T float32 | float64](b []T, ldb int, transB bool, k, n int, par Parallel) *Weights[T] {
	w := newWeights[T](k, n)
	w.lent = getBuffer(w.panels() * w.panelW * k * int(unsafe.Sizeof(T(0))))
	w.p = w.lent.p
	w.fill(b, ldb, transB, par)
	return w
}

// Free returns the memory of [PackTemporary] to the pool; the weights must not
// be used any more. It does nothing to those of [Pack].
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
