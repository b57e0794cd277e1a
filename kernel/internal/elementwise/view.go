package elementwise

import (
	"unsafe"

	"github.com/cairnml/cairn/tensor"
)

// View returns a tensor's storage as words of type T, not a copy, for kernels that
// move elements without reading them. T has the elements' size. The storage is
// aligned for elements of that size, up to 8 bytes. Strings have none: the result
// is nil.
func View[T any](t *tensor.Tensor) []T {
	b := t.Bytes()
	var z T
	n := len(b) / int(unsafe.Sizeof(z))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}

// elements returns the same as [tensor.Values], and is faster than it, for a caller
// that knows d, the DType of T.
func elements[T tensor.Element](t *tensor.Tensor, d tensor.DType) []T {
	if d.Fixed() && t.DType() == d {
		return View[T](t)
	}
	return tensor.Values[T](t)
}
