package rest_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/cairnml/cairn/rest"
	"github.com/cairnml/cairn/tensor"
)

// A server reads a request by the inputs of the signature that it names, and
// answers in the request's form.
func Example() {
	body := strings.NewReader(`{"signature_name": "scale", "instances": [{"x": [1, 2], "by": 10}, {"x": [3, 4], "by": 0.5}]}`)
	req, err := rest.ReadRequest(body, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := req.Tensors([]rest.Spec{ // of the signature req.Signature
		{Name: "x", DType: tensor.Float32, Shape: tensor.Shape{-1, 2}},
		{Name: "by", DType: tensor.Float32, Shape: tensor.Shape{-1}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, by := tensor.Values[float32](in["x"]), tensor.Values[float32](in["by"])
	for i := range x {
		x[i] *= by[i/2]
	}
	if err := rest.WritePredictResponse(os.Stdout, req.Form(), map[string]*tensor.Tensor{"y": in["x"]}, nil); err != nil {
		fmt.Println(err)
	}
	// Output: {"predictions":[[10.0,20.0],[1.5,2.0]]}
}
