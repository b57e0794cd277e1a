package dataset

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// columns has its rows in every form that FromSlices takes.
type columns struct {
	X    [][]float32
	Name []string
	Pair struct{ ID []int }
	T    *tensor.Tensor
	V    *ops.Value
}

func someColumns(n int) columns {
	var c columns
	for i := range n {
		c.X = append(c.X, []float32{float32(i), float32(i) + 0.5})
		c.Name = append(c.Name, fmt.Sprint("n", i))
		c.Pair.ID = append(c.Pair.ID, 10*i)
	}
	c.T = tensor.Must(tensor.Zeros(tensor.Float32, n, 2))
	c.V = ops.ValueOf(tensor.Must(tensor.Zeros(tensor.Int32, n)))
	return c
}

func (c columns) text() string {
	return fmt.Sprint(c.X, c.Name, c.Pair.ID, c.T.Shape(), c.V.Shape())
}

func texts(t *testing.T, d *Dataset[columns]) (out []string) {
	t.Helper()
	for c, err := range d.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c.text())
	}
	return out
}

func TestGoSlicesAreRows(t *testing.T) {
	ds := FromSlices(someColumns(3))
	one := "[[[0 0.5]] [n0] [0] [2] [] [[1 1.5]] [n1] [10] [2] [] [[2 2.5]] [n2] [20] [2] []]"
	if got := fmt.Sprint(texts(t, ds)); got != one {
		t.Errorf("rows:\ngot  %v\nwant %v", got, one)
	}
	two := "[[[0 0.5] [1 1.5]] [n0 n1] [0 10] [2,2] [2] [[2 2.5]] [n2] [20] [1,2] [1]]"
	// Adjacent rows are sliced, others are copied together.
	for name, d := range map[string]*Dataset[columns]{"slices": ds.Batch(2, nil), "elements": ds.Repeat(1).Batch(2, nil)} {
		if got := fmt.Sprint(texts(t, d)); got != two {
			t.Errorf("batches of %s:\ngot  %v\nwant %v", name, got, two)
		}
	}
}

func TestABatchOfGoSlicesCanBeAppendedTo(t *testing.T) {
	all := someColumns(4)
	for c, err := range FromSlices(all).Batch(2, nil).All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		c.Name = append(c.Name, "more")
	}
	if all.Name[2] != "n2" {
		t.Errorf("the source became %v", all.Name)
	}
}

func TestGoSlicesThatCanNotBeRows(t *testing.T) {
	uneven := someColumns(3)
	uneven.Name = uneven.Name[:2]
	for want, err := range map[string]error{
		"Name has 2 rows, X has 3":                       FromSlices(uneven).Err(),
		"[]string can't be an element":                   FromSlices([]string{"a"}).Err(),
		"X: the slice in element 0 has 2 rows, and only": last(FromSlices(someColumns(4)).Batch(2, nil).Batch(2, nil)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

// last returns the error that ends an iteration.
func last[T any](d *Dataset[T]) (err error) {
	for _, e := range d.All(context.Background()) {
		err = e
	}
	return err
}

// features is an element whose tensors have names from the data.
type features map[string]*tensor.Tensor

func TestMapsAndArraysAreElements(t *testing.T) {
	type example struct {
		In   features
		Pair [2]*tensor.Tensor
	}
	all := example{features{"b": tensor.Vector[int32](1, 2, 3), "a": tensor.Vector("x", "y", "z")}, [2]*tensor.Tensor{tensor.Vector[int32](4, 5, 6), tensor.Vector[int32](7, 8, 9)}}
	text := func(d *Dataset[example]) (out []string) {
		for e, err := range d.All(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprint(tensor.Values[string](e.In["a"]), tensor.Values[int32](e.In["b"]), tensor.Values[int32](e.Pair[0]), tensor.Values[int32](e.Pair[1])))
		}
		return out
	}
	want := "[[x y] [1 2] [4 5] [7 8] [z] [3] [6] [9]]"
	for name, d := range map[string]*Dataset[example]{"slices": FromSlices(all).Batch(2, nil), "elements": FromSlices(all).Repeat(1).Batch(2, nil)} {
		if got := fmt.Sprint(text(d)); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if got := len(all.In); got != 2 || all.In["b"].Len() != 3 {
		t.Errorf("the source became %v", all.In)
	}
	other := FromSeq(func(context.Context) iter.Seq2[features, error] {
		return func(yield func(features, error) bool) {
			_ = yield(features{"a": tensor.Scalar[int32](1)}, nil) && yield(features{"b": tensor.Scalar[int32](1)}, nil)
		}
	}).Batch(2, nil)
	if err := last(other); err == nil || !strings.Contains(err.Error(), "element 1 of the batch has not the form of element 0") {
		t.Errorf("elements of two forms: %v", err)
	}
}
