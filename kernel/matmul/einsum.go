package matmul

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// label names a dimension of an einsum: a letter, or, below zero, a dimension
// that an ellipsis stands for, -1 being the last one.
type label int

// ellipsis marks the place of an ellipsis in a term.
const ellipsis label = 0

// equation is a parsed einsum equation.
type equation struct {
	in  [][]label
	out []label
}

func parseEquation(s string) (e equation, err error) {
	left, right, ok := strings.Cut(s, "->")
	if !ok {
		return e, fmt.Errorf("the equation %q has no ->", s)
	}
	for _, t := range strings.Split(left, ",") {
		term, err := parseTerm(t)
		if err != nil {
			return e, err
		}
		e.in = append(e.in, term)
	}
	e.out, err = parseTerm(right)
	return e, err
}

func parseTerm(s string) ([]label, error) {
	var out []label
	before, after, more := strings.Cut(strings.TrimSpace(s), "...")
	for i, part := range []string{before, after} {
		if i == 1 && more {
			out = append(out, ellipsis)
		}
		for _, r := range part {
			if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
				return nil, fmt.Errorf("the term %q holds %q, which is no letter", s, r)
			}
			out = append(out, label(r))
		}
	}
	return out, nil
}

// expand puts n labels in the place of the ellipsis.
func expand(term []label, n int) []label {
	out := make([]label, 0, len(term)+n)
	for _, l := range term {
		if l != ellipsis {
			out = append(out, l)
			continue
		}
		for i := n; i > 0; i-- {
			out = append(out, label(-i))
		}
	}
	return out
}

func prepareEinsum(n *engine.Node) (func(*engine.Call) error, error) {
	e, err := parseEquation(n.Attrs.String("equation", ""))
	if err != nil {
		return nil, err
	}
	if len(e.in) > 2 {
		return nil, fmt.Errorf("the equation has %d terms; as in TensorFlow, only one or two are taken", len(e.in))
	}
	return func(c *engine.Call) error { return e.run(c) }, nil
}

// operand is an input as labels with sizes and strides; labels that repeat have
// one entry, whose stride walks the diagonal.
type operand struct {
	labels []label
	sizes  map[label]int
	stride map[label]int
}

func (e *equation) run(c *engine.Call) error {
	if err := c.Need(len(e.in)); err != nil {
		return err
	}
	sizes := map[label]int{}
	most := 0 // dimensions of ellipses
	var ops []operand
	for i, term := range e.in {
		x := c.In(i)
		if x.DType() != c.In(0).DType() {
			return fmt.Errorf("the inputs' types differ: %v and %v", c.In(0).DType(), x.DType())
		}
		s := x.Shape()
		letters := len(term)
		if slices.Contains(term, ellipsis) {
			letters--
		}
		n := len(s) - letters
		if n < 0 || n > 0 && letters == len(term) {
			return fmt.Errorf("a term of %d labels for input %d of shape %v", letters, i, s)
		}
		most = max(most, n)
		o := operand{sizes: map[label]int{}, stride: map[label]int{}}
		strides := shapes.Strides(s)
		for d, l := range expand(term, n) {
			old, seen := o.sizes[l]
			if seen && old != s[d] {
				return fmt.Errorf("the sizes %d and %d of label %q differ", old, s[d], rune(l))
			}
			if !seen {
				o.labels = append(o.labels, l)
			}
			o.sizes[l] = s[d]
			o.stride[l] += strides[d]
			all, known := sizes[l]
			switch {
			case !known || l < 0 && all == 1:
				sizes[l] = s[d]
			case all != s[d] && !(l < 0 && s[d] == 1):
				return fmt.Errorf("the sizes %d and %d of a label differ", all, s[d])
			}
		}
		ops = append(ops, o)
	}
	out := expand(e.out, most)
	dims := make(tensor.Shape, len(out))
	for i, l := range out {
		n, ok := sizes[l]
		if !ok {
			return fmt.Errorf("the output has a label that no input has")
		}
		dims[i] = n
	}
	f, err := einsums.Of(c.In(0).DType())
	if err != nil {
		return err
	}
	y, err := c.Alloc(0, c.In(0).DType(), dims)
	if err != nil || y.Len() == 0 {
		return err
	}
	f(c, &sum{out: out, sizes: sizes, in: ops}, y)
	return nil
}

