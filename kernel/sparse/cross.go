package sparse

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dchest/siphash"
	farm "github.com/dgryski/go-farm"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of SparseCross, SparseCrossV2, SparseCrossHashed and RaggedCross.
// Hashes and separators are those of TensorFlow's sparse_cross_op.cc and must
// stay: models are trained with the crosses as features.

// column is features in rows: strings or numbers.
type column struct {
	values *tensor.Tensor
	rows   [][]int // the values of each row
}

// text returns value i as a string.
func (x *column) text(i int) string {
	if x.values.DType() == tensor.String {
		return x.values.Strings()[i]
	}
	return strconv.FormatInt(tensor.Values[int64](x.values)[i], 10)
}

// hash returns the fingerprint of value i; that of a number is the number.
func (x *column) hash(i int) uint64 {
	if x.values.DType() == tensor.String {
		return farm.Fingerprint64([]byte(x.values.Strings()[i]))
	}
	return uint64(tensor.Values[int64](x.values)[i])
}

// bytes returns the input of a keyed hash for value i: four bytes for a number,
// as in TensorFlow.
func (x *column) bytes(i int) []byte {
	if x.values.DType() == tensor.String {
		return []byte(x.values.Strings()[i])
	}
	return binary.LittleEndian.AppendUint32(nil, uint32(tensor.Values[int64](x.values)[i]))
}

// newColumn returns a column without rows' values.
func newColumn(c *engine.Call, values *tensor.Tensor, rows int) (*column, error) {
	if d := values.DType(); d != tensor.String && d != tensor.Int64 {
		return nil, fmt.Errorf("features can't be %v", d)
	}
	c.Fits(rows, 24)
	return &column{values: values, rows: make([][]int, rows)}, nil
}

// sparseColumn reads features from a sparse matrix.
func sparseColumn(c *engine.Call, indices, values, shape int) (*column, error) {
	m, err := input(c, indices, values, shape)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return nil, err
	}
	if m.rank != 2 {
		return nil, fmt.Errorf("a sparse tensor of features has %d dimensions, not 2", m.rank)
	}
	if m.shape[0] > math.MaxInt32 {
		return nil, fmt.Errorf("features of %d rows are more than can be crossed", m.shape[0])
	}
	if err := c.Afford(m.shape[0] * 24); err != nil {
		return nil, err
	}
	x, err := newColumn(c, m.values, int(m.shape[0]))
	if err != nil {
		return nil, err
	}
	for i := range m.n {
		k := m.row(i)[0]
		x.rows[k] = append(x.rows[k], i)
	}
	return x, nil
}

// denseColumn reads features from a matrix.
func denseColumn(c *engine.Call, t *tensor.Tensor) (*column, error) {
	s := t.Shape()
	if len(s) != 2 {
		return nil, fmt.Errorf("dense features have shape %v, not a matrix's", s)
	}
	x, err := newColumn(c, t, s[0])
	if err != nil {
		return nil, err
	}
	for i := range t.Len() {
		x.rows[i/s[1]] = append(x.rows[i/s[1]], i)
	}
	return x, nil
}

// raggedColumn reads features from the values and splits of a ragged matrix.
func raggedColumn(c *engine.Call, values, splits *tensor.Tensor) (*column, error) {
	if len(values.Shape()) != 1 {
		return nil, fmt.Errorf("ragged features have shape %v, not a vector's", values.Shape())
	}
	rows, row, err := splitRows(c, splits, values.Len())
	if err != nil {
		return nil, err
	}
	x, err := newColumn(c, values, rows)
	if err != nil {
		return nil, err
	}
	for i := range values.Len() {
		x.rows[row(i)] = append(x.rows[row(i)], i)
	}
	return x, nil
}

