package shape

import (
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// xlaRules returns the rules of those of XLA's ops that the CPU runs. Some are in
// xla_numbers.go. Package kernel/xla uses the exported functions.
func xlaRules() map[string]Rule {
	return map[string]Rule{
		"XlaSharding": unchanged, "XlaOptimizationBarrier": xlaBarrier, "XlaEinsum": einsum,
		"XlaDynamicSlice": xlaDynamicSlice, "XlaDynamicUpdateSlice": unchanged,
		"XlaDot": xlaDot, "XlaDotV2": xlaDot, "XlaGather": xlaGather, "XlaPad": xlaPad, "XlaBroadcastHelper": xlaBroadcastHelper, "XlaReducePrecision": unchanged, "XlaScatter": unchanged,
		"XlaSort": unchanged, "XlaKeyValueSort": eachUnchanged, "XlaVariadicSort": eachUnchanged, "XlaSelectAndScatter": unchanged,
		"XlaReduce": xlaReduce, "XlaVariadicReduce": xlaReduce, "XlaVariadicReduceV2": xlaReduce, "XlaReduceWindow": xlaReduceWindow,
		"XlaConv": xlaReduceWindow, "XlaConvV2": xlaReduceWindow, "XlaSpmdFullToShardShape": unchanged,
		"XlaWhile": eachUnchanged, "XlaDequantize": xlaDequantize, "XlaRngBitGenerator": xlaRandomBits,
		"XlaSelfAdjointEig": selfAdjointEig, "XlaSvd": xlaSvd, "XlaSpmdShardToFullShape": xlaFullShape, "XlaSetBound": unchanged,
	}
}

// xlaDequantize infers four elements for each word along the last dimension. The dimensions
// are reversed with transpose_output.
func xlaDequantize(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s := c.shape(0)
	n := s.Rank()
	if n < 0 {
		return nil
	}
	if n == 0 {
		return fmt.Errorf("the input is a scalar (want one dimension at least)")
	}
	dims := make([]int, n)
	for d := range dims {
		dims[d] = s.Dim(d)
	}
	switch last := dims[n-1]; {
	case last > math.MaxInt/4:
		return fmt.Errorf("dimension %d would be too large", n-1)
	case last > 0:
		dims[n-1] = 4 * last
	}
	if c.Attrs.Bool("transpose_output") {
		slices.Reverse(dims)
	}
	c.setDims(0, dims...)
	return nil
}

// xlaSvd infers a vector of singular values and two square matrices for each matrix.
func xlaSvd(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	outer, rows, cols, err := c.rectangle()
	if err != nil {
		return err
	}
	c.set(0, outer.Concat(graph.ShapeOf(MinDims(rows, cols))))
	c.set(1, outer.Concat(graph.ShapeOf(rows, rows)))
	c.set(2, outer.Concat(graph.ShapeOf(cols, cols)))
	return nil
}

// xlaRandomBits infers the state after a draw, of the shape of input 1, and a tensor of the
// shape in input 2.
func xlaRandomBits(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	c.set(0, c.shape(1))
	s, err := c.sizes(2, "the shape")
	if err == nil {
		c.set(1, s)
	}
	return err
}

// xlaFullShape infers the shape in attribute full_shape. With one device that is the input's.
func xlaFullShape(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	full, _ := c.Attrs.Shape("full_shape")
	c.set(0, full)
	return nil
}

// xlaBarrier passes every input through.
func xlaBarrier(c *Inference) error {
	for i := range min(len(c.In), len(c.Out)) {
		c.pass(i, i)
	}
	return nil
}

// xlaDynamicSlice infers a block of known size.
func xlaDynamicSlice(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	n := c.shape(0).Rank()
	size, ok := c.list(2, n)
	if !ok {
		if n >= 0 {
			c.set(0, graph.OfRank(n))
		}
		return nil
	}
	dims := make([]int, len(size))
	for i, e := range size {
		if k, ok := e.Int(); ok && k >= 0 {
			dims[i] = int(k)
		} else {
			dims[i] = -1
		}
	}
	c.setDims(0, dims...)
	return nil
}

// eachUnchanged sets each output's shape to that of its input.
func eachUnchanged(c *Inference) error {
	for i := range min(len(c.In), len(c.Out)) {
		c.set(i, c.shape(i))
	}
	return nil
}

// XlaPadded returns the shape of a tensor with elements before, after and between its own. A
// size of -1 stays unknown. Paddings below 0 remove elements.
func XlaPadded(s tensor.Shape, low, high, interior []int64) (tensor.Shape, error) {
	if len(low) != len(s) || len(high) != len(s) || len(interior) != len(s) {
		return nil, fmt.Errorf("%d, %d and %d paddings for %d dimensions", len(low), len(high), len(interior), len(s))
	}
	out := make(tensor.Shape, len(s))
	for d, n := range s {
		const most = math.MaxInt32
		if interior[d] < 0 || interior[d] > most || low[d] > most || high[d] > most || low[d] < -most || high[d] < -most {
			return nil, fmt.Errorf("the paddings of dimension %d are %d, %d and %d inside", d, low[d], high[d], interior[d])
		}
		if out[d] = -1; n < 0 {
			continue
		}
		size := int64(n) + low[d] + high[d]
		if n > 1 {
			if interior[d] > (math.MaxInt64/4)/int64(n) {
				return nil, fmt.Errorf("dimension %d would be too large", d)
			}
			size += int64(n-1) * interior[d]
		}
		if size < 0 || size > math.MaxInt32*int64(64) {
			return nil, fmt.Errorf("dimension %d would be %d", d, size)
		}
		if out[d] = int(size); int64(out[d]) != size {
			return nil, fmt.Errorf("dimension %d would be %d", d, size)
		}
	}
	return out, nil
}

// xlaPad puts elements before, after and between those of the input.
func xlaPad(c *Inference) error {
	if err := c.need(5); err != nil {
		return err
	}
	s, ok := c.dims(0)
	var list [3][]int64
	for i := range list {
		v, known := c.knownInts(2 + i)
		list[i], ok = v, ok && known
	}
	if !ok {
		if n := c.shape(0).Rank(); n >= 0 {
			c.set(0, graph.OfRank(n))
		}
		return nil
	}
	out, err := XlaPadded(s, list[0], list[1], list[2])
	if err == nil {
		c.setDims(0, out...)
	}
	return err
}

// XlaBroadcast returns the new shape of the input with fewer dimensions, of as many as the
// other one: its dimension d becomes where[d], the others are 1. small is the index of this
// input, 0 or 1, or -1 if both inputs stay as they are.
func XlaBroadcast(a, b tensor.Shape, where []int64) (dims tensor.Shape, small int, err error) {
	if len(where) == 0 {
		if len(a) != len(b) && len(a) != 0 && len(b) != 0 {
			return nil, 0, fmt.Errorf("shapes %v and %v have other ranks, and broadcast_dims is empty", a, b)
		}
		return nil, -1, nil
	}
	from, to := a, b
	if len(b) < len(a) {
		from, to, small = b, a, 1
	}
	if len(where) != len(from) {
		return nil, 0, fmt.Errorf("broadcast_dims has %d dimensions for %v", len(where), from)
	}
	dims = make(tensor.Shape, len(to))
	for d := range dims {
		dims[d] = 1
	}
	last := int64(-1)
	for d, at := range where {
		if at <= last || at >= int64(len(to)) {
			return nil, 0, fmt.Errorf("broadcast_dims %v do not rise below %d", where, len(to))
		}
		if last = at; from[d] != to[at] && from[d] != 1 && to[at] != 1 {
			return nil, 0, fmt.Errorf("dimension %d is %d, where the other input has %d", d, from[d], to[at])
		}
		dims[at] = from[d]
	}
	return dims, small, nil
}

// xlaBroadcastHelper infers one rank for both outputs.
func xlaBroadcastHelper(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	a, aOK := c.shape(0).Tensor()
	b, bOK := c.shape(1).Tensor()
	where, ok := c.knownInts(2)
	if !aOK || !bOK || !ok {
		return nil
	}
	dims, small, err := XlaBroadcast(a, b, where)
	if err != nil {
		return err
	}
	c.setDims(0, a...)
	c.setDims(1, b...)
	if small >= 0 {
		c.setDims(small, dims...)
	}
	return nil
}

// xlaReduce takes dimensions away.
func xlaReduce(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	dims, known := c.dims(0)
	if !known {
		return nil
	}
	gone := c.Attrs.Ints("dimensions_to_reduce")
	out := make([]int, 0, len(dims))
	for d, n := range dims {
		if !slices.Contains(gone, int64(d)) {
			out = append(out, n)
		}
	}
	for i := range c.Out {
		c.setDims(i, out...)
	}
	return nil
}

// XlaWindow is a window that slides over a tensor: each list has a number for each
// dimension of the tensor.
type XlaWindow struct {
	Size, Stride []int64
	Base         []int64 // dilation of the tensor
	Dilation     []int64 // dilation of the window
	Low, High    []int64 // padding
}

// Result returns the number of places of the window along each dimension: 0 if it is larger
// than the padded tensor, or if that is empty.
func (w *XlaWindow) Result(s tensor.Shape) (tensor.Shape, error) {
	for _, l := range [][]int64{w.Size, w.Stride, w.Base, w.Dilation, w.Low, w.High} {
		if len(l) != len(s) {
			return nil, fmt.Errorf("a window of %d dimensions for %v", len(l), s)
		}
	}
	out := make(tensor.Shape, len(s))
	for d, n := range s {
		const most = math.MaxInt32
		if w.Size[d] < 0 || w.Size[d] > most || w.Stride[d] < 1 || w.Base[d] < 1 || w.Base[d] > most || w.Dilation[d] < 1 || w.Dilation[d] > most ||
			w.Low[d] < -most || w.Low[d] > most || w.High[d] < -most || w.High[d] > most {
			return nil, fmt.Errorf("the window of dimension %d has size %d, stride %d, dilations %d and %d, padding %d and %d", d, w.Size[d], w.Stride[d], w.Base[d], w.Dilation[d], w.Low[d], w.High[d])
		}
		whole := w.Low[d] + w.High[d]
		if n > 0 {
			whole += (int64(n)-1)*w.Base[d] + 1
		}
		reach := int64(0)
		if w.Size[d] > 0 {
			reach = (w.Size[d]-1)*w.Dilation[d] + 1
		}
		if whole >= reach && whole > 0 {
			size := (whole-reach)/w.Stride[d] + 1
			if out[d] = int(size); int64(out[d]) != size || size > most {
				return nil, fmt.Errorf("dimension %d would be %d", d, size)
			}
		}
	}
	return out, nil
}

// xlaReduceWindow infers that the output of windows and of convolutions has the rank of
// input 0. Its sizes stay unknown.
func xlaReduceWindow(c *Inference) error {
	if err := c.atLeast(7); err != nil {
		return err
	}
	n := c.shape(0).Rank()
	if n < 0 {
		return nil
	}
	c.set(0, graph.OfRank(n))
	return nil
}
