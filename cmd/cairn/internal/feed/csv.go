package feed

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cairnml/cairn/rest"
	"github.com/cairnml/cairn/tensor"
)

// table is a .csv file in memory. The rules for .csv files are Cairn's, in the help of run; TensorFlow
// has none.
type table struct {
	header []string   // nil if the first line has no names of inputs
	rows   [][]string // without the header; each has the same number of cells
	line   int        // the line of the first row, from 1, for errors
}

// readCSV reads a table. If its first line has the names of inputs, each column is
// an input; otherwise the signature must have one input, and a row of it is a line.
// A first line without any number is a header, if the input takes numbers.
func readCSV(r io.Reader, inputs []rest.Spec, opts *Options) (map[string]*tensor.Tensor, error) {
	c := csv.NewReader(r)
	c.ReuseRecord = false
	rows, err := c.ReadAll()
	if err != nil {
		return nil, csvError(err)
	}
	if len(rows) == 0 {
		return nil, errors.New("the table is empty")
	}
	rows[0][0] = strings.TrimPrefix(rows[0][0], "\ufeff")
	t := &table{rows: rows, line: 1}
	named := func(cell string) bool {
		return slices.ContainsFunc(inputs, func(x rest.Spec) bool { return x.Name == strings.TrimSpace(cell) })
	}
	switch {
	case !slices.ContainsFunc(rows[0], func(cell string) bool { return !named(cell) }):
		t.header, t.rows, t.line = rows[0], rows[1:], 2
		return t.columns(inputs)
	case len(inputs) != 1:
		list := make([]string, len(inputs))
		for i, x := range inputs {
			list[i] = fmt.Sprintf("%q", x.Name)
		}
		return nil, fmt.Errorf("line 1: the signature takes %d inputs (want a first line with their names: %s)", len(inputs), strings.Join(list, ", "))
	case inputs[0].DType != tensor.String && !slices.ContainsFunc(rows[0], isNumber):
		t.rows, t.line = rows[1:], 2
		opts.note("the first line of the table is taken for a header: %s", strings.Join(rows[0], ", "))
	}
	x, err := t.matrix(inputs[0])
	return map[string]*tensor.Tensor{inputs[0].Name: x}, err
}

// csvError words the errors of package csv.
func csvError(err error) error {
	var bad *csv.ParseError
	if !errors.As(err, &bad) {
		return err
	}
	words := map[error]string{
		csv.ErrFieldCount: "it has more or fewer cells than the first line",
		csv.ErrQuote:      "a quote opens or closes inside of a cell",
		csv.ErrBareQuote:  "a quote stands inside of a cell without quotes",
	}[bad.Err]
	if words == "" {
		words = bad.Err.Error()
	}
	return fmt.Errorf("line %d: %s", bad.Line, words)
}

// columns makes an input of each column.
func (t *table) columns(inputs []rest.Spec) (map[string]*tensor.Tensor, error) {
	out := map[string]*tensor.Tensor{}
	for i, name := range t.header {
		name = strings.TrimSpace(name)
		if out[name] != nil {
			return nil, fmt.Errorf("line 1: the input %q appears twice", name)
		}
		x := inputs[slices.IndexFunc(inputs, func(x rest.Spec) bool { return x.Name == name })]
		var err error
		if out[name], err = t.values(x, i, i+1, len(x.Shape) != 2); err != nil {
			return nil, err
		}
	}
	for _, x := range inputs {
		if out[x.Name] == nil && !x.Optional {
			return nil, fmt.Errorf("line 1: the input %q is missing", x.Name)
		}
	}
	return out, nil
}

// matrix makes an input of all columns.
func (t *table) matrix(x rest.Spec) (*tensor.Tensor, error) {
	if len(t.rows) == 0 {
		return nil, errors.New("the table has a header and no rows")
	}
	return t.values(x, 0, len(t.rows[0]), len(x.Shape) == 1 && len(t.rows[0]) == 1)
}

// values makes a tensor of columns lo to hi: a vector if flat, else a matrix.
func (t *table) values(x rest.Spec, lo, hi int, flat bool) (*tensor.Tensor, error) {
	var b []byte
	sep := "["
	for r, row := range t.rows {
		b = append(b, sep...)
		sep = ","
		if !flat {
			b = append(b, '[')
		}
		for i := lo; i < hi; i++ {
			if i > lo {
				b = append(b, ',')
			}
			from := len(b)
			var err error
			if b, err = appendCell(b, row[i], x.DType); err == nil {
				_, err = rest.ParseTensor(b[from:], rest.Spec{DType: x.DType, Shape: tensor.Shape{}})
			}
			if err != nil {
				var bad *rest.Error
				if errors.As(err, &bad) {
					err = errors.New(bad.Problem)
				}
				return nil, fmt.Errorf("line %d, column %d: %w", t.line+r, i+1, err)
			}
		}
		if !flat {
			b = append(b, ']')
		}
	}
	if len(t.rows) == 0 {
		b = append(b, '[')
	}
	return rest.ParseTensor(append(b, ']'), x)
}

// appendCell appends a cell as JSON, for an input of type d. Spellings of NaN and infinity that
// numpy and pandas write become those that package rest reads.
func appendCell(b []byte, cell string, d tensor.DType) ([]byte, error) {
	if d == tensor.String {
		text, err := json.Marshal(cell)
		return append(b, text...), err
	}
	cell = strings.TrimSpace(cell)
	switch strings.ToLower(cell) {
	case "":
		return b, errors.New("the cell is empty")
	case "nan":
		cell = "NaN"
	case "inf", "+inf", "infinity", "+infinity":
		cell = "Infinity"
	case "-inf", "-infinity":
		cell = "-Infinity"
	case "true", "false":
		cell = strings.ToLower(cell)
	default:
		if strings.ContainsFunc(cell, func(r rune) bool { return !strings.ContainsRune("0123456789+-.eE", r) }) {
			return b, fmt.Errorf("%q is no number", cell)
		}
	}
	return append(b, cell...), nil
}

// isNumber reports whether a cell holds a number or a truth value.
func isNumber(cell string) bool {
	_, err := appendCell(nil, cell, tensor.Float64)
	return err == nil
}
