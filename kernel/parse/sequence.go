package parse

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ParseSequenceExample, ParseSequenceExampleV2 and
// ParseSingleSequenceExample.

// sequence has the features of SequenceExamples that an op returns: those of
// the context, as of an Example, and lists of features, one feature a step.
type sequence struct {
	context *spec
	lists   *spec
	empty   []bool // dense lists that count as empty if they are missing
	lengths bool   // the op returns the lengths of dense lists
}

var (
	contextAttrs = attrNames{"context_sparse_types", "Tcontext_dense", "context_dense_shapes", "context_ragged_value_types", "context_ragged_split_types"}
	listAttrs    = attrNames{"feature_list_sparse_types", "feature_list_dense_types", "feature_list_dense_shapes", "feature_list_ragged_value_types", "feature_list_ragged_split_types"}
)

// newSequence reads the attributes that all three ops have.
func newSequence(n *engine.Node) (*sequence, error) {
	context, err := newSpec(n.Attrs, contextAttrs)
	if err != nil {
		return nil, err
	}
	lists, err := newSpec(n.Attrs, listAttrs)
	if err != nil {
		return nil, err
	}
	for i, f := range lists.dense {
		if !f.shape.Known() {
			return nil, fmt.Errorf("dense feature list %d has steps of shape %v: all sizes must be known", i, f.shape)
		}
	}
	return &sequence{context: context, lists: lists, empty: make([]bool, len(lists.dense)), lengths: true}, nil
}

// with returns a copy for one call, which sets its keys and fallbacks. single
// is for one example, whose outputs have no dimension for the batch.
func (q *sequence) with(single bool) *sequence {
	next := *q
	context, lists := *q.context, *q.lists
	context.single, lists.single = single, single
	next.context, next.lists = &context, &lists
	return &next
}

// parseSequence prepares ParseSequenceExample, which has the keys in
// attributes: serialized, names, defaults.
func parseSequence(n *engine.Node) (func(*engine.Call) error, error) {
	q, err := newSequence(n)
	if err != nil {
		return nil, err
	}
	for _, part := range []struct {
		attr string
		list []feature
	}{
		{"context_sparse_keys", q.context.sparse}, {"context_dense_keys", q.context.dense},
		{"feature_list_sparse_keys", q.lists.sparse}, {"feature_list_dense_keys", q.lists.dense},
	} {
		keys := n.Attrs.Strings(part.attr)
		if len(keys) != len(part.list) {
			return nil, fmt.Errorf("%s has %d keys for %d features", part.attr, len(keys), len(part.list))
		}
		for i, k := range keys {
			part.list[i].key = k
		}
	}
	q.assume(n.Attrs.Strings("feature_list_dense_missing_assumed_empty"))
	return func(c *engine.Call) error {
		if err := c.Need(2 + len(q.context.dense)); err != nil {
			return err
		}
		x := q.with(false)
		var err error
		if x.context.dense, err = withInputs(q.context.dense, fallbackFrom(c, 2)); err != nil {
			return err
		}
		return x.run(c)
	}, nil
}

// assume sets the dense lists that count as empty if they are missing.
func (q *sequence) assume(keys []string) {
	q.empty = make([]bool, len(q.lists.dense))
	for i, f := range q.lists.dense {
		for _, k := range keys {
			q.empty[i] = q.empty[i] || k == f.key
		}
	}
}

// parseSequenceV2 prepares ParseSequenceExampleV2, with vectors of keys as
// inputs: serialized, names, sparse, dense and ragged keys of the context, the
// same of the lists, the lists that may be missing, defaults.
func parseSequenceV2(n *engine.Node) (func(*engine.Call) error, error) {
	q, err := newSequence(n)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if err := c.Need(9 + len(q.context.dense)); err != nil {
			return err
		}
		x := q.with(len(c.In(0).Shape()) == 0)
		for i, list := range []*[]feature{&x.context.sparse, &x.context.dense, &x.context.ragged, &x.lists.sparse, &x.lists.dense, &x.lists.ragged} {
			set, err := keysOf(c, 2+i, len(*list))
			if err != nil {
				return err
			}
			if *list, err = withInputs(*list, set); err != nil {
				return err
			}
		}
		empty := c.In(8)
		if empty.DType() != tensor.Bool || empty.Len() != len(x.lists.dense) {
			return fmt.Errorf("feature_list_dense_missing_assumed_empty is %v%v, not %d bools", empty.DType(), empty.Shape(), len(x.lists.dense))
		}
		x.empty = tensor.Values[bool](empty)
		var err error
		if x.context.dense, err = withInputs(x.context.dense, fallbackFrom(c, 9)); err != nil {
			return err
		}
		return x.run(c)
	}, nil
}