// crossColumns reads the first inputs of the crosses of sparse tensors: n
// indices, values and shapes, then dense matrices up to the last rest inputs.
func crossColumns(c *engine.Call, n, rest int) ([]*column, error) {
	if err := c.NeedTensors(0); err != nil {
		return nil, err
	}
	dense := c.NumIn() - 3*n - rest
	if n < 0 || n > c.NumIn() || dense < 0 {
		return nil, fmt.Errorf("takes %d sparse tensors, %d inputs were given", n, c.NumIn())
	}
	var all []*column
	for i := range n {
		x, err := sparseColumn(c, i, n+i, 2*n+i)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	for i := range dense {
		x, err := denseColumn(c, c.In(3*n+i))
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, sameRows(all)
}

// sameRows checks that all columns have as many rows as the first.
func sameRows(all []*column) error {
	if len(all) == 0 {
		return fmt.Errorf("there are no features to cross")
	}
	for i, x := range all {
		if len(x.rows) != len(all[0].rows) {
			return fmt.Errorf("features %d have %d rows, the first %d", i, len(x.rows), len(all[0].rows))
		}
	}
	return nil
}

// crosses calls f with every choice of one feature from each column, row by
// row; the last column's feature changes fastest. It returns the number of
// choices up to each row's end. each is the least number of bytes that f
// stores for a choice.
func crosses(c *engine.Call, all []*column, each int, f func(choice []int) error) (ends []int64, err error) {
	total := int64(0)
	choice := make([]int, len(all))
	for row := range all[0].rows {
		n := int64(1)
		for _, x := range all {
			k := int64(len(x.rows[row]))
			if k > 0 && n > math.MaxInt64/64/k {
				return nil, fmt.Errorf("the crosses of row %d are too many", row)
			}
			n *= k
		}
		if total += n; c.Afford(total*int64(each)) != nil {
			return nil, c.Afford(total * int64(each))
		}
		for k := range n {
			for j, x := range slices.Backward(all) {
				width := int64(len(x.rows[row]))
				choice[j] = x.rows[row][k%width]
				k /= width
			}
			if err := f(choice); err != nil {
				return nil, err
			}
		}
		ends = append(ends, total)
	}
	return ends, nil
}

// joined returns the crosses as strings.
func joined(c *engine.Call, all []*column, separator string) (ends []int64, out *tensor.Tensor, err error) {
	var list []string
	used := int64(0)
	ends, err = crosses(c, all, 16, func(choice []int) error {
		parts := make([]string, len(all))
		for i, x := range all {
			parts[i] = x.text(choice[i])
			used += int64(len(parts[i]) + len(separator))
		}
		list = append(list, strings.Join(parts, separator))
		return c.Afford(used)
	})
	return ends, tensor.Vector(list...), err
}

// hashed returns the crosses' hashes modulo the number of buckets. 0 buckets
// are as many as there are non-negative numbers.
func hashed(c *engine.Call, all []*column, buckets int64, hash func(choice []int) uint64) (ends []int64, out *tensor.Tensor, err error) {
	if buckets < 0 {
		return nil, nil, fmt.Errorf("there are %d buckets", buckets)
	}
	modulus := uint64(math.MaxInt64)
	if buckets > 0 {
		modulus = uint64(buckets)
	}
	var list []int64
	ends, err = crosses(c, all, 8, func(choice []int) error {
		list = append(list, int64(hash(choice)%modulus))
		return nil
	})
	return ends, tensor.Vector(list...), err
}

// seeded returns the hash of a choice that begins with a key.
func seeded(all []*column, key int64) func([]int) uint64 {
	return func(choice []int) uint64 {
		h := uint64(key)
		for i, x := range all {
			h = fingerprintCat(h, x.hash(choice[i]))
		}
		return h
	}
}

// fingerprintCat returns the fingerprint of two fingerprints one after the
// other. It is TensorFlow's FingerprintCat64.
func fingerprintCat(a, b uint64) uint64 {
	const mul = 0xc6a4a7935bd1e995
	mix := func(x uint64) uint64 { return x ^ x>>47 }
	h := a ^ mul
	h ^= mix(b*mul) * mul
	h *= mul
	h = mix(h) * mul
	return mix(h)
}

// setCrosses sets the outputs to the crosses as a sparse matrix.
func setCrosses(c *engine.Call, ends []int64, values *tensor.Tensor) error {
	at := make([]int64, 0, 2*values.Len())
	last, widest := int64(0), int64(0)
	for row, end := range ends {
		for k := range end - last {
			at = append(at, int64(row), k)
		}
		widest, last = max(widest, end-last), end
	}
	if err := setInts(c, 0, at, values.Len(), 2); err != nil {
		return err
	}
	c.Set(1, values)
	c.Set(2, tensor.Vector(int64(len(ends)), widest))
	return nil
}

// cross crosses features to strings with the separator _X_, or to hashes.
func cross(n *engine.Node) (func(*engine.Call) error, error) {
	as := n.Attrs
	count, hash := int(as.Int("N", 0)), as.Bool("hashed_output")
	want := tensor.String
	if hash {
		want = tensor.Int64
	}
	if d := as.Type("out_type", want); d != want {
		return nil, fmt.Errorf("the output is %v, not %v", want, d)
	}
	strings := as.Type("internal_type", tensor.Int64) == tensor.String
	return func(c *engine.Call) error {
		all, err := crossColumns(c, count, 0)
		if err != nil {
			return err
		}
		for i, x := range all {
			if strings && x.values.DType() != tensor.String {
				return fmt.Errorf("features %d are %v, not strings, which internal_type asks for", i, x.values.DType())
			}
		}
		var ends []int64
		var out *tensor.Tensor
		if hash {
			ends, out, err = hashed(c, all, as.Int("num_buckets", 0), seeded(all, as.Int("hash_key", 0)))
		} else {
			ends, out, err = joined(c, all, "_X_")
		}
		if err != nil {
			return err
		}
		return setCrosses(c, ends, out)
	}, nil
}

// crossV2 crosses features to strings with the separator in the last input.
func crossV2(n *engine.Node) (func(*engine.Call) error, error) {
	count := int(n.Attrs.Int("N", 0))
	return func(c *engine.Call) error {
		all, err := crossColumns(c, count, 1)
		if err != nil {
			return err
		}
		sep := c.In(c.NumIn() - 1)
		if sep.DType() != tensor.String || sep.Len() != 1 {
			return fmt.Errorf("the separator is %v%v, not a string", sep.DType(), sep.Shape())
		}
		ends, out, err := joined(c, all, sep.Strings()[0])
		if err != nil {
			return err
		}
		return setCrosses(c, ends, out)
	}, nil
}

// crossHashed hashes with FarmHash, or with SipHash under a key.
func crossHashed(n *engine.Node) (func(*engine.Call) error, error) {
	count := int(n.Attrs.Int("N", 0))
	return func(c *engine.Call) error {
		all, err := crossColumns(c, count, 3)
		if err != nil {
			return err
		}
		last := c.NumIn()
		buckets, err := shapes.Int(c.In(last-3), "the number of buckets")
		if err != nil {
			return err
		}
		strong, err := tensor.Item[bool](c.In(last - 2))
		if err != nil {
			return err
		}
		salt, err := shapes.Ints(c.In(last-1), "the salt")
		if err != nil {
			return err
		}
		if len(salt) != 2 {
			return fmt.Errorf("the salt has %d numbers, not 2", len(salt))
		}
		one := farm.Fingerprint64
		if strong {
			one = func(b []byte) uint64 { return siphash.Hash(uint64(salt[0]), uint64(salt[1]), b) }
		}
		ends, out, err := hashed(c, all, buckets, func(choice []int) uint64 {
			h := one(all[0].bytes(choice[0]))
			for i, x := range all[1:] {
				h = fingerprintCat(h, one(x.bytes(choice[i+1])))
			}
			return h
		})
		if err != nil {
			return err
		}
		return setCrosses(c, ends, out)
	}, nil
}

// raggedCross crosses ragged, sparse and dense features, in the order of an
// attribute, to a ragged matrix.
func raggedCross(n *engine.Node) (func(*engine.Call) error, error) {
	as := n.Attrs
	ragged, sparse, dense := len(as.Types("ragged_values_types")), int(as.Int("Nsparse", 0)), len(as.Types("dense_types"))
	order := as.String("input_order", "")
	splits := as.Type("out_row_splits_type", tensor.Int64)
	if strings.Count(order, "R") != ragged || strings.Count(order, "S") != sparse || strings.Count(order, "D") != dense || len(order) != ragged+sparse+dense {
		return nil, fmt.Errorf("the order %q isn't one of %d ragged (R), %d sparse (S) and %d dense (D) features", order, ragged, sparse, dense)
	}
	return func(c *engine.Call) error {
		if err := c.Need(2*ragged + 3*sparse + dense); err != nil {
			return err
		}
		var all []*column
		var seen [3]int
		for _, kind := range order {
			var x *column
			var err error
			switch kind {
			case 'R':
				x, err = raggedColumn(c, c.In(seen[0]), c.In(ragged+seen[0]))
				seen[0]++
			case 'S':
				at := 2*ragged + seen[1]
				x, err = sparseColumn(c, at, at+sparse, at+2*sparse)
				seen[1]++
			default:
				x, err = denseColumn(c, c.In(2*ragged+3*sparse+seen[2]))
				seen[2]++
			}
			if err != nil {
				return err
			}
			all = append(all, x)
		}
		if err := sameRows(all); err != nil {
			return err
		}
		var ends []int64
		var out *tensor.Tensor
		var err error
		if as.Bool("hashed_output") {
			ends, out, err = hashed(c, all, as.Int("num_buckets", 0), seeded(all, as.Int("hash_key", 0)))
		} else {
			ends, out, err = joined(c, all, "_X_")
		}
		if err != nil {
			return err
		}
		if d := as.Type("out_values_type", out.DType()); d != out.DType() {
			return fmt.Errorf("the output is %v, not %v", out.DType(), d)
		}
		rows, err := tensor.Cast(tensor.Vector(append([]int64{0}, ends...)...), splits)
		if err != nil {
			return err
		}
		c.Set(0, out)
		c.Set(1, rows)
		return nil
	}, nil
}
