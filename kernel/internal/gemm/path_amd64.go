//go:build !noasm

package gemm

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// The calls of the assembly. path_noasm.go has the same functions in plain Go;
// a function is changed in both.

// available lists the paths, the fastest last.
func available() []Path {
	paths := []Path{Generic}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		paths = append(paths, AVX2)
		if cpu.X86.HasAVX512F {
			paths = append(paths, AVX512)
		}
	}
	return paths
}

// run computes one tile of rows × cols.
func (t *tile) run(p Path, size, rows, cols int) {
	if p == Generic {
		t.generic(size, rows, cols)
		return
	}
	// Whole divisions would take as long as some steps of a tile.
	shift := uint(3)
	if size == 8 {
		shift--
	}
	if p == AVX512 {
		shift++
	}
	vecs := (cols-1)>>shift + 1
	t.last = uintptr(cols - (vecs-1)<<shift)
	switch {
	case p == AVX512 && size == 4:
		tileF32AVX512(rows, vecs, t)
	case p == AVX512:
		tileF64AVX512(rows, vecs, t)
	case size == 4:
		tileF32AVX2(rows, vecs, t)
	default:
		tileF64AVX2(rows, vecs, t)
	}
}

// dots computes one row of a full panel of a transposed B; t.bRow is the
// distance between its columns. It reports false, having done nothing, if the
// path or the shape has no such kernel.
func (t *tile) dots(p Path, size int) bool {
	switch {
	case p == Generic || t.k < uintptr(16/size):
		return false
	case p == AVX512 && size == 4:
		dotsF32AVX512(t)
	case p == AVX512:
		dotsF64AVX512(t)
	case size == 4:
		dotsF32AVX2(t)
	default:
		dotsF64AVX2(t)
	}
	return true
}

// packColumns packs as [genericPackColumns] does, by vectors. The last vector
// of a row may write beyond it: the next row, written later, corrects that, or
// it is in the slack after a buffer.
func packColumns(p Path, size int, dst, src unsafe.Pointer, dstRow, srcRow uintptr, cols, k int) {
	if p == Generic {
		genericPackColumns(size, dst, src, dstRow, srcRow, cols, k)
		return
	}
	lanes := 32 / size
	n := (cols - 1) / lanes
	if size == 4 {
		copyF32(dst, src, dstRow, srcRow, n, cols-n*lanes, k)
	} else {
		copyF64(dst, src, dstRow, srcRow, n, cols-n*lanes, k)
	}
}

// packRows packs as [genericPackRows] does, by blocks that are transposed in
// registers. Blocks write whole vectors. The rightmost block, which is done
// first, may write beyond the rows. Later writes of the next row overwrite
// that, or it is in the slack after a buffer.
func packRows(p Path, size int, dst, src unsafe.Pointer, dstRow, srcRow uintptr, rows, k int) {
	lanes := 32 / size
	if p == Generic || k < lanes {
		genericPackRows(size, dst, src, dstRow, srcRow, rows, k)
		return
	}
	for r := (rows - 1) / lanes * lanes; r >= 0; r -= lanes {
		d, s := unsafe.Add(dst, r*size), unsafe.Add(src, uintptr(r)*srcRow)
		if size == 4 {
			transposeF32(d, s, dstRow, srcRow, rows-r, k)
		} else {
			transposeF64(d, s, dstRow, srcRow, rows-r, k)
		}
	}
}

// packRuns packs as [genericPackRuns] does, by vectors.
func packRuns(p Path, size int, dst, src unsafe.Pointer, step, srcRow uintptr, cols, rows int) {
	if p == Generic {
		genericPackRuns(size, dst, src, step, srcRow, cols, rows)
		return
	}
	lanes := runBytes / size
	n := (cols - 1) / lanes
	if size == 4 {
		runsF32(dst, src, step, srcRow, n, cols-n*lanes, rows)
	} else {
		runsF64(dst, src, step, srcRow, n, cols-n*lanes, rows)
	}
}

// finish applies an epilogue as [genericFinish] does.
func finish[T float32 | float64](p Path, c unsafe.Pointer, cRow uintptr, rows, cols int, bias, add unsafe.Pointer, addRow uintptr, low, high *T) {
	size := int(unsafe.Sizeof(T(0)))
	lanes := 32 / size
	if p == AVX512 {
		lanes = 64 / size
	}
	vecs := (cols + lanes - 1) / lanes
	last := cols - (vecs-1)*lanes
	switch {
	case p == Generic:
		genericFinish(c, cRow, rows, cols, bias, add, addRow, *low, *high)
	case p == AVX512 && size == 4:
		finishF32AVX512(c, cRow, rows, vecs, last, bias, add, addRow, unsafe.Pointer(low), unsafe.Pointer(high))
	case p == AVX512:
		finishF64AVX512(c, cRow, rows, vecs, last, bias, add, addRow, unsafe.Pointer(low), unsafe.Pointer(high))
	case size == 4:
		finishF32AVX2(c, cRow, rows, vecs, last, bias, add, addRow, unsafe.Pointer(low), unsafe.Pointer(high))
	default:
		finishF64AVX2(c, cRow, rows, vecs, last, bias, add, addRow, unsafe.Pointer(low), unsafe.Pointer(high))
	}
}
