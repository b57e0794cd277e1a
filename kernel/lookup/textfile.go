package lookup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/number"
	"github.com/cairnml/cairn/tensor"
)

// Parts of a line for a key or a value, with TensorFlow's numbers; other numbers are columns.
const (
	wholeLine  = -2
	lineNumber = -1
)

// textFile has the options of a table that is read from the lines of a file.
type textFile struct {
	key, value int64
	most       int64 // number of lines; -1: all
	delimiter  string
	offset     int64 // added to line numbers
}

// fromTextFile initializes a table from the lines of a file, which it opens
// through the grant.
func fromTextFile(n *engine.Node) (func(*engine.Call) error, error) {
	as := n.Attrs
	f := textFile{as.Int("key_index", 0), as.Int("value_index", 0), as.Int("vocab_size", -1), as.String("delimiter", "\t"), as.Int("offset", 0)}
	switch {
	case f.key < wholeLine || f.value < wholeLine:
		return nil, fmt.Errorf("the key is %d and the value %d, below -2", f.key, f.value)
	case len(f.delimiter) != 1:
		return nil, fmt.Errorf("the delimiter %q is not one character", f.delimiter)
	}
	return func(c *engine.Call) error {
		t, err := input(c, 2)
		if err != nil {
			return err
		}
		if t.kind != static {
			return fmt.Errorf("a table that can be changed has no initializer")
		}
		name := c.In(1)
		if name.DType() != tensor.String || name.Len() != 1 {
			return fmt.Errorf("the file's name is %v%v, not a string", name.DType(), name.Shape())
		}
		fsys, place, err := c.Reading(name.Strings()[0])
		if err != nil {
			return err
		}
		keys, values, err := f.read(c.Context(), fsys, place, t)
		if err != nil {
			return err
		}
		return t.fill(c.Context(), keys, values)
	}, nil
}

// read returns the keys and values in a file for a table. An empty line is an
// error, as in TensorFlow; so are too few lines.
func (f *textFile) read(ctx context.Context, fsys fs.FS, name string, t *Table) (keys, values *tensor.Tensor, err error) {
	file, err := fsys.Open(path.Clean(name))
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	k, err := newField(f.key, t.keys.dtype, f.offset)
	if err != nil {
		return nil, nil, fmt.Errorf("the keys: %w", err)
	}
	v, err := newField(f.value, t.values.dtype, f.offset)
	if err != nil {
		return nil, nil, fmt.Errorf("the values: %w", err)
	}
	lines := bufio.NewReader(untilDone{ctx, file})
	l := looks{ctx: ctx}
	n := int64(0)
	for ; f.most < 0 || n < f.most; n++ {
		line, err := lines.ReadString('\n')
		if err != nil && (!errors.Is(err, io.EOF) || line == "") {
			if errors.Is(err, io.EOF) {
				break
			}
			return nil, nil, err
		}
		if err := l.key(len(line)); err != nil {
			return nil, nil, err
		}
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\r", "")
		if line == "" {
			return nil, nil, fmt.Errorf("line %d of %s is empty", n, name)
		}
		var columns []string
		if f.key >= 0 || f.value >= 0 {
			if columns = strings.Split(line, f.delimiter); max(f.key, f.value) >= int64(len(columns)) {
				return nil, nil, fmt.Errorf("line %d of %s has %d columns, column %d is wanted", n, name, len(columns), max(f.key, f.value))
			}
		}
		for _, field := range []*field{k, v} {
			if err := field.add(line, columns, n); err != nil {
				return nil, nil, fmt.Errorf("line %d of %s: %w", n, name, err)
			}
		}
	}
	if f.most >= 0 && n < f.most {
		return nil, nil, fmt.Errorf("%s has %d lines, %d are wanted", name, n, f.most)
	}
	if keys, err = k.tensor(); err == nil {
		values, err = v.tensor()
	}
	return keys, values, err
}

// untilDone is a reader that ends with a context.
type untilDone struct {
	ctx context.Context
	io.Reader
}

// Read returns the context's cause if it has ended.
func (r untilDone) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(b)
}

// field collects one part of all lines.
type field struct {
	index, offset int64
	dtype         tensor.DType
	strs          []string
	ints          []int64
	floats        []float64
}

// newField checks that type d can be read from the part of a line.
func newField(index int64, d tensor.DType, offset int64) (*field, error) {
	switch {
	case index == wholeLine && d != tensor.String && d != tensor.Int32 && d != tensor.Int64, index == lineNumber && d != tensor.Int64:
		return nil, fmt.Errorf("whole lines are strings or integers and line numbers int64, not %v", d)
	}
	switch d {
	case tensor.String, tensor.Int32, tensor.Int64, tensor.Float32, tensor.Float64:
		return &field{index: index, offset: offset, dtype: d}, nil
	}
	return nil, fmt.Errorf("can't read %v from a text", d)
}

// add reads the part from a line; row is the line's number, from 0.
func (f *field) add(line string, columns []string, row int64) (err error) {
	switch {
	case f.index == lineNumber:
		f.ints = append(f.ints, row+f.offset)
		return nil
	}
	text := line
	if f.index != wholeLine {
		text = columns[f.index]
	}
	switch f.dtype {
	case tensor.String:
		f.strs = append(f.strs, text)
	case tensor.Int32, tensor.Int64:
		var n int64
		if n, err = number.Int(text, 8*f.dtype.Size()); err == nil {
			f.ints = append(f.ints, n)
		}
	default:
		var x float64
		if x, err = number.Float(text, 8*f.dtype.Size()); err == nil {
			f.floats = append(f.floats, x)
		}
	}
	return err
}

// tensor returns the parts as a vector.
func (f *field) tensor() (*tensor.Tensor, error) {
	switch f.dtype {
	case tensor.String:
		return tensor.FromStrings(tensor.String, f.strs, len(f.strs))
	case tensor.Int32, tensor.Int64:
		return tensor.Cast(tensor.Vector(f.ints...), f.dtype)
	}
	return tensor.Cast(tensor.Vector(f.floats...), f.dtype)
}
