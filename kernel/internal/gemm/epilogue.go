package gemm

import (
	"fmt"
	"math"
	"unsafe"
)

// The steps after a product, applied tile by tile.

// Epilogue has the steps that are applied to the elements of a product while
// they are in the cache. Each step is rounded by itself, in the order of the
// fields. The zero Epilogue does nothing.
type Epilogue[T float32 | float64] struct {
	Bias []T // added to each row; nil: nothing
	Add  []T // added element by element, laid out as the destination; nil: nothing
	// Clamp bounds each element by Low and High. NaN stays NaN.
	Clamp     bool
	Low, High T
	Map       func(row []T) // applied to the elements of a row in place, in any pieces; nil: nothing
}

func (e *Epilogue[T]) none() bool {
	return e == nil || e.Bias == nil && e.Add == nil && !e.Clamp && e.Map == nil
}

// From returns the epilogue of the columns from col on, or nil for a nil
// epilogue.
func (e *Epilogue[T]) From(col int) *Epilogue[T] {
	if e == nil || e.Bias == nil || col == 0 {
		return e
	}
	part := *e
	part.Bias = e.Bias[col:]
	return &part
}

// Rows applies the epilogue to elements from up to to of dst: whole rows of
// cols elements, one after the other. A nil epilogue does nothing.
func (e *Epilogue[T]) Rows(dst []T, from, to, cols int) {
	if e.none() || to <= from {
		return
	}
	f := newFinisher(e, Path(current.Load()), dst, cols)
	size := int(unsafe.Sizeof(T(0)))
	for col := 0; col < cols; col += len(neutral64) {
		f.add(unsafe.Add(f.dst, (from+col)*size), uintptr(cols*size), (to-from)/cols, col, min(len(neutral64), cols-col))
	}
	if e.Map != nil {
		e.Map(dst[from:to])
	}
}

// neutral changes nothing when it is added: not even the sign of a zero.
var (
	neutral32 = filled(float32(math.Copysign(0, -1)))
	neutral64 = filled(math.Copysign(0, -1))
)

func filled[T any](x T) (v [64]T) {
	for i := range v {
		v[i] = x
	}
	return v
}

// finisher is an Epilogue made ready for the tiles of one product.
type finisher[T float32 | float64] struct {
	*Epilogue[T]
	path      Path
	dst       unsafe.Pointer // the destination, whose layout Add has
	neutral   unsafe.Pointer
	low, high T
}

// newFinisher returns the finisher for dst; it does nothing if the epilogue
// does nothing.
func newFinisher[T float32 | float64](e *Epilogue[T], path Path, dst []T, cols int) (f finisher[T]) {
	if e.none() {
		return f
	}
	if e.Bias != nil && len(e.Bias) < cols || e.Add != nil && len(e.Add) < len(dst) {
		panic(fmt.Sprintf("BUG: gemm: a bias of %d elements for %d columns, %d elements to be added to %d", len(e.Bias), cols, len(e.Add), len(dst)))
	}
	f = finisher[T]{Epilogue: e, path: path, dst: unsafe.Pointer(unsafe.SliceData(dst)), low: e.Low, high: e.High}
	f.neutral = unsafe.Pointer(&neutral64)
	if unsafe.Sizeof(T(0)) == 4 {
		f.neutral = unsafe.Pointer(&neutral32)
	}
	if !e.Clamp {
		f.low, f.high = T(math.Inf(-1)), T(math.Inf(1))
	}
	return f
}

// addend returns the address of the summand of the element at c.
func (f *finisher[T]) addend(c unsafe.Pointer) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(f.Add)), uintptr(c)-uintptr(f.dst))
}

// begin lets the kernel apply the epilogue to tiles of the columns from col on,
// if it can; place sets the address for each tile, and block applies the rest.
func (f *finisher[T]) begin(t *tile, col int) {
	if f.path == Generic || f.Bias == nil && f.Add == nil && !f.Clamp {
		return
	}
	t.finish, t.bias = 1, f.neutral
	if f.Bias != nil {
		t.bias = unsafe.Pointer(&f.Bias[col])
	}
	*(*T)(unsafe.Pointer(&t.low)), *(*T)(unsafe.Pointer(&t.high)) = f.low, f.high
}

// place sets the address of the tile's summand.
func (f *finisher[T]) place(t *tile) {
	if f.Add != nil {
		t.addend = f.addend(t.c)
	}
}

// block applies the rest of the epilogue to rows × cols elements at c, cRow
// bytes apart, in columns from col on. cols is at most the width of a panel.
func (f *finisher[T]) block(c unsafe.Pointer, cRow uintptr, rows, col, cols int) {
	if f.path == Generic {
		f.add(c, cRow, rows, col, cols)
	}
}

// mapRows applies the Map to rows of cols elements at c, cRow bytes apart.
func (f *finisher[T]) mapRows(c unsafe.Pointer, cRow uintptr, rows, cols int) {
	if f.Epilogue == nil || f.Map == nil {
		return
	}
	for i := range rows {
		f.Map(unsafe.Slice((*T)(unsafe.Add(c, uintptr(i)*cRow)), cols))
	}
}

// add adds and bounds by the epilogue.
func (f *finisher[T]) add(c unsafe.Pointer, cRow uintptr, rows, col, cols int) {
	bias, add, addRow := f.neutral, f.neutral, uintptr(0)
	if f.Bias != nil {
		bias = unsafe.Pointer(&f.Bias[col])
	}
	if f.Add != nil {
		add, addRow = f.addend(c), cRow
	}
	if f.Bias != nil || f.Add != nil || f.Clamp {
		finish(f.path, c, cRow, rows, cols, bias, add, addRow, &f.low, &f.high)
	}
}

// AddRows adds rows of cols elements, srcStep apart, to those of dst, dstStep apart,
// which don't overlap.
func AddRows[T float32 | float64](dst []T, dstStep int, src []T, srcStep, rows, cols int) {
	check("dst", len(dst), dstStep, rows, cols, false)
	check("src", len(src), srcStep, rows, cols, false)
	if rows == 0 || cols == 0 {
		return
	}
	f := newFinisher(&Epilogue[T]{Add: src}, Path(current.Load()), dst[:0], 0)
	size := int(unsafe.Sizeof(T(0)))
	for col := 0; col < cols; col += len(neutral64) {
		finish(f.path, unsafe.Pointer(&dst[col]), uintptr(dstStep*size), rows, min(len(neutral64), cols-col), f.neutral, unsafe.Pointer(&src[col]), uintptr(srcStep*size), &f.low, &f.high)
	}
}

// genericFinish computes c = min(max(c + bias + add, low), high) for a block.
func genericFinish[T float32 | float64](c unsafe.Pointer, cRow uintptr, rows, cols int, bias, add unsafe.Pointer, addRow uintptr, low, high T) {
	b := unsafe.Slice((*T)(bias), cols)
	for i := range uintptr(rows) {
		x := unsafe.Slice((*T)(unsafe.Add(c, i*cRow)), cols)
		y := unsafe.Slice((*T)(unsafe.Add(add, i*addRow)), cols)
		for j, v := range x {
			v = v + b[j] + y[j]
			if v < low {
				v = low
			}
			if v > high {
				v = high
			}
			x[j] = v
		}
	}
}
