package passes_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/internal/enginetest"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// recurrentLoop is how a loop over a cell is written.
type recurrentLoop struct {
	name                string
	gru                 bool
	last                bool // only the last state is kept, in element 0
	counts              bool // the condition looks at the loop's counter too
	forget              bool // a number is added to the forget gate
	steps, batch, width int
	spoil               string // makes another cell
	raised              bool
	// turned stores the steps of an example adjacently, before and after the
	// loop. backwards reverses the order of the steps.
	turned, backwards bool
	turns             int // that stay
}

// cell adds the cell to a body: of x, the state and the weights, and returns the next
// state.
func (l *recurrentLoop) cell(b *enginetest.Builder, x, h, c, w, u, bias, bias2 graph.Output) (graph.Output, graph.Output) {
	split := func(x graph.Output, n int) *graph.Node {
		return b.Node("Split", graph.Attrs{graph.Int("num_split", int64(n))}, b.Scalar(1), x)
	}
	sigmoid, tanh := func(x graph.Output) graph.Output { return b.Op("Sigmoid", x) }, func(x graph.Output) graph.Output { return b.Op("Tanh", x) }
	if l.spoil == "relu" {
		tanh = func(x graph.Output) graph.Output { return b.Op("Relu", x) }
	}
	if l.gru {
		sx := split(b.Op("BiasAdd", b.Op("MatMul", x, w), bias), 3)
		sh := split(b.Op("BiasAdd", b.Op("MatMul", h, u), bias2), 3)
		z := sigmoid(b.Op("AddV2", sx.Output(0), sh.Output(0)))
		r := sigmoid(b.Op("AddV2", sx.Output(1), sh.Output(1)))
		g := tanh(b.Op("AddV2", sx.Output(2), b.Op("Mul", r, sh.Output(2))))
		if l.spoil == "swapped" {
			z, r = r, z
		}
		return b.Op("AddV2", b.Op("Mul", z, h), b.Op("Mul", b.Op("Sub", b.Value(tensor.Scalar[float32](1)), z), g)), graph.Output{}
	}
	s := split(b.Op("BiasAdd", b.Op("AddV2", b.Op("MatMul", x, w), b.Op("MatMul", h, u)), bias), 4)
	in, fresh, out := sigmoid(s.Output(0)), tanh(s.Output(2)), sigmoid(s.Output(3))
	f := s.Output(1)
	if l.forget {
		f = b.Op("AddV2", f, b.Value(tensor.Scalar[float32](.75)))
	}
	if l.spoil == "shared gate" {
		f = s.Output(0)
	}
	c = b.Op("AddV2", b.Op("Mul", sigmoid(f), c), b.Op("Mul", in, fresh))
	return b.Op("Mul", out, tanh(c)), c
}

