// Package parts copies parts of tensors of any element type. Packages
// kernel/array, kernel/data and kernel/state use it.
package parts

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// Copy copies n elements between tensors of one type. The offsets to and from count elements.
func Copy(dst, src *tensor.Tensor, to, from, n int) {
	if size := dst.DType().Size(); size > 0 {
		copy(dst.Bytes()[to*size:(to+n)*size], src.Bytes()[from*size:(from+n)*size])
		return
	}
	copy(dst.Strings()[to:to+n], src.Strings()[from:from+n])
}

// Gather sets output 0 to the parts of x that indices select along axis, separately for each place
// in the first batchDims dimensions. It is the kernel of GatherV2, and of ops that gather from
// variables. An index outside of the axis is an error, as on TensorFlow's CPU.
func Gather(c *engine.Call, x, indices *tensor.Tensor, axis int, batchDims int64) error {
	s, is := x.Shape(), indices.Shape()
	dims, batch, err := shape.Gather(s, is, axis, batchDims)
	if err != nil {
		return err
	}
	v, err := shapes.CallInts(c, indices, "the indices")
	if err != nil {
		return err
	}
	for _, k := range v {
		if k < 0 || k >= int64(s[axis]) {
			return fmt.Errorf("index %d is outside of [0, %d)", k, s[axis])
		}
	}
	out, err := c.Alloc(0, x.DType(), dims)
	if err != nil || out.Len() == 0 {
		return err
	}
	batches, outer := shapes.Count(s[:batch]), shapes.Count(s[batch:axis])
	n, inner, per := s[axis], shapes.Count(s[axis+1:]), shapes.Count(is[batch:])
	g := gathering{out: out, x: x, indices: v, outer: outer, n: n, inner: inner, per: per}
	bytes := x.DType().Size()
	if bytes <= 0 {
		bytes = 16 // of a string header; the bytes aren't copied
	}
	// Rows are scattered in memory: each costs the latency of its first bytes.
	count, each := batches*outer*per, 30+0.1*float64(inner*bytes)
	if !c.Large(count, each) {
		g.rows(0, count)
		return nil
	}
	// A call with a handle finishes its loops. This one only reads, so it may end earlier.
	block := max(1, int(gatherTime/each))
	for lo := 0; lo < count; lo += block {
		if err := c.Context().Err(); err != nil {
			return err
		}
		c.Parallel(min(block, count-lo), each, func(from, to int) { g.rows(lo+from, lo+to) })
	}
	return nil
}

// gatherTime is the estimated time between two looks at the context, in nanoseconds.
const gatherTime = 10e6

// gathering is a [Gather] under way: of each of outer parts of a batch, n rows of inner
// elements, those that per indices name.
type gathering struct {
	out, x               *tensor.Tensor
	indices              []int64
	outer, n, inner, per int
}

// rows copies rows lo to hi of the output.
func (g gathering) rows(lo, hi int) {
	for i := lo; i < hi; i++ {
		part := i / g.per
		k := g.indices[part/g.outer*g.per+i%g.per]
		Copy(g.out, g.x, i*g.inner, (part*g.n+int(k))*g.inner, g.inner)
	}
}
