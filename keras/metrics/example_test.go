package metrics_test

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/metrics"
)

func Example() {
	s := function.Eager(context.Background())
	auc := &metrics.AUC{NumThresholds: 3}
	auc.Update(s, []float32{0, 0, 1, 1}, []float32{0, 0.5, 0.3, 0.9}, nil)
	fmt.Println(metrics.Value(context.Background(), auc))
	auc.Reset(s)
	auc.Update(s, []float32{0, 0, 1, 1}, []float32{0, 0.5, 0.3, 0.9}, []float32{1, 0, 0, 1})
	fmt.Println(metrics.Value(context.Background(), auc))
	fmt.Println(s.Err())
	// Output:
	// 0.75 <nil>
	// 1 <nil>
	// <nil>
}