// sum is one einsum with all sizes known.
type sum struct {
	out   []label
	sizes map[label]int
	in    []operand
}

var einsums = engine.ByType[func(*engine.Call, *sum, *tensor.Tensor)]{
	tensor.Float32: einsumOf[float32], tensor.Float64: einsumOf[float64],
	tensor.Float16: einsumHalf[tensor.F16], tensor.BFloat16: einsumHalf[tensor.BF16],
	tensor.Int32: einsumOf[int32], tensor.Int64: einsumOf[int64],
	tensor.Complex64: einsumOf[complex64], tensor.Complex128: einsumOf[complex128],
}

func einsumOf[T number](c *engine.Call, s *sum, y *tensor.Tensor) {
	in := make([][]T, c.NumIn())
	for i := range in {
		in[i] = tensor.Values[T](c.In(i))
	}
	compute(c, s, tensor.Values[T](y), in)
}

func einsumHalf[H elementwise.Half](c *engine.Call, s *sum, y *tensor.Tensor) {
	in := make([][]float32, c.NumIn())
	for i := range in {
		in[i] = elementwise.Widened[H](c, c.In(i))
	}
	dst := elementwise.Wide(c, y.Len())
	compute(c, s, dst, in)
	elementwise.Narrow(tensor.Values[H](y), dst)
}

// compute brings the operands to matrices, multiplies these and brings the
// product into the output's order.
func compute[T number](c *engine.Call, s *sum, y []T, in [][]T) {
	if len(in) == 1 {
		// A label that the output lacks is summed over.
		a := s.in[0]
		var kept []label
		for _, l := range a.labels {
			if slices.Contains(s.out, l) {
				kept = append(kept, l)
			}
		}
		data := reduced(&a, in[0], kept)
		scatter(s, y, data, kept)
		return
	}
	a, b := s.in[0], s.in[1]
	var batch, rows, cols, inner []label
	for _, l := range a.labels {
		_, both := b.sizes[l]
		used := slices.Contains(s.out, l)
		switch {
		case both && used:
			batch = append(batch, l)
		case both && a.sizes[l] == b.sizes[l]:
			inner = append(inner, l)
		case both:
			// One of them is stretched along the label: the other one is summed.
		case used:
			rows = append(rows, l)
		}
	}
	for _, l := range b.labels {
		if _, both := a.sizes[l]; !both && slices.Contains(s.out, l) {
			cols = append(cols, l)
		}
	}
	p := product{m: s.count(rows), n: s.count(cols), k: s.count(inner), batch: s.count(batch)}
	x := reduced(&a, in[0], slices.Concat(batch, rows, inner))
	z := reduced(&b, in[1], slices.Concat(batch, inner, cols))
	p.a, p.b = s.offsets(&a, batch, p.m*p.k), s.offsets(&b, batch, p.k*p.n)
	dst := make([]T, p.batch*p.m*p.n)
	if p.k > 0 {
		multiply(c, &p, dst, x, z)
	}
	scatter(s, y, dst, slices.Concat(batch, rows, cols))
}

// multiply computes the product by the fastest way of the type.
func multiply[T number](c *engine.Call, p *product, dst, a, b []T) {
	switch dst := any(dst).(type) {
	case []float32:
		packed(c, p, gemm.F32, 4, dst, any(a).([]float32), any(b).([]float32))
	case []float64:
		packed(c, p, gemm.F64, 8, dst, any(a).([]float64), any(b).([]float64))
	default:
		over(c, p, any(dst).([]T), a, b)
	}
}

