package random_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestRefusedRangesLeaveTheState draws integers from ranges, some of which are empty. The empty
// ones are refused and use up no numbers, as in TensorFlow.
func TestRefusedRangesLeaveTheState(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Int32, tensor.Int64} {
		number := func(x int64) *tensor.Tensor { return tensor.Must(tensor.Cast(tensor.Scalar(x), d)) }
		v := trackable.NewVariable(tensor.Vector[int64](1, 2, 3))
		s := function.Eager(context.Background())
		s.Emit("StatefulUniformInt", graph.Attrs{graph.Type("dtype", d)}, ops.Handle(s, v), int64(1), tensor.Vector[int32](5), number(7), number(7))
		if s.Err() == nil {
			t.Errorf("%v: an empty range is drawn from", d)
		}
		if got := v.Load(); !got.Equal(tensor.Vector[int64](1, 2, 3)) {
			t.Errorf("%v: the state is %v after a refused draw", d, got)
		}

		// The numbers after a refused draw are those that follow without it.
		var draws [2]*tensor.Tensor
		for i := range draws {
			f := function.New(func(s *ops.Scope, most *ops.Value) *ops.Value {
				return s.Emit1("RandomUniformInt", graph.Attrs{graph.Type("Tout", d), graph.Int("seed", 5)}, tensor.Vector[int32](20), number(7), most)
			}, &function.Options{Mode: function.Traced, Instance: new(engine.Instance)})
			draw := func(most int64) (*ops.Value, error) {
				return f.Call(context.Background(), ops.ValueOf(number(most)))
			}
			if _, err := draw(1000); err != nil {
				t.Fatal(err)
			}
			if i == 1 {
				if _, err := draw(7); err == nil {
					t.Errorf("%v: an empty range is drawn from", d)
				}
			}
			x, err := draw(1000)
			if err != nil {
				t.Fatal(err)
			}
			if draws[i], err = x.Tensor(); err != nil {
				t.Fatal(err)
			}
		}
		if !draws[0].Equal(draws[1]) {
			t.Errorf("%v: a refused draw uses up numbers: %v, want %v", d, draws[1], draws[0])
		}
	}
}

// TestNothingIsDrawnFromEmptyRanges draws no numbers from ranges without numbers. TensorFlow refuses
// that only if the state is in a variable.
func TestNothingIsDrawnFromEmptyRanges(t *testing.T) {
	none, seven := tensor.Vector[int32](0), tensor.Scalar[int64](7)
	v := trackable.NewVariable(tensor.Vector[int64](1, 2, 3))
	for _, c := range []struct {
		op      string
		attrs   graph.Attrs
		in      func(s *ops.Scope) []ops.Input
		refused bool
	}{
		{"StatelessRandomUniformInt", graph.Attrs{graph.Type("dtype", tensor.Int64)}, func(*ops.Scope) []ops.Input { return []ops.Input{none, tensor.Vector[int32](1, 2), seven, seven} }, false},
		{"StatelessRandomUniformIntV2", graph.Attrs{graph.Type("dtype", tensor.Int64)}, func(*ops.Scope) []ops.Input {
			return []ops.Input{none, tensor.Vector[uint64](1), tensor.Vector[uint64](1, 2), tensor.Scalar[int32](1), seven, seven}
		}, false},
		{"RandomUniformInt", graph.Attrs{graph.Type("Tout", tensor.Int64)}, func(*ops.Scope) []ops.Input { return []ops.Input{none, seven, seven} }, false},
		{"StatefulUniformInt", graph.Attrs{graph.Type("dtype", tensor.Int64)}, func(s *ops.Scope) []ops.Input {
			return []ops.Input{ops.Handle(s, v), int64(1), none, seven, seven}
		}, true},
	} {
		s := function.Eager(context.Background())
		s.Emit(c.op, c.attrs, c.in(s)...)
		if err := s.Err(); (err != nil) != c.refused {
			t.Errorf("%s: error %v", c.op, err)
		}
	}
}
