package sparse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of DenseToDenseSetOperation, DenseToSparseSetOperation,
// SparseToSparseSetOperation and SetSize.

// member has the types of sets' members.
type member interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | string
	tensor.Element
}

// setTypes returns a table by the members' type.
func setTypes(i8, i16, i32, i64, u8, u16, str elementwise.Func) elementwise.ByType {
	return elementwise.ByType{tensor.Int8: i8, tensor.Int16: i16, tensor.Int32: i32, tensor.Int64: i64, tensor.Uint8: u8, tensor.Uint16: u16, tensor.String: str}
}

// membersOf returns a tensor's elements.
func membersOf[T member](t *tensor.Tensor) []T {
	if s, ok := any(t.Strings()).([]T); ok {
		return s
	}
	return tensor.Values[T](t)
}

// sets are the rows of a tensor, its last dimension, each a set.
type sets[T member] struct {
	dims []int64 // of the rows
	rows map[string]*set[T]
}

// set is one row.
type set[T member] struct {
	at      []int64 // the indices of the row
	members []T     // sorted, each once
}

// rowKey returns the indices of a row as a map's key.
func rowKey(at []int64) string {
	b := make([]byte, 0, 8*len(at))
	for _, k := range at {
		for s := range 8 {
			b = append(b, byte(k>>(8*s)))
		}
	}
	return string(b)
}

// add adds a member to the row with indices at.
func (x *sets[T]) add(at []int64, v T) {
	key := rowKey(at)
	r := x.rows[key]
	if r == nil {
		r = &set[T]{at: slices.Clone(at)}
		x.rows[key] = r
	}
	r.members = append(r.members, v)
}

// sort sorts the members of each row and drops equal ones.
func (x *sets[T]) sort(c *engine.Call) {
	for _, r := range x.rows {
		c.Check()
		slices.Sort(r.members)
		r.members = slices.Compact(r.members)
	}
}

// denseSets reads the rows of a dense tensor.
func denseSets[T member](c *engine.Call, i int) (*sets[T], error) {
	t := c.In(i)
	s := t.Shape()
	if len(s) < 2 {
		return nil, fmt.Errorf("input %d has shape %v, of less than 2 dimensions", i, s)
	}
	x := &sets[T]{rows: map[string]*set[T]{}}
	outer := s[:len(s)-1]
	for _, d := range outer {
		x.dims = append(x.dims, int64(d))
	}
	v, n, strides := membersOf[T](t), s[len(s)-1], shapes.Strides(outer)
	at := make([]int64, len(outer))
	for k, m := range v {
		c.Step(k)
		for d := range at {
			at[d] = int64(k / n / strides[d] % outer[d])
		}
		x.add(at, m)
	}
	x.sort(c)
	return x, nil
}

// sparseSets reads the rows of the sparse tensor in three inputs. Its indices
// must be in order, unless the attribute validate_indices is false.
func sparseSets[T member](c *engine.Call, i int) (*sets[T], error) {
	m, err := input(c, i, i+1, i+2)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return nil, err
	}
	if m.rank < 2 {
		return nil, fmt.Errorf("the sparse tensor has %d dimensions, less than 2", m.rank)
	}
	x := &sets[T]{rows: map[string]*set[T]{}, dims: m.shape[:m.rank-1]}
	ordered := !c.Attrs().Has("validate_indices") || c.Attrs().Bool("validate_indices")
	v := membersOf[T](m.values)
	for k := range m.n {
		if ordered && k > 0 && slices.Compare(m.row(k-1), m.row(k)) >= 0 {
			return nil, fmt.Errorf("the indices %v repeat or are out of order", m.row(k))
		}
		x.add(m.row(k)[:m.rank-1], v[k])
	}
	x.sort(c)
	return x, nil
}

// setOperations has the members that each operation on two sets keeps.
var setOperations = map[string]uint8{"a-b": onlyFirst, "b-a": onlySecond, "intersection": both, "union": onlyFirst | onlySecond | both}

const (
	onlyFirst uint8 = 1 << iota
	onlySecond
	both
)

// combine returns the members that the operation keeps.
func combine[T cmp.Ordered](a, b []T, keep uint8) (out []T) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			if keep&onlyFirst != 0 {
				out = append(out, a[0])
			}
			a = a[1:]
		case len(a) == 0 || b[0] < a[0]:
			if keep&onlySecond != 0 {
				out = append(out, b[0])
			}
			b = b[1:]
		default:
			if keep&both != 0 {
				out = append(out, a[0])
			}
			a, b = a[1:], b[1:]
		}
	}
	return out
}

