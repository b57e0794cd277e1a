package shape

import (
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// The rules of XlaDot and XlaGather; the table is in xla.go.

// XlaNumbers are the repeated integers of a message of dimension numbers, by field. The numbers of the fields
// are those of xla_data.proto. DotDimensionNumbers has 1 and 2 for the contracted dimensions of the left and
// the right input, 3 and 4 for the batches. GatherDimensionNumbers has 1 offset_dims, 2 collapsed_slice_dims, 4
// index_vector_dim, 5 operand_batching_dims.
type XlaNumbers map[protowire.Number][]int

// ParseXlaNumbers reads a message whose fields are integers or lists of
// integers.
func ParseXlaNumbers(what string, b []byte) (XlaNumbers, error) {
	out := XlaNumbers{}
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, fmt.Errorf("%s: %w", what, protowire.ParseError(n))
		}
		b = b[n:]
		add := func(v uint64) error {
			if v > 1<<16 {
				return fmt.Errorf("%s: field %d is %d, which is no dimension", what, field, int64(v))
			}
			out[field] = append(out[field], int(v))
			return nil
		}
		switch kind {
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return nil, fmt.Errorf("%s: %w", what, protowire.ParseError(n))
			}
			if err := add(v); err != nil {
				return nil, err
			}
			b = b[n:]
		case protowire.BytesType:
			packed, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return nil, fmt.Errorf("%s: %w", what, protowire.ParseError(n))
			}
			for len(packed) > 0 {
				v, k := protowire.ConsumeVarint(packed)
				if k < 0 {
					return nil, fmt.Errorf("%s: %w", what, protowire.ParseError(k))
				}
				if err := add(v); err != nil {
					return nil, err
				}
				packed = packed[k:]
			}
			b = b[n:]
		default:
			return nil, fmt.Errorf("%s: field %d is no integer", what, field)
		}
	}
	return out, nil
}

// One returns a field that is one integer, or 0 if it is missing.
func (l XlaNumbers) One(field protowire.Number) int {
	if v := l[field]; len(v) > 0 {
		return v[len(v)-1]
	}
	return 0
}

// Check returns an error unless the dimensions in each of the fields are
// distinct and below rank.
func (l XlaNumbers) Check(what string, rank int, fields ...protowire.Number) error {
	seen := map[int]bool{}
	for _, f := range fields {
		for _, d := range l[f] {
			if d >= rank || seen[d] {
				return fmt.Errorf("the %s dimension %d is given twice or is not below %d", what, d, rank)
			}
			seen[d] = true
		}
	}
	return nil
}

// without lists the dimensions below rank that are in none of the lists.
func without(rank int, lists ...[]int) []int {
	var out []int
	for d := range rank {
		if !slices.ContainsFunc(lists, func(l []int) bool { return slices.Contains(l, d) }) {
			out = append(out, d)
		}
	}
	return out
}

// xlaDot infers the batch dimensions, then the others of the left and of the
// right input.
func xlaDot(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	l, err := ParseXlaNumbers("dimension_numbers", []byte(c.Attrs.String("dimension_numbers", "")))
	if err != nil {
		return err
	}
	a, aOK := c.dims(0)
	b, bOK := c.dims(1)
	if !aOK || !bOK {
		return nil
	}
	if err := l.Check("left", len(a), 1, 3); err != nil {
		return err
	}
	if err := l.Check("right", len(b), 2, 4); err != nil {
		return err
	}
	if len(l[1]) != len(l[2]) || len(l[3]) != len(l[4]) {
		return fmt.Errorf("the inputs have other numbers of contracted or batch dimensions")
	}
	var out []int
	for k, d := range l[3] {
		n := a[d]
		if n < 0 {
			n = b[l[4][k]]
		}
		out = append(out, n)
	}
	for _, d := range without(len(a), l[1], l[3]) {
		out = append(out, a[d])
	}
	for _, d := range without(len(b), l[2], l[4]) {
		out = append(out, b[d])
	}
	c.setDims(0, out...)
	return nil
}

// xlaGather infers the dimensions of the start indices, with those of the
// windows in between.
func xlaGather(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	l, err := ParseXlaNumbers("dimension_numbers", []byte(c.Attrs.String("dimension_numbers", "")))
	if err != nil {
		return err
	}
	indices, ok := c.dims(1)
	if !ok {
		return nil
	}
	var batch []int
	for d, n := range indices {
		if d != l.One(4) {
			batch = append(batch, n)
		}
	}
	rank := len(batch) + len(l[1])
	if err := l.Check("offset", rank, 1); err != nil {
		return err
	}
	out := make([]int, rank)
	size, known := c.knownInts(2)
	inside := without(len(size), l[2], l[5])
	for k, d := range without(rank, l[1]) {
		out[d] = batch[k]
	}
	for k, d := range l[1] {
		if out[d] = -1; known && k < len(inside) && size[inside[k]] >= 0 && size[inside[k]] <= math.MaxInt32 {
			out[d] = int(size[inside[k]])
		}
	}
	c.setDims(0, out...)
	return nil
}
