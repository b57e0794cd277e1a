package xla

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of XlaGather and XlaScatter.

// windows has the positions of windows in an operand, for gathers and scatters:
// the messages GatherDimensionNumbers and ScatterDimensionNumbers have the same
// fields.
type windows struct {
	inResult  []int // the dimensions of the result, or of the updates, that are dimensions of a window
	collapsed []int // the operand's dimensions that a window doesn't have
	starts    []int // the operand's dimension of each start index
	vector    int   // the dimension of the indices that contains the start indices of one window
	batch     []int // the operand's dimensions that are batches
	walks     []int // the indices' dimensions for these batches
}

// parseWindows reads the attribute dimension_numbers, a protocol buffer of XLA.
func parseWindows(n *engine.Node) (*windows, error) {
	l, err := shape.ParseXlaNumbers("dimension_numbers", []byte(n.Attrs.String("dimension_numbers", "")))
	if err != nil {
		return nil, err
	}
	const (
		inResult, collapsed, starts protowire.Number = 1, 2, 3
		vector, batch, walks        protowire.Number = 4, 5, 6
	)
	return &windows{l[inResult], l[collapsed], l[starts], l.One(vector), l[batch], l[walks]}, nil
}

// walk maps the elements of a result, or of updates, to those of an operand.
type walk struct {
	*windows
	operand    tensor.Shape
	operandAt  []int // strides
	indices    []int64
	indexAt    []int // strides of the indices, without vector
	each       int   // the stride of vector
	scattered  []int // the result's dimensions that are dimensions of the indices
	windowDims []int // the operand's dimension for each of inResult
	size       tensor.Shape
}

// walk returns the checked walk of a gather or scatter over an operand. size is
// the shape of a window, rank the number of dimensions of the result or the
// updates.
func (w *windows) walk(operand, indices *tensor.Tensor, size tensor.Shape, rank int) (*walk, error) {
	x := &walk{windows: w, operand: operand.Shape(), operandAt: shapes.Strides(operand.Shape()), size: size}
	var err error
	if x.indices, err = indices.Int64s(); err != nil {
		return nil, err
	}
	s := indices.Shape()
	per := 1
	switch {
	case w.vector < len(s):
		per = s[w.vector]
	case w.vector > len(s):
		return nil, fmt.Errorf("the indices have %d dimensions, and dimension %d of them is to hold start indices", len(s), w.vector)
	}
	strides := shapes.Strides(s)
	x.each = 1
	for d, st := range strides {
		if d == w.vector {
			x.each = st
		} else {
			x.indexAt = append(x.indexAt, st)
		}
	}
	if len(w.starts) != per {
		return nil, fmt.Errorf("there are %d start indices for %d dimensions", per, len(w.starts))
	}
	n := len(x.operand)
	for _, list := range [][]int{w.collapsed, w.starts, w.batch} {
		for _, d := range list {
			if d >= n {
				return nil, fmt.Errorf("dimension %d is not below the operand's %d", d, n)
			}
		}
	}
	if len(size) != n {
		return nil, fmt.Errorf("a window has %d sizes for %d dimensions", len(size), n)
	}
	for d, k := range size {
		if k < 0 || k > x.operand[d] {
			return nil, fmt.Errorf("a window takes %d of dimension %d, which has %d", k, d, x.operand[d])
		}
	}
	for k, d := range w.batch {
		if size[d] > 1 {
			return nil, fmt.Errorf("a window takes %d of batch dimension %d (want 1 at most)", size[d], d)
		}
		if k < len(w.walks) && (w.walks[k] == w.vector || w.walks[k] >= len(s) || s[w.walks[k]] != x.operand[d]) {
			return nil, fmt.Errorf("dimension %d of the indices isn't batch dimension %d of the operand, which has %d", w.walks[k], d, x.operand[d])
		}
	}
	for _, d := range w.collapsed {
		if size[d] > 1 {
			return nil, fmt.Errorf("a window takes %d of dimension %d, which the result leaves out (want 1 at most)", size[d], d)
		}
	}
	x.windowDims = others(n, w.collapsed, w.batch)
	x.scattered = others(rank, w.inResult)
	if len(x.windowDims) != len(w.inResult) || len(x.scattered) != len(x.indexAt) || len(w.batch) != len(w.walks) {
		return nil, fmt.Errorf("the dimension numbers don't fit: a window of %d dimensions has %d in the result, indices of %d have %d",
			len(x.windowDims), len(w.inResult), len(x.indexAt), len(x.scattered))
	}
	return x, nil
}

// start stores the start index of a window in the operand, for an index of the
// result. It reports whether all of the window is inside. Clamping moves it
// inside.
func (x *walk) start(index []int, clamp bool, into []int) (inside bool) {
	at := 0
	for k, d := range x.scattered {
		at += index[d] * x.indexAt[k]
	}
	clear(into)
	inside = true
	for k, d := range x.starts {
		from, most := x.indices[at+k*x.each], int64(x.operand[d]-x.size[d])
		if from < 0 || from > most {
			inside = false
			if clamp {
				from = min(max(from, 0), most)
			} else {
				return false
			}
		}
		into[d] = int(from)
	}
	for k, d := range x.batch {
		walks := x.walks[k]
		if walks > x.vector {
			walks--
		}
		into[d] = index[x.scattered[walks]]
	}
	return inside
}

