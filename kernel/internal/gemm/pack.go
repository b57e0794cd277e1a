package gemm

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/cairnml/cairn/internal/idle"
)

// Copies of parts of operands into the order in which tiles read them. They move bits and never
// compute.

// genericPackColumns copies k rows of cols elements, srcRow bytes apart, to
// rows dstRow bytes apart: a panel of an operand that isn't transposed.
func genericPackColumns(size int, dst, src unsafe.Pointer, dstRow, srcRow uintptr, cols, k int) {
	for p := range uintptr(k) {
		d, s := unsafe.Add(dst, p*dstRow), unsafe.Add(src, p*srcRow)
		if size == 4 {
			copy(unsafe.Slice((*float32)(d), cols), unsafe.Slice((*float32)(s), cols))
		} else {
			copy(unsafe.Slice((*float64)(d), cols), unsafe.Slice((*float64)(s), cols))
		}
	}
}

// genericPackRows writes rows rows of k contiguous elements, srcRow bytes
// apart, as k rows of rows elements, dstRow bytes apart: the same panel of a
// transposed operand.
func genericPackRows(size int, dst, src unsafe.Pointer, dstRow, srcRow uintptr, rows, k int) {
	if size == 4 {
		transposeGeneric[float32](dst, src, dstRow, srcRow, rows, k)
	} else {
		transposeGeneric[float64](dst, src, dstRow, srcRow, rows, k)
	}
}

func transposeGeneric[T float](dst, src unsafe.Pointer, dstRow, srcRow uintptr, rows, k int) {
	for r := range rows {
		row := unsafe.Slice((*T)(unsafe.Add(src, uintptr(r)*srcRow)), k)
		d := unsafe.Add(dst, uintptr(r)*unsafe.Sizeof(row[0]))
		for p, x := range row {
			*(*T)(unsafe.Add(d, uintptr(p)*dstRow)) = x
		}
	}
}

// runBytes is the length of a run. An A that many panels need is packed in runs
// of a tile's rows: first all rows' first runs, then all second ones. Then
// eight steps of float32 are read from one place, and the rows never meet in a
// few sets of the cache, whatever their addresses were. Packing moves whole
// vectors.
const runBytes = 32

// genericPackRuns packs rows rows of cols elements, srcRow bytes apart, in runs
// that are step bytes apart. The rest of the last run may have any contents.
func genericPackRuns(size int, dst, src unsafe.Pointer, step, srcRow uintptr, cols, rows int) {
	for r := range rows {
		d := unsafe.Add(dst, r*runBytes)
		s := unsafe.Slice((*byte)(unsafe.Add(src, uintptr(r)*srcRow)), cols*size)
		for len(s) > 0 {
			n := copy(unsafe.Slice((*byte)(d), runBytes), s)
			if s = s[n:]; len(s) > 0 {
				d = unsafe.Add(d, step)
			}
		}
	}
}

// slack is the number of bytes that packing may write after its output: one
// vector.
const slack = 64

// Packed panels are kept between products, by power of two of their size: fresh memory
// would have to be zeroed and collected for every product. Large ones are for all
// processors, and stay as long as they are in use.
var (
	smallBuffers [largeBuffer]sync.Pool
	largeBuffers [64]idle.List[*buffer]
)

// largeBuffer is the power of two of the size from which on a buffer is large.
const largeBuffer = 16

// buffer is pooled memory, at least as aligned as a cache line.
type buffer struct {
	p     unsafe.Pointer
	mem   []uint64
	class int
}

const lineSize = 64

// getBuffer returns a buffer of at least n bytes and some slack.
func getBuffer(n int) *buffer {
	class := bits.Len(uint(n + slack + lineSize - 1))
	if class >= largeBuffer {
		if b, ok := largeBuffers[class].Get(); ok {
			return b
		}
	} else if b, ok := smallBuffers[class].Get().(*buffer); ok {
		return b
	}
	b := &buffer{mem: make([]uint64, 1<<class/8), class: class}
	b.p = unsafe.Pointer(unsafe.SliceData(b.mem))
	if off := uintptr(b.p) % lineSize; off != 0 {
		b.p = unsafe.Add(b.p, lineSize-off)
	}
	return b
}

// put returns the buffer to its pool.
func (b *buffer) put() {
	if b.class >= largeBuffer {
		largeBuffers[b.class].Put(b)
	} else {
		smallBuffers[b.class].Put(b)
	}
}

// Borrow returns n elements of pooled memory with any contents. They are valid
// until free is called.
func Borrow[T float32 | float64](n int) (v []T, free func()) {
	b := getBuffer(n * int(unsafe.Sizeof(T(0))))
	return unsafe.Slice((*T)(b.p), n), b.put
}
