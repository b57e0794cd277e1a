package passes_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/internal/enginetest"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// network makes functions of an image and variables, with all shapes known but
// the batch.
type network struct {
	*enginetest.Builder
	r    *rand.Rand
	vars []*trackable.Variable
	x    graph.Output
}

func newNetwork(t testing.TB, dims ...int) *network {
	n := &network{Builder: enginetest.Build(t, "network"), r: rand.New(rand.NewPCG(1, 2))}
	dims = slices.Clone(dims)
	dims[0] = -1
	var err error
	if n.x, err = n.F.AddArg("x", graph.Fact{DType: tensor.Float32, Shape: graph.ShapeOf(dims...).Identified()}); err != nil {
		t.Fatal(err)
	}
	return n
}

// inferred adds a node and infers the facts of its outputs.
func (n *network) inferred(op string, attrs graph.Attrs, in ...graph.Output) *graph.Node {
	n.T.Helper()
	node := n.Node(op, attrs, in...)
	c := &shape.Inference{Op: op, Attrs: node.Attrs, Out: node.Out}
	for _, o := range in {
		c.In = append(c.In, o.Fact())
	}
	if err := shape.All().Infer(c); err != nil {
		n.T.Fatal(err)
	}
	node.Out = c.Out
	return node
}

func (n *network) do(op string, in ...graph.Output) graph.Output {
	return n.inferred(op, nil, in...).Output(0)
}

// weight reads a variable of random numbers between lo and hi.
func (n *network) weight(lo, hi float32, dims ...int) graph.Output {
	v := tensor.Must(tensor.Zeros(tensor.Float32, dims...))
	for i := range tensor.Values[float32](v) {
		tensor.Values[float32](v)[i] = lo + (hi-lo)*n.r.Float32()
	}
	n.vars = append(n.vars, trackable.NewVariable(v))
	h, err := n.F.AddArg("", graph.Fact{DType: tensor.Resource, Handle: []graph.Content{{DType: tensor.Float32, Shape: graph.ShapeOf(dims...)}}})
	if err != nil {
		n.T.Fatal(err)
	}
	return n.inferred("ReadVariableOp", graph.Attrs{graph.Type("dtype", tensor.Float32)}, h).Output(0)
}

func (n *network) norm(x graph.Output, format string, c int) graph.Output {
	return n.inferred("FusedBatchNormV3", graph.Attrs{graph.Bool("is_training", false), graph.Float("epsilon", 1e-3), graph.String("data_format", format)},
		x, n.weight(.5, 2, c), n.weight(-1, 1, c), n.weight(-1, 1, c), n.weight(.1, 2, c)).Output(0)
}

func (n *network) conv(op string, x, f graph.Output, format string) graph.Output {
	return n.inferred(op, graph.Attrs{graph.Ints("strides", 1, 1, 1, 1), graph.String("padding", "SAME"), graph.String("data_format", format)}, x, f).Output(0)
}

func (n *network) biased(x, b graph.Output, format string) graph.Output {
	return n.inferred("BiasAdd", graph.Attrs{graph.String("data_format", format)}, x, b).Output(0)
}

// kernels returns all kernels, and the ops that plans of them have prepared.
func kernels(t testing.TB) (*engine.KernelSet, map[string]int) {
	t.Helper()
	count := map[string]int{}
	var all []engine.Kernel
	for k := range kernel.All().All() {
		c := *k
		prepare, runs := k.Prepare, k.Run
		c.Run = nil
		c.Prepare = func(n *engine.Node) (func(*engine.Call) error, error) {
			count[n.Op]++
			if prepare == nil {
				return runs, nil
			}
			return prepare(n)
		}
		all = append(all, c)
	}
	set, err := engine.NewKernelSet(all)
	if err != nil {
		t.Fatal(err)
	}
	return set, count
}