// setOperation returns the kernel that combines the rows of two tensors, each
// dense or sparse.
func setOperation(op string, firstSparse, secondSparse bool) engine.Kernel {
	t := setTypes(setOf[int8](firstSparse, secondSparse), setOf[int16](firstSparse, secondSparse), setOf[int32](firstSparse, secondSparse),
		setOf[int64](firstSparse, secondSparse), setOf[uint8](firstSparse, secondSparse), setOf[uint16](firstSparse, secondSparse), setOf[string](firstSparse, secondSparse))
	n, values := 2, 0
	if firstSparse {
		n, values = n+2, 1
	}
	if secondSparse {
		n += 2
	}
	return engine.Kernel{Op: op, Prepare: func(node *engine.Node) (func(*engine.Call) error, error) {
		name := node.Attrs.String("set_operation", "")
		if setOperations[strings.ToLower(name)] == 0 {
			return nil, fmt.Errorf("the set operation is %q, not one of a-b, b-a, intersection and union", name)
		}
		return func(c *engine.Call) error {
			if err := c.Need(n); err != nil {
				return err
			}
			return t.RunAs(c, c.In(values).DType())
		}, nil
	}}
}

// setOf returns the kernel for members of type T. The members of the result are
// sorted, as in TensorFlow.
func setOf[T member](firstSparse, secondSparse bool) elementwise.Func {
	read := func(c *engine.Call, i int, sparse bool) (*sets[T], int, error) {
		if sparse {
			x, err := sparseSets[T](c, i)
			return x, i + 3, err
		}
		if c.In(i).DType() != tensor.TypeOf[T]() {
			return nil, 0, fmt.Errorf("input %d is %v", i, c.In(i).DType())
		}
		x, err := denseSets[T](c, i)
		return x, i + 1, err
	}
	return func(c *engine.Call) error {
		a, next, err := read(c, 0, firstSparse)
		if err != nil {
			return err
		}
		if secondSparse && c.In(next+1).DType() != tensor.TypeOf[T]() {
			return fmt.Errorf("input %d is %v", next+1, c.In(next+1).DType())
		}
		b, _, err := read(c, next, secondSparse)
		if err != nil {
			return err
		}
		if !slices.Equal(a.dims, b.dims) {
			return fmt.Errorf("the rows of one have shape %v, those of the other %v", a.dims, b.dims)
		}
		keep := setOperations[strings.ToLower(c.Attrs().String("set_operation", ""))]
		for key, r := range b.rows {
			if a.rows[key] == nil {
				a.rows[key] = &set[T]{at: r.at}
			}
		}
		var rows []*set[T]
		for key, r := range a.rows {
			var other []T
			if o := b.rows[key]; o != nil {
				other = o.members
			}
			rows = append(rows, &set[T]{at: r.at, members: combine(r.members, other, keep)})
		}
		slices.SortFunc(rows, func(x, y *set[T]) int { return slices.Compare(x.at, y.at) })
		var at []int64
		var out []T
		widest := 0
		for _, r := range rows {
			for j := range r.members {
				at = append(append(at, r.at...), int64(j))
			}
			out = append(out, r.members...)
			widest = max(widest, len(r.members))
		}
		rank := len(a.dims) + 1
		if err := setInts(c, 0, at, len(out), rank); err != nil {
			return err
		}
		c.Set(1, tensor.Vector(out...))
		return setInts(c, 2, append(slices.Clone(a.dims), int64(widest)), rank)
	}
}

// setSizeTypes has setSize by the members' type.
var setSizeTypes = setTypes(setSize[int8], setSize[int16], setSize[int32], setSize[int64], setSize[uint8], setSize[uint16], setSize[string])

// setSize counts the members of each row.
func setSize[T member](c *engine.Call) error {
	x, err := sparseSets[T](c, 0)
	if err != nil {
		return err
	}
	dims := make(tensor.Shape, len(x.dims))
	for d, n := range x.dims {
		if dims[d] = int(n); int64(dims[d]) != n {
			return fmt.Errorf("dimension %d has %d rows", d, n)
		}
	}
	out, err := c.AllocZero(0, tensor.Int32, dims)
	if err != nil {
		return err
	}
	strides := shapes.Strides(dims)
	for _, r := range x.rows {
		place := 0
		for d, k := range r.at {
			place += int(k) * strides[d]
		}
		tensor.Values[int32](out)[place] = int32(len(r.members))
	}
	return nil
}