// at returns the offset in the operand of an index of the result, whose window
// begins at start.
func (x *walk) at(index, start []int) int {
	p := place(start, x.operandAt)
	for k, d := range x.inResult {
		p += index[d] * x.operandAt[x.windowDims[k]]
	}
	return p
}

// gather returns windows of the operand at start indices. It moves a window
// that is partly outside to the inside.
func gather(n *engine.Node) (func(*engine.Call) error, error) {
	w, err := parseWindows(n)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if err := c.Need(3); err != nil {
			return err
		}
		if err := fixed(c, 0); err != nil {
			return err
		}
		operand := c.In(0)
		size, err := shapes.Dims(c.In(2), "slice_sizes", 0)
		if err != nil {
			return err
		}
		batch := slices.Clone(c.In(1).Shape())
		if w.vector < len(batch) {
			batch = slices.Delete(batch, w.vector, w.vector+1)
		}
		rank := len(batch) + len(w.inResult)
		x, err := w.walk(operand, c.In(1), size, rank)
		if err != nil {
			return err
		}
		for _, d := range slices.Concat(w.collapsed, w.batch) {
			if size[d] > 1 {
				return fmt.Errorf("a window takes %d of dimension %d, which the result lacks (want 1)", size[d], d)
			}
		}
		dims := make(tensor.Shape, rank)
		for k, d := range x.scattered {
			dims[d] = batch[k]
		}
		for k, d := range w.inResult {
			if d >= rank {
				return fmt.Errorf("offset dimension %d is not below %d", d, rank)
			}
			dims[d] = size[x.windowDims[k]]
		}
		out, err := c.Alloc(0, operand.DType(), dims)
		if err != nil || out.Len() == 0 {
			return err
		}
		bytes, src, dst := operand.DType().Size(), operand.Bytes(), out.Bytes()
		if slices.Contains(size, 0) {
			clear(dst) // a window without elements in dimensions that the result lacks: zeros, as XLA's
			return nil
		}
		index, start := make([]int, rank), make([]int, len(size))
		for i := 0; ; i++ {
			c.Step(i)
			x.start(index, true, start)
			p := x.at(index, start) * bytes
			copy(dst[i*bytes:(i+1)*bytes], src[p:p+bytes])
			if !next(index, dims) {
				return nil
			}
		}
	}, nil
}

// scatter combines updates with the operand's elements at start indices by a
// function. It skips a window that is partly outside.
func scatter(n *engine.Node) (func(*engine.Call) error, error) {
	w, err := parseWindows(n)
	if err != nil {
		return nil, err
	}
	f, err := scalarFunction(n, "update_computation", 2)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if err := c.Need(3); err != nil {
			return err
		}
		if err := fixed(c, 0, 2); err != nil {
			return err
		}
		operand, updates := c.In(0), c.In(2)
		if operand.DType() != updates.DType() {
			return fmt.Errorf("the updates are %v, the operand %v", updates.DType(), operand.DType())
		}
		size := make(tensor.Shape, len(operand.Shape()))
		for d := range size {
			size[d] = 1
		}
		for k, d := range others(len(size), w.collapsed, w.batch) {
			if k >= len(w.inResult) || w.inResult[k] >= len(updates.Shape()) {
				return fmt.Errorf("the updates have no dimension for dimension %d of a window", d)
			}
			size[d] = updates.Shape()[w.inResult[k]]
		}
		x, err := w.walk(operand, c.In(1), size, len(updates.Shape()))
		if err != nil {
			return err
		}
		s := c.In(1).Shape()
		for k, d := range x.scattered {
			at := k
			if at >= w.vector {
				at++
			}
			if updates.Shape()[d] != s[at] {
				return fmt.Errorf("dimension %d of the updates has %d (want %d, as the indices)", d, updates.Shape()[d], s[at])
			}
		}
		out, err := c.Alloc(0, operand.DType(), operand.Shape())
		if err != nil {
			return err
		}
		copy(out.Bytes(), operand.Bytes())
		if updates.Len() == 0 {
			return nil
		}
		bytes, dst, src := operand.DType().Size(), out.Bytes(), updates.Bytes()
		index, start := make([]int, len(updates.Shape())), make([]int, len(size))
		for i := 0; ; i++ {
			if x.start(index, false, start) {
				p := x.at(index, start) * bytes
				if err := f.call(c, [][]byte{dst[p : p+bytes], src[i*bytes : (i+1)*bytes]}, [][]byte{dst[p : p+bytes]}, operand.DType(), operand.DType()); err != nil {
					return err
				}
			}
			if !next(index, updates.Shape()) {
				return nil
			}
		}
	}, nil
}
