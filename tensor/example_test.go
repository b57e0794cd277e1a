package tensor_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/cairnml/cairn/tensor"
)

func ExampleNew() {
	t, err := tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.DType(), t.Shape())
	fmt.Println(t)
	fmt.Println(tensor.Values[float32](t)[3:])
	// Output:
	// float32 [2,3]
	// [[1. 2. 3.]
	//  [4. 5. 6.]]
	// [4 5 6]
}

func ExampleCast() {
	t, err := tensor.Cast(tensor.Vector(0.1, 30, -2), tensor.BFloat16)
	if err != nil {
		fmt.Println(err)
		return
	}
	wide, err := t.Float64s()
	fmt.Println(t, wide, err)
	// Output: [ 0.10009766 30.         -2.        ] [0.10009765625 30 -2] <nil>
}

func ExampleWriteNPY() {
	var file bytes.Buffer
	if err := tensor.WriteNPY(&file, tensor.Vector[int32](1, 2, 3), nil); err != nil {
		fmt.Println(err)
		return
	}
	t, err := tensor.ReadNPY(&file)
	fmt.Println(t, err)
	// Output: [1 2 3] <nil>
}

func ExampleNPZWriter() {
	var file bytes.Buffer
	w := tensor.NewNPZWriter(&file, nil)
	if err := w.Add("kernel", tensor.Vector[float32](1, 2)); err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}
	z, err := tensor.OpenNPZ(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := z.Read(context.Background(), "kernel")
	fmt.Println(z.Names(), t, err)
	// Output: [kernel] [1. 2.] <nil>
}

func ExampleTensor_Text() {
	t, err := tensor.New(make([]float32, 2000), 1000, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Text(&tensor.TextOptions{EdgeItems: 1}))
	// Output:
	// [[0. 0.]
	//  ...
	//  [0. 0.]]
}
