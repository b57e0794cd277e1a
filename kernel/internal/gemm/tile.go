package gemm

import "unsafe"

// tile is the argument of a micro-kernel: the addresses of the operands of one
// tile of C and the distances between their elements, in bytes. The assembly
// knows the offsets of the fields: _asm/main.go lists them.
type tile struct {
	a, b, c    unsafe.Pointer
	aRow, aCol uintptr // between rows of A, between steps of k
	aRun       uintptr // not 0: A is packed in runs, whose steps are so many bytes apart
	bRow       uintptr // between steps of k; a row of B is contiguous
	cRow       uintptr
	k          uintptr // at least 1
	last       uintptr // columns in the last vector, set by run
	add        uintptr // not 0: add to C
	next       uintptr // a quarter of a panel to be fetched to the L2 cache, if A is packed in runs; it may be any address, so it is no pointer

	// The epilogue, if finish is not 0; only the assembly of tiles of up to two
	// vectors knows it.
	finish    uintptr
	bias      unsafe.Pointer // a row
	addend    unsafe.Pointer // laid out as c; nil: none
	low, high uint64         // elements
}

// generic computes the tile in plain Go; size is that of an element in bytes.
func (t *tile) generic(size, rows, cols int) {
	if size == 4 {
		tileGeneric[float32](t, rows, cols)
	} else {
		tileGeneric[float64](t, rows, cols)
	}
}

// tileGeneric runs the micro-kernel in plain Go, the reference for the others:
//
//	for i in [0, rows), j in [0, cols):
//		s := 0
//		for p in [0, k):
//			s += a[i, p]·b[p, j]
//		c[i, j] = s, or c[i, j] + s
//
// The assembly rounds once in a step (a fused multiply-add), this twice: the
// conversions forbid the compiler to fuse, which it would do on some
// architectures and not on others.
func tileGeneric[T float](t *tile, rows, cols int) {
	if rows == 2 && cols == 4 {
		tileGeneric2x4[T](t)
		return
	}
	size := unsafe.Sizeof(T(0))
	run := t.runLength(size)
	for i := range rows {
		c := unsafe.Add(t.c, uintptr(i)*t.cRow)
		for j := range cols {
			var s T
			for first := uintptr(0); first < t.k; first += run {
				a := unsafe.Add(t.a, uintptr(i)*t.aRow+first/run*t.aRun)
				b := unsafe.Add(t.b, first*t.bRow+uintptr(j)*size)
				for p := range min(run, t.k-first) {
					s += T(*(*T)(unsafe.Add(a, p*t.aCol)) * *(*T)(unsafe.Add(b, p*t.bRow)))
				}
			}
			put(t, (*T)(unsafe.Add(c, uintptr(j)*size)), s)
		}
	}
}

// runLength returns the number of steps of k that are aCol apart.
func (t *tile) runLength(size uintptr) uintptr {
	if t.aRun == 0 {
		return t.k
	}
	return runBytes / size
}

func tileGeneric2x4[T float](t *tile) {
	var s00, s01, s02, s03, s10, s11, s12, s13 T
	run := t.runLength(unsafe.Sizeof(T(0)))
	for first := uintptr(0); first < t.k; first += run {
		a0 := unsafe.Add(t.a, first/run*t.aRun)
		b0 := unsafe.Add(t.b, first*t.bRow)
		for p := range min(run, t.k-first) {
			b := (*[4]T)(unsafe.Add(b0, p*t.bRow))
			a := unsafe.Add(a0, p*t.aCol)
			x := *(*T)(a)
			y := *(*T)(unsafe.Add(a, t.aRow))
			s00 += T(x * b[0])
			s01 += T(x * b[1])
			s02 += T(x * b[2])
			s03 += T(x * b[3])
			s10 += T(y * b[0])
			s11 += T(y * b[1])
			s12 += T(y * b[2])
			s13 += T(y * b[3])
		}
	}
	c := (*[4]T)(t.c)
	put(t, &c[0], s00)
	put(t, &c[1], s01)
	put(t, &c[2], s02)
	put(t, &c[3], s03)
	c = (*[4]T)(unsafe.Add(t.c, t.cRow))
	put(t, &c[0], s10)
	put(t, &c[1], s11)
	put(t, &c[2], s12)
	put(t, &c[3], s13)
}

// put stores a sum, or adds it to the element of C.
func put[T float](t *tile, c *T, s T) {
	if t.add != 0 {
		s += *c
	}
	*c = s
}
