// Package signal implements the kernels of signal processing: Fourier transforms,
// spectrograms, the sound of WAV files.
package signal

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/fft"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of FFT, IFFT, RFFT, IRFFT, BatchFFT and BatchIFFT in one to three
// dimensions. All compute in double precision, also for complex64.

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	var table []engine.Kernel
	for i, rank := range []string{"", "2D", "3D"} {
		for _, op := range []string{"FFT", "IFFT", "RFFT", "IRFFT", "BatchFFT", "BatchIFFT"} {
			table = append(table, engine.Kernel{Op: op + rank, Run: transform(op, i+1), Precision: engine.Accumulated})
		}
	}
	return append(table,
		engine.Kernel{Op: "AudioSpectrogram", Run: spectrogram, Precision: engine.Accumulated},
		engine.Kernel{Op: "Mfcc", Run: mfcc, Precision: engine.Accumulated},
		engine.Kernel{Op: "DecodeWav", Run: decodeWav},
		engine.Kernel{Op: "EncodeWav", Run: encodeWav},
		engine.Kernel{Op: "AudioSummary", Run: summary},
		engine.Kernel{Op: "AudioSummaryV2", Run: summary}, engine.Kernel{Op: "WriteAudioSummary", Run: writeSummary})
}

// transform returns the Fourier transforms of the last rank dimensions.
func transform(op string, rank int) func(*engine.Call) error {
	inverse := strings.Contains(op, "IFFT") || op == "IRFFT"
	switch op {
	case "RFFT":
		return func(c *engine.Call) error { return ofReal(c, rank) }
	case "IRFFT":
		return func(c *engine.Call) error { return toReal(c, rank) }
	}
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		s := c.In(0).Shape()
		if len(s) < rank {
			return fmt.Errorf("the input has shape %v, of fewer than %d dimensions", s, rank)
		}
		z, err := cropped[complex128](c, c.In(0), s)
		if err != nil {
			return err
		}
		for axis := len(s) - rank; axis < len(s); axis++ {
			along(c, z, s, axis, inverse)
		}
		return store(c, z, s)
	}
}

// lengths reads the lengths of a real transform, and checks that the input has
// as many elements along each dimension. If half is set, the last dimension has
// only the first half of them.
func lengths(c *engine.Call, rank int, half bool) (n tensor.Shape, err error) {
	if err := c.Need(2); err != nil {
		return nil, err
	}
	s := c.In(0).Shape()
	n, err = shapes.Dims(c.In(1), "fft_length", 0)
	if err != nil {
		return nil, err
	}
	if len(n) != rank || len(s) < rank {
		return nil, fmt.Errorf("fft_length %v and an input of shape %v aren't for %d dimensions", n, s, rank)
	}
	for i, want := range n {
		if i == rank-1 && half && want > 0 {
			want = want/2 + 1
		}
		if d := len(s) - rank + i; s[d] < want && shapes.Count(n) > 0 {
			return nil, fmt.Errorf("dimension %d of the input has %d elements, fewer than %d", d, s[d], want)
		}
	}
	return n, nil
}

// ofReal keeps the half of the transform that real numbers determine.
func ofReal(c *engine.Call, rank int) error {
	n, err := lengths(c, rank, false)
	if err != nil {
		return err
	}
	s := append(c.In(0).Shape()[:len(c.In(0).Shape())-rank].Clone(), n...)
	dims := s.Clone()
	last := len(s) - 1
	dims[last] = shape.Half(s[last])
	x, err := cropped[float64](c, c.In(0), s)
	if err != nil {
		return err
	}
	if len(x) == 0 {
		return store[complex128](c, nil, dims)
	}
	size, k := s[last], dims[last]
	c.Fits(size, fft.PlanSize)
	plan, z := fft.New(size, c.Check), make([]complex128, shapes.Count(dims))
	c.Parallel(len(x)/size, float64(size)*perElement/2, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			plan.Real(z[i*k:(i+1)*k], x[i*size:(i+1)*size])
		}
	})
	for axis := len(s) - rank; axis < last; axis++ {
		along(c, z, dims, axis, false)
	}
	return store(c, z, dims)
}