// TestInferencePasses compares the ops and the results of pieces of networks
// with and without the passes.
func TestInferencePasses(t *testing.T) {
	const c, o = 3, 5
	comparePasses(t, []passCase{
		{"norm behind a convolution", []int{2, 6, 5, c}, func(n *network) graph.Output {
			return n.norm(n.conv("Conv2D", n.x, n.weight(-1, 1, 3, 3, c, o), "NHWC"), "NHWC", o)
		}, 1, map[string]int{"_FusedConv2D": 1, "FusedBatchNormV3": 0}},
		{"norm behind a convolution with a bias, and an activation", []int{2, 6, 5, c}, func(n *network) graph.Output {
			y := n.biased(n.conv("Conv2D", n.x, n.weight(-1, 1, 3, 3, c, o), "NHWC"), n.weight(-1, 1, o), "NHWC")
			return n.do("Relu6", n.norm(y, "NHWC", o))
		}, 1, map[string]int{"_FusedConv2D": 1, "Relu6": 0}},
		{"channels first", []int{2, c, 6, 5}, func(n *network) graph.Output {
			y := n.biased(n.conv("Conv2D", n.x, n.weight(-1, 1, 3, 3, c, o), "NCHW"), n.weight(-1, 1, o), "NCHW")
			return n.do("Relu", n.norm(y, "NCHW", o))
		}, 1, map[string]int{"_FusedConv2D": 1}},
		{"norm behind a depthwise convolution", []int{2, 6, 5, c}, func(n *network) graph.Output {
			return n.do("Relu", n.norm(n.conv("DepthwiseConv2dNative", n.x, n.weight(-1, 1, 3, 3, c, 2), "NHWC"), "NHWC", 2*c))
		}, 1, map[string]int{"_FusedDepthwiseConv2dNative": 1}},
		{"norm that nothing stands before", []int{2, 6, 5, c}, func(n *network) graph.Output {
			return n.norm(n.do("Tanh", n.x), "NHWC", c)
		}, 1, map[string]int{"FusedBatchNormV3": 0, passes.ElementwiseOp: 1}},
		{"residual", []int{2, 6, 5, c}, func(n *network) graph.Output {
			y := n.norm(n.conv("Conv2D", n.x, n.weight(-1, 1, 3, 3, c, c), "NHWC"), "NHWC", c)
			return n.do("Relu", n.do("AddV2", n.x, y))
		}, 1, map[string]int{"_FusedConv2D": 1, "Relu": 0}},
		{"two branches", []int{2, 6, 5, c}, func(n *network) graph.Output {
			y := n.norm(n.conv("Conv2D", n.x, n.weight(-1, 1, 1, 1, c, o), "NHWC"), "NHWC", o)
			z := n.norm(n.conv("Conv2D", n.x, n.weight(-1, 1, 3, 3, c, o), "NHWC"), "NHWC", o)
			return n.do("Relu", n.do("AddV2", y, z))
		}, 2, map[string]int{"_FusedConv2D": 2}},
		{"a result that two take", []int{2, 6, 5, c}, func(n *network) graph.Output {
			y := n.conv("Conv2D", n.x, n.weight(-1, 1, 3, 3, c, c), "NHWC")
			return n.do("Mul", n.norm(y, "NHWC", c), y)
		}, 3, map[string]int{"Conv2D": 1, "_FusedConv2D": 0}},
		{"swish", []int{2, 6, 5, c}, func(n *network) graph.Output {
			y := n.norm(n.conv("Conv2D", n.x, n.weight(-1, 1, 3, 3, c, o), "NHWC"), "NHWC", o)
			return n.do("Mul", n.do("Sigmoid", y), y)
		}, 1, map[string]int{"_FusedConv2D": 1}},
		{"product with the norm of two dimensions", []int{4, c}, func(n *network) graph.Output {
			y := n.biased(n.do("MatMul", n.x, n.weight(-1, 1, c, o)), n.weight(-1, 1, o), "NHWC")
			scale := n.do("Mul", n.do("Rsqrt", n.do("AddV2", n.weight(.1, 2, o), n.Value(tensor.Scalar[float32](1e-3)))), n.weight(.5, 2, o))
			shift := n.do("Sub", n.weight(-1, 1, o), n.do("Mul", n.weight(-1, 1, o), scale))
			return n.do("Sigmoid", n.do("AddV2", n.do("Mul", y, scale), shift))
		}, 1, map[string]int{"_FusedMatMul": 1}},
		{"transposed weights", []int{4, c}, func(n *network) graph.Output {
			y := n.inferred("MatMul", graph.Attrs{graph.Bool("transpose_b", true)}, n.x, n.weight(-1, 1, o, c)).Output(0)
			y = n.do("Mul", n.weight(.5, 2, o), y)
			return n.inferred("LeakyRelu", graph.Attrs{graph.Float("alpha", .3)}, n.do("Sub", y, n.weight(-1, 1, o))).Output(0)
		}, 1, map[string]int{"_FusedMatMul": 1}},
		{"the gates of a recurrent layer", []int{4, c}, func(n *network) graph.Output {
			y := n.do("AddV2", n.do("MatMul", n.x, n.weight(-1, 1, c, o)), n.do("MatMul", n.do("Tanh", n.x), n.weight(-1, 1, c, o)))
			return n.do("Sigmoid", n.biased(y, n.weight(-1, 1, o), "NHWC"))
		}, 6, map[string]int{"_FusedMatMul": 1, "MatMul": 1, "BiasAdd": 0}},
		{"a product of packed weights with all of an epilogue", []int{70, c}, func(n *network) graph.Output {
			y := n.biased(n.do("MatMul", n.x, n.weight(-1, 1, c, c)), n.weight(-1, 1, c), "NHWC")
			return n.do("Relu6", n.do("AddV2", y, n.x))
		}, 3, map[string]int{"_FusedMatMul": 1}},
		{"a summand of another shape", []int{4, c}, func(n *network) graph.Output {
			return n.do("AddV2", n.do("MatMul", n.x, n.weight(-1, 1, c, o)), n.weight(-1, 1, 1, o))
		}, 4, map[string]int{"MatMul": 1}},
		{"padding in front", []int{2, 6, 5, c}, func(n *network) graph.Output {
			x := n.do("Pad", n.x, n.Value(tensor.Must(tensor.New([]int32{0, 0, 2, 1, 0, 3, 0, 0}, 4, 2))))
			f := n.weight(-1, 1, 3, 3, c, o)
			return n.inferred("Conv2D", graph.Attrs{graph.Ints("strides", 1, 2, 2, 1), graph.String("padding", "VALID")}, x, f).Output(0)
		}, 2, map[string]int{"Pad": 0}},
		{"padding in front, channels first", []int{2, c, 6, 5}, func(n *network) graph.Output {
			x := n.do("PadV2", n.x, n.Value(tensor.Must(tensor.New([]int32{0, 0, 0, 0, 2, 1, 0, 3}, 4, 2))), n.Value(tensor.Scalar[float32](0)))
			f := n.weight(-1, 1, 3, 3, c, o)
			return n.inferred("Conv2D", graph.Attrs{graph.Ints("strides", 1, 1, 2, 2), graph.String("padding", "VALID"), graph.String("data_format", "NCHW")}, x, f).Output(0)
		}, 2, map[string]int{"PadV2": 0}},
		{"padding that is SAME", []int{2, 6, 8, c}, func(n *network) graph.Output {
			x := n.do("Pad", n.x, n.Value(tensor.Must(tensor.New([]int32{0, 0, 0, 1, 0, 1, 0, 0}, 4, 2))))
			y := n.inferred("DepthwiseConv2dNative", graph.Attrs{graph.Ints("strides", 1, 2, 2, 1), graph.String("padding", "VALID")}, x, n.weight(-1, 1, 3, 3, c, 1)).Output(0)
			return n.do("Relu6", n.norm(y, "NHWC", c))
		}, 1, map[string]int{"Pad": 0, "_FusedDepthwiseConv2dNative": 1}},
		{"padding of the channels", []int{2, 6, 5, c}, func(n *network) graph.Output {
			x := n.do("Pad", n.x, n.Value(tensor.Must(tensor.New([]int32{0, 0, 1, 1, 1, 1, 0, 1}, 4, 2))))
			f := n.weight(-1, 1, 3, 3, c+1, o)
			return n.inferred("Conv2D", graph.Attrs{graph.Ints("strides", 1, 1, 1, 1), graph.String("padding", "VALID")}, x, f).Output(0)
		}, 3, map[string]int{"Pad": 1}},
		{"padding with ones", []int{2, 6, 5, c}, func(n *network) graph.Output {
			x := n.do("PadV2", n.x, n.Value(tensor.Must(tensor.New([]int32{0, 0, 1, 1, 1, 1, 0, 0}, 4, 2))), n.Value(tensor.Scalar[float32](1)))
			f := n.weight(-1, 1, 3, 3, c, o)
			return n.inferred("Conv2D", graph.Attrs{graph.Ints("strides", 1, 1, 1, 1), graph.String("padding", "VALID")}, x, f).Output(0)
		}, 3, map[string]int{"PadV2": 1}},
		{"moments of the batch", []int{2, 6, 5, c}, func(n *network) graph.Output {
			return n.inferred("FusedBatchNormV3", graph.Attrs{graph.Bool("is_training", true)}, n.x, n.weight(.5, 2, c), n.weight(-1, 1, c), n.weight(0, 1, c), n.weight(.1, 2, c)).Output(0)
		}, 5, map[string]int{"FusedBatchNormV3": 1}},
	})
}

