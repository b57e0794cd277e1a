package lookup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// kind determines the changes that a table allows.
type kind uint8

const (
	static  kind = iota // once, by its initializer or by an import
	mutable             // at any time
	dense               // at any time; two reserved keys mark empty and deleted buckets
)

// Table is a lookup table, to which a handle refers. It is safe for concurrent
// use.
type Table struct {
	kind    kind
	growth  growth         // of a dense table
	empty   *tensor.Tensor // the key of a dense table's empty buckets
	skipped [][]byte       // keys of pairs that are omitted
	refused [][]byte       // keys that may not be used: a dense table's empty and deleted ones

	mu     sync.RWMutex
	ready  bool // a static table has been initialized
	rows   map[string]int
	keys   column
	values column
}

func newTable(n *engine.Node, k kind) (*Table, error) {
	as := n.Attrs
	t := &Table{kind: k, rows: map[string]int{}}
	valueShape := tensor.Shape{}
	if s, ok := as.Shape("value_shape"); ok && s.HasRank() {
		if !s.Known() {
			return nil, fmt.Errorf("the attribute value_shape is %v, of unknown size", s)
		}
		valueShape = s.Dims()
	}
	var err error
	if t.keys, err = newColumn(as.Type("key_dtype", tensor.Invalid), tensor.Shape{}); err != nil {
		return nil, err
	}
	if t.values, err = newColumn(as.Type("value_dtype", tensor.Invalid), valueShape); err != nil {
		return nil, err
	}
	if k == dense {
		if t.growth, err = newGrowth(n); err != nil {
			return nil, err
		}
	}
	for _, c := range []column{t.keys, t.values} {
		if c.dtype != tensor.String && !c.dtype.Fixed() {
			return nil, fmt.Errorf("a table can't hold %v", c.dtype)
		}
	}
	return t, nil
}

// reserve sets the shape of a dense table's keys and its two reserved keys,
// which are inputs from the given one on.
func (t *Table) reserve(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	for i := range 2 {
		key := c.In(i)
		if key.DType() != t.keys.dtype || i == 1 && !key.Shape().Equal(c.In(0).Shape()) {
			return fmt.Errorf("the empty and deleted keys are %v%v and %v%v, not two of one shape of %v", c.In(0).DType(), c.In(0).Shape(), key.DType(), key.Shape(), t.keys.dtype)
		}
		t.refused = append(t.refused, append([]byte{}, keyOf(nil, key, 0, key.Len())...))
	}
	t.empty = c.In(0).Clone()
	var err error
	t.keys, err = newColumn(t.keys.dtype, c.In(0).Shape().Clone())
	if err == nil && string(t.refused[0]) == string(t.refused[1]) {
		err = fmt.Errorf("the empty and the deleted key are the same")
	}
	return err
}

// anonymous makes a new table in every call.
func anonymous(k kind) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		if _, err := newTable(n, k); err != nil {
			return nil, err
		}
		return func(c *engine.Call) error {
			t, err := newTable(n, k)
			if err == nil && k == dense {
				err = t.reserve(c)
			}
			if err == nil {
				c.SetObject(0, t)
			}
			return err
		}, nil
	}
}

// named finds the table of its shared name in the instance, or makes it there.
// A table without a name belongs to its node. If byRef is set, the handle is a
// reference, as in TensorFlow 1.
func named(k kind, byRef bool) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		if _, err := newTable(n, k); err != nil {
			return nil, err
		}
		name := n.Attrs.String("shared_name", "")
		if name == "" && n.Attrs.Bool("use_node_name_sharing") {
			name = n.Name
		}
		key := engine.ResourceKey{Kind: "table", Container: n.Attrs.String("container", ""), Name: name}
		return func(c *engine.Call) error {
			create := func() (any, error) {
				t, err := newTable(n, k)
				if err == nil && k == dense {
					err = t.reserve(c)
				}
				return t, err
			}
			var o any
			var err error
			if name == "" {
				made := c.NodeState(func() any {
					o, err := create()
					return made{o, err}
				}).(made)
				o, err = made.table, made.err
			} else {
				o, err = c.Instance().Resource(key, create)
			}
			if err != nil {
				return err
			}
			t, ok := o.(*Table)
			switch {
			case !ok:
				return fmt.Errorf("the resource %q is a %T, not a table", name, o)
			case t.keys.dtype != n.Attrs.Type("key_dtype", 0) || t.values.dtype != n.Attrs.Type("value_dtype", 0) || t.kind != k:
				return fmt.Errorf("the table %q maps %v to %v, or is of another kind", name, t.keys.dtype, t.values.dtype)
			}
			c.Refs().Output(0, engine.Value{Object: t, Ref: byRef})
			return nil
		}, nil
	}
}

// made is a table that a node stores, or the error of its creation.
type made struct {
	table any
	err   error
}

