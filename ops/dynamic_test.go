package ops_test

import (
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestSizesThatAreValues compares the functions that take sizes as values with those that take
// numbers, eagerly and in traces of unknown sizes. Other tests compare the latter with TensorFlow.
func TestSizesThatAreValues(t *testing.T) {
	x, two := numbers(0, 2, 3), tensor.Scalar[int32](2)
	for name, c := range map[string]struct {
		values, fixed func(s *ops.Scope, x, two *ops.Value) *ops.Value
	}{
		"FillTo": {func(s *ops.Scope, x, two *ops.Value) *ops.Value {
			return ops.FillTo(s, 1.5, ops.Stack(s, []*ops.Value{two, two}))
		},
			func(s *ops.Scope, x, two *ops.Value) *ops.Value { return ops.Fill(s, 1.5, 2, 2) }},
		"TileBy": {func(s *ops.Scope, x, two *ops.Value) *ops.Value {
			return ops.TileBy(s, x, ops.Stack(s, []ops.Input{two, 1}))
		},
			func(s *ops.Scope, x, two *ops.Value) *ops.Value { return ops.Tile(s, x, 2, 1) }},
		"BroadcastToShape": {func(s *ops.Scope, x, two *ops.Value) *ops.Value {
			return ops.BroadcastToShape(s, x, ops.Concat(s, []ops.Input{ops.ExpandDims(s, two, 0), ops.Shape(s, x)}, 0))
		}, func(s *ops.Scope, x, two *ops.Value) *ops.Value { return ops.BroadcastTo(s, x, 2, 2, 3) }},
		"PadBy": {func(s *ops.Scope, x, two *ops.Value) *ops.Value {
			return ops.PadBy(s, x, ops.Reshape(s, ops.Stack(s, []ops.Input{two, 0, 1, two}), 2, 2))
		}, func(s *ops.Scope, x, two *ops.Value) *ops.Value { return ops.Pad(s, x, [2]int{2, 0}, [2]int{1, 2}) }},
		"PadWithBy": {func(s *ops.Scope, x, two *ops.Value) *ops.Value {
			return ops.PadWithBy(s, x, 7, ops.Reshape(s, ops.Stack(s, []ops.Input{two, 0, 1, two}), 2, 2))
		}, func(s *ops.Scope, x, two *ops.Value) *ops.Value {
			return ops.PadWith(s, x, 7, [2]int{2, 0}, [2]int{1, 2})
		}},
		"TopKOf": {func(s *ops.Scope, x, two *ops.Value) *ops.Value { y, _ := ops.TopKOf(s, x, two); return y },
			func(s *ops.Scope, x, two *ops.Value) *ops.Value { y, _ := ops.TopK(s, x, 2); return y }},
		"OneHotOf": {func(s *ops.Scope, x, two *ops.Value) *ops.Value {
			return ops.OneHotOf(s, []int32{0, 1, 5}, two, tensor.Float32)
		},
			func(s *ops.Scope, x, two *ops.Value) *ops.Value {
				return ops.OneHot(s, []int32{0, 1, 5}, 2, tensor.Float32)
			}},
		"UnsortedSegmentSumOf": {func(s *ops.Scope, x, two *ops.Value) *ops.Value {
			return ops.UnsortedSegmentSumOf(s, x, []int32{1, 1}, two)
		},
			func(s *ops.Scope, x, two *ops.Value) *ops.Value {
				return ops.UnsortedSegmentSum(s, x, []int32{1, 1}, 2)
			}},
	} {
		var texts []string
		for _, f := range []func(s *ops.Scope, x, two *ops.Value) *ops.Value{c.values, c.fixed} {
			texts = append(texts, bothWays(t, func(s *ops.Scope, in []*ops.Value) []*ops.Value { return []*ops.Value{f(s, in[0], in[1])} }, x, two)...)
		}
		for _, text := range texts {
			if text != texts[0] {
				t.Errorf("%s: %s", name, strings.Join(texts, " | "))
				break
			}
		}
	}
}

// TestBatchesAreGatheredAndTensorsScattered has TensorFlow's results of tf.gather with
// batch_dims and of the tf.tensor_scatter_nd family.
func TestBatchesAreGatheredAndTensorsScattered(t *testing.T) {
	s := function.Eager(t.Context())
	x := tensor.Vector[float32](1, 2, 3, 4)
	at, by := [][]int32{{3}, {0}}, []float64{2, 5}
	for _, c := range []struct {
		got  *ops.Value
		want *tensor.Tensor
	}{
		{ops.GatherBatch(s, numbers(0, 2, 3), [][]int32{{2, 0}, {1, 1}}, 1, 1), tensor.Must(tensor.New([]float32{2, 0, 4, 4}, 2, 2))},
		{ops.TensorScatterUpdate(s, x, at, by), tensor.Vector[float32](5, 2, 3, 2)},
		{ops.TensorScatterAdd(s, x, at, by), tensor.Vector[float32](6, 2, 3, 6)},
		{ops.TensorScatterSub(s, x, at, by), tensor.Vector[float32](-4, 2, 3, 2)},
		{ops.TensorScatterMax(s, x, at, by), tensor.Vector[float32](5, 2, 3, 4)},
		{ops.TensorScatterMin(s, x, at, by), tensor.Vector[float32](1, 2, 3, 2)},
	} {
		got, err := c.got.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		if !got.Equal(c.want) {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
}
