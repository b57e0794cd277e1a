package hdf5_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/tensor"
)

// Write a dataset with an attribute, and read both back.
func Example() {
	ctx := context.Background()
	var w hdf5.Writer
	kernel, err := w.Root().Dataset("dense/kernel:0", tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6}, 3, 2)), nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := kernel.SetAttribute("unit", tensor.Scalar("m"), nil); err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := w.Write(ctx, &file); err != nil {
		log.Fatal(err)
	}

	f, err := hdf5.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		log.Fatal(err)
	}
	d, err := f.Root().Dataset("dense/kernel:0")
	if err != nil {
		log.Fatal(err)
	}
	t, err := d.Read(ctx)
	if err != nil {
		log.Fatal(err)
	}
	a, err := d.Attribute("unit")
	if err != nil {
		log.Fatal(err)
	}
	unit, err := a.Text()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Path(), t.DType(), t.Shape(), tensor.Values[float32](t), unit)
	// Output: /dense/kernel:0 float32 [3,2] [1 2 3 4 5 6] m
}

// List all objects of a file.
func ExampleGroup_Walk() {
	var w hdf5.Writer
	for _, name := range []string{"layers/dense/vars/0", "layers/dense/vars/1"} {
		if _, err := w.Root().Dataset(name, tensor.Vector[float32](1, 2), nil); err != nil {
			log.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := w.Write(context.Background(), &file); err != nil {
		log.Fatal(err)
	}
	f, err := hdf5.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		log.Fatal(err)
	}
	err = f.Root().Walk(func(o hdf5.Object) error {
		if d, ok := o.(*hdf5.Dataset); ok {
			fmt.Println(d.Path(), d.Type(), d.Shape())
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// /layers/dense/vars/0 float32 [2]
	// /layers/dense/vars/1 float32 [2]
}

// Compress a dataset. The elements are asked for when their turn comes.
func ExampleGroupWriter_DatasetFunc() {
	var w hdf5.Writer
	zeros := func(context.Context) (*tensor.Tensor, error) { return tensor.Zeros(tensor.Float32, 1000, 100) }
	opts := &hdf5.DatasetOptions{Gzip: 6, Shuffle: true}
	if _, err := w.Root().DatasetFunc("kernel", tensor.Float32, tensor.Shape{1000, 100}, zeros, opts); err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := w.Write(context.Background(), &file); err != nil {
		log.Fatal(err)
	}
	fmt.Println(file.Len() < 10_000)
	// Output: true
}
