//go:build amd64 && !noasm

package simd

import "unsafe"

// strip is the argument of the loops of depthwise convolutions: [Taps] with all
// steps in bytes. They change it. The assembly knows the offsets of the fields.
type strip struct {
	dst, src, w         unsafe.Pointer
	rows, columns       uintptr
	rowStep, columnStep uintptr
	wRowStep, wStep     uintptr
	places, placeStep   uintptr
	dstStep             uintptr
	blocks              uintptr // of channels
	last                uintptr // channels of the last vector, of loops that leave lanes out
	finish              uintptr // not 0: there is an ending
	bias                unsafe.Pointer
	low, high           uint64 // elements
}

// run runs the loop for elements of a size, over blocks of one vector or two.
func (s *strip) run(size, vecs int) {
	switch {
	case wide && size == 4 && vecs == 2:
		depthwiseF32AVX512_2(s)
	case wide && size == 4:
		depthwiseF32AVX512_1(s)
	case wide && vecs == 2:
		depthwiseF64AVX512_2(s)
	case wide:
		depthwiseF64AVX512_1(s)
	case size == 4 && vecs == 2:
		depthwiseF32AVX2_2(s)
	case size == 4:
		depthwiseF32AVX2_1(s)
	case vecs == 2:
		depthwiseF64AVX2_2(s)
	default:
		depthwiseF64AVX2_1(s)
	}
}

// Depthwise computes a row of a depthwise convolution, see [Taps], for as many channels
// from the first on as it returns. A nil end is none.
func Depthwise[T any](dst, src, w []T, t *Taps, end *Ending[T]) int {
	if !enabled {
		return 0
	}
	var z T
	switch any(z).(type) {
	case float32, float64:
	default:
		return 0
	}
	var s strip
	if end != nil {
		s.finish, s.bias = 1, unsafe.Pointer(&end.Bias[0])
		*(*T)(unsafe.Pointer(&s.low)), *(*T)(unsafe.Pointer(&s.high)) = end.Low, end.High
	}
	return s.depthwise(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), unsafe.Pointer(&w[0]), int(unsafe.Sizeof(z)), t)
}

// depthwise runs the loops over elements of a size, with the same ending as end.
func (end *strip) depthwise(dst, src, w unsafe.Pointer, size int, t *Taps) int {
	lanes := 32 / size
	if wide {
		lanes = 64 / size
	}
	bytes := func(n int) uintptr { return uintptr(n * size) }
	// Pieces keep a call of assembly short.
	most := max(1, 8*piece/(t.Rows*t.Columns*min(t.Channels, 2*lanes)))
	for p := 0; p < t.Places; p += most {
		places := min(most, t.Places-p)
		for c := 0; c < t.Channels; {
			left := t.Channels - c
			vecs, blocks := 2, min(left/(2*lanes), max(1, 8*piece/(t.Rows*t.Columns*places*2*lanes)))
			if blocks == 0 {
				if left < lanes && !wide {
					break // the caller's loop does the rest
				}
				vecs, blocks = 1, 1
			}
			s := strip{
				dst: unsafe.Add(dst, (p*t.Channels+c)*size), src: unsafe.Add(src, (p*t.PlaceStep+c)*size), w: unsafe.Add(w, c*size),
				rows: uintptr(t.Rows), columns: uintptr(t.Columns), rowStep: bytes(t.RowStep), columnStep: bytes(t.ColumnStep),
				wRowStep: bytes(t.WeightStep), wStep: bytes(t.Channels),
				places: uintptr(places), placeStep: bytes(t.PlaceStep), dstStep: bytes(t.Channels),
				blocks: uintptr(blocks), last: uintptr(min(left, lanes)),
				finish: end.finish, bias: end.bias, low: end.low, high: end.high,
			}
			if s.finish != 0 {
				s.bias = unsafe.Add(s.bias, c*size)
			}
			s.run(size, vecs)
			c += min(left, blocks*vecs*lanes)
		}
	}
	if wide {
		return t.Channels
	}
	return t.Channels &^ (lanes - 1)
}
