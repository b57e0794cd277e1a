package array

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// unique sets output 0, [m], to the different elements of a vector, [n], in the
// order of their first occurrences. Output 1, [n], is the index of each element in
// output 0. Output 2, [m], if the op has one, counts them. It is the kernel of
// Unique and UniqueWithCounts. As in TensorFlow, each NaN is a separate element.
func unique(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	x := c.In(0)
	if len(x.Shape()) != 1 {
		return fmt.Errorf("takes a vector, not a tensor of shape %v", x.Shape())
	}
	switch x.DType() {
	case tensor.Float32:
		return uniqueOf(c, tensor.Values[float32](x), same[float32])
	case tensor.Float64:
		return uniqueOf(c, tensor.Values[float64](x), same[float64])
	case tensor.Float16:
		return uniqueOf(c, tensor.Values[tensor.F16](x), halfKey[tensor.F16])
	case tensor.BFloat16:
		return uniqueOf(c, tensor.Values[tensor.BF16](x), halfKey[tensor.BF16])
	case tensor.Int8:
		return uniqueOf(c, tensor.Values[int8](x), same[int8])
	case tensor.Int16:
		return uniqueOf(c, tensor.Values[int16](x), same[int16])
	case tensor.Int32:
		return uniqueOf(c, tensor.Values[int32](x), same[int32])
	case tensor.Int64:
		return uniqueOf(c, tensor.Values[int64](x), same[int64])
	case tensor.Uint8:
		return uniqueOf(c, tensor.Values[uint8](x), same[uint8])
	case tensor.Uint16:
		return uniqueOf(c, tensor.Values[uint16](x), same[uint16])
	case tensor.Uint32:
		return uniqueOf(c, tensor.Values[uint32](x), same[uint32])
	case tensor.Uint64:
		return uniqueOf(c, tensor.Values[uint64](x), same[uint64])
	case tensor.Bool:
		return uniqueOf(c, tensor.Values[bool](x), same[bool])
	case tensor.String:
		return uniqueOf(c, tensor.Values[string](x), same[string])
	}
	return fmt.Errorf("isn't defined for %v", x.DType())
}

func same[T any](x T) T { return x }

// halfKey returns the key of an element of float16 or bfloat16. In these types -0
// and 0 are different elements in TensorFlow, unlike in float32 and float64. A NaN's
// key equals no key, not even itself.
func halfKey[T interface {
	tensor.F16 | tensor.BF16
	Float() float32
}](x T) [2]float32 {
	v := x.Float()
	sign := float32(math.Copysign(1, float64(v)))
	return [2]float32{v, sign}
}

// uniqueOf runs unique on elements of one type. Elements with the same key are
// equal.
func uniqueOf[T tensor.Element, K comparable](c *engine.Call, x []T, key func(T) K) error {
	at := make(map[K]int64)
	place := engine.Zeroed[int64](c, len(x))
	var first []T
	var counts []int64
	reserved := 1 << 10 // elements of at, first and counts
	// each is about the bytes that an element takes in them.
	each := int(unsafe.Sizeof(*new(K))+unsafe.Sizeof(*new(T)))*2 + 32
	for i, v := range x {
		c.Step(i)
		k := key(v)
		n, ok := at[k]
		if !ok {
			n = int64(len(first))
			if len(first) == reserved {
				c.Reserve(each * reserved)
				reserved *= 2
			}
			at[k] = n
			first, counts = append(first, v), append(counts, 0)
		}
		place[i] = n
		counts[n]++
	}
	out, err := c.Alloc(0, c.In(0).DType(), tensor.Shape{len(first)})
	if err != nil {
		return err
	}
	copy(tensor.Values[T](out), first)
	if err := putPlaces(c, 1, place); err != nil || c.Op() != "UniqueWithCounts" {
		return err
	}
	return putPlaces(c, 2, counts)
}

// putPlaces sets output i to integers of the type out_idx.
func putPlaces(c *engine.Call, i int, v []int64) error {
	return shapes.SetInts(c, i, c.Attrs().Type("out_idx", tensor.Int32), v)
}