func (s *sum) count(labels []label) int {
	n := 1
	for _, l := range labels {
		n *= s.sizes[l]
	}
	return n
}

// offsets returns where each matrix of the batch starts in an operand, which
// lacks the labels that it is stretched along.
func (s *sum) offsets(o *operand, batch []label, size int) []int {
	out := []int{0}
	for i := range batch {
		step := size
		for _, l := range batch[i+1:] {
			step *= o.sizes[l]
		}
		if o.sizes[batch[i]] == 1 {
			step = 0
		}
		next := make([]int, 0, len(out)*s.sizes[batch[i]])
		for _, at := range out {
			for k := range s.sizes[batch[i]] {
				next = append(next, at+k*step)
			}
		}
		out = next
	}
	return out
}

// reduced returns an operand's elements in the given order of labels, summed
// over all others. It is the operand itself where nothing has to move.
func reduced[T vec.Number](o *operand, data []T, order []label) []T {
	dims, from := make([]int, 0, len(o.labels)), make([]int, 0, len(o.labels))
	to, n := make([]int, len(order), len(o.labels)), 1
	for i := len(order) - 1; i >= 0; i-- {
		to[i] = n
		n *= o.sizes[order[i]]
	}
	same := len(order) == len(o.labels) && n == len(data)
	for i, l := range order {
		dims, from = append(dims, o.sizes[l]), append(from, o.stride[l])
		same = same && (from[i] == to[i] || dims[i] == 1)
	}
	if same {
		return data
	}
	for _, l := range o.labels {
		if !slices.Contains(order, l) {
			dims, from, to = append(dims, o.sizes[l]), append(from, o.stride[l]), append(to, 0)
		}
	}
	out := make([]T, n)
	walkRows(dims, to, from, func(i, j, count, si, sj int) {
		for range count {
			out[i] += data[j]
			i, j = i+si, j+sj
		}
	})
	return out
}

// scatter writes elements in the given order of labels to the output, to its
// diagonal where it repeats a label.
func scatter[T vec.Number](s *sum, y, data []T, order []label) {
	strides := make(map[label]int, len(s.out))
	n, repeats := 1, false
	for i := len(s.out) - 1; i >= 0; i-- {
		_, seen := strides[s.out[i]]
		repeats = repeats || seen
		strides[s.out[i]] += n
		n *= s.sizes[s.out[i]]
	}
	if repeats {
		clear(y)
	}
	dims, to, from := make([]int, len(order)), make([]int, len(order)), make([]int, len(order))
	step := 1
	for i := len(order) - 1; i >= 0; i-- {
		dims[i], to[i], from[i] = s.sizes[order[i]], strides[order[i]], step
		step *= dims[i]
	}
	walkRows(dims, to, from, func(i, j, count, si, sj int) {
		if si == 1 && sj == 1 {
			copy(y[i:i+count], data[j:j+count])
			return
		}
		for range count {
			y[i] = data[j]
			i, j = i+si, j+sj
		}
	})
}

// walkRows visits all rows of a block: where a row starts on either side, its
// length and its steps.
func walkRows(dims, to, from []int, visit func(i, j, n, si, sj int)) {
	for _, n := range dims {
		if n == 0 {
			return
		}
	}
	last := len(dims) - 1
	if last < 0 {
		visit(0, 0, 1, 0, 0)
		return
	}
	index := make([]int, last)
	i, j := 0, 0
	for {
		visit(i, j, dims[last], to[last], from[last])
		d := last - 1
		for ; d >= 0; d-- {
			index[d]++
			i, j = i+to[d], j+from[d]
			if index[d] < dims[d] {
				break
			}
			i, j = i-dims[d]*to[d], j-dims[d]*from[d]
			index[d] = 0
		}
		if d < 0 {
			return
		}
	}
}
