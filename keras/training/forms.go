package training

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Inputs may be sparse and ragged tensors, which are several tensors each. A batch has these
// one after another; its layout records which belong together.

// formOf returns the form of a leaf: "" for a dense tensor, "sparse", or "ragged" and the
// number of its ragged dimensions.
func formOf(v *ops.Value) string {
	if x, ok := base.RaggedOf(v); ok {
		return "ragged" + strconv.Itoa(len(x.Splits))
	}
	return base.FormOf(v)
}

// partsOf returns the tensors that a value is made of; assembled is the inverse.
func partsOf(v *ops.Value) []*ops.Value {
	if x, ok := base.SparseOf(v); ok {
		return []*ops.Value{x.Indices, x.Values, x.Shape}
	}
	if x, ok := base.RaggedOf(v); ok {
		return append([]*ops.Value{x.Values}, x.Splits...)
	}
	return []*ops.Value{v}
}

// assembled returns the values of a layout that are made of parts.
func (l *layout) assembled(s *ops.Scope, parts []*ops.Value) []*ops.Value {
	if l.forms == nil {
		return parts
	}
	var out []*ops.Value
	for _, form := range l.forms {
		switch form {
		case "":
			out, parts = append(out, parts[0]), parts[1:]
		case "sparse":
			out, parts = append(out, base.Sparse{Indices: parts[0], Values: parts[1], Shape: parts[2]}.Value(s)), parts[3:]
		default:
			n, _ := strconv.Atoi(form[len("ragged"):])
			out, parts = append(out, base.Ragged{Values: parts[0], Splits: slices.Clone(parts[1 : n+1])}.Value(s)), parts[n+1:]
		}
	}
	return out
}

// leafValue returns a leaf that is a value, or represents a sparse or a ragged one.
func leafValue(ctx context.Context, leaf any) (v *ops.Value, ok bool, err error) {
	s := function.Eager(ctx)
	switch x := leaf.(type) {
	case *ops.Value:
		return x, true, nil
	case base.Sparse:
		v = x.Value(s)
	case base.Ragged:
		v = x.Value(s)
	default:
		return nil, false, nil
	}
	return v, true, s.Err()
}

// table has the examples of one input, in memory. Its methods don't check their arguments.
type table interface {
	rows() int
	// part returns the examples from lo up to hi.
	part(lo, hi int) table
	// picked returns the examples with these numbers.
	picked(numbers []int) table
	// parts returns the tensors, in the order of partsOf.
	parts() []*tensor.Tensor
}

// dense is a table of a tensor.
type dense struct{ *tensor.Tensor }

func (d dense) rows() int                  { return d.Shape()[0] }
func (d dense) part(lo, hi int) table      { return dense{slice(d.Tensor, lo, hi)} }
func (d dense) picked(numbers []int) table { return dense{gather(d.Tensor, numbers)} }
func (d dense) parts() []*tensor.Tensor    { return []*tensor.Tensor{d.Tensor} }

// ragged is a table of a ragged tensor.
type ragged struct {
	values *tensor.Tensor
	splits [][]int64
}

func (r ragged) rows() int             { return len(r.splits[0]) - 1 }
func (r ragged) part(lo, hi int) table { return r.picked(numbers(lo, hi)) }

func (r ragged) picked(list []int) table {
	out := ragged{}
	for _, splits := range r.splits {
		next := []int64{0}
		var inner []int
		for _, k := range list {
			inner = append(inner, numbers(int(splits[k]), int(splits[k+1]))...)
			next = append(next, int64(len(inner)))
		}
		out.splits, list = append(out.splits, next), inner
	}
	out.values = gather(r.values, list)
	return out
}

func (r ragged) parts() []*tensor.Tensor {
	out := []*tensor.Tensor{r.values}
	for _, splits := range r.splits {
		out = append(out, tensor.Vector(splits...))
	}
	return out
}

// sparse is a table of a sparse tensor, whose elements are in the order of the examples.
type sparse struct {
	indices []int64
	values  *tensor.Tensor
	shape   []int64
	begins  []int // the first element of each example, and their number
}

func (p sparse) rows() int             { return int(p.shape[0]) }
func (p sparse) part(lo, hi int) table { return p.picked(numbers(lo, hi)) }

