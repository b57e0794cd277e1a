package rnn

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of CTCLoss and CTCLossV2. They return the loss of each sequence
// and its gradient by the logits.

// logSum returns log(exp(a) + exp(b)) in the precision of T. TensorFlow
// computes a part of it in float32 even for float64, so its last digits may
// differ.
func logSum[T float](a, b T) T {
	switch none := T(math.Inf(-1)); {
	case a == none:
		return b
	case b == none:
		return a
	}
	return max(a, b) + T(math.Log1p(math.Exp(-math.Abs(float64(a-b)))))
}

// sequences are the logits of a CTC op: time × batch × classes.
type sequences struct {
	times, batch, classes int
	lengths               []int32
}

// newSequences checks the logits in input 0 and the lengths in the given one.
func newSequences(c *engine.Call, lengths int) (*sequences, error) {
	x, n := c.In(0), c.In(lengths)
	s := x.Shape()
	if len(s) != 3 {
		return nil, fmt.Errorf("inputs has shape %v, not one of 3 dimensions", s)
	}
	if n.DType() != tensor.Int32 || len(n.Shape()) != 1 || n.Len() != s[1] {
		return nil, fmt.Errorf("sequence_length is %v%v, not int32[%d], one for each sequence", n.DType(), n.Shape(), s[1])
	}
	if x.Len() == 0 {
		return nil, fmt.Errorf("inputs must not be empty, its shape is %v", s)
	}
	q := &sequences{s[0], s[1], s[2], tensor.Values[int32](n)}
	for b, n := range q.lengths {
		if int(n) > q.times {
			return nil, fmt.Errorf("sequence_length(%d) is %d, of inputs of %d steps", b, n, q.times)
		}
	}
	return q, nil
}

// ctcLossOf returns the kernel of CTCLoss, or of CTCLossV2, whose blank is the
// first class and not the last.
func ctcLossOf(first bool) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(4); err != nil {
			return err
		}
		if c.In(0).DType() == tensor.Float64 {
			return ctcLoss[float64](c, first)
		}
		if c.In(0).DType() != tensor.Float32 {
			return &engine.UnsupportedTypeError{Attr: "T", Type: c.In(0).DType(), Known: []tensor.DType{tensor.Float32, tensor.Float64}}
		}
		return ctcLoss[float32](c, first)
	}
}

// ctcLoss computes losses [batch] and gradients [time, batch, classes] in type
// T.
func ctcLoss[T float](c *engine.Call, first bool) error {
	q, err := newSequences(c, 3)
	if err != nil {
		return err
	}
	labels, err := labelLists(c, q)
	if err != nil {
		return err
	}
	loss, _, err := output[T](c, 0, c.In(0).DType(), q.batch)
	if err != nil {
		return err
	}
	dx, _, err := output[T](c, 1, c.In(0).DType(), q.times, q.batch, q.classes)
	if err != nil {
		return err
	}
	blank := q.classes - 1
	if first {
		blank = 0
	}
	merge, longer := true, c.Attrs().Bool("ignore_longer_outputs_than_inputs")
	if c.Attrs().Has("ctc_merge_repeated") {
		merge = c.Attrs().Bool("ctc_merge_repeated")
	}
	paths := make([][]int, q.batch)
	for b := range paths {
		if paths[b], err = path(b, labels[b], int(q.lengths[b]), q.classes, blank, c.Attrs().Bool("preprocess_collapse_repeated"), longer); err != nil {
			return err
		}
	}
	longest := 0
	for b, p := range paths {
		longest = max(longest, int(q.lengths[b])*(2*len(p)+q.classes)) // memory of alpha, beta and y
	}
	c.Fits(longest, 8)
	x := values[T](c, c.In(0))
	c.Parallel(q.batch, float64(q.times*q.classes)*50, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			n := int(q.lengths[b])
			if n == 0 || longer && len(labels[b]) > n || c.Context().Err() != nil {
				continue // no loss, and no gradient
			}
			a := alignment[T]{path: paths[b], blank: blank, merge: merge, steps: n, row: q.classes, check: c.Check}
			a.softmax(x[b*q.classes:], q.batch*q.classes)
			loss[b] = a.run()
			for t := range n {
				copy(dx[(t*q.batch+b)*q.classes:][:q.classes], a.y[t*q.classes:])
			}
		}
	})
	return c.Context().Err()
}

// labelLists returns the labels of each sequence, which inputs 1 and 2 hold as a
// sparse matrix in the order of its indices.
func labelLists(c *engine.Call, q *sequences) ([][]int, error) {
	at, v := c.In(1), c.In(2)
	if at.DType() != tensor.Int64 || v.DType() != tensor.Int32 || len(at.Shape()) != 2 || at.Shape()[1] != 2 || len(v.Shape()) != 1 || at.Shape()[0] != v.Len() {
		return nil, fmt.Errorf("labels_indices is %v%v and labels_values %v%v; a sparse matrix has int64[n,2] and int32[n]", at.DType(), at.Shape(), v.DType(), v.Shape())
	}
	out := make([][]int, q.batch)
	index, last := tensor.Values[int64](at), int64(0)
	for i, label := range tensor.Values[int32](v) {
		b := index[2*i]
		if b < 0 || b >= int64(q.batch) {
			return nil, fmt.Errorf("labels_indices(%d) names sequence %d, there are %d", i, b, q.batch)
		}
		if b < last {
			return nil, fmt.Errorf("labels_indices(%d) is out of order", i)
		}
		last = b
		out[b] = append(out[b], int(label))
	}
	return out, nil
}