// parseSingleSequence prepares ParseSingleSequenceExample, with a scalar for
// each key: serialized, the lists that may be missing, sparse and dense keys of
// the context, the same of the lists, defaults, name.
func parseSingleSequence(n *engine.Node) (func(*engine.Call) error, error) {
	q, err := newSequence(n)
	if err != nil {
		return nil, err
	}
	q.lengths = false
	total := len(q.context.sparse) + 2*len(q.context.dense) + len(q.lists.sparse) + len(q.lists.dense)
	return func(c *engine.Call) error {
		if err := c.Need(3 + total); err != nil {
			return err
		}
		for i := range total - len(q.context.dense) {
			if s := c.In(2 + i).Shape(); len(s) > 0 {
				return fmt.Errorf("key %d has shape %v (want a scalar)", i, s)
			}
		}
		x := q.with(true)
		at := 2
		for _, list := range []*[]feature{&x.context.sparse, &x.context.dense, &x.lists.sparse, &x.lists.dense} {
			var err error
			if *list, err = withInputs(*list, keyFrom(c, at)); err != nil {
				return err
			}
			at += len(*list)
		}
		var err error
		if x.context.dense, err = withInputs(x.context.dense, fallbackFrom(c, at)); err != nil {
			return err
		}
		empty := c.In(1)
		if empty.DType() != tensor.String || len(empty.Shape()) != 1 {
			return fmt.Errorf("feature_list_dense_missing_assumed_empty is %v%v, not a vector of strings", empty.DType(), empty.Shape())
		}
		x.assume(empty.Strings())
		return x.run(c)
	}, nil
}

// run parses the examples in input 0 and sets the outputs. The outputs of the
// context come first, then those of the lists, in the order of the op
// definition.
func (q *sequence) run(c *engine.Call) error {
	in := c.In(0)
	single := q.context.single
	switch {
	case in.DType() != tensor.String:
		return fmt.Errorf("the examples are %v, not strings", in.DType())
	case single && in.Len() != 1, !single && len(in.Shape()) != 1:
		return fmt.Errorf("the examples have shape %v", in.Shape())
	}
	rows, err := q.context.rows(c, in.Strings(), 1)
	if err != nil {
		return err
	}
	if err := q.context.outputs(c, rows); err != nil {
		return err
	}
	if rows, err = q.lists.rows(c, in.Strings(), 2); err != nil {
		return err
	}
	s, d, r := len(q.lists.sparse), len(q.lists.dense), len(q.lists.ragged)
	at := 3*len(q.context.sparse) + len(q.context.dense) + 2*len(q.context.ragged)
	for k := range q.lists.sparse {
		f := &q.lists.sparse[k]
		if err := f.sparseList(c, rows, k, [3]int{at + k, at + s + k, at + 2*s + k}, single); err != nil {
			return fmt.Errorf("the feature list %q: %w", f.key, err)
		}
	}
	at += 3 * s
	for k := range q.lists.dense {
		f := &q.lists.dense[k]
		lengths := at + d + k
		if !q.lengths {
			lengths = -1
		}
		if err := f.denseList(c, rows, s+k, at+k, lengths, q.empty[k], single); err != nil {
			return fmt.Errorf("the feature list %q: %w", f.key, err)
		}
	}
	at += 2 * d
	for k := range q.lists.ragged {
		f := &q.lists.ragged[k]
		if err := f.raggedList(c, rows, s+d+k, [3]int{at + k, at + r + k, at + 2*r + k}, single); err != nil {
			return fmt.Errorf("the feature list %q: %w", f.key, err)
		}
	}
	return nil
}

// steps has the values of a list of features, of all examples one after the
// other.
type steps struct {
	values
	ends    []int64 // number of values up to the end of each step
	rows    []int64 // number of steps up to the end of each example
	missing []bool  // examples without the list
}