// passCase is a piece of a network.
type passCase struct {
	name  string
	dims  []int
	build func(n *network) graph.Output
	ops   int            // that a call runs, reads of variables included
	has   map[string]int // ops and their number
}

// comparePasses compiles pieces of networks with and without passes and
// compares ops and results.
func comparePasses(t *testing.T, tests []passCase) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n := newNetwork(t, test.dims...)
			f := n.Return(test.build(n))
			set, count := kernels(t)
			p, err := engine.Compile(f, &engine.CompileOptions{Kernels: set, Passes: passes.Inference(), Invariants: new(engine.Invariants)})
			if err != nil {
				t.Fatal(err)
			}
			if p.Len() != test.ops {
				t.Errorf("%d ops, want %d: %v", p.Len(), test.ops, count)
			}
			for op, want := range test.has {
				if count[op] != want {
					t.Errorf("%d %s, want %d", count[op], op, want)
				}
			}
			plain := plan(t, f)
			args := []engine.Value{enginetest.Floats(n.r, test.dims...)}
			for _, v := range n.vars {
				args = append(args, engine.HandleOf(v))
			}
			for round := range 3 {
				near(t, fmt.Sprintf("call %d", round), enginetest.Run(t, p, nil, args...), enginetest.Run(t, plain, nil, args...), 1e-5)
			}
			for _, special := range specials {
				args[0] = sprinkled(n.r, special, test.dims...)
				alike(t, fmt.Sprintf("with %v", special), enginetest.Run(t, p, nil, args...), enginetest.Run(t, plain, nil, args...), 1e-5)
			}
			args[0] = enginetest.Floats(n.r, test.dims...)
			_, pads := test.has["Pad"]
			_, padsV2 := test.has["PadV2"]
			for i, v := range n.vars {
				for _, special := range []float32{specials[0], specials[3], specials[4]} { // infinite weights: see passes.Inference
					if special != special && (pads || padsV2) {
						continue // a convolution does not multiply its padding, see passes.Inference
					}
					dims := []int(v.Load().Shape())
					with := slices.Clone(args)
					with[1+i] = engine.HandleOf(trackable.NewVariable(sprinkled(n.r, special, dims...).Tensor))
					alike(t, fmt.Sprintf("variable %d with %v", i, special), enginetest.Run(t, p, nil, with...), enginetest.Run(t, plain, nil, with...), 1e-5)
				}
			}
		})
	}
}

