package lookup

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// Tables and the kernels on them. kernel/data fills tables from datasets with Fill.

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
	skipped [][]byte       // reserved keys whose pairs put omits; set only while fill imports
	refused [][]byte       // keys that may not be used: a dense table's empty and deleted ones

	mu     sync.RWMutex
	ready  bool // a static table has been initialized
	count  int  // pairs in the table
	rows   map[string]int
	keys   column
	values column
	// rows, keys and values may have more pairs than count: those of an insertion that ended
	// with its context. The next change removes them.
}

// look is the number of bytes of keys, each taken as pairBytes longer, that a loop reads between
// two looks at the context.
const (
	look      = 1 << 19
	pairBytes = 256
)

// looks ends a loop over keys with a context.
type looks struct {
	ctx  context.Context
	read int
}

// key counts a key of n bytes. It returns the cause if the context has ended.
func (l *looks) key(n int) error {
	if l.read += n + pairBytes; l.read < look {
		return nil
	}
	l.read = 0
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	return nil
}

// row returns the row of a key in the table.
func (t *Table) row(key []byte) (k int, ok bool) {
	k, ok = t.rows[string(key)]
	return k, ok && k < t.count
}

// purge removes the pairs that an insertion left when its context ended.
func (t *Table) purge(ctx context.Context) error {
	l := looks{ctx: ctx}
	for len(t.rows) > t.count {
		key := t.keys.key(len(t.rows) - 1)
		if err := l.key(len(key)); err != nil {
			return err
		}
		delete(t.rows, key)
	}
	t.keys.cut(t.count)
	t.values.cut(t.count)
	return nil
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

// reserved are the two reserved keys of a dense table.
type reserved struct {
	empty *tensor.Tensor
	keys  [][]byte
}

// readReserved returns the reserved keys in inputs 0 and 1 of an op that makes a dense table.
func readReserved(c *engine.Call, d tensor.DType) (*reserved, error) {
	if err := c.Need(2); err != nil {
		return nil, err
	}
	r := &reserved{}
	for i := range 2 {
		key := c.In(i)
		if key.DType() != d || i == 1 && !key.Shape().Equal(c.In(0).Shape()) {
			return nil, fmt.Errorf("the empty and deleted keys are %v%v and %v%v, not two of one shape of %v", c.In(0).DType(), c.In(0).Shape(), key.DType(), key.Shape(), d)
		}
		n := keySize(key, 0, key.Len())
		c.Reserve(2 * n)
		if n > look {
			c.Check()
		}
		r.keys = append(r.keys, bytes.Clone(keyOf(nil, key, 0, key.Len())))
	}
	if bytes.Equal(r.keys[0], r.keys[1]) {
		return nil, fmt.Errorf("the empty and the deleted key are the same")
	}
	r.empty = c.In(0).Clone()
	return r, nil
}

// reserve sets the shape of a dense table's keys and its reserved keys.
func (t *Table) reserve(r *reserved) (err error) {
	t.refused, t.empty = r.keys, r.empty
	t.keys, err = newColumn(t.keys.dtype, r.empty.Shape().Clone())
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
				var r *reserved
				if r, err = readReserved(c, t.keys.dtype); err == nil {
					err = t.reserve(r)
				}
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
			var keys *reserved
			var err error
			if k == dense {
				// Not in create, which is called once: the context may end here.
				if keys, err = readReserved(c, n.Attrs.Type("key_dtype", tensor.Invalid)); err != nil {
					return err
				}
			}
			create := func() (any, error) {
				t, err := newTable(n, k)
				if err == nil && k == dense {
					err = t.reserve(keys)
				}
				return t, err
			}
			var o any
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
	rows, l := keyReader{t: keys, width: t.keys.width}, looks{ctx: c.Context()}
	for i := range n {
		key := rows.key(i)
		if err := l.key(len(key)); err != nil {
			return err
		}
		if err := t.check(key); err != nil {
			return err
		}
		if k, ok := t.row(key); ok {
			t.values.copyTo(out, i, k)
		} else {
			def1.copyTo(out, i, min(i, defaults-1))
		}
	}
	return nil
}

// Number returns the number of a key in a table from strings to int64, -1 for a
// missing key. The exported methods serve kernel/data.
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
	if !ok || k >= t.count {
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
	c.Set(0, tensor.Scalar(int64(t.count)))
	return nil
}

// export returns all keys and values, or the buckets of a dense table. The pairs are in the order
// of insertion, but a removed pair's place may have the last pair.
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
		out, err := c.Alloc(i, col.dtype, append(tensor.Shape{t.count}, col.shape...))
		if err != nil {
			return err
		}
		if err := copyUntilDone(c.Context(), out.Bytes(), col.bytes); err != nil {
			return err
		}
		if err := copyUntilDone(c.Context(), out.Strings(), col.strs); err != nil {
			return err
		}
	}
	return nil
}

// copyUntilDone copies elements until the context ends.
func copyUntilDone[T any](ctx context.Context, dst, src []T) error {
	const block = 4 << 20
	for lo := 0; lo < len(dst); lo += block {
		if lo > 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		copy(dst[lo:min(lo+block, len(dst))], src[lo:])
	}
	return nil
}

// keyReader returns the rows of a tensor as a map's keys.
type keyReader struct {
	t     *tensor.Tensor
	width int
	buf   []byte
}