// build returns the function and the shapes of its arguments.
func (l *recurrentLoop) build(t *testing.T) (*graph.Function, [][]int) {
	const width = 3 // of the inputs
	gates := 4
	if l.gru {
		gates = 3
	}
	i32, f32, list := tensor.Int32, tensor.Float32, tensor.Variant
	types := []tensor.DType{i32, i32, list, f32, f32, i32, list, f32, f32, f32, f32}
	element := graph.Attrs{graph.Type("element_dtype", f32)}
	cond, body := enginetest.Build(t, "cond"), enginetest.Build(t, "body")
	var ca, ba []graph.Output
	for i, d := range types {
		if i == 4 && l.gru {
			d = i32
		}
		ca, ba = append(ca, cond.Arg(d)), append(ba, body.Arg(d))
	}
	holds := cond.Op("Less", ca[1], ca[5])
	if l.counts {
		holds = cond.Op("LogicalAnd", cond.Op("Less", ca[0], cond.Scalar(int32(l.steps))), holds)
	}
	c := cond.Return(holds)
	unknown := body.Value(tensor.Vector[int32](-1, -1))
	x := body.Node("TensorListGetItem", element, ba[6], ba[1], unknown).Output(0)
	h, state := l.cell(body, x, ba[3], ba[4], ba[7], ba[8], ba[9], ba[10])
	at := ba[1]
	if l.last {
		at = body.Scalar(0)
	}
	if l.gru {
		state = ba[4]
	}
	step := int32(1)
	if l.spoil == "two at once" {
		step = 2
	}
	next := body.Return(body.Op("AddV2", ba[0], body.Scalar(1)), body.Op("AddV2", ba[1], body.Scalar(step)), body.Op("TensorListSetItem", ba[2], at, h), h, state,
		ba[5], ba[6], ba[7], ba[8], ba[9], ba[10])

	b := enginetest.Build(t, "layer")
	shapes := [][]int{{l.steps, l.batch, width}, {l.batch, l.width}, {l.batch, l.width}, {width, gates * l.width}, {l.width, gates * l.width}, {gates * l.width}, {gates * l.width}}
	if l.turned {
		shapes[0] = []int{l.batch, l.steps, width}
	}
	var args []graph.Output
	for _, s := range shapes {
		o, err := b.F.AddArg("", graph.Fact{DType: f32, Shape: graph.ShapeOf(s...)})
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, o)
	}
	size := b.Value(tensor.Vector(int32(l.batch), int32(l.width)))
	n := int32(l.steps)
	if l.last {
		n = 1
	}
	reserved := b.Node("TensorListReserve", element, size, b.Scalar(n)).Output(0)
	x0 := args[0]
	turn := func(x graph.Output) graph.Output { return b.Op("Transpose", x, b.Value(tensor.Vector[int32](1, 0, 2))) }
	reverse := func(x graph.Output, axis int32) graph.Output {
		return b.Op("ReverseV2", x, b.Value(tensor.Vector(axis)))
	}
	if l.turned {
		x0 = turn(x0)
	}
	if l.backwards {
		x0 = reverse(x0, 0)
	}
	inputs := b.Node("TensorListFromTensor", nil, x0, b.Value(tensor.Vector(int32(l.batch), width))).Output(0)
	c0 := args[2]
	if l.gru {
		c0 = b.Scalar(0)
	}
	limit := b.Scalar(int32(l.steps))
	loop := b.Node("StatelessWhile", graph.Attrs{graph.Func("cond", c), graph.Func("body", next)},
		b.Scalar(0), b.Scalar(0), reserved, args[1], c0, limit, inputs, args[3], args[4], args[5], args[6])
	stack := b.Node("TensorListStack", element, loop.Output(2), size).Output(0)
	if l.spoil == "the batch is reversed" {
		stack = reverse(stack, 1)
	}
	sequence := stack
	if l.turned {
		sequence = turn(sequence)
	}
	if l.backwards {
		axis := int32(0)
		if l.turned {
			axis = -2
		}
		sequence = reverse(sequence, axis)
	}
	out := []graph.Output{sequence, loop.Output(3)}
	if l.spoil == "the order is seen" {
		out = append(out, stack)
	}
	if !l.gru {
		out = append(out, loop.Output(4))
	}
	if l.spoil == "a counter is seen" {
		out = append(out, b.Node("Cast", graph.Attrs{graph.Type("DstT", f32)}, loop.Output(1)).Output(0))
	}
	return b.Return(out...), shapes
}