// TestDefaultPassesKeepTheBitsOfConvolutions compares fused convolutions with
// the ops one by one, as training executes them: the filters vary, and a
// gradient uses the result of the activation.
func TestDefaultPassesKeepTheBitsOfConvolutions(t *testing.T) {
	const c, o = 3, 35
	for _, test := range []struct {
		name  string
		build func(n *network) []graph.Output
		fused string
		ops   int // reads of variables included
	}{
		{"bias and relu, with the gradient", func(n *network) []graph.Output {
			y := n.do("Relu", n.biased(n.conv("Conv2D", n.x, n.weight(-1, 1, 3, 3, c, o), "NHWC"), n.weight(-1, 1, o), "NHWC"))
			return []graph.Output{n.do("ReluGrad", y, y)}
		}, "_FusedConv2D", 4},
		{"bias, residual and tanh", func(n *network) []graph.Output {
			y := n.biased(n.conv("Conv2D", n.x, n.weight(-1, 1, 3, 3, c, c), "NHWC"), n.weight(-1, 1, c), "NHWC")
			return []graph.Output{n.do("Tanh", n.do("AddV2", y, n.x))}
		}, "_FusedConv2D", 3},
		{"residual before the bias", func(n *network) []graph.Output {
			y := n.do("AddV2", n.conv("Conv2D", n.x, n.weight(-1, 1, 3, 3, c, c), "NHWC"), n.x)
			return []graph.Output{n.do("Relu", n.biased(y, n.weight(-1, 1, c), "NHWC"))}
		}, "_FusedConv2D", 4},
		{"depthwise", func(n *network) []graph.Output {
			y := n.conv("DepthwiseConv2dNative", n.x, n.weight(-1, 1, 3, 3, c, 2), "NHWC")
			return []graph.Output{n.do("Relu6", n.biased(y, n.weight(-1, 1, 2*c), "NHWC"))}
		}, "_FusedDepthwiseConv2dNative", 3},
		{"a sum that two take", func(n *network) []graph.Output {
			y := n.biased(n.conv("Conv2D", n.x, n.weight(-1, 1, 3, 3, c, o), "NHWC"), n.weight(-1, 1, o), "NHWC")
			return []graph.Output{n.do("Relu", y), n.do("Exp", y)}
		}, "_FusedConv2D", 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNetwork(t, 2, 9, 7, c)
			f := n.Return(test.build(n)...)
			set, count := kernels(t)
			p, err := engine.Compile(f, &engine.CompileOptions{Kernels: set})
			if err != nil {
				t.Fatal(err)
			}
			if count[test.fused] != 1 || p.Len() != test.ops {
				t.Errorf("%d ops, want %d, with one %s: %v", p.Len(), test.ops, test.fused, count)
			}
			plain, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: []passes.Pass{}})
			if err != nil {
				t.Fatal(err)
			}
			args := []engine.Value{enginetest.Floats(n.r, 2, 9, 7, c)}
			for _, v := range n.vars {
				args = append(args, engine.HandleOf(v))
			}
			near(t, "the call", enginetest.Run(t, p, nil, args...), enginetest.Run(t, plain, nil, args...), 0)
			for _, v := range specials {
				args[0] = sprinkled(n.r, v, 2, 9, 7, c)
				exactly(t, fmt.Sprintf("with %v", v), enginetest.Run(t, p, nil, args...), enginetest.Run(t, plain, nil, args...))
			}
		})
	}
}

