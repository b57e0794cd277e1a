//go:build amd64 && !noasm

package simd

import "unsafe"

// Package vec calls MaxPool and MaxPoolGrad, after [Pool.Check]. It does the
// channels that they leave, by Go loops that give the same bits.

// pooled is the argument of the loops of pooling: a [Pool] with all steps in
// bytes. The assembly knows the offsets of the fields, as _asm/pool.go lists them.
type pooled struct {
	x, out, grad unsafe.Pointer // out: the results, or with a gradient the array to which it is added
	taps         unsafe.Pointer // for each tap the offset in x from a place's first element, in bytes
	count        uintptr        // of taps
	places       uintptr        // the number of windows of this call
	step, row    uintptr        // bytes between places of x, and of the results
	bytes        uintptr        // of channels, a multiple of a vector's
}

// run runs the loop for elements of a size.
func (t *pooled) run(size int) {
	switch {
	case size == 4 && t.grad == nil:
		maxPoolF32(t)
	case size == 4:
		maxPoolGradF32(t)
	case t.grad == nil:
		maxPoolF64(t)
	default:
		maxPoolGradF64(t)
	}
}

// MaxPool sets dst to the largest element of each window, see [Pool], to the
// first one of several. If the first tap is NaN, the result is NaN. It does the
// first channels of all places and returns their number: 0 for other element
// types than float32 and float64. The slices aren't empty.
func MaxPool[T any](dst, x []T, p *Pool) int {
	return pool(unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), nil, p, dst)
}

// MaxPoolGrad adds each element of dy to the element of out at the position of
// the window's largest in x, as [MaxPool] finds it. It does the channels whose
// number it returns, as MaxPool does.
func MaxPoolGrad[T any](out, x, dy []T, p *Pool) int {
	return pool(unsafe.Pointer(&out[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&dy[0]), p, out)
}

// pool runs the loop for the type of out's elements, with a gradient unless
// grad is nil.
func pool[T any](out, x, grad unsafe.Pointer, p *Pool, of []T) int {
	var z T
	size := int(unsafe.Sizeof(z))
	switch any(z).(type) {
	case float32, float64:
	default:
		return 0
	}
	n := start(p.Channels, 32/size)
	if n == 0 {
		return 0
	}
	var near [64]uintptr
	taps := near[:]
	if len(p.Taps) > len(near) {
		taps = make([]uintptr, len(p.Taps))
	}
	for i, t := range p.Taps {
		taps[i] = uintptr(t * size)
	}
	// A call of assembly reads about 8*piece elements, so that it stays short: the
	// scheduler can't stop it.
	block := min(n, max(8*piece/len(p.Taps)&^7, 8))
	places := max(1, 8*piece/(len(p.Taps)*block))
	for from := 0; from < p.Places; from += places {
		for c := 0; c < n; c += block {
			at, row := (from*p.Step+c)*size, (from*p.Channels+c)*size
			t := pooled{
				x: unsafe.Add(x, at), taps: unsafe.Pointer(&taps[0]), count: uintptr(len(p.Taps)),
				places: uintptr(min(places, p.Places-from)), step: uintptr(p.Step * size), row: uintptr(p.Channels * size),
				bytes: uintptr(min(block, n-c) * size),
			}
			if grad == nil {
				t.out = unsafe.Add(out, row)
			} else {
				t.out, t.grad = unsafe.Add(out, at), unsafe.Add(grad, row)
			}
			t.run(size)
		}
	}
	return n
}