// collectList returns the values of column k of all examples. each is the
// number of values that every step must have, -1 for any.
func (f *feature) collectList(rows [][][]byte, k, each int) (*steps, error) {
	q := &steps{missing: make([]bool, len(rows))}
	for i, row := range rows {
		q.missing[i] = row[k] == nil
		err := fields(row[k], func(num protowire.Number, typ protowire.Type, step []byte) error {
			if num != 1 || typ != protowire.BytesType {
				return nil
			}
			before := q.len()
			if _, err := q.add(step, f.dtype); err != nil {
				return err
			}
			if n := q.len() - before; each >= 0 && n != each {
				return fmt.Errorf("step %d holds %d values, the shape %v takes %d", int64(len(q.ends))-q.begin(i), n, f.shape, each)
			}
			q.ends = append(q.ends, int64(q.len()))
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("example %d: %w", i, err)
		}
		q.rows = append(q.rows, int64(len(q.ends)))
	}
	return q, nil
}

// begin returns the number of an example's first step.
func (q *steps) begin(i int) int64 {
	if i == 0 {
		return 0
	}
	return q.rows[i-1]
}

// sparseList makes a sparse tensor of examples, steps and values: indices, values
// and shape.
func (f *feature) sparseList(c *engine.Call, rows [][][]byte, k int, out [3]int, single bool) error {
	q, err := f.collectList(rows, k, -1)
	if err != nil {
		return err
	}
	var at []int64
	longest, widest, last := int64(0), int64(0), int64(0)
	for i, to := range q.rows {
		from := q.begin(i)
		longest = max(longest, to-from)
		for step := from; step < to; step++ {
			for j := range q.ends[step] - last {
				if !single {
					at = append(at, int64(i))
				}
				at = append(at, step-from, j)
			}
			widest, last = max(widest, q.ends[step]-last), q.ends[step]
		}
	}
	shape := []int64{int64(len(rows)), longest, widest}
	if single {
		shape = shape[1:]
	}
	t, err := tensor.New(at, q.len(), len(shape))
	if err != nil {
		return err
	}
	c.Set(out[0], t)
	c.Set(out[1], q.tensor(f.dtype))
	c.Set(out[2], tensor.Vector(shape...))
	return nil
}

// denseList makes a tensor of all steps, padded to those of the longest
// example, and one of the examples' numbers of steps.
func (f *feature) denseList(c *engine.Call, rows [][][]byte, k, out, lengths int, empty, single bool) error {
	each := shapes.Count(f.shape)
	q, err := f.collectList(rows, k, each)
	if err != nil {
		return err
	}
	longest := int64(0)
	counts := make([]int64, len(rows))
	for i, to := range q.rows {
		if q.missing[i] && !empty {
			return fmt.Errorf("example %d lacks it; feature_list_dense_missing_assumed_empty says which lists may be missing", i)
		}
		counts[i] = to - q.begin(i)
		longest = max(longest, counts[i])
	}
	dims := append(tensor.Shape{int(longest)}, f.shape...)
	if !single {
		dims = append(tensor.Shape{len(rows)}, dims...)
	}
	t, err := c.AllocZero(out, f.dtype, dims)
	if err != nil {
		return err
	}
	all := q.tensor(f.dtype)
	for i := range rows {
		from, n, to := int(q.begin(i))*each, int(counts[i])*each, i*int(longest)*each
		if f.dtype == tensor.String {
			copy(t.Strings()[to:to+n], all.Strings()[from:])
			continue
		}
		size := f.dtype.Size()
		copy(t.Bytes()[to*size:(to+n)*size], all.Bytes()[from*size:])
	}
	switch {
	case lengths < 0:
	case single:
		c.Set(lengths, tensor.Scalar(counts[0]))
	default:
		c.Set(lengths, tensor.Vector(counts...))
	}
	return nil
}

// raggedList makes a ragged tensor of examples, steps and values: values, splits
// of the examples and of the steps.
func (f *feature) raggedList(c *engine.Call, rows [][][]byte, k int, out [3]int, single bool) error {
	q, err := f.collectList(rows, k, -1)
	if err != nil {
		return err
	}
	c.Set(out[0], q.tensor(f.dtype))
	var outer []int64
	if !single {
		outer = append([]int64{0}, q.rows...)
	}
	for i, splits := range [][]int64{outer, append([]int64{0}, q.ends...)} {
		t, err := tensor.Cast(tensor.Vector(splits...), f.splits)
		if err != nil {
			return err
		}
		c.Set(out[1+i], t)
	}
	return nil
}