// near holds numbers to others, by the size of the largest.
func near(t *testing.T, what string, got, want []engine.Value, tolerance float64) {
	t.Helper()
	for i := range want {
		g, w := tensor.Values[float32](got[i].Tensor), tensor.Values[float32](want[i].Tensor)
		if !got[i].Tensor.Shape().Equal(want[i].Tensor.Shape()) {
			t.Fatalf("%s: result %d has shape %v, want %v", what, i, got[i].Tensor.Shape(), want[i].Tensor.Shape())
		}
		scale := 1.0
		for _, x := range w {
			scale = max(scale, math.Abs(float64(x)))
		}
		for k := range w {
			if d := math.Abs(float64(g[k]) - float64(w[k])); !(d <= tolerance*scale) {
				t.Fatalf("%s: result %d differs at %d: %v, want %v", what, i, k, g[k], w[k])
			}
		}
	}
}

// specials are numbers that passes must treat as the ops do.
var specials = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), 0x1p-149, 1e30, -1e30}

// sprinkled returns random numbers, some of them replaced by v.
func sprinkled(r *rand.Rand, v float32, dims ...int) engine.Value {
	x := enginetest.Floats(r, dims...)
	values := tensor.Values[float32](x.Tensor)
	for i := range values {
		if i == 0 || r.IntN(11) == 0 {
			values[i] = v
		}
	}
	return x
}

