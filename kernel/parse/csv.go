package parse

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/number"
	"github.com/cairnml/cairn/tensor"
)

// csv has the options for lines of comma-separated values.
type csv struct {
	delimiter byte
	quotes    bool
	missing   string // text for a missing value; an empty text is one, too
	columns   []int64
}

// decodeCSV prepares DecodeCSV. Its rules for quotes are TensorFlow's
// (decode_csv_op.cc) and must stay.
func decodeCSV(n *engine.Node) (func(*engine.Call) error, error) {
	as := n.Attrs
	delimiter := as.String("field_delim", ",")
	if len(delimiter) != 1 {
		return nil, fmt.Errorf("the delimiter %q is not one character", delimiter)
	}
	f := csv{delimiter[0], !as.Has("use_quote_delim") || as.Bool("use_quote_delim"), as.String("na_value", ""), as.Ints("select_cols")}
	for i, k := range f.columns {
		if k < 0 || i > 0 && k <= f.columns[i-1] {
			return nil, fmt.Errorf("the columns %v don't rise", f.columns)
		}
	}
	types := as.Types("OUT_TYPE")
	return func(c *engine.Call) error {
		if err := c.Need(1 + len(types)); err != nil {
			return err
		}
		in := c.In(0)
		if in.DType() != tensor.String {
			return fmt.Errorf("the records are %v, not strings", in.DType())
		}
		if len(f.columns) > 0 && len(f.columns) != len(types) {
			return fmt.Errorf("there are %d columns for %d types", len(f.columns), len(types))
		}
		out := make([]*tensor.Tensor, len(types))
		for i, d := range types {
			switch t := c.In(1 + i); {
			case t.DType() != d || t.Len() > 1:
				return fmt.Errorf("the default of field %d is %v%v, not one %v", i, t.DType(), t.Shape(), d)
			case d != tensor.String && d != tensor.Float32 && d != tensor.Float64 && d != tensor.Int32 && d != tensor.Int64:
				return fmt.Errorf("field %d is %v, which it can't read", i, d)
			}
			var err error
			if out[i], err = c.Alloc(i, d, in.Shape()); err != nil {
				return err
			}
		}
		for i, line := range in.Strings() {
			record, err := f.split(c, line)
			if err != nil {
				return fmt.Errorf("record %d: %w", i, err)
			}
			if len(record) != len(types) {
				return fmt.Errorf("record %d has %d fields, not %d", i, len(record), len(types))
			}
			for k, text := range record {
				def := c.In(1 + k)
				switch {
				case text != "" && text != f.missing:
					err = PutField(out[k], i, text)
				case def.Len() == 0:
					err = fmt.Errorf("it is required and missing")
				default:
					copyElements(out[k], i, def)
				}
				if err != nil {
					return fmt.Errorf("field %d of record %d: %w", k, i, err)
				}
			}
		}
		return nil
	}, nil
}

// PutField sets element i of t, of strings or numbers, to the value of a text. The datasets of
// CSV files in kernel/data use it too.
func PutField(t *tensor.Tensor, i int, text string) error {
	switch t.DType() {
	case tensor.String:
		t.Strings()[i] = text
		return nil
	case tensor.Int32:
		n, err := number.Int(text, 32)
		tensor.Values[int32](t)[i] = int32(n)
		return err
	case tensor.Int64:
		n, err := number.Int(text, 64)
		tensor.Values[int64](t)[i] = n
		return err
	case tensor.Float32:
		x, err := number.Float(text, 32)
		tensor.Values[float32](t)[i] = float32(x)
		return err
	}
	x, err := number.Float(text, 64)
	tensor.Values[float64](t)[i] = x
	return err
}

// split returns the selected fields of a line. Line breaks between fields are
// skipped, as in TensorFlow.
func (f *csv) split(c *engine.Call, line string) ([]string, error) {
	var fields []string
	n := int64(0)
	pace := engine.NewPace(c)
	left := f.columns // those that the line has not reached, in order
	add := func(field string) {
		pace.Work(8 + len(field))
		switch {
		case len(f.columns) == 0:
			fields = append(fields, field)
		case len(left) > 0 && left[0] == n:
			fields, left = append(fields, field), left[1:]
		}
		n++
	}
	for i := 0; i < len(line); {
		if line[i] == '\n' || line[i] == '\r' {
			i++
			continue
		}
		if !f.quotes || line[i] != '"' {
			from := i
			for ; i < len(line) && line[i] != f.delimiter; i++ {
				if f.quotes && line[i] == '"' || line[i] == '\n' || line[i] == '\r' {
					return nil, fmt.Errorf("a field without quotes holds quotes or line breaks")
				}
			}
			add(line[from:i])
			i++
			continue
		}
		var text []byte
		for i++; i < len(line)-1 && (line[i] != '"' || line[i+1] != f.delimiter); i++ {
			if line[i] == '"' {
				if line[i+1] != '"' {
					return nil, fmt.Errorf("a quote in a field is not doubled")
				}
				i++
			}
			text = append(text, line[i])
		}
		if i >= len(line) || line[i] != '"' {
			return nil, fmt.Errorf("a field with quotes doesn't end with one")
		}
		add(string(text))
		i += 2
	}
	if line != "" && line[len(line)-1] == f.delimiter {
		add("")
	}
	return fields, nil
}
