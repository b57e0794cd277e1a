package parse

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ParseExample, ParseExampleV2 and ParseSingleExample. The texts
// are read as by TensorFlow's fast parser (example_proto_fast_parsing.cc).
// sequence.go uses the specs and outputs.

// spec has the features of examples that an op returns, by kind of output.
type spec struct {
	sparse []feature
	dense  []feature
	ragged []feature
	single bool // one example, whose outputs have no dimension for the batch
}

// feature is a feature to find in examples.
type feature struct {
	key   string
	dtype tensor.DType

	shape    tensor.Shape   // dense: of an example; the first size may be -1, for any number of values
	fallback *tensor.Tensor // dense: for an example without the feature
	splits   tensor.DType   // ragged
}

// attrNames are the names of the attributes with the types and shapes of
// features.
type attrNames struct {
	sparse, dense, shapes, ragged, splits string
}

// exampleAttrs are those of the three ops of this file.
var exampleAttrs = attrNames{"sparse_types", "Tdense", "dense_shapes", "ragged_value_types", "ragged_split_types"}

// newSpec returns the types and shapes in the attributes, without keys.
func newSpec(as graph.Attrs, names attrNames) (*spec, error) {
	s := new(spec)
	for _, d := range as.Types(names.sparse) {
		s.sparse = append(s.sparse, feature{dtype: d})
	}
	dims := as.Shapes(names.shapes)
	for i, d := range as.Types(names.dense) {
		if i >= len(dims) || !dims[i].HasRank() {
			return nil, fmt.Errorf("dense feature %d has no shape of known rank", i)
		}
		shape := dims[i].Anonymous().Dims()
		if len(shape) > 0 && !shape[1:].Known() {
			return nil, fmt.Errorf("dense feature %d has the shape %v: only the first size may be unknown", i, dims[i])
		}
		s.dense = append(s.dense, feature{dtype: d, shape: shape})
	}
	splits := as.Types(names.splits)
	for i, d := range as.Types(names.ragged) {
		if i >= len(splits) || splits[i] != tensor.Int32 && splits[i] != tensor.Int64 {
			return nil, fmt.Errorf("ragged feature %d has no splits of int32 or int64", i)
		}
		s.ragged = append(s.ragged, feature{dtype: d, splits: splits[i]})
	}
	for _, list := range [][]feature{s.sparse, s.dense, s.ragged} {
		for _, f := range list {
			if f.dtype != tensor.String && f.dtype != tensor.Float32 && f.dtype != tensor.Int64 {
				return nil, fmt.Errorf("examples hold no %v", f.dtype)
			}
		}
	}
	return s, nil
}

