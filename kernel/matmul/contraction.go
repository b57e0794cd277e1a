package matmul

import (
	"slices"

	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// How an einsum becomes a product of two matrices: which labels are rows,
// columns, batch or summed, and how operands are copied.

// operand is an input as labels with sizes and strides; labels that repeat have
// one entry, whose stride walks the diagonal.
type operand struct {
	labels []label
	sizes  map[label]int
	stride map[label]int
	len    int
}

// sum is one einsum with all sizes known.
type sum struct {
	shapes []tensor.Shape
	dims   tensor.Shape // of the output
	out    []label
	sizes  map[label]int
	in     []operand

	stepwise bool // labels are in TensorFlow's order, and those that are summed over before the product come last

	// The steps of the computation. The operands are copied to matrices, unless
	// they are already, and multiplied. The product is copied into the output's
	// order, unless it is written in that order.
	gather  [2]*relayout
	swapped bool // the second operand is on the left
	product product
	scatter *relayout
}

// measure returns the sizes and strides of the labels.
func (e *equation) measure(in []tensor.Shape) (*sum, error) {
	if err := e.Check(in); err != nil {
		return nil, err
	}
	sizes := map[label]int{}
	most := 0 // dimensions of ellipses
	var ops []operand
	for i, term := range e.In {
		s := in[i]
		n := 0
		if slices.Contains(term, shape.EllipsisLabel) {
			n = len(s) - len(term) + 1
		}
		most = max(most, n)
		o := operand{sizes: map[label]int{}, stride: map[label]int{}, len: shapes.Count(s)}
		strides := shapes.Strides(s)
		for d, l := range shape.ExpandLabels(term, n) {
			if _, seen := o.sizes[l]; !seen {
				o.labels = append(o.labels, l)
			}
			o.sizes[l] = s[d]
			o.stride[l] += strides[d]
			if all, known := sizes[l]; !known || all == 1 {
				sizes[l] = s[d]
			}
		}
		ops = append(ops, o)
	}
	out := shape.ExpandLabels(e.Out, most)
	dims := make(tensor.Shape, len(out))
	for i, l := range out {
		dims[i] = sizes[l]
	}
	return &sum{shapes: in, dims: dims, out: out, sizes: sizes, in: ops}, nil
}

// single plans the einsum of one operand: a label that the output lacks is summed
// over.
func (s *sum) single() {
	a := &s.in[0]
	var kept []label
	for _, l := range a.labels {
		if slices.Contains(s.out, l) {
			kept = append(kept, l)
		}
	}
	s.gather[0] = s.gathered(a, kept)
	if s.scatter = s.output().scatter(kept); s.scatter == nil {
		s.scatter = &relayout{dims: []int{s.count(kept)}, to: []int{1}, from: []int{1}}
	}
}

func (s *sum) count(labels []label) int {
	n := 1
	for _, l := range labels {
		n *= s.sizes[l]
	}
	return n
}

// double plans the einsum of two operands as products of matrices. If strides
// is true, the operands and the output may have any layout that one stride per
// dimension describes, as the heads of attention do.
func (s *sum) double(strides bool) {
	a, b := &s.in[0], &s.in[1]
	var batch, rows, cols, inner []label
	for _, l := range s.out {
		_, inA := a.sizes[l]
		_, inB := b.sizes[l]
		list := &rows
		if inA && inB {
			list = &batch
		} else if inB {
			list = &cols
		}
		if !slices.Contains(*list, l) { // an output may repeat labels
			*list = append(*list, l)
		}
	}
	for _, l := range a.labels {
		// If one operand is stretched along the label, the other is summed
		// alone.
		if _, both := b.sizes[l]; both && !slices.Contains(s.out, l) && a.sizes[l] == b.sizes[l] {
			inner = append(inner, l)
		}
	}
	if s.stepwise {
		s.order(batch)
		s.order(rows)
		s.order(cols)
	}
	p := &s.product
	p.m, p.n, p.k, p.batch = s.count(rows), s.count(cols), s.count(inner), s.count(batch)
	p.dense()
	var inPlace [3]bool
	if strides {
		p.lda, p.ta, inPlace[0] = a.matrix(batch, rows, inner)
		p.ldb, p.tb, inPlace[1] = b.matrix(batch, inner, cols)
	}
	if !inPlace[0] {
		p.lda, p.ta = p.k, false
		s.gather[0] = s.gathered(a, slices.Concat(batch, rows, inner))
	}
	if !inPlace[1] {
		p.ldb, p.tb = p.n, false
		s.gather[1] = s.gathered(b, slices.Concat(batch, inner, cols))
	}
	p.a, p.b = s.offsets(a, batch, inPlace[0], p.m*p.k), s.offsets(b, batch, inPlace[1], p.k*p.n)
	y := s.output()
	if strides && len(y.labels) == len(s.out) {
		var trans bool
		if p.ldc, trans, inPlace[2] = y.matrix(batch, rows, cols); inPlace[2] {
			p.c = s.offsets(y, batch, true, 0)
			if trans {
				s.swapped = true
				p.m, p.n = p.n, p.m
				p.a, p.b, p.lda, p.ldb, p.ta, p.tb = p.b, p.a, p.ldb, p.lda, !p.tb, !p.ta
			}
			return
		}
	}
	p.ldc = p.n
	s.scatter = y.scatter(slices.Concat(batch, rows, cols))
}

// output returns the output as an operand.
func (s *sum) output() *operand {
	o := &operand{sizes: map[label]int{}, stride: map[label]int{}, len: shapes.Count(s.dims)}
	for i, stride := range shapes.Strides(s.dims) {
		l := s.out[i]
		if _, seen := o.sizes[l]; !seen {
			o.labels = append(o.labels, l)
		}
		o.sizes[l] = s.sizes[l]
		o.stride[l] += stride
	}
	return o
}

// along returns the one stride that walks all places of some labels in order,
// or 0 if there is only one place.
func (o *operand) along(labels []label) (stride int, ok bool) {
	span := 0
	for _, l := range slices.Backward(labels) {
		switch {
		case o.sizes[l] == 1:
			continue
		case stride == 0:
			stride, span = o.stride[l], o.stride[l]
		case o.stride[l] != span:
			return 0, false
		}
		span *= o.sizes[l]
	}
	return stride, true
}

func (o *operand) count(labels []label) int {
	n := 1
	for _, l := range labels {
		n *= o.sizes[l]
	}
	return n
}

// matrix returns the layout of the matrices of rows by cols in an operand: the
// distance of their rows or, if they are transposed, of their columns. ok is
// false if the operand doesn't contain such matrices.
func (o *operand) matrix(batch, rows, cols []label) (ld int, trans, ok bool) {
	for _, l := range o.labels {
		if o.sizes[l] != 1 && !slices.Contains(batch, l) && !slices.Contains(rows, l) && !slices.Contains(cols, l) {
			return 0, false, false // to be summed over
		}
	}
	m, n := o.count(rows), o.count(cols)
	row, ok := o.along(rows)
	col, okCol := o.along(cols)
	if !ok || !okCol {
		return 0, false, false
	}
	if row == 0 {
		row = max(n, 1)
	}
	if col <= 1 && row >= n {
		return row, false, true
	}
	if col == 0 {
		col = max(m, 1)
	}
	return col, true, row <= 1 && col >= m
}

// offsets returns the start of each matrix of the batch in an operand: in
// place, or in the gathered order, in which a matrix has size elements. An
// operand that is stretched along a label has one place along it.
func (s *sum) offsets(o *operand, batch []label, inPlace bool, size int) []int {
	out := []int{0}
	for i, l := range batch {
		step := o.stride[l]
		if !inPlace {
			step = size * o.count(batch[i+1:])
		}
		if o.sizes[l] == 1 {
			step = 0
		}
		next := make([]int, 0, len(out)*s.sizes[l])
		for _, at := range out {
			for k := range s.sizes[l] {
				next = append(next, at+k*step)
			}
		}
		out = next
	}
	return out
}

// relayout brings elements into another order.
type relayout struct {
	dims, to, from []int // sizes, and strides in the destination and in the source
	n              int   // elements of the destination
	sums           bool  // several elements go to one place
	holes          bool  // some places get none
}

// order sorts labels in TensorFlow's order: dimensions of ellipses, then
// letters in the order of the operands.
func (s *sum) order(labels []label) {
	slices.SortStableFunc(labels, func(a, b label) int { return s.rank(a) - s.rank(b) })
}

func (s *sum) rank(l label) int {
	if l < 0 {
		return int(l)
	}
	i := slices.Index(s.in[0].labels, l)
	if i < 0 {
		i = len(s.in[0].labels) + slices.Index(s.in[1].labels, l)
	}
	return i
}

// gathered returns the relayout of an operand's elements to the given order of
// labels. Labels that are summed over are summed on the way or, stepwise, come
// last.
func (s *sum) gathered(o *operand, order []label) *relayout {
	if !s.stepwise {
		return o.gather(order)
	}
	for _, l := range o.labels {
		if !slices.Contains(order, l) {
			order = append(order, l)
		}
	}
	return o.gather(order)
}

// gather returns the relayout of an operand's elements to the given order of
// labels, summed over all others. It returns nil if they are in this order.
func (o *operand) gather(order []label) *relayout {
	r := &relayout{n: o.count(order)}
	same := len(order) == len(o.labels) && r.n == o.len
	step := r.n
	for _, l := range order {
		step /= max(o.sizes[l], 1)
		r.add(o.sizes[l], step, o.stride[l])
		same = same && (o.stride[l] == step || o.sizes[l] == 1)
	}
	if same {
		return nil
	}
	for _, l := range o.labels {
		if !slices.Contains(order, l) {
			r.sums = true
			r.add(o.sizes[l], 0, o.stride[l])
		}
	}
	return r
}

// scatter returns the relayout of elements in the given order of labels to an
// operand, the output. It returns nil if it has that order.
func (o *operand) scatter(order []label) *relayout {
	r := &relayout{n: o.len}
	step := o.count(order)
	same := step == o.len
	r.holes = !same
	for _, l := range order {
		step /= max(o.sizes[l], 1)
		r.add(o.sizes[l], o.stride[l], step)
		same = same && (o.stride[l] == step || o.sizes[l] == 1)
	}
	if same {
		return nil
	}
	return r
}

func (r *relayout) add(n, to, from int) {
	r.dims, r.to, r.from = append(r.dims, n), append(r.to, to), append(r.from, from)
}

// relay brings src into dst.
func relay[T vec.Number](r *relayout, dst, src []T) {
	if r.sums || r.holes {
		clear(dst)
	}
	walkRows(r.dims, r.to, r.from, func(i, j, count, si, sj int) {
		switch {
		case r.sums:
			for range count {
				dst[i] += src[j]
				i, j = i+si, j+sj
			}
		case si == 1 && sj == 1:
			copy(dst[i:i+count], src[j:j+count])
		default:
			for range count {
				dst[i] = src[j]
				i, j = i+si, j+sj
			}
		}
	})
}

// walkRows visits all rows of a block with a row's offset on either side, its
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
