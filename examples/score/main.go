// Command score reads rows of a table from standard input, as CSV, and prints the numbers
// that a tabular model computes for each of them:
//
//	go run ./examples/score < examples/score/flats.csv
//
// The columns are the inputs of the model's signature by name, in any order. The model,
// which make_model.py made with TensorFlow, is inside the program.
package main

import (
	"context"
	"embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"strconv"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

//go:embed all:model
var files embed.FS

// rowsAtOnce is the greatest number of rows in one call of the model. Any number works.
const rowsAtOnce = 1024

func main() {
	if err := score(context.Background(), os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// score reads all rows and writes the outputs of each, with their names in the first line.
func score(ctx context.Context, in io.Reader, out io.Writer) error {
	dir, err := fs.Sub(files, "model")
	if err != nil {
		return err
	}
	model, err := cairn.Load(ctx, dir, nil)
	if err != nil {
		return err
	}
	signature, err := model.Signature("serving_default")
	if err != nil {
		return err
	}
	r, w := csv.NewReader(in), csv.NewWriter(out)
	head, err := r.Read()
	if err != nil {
		return fmt.Errorf("read the first line: %w", err)
	}
	var names []string
	for _, o := range signature.Outputs() {
		names = append(names, o.Name)
	}
	if err := w.Write(names); err != nil {
		return err
	}
	for {
		var rows [][]string
		for len(rows) < rowsAtOnce {
			row, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
		if len(rows) > 0 {
			if err := scoreRows(ctx, signature, head, rows, names, w); err != nil {
				return err
			}
		}
		if w.Flush(); len(rows) < rowsAtOnce {
			return w.Error()
		}
	}
}

// scoreRows calls the model on some rows and writes its outputs.
func scoreRows(ctx context.Context, s *run.Signature, head []string, rows [][]string, names []string, w *csv.Writer) error {
	inputs := map[string]*tensor.Tensor{}
	for _, info := range s.Inputs() {
		t, err := column(info.Name, info.DType, head, rows)
		if err != nil {
			return err
		}
		inputs[info.Name] = t
	}
	results, err := s.Call(ctx, inputs)
	if err != nil {
		return err
	}
	for i := range rows {
		var line []string
		for _, name := range names {
			line = append(line, strconv.FormatFloat(float64(tensor.Values[float32](results[name])[i]), 'g', 6, 64))
		}
		if err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// column returns the column of a name as a vector of type d. head has the names of the rows'
// columns.
func column(name string, d tensor.DType, head []string, rows [][]string) (*tensor.Tensor, error) {
	at := -1
	for i, h := range head {
		if h == name {
			at = i
		}
	}
	if at < 0 {
		return nil, fmt.Errorf("the table has no column %q (got %q)", name, head)
	}
	texts := make([]string, len(rows))
	numbers := make([]float32, len(rows))
	counts := make([]int64, len(rows))
	for i, row := range rows {
		var err error
		switch texts[i] = row[at]; d {
		case tensor.Float32:
			var x float64
			x, err = strconv.ParseFloat(row[at], 32)
			numbers[i] = float32(x)
		case tensor.Int64:
			counts[i], err = strconv.ParseInt(row[at], 10, 64)
		}
		if err != nil {
			return nil, fmt.Errorf("row %d of the column %q: %w", i, name, err)
		}
	}
	switch d {
	case tensor.String:
		return tensor.FromStrings(d, texts, len(rows))
	case tensor.Float32:
		return tensor.New(numbers, len(rows))
	case tensor.Int64:
		return tensor.New(counts, len(rows))
	}
	return nil, fmt.Errorf("the column %q has elements of the type %v, which this program doesn't read", name, d)
}
