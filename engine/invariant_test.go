package engine_test

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/internal/enginetest"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// counting returns all kernels, of which Neg counts its runs, and Minimum asks for
// its first input times ten, which takes the place of its output.
func counting(t testing.TB) (*engine.KernelSet, *atomic.Int32) {
	t.Helper()
	var runs atomic.Int32
	neg := kernel.All().Lookup("Neg").Prepare
	set, err := kernel.All().Replace(
		engine.Kernel{Op: "Neg", Prepare: func(n *engine.Node) (func(*engine.Call) error, error) {
			f, err := neg(n)
			return func(c *engine.Call) error { runs.Add(1); return f(c) }, err
		}},
		engine.Kernel{Op: "Minimum", Prepare: func(n *engine.Node) (func(*engine.Call) error, error) {
			packing := n.Pack(0, "ten times", func(x *tensor.Tensor) (any, int) {
				runs.Add(100)
				return 10 * tensor.Values[float32](x)[0], 4
			})
			return func(c *engine.Call) error {
				x, ok := c.Packed(packing).(float32)
				if !ok {
					x = -1
				}
				c.Set(0, tensor.Vector(x))
				return nil
			}, nil
		}},
	)
	if err != nil {
		t.Fatal(err)
	}
	return set, &runs
}

// weighted returns a function of x and a variable: x minus its value. If write
// is set, the function assigns x to the variable first.
func weighted(t testing.TB, write bool) *graph.Function {
	b := enginetest.Build(t, "weighted")
	x, v := b.Arg(tensor.Float32), b.Arg(tensor.Resource)
	var before []*graph.Node
	if write {
		before = append(before, b.Node("AssignVariableOp", graph.Attrs{graph.Type("dtype", tensor.Float32)}, v, x))
	}
	return b.Return(b.Op("AddV2", x, b.Op("Neg", b.Read(v, before...))))
}