// withInputs returns a copy of features, in which set has stored the keys or
// the fallbacks, which are inputs.
func withInputs(list []feature, set func(*feature, int) error) ([]feature, error) {
	list = slices.Clone(list)
	for i := range list {
		if err := set(&list[i], i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// keysOf returns a setter for the keys in a vector.
func keysOf(c *engine.Call, in, want int) (func(*feature, int) error, error) {
	t := c.In(in)
	if t.DType() != tensor.String || t.Len() != want {
		return nil, fmt.Errorf("the keys in input %d are %v%v, not %d strings", in, t.DType(), t.Shape(), want)
	}
	return func(f *feature, i int) error {
		f.key = t.Strings()[i]
		return nil
	}, nil
}

// keyFrom returns a setter for the keys in the inputs from at on.
func keyFrom(c *engine.Call, at int) func(*feature, int) error {
	return func(f *feature, i int) error {
		t := c.In(at + i)
		if t.DType() != tensor.String || t.Len() != 1 {
			return fmt.Errorf("a key is %v%v, not a string", t.DType(), t.Shape())
		}
		f.key = t.Strings()[0]
		return nil
	}
}

// fallbackFrom returns a setter for the fallbacks in the inputs from at on.
func fallbackFrom(c *engine.Call, at int) func(*feature, int) error {
	return func(f *feature, i int) error {
		f.fallback = c.In(at + i)
		return f.checkFallback()
	}
}

// checkFallback checks the type and the shape of a default.
func (f *feature) checkFallback() error {
	t := f.fallback
	switch {
	case t.DType() != f.dtype:
		return fmt.Errorf("the default of %q is %v, not %v", f.key, t.DType(), f.dtype)
	case t.Len() == 0 && !f.varies(): // the feature is required
	case f.varies() && t.Len() != 1, !f.varies() && !t.Shape().Equal(f.shape):
		return fmt.Errorf("the default of %q has shape %v, the feature %v", f.key, t.Shape(), f.shape)
	}
	return nil
}

// varies reports whether the number of the feature's values may differ among
// examples.
func (f *feature) varies() bool { return len(f.shape) > 0 && f.shape[0] < 0 }

// parseExample prepares ParseExample. Its inputs are serialized, names, sparse
// keys, dense keys and defaults; each key is a scalar.
func parseExample(n *engine.Node) (func(*engine.Call) error, error) {
	s, err := newSpec(n.Attrs, exampleAttrs)
	if err != nil {
		return nil, err
	}
	a, b := len(s.sparse), len(s.dense)
	return func(c *engine.Call) error {
		if err := c.Need(2 + a + 2*b); err != nil {
			return err
		}
		x := new(spec)
		var err error
		if x.sparse, err = withInputs(s.sparse, keyFrom(c, 2)); err != nil {
			return err
		}
		if x.dense, err = withInputs(s.dense, keyFrom(c, 2+a)); err != nil {
			return err
		}
		if x.dense, err = withInputs(x.dense, fallbackFrom(c, 2+a+b)); err != nil {
			return err
		}
		return x.run(c)
	}, nil
}

// parseExampleV2 prepares ParseExampleV2, which has the keys as vectors:
// serialized, names, sparse, dense and ragged keys, defaults.
func parseExampleV2(n *engine.Node) (func(*engine.Call) error, error) {
	s, err := newSpec(n.Attrs, exampleAttrs)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if err := c.Need(5 + len(s.dense)); err != nil {
			return err
		}
		x := &spec{single: len(c.In(0).Shape()) == 0}
		for i, part := range []struct {
			from []feature
			to   *[]feature
		}{{s.sparse, &x.sparse}, {s.dense, &x.dense}, {s.ragged, &x.ragged}} {
			set, err := keysOf(c, 2+i, len(part.from))
			if err != nil {
				return err
			}
			if *part.to, err = withInputs(part.from, set); err != nil {
				return err
			}
		}
		var err error
		if x.dense, err = withInputs(x.dense, fallbackFrom(c, 5)); err != nil {
			return err
		}
		return x.run(c)
	}, nil
}

// parseSingleExample prepares ParseSingleExample, which has the keys in
// attributes.
func parseSingleExample(n *engine.Node) (func(*engine.Call) error, error) {
	s, err := newSpec(n.Attrs, exampleAttrs)
	if err != nil {
		return nil, err
	}
	s.single = true
	for _, part := range []struct {
		keys []string
		list []feature
	}{{n.Attrs.Strings("sparse_keys"), s.sparse}, {n.Attrs.Strings("dense_keys"), s.dense}} {
		if len(part.keys) != len(part.list) {
			return nil, fmt.Errorf("there are %d keys for %d features", len(part.keys), len(part.list))
		}
		for i, k := range part.keys {
			part.list[i].key = k
		}
	}
	return func(c *engine.Call) error {
		if err := c.Need(1 + len(s.dense)); err != nil {
			return err
		}
		x := *s
		var err error
		if x.dense, err = withInputs(s.dense, fallbackFrom(c, 1)); err != nil {
			return err
		}
		return x.run(c)
	}, nil
}

// rows returns the encoded features of every example in the spec's order:
// sparse, dense, ragged. The features are a map in the field with the given
// number. The result is [example][feature]; nil is a missing feature.
func (s *spec) rows(c *engine.Call, serialized []string, field protowire.Number) ([][][]byte, error) {
	at := map[string][]int{}
	n := 0
	for _, list := range [][]feature{s.sparse, s.dense, s.ragged} {
		for _, f := range list {
			at[f.key] = append(at[f.key], n)
			n++
		}
	}
	c.Fits(len(serialized), 24*(n+1)) // a slice for each feature of each example
	c.Reserve(len(serialized) * 24 * (n + 1))
	rows := make([][][]byte, len(serialized))
	pace := engine.NewPace(c)
	for i, text := range serialized {
		pace.Work(n + len(text))
		rows[i] = make([][]byte, n)
		err := fields([]byte(text), func(num protowire.Number, typ protowire.Type, features []byte) error {
			if num != field || typ != protowire.BytesType {
				return nil
			}
			return entries(features, func(key string, value []byte) error {
				pace.Work(len(at[key]))
				for _, k := range at[key] {
					rows[i][k] = value // the last one wins
				}
				return nil
			})
		})
		if err != nil {
			return nil, fmt.Errorf("example %d: %w", i, err)
		}
	}
	return rows, nil
}

// run parses the examples in input 0 and sets the outputs.
func (s *spec) run(c *engine.Call) error {
	in := c.In(0)
	switch {
	case in.DType() != tensor.String:
		return fmt.Errorf("the examples are %v, not strings", in.DType())
	case s.single && in.Len() != 1, !s.single && len(in.Shape()) != 1:
		return fmt.Errorf("the examples have shape %v", in.Shape())
	}
	rows, err := s.rows(c, in.Strings(), 1)
	if err != nil {
		return err
	}
	return s.outputs(c, rows)
}

// outputs sets the outputs from the features of every example.
func (s *spec) outputs(c *engine.Call, rows [][][]byte) error {
	a, b, r := len(s.sparse), len(s.dense), len(s.ragged)
	for k := range s.sparse {
		if err := s.sparse[k].sparse(c, rows, k, [3]int{k, a + k, 2*a + k}, s.single); err != nil {
			return fmt.Errorf("the feature %q: %w", s.sparse[k].key, err)
		}
	}
	for k := range s.dense {
		if err := s.dense[k].dense(c, rows, a+k, 3*a+k, s.single); err != nil {
			return fmt.Errorf("the feature %q: %w", s.dense[k].key, err)
		}
	}
	for k := range s.ragged {
		if err := s.ragged[k].ragged(c, rows, a+b+k, 3*a+b+k, 3*a+b+r+k, s.single); err != nil {
			return fmt.Errorf("the feature %q: %w", s.ragged[k].key, err)
		}
	}
	return nil
}

// collect returns the values of column k of all examples, and the number of
// values up to the end of each example.
func (f *feature) collect(rows [][][]byte, k int) (v values, ends []int64, err error) {
	ends = make([]int64, len(rows))
	for i, row := range rows {
		if _, err := v.add(row[k], f.dtype); err != nil {
			return v, nil, fmt.Errorf("example %d: %w", i, err)
		}
		ends[i] = int64(v.len())
	}
	return v, ends, nil
}

// sparse makes a sparse tensor: indices, values and shape.
func (f *feature) sparse(c *engine.Call, rows [][][]byte, k int, out [3]int, single bool) error {
	v, ends, err := f.collect(rows, k)
	if err != nil {
		return err
	}
	rank := 2
	if single {
		rank = 1
	}
	t, err := c.Alloc(out[0], tensor.Int64, tensor.Shape{v.len(), rank})
	if err != nil {
		return err
	}
	at := tensor.Values[int64](t)[:0]
	last, widest := int64(0), int64(0)
	for i, end := range ends {
		for j := range end - last {
			if !single {
				at = append(at, int64(i))
			}
			at = append(at, j)
		}
		last, widest = end, max(widest, end-last)
	}
	c.Set(out[1], v.tensor(f.dtype))
	if single {
		c.Set(out[2], tensor.Vector(widest))
	} else {
		c.Set(out[2], tensor.Vector(int64(len(rows)), widest))
	}
	return nil
}

// ragged makes a ragged tensor: values and row splits.
func (f *feature) ragged(c *engine.Call, rows [][][]byte, k, valuesAt, splitsAt int, single bool) error {
	v, ends, err := f.collect(rows, k)
	if err != nil {
		return err
	}
	c.Set(valuesAt, v.tensor(f.dtype))
	var splits []int64
	if !single { // one example has no rows
		splits = append([]int64{0}, ends...)
	}
	t, err := tensor.Cast(tensor.Vector(splits...), f.splits)
	if err == nil {
		c.Set(splitsAt, t)
	}
	return err
}

// dense makes a tensor with the values of every example. The fallback replaces
// those of an example without the feature.
func (f *feature) dense(c *engine.Call, rows [][][]byte, k, out int, single bool) error {
	if f.varies() {
		return f.padded(c, rows, k, out, single)
	}
	dims := f.shape
	if !single {
		dims = append(tensor.Shape{len(rows)}, dims...)
	}
	t, err := c.Alloc(out, f.dtype, dims)
	if err != nil {
		return err
	}
	n := shapes.Count(f.shape)
	var v values
	for i, row := range rows {
		v.clear()
		switch present, err := v.add(row[k], f.dtype); {
		case err != nil:
			return fmt.Errorf("example %d: %w", i, err)
		case present && v.len() != n:
			return fmt.Errorf("example %d holds %d values, the shape %v takes %d", i, v.len(), f.shape, n)
		case present:
			v.put(t, i*n)
		case f.fallback.Len() != n:
			return fmt.Errorf("example %d lacks it, and there is no default", i)
		default:
			copyElements(t, i*n, f.fallback)
		}
	}
	return nil
}

// copyElements writes all elements of x to t from element at on.
func copyElements(t *tensor.Tensor, at int, x *tensor.Tensor) {
	if t.DType() == tensor.String {
		copy(t.Strings()[at:], x.Strings())
		return
	}
	copy(t.Bytes()[at*t.DType().Size():], x.Bytes())
}

// padded makes a tensor that is as long as the longest example, with the
// fallback after the values of the others.
func (f *feature) padded(c *engine.Call, rows [][][]byte, k, out int, single bool) error {
	v, ends, err := f.collect(rows, k)
	if err != nil {
		return err
	}
	stride := int64(shapes.Count(f.shape[1:]))
	last, longest := int64(0), int64(0)
	for i, end := range ends {
		if n := end - last; stride == 0 && n > 0 || stride > 0 && n%stride != 0 {
			return fmt.Errorf("example %d holds %d values, which make no rows of %v", i, n, f.shape[1:])
		}
		last, longest = end, max(longest, end-last)
	}
	if stride > 0 {
		longest /= stride
	}
	dims := append(tensor.Shape{int(longest)}, f.shape[1:]...)
	if !single {
		dims = append(tensor.Shape{len(rows)}, dims...)
	}
	t, err := c.Alloc(out, f.dtype, dims)
	if err != nil {
		return err
	}
	for i := range t.Len() {
		copyElements(t, i, f.fallback)
	}
	all := v.tensor(f.dtype)
	last = 0
	for i, end := range ends {
		to := i * int(longest*stride)
		if f.dtype == tensor.String {
			copy(t.Strings()[to:], all.Strings()[last:end])
		} else {
			size := int64(f.dtype.Size())
			copy(t.Bytes()[int64(to)*size:], all.Bytes()[last*size:end*size])
		}
		last = end
	}
	return nil
}