func (p sparse) picked(list []int) table {
	rank := len(p.shape)
	out := sparse{shape: slices.Clone(p.shape), begins: []int{0}}
	out.shape[0] = int64(len(list))
	var elements []int
	for row, k := range list {
		for at := p.begins[k]; at < p.begins[k+1]; at++ {
			elements = append(elements, at)
			out.indices = append(append(out.indices, int64(row)), p.indices[at*rank+1:(at+1)*rank]...)
		}
		out.begins = append(out.begins, len(elements))
	}
	out.values = gather(p.values, elements)
	return out
}

func (p sparse) parts() []*tensor.Tensor {
	n := p.values.Shape()[0]
	return []*tensor.Tensor{tensor.Must(tensor.New(p.indices, n, len(p.shape))), p.values, tensor.Vector(p.shape...)}
}

func numbers(lo, hi int) []int {
	out := make([]int, hi-lo)
	for i := range out {
		out[i] = lo + i
	}
	return out
}

// tablesOf returns the tables of a structure.
func tablesOf(ctx context.Context, x any) ([]table, layout, error) {
	leaves, l, err := leavesOf(x)
	if err != nil {
		return nil, l, err
	}
	out := make([]table, len(leaves))
	forms := make([]string, len(leaves))
	for i, leaf := range leaves {
		v, ok, err := leafValue(ctx, leaf)
		if err != nil {
			return nil, l, err
		}
		if ok {
			forms[i] = formOf(v)
		}
		if forms[i] == "" {
			t, err := tensorOf(ctx, leaf)
			if err != nil {
				return nil, l, err
			}
			out[i] = dense{t}
			continue
		}
		if out[i], err = tableOf(v); err != nil {
			return nil, l, fmt.Errorf("a %s tensor: %w", base.FormOf(v), err)
		}
	}
	l.setForms(forms)
	return out, l, nil
}

// setForms keeps the forms if one isn't dense.
func (l *layout) setForms(forms []string) {
	if slices.ContainsFunc(forms, func(f string) bool { return f != "" }) {
		l.forms = forms
	}
}

// maxSparseRows bounds the rows of a sparse tensor, whose shape may state any number. The limit is
// ours and may change.
const maxSparseRows = 1 << 27

// tableOf returns the table of a sparse or a ragged tensor. It checks splits and indices, which a
// program made.
func tableOf(v *ops.Value) (table, error) {
	var parts []*tensor.Tensor
	for _, p := range partsOf(v) {
		t, err := p.Tensor()
		if err != nil {
			return nil, err
		}
		parts = append(parts, t)
	}
	if base.FormOf(v) == "ragged" {
		r := ragged{values: parts[0]}
		for _, p := range parts[1:] {
			splits := tensor.Values[int64](p)
			if len(splits) == 0 || splits[0] != 0 || !slices.IsSorted(splits) {
				return nil, errors.New("the splits don't begin with 0, or fall")
			}
			if n := len(r.splits); n > 0 && r.splits[n-1][len(r.splits[n-1])-1] != int64(len(splits)-1) {
				return nil, fmt.Errorf("there are %d rows of level %d, and the splits before say %d", len(splits)-1, n, r.splits[n-1][len(r.splits[n-1])-1])
			}
			r.splits = append(r.splits, splits)
		}
		if last := r.splits[len(r.splits)-1]; r.values.Rank() == 0 || last[len(last)-1] != int64(r.values.Shape()[0]) {
			return nil, fmt.Errorf("the elements have the shape %v, and the splits end with %d", r.values.Shape(), last[len(last)-1])
		}
		return r, nil
	}
	p := sparse{indices: tensor.Values[int64](parts[0]), values: parts[1], shape: tensor.Values[int64](parts[2])}
	rank, n := len(p.shape), parts[1].Len()
	if rank == 0 || len(p.indices) != rank*n {
		return nil, fmt.Errorf("there are %d indices for %d elements of rank %d", len(p.indices), n, rank)
	}
	if p.shape[0] < 0 || p.shape[0] > maxSparseRows {
		return nil, fmt.Errorf("the shape is %v, want a first size from 0 to %d", p.shape, maxSparseRows)
	}
	p.begins = make([]int, 1, p.shape[0]+1)
	for at := range n {
		row := p.indices[at*rank]
		if row < int64(len(p.begins)-1) || row >= p.shape[0] {
			return nil, errors.New("the indices are out of order, or outside of the shape")
		}
		for int64(len(p.begins)) <= row {
			p.begins = append(p.begins, at)
		}
	}
	for len(p.begins) <= int(p.shape[0]) {
		p.begins = append(p.begins, n)
	}
	return p, nil
}
