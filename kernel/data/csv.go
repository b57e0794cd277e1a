package data

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/parse"
	"github.com/cairnml/cairn/tensor"
)

// csvFormat describes the records of files of comma-separated values.
type csvFormat struct {
	delimiter byte
	quotes    bool
	header    bool
	missing   string // the text of a missing value, besides the empty text
	columns   []int64
	excluded  []int64
	defaults  []*tensor.Tensor // one per value; empty if the value is required
	types     []tensor.DType
}

// csvFiles makes a dataset of the records of files of comma-separated values.
// It is the kernel of CSVDataset and CSVDatasetV2. The second has the excluded
// columns as its last input.
func csvFiles(c *engine.Call) error {
	f := &csvFormat{types: c.Attrs().Types("output_types")}
	first := 8
	for i := range first {
		if i >= c.NumIn() || c.In(i) == nil {
			return fmt.Errorf("input %d is missing", i)
		}
	}
	names, err := stringsIn(c, 0, "the files' names")
	if err != nil {
		return err
	}
	s := &fileSource{node: c.Node(), names: names}
	var delimiter string
	for _, x := range []struct {
		input int
		to    *string
	}{{1, &s.compression}, {4, &delimiter}, {6, &f.missing}} {
		v, err := stringsIn(c, x.input, "the texts")
		if err != nil {
			return err
		}
		if len(v) != 1 {
			return fmt.Errorf("input %d is not one string", x.input)
		}
		*x.to = v[0]
	}
	if len(delimiter) != 1 {
		return fmt.Errorf("the delimiter %q is not one character", delimiter)
	}
	f.delimiter = delimiter[0]
	if s.compression != "" && s.compression != "ZLIB" && s.compression != "GZIP" {
		return fmt.Errorf("the compression %q is none of ZLIB and GZIP, nor empty", s.compression)
	}
	if n, err := intIn(c, 2, "the buffer's size"); err != nil || n <= 0 {
		return fmt.Errorf("the buffer's size is not a positive number")
	}
	if f.header, err = boolIn(c, 3, "header"); err != nil {
		return err
	}
	if f.quotes, err = boolIn(c, 5, "use_quote_delim"); err != nil {
		return err
	}
	if f.columns, err = rising(c.In(7), "the columns"); err != nil {
		return err
	}
	if len(f.columns) > 0 && len(f.columns) != len(f.types) {
		return fmt.Errorf("there are %d columns for %d types", len(f.columns), len(f.types))
	}
	if c.NumIn() > first+len(f.types) {
		if f.excluded, err = rising(c.In(first+len(f.types)), "the excluded columns"); err != nil {
			return err
		}
		if len(f.excluded) > 0 && len(f.columns) > 0 {
			return fmt.Errorf("columns are selected and excluded at once")
		}
	}
	for i, d := range f.types {
		if first+i >= c.NumIn() || c.In(first+i) == nil {
			return fmt.Errorf("the default of field %d is missing", i)
		}
		t := c.In(first + i)
		if t.DType() != d || t.Len() > 1 {
			return fmt.Errorf("the default of field %d is %v%v, not one %v", i, t.DType(), t.Shape(), d)
		}
		f.defaults = append(f.defaults, t.Clone())
	}
	s.open = func(_ int, r *bufio.Reader, _ int64) (contents, error) {
		x := &csvRecords{csvFormat: f, r: r}
		if f.header {
			if _, err := x.fields(c.Afford); err != nil {
				return nil, fmt.Errorf("the header can't be read: %w", err)
			}
		}
		return x, nil
	}
	c.SetObject(0, of(c, unknown, s))
	return nil
}

// rising returns numbers that rise.
func rising(t *tensor.Tensor, what string) ([]int64, error) {
	if t == nil || t.DType() != tensor.Int64 || len(t.Shape()) != 1 {
		return nil, fmt.Errorf("%s aren't a vector of int64", what)
	}
	v := slices.Clone(tensor.Values[int64](t))
	for i, k := range v {
		if k < 0 || i > 0 && k <= v[i-1] {
			return nil, fmt.Errorf("%s %v don't rise", what, v)
		}
	}
	return v, nil
}

// csvRecords are the records of one file.
type csvRecords struct {
	*csvFormat
	r *bufio.Reader
}

func (x *csvRecords) next(c *engine.Call) (element, error) {
	all, err := x.fields(c.Afford)
	if err != nil {
		return nil, err
	}
	wanted := x.selected(all)
	if len(wanted) != len(x.types) {
		return nil, fmt.Errorf("%w: it has %d fields, not %d", errRecord, len(wanted), len(x.types))
	}
	out := make(element, len(wanted))
	for i, text := range wanted {
		t := x.defaults[i]
		switch {
		case text != "" && text != x.missing:
			if t, err = tensor.Zeros(x.types[i]); err == nil {
				err = parse.PutField(t, 0, text)
			}
			if err != nil {
				return nil, fmt.Errorf("%w: field %d: %w", errRecord, i, err)
			}
		case t.Len() == 0:
			return nil, fmt.Errorf("%w: field %d is required and missing", errRecord, i)
		default:
			if t, err = t.Reshape(); err != nil {
				return nil, err
			}
		}
		out[i] = engine.ValueOf(t)
	}
	return out, nil
}

// selected returns the fields of the columns that are wanted. The lists of columns
// rise.
func (x *csvRecords) selected(all []string) (out []string) {
	if len(x.columns) > 0 {
		for _, i := range x.columns {
			if i < int64(len(all)) {
				out = append(out, all[i])
			}
		}
		return out
	}
	rest := x.excluded
	for i, text := range all {
		if len(rest) > 0 && rest[0] == int64(i) {
			rest = rest[1:]
			continue
		}
		out = append(out, text)
	}
	return out
}

// fields returns the fields of the next record, which may contain line breaks
// between quotes. An empty line is a record of one empty field. The rules of
// quotes are those of TensorFlow's csv_dataset_op.cc. They must stay.
func (x *csvRecords) fields(afford func(int64) error) ([]string, error) {
	var out []string
	var text []byte
	// The states of a field: without quotes, between them, and after the
	// closing one
	const unquoted, quoted, behind = 0, 1, 2
	state, begun, size := unquoted, false, int64(0)
	for {
		b, err := x.r.ReadByte()
		ended := err == io.EOF
		switch {
		case err != nil && !ended:
			return nil, err
		case ended && !begun:
			return nil, io.EOF
		case ended && state == quoted:
			return nil, fmt.Errorf("a field with quotes doesn't end with one")
		}
		if size++; size%4096 == 0 {
			if err := afford(size * 17); err != nil { // a field of nothing is one byte and a string
				return nil, err
			}
		}
		first := !begun || len(out) > 0 && text == nil && state == unquoted
		begun = true
		switch {
		case state == quoted && b == '"':
			state = behind
		case state == quoted:
			text = append(text, b)
		case ended, b == '\n', b == '\r':
			if next, err := x.r.Peek(1); err == nil && b == '\r' && next[0] == '\n' {
				x.r.Discard(1)
			}
			return append(out, string(text)), nil
		case b == x.delimiter:
			out, text, state = append(out, string(text)), nil, unquoted
		case state == behind && b == '"':
			text, state = append(text, b), quoted
		case state == behind:
			return nil, fmt.Errorf("%w: a quote in a field is not doubled", errRecord)
		case x.quotes && b == '"' && first:
			state = quoted
		case x.quotes && b == '"':
			return nil, fmt.Errorf("%w: a field without quotes holds a quote", errRecord)
		default:
			text = append(text, b)
		}
	}
}