// path returns a sequence's labels with a blank before, between and after them. If collapse is set,
// repeated labels become one. If longer is set, there may be more labels than steps.
func path(b int, labels []int, steps, classes, blank int, collapse, longer bool) ([]int, error) {
	if steps < 0 {
		return nil, fmt.Errorf("sequence_length(%d) is %d", b, steps)
	}
	if len(labels) == 0 {
		return nil, fmt.Errorf("labels length is zero in batch %d", b)
	}
	out := []int{blank}
	ended := false
	for i, l := range labels {
		switch {
		case collapse && i > 0 && l == labels[i-1]:
		case blank != 0 && l >= classes-1:
			ended = true
		case ended:
			return nil, fmt.Errorf("saw a non-null label (index >= num_classes - 1) following a null label, batch: %d num_classes: %d labels: %v", b, classes, labels)
		case l < 0 || l >= classes || l == blank:
			return nil, fmt.Errorf("label %d of batch %d isn't one of %d classes", l, b, classes)
		default:
			out = append(out, l, blank)
		}
	}
	if !longer && len(labels) > steps {
		return nil, fmt.Errorf("not enough time for target transition sequence (required: %d, available: %d) in batch %d; "+
			"the attribute ignore_longer_outputs_than_inputs takes such a sequence without a loss", len(labels), steps, b)
	}
	return out, nil
}

// alignment sums over all ways in which the steps of a sequence spell a path.
type alignment[T float] struct {
	path       []int
	blank      int
	merge      bool // equal labels in a row are one, unless a blank is between
	steps, row int
	check      func() // leaves the kernel if the call's context has ended
	y          []T    // steps × row: probabilities, then the gradient
}

// softmax fills y from logits whose steps are stride apart.
func (a *alignment[T]) softmax(x []T, stride int) {
	a.y = make([]T, a.steps*a.row)
	for t := range a.steps {
		a.check()
		in, out := x[t*stride:][:a.row], a.y[t*a.row:][:a.row]
		most := in[0]
		for _, v := range in {
			most = max(most, v)
		}
		var sum T
		for i, v := range in {
			out[i] = T(math.Exp(float64(v - most)))
			sum += out[i]
		}
		for i := range out {
			out[i] /= sum
		}
	}
}

// log returns the logarithm of a label's probability at step t.
func (a *alignment[T]) log(t, label int) T { return T(math.Log(float64(a.y[t*a.row+label]))) }

// skips reports whether a step may lead from index u-2 of the path to u.
func (a *alignment[T]) skips(u int) bool {
	return u > 1 && a.path[u] != a.blank && !(a.merge && a.path[u] == a.path[u-2])
}

// stays reports whether a step may lead from index u to itself.
func (a *alignment[T]) stays(u int) bool { return a.merge || a.path[u] == a.blank }

// places returns the range of the path's indexes that are possible at step t,
// so that there is time for all labels.
func (a *alignment[T]) places(t int) (from, to int) {
	n := len(a.path)
	return max(0, n-2*(a.steps-t)), min(n, 2*(t+1))
}

// run returns the loss and makes y the gradient.
func (a *alignment[T]) run() T {
	none, n := T(math.Inf(-1)), len(a.path)
	alpha, beta := make([]T, a.steps*n), make([]T, a.steps*n)
	for i := range alpha {
		alpha[i], beta[i] = none, none
	}
	alpha[0] = a.log(0, a.blank)
	if n > 1 {
		alpha[1] = a.log(0, a.path[1])
	}
	for t := 1; t < a.steps; t++ {
		a.check()
		before, now := alpha[(t-1)*n:][:n], alpha[t*n:][:n]
		for u, to := a.places(t); u < to; u++ {
			sum := none
			if a.stays(u) {
				sum = before[u]
			}
			if u > 0 {
				sum = logSum(sum, before[u-1])
			}
			if a.skips(u) {
				sum = logSum(sum, before[u-2])
			}
			now[u] = a.log(t, a.path[u]) + sum
		}
	}
	// The last blank and the label before it end a path. Without labels the
	// path is one blank, and the element before it in beta is that of the step
	// before. TensorFlow sets it, too.
	for last := len(beta) - 1; last >= max(0, len(beta)-2); last-- {
		beta[last] = 0
	}
	for t := a.steps - 2; t >= 0; t-- {
		a.check()
		after, now := beta[(t+1)*n:][:n], beta[t*n:][:n]
		for u, to := a.places(t); u < to; u++ {
			if a.stays(u) {
				now[u] = logSum(now[u], after[u]+a.log(t+1, a.path[u]))
			}
			if u+1 < n {
				now[u] = logSum(now[u], after[u+1]+a.log(t+1, a.path[u+1]))
			}
			if u+2 < n && a.path[u] != a.blank && a.skips(u+2) {
				now[u] = logSum(now[u], after[u+2]+a.log(t+1, a.path[u+2]))
			}
		}
	}
	total := none
	for u := range n {
		total = logSum(total, alpha[u]+beta[u])
	}
	if total == none {
		return -total // no path at all: the gradient is the probabilities
	}
	sums := make([]T, a.row)
	for t := range a.steps {
		a.check()
		for i := range sums {
			sums[i] = none
		}
		for u, label := range a.path {
			sums[label] = logSum(sums[label], alpha[t*n+u]+beta[t*n+u])
		}
		for i, s := range sums {
			a.y[t*a.row+i] -= T(math.Exp(float64(s - total)))
		}
	}
	return -total
}
