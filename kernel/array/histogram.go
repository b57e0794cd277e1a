package array

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of HistogramFixedWidth and IsotonicRegression. The index of a bin is
// computed in float64 for all types. That must stay: the rounding decides the bin
// of a number at a boundary.

// histogram is the kernel of HistogramFixedWidth, by the type of the values.
var histogram = elementwise.ByType{
	tensor.Float32: histogramOf(itself[float32]), tensor.Float64: histogramOf(itself[float64]),
	tensor.Float16: histogramOf(tensor.F16.Float), tensor.BFloat16: histogramOf(tensor.BF16.Float),
	tensor.Int8: histogramOf(itself[int8]), tensor.Int16: histogramOf(itself[int16]), tensor.Int32: histogramOf(itself[int32]), tensor.Int64: histogramOf(itself[int64]),
	tensor.Uint8: histogramOf(itself[uint8]), tensor.Uint16: histogramOf(itself[uint16]), tensor.Uint32: histogramOf(itself[uint32]), tensor.Uint64: histogramOf(itself[uint64]),
}

// histogramOf counts the values in each of some bins of equal width; values
// outside of the range count in the first or the last bin.
func histogramOf[T tensor.Element, K vec.Real](key func(T) K) elementwise.Func {
	return func(c *engine.Call) error {
		if err := c.Need(3); err != nil {
			return err
		}
		x, limits := c.In(0), c.In(1)
		n, err := shapes.Int(c.In(2), "the number of bins")
		if err != nil {
			return err
		}
		if n <= 0 || n != int64(int(n)) {
			return fmt.Errorf("the number of bins is %d, not above 0", n)
		}
		if limits.DType() != x.DType() || len(limits.Shape()) != 1 || limits.Len() != 2 {
			return fmt.Errorf("the range is %v%v, not two elements of %v", limits.DType(), limits.Shape(), x.DType())
		}
		lo, hi := normal(key(tensor.Values[T](limits)[0])), normal(key(tensor.Values[T](limits)[1]))
		if !(lo < hi) {
			return fmt.Errorf("the range from %v to %v is empty", lo, hi)
		}
		out, err := c.AllocZero(0, c.Attrs().Type("dtype", tensor.Int32), tensor.Shape{int(n)})
		if err != nil {
			return err
		}
		step := (float64(hi) - float64(lo)) / float64(n)
		if math.IsInf(step, 0) || step < leastNormal {
			return fmt.Errorf("the range from %v to %v has no bins of finite width", lo, hi)
		}
		add := func(bin int) { tensor.Values[int32](out)[bin]++ }
		if out.DType() == tensor.Int64 {
			add = func(bin int) { tensor.Values[int64](out)[bin]++ }
		}
		for i, v := range tensor.Values[T](x) {
			c.Step(i)
			v := key(v)
			if v != v {
				return fmt.Errorf("a value is NaN")
			}
			bin := (float64(v) - float64(lo)) / step
			add(int(min(max(bin, 0), float64(n-1))))
		}
		return nil
	}
}

// leastNormal is the smallest positive float64 that isn't subnormal.
const leastNormal = 0x1p-1022

// normal returns v, or 0 instead of a subnormal number, because TensorFlow's
// kernels take these for 0.
func normal[K vec.Real](v K) K {
	least := leastNormal
	if _, ok := any(v).(float32); ok {
		least = 0x1p-126
	}
	if math.Abs(float64(v)) < least {
		return 0
	}
	return v
}

// isotonic is the kernel of IsotonicRegression, by the type of the values.
var isotonic = elementwise.ByType{
	tensor.Float32: isotonicOf(itself[float32]), tensor.Float64: isotonicOf(itself[float64]),
	tensor.Float16: isotonicOf(tensor.F16.Float), tensor.BFloat16: isotonicOf(tensor.BF16.Float),
	tensor.Int8: isotonicOf(itself[int8]), tensor.Int16: isotonicOf(itself[int16]), tensor.Int32: isotonicOf(itself[int32]), tensor.Int64: isotonicOf(itself[int64]),
}

// isotonicOf returns the falling row nearest to each row, by least squares. It
// pools rising neighbours to their mean until none are left.
func isotonicOf[T tensor.Element, K vec.Real](key func(T) K) elementwise.Func {
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		x := c.In(0)
		s := x.Shape()
		if len(s) == 0 {
			return fmt.Errorf("takes rows, not a scalar")
		}
		values := make([]float64, x.Len())
		pools, err := c.Alloc(1, tensor.Int32, s)
		if err != nil {
			return err
		}
		n := s[len(s)-1]
		src, ids := tensor.Values[T](x), tensor.Values[int32](pools)
		for r := range len(src) / max(n, 1) {
			pool(values[r*n:(r+1)*n], ids[r*n:(r+1)*n], func(i int) float64 { return float64(key(src[r*n+i])) })
		}
		d := c.Attrs().Type("output_dtype", tensor.Float32)
		if !d.IsFloating() {
			return fmt.Errorf("output_dtype is %v, not a floating type", d)
		}
		out, err := tensor.Cast(tensor.Must(tensor.New(values, s...)), d)
		if err == nil {
			c.Set(0, out)
		}
		return err
	}
}

// pool fills dst with the means of pools of neighbours, and ids with the
// numbers of the pools. at(i) is element i of the row. Rows, means and ids have
// the same length.
func pool(dst []float64, ids []int32, at func(int) float64) {
	type block struct {
		sum  float64
		n    int
		mean float64
	}
	var blocks []block
	for i := range dst {
		b := block{at(i), 1, at(i)}
		for len(blocks) > 0 && blocks[len(blocks)-1].mean < b.mean {
			last := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			b.sum, b.n = b.sum+last.sum, b.n+last.n
			b.mean = b.sum / float64(b.n)
		}
		blocks = append(blocks, b)
	}
	i := 0
	for id, b := range blocks {
		for range b.n {
			dst[i], ids[i] = b.mean, int32(id)
			i++
		}
	}
}
