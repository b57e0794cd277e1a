package kernel_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// link is an op of a chain: its first input is the op before, its others are constants.
type link struct {
	op    string
	more  *tensor.Tensor
	attrs graph.Attrs
}

// chainOf returns the function of one float32 tensor that runs ops one after another.
func chainOf(t *testing.T, links ...link) *graph.Function {
	t.Helper()
	f := graph.NewFunction("f")
	x, err := f.AddArg("x", graph.Fact{DType: tensor.Float32})
	if err != nil {
		t.Fatal(err)
	}
	add := func(op string, attrs graph.Attrs, in ...graph.Output) graph.Output {
		n := &graph.Node{Op: op, In: in, Def: graph.LookupOp(op)}
		facts := make([]graph.Fact, len(in))
		for i, o := range in {
			facts[i] = o.Fact()
		}
		var err error
		if n.Attrs, n.Out, err = n.Def.Bind(attrs, facts); err == nil {
			err = f.Graph.Add(n)
		}
		if err != nil {
			t.Fatal(err)
		}
		return n.Output(0)
	}
	last := x
	for _, l := range links {
		in := []graph.Output{last}
		if l.more != nil {
			in = append(in, add("Const", graph.Attrs{graph.Tensor("value", l.more), graph.Type("dtype", l.more.DType())}))
		}
		last = add(l.op, l.attrs, in...)
	}
	f.AddResult("y", last)
	return f
}

// TestLoopsOfXLARefuseOtherForms: a body that changes a variable's shape or type, and a condition
// that is not one bool, are errors, as they are when TensorFlow compiles the loop.
func TestLoopsOfXLARefuseOtherForms(t *testing.T) {
	axis := tensor.Vector[int32](0)
	all := chainOf(t, link{op: "IsFinite"}, link{op: "All", more: axis})
	same := chainOf(t, link{op: "Neg"})
	for _, c := range []struct {
		name       string
		cond, body *graph.Function
		want       string
	}{
		{"shape", all, chainOf(t, link{op: "Tile", more: tensor.Vector[int32](2)}), "variable 0 is float32[4] after a round (want float32[2])"},
		{"type", all, chainOf(t, link{op: "Cast", attrs: graph.Attrs{graph.Type("DstT", tensor.Float64)}}), "variable 0 is float64[2] after a round (want float32[2])"},
		{"vector as condition", chainOf(t, link{op: "IsFinite"}), same, "the condition is bool[2] (want one bool)"},
		{"number as condition", chainOf(t, link{op: "Max", more: axis}), same, "the condition is float32[] (want one bool)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := function.Eager(context.Background())
			s.Emit("XlaWhile", graph.Attrs{graph.Func("cond", c.cond), graph.Func("body", c.body)}, tensor.Vector[float32](1, 2))
			if err := s.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// TestLoopsOfXLAAreBounded: a loop without an end returns after its context ends, and after its
// number of steps. One whose values would take too much memory is an error.
func TestLoopsOfXLAAreBounded(t *testing.T) {
	all := chainOf(t, link{op: "IsFinite"}, link{op: "All", more: tensor.Vector[int32](0)})
	attrs := graph.Attrs{graph.Func("cond", all), graph.Func("body", chainOf(t, link{op: "Neg"}))}
	t.Run("context", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		s := function.Eager(ctx)
		s.Emit("XlaWhile", attrs, tensor.Vector[float32](1, 2))
		if err := s.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
	})
	t.Run("memory", func(t *testing.T) {
		big := chainOf(t, link{op: "Tile", more: tensor.Vector[int32](1 << 30)}, link{op: "IsFinite"}, link{op: "All", more: tensor.Vector[int32](0)})
		s := function.Eager(context.Background())
		s.Emit("XlaWhile", graph.Attrs{graph.Func("cond", big), attrs[1]}, tensor.Vector[float32](make([]float32, 1<<20)...))
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), "bytes") {
			t.Errorf("got %v, want an error that names bytes", err)
		}
	})
}
