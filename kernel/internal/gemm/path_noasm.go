//go:build !amd64 || noasm

package gemm

import "unsafe"

// The functions of path_amd64.go for other machines and the build tag noasm.

func available() []Path { return []Path{Generic} }

func (t *tile) run(_ Path, size, rows, cols int) { t.generic(size, rows, cols) }

func (t *tile) dots(Path, int) bool { return false }

func packColumns(_ Path, size int, dst, src unsafe.Pointer, dstRow, srcRow uintptr, cols, k int) {
	genericPackColumns(size, dst, src, dstRow, srcRow, cols, k)
}

func packRows(_ Path, size int, dst, src unsafe.Pointer, dstRow, srcRow uintptr, rows, k int) {
	genericPackRows(size, dst, src, dstRow, srcRow, rows, k)
}

func packRuns(_ Path, size int, dst, src unsafe.Pointer, step, srcRow uintptr, cols, rows int) {
	genericPackRuns(size, dst, src, step, srcRow, cols, rows)
}

func finish[T float32 | float64](_ Path, c unsafe.Pointer, cRow uintptr, rows, cols int, bias, add unsafe.Pointer, addRow uintptr, low, high *T) {
	genericFinish(c, cRow, rows, cols, bias, add, addRow, *low, *high)
}

// fetchLines does nothing: portable Go has no hints for caches.
func fetchLines(unsafe.Pointer, uintptr, int, int) {}
