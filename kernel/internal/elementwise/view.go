package elementwise

import (
	"unsafe"

	"github.com/cairnml/cairn/tensor"
)

// View returns a tensor's storage as words of type T, for kernels that move
// elements without reading them. T has the elements' size.
func View[T any](t *tensor.Tensor) []T {
	b := t.Bytes()
	var z T
	n := len(b) / int(unsafe.Sizeof(z))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}

// elements returns [tensor.Values], for a caller that already knows the type of
// T's elements, d.
func elements[T tensor.Element](t *tensor.Tensor, d tensor.DType) []T {
	if d.Fixed() && t.DType() == d {
		return View[T](t)
	}
	return tensor.Values[T](t)
}