// alike holds numbers to others by the size of the largest finite one, and requires NaN and
// Inf at the same places.
func alike(t *testing.T, what string, got, want []engine.Value, tolerance float64) {
	t.Helper()
	for i := range want {
		g, w := tensor.Values[float32](got[i].Tensor), tensor.Values[float32](want[i].Tensor)
		scale := 1.0
		for _, x := range w {
			if x := math.Abs(float64(x)); !math.IsInf(x, 0) && x > scale {
				scale = x
			}
		}
		for k := range w {
			a, b := float64(g[k]), float64(w[k])
			if math.IsNaN(b) && math.IsNaN(a) || a == b {
				continue
			}
			if d := math.Abs(a - b); !(d <= tolerance*scale) {
				t.Fatalf("%s: result %d differs at %d: %v, want %v", what, i, k, a, b)
			}
		}
	}
}

// TestInferenceAllocatesLittle calls a network with batches of two sizes in turn:
// each has its instance of the plan, whose memory is used again.
func TestInferenceAllocatesLittle(t *testing.T) {
	if detector.Racing {
		t.Skip("the race detector empties pools")
	}
	n := newNetwork(t, 2, 16, 16, 8)
	x := n.x
	for range 4 {
		y := n.do("Relu", n.norm(n.conv("Conv2D", x, n.weight(-1, 1, 3, 3, 8, 8), "NHWC"), "NHWC", 8))
		y = n.norm(n.conv("DepthwiseConv2dNative", y, n.weight(-1, 1, 3, 3, 8, 1), "NHWC"), "NHWC", 8)
		x = n.do("Tanh", n.do("Mul", n.do("Relu6", n.do("AddV2", x, y)), n.weight(0, 1, 1, 16, 1, 1)))
	}
	f := n.Return(x)
	p, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: passes.Inference(), Invariants: new(engine.Invariants)})
	if err != nil {
		t.Fatal(err)
	}
	o := &engine.RunOptions{Workers: engine.NewWorkers(1)}
	var args [2][]engine.Value
	for i := range args {
		args[i] = append(args[i], enginetest.Floats(n.r, i+1, 16, 16, 8))
		for _, v := range n.vars {
			args[i] = append(args[i], engine.HandleOf(v))
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which empties pools
	const calls = 20
	both := func() {
		for i := range args {
			enginetest.Run(t, p, o, args[i]...)
		}
	}
	for range 4 {
		both()
	}
	outputs := 3 * 16 * 16 * 8 * 4
	least := math.MaxInt // of several times: a goroutine that changes its processor finds other pools
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range calls {
			both()
		}
		runtime.ReadMemStats(&after)
		least = min(least, (int(after.TotalAlloc-before.TotalAlloc)/calls-outputs)/2)
	}
	if least > 5<<10 {
		t.Errorf("%d bytes a call besides its outputs", least)
	}
}
