package lookup

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/murmur"
	"github.com/cairnml/cairn/tensor"
)

// A dense table of TensorFlow is an array of buckets, most of them empty. An
// empty bucket has the key "empty" and a value of zeros. Such an array can be
// imported, so the export returns one. A key's first bucket is its hash modulo
// the number of buckets. The distance to the next bucket grows by one with each
// probe.
//
//	bucket   0        1        2        3
//	key      7        empty    empty    3
//	value    0.5      0        0        1
//
// The hash of an integer is the integer. So 3 and 7 both begin at bucket 3. 7 came
// second, and the next bucket is 0.

// defaultBuckets is the number of buckets of a new table. It is TensorFlow's default of
// initial_num_buckets. The number of buckets shows in exports and in checkpoints, so growing must
// stay TensorFlow's (lookup_table_op.cc).
const defaultBuckets = 1 << 17

// growth is the number of buckets of a dense table and when it grows. Other tables have
// the zero growth.
type growth struct {
	buckets int64
	load    float64 // the table grows if it has more keys than load·buckets
}

// newGrowth returns the growth of a new table.
func newGrowth(n *engine.Node) (growth, error) {
	g := growth{n.Attrs.Int("initial_num_buckets", defaultBuckets), float64(n.Attrs.Float("max_load_factor", 0.8))}
	switch {
	case g.buckets < 4 || g.buckets&(g.buckets-1) != 0:
		return g, fmt.Errorf("initial_num_buckets must be at least 4 and a power of 2 (got %d)", g.buckets)
	case !(g.load > 0 && g.load < 1):
		return g, fmt.Errorf("max_load_factor must be between 0 and 1 (got %v)", g.load)
	}
	return g, nil
}

// insert adds buckets for n more keys.
func (g *growth) insert(have, n int) {
	for g.load > 0 && float64(have)+float64(n) > float64(g.buckets)*g.load && g.buckets < 1<<60 {
		g.buckets <<= 1
	}
}

// imported sets the number of buckets after the import of an array of n buckets with
// so many keys: the next power of 2, at least 4 and more than keys. So an array that
// TensorFlow exported keeps its number. TensorFlow keeps any number, also one that its
// search for buckets can't use.
func (g *growth) imported(n, keys int) {
	g.buckets = max(4, int64(1)<<bits.Len64(uint64(max(n, keys+1)-1)))
}

// exportBuckets returns the buckets of a dense table: matrices, of one column for scalars.
func (t *Table) exportBuckets(c *engine.Call) error {
	var out [2]*tensor.Tensor
	for i, col := range []*column{&t.keys, &t.values} {
		shape := append(tensor.Shape{int(t.growth.buckets)}, col.shape...)
		if len(shape) == 1 {
			shape = append(shape, 1)
		}
		if int64(shape[0]) != t.growth.buckets {
			return fmt.Errorf("the table has %d buckets, more than the machine can address", t.growth.buckets)
		}
		var err error
		if out[i], err = c.Alloc(i, col.dtype, shape); err != nil {
			return err
		}
	}
	return t.layOut(c, out[0], out[1])
}

// layOut writes a dense table's pairs to arrays of buckets.
func (t *Table) layOut(c *engine.Call, keys, values *tensor.Tensor) error {
	n := keys.Len() / max(1, t.keys.width)
	l := looks{ctx: c.Context()} // checks the context, every so many bytes of keys
	for at := range n {
		if err := l.key(t.keys.width); err != nil {
			return err
		}
		if keys.DType() == tensor.String {
			copy(keys.Strings()[at*t.keys.width:(at+1)*t.keys.width], t.empty.Strings())
		} else {
			copy(keys.Bytes()[at*t.keys.size():(at+1)*t.keys.size()], t.empty.Bytes())
		}
	}
	clear(values.Strings())
	clear(values.Bytes())
	taken := engine.Zeroed[bool](c, n)
	for k := range t.count {
		hash, size := t.keys.hash(k)
		if err := l.key(size); err != nil {
			return err
		}
		at, probes := int(hash&uint64(n-1)), 0
		for taken[at] {
			if probes++; probes > n {
				return fmt.Errorf("the table's buckets are full")
			}
			if err := l.key(0); err != nil {
				return err
			}
			at = (at + probes) & (n - 1)
		}
		taken[at] = true
		t.keys.copyTo(keys, at, k)
		t.values.copyTo(values, at, k)
	}
	return nil
}

// hash returns TensorFlow's hash of row k, and the number of bytes that it reads.
func (c *column) hash(k int) (h uint64, size int) {
	scalar := func(i int) uint64 {
		if c.dtype == tensor.String {
			size += len(c.strs[k*c.width+i])
			return murmur.Hash64(c.strs[k*c.width+i])
		}
		size += c.dtype.Size()
		return numberOf(c.dtype, c.bytes[(k*c.width+i)*c.dtype.Size():])
	}
	if c.width == 1 {
		h = scalar(0)
		return h, size
	}
	for i := range c.width {
		h ^= scalar(i) + 0x9e3779b97f4a7800 + h<<10 + h>>4
	}
	return h, size
}

// numberOf returns the number that TensorFlow hashes. An int32 is extended by its sign,
// and 8 bytes are taken as they are. Of other types it is the bytes, the first one highest.
func numberOf(d tensor.DType, b []byte) uint64 {
	switch n := d.Size(); {
	case d == tensor.Int32:
		return uint64(int64(int32(binary.NativeEndian.Uint32(b))))
	case n == 8:
		return binary.NativeEndian.Uint64(b)
	default:
		var h uint64
		for _, x := range b[:n] {
			h = h<<8 | uint64(x)
		}
		return h
	}
}