// input returns the table in input 0. It checks the number of inputs and that
// the others are tensors.
func input(c *engine.Call, n int) (*Table, error) {
	if c.NumIn() != n {
		return nil, fmt.Errorf("takes %d inputs, %d were given", n, c.NumIn())
	}
	t, err := engine.Object[*Table](c, 0)
	if err != nil {
		return nil, err
	}
	return t, c.NeedTensors(1)
}

// split returns the leading dimensions of a tensor, which number the rows of a
// column.
func (c *column) split(t *tensor.Tensor, what string) (outer tensor.Shape, n int, err error) {
	s, k := t.Shape(), len(t.Shape())-len(c.shape)
	if t.DType() != c.dtype || k < 0 || !s[k:].Equal(c.shape) {
		return nil, 0, fmt.Errorf("the %s are %v%v, the table's %v%v", what, t.DType(), s, c.dtype, c.shape)
	}
	return s[:k], shapes.Count(s[:k]), nil
}

// check returns an error for a reserved key.
func (t *Table) check(key []byte) error {
	for _, r := range t.refused {
		if string(r) == string(key) {
			return fmt.Errorf("the empty and the deleted key of the table are no keys")
		}
	}
	return nil
}

// find looks keys up; missing ones get a default.
func find(c *engine.Call) error {
	t, err := input(c, 3)
	if err != nil {
		return err
	}
	keys, def := c.In(1), c.In(2)
	outer, n, err := t.keys.split(keys, "keys")
	if err != nil {
		return err
	}
	_, defaults, err := t.values.split(def, "defaults")
	if err != nil {
		return err
	}
	if full := t.kind == mutable && defaults == n; defaults != 1 && !full {
		return fmt.Errorf("there are %d defaults for %d keys", defaults, n)
	}
	out, err := c.Alloc(0, t.values.dtype, append(outer.Clone(), t.values.shape...))
	if err != nil {
		return err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.kind == static && !t.ready {
		return errNotReady
	}
	def1 := t.values
	def1.bytes, def1.strs = def.Bytes(), def.Strings()
	var buf []byte
	for i := range n {
		key := keyOf(buf, keys, i, t.keys.width)
		if keys.DType() == tensor.String {
			buf = key
		}
		if err := t.check(key); err != nil {
			return err
		}
		if k, ok := t.rows[string(key)]; ok {
			t.values.copyTo(out, i, k)
		} else {
			def1.copyTo(out, i, min(i, defaults-1))
		}
	}
	return nil
}

// Number returns the number of a key in a table from strings to int64, -1 for a
// missing key.
func (t *Table) Number(key string) (int64, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	switch {
	case t.keys.dtype != tensor.String || t.values.dtype != tensor.Int64 || t.keys.width != 1 || t.values.width != 1:
		return 0, fmt.Errorf("the table maps %v to %v, not string to int64", t.keys.dtype, t.values.dtype)
	case t.kind == static && !t.ready:
		return 0, errNotReady
	}
	k, ok := t.rows[key]
	if !ok {
		return -1, nil
	}
	return int64(binary.NativeEndian.Uint64(t.values.bytes[8*k:])), nil
}

var errNotReady = errors.New("the table is not initialized: run its initializer first")

func size(c *engine.Call) error {
	t, err := input(c, 1)
	if err != nil {
		return err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	c.Set(0, tensor.Scalar(int64(len(t.rows))))
	return nil
}

// export returns all keys and values in the order of insertion, or the buckets
// of a dense table.
func export(c *engine.Call) error {
	t, err := input(c, 1)
	if err != nil {
		return err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.kind == static && !t.ready {
		return errNotReady
	}
	if t.kind == dense {
		return t.exportBuckets(c)
	}
	for i, col := range []*column{&t.keys, &t.values} {
		out, err := c.Alloc(i, col.dtype, append(tensor.Shape{len(t.rows)}, col.shape...))
		if err != nil {
			return err
		}
		copy(out.Bytes(), col.bytes)
		copy(out.Strings(), col.strs)
	}
	return nil
}

// insert sets the values of keys.
func insert(c *engine.Call) error {
	t, err := input(c, 3)
	if err != nil {
		return err
	}
	if t.kind == static {
		return fmt.Errorf("the table can't be changed once it is initialized")
	}
	n, err := t.pairs(c.In(1), c.In(2))
	if err == nil {
		err = t.checkAll(c.In(1), n)
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.growth.insert(len(t.rows), n)
	return t.put(c.In(1), c.In(2), n)
}

// pairs checks that keys and values fit the table and each other, and returns
// their number.
func (t *Table) pairs(keys, values *tensor.Tensor) (int, error) {
	_, n, err := t.keys.split(keys, "keys")
	if err != nil {
		return 0, err
	}
	_, m, err := t.values.split(values, "values")
	if err == nil && n != m {
		err = fmt.Errorf("there are %d keys and %d values", n, m)
	}
	return n, err
}

// checkAll returns an error if one of the keys is reserved.
func (t *Table) checkAll(keys *tensor.Tensor, n int) error {
	if t.kind != dense {
		return nil
	}
	for i := range n {
		if err := t.check(keyOf(nil, keys, i, t.keys.width)); err != nil {
			return err
		}
	}
	return nil
}

// put sets n pairs. In a static table a second pair of a key must have the same
// value.
func (t *Table) put(keys, values *tensor.Tensor, n int) error {
	var buf []byte
	for i := range n {
		key := keyOf(buf, keys, i, t.keys.width)
		if keys.DType() == tensor.String {
			buf = key
		}
		if t.skips(key) {
			continue
		}
		switch k, ok := t.rows[string(key)]; {
		case !ok:
			t.rows[string(key)] = len(t.rows)
			t.keys.add(keys, i)
			t.values.add(values, i)
		case t.kind != static:
			t.values.set(k, values, i)
		case !t.values.same(k, values, i):
			return fmt.Errorf("key %d of the table has two values", i)
		}
	}
	return nil
}

// skips reports whether the key of a pair is reserved, in a table that accepts
// such pairs and omits them.
func (t *Table) skips(key []byte) bool {
	return slices.ContainsFunc(t.skipped, func(k []byte) bool { return string(k) == string(key) })
}

func remove(c *engine.Call) error {
	t, err := input(c, 2)
	if err != nil {
		return err
	}
	if t.kind == static {
		return fmt.Errorf("the table can't be changed once it is initialized")
	}
	_, n, err := t.keys.split(c.In(1), "keys")
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range n {
		key := keyOf(nil, c.In(1), i, t.keys.width)
		if err := t.check(key); err != nil {
			return err
		}
		k, ok := t.rows[string(key)]
		if !ok {
			continue
		}
		last := len(t.rows) - 1
		if k != last {
			t.rows[t.keys.key(last)] = k
		}
		delete(t.rows, string(key))
		t.keys.drop(k, last+1)
		t.values.drop(k, last+1)
	}
	return nil
}

// key returns row k as a map's key.
func (c *column) key(k int) string {
	if c.dtype != tensor.String {
		return string(c.bytes[k*c.size() : (k+1)*c.size()])
	}
	t, err := tensor.FromStrings(c.dtype, c.strs[k*c.width:(k+1)*c.width], c.width)
	if err != nil {
		return ""
	}
	return string(keyOf(nil, t, 0, c.width))
}

// importAll replaces the table's contents with its inputs.
func importAll(c *engine.Call) error {
	t, err := input(c, 3)
	if err != nil {
		return err
	}
	return t.fill(c.In(1), c.In(2))
}

func initialize(c *engine.Call) error {
	t, err := input(c, 3)
	if err != nil {
		return err
	}
	if t.kind != static {
		return errMutable
	}
	if len(c.In(1).Shape()) != 1 {
		return fmt.Errorf("the keys have shape %v, not a vector's", c.In(1).Shape())
	}
	return t.fill(c.In(1), c.In(2))
}

// fill replaces the table's contents. An initialized static table keeps its
// contents, as in TensorFlow, and a different number of pairs is an error.
func (t *Table) fill(keys, values *tensor.Tensor) error {
	n, err := t.pairs(keys, values)
	if err != nil {
		return err
	}
	// A dense table that TensorFlow exports has its empty buckets, too.
	next := &Table{kind: t.kind, skipped: t.refused, rows: map[string]int{}, keys: t.keys, values: t.values}
	next.keys.bytes, next.keys.strs, next.values.bytes, next.values.strs = nil, nil, nil, nil
	if err := next.put(keys, values, n); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kind == static && t.ready {
		if n != len(t.rows) {
			return fmt.Errorf("the table is initialized already with %d keys, not %d", len(t.rows), n)
		}
		return nil
	}
	t.growth.imported(n, len(next.rows))
	t.ready, t.rows, t.keys, t.values = true, next.rows, next.keys, next.values
	return nil
}

// Fill sets the contents of a table that can't be changed afterwards to pairs
// of keys and values; nil keys make an empty table.
func (t *Table) Fill(keys, values *tensor.Tensor) error {
	if t.kind != static {
		return errMutable
	}
	if keys == nil {
		var err error
		if keys, err = tensor.Zeros(t.keys.dtype, 0); err != nil {
			return err
		}
		if values, err = tensor.Zeros(t.values.dtype, append(tensor.Shape{0}, t.values.shape...)...); err != nil {
			return err
		}
	}
	return t.fill(keys, values)
}

var errMutable = errors.New("a table that can be changed has no initializer")
