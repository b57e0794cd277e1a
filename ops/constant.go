package ops

import (
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// constant returns a value over t that belongs to no call: it never dies, and any
// number of calls may use it at once. sizes reports that it is a shape, axes or a
// count.
func constant(t *tensor.Tensor, sizes bool) *Value {
	v := &Value{data: engine.ValueOf(t)}
	if sizes {
		v.extra = &extra{sizes: true}
	}
	return v
}

// scalarEntry is the value of a Go number, by the bits of the number. The caches of this file have one place
// for each hash; another number or list with the same hash takes the place. Their sizes and hashes may change:
// only the speed depends on them.
type scalarEntry struct {
	bits uint64
	v    *Value
}

// float returns the scalar of a Go number of a floating type.
func (sc *scratch) float(x float64, d tensor.DType) (*Value, error) {
	bits := math.Float64bits(x)
	e := &sc.scalars[(bits*0x9e3779b97f4a7c15>>58^uint64(d))%uint64(len(sc.scalars))]
	if e.v != nil && e.bits == bits && e.v.DType() == d {
		return e.v, nil
	}
	t, err := floatScalar(x, d)
	if err != nil {
		return nil, err
	}
	*e = scalarEntry{bits, constant(t, false)}
	return e.v, nil
}

// listEntry is the value of a short list.
type listEntry struct {
	v    *Value
	n    int
	dims [6]int
}

// list returns the vector of sizes or axes: of int32 if all fit, otherwise of int64.
func (sc *scratch) list(dims []int) *Value {
	hash := uint64(len(dims))
	for _, d := range dims {
		if int64(d) != int64(int32(d)) {
			return constant(vec64(dims), true)
		}
		hash = (hash ^ uint64(d)) * 0x9e3779b97f4a7c15
	}
	e := &sc.lists[hash>>58]
	if e.v != nil && e.n == len(dims) && e.holds(dims) {
		return e.v
	}
	x := make([]int32, len(dims))
	for i, d := range dims {
		x[i] = int32(d)
	}
	v := constant(tensor.Vector(x...), true)
	if len(dims) <= len(e.dims) {
		e.v, e.n = v, copy(e.dims[:], dims)
	}
	return v
}

func (e *listEntry) holds(dims []int) bool {
	for i, d := range dims {
		if e.dims[i] != d {
			return false
		}
	}
	return true
}

// masks are the attributes of a StridedSlice, in the order of maskNames. Bit i of each
// is about term i.
type masks [5]int64

var maskNames = [len(masks{})]string{"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}

// stridesEntry is the attributes of a StridedSlice with these masks.
type stridesEntry struct {
	masks masks
	attrs graph.Attrs
}

// strided returns the attributes of a StridedSlice; those that are 0 are left
// out.
func (sc *scratch) strided(m masks) graph.Attrs {
	if m == (masks{}) {
		return nil
	}
	var hash uint64
	for _, bits := range m {
		hash = (hash ^ uint64(bits)) * 0x9e3779b97f4a7c15
	}
	e := &sc.strides[hash>>60]
	if e.masks != m {
		*e = stridesEntry{masks: m}
		for i, bits := range m {
			if bits != 0 {
				e.attrs = append(e.attrs, graph.Int(maskNames[i], bits))
			}
		}
		e.attrs = slices.Clip(e.attrs)
	}
	return e.attrs
}