func compileWith(t testing.TB, f *graph.Function, set *engine.KernelSet, kept *engine.Invariants) *engine.Plan {
	t.Helper()
	p, err := engine.Compile(f, &engine.CompileOptions{Kernels: set, Invariants: kept, MaxSpecializations: -1})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func first(v []engine.Value) float32 { return tensor.Values[float32](v[0].Tensor)[0] }

func TestWhatDependsOnVariablesAloneIsComputedOncePerValue(t *testing.T) {
	set, runs := counting(t)
	kept := new(engine.Invariants)
	p := compileWith(t, weighted(t, false), set, kept)
	v := trackable.NewVariable(tensor.Vector[float32](1))
	x := engine.ValueOf(tensor.Vector[float32](10))
	check := func(want float32, wantRuns int32) {
		t.Helper()
		for range 3 {
			if got := first(enginetest.Run(t, p, nil, x, engine.HandleOf(v))); got != want {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
		if runs.Load() != wantRuns {
			t.Errorf("%d runs, want %d", runs.Load(), wantRuns)
		}
	}
	check(9, 1)
	if err := v.Store(tensor.Vector[float32](2)); err != nil {
		t.Fatal(err)
	}
	check(8, 2)
	add := func(b *tensor.Tensor) error { tensor.Values[float32](b)[0]++; return nil }
	if err := v.Update(add); err != nil { // in place
		t.Fatal(err)
	}
	check(7, 3)
	if err := v.Update(add); err != nil {
		t.Fatal(err)
	}
	check(6, 4)
	v.Load() // now it is never written again
	check(6, 5)
	check(6, 5)
	// Another plan, and another variable with the same weights, find the stored
	// value.
	p = compileWith(t, weighted(t, false), set, kept)
	check(6, 5)
	w := trackable.NewVariable(nil)
	if err := w.StoreShared(v.Load()); err != nil {
		t.Fatal(err)
	}
	v = w
	check(6, 5)
}

// TestManyLayersOfAKindAreKept checks that plans with the same layers, such as
// those for other shapes, share stored values, for any number of layers with
// the same expression.
func TestManyLayersOfAKindAreKept(t *testing.T) {
	const layers = 30
	set, runs := counting(t)
	kept := new(engine.Invariants)
	var vars []engine.Value
	for i := range layers {
		vars = append(vars, engine.HandleOf(trackable.NewVariable(tensor.Vector(float32(i)))))
	}
	for range 3 {
		b := enginetest.Build(t, "layers")
		x := b.Arg(tensor.Float32)
		args := []engine.Value{engine.ValueOf(tensor.Vector[float32](1000))}
		for i := range layers {
			w := b.Op("Neg", b.Read(b.Arg(tensor.Resource)))
			x = b.Op("AddV2", b.Op("AddV2", x, w), b.Op("Minimum", w, x))
			args = append(args, vars[i])
		}
		p := compileWith(t, b.Return(x), set, kept)
		for range 2 {
			if got, want := first(enginetest.Run(t, p, nil, args...)), float32(1000-11*layers*(layers-1)/2); got != want {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
		if got := runs.Load(); got != layers*101 {
			t.Fatalf("%d, want each layer's value and its form made once: %d", got, layers*101)
		}
	}
}

func TestAReadBehindAWriteIsNoInvariant(t *testing.T) {
	set, runs := counting(t)
	p := compileWith(t, weighted(t, true), set, new(engine.Invariants))
	v := trackable.NewVariable(tensor.Vector[float32](1))
	for i := range int32(3) {
		x := tensor.Vector(float32(i))
		if got := first(enginetest.Run(t, p, nil, engine.ValueOf(x), engine.HandleOf(v))); got != 0 {
			t.Errorf("got %v", got)
		}
		if runs.Load() != i+1 {
			t.Errorf("%d runs in %d calls", runs.Load(), i+1)
		}
	}
}

func TestVariablesCountOnlyWhereTheyAreKept(t *testing.T) {
	set, runs := counting(t)
	for want, kept := range []*engine.Invariants{1: nil, 2: {ConstantsOnly: true}, 3: {MaxBytes: -1}} {
		if want == 0 {
			continue
		}
		runs.Store(0)
		p := compileWith(t, weighted(t, false), set, kept)
		v := trackable.NewVariable(tensor.Vector[float32](1))
		for range 3 {
			if got := first(enginetest.Run(t, p, nil, engine.ValueOf(tensor.Vector[float32](3)), engine.HandleOf(v))); got != 2 {
				t.Error(got)
			}
		}
		if runs.Load() != 3 {
			t.Errorf("case %d: %d runs in 3 calls", want, runs.Load())
		}
	}
}

func TestReferencesAreReadAsVariables(t *testing.T) {
	set, runs := counting(t)
	b := enginetest.Build(t, "session")
	x := b.Arg(tensor.Float32)
	v := b.Node("VariableV2", graph.Attrs{graph.Type("dtype", tensor.Float32), graph.Shape("shape", graph.ShapeOf(1)), graph.String("shared_name", "w")})
	h := b.Node("VarHandleOp", graph.Attrs{graph.Type("dtype", tensor.Float32), graph.Shape("shape", graph.ShapeOf(1)), graph.String("shared_name", "u")})
	read := b.Node("ReadVariableOp", graph.Attrs{graph.Type("dtype", tensor.Float32)}, h.Output(0))
	sum := b.Op("AddV2", b.Op("Neg", b.Op("Identity", v.Output(0))), b.Op("Neg", read.Output(0)))
	p := compileWith(t, b.Return(b.Op("AddV2", x, sum)), set, new(engine.Invariants))
	var models [2]engine.Instance
	for i := range models {
		models[i].Set(engine.VariableKey("", "w"), trackable.NewVariable(tensor.Vector(float32(i))))
		models[i].Set(engine.VariableKey("", "u"), trackable.NewVariable(tensor.Vector[float32](100)))
	}
	for range 3 {
		for i := range models {
			out := enginetest.Run(t, p, &engine.RunOptions{Instance: &models[i]}, engine.ValueOf(tensor.Vector[float32](5)))
			if got := first(out); got != float32(-95-i) {
				t.Errorf("instance %d: %v", i, got)
			}
		}
	}
	if runs.Load() != 4 {
		t.Errorf("%d runs for two instances of two variables", runs.Load())
	}
	if p.Len() != 3 {
		t.Errorf("%d ops a call, want two handles and a sum", p.Len())
	}
}

func TestAnInputIsPackedOncePerValue(t *testing.T) {
	set, runs := counting(t)
	kept := new(engine.Invariants)
	b := enginetest.Build(t, "packing")
	x, v := b.Arg(tensor.Float32), b.Arg(tensor.Resource)
	read := b.Node("ReadVariableOp", graph.Attrs{graph.Type("dtype", tensor.Float32)}, v).Output(0)
	large := b.Value(tensor.Must(tensor.Zeros(tensor.Float32, 1<<12)))
	out := []graph.Output{b.Op("Minimum", read, x), b.Op("Minimum", b.Op("Neg", read), x), b.Op("Minimum", large, x), b.Op("Minimum", x, x)}
	p := compileWith(t, b.Return(out...), set, kept)
	w := trackable.NewVariable(tensor.Vector[float32](1))
	for k := range int32(3) {
		round := float32(k)
		for range 2 {
			got := enginetest.Run(t, p, nil, engine.ValueOf(tensor.Vector[float32](7)), engine.HandleOf(w))
			for i, want := range []float32{10 * (1 + round), -10 * (1 + round), 0, -1} {
				if g := first(got[i:]); g != want {
					t.Errorf("round %v: result %d is %v, want %v", round, i, g, want)
				}
			}
		}
		if got, want := runs.Load(), 300+k*200+1+k; got != want {
			t.Errorf("round %v: %d, want %d", round, got, want)
		}
		if err := w.Update(func(b *tensor.Tensor) error { tensor.Values[float32](b)[0]++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatLargeValuesAreMadeOfIsKept(t *testing.T) {
	b := enginetest.Build(t, "fill")
	zeros := b.Op("Fill", b.Value(tensor.Vector[int32](1<<10, 1<<10)), b.Value(tensor.Scalar[float32](1)))
	kept := new(engine.Invariants)
	p := compileWith(t, b.Return(b.Op("AddV2", b.Arg(tensor.Float32), zeros)), kernel.All(), kept)
	if got := first(enginetest.Run(t, p, nil, engine.ValueOf(tensor.Scalar[float32](1)))); got != 2 {
		t.Error(got)
	}
	if kept.Bytes() != 0 || p.Len() != 2 {
		t.Errorf("%d bytes are kept for a constant, %d ops run", kept.Bytes(), p.Len())
	}
}

func TestNothingIsKeptOfWeightsThatAreGone(t *testing.T) {
	kept := new(engine.Invariants)
	p := compileWith(t, weighted(t, false), kernel.All(), kept)
	x := tensor.Must(tensor.Zeros(tensor.Float32, 1<<16))
	var most int64
	for range 50 {
		w := trackable.NewVariable(tensor.Must(tensor.Zeros(tensor.Float32, 1<<16)))
		enginetest.Run(t, p, nil, engine.ValueOf(x), engine.HandleOf(w))
		most = max(most, kept.Bytes())
	}
	if most > 4<<18 {
		t.Errorf("%d bytes are kept of weights of 256 KiB", most)
	}
	enginetest.Run(t, p, nil, engine.ValueOf(x), engine.HandleOf(trackable.NewVariable(tensor.Vector[float32](0))))
	for range 10 {
		runtime.GC()
		if kept.Bytes() <= 4 {
			return
		}
	}
	t.Errorf("%d bytes are kept of weights that are gone", kept.Bytes())
}

// A loop whose body reads the value that the previous round wrote.
func TestRoundsOfALoopSeeWhatTheyWrite(t *testing.T) {
	types := []tensor.DType{tensor.Int32, tensor.Float32, tensor.Resource}
	args := func(b *enginetest.Builder) (out []graph.Output) {
		for _, d := range types {
			out = append(out, b.Arg(d))
		}
		return out
	}
	cond, body := enginetest.Build(t, "cond"), enginetest.Build(t, "body")
	in := args(cond)
	c := cond.Return(cond.Op("Less", in[0], cond.Scalar(4)))
	in = args(body)
	read := body.Node("ReadVariableOp", graph.Attrs{graph.Type("dtype", tensor.Float32)}, in[2]).Output(0)
	next := body.Op("AddV2", in[1], body.Op("Neg", read))
	assign := body.Node("AssignVariableOp", graph.Attrs{graph.Type("dtype", tensor.Float32)}, in[2], next)
	body.F.Control = append(body.F.Control, graph.ControlResult{Name: "assign", Node: assign})
	f := body.Return(body.Op("AddV2", in[0], body.Scalar(1)), next, in[2])
	b := enginetest.Build(t, "loop")
	in = args(b)
	loop := b.Node("While", graph.Attrs{graph.Func("cond", c), graph.Func("body", f)}, in...)
	p := compileWith(t, b.Return(loop.Output(1)), kernel.All(), new(engine.Invariants))
	v := trackable.NewVariable(tensor.Vector[float32](1))
	got := first(enginetest.Run(t, p, nil, engine.ValueOf(tensor.Scalar[int32](0)), engine.ValueOf(tensor.Vector[float32](5)), engine.HandleOf(v)))
	// x -= w; w = x: 4, then 0 for ever.
	if got != 0 {
		t.Errorf("got %v", got)
	}
}

func TestCallsWhileAVariableIsWrittenSeeOneOfItsValues(t *testing.T) {
	p := compileWith(t, weighted(t, false), kernel.All(), new(engine.Invariants))
	v := trackable.NewVariable(tensor.Vector[float32](0, 0))
	x := engine.ValueOf(tensor.Vector[float32](0, 0))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			last := float32(0)
			for range 200 {
				out, err := p.Run(context.Background(), []engine.Value{x, engine.HandleOf(v)}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				got := tensor.Values[float32](out[0].Tensor)
				if got[0] != got[1] || got[0] > last || got[0] != float32(math.Round(float64(got[0]))) {
					t.Errorf("%v after %v", got, last)
					return
				}
				last = got[0]
			}
		})
	}
	for range 300 {
		err := v.Update(func(b *tensor.Tensor) error {
			for i := range tensor.Values[float32](b) {
				tensor.Values[float32](b)[i]++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
}