// key returns row i. It is valid until the next call.
func (r *keyReader) key(i int) []byte {
	key := keyOf(r.buf, r.t, i, r.width)
	if r.t.DType() == tensor.String && r.width > 1 {
		r.buf = key
	}
	return key
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
		err = t.checkAll(c.Context(), c.In(1), n)
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.purge(c.Context()); err != nil {
		return err
	}
	have := t.count
	err = t.put(c.Context(), c.In(1), c.In(2), n)
	if err == nil {
		t.growth.insert(have, n)
	}
	return err
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
func (t *Table) checkAll(ctx context.Context, keys *tensor.Tensor, n int) error {
	if len(t.refused) == 0 {
		return nil
	}
	rows, l := keyReader{t: keys, width: t.keys.width}, looks{ctx: ctx}
	for i := range n {
		key := rows.key(i)
		if err := l.key(len(key)); err != nil {
			return err
		}
		if err := t.check(key); err != nil {
			return err
		}
	}
	return nil
}

// put sets n pairs. In a static table a second pair of a key must have the same
// value. If put returns an error, the table is as before.
func (t *Table) put(ctx context.Context, keys, values *tensor.Tensor, n int) error {
	type change struct{ row, from int }
	var changes []change // of pairs in the table
	rows, l := keyReader{t: keys, width: t.keys.width}, looks{ctx: ctx}
	for i := range n {
		key := rows.key(i)
		if err := l.key(len(key)); err != nil {
			return err
		}
		if t.skips(key) {
			continue
		}
		switch k, ok := t.rows[string(key)]; {
		case !ok:
			t.rows[string(key)] = len(t.rows)
			t.keys.add(keys, i)
			t.values.add(values, i)
		case t.kind == static:
			if !t.values.same(k, values, i) {
				return fmt.Errorf("key %d of the table has two values", i)
			}
		case k < t.count:
			changes = append(changes, change{k, i})
		default:
			t.values.set(k, values, i)
		}
	}
	for _, x := range changes {
		t.values.set(x.row, values, x.from)
	}
	t.count = len(t.rows)
	return nil
}

// skips reports whether the key of a pair is reserved, in a table that accepts
// such pairs and omits them.
func (t *Table) skips(key []byte) bool {
	return slices.ContainsFunc(t.skipped, func(k []byte) bool { return string(k) == string(key) })
}

// manyRemoved is the number of keys that can be removed without a look at the context.
const manyRemoved = 1 << 16

// remove removes keys. Missing ones are ignored.
func remove(c *engine.Call) error {
	t, err := input(c, 2)
	if err != nil {
		return err
	}
	if t.kind == static {
		return fmt.Errorf("the table can't be changed once it is initialized")
	}
	_, n, err := t.keys.split(c.In(1), "keys")
	if err == nil {
		err = t.checkAll(c.Context(), c.In(1), n)
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.purge(c.Context()); err != nil {
		return err
	}
	var found []int // inputs that are in the table
	rows, l := keyReader{t: c.In(1), width: t.keys.width}, looks{ctx: c.Context()}
	for i := range n {
		key := rows.key(i)
		if err := l.key(len(key)); err != nil {
			return err
		}
		if _, ok := t.row(key); ok {
			found = append(found, i)
		}
	}
	if len(found) > manyRemoved && len(found) > t.count/8 {
		return t.removeMany(c, c.In(1), found)
	}
	for _, i := range found {
		key := rows.key(i)
		k, ok := t.row(key)
		if !ok {
			continue // a second time
		}
		t.count--
		if k != t.count {
			t.rows[t.keys.key(t.count)] = k
		}
		delete(t.rows, string(key))
		t.keys.drop(k, t.count+1)
		t.values.drop(k, t.count+1)
	}
	return nil
}

// removeMany makes the table's contents anew, without the keys in some rows of a tensor.
func (t *Table) removeMany(c *engine.Call, keys *tensor.Tensor, found []int) error {
	gone := engine.Zeroed[bool](c, t.count)
	rows, l := keyReader{t: keys, width: t.keys.width}, looks{ctx: c.Context()}
	for _, i := range found {
		key := rows.key(i)
		if err := l.key(len(key)); err != nil {
			return err
		}
		if k, ok := t.row(key); ok {
			gone[k] = true
		}
	}
	next := Table{rows: map[string]int{}, keys: t.keys.empty(), values: t.values.empty()}
	for k := range t.count {
		if gone[k] {
			continue
		}
		key := t.keys.key(k)
		if err := l.key(len(key)); err != nil {
			return err
		}
		next.rows[key] = len(next.rows)
		next.keys.addRow(&t.keys, k)
		next.values.addRow(&t.values, k)
	}
	t.count, t.rows, t.keys, t.values = len(next.rows), next.rows, next.keys, next.values
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
	return t.fill(c.Context(), c.In(1), c.In(2))
}

// initialize computes InitializeTable and InitializeTableV2.
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
	return t.fill(c.Context(), c.In(1), c.In(2))
}

// fill replaces the table's contents. An initialized static table keeps its
// contents, as in TensorFlow, and a different number of pairs is an error.
func (t *Table) fill(ctx context.Context, keys, values *tensor.Tensor) error {
	n, err := t.pairs(keys, values)
	if err != nil {
		return err
	}
	// A dense table that TensorFlow exports has its empty buckets, too.
	next := &Table{kind: t.kind, skipped: t.refused, rows: map[string]int{}, keys: t.keys.empty(), values: t.values.empty()}
	if err := next.put(ctx, keys, values, n); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kind == static && t.ready {
		if n != t.count {
			return fmt.Errorf("the table is initialized already with %d keys, not %d", t.count, n)
		}
		return nil
	}
	t.growth.imported(n, next.count)
	t.ready, t.count, t.rows, t.keys, t.values = true, next.count, next.rows, next.keys, next.values
	return nil
}

// Fill sets the contents of a table that can't be changed afterwards to pairs
// of keys and values; nil keys make an empty table.
func (t *Table) Fill(ctx context.Context, keys, values *tensor.Tensor) error {
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
	return t.fill(ctx, keys, values)
}

var errMutable = errors.New("a table that can be changed has no initializer")
