package ops_test

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

func ExampleStringSplit() {
	s := function.Eager(context.Background())
	words := ops.StringSplit(s, []string{"to be or", "not"}, "")
	fmt.Println(words.Values, words.RowSplits)
	fmt.Println(words.ToTensor(s, "-"), s.Err())
	// Output:
	// [b'to' b'be' b'or' b'not'] [0 3 4]
	// [[b'to' b'be' b'or']
	//  [b'not' b'-' b'-']] <nil>
}

func ExampleRegexReplace() {
	s := function.Eager(context.Background())
	y := ops.RegexReplace(s, []string{"2026-11-27"}, `(\d+)-(\d+)-(\d+)`, `\3.\2.\1`)
	fmt.Println(y, s.Err())
	// Output: [b'27.11.2026'] <nil>
}

func ExampleUnicodeDecode() {
	s := function.Eager(context.Background())
	points := ops.UnicodeDecode(s, []string{"né", "日"}, "UTF-8")
	fmt.Println(points.Values, points.RowLengths(s), s.Err())
	// Output: [  110   233 26085] [2 1] <nil>
}

func ExampleSolve() {
	s := function.Eager(context.Background())
	x := ops.Solve(s, [][]float32{{2, 0}, {0, 4}}, [][]float32{{6}, {8}})
	fmt.Println(x, s.Err())
	// Output:
	// [[3.]
	//  [2.]] <nil>
}

func ExampleLeastSquares() {
	s := function.Eager(context.Background())
	// The line through (0, 1), (1, 3) and (2, 5).
	line := ops.LeastSquares(s, [][]float64{{0, 1}, {1, 1}, {2, 1}}, [][]float64{{1}, {3}, {5}})
	slope, err := ops.Item[float32](ops.Squeeze(s, ops.SliceOf(s, line, []int{0, 0}, []int{1, 1})))
	fmt.Printf("%.3f %v %v\n", slope, line.Shape(), err)
	// Output: 2.000 [2,1] <nil>
}

func ExampleTensorArray() {
	s := function.Eager(context.Background())
	squares := ops.NewTensorArray(s, tensor.Int32, 4)
	out := ops.While(s, []*ops.Value{ops.Const(s, 0), squares.List},
		func(s *ops.Scope, v []*ops.Value) *ops.Value { return ops.Less(s, v[0], 4) },
		func(s *ops.Scope, v []*ops.Value) []*ops.Value {
			return []*ops.Value{ops.Add(s, v[0], 1), squares.With(v[1]).Write(s, v[0], ops.Square(s, v[0])).List}
		})
	fmt.Println(squares.With(out[1]).Stack(s), s.Err())
	// Output: [0 1 4 9] <nil>
}
