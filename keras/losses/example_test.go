package losses_test

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/losses"
)

func Example() {
	s := function.Eager(context.Background())
	truth, predicted := [][]float32{{0, 1}, {0, 0}}, [][]float32{{1, 1}, {1, 0}}
	loss := losses.MeanSquaredError{Reduction: losses.SumReduction}
	fmt.Printf("examples: %v\n", loss.Call(s, truth, predicted))
	fmt.Printf("sum: %v\n", loss.Loss(s, truth, predicted, nil))
	fmt.Printf("weighted sum: %v\n", loss.Loss(s, truth, predicted, []float32{0.2, 2}))
	fmt.Println(s.Err())
	// Output:
	// examples: [0.5 0.5]
	// sum: 1
	// weighted sum: 1.1
	// <nil>
}
