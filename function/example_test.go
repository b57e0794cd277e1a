package function_test

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Line is the model that ExampleNew trains: y = w*x + b.
type Line struct{ W, B *trackable.Variable }

// Point is a batch of points.
type Point struct{ X, Y *ops.Value }

func (l *Line) step(s *ops.Scope, p Point) *ops.Value {
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		return ops.Mean(s, ops.Square(s, ops.Sub(s, ops.Add(s, ops.Mul(s, p.X, l.W), l.B), p.Y)))
	})
	for _, g := range tape.Gradient(loss, []*trackable.Variable{l.W, l.B}) {
		ops.ApplyGradientDescent(s, g.Variable, 0.1, g.Grad)
	}
	return loss
}

func ExampleNew() {
	line := &Line{trackable.NewVariable(tensor.Scalar[float32](0)), trackable.NewVariable(tensor.Scalar[float32](0))}
	step := function.New(line.step)
	points := Point{
		X: ops.ValueOf(tensor.Vector[float32](0, 1, 2, 3)),
		Y: ops.ValueOf(tensor.Vector[float32](1, 3, 5, 7)),
	}
	var loss *ops.Value
	for range 200 {
		var err error
		if loss, err = step.Call(context.Background(), points); err != nil {
			fmt.Println(err) // the first op that failed
			return
		}
	}
	fmt.Printf("loss %.4f, y = %.2f x + %.2f\n", loss, ops.ValueOf(line.W.Load()), ops.ValueOf(line.B.Load()))
	// Output: loss 0.0000, y = 2.00 x + 1.00
}

func ExampleFunc_Call_error() {
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		return ops.Relu(s, ops.Reshape(s, x, 2, 2)) // no error handling inside
	})
	_, err := f.Call(context.Background(), ops.ValueOf(tensor.Vector[float32](1, 2, 3)))
	fmt.Println(err)
	// Output: example_test.go:51: Reshape(float32[3], int32[2]): the input has 3 elements, shape [2,2] has 4
}

func ExampleEager() {
	s := function.Eager(context.Background())
	x := ops.Softmax(s, []float32{1, 2, 3})
	fmt.Printf("%.2f %v\n", ops.Max(s, x), s.Err())
	// Output: 0.67 <nil>
}

// A trace is a graph of TensorFlow's; it runs whenever a call's input fits.
func ExampleFunc_Trace() {
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		return ops.Sum(s, ops.Square(s, x))
	})
	concrete, err := f.Trace(ops.ValueOf(tensor.Vector[float32](0, 0, 0)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(concrete.Function)
	y, err := f.Call(context.Background(), ops.ValueOf(tensor.Vector[float32](1, 2, 3))) // runs the trace
	fmt.Println(y, err)
	// Output:
	// func __inference_function_test_ExampleFunc_Trace_func1(in float32[3]) {
	//	Square = Square(in) T=float32 → float32[3]  // example_test.go:68
	//	Const = Const() value=[0] dtype=int32 → int32[1]
	//	Sum = Sum(Square, Const) keep_dims=false T=float32 Tidx=int32 → float32[]  // example_test.go:68
	//	return out=Sum
	// }
	//
	// 14 <nil>
}