// TestRecurrentLoops compares loops over the cells of LSTMs and GRUs that become one
// op, and such as must not, with the loops as they are.
func TestRecurrentLoops(t *testing.T) {
	for _, l := range []recurrentLoop{
		{name: "LSTM", steps: 7, batch: 2, width: 5, raised: true},
		{name: "LSTM of one example", steps: 9, batch: 1, width: 20, raised: true},
		{name: "LSTM of many examples", steps: 5, batch: 37, width: 64, raised: true},
		{name: "LSTM of many steps", steps: 700, batch: 9, width: 33, raised: true},
		{name: "LSTM, the last state", steps: 4, batch: 3, width: 6, last: true, raised: true},
		{name: "LSTM that counts rounds", steps: 4, batch: 3, width: 6, counts: true, raised: true},
		{name: "LSTM with a forget bias", steps: 4, batch: 3, width: 6, forget: true, raised: true},
		{name: "GRU", gru: true, steps: 7, batch: 2, width: 5, raised: true},
		{name: "GRU, the last state", gru: true, steps: 6, batch: 33, width: 40, last: true, raised: true},
		{name: "LSTM over the examples' steps", steps: 7, batch: 3, width: 5, turned: true, raised: true},
		{name: "LSTM backwards", steps: 7, batch: 3, width: 5, backwards: true, raised: true},
		{name: "LSTM over the examples' steps backwards", steps: 70, batch: 13, width: 33, turned: true, backwards: true, raised: true},
		{name: "LSTM of one example backwards", steps: 700, batch: 1, width: 33, turned: true, backwards: true, raised: true},
		{name: "LSTM of many steps backwards", steps: 700, batch: 9, width: 33, turned: true, backwards: true, raised: true},
		{name: "GRU over the examples' steps", gru: true, steps: 9, batch: 8, width: 16, turned: true, raised: true},
		{name: "GRU backwards, the last state", gru: true, steps: 6, batch: 3, width: 4, last: true, backwards: true, raised: true, turns: 1},
		{name: "LSTM whose order is seen", steps: 7, batch: 3, width: 5, turned: true, spoil: "the order is seen", raised: true, turns: 1},
		{name: "LSTM whose batch is reversed", steps: 7, batch: 3, width: 5, turned: true, spoil: "the batch is reversed", raised: true, turns: 2},
		{name: "LSTM with another activation", steps: 4, batch: 3, width: 6, spoil: "relu"},
		{name: "LSTM of three gates", steps: 4, batch: 3, width: 6, spoil: "shared gate"},
		{name: "LSTM whose counter is seen", steps: 4, batch: 3, width: 6, spoil: "a counter is seen"},
		{name: "GRU with another activation", gru: true, steps: 4, batch: 3, width: 6, spoil: "relu"},
		{name: "GRU whose gates change places", gru: true, steps: 4, batch: 3, width: 6, spoil: "swapped"},
		{name: "LSTM of every other step", steps: 4, batch: 3, width: 6, last: true, spoil: "two at once"},
	} {
		t.Run(l.name, func(t *testing.T) {
			f, shapes := l.build(t)
			set, count := kernels(t)
			p, err := engine.Compile(f, &engine.CompileOptions{Kernels: set, Passes: passes.Inference()})
			if err != nil {
				t.Fatal(err)
			}
			if got := count[passes.LSTMOp] + count[passes.GRUOp]; (got == 1) != l.raised || (got == 0) != (count["StatelessWhile"] == 1) {
				t.Errorf("%d ops and %d loops", got, count["StatelessWhile"])
			}
			if got := count["Transpose"] + count["ReverseV2"]; got != l.turns {
				t.Errorf("%d transpositions and reversals stay, not %d", got, l.turns)
			}
			n := newNetwork(t, 1)
			var args []engine.Value
			for _, s := range shapes {
				v := enginetest.Floats(n.r, s...)
				for i := range tensor.Values[float32](v.Tensor) {
					tensor.Values[float32](v.Tensor)[i] *= .3
				}
				args = append(args, v)
			}
			plain, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: []passes.Pass{}})
			if err != nil {
				t.Fatal(err)
			}
			want := enginetest.Run(t, plain, nil, args...)
			for _, workers := range []int{1, 2, 5} {
				got := enginetest.Run(t, p, &engine.RunOptions{Workers: engine.NewWorkers(workers)}, args...)
				near(t, fmt.Sprint(workers, " workers"), got, want, 1e-5)
				if workers == 1 {
					continue
				}
				sameNumbers(t, "with more workers", got, enginetest.Run(t, p, &engine.RunOptions{Workers: engine.NewWorkers(1)}, args...))
			}
			if l.steps > 100 {
				return
			}
			for _, v := range specials[:5] { // sums of large weights depend on their order
				for i, s := range shapes {
					with := slices.Clone(args)
					with[i] = sprinkled(n.r, v, s...)
					alike(t, fmt.Sprintf("argument %d with %v", i, v), enginetest.Run(t, p, nil, with...), enginetest.Run(t, plain, nil, with...), 1e-5)
				}
			}
		})
	}
}