// toReal completes half of a transform to that of real numbers, and inverts it.
func toReal(c *engine.Call, rank int) error {
	n, err := lengths(c, rank, true)
	if err != nil {
		return err
	}
	dims := append(c.In(0).Shape()[:len(c.In(0).Shape())-rank].Clone(), n...)
	half := dims.Clone()
	last := len(dims) - 1
	half[last] = shape.Half(dims[last])
	if shapes.Count(dims) == 0 {
		return store[float64](c, nil, dims)
	}
	z, err := cropped[complex128](c, c.In(0), half)
	if err != nil {
		return err
	}
	for axis := len(dims) - rank; axis < last; axis++ {
		along(c, z, half, axis, true)
	}
	size, k := dims[last], half[last]
	c.Fits(size, fft.PlanSize)
	plan, x := fft.New(size, c.Check), make([]float64, len(z)/k*size)
	c.Parallel(len(z)/k, float64(size)*perElement/2, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			plan.RealInverse(x[i*size:(i+1)*size], z[i*k:(i+1)*k])
		}
	})
	return store(c, x, dims)
}

// cropped returns the first elements of a tensor along each dimension.
func cropped[T float64 | complex128](c *engine.Call, x *tensor.Tensor, dims tensor.Shape) ([]T, error) {
	v, err := widened[T](c, x)
	if err != nil {
		return nil, err
	}
	if x.Shape().Equal(dims) {
		return v, nil
	}
	out := make([]T, shapes.Count(dims))
	strides := shapes.Strides(x.Shape())
	index := make([]int, len(dims))
	for i := range out {
		c.Step(i)
		from := 0
		for d, k := range index {
			from += k * strides[d]
		}
		out[i] = v[from]
		for d := len(dims) - 1; d >= 0; d-- {
			if index[d]++; index[d] < dims[d] {
				break
			}
			index[d] = 0
		}
	}
	return out, nil
}

// widened returns a copy of the elements as float64 or complex128. It checks the context between
// parts.
func widened[T float64 | complex128](c *engine.Call, x *tensor.Tensor) ([]T, error) {
	out := make([]T, x.Len())
	var err error
	switch x.DType() {
	case tensor.Float32:
		err = widen(c, out, tensor.Values[float32](x))
	case tensor.Float64:
		err = widen(c, out, tensor.Values[float64](x))
	case tensor.Complex64:
		err = widen(c, out, tensor.Values[complex64](x))
	default:
		err = widen(c, out, tensor.Values[complex128](x))
	}
	return out, err
}

func widen[T, S tensor.Element](c *engine.Call, dst []T, src []S) error {
	const part = 1 << 18
	for at := 0; at < len(src); at += part {
		c.Check()
		some := src[at:min(at+part, len(src))]
		x, err := tensor.New(some, len(some))
		if err != nil {
			return err
		}
		wide, err := tensor.Cast(x, tensor.TypeOf[T]())
		if err != nil {
			return err
		}
		copy(dst[at:], tensor.Values[T](wide))
	}
	return nil
}

// perElement is about the time of an element of a transform, in nanoseconds.
const perElement = 30

// along transforms each line of one axis.
func along(c *engine.Call, z []complex128, s tensor.Shape, axis int, inverse bool) {
	n := s[axis]
	if len(z) == 0 || n <= 1 {
		return
	}
	c.Fits(n, fft.PlanSize)
	plan := fft.New(n, c.Check)
	step := shapes.Count(s[axis+1:])
	transform := plan.Forward
	if inverse {
		transform = plan.Inverse
	}
	c.Parallel(len(z)/n, float64(n)*perElement, func(lo, hi int) {
		if step == 1 {
			for i := lo; i < hi; i++ {
				transform(z[i*n : (i+1)*n])
			}
			return
		}
		line := make([]complex128, n)
		for i := lo; i < hi; i++ {
			at := i/step*n*step + i%step
			for k := range line {
				line[k] = z[at+k*step]
			}
			transform(line)
			for k, v := range line {
				z[at+k*step] = v
			}
		}
	})
}

// store sets output 0 to numbers, in the op's type.
func store[T float64 | complex128](c *engine.Call, v []T, dims tensor.Shape) error {
	d := c.Attrs().Type("Tcomplex", tensor.Complex64)
	if strings.HasPrefix(c.Op(), "IRFFT") {
		d = c.Attrs().Type("Treal", tensor.Float32)
	}
	out, err := c.Alloc(0, d, dims)
	if err != nil {
		return err
	}
	switch v := any(v).(type) {
	case []float64:
		switch d {
		case tensor.Float32:
			to := tensor.Values[float32](out)
			for i, x := range v {
				to[i] = float32(x)
			}
			return nil
		case tensor.Float64:
			copy(tensor.Values[float64](out), v)
			return nil
		}
	case []complex128:
		switch d {
		case tensor.Complex64:
			to := tensor.Values[complex64](out)
			for i, z := range v {
				to[i] = complex64(z)
			}
			return nil
		case tensor.Complex128:
			copy(tensor.Values[complex128](out), v)
			return nil
		}
	}
	return fmt.Errorf("isn't defined for %v", d)
}
