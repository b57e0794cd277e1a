package data_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/kernel/data"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

var ints = graph.Attrs{graph.Types("output_types", tensor.Int64), graph.Shapes("output_shapes", graph.UnknownShape)}

// body is a function that is put together op by op.
type body struct {
	t *testing.T
	*graph.Function
}

func newBody(t *testing.T, name string, args ...tensor.DType) *body {
	t.Helper()
	b := &body{t, graph.NewFunction(name)}
	for _, d := range args {
		if _, err := b.AddArg("", graph.Fact{DType: d}); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func (b *body) arg(i int) graph.Output { return b.Args[i].Output(0) }

// add adds a node; its inputs are outputs, tensors or int64s.
func (b *body) add(op string, attrs graph.Attrs, in ...any) graph.Output {
	b.t.Helper()
	n := &graph.Node{Op: op, Def: graph.LookupOp(op), Attrs: attrs}
	var facts []graph.Fact
	for _, x := range in {
		var o graph.Output
		switch x := x.(type) {
		case graph.Output:
			o = x
		case *tensor.Tensor:
			o = b.add("Const", graph.Attrs{graph.Tensor("value", x), graph.Type("dtype", x.DType())})
		case int:
			o = b.add("Const", graph.Attrs{graph.Tensor("value", tensor.Scalar(int64(x))), graph.Type("dtype", tensor.Int64)})
		}
		n.In = append(n.In, o)
		facts = append(facts, o.Fact())
	}
	var err error
	if n.Attrs, n.Out, err = n.Def.Bind(attrs, facts); err != nil {
		b.t.Fatal(err)
	}
	if err := b.Graph.Add(n); err != nil {
		b.t.Fatal(err)
	}
	return graph.Output{Node: n}
}

// run calls the function, whose results the outputs are.
func (b *body) run(ctx context.Context, o *engine.RunOptions, out ...graph.Output) ([]engine.Value, error) {
	b.t.Helper()
	for _, x := range out {
		b.AddResult("", x)
	}
	plan, err := engine.Compile(b.Function, &engine.CompileOptions{Kernels: kernel.All()})
	if err != nil {
		b.t.Fatal(err)
	}
	if o == nil {
		o = &engine.RunOptions{Instance: new(engine.Instance)}
	}
	return plan.Run(ctx, nil, o)
}

func callee(name string, f *graph.Function) graph.Attr {
	return graph.Func(name, f)
}

func (b *body) count(n int) graph.Output { return b.add("RangeDataset", ints, 0, n, 1) }

// TestPipelinesWithoutEndStopWithTheContext reads endless datasets that have no
// element, or no last one.
func TestPipelinesWithoutEndStopWithTheContext(t *testing.T) {
	never := newBody(t, "never", tensor.Int64)
	never.AddResult("", never.add("Less", nil, never.arg(0), 0))
	last := newBody(t, "last", tensor.Int64, tensor.Int64)
	last.AddResult("", last.arg(1))
	for _, x := range []struct {
		name string
		make func(b *body, endless graph.Output) graph.Output
	}{
		{"a filter", func(b *body, d graph.Output) graph.Output {
			return b.add("FilterDataset", append(graph.Attrs{callee("predicate", never.Function), graph.Types("Targuments")}, ints...), d)
		}},
		{"a reduction", func(b *body, d graph.Output) graph.Output { return d }},
		{"a skip", func(b *body, d graph.Output) graph.Output {
			return b.add("SkipDataset", ints, d, tensor.Scalar(int64(1<<60)))
		}},
		{"a batch", func(b *body, d graph.Output) graph.Output {
			return b.add("SkipDataset", ints, b.add("BatchDatasetV2", ints, d, 3, tensor.Scalar(true)), tensor.Scalar(int64(1<<60)))
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := newBody(t, "main")
			d := x.make(b, b.add("RepeatDataset", ints, b.count(10), -1))
			r := b.add("ReduceDataset", append(graph.Attrs{callee("f", last.Function), graph.Types("Tstate", tensor.Int64), graph.Types("Targuments")}, ints...), d, 0)
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			if _, err := b.run(ctx, nil, r); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestElementsAreGivenUp goes through a gigabyte of elements in one call and looks at
// the memory.
func TestElementsAreGivenUp(t *testing.T) {
	large := newBody(t, "large", tensor.Int64)
	large.AddResult("", large.add("Fill", nil, large.add("Const", graph.Attrs{graph.Tensor("value", tensor.Vector[int64](1<<17)), graph.Type("dtype", tensor.Int64)}), large.arg(0)))
	sum := newBody(t, "sum", tensor.Int64, tensor.Int64)
	sum.AddResult("", sum.add("AddV2", nil, sum.arg(0), sum.add("Max", nil, sum.arg(1), tensor.Vector[int32](0))))
	b := newBody(t, "main")
	d := b.add("MapDataset", append(graph.Attrs{callee("f", large.Function), graph.Types("Targuments")}, ints...), b.count(1000))
	r := b.add("ReduceDataset", append(graph.Attrs{callee("f", sum.Function), graph.Types("Tstate", tensor.Int64), graph.Types("Targuments")}, ints...), d, 0)
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var most uint64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				runtime.GC()
				runtime.ReadMemStats(&during)
				most = max(most, during.HeapAlloc)
			}
		}
	})
	out, err := b.run(context.Background(), nil, r)
	close(stop)
	wg.Wait()
	if err != nil || !out[0].Tensor.Equal(tensor.Scalar[int64](999*1000/2)) {
		t.Fatalf("%v (%v)", out, err)
	}
	if most > before.HeapAlloc+200<<20 {
		t.Errorf("%d MB in use at once", (most-before.HeapAlloc)>>20)
	}
}

// TestBuffersAreBounded checks that the memory of a pipeline's buffers is
// counted.
func TestBuffersAreBounded(t *testing.T) {
	for _, x := range []struct {
		name string
		make func(b *body, endless graph.Output) graph.Output
	}{
		{"shuffle", func(b *body, d graph.Output) graph.Output {
			return b.add("ShuffleDataset", ints, d, tensor.Scalar(int64(1<<40)), 1, 2)
		}},
		{"batch", func(b *body, d graph.Output) graph.Output {
			return b.add("BatchDatasetV2", ints, d, tensor.Scalar(int64(1<<40)), tensor.Scalar(false))
		}},
		{"window", func(b *body, d graph.Output) graph.Output {
			return b.add("WindowDataset", graph.Attrs{graph.Types("output_types", tensor.Variant), graph.Shapes("output_shapes", graph.ShapeOf())}, d, tensor.Scalar(int64(1<<40)), 1, 1, tensor.Scalar(false))
		}},
		{"cache", func(b *body, d graph.Output) graph.Output {
			return b.add("SkipDataset", ints, b.add("CacheDataset", ints, d, tensor.Scalar("")), tensor.Scalar(int64(1<<40)))
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := newBody(t, "main")
			d := x.make(b, b.add("RepeatDataset", ints, b.count(10), -1))
			attrs := ints
			if x.name == "window" {
				attrs = graph.Attrs{graph.Types("output_types", tensor.Variant), graph.Shapes("output_shapes", graph.ShapeOf())}
			}
			_, err := b.run(context.Background(), &engine.RunOptions{MaxOutput: 1 << 16, Instance: new(engine.Instance)}, b.add("DatasetToSingleElement", attrs, d))
			if err == nil || !strings.Contains(err.Error(), "MaxOutput") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestDatasetsOfThemselvesAreRefused flattens datasets that a function makes of
// itself without end, and nests them in a loop.
func TestDatasetsOfThemselvesAreRefused(t *testing.T) {
	f := newBody(t, "f", tensor.Int64)
	f.AddResult("", f.add("FlatMapDataset", append(graph.Attrs{callee("f", f.Function), graph.Types("Targuments")}, ints...), f.count(1)))
	b := newBody(t, "main")
	d := b.add("FlatMapDataset", append(graph.Attrs{callee("f", f.Function), graph.Types("Targuments")}, ints...), b.count(1))
	if _, err := b.run(context.Background(), nil, b.add("DatasetToSingleElement", ints, d)); err == nil {
		t.Error("a dataset that is made of itself had an element")
	}

	more := newBody(t, "more", tensor.Int64, tensor.Variant)
	more.AddResult("", more.add("Less", nil, more.arg(0), 100000))
	deeper := newBody(t, "deeper", tensor.Int64, tensor.Variant)
	deeper.AddResult("", deeper.add("AddV2", nil, deeper.arg(0), 1))
	deeper.AddResult("", deeper.add("SkipDataset", ints, deeper.arg(1), 0))
	b = newBody(t, "main")
	loop := b.add("While", graph.Attrs{callee("cond", more.Function), callee("body", deeper.Function)}, 0, b.count(1))
	if _, err := b.run(context.Background(), nil, b.add("DatasetToSingleElement", ints, graph.Output{Node: loop.Node, Index: 1})); err == nil {
		t.Error("100,000 datasets of each other had an element")
	}
}

// TestOneIteratorServesManyGoroutines takes all elements of an iterator from many
// goroutines; each comes once.
func TestOneIteratorServesManyGoroutines(t *testing.T) {
	double := newBody(t, "double", tensor.Int64)
	double.AddResult("", double.add("AddV2", nil, double.arg(0), double.arg(0)))
	factory := newBody(t, "factory")
	factory.AddResult("", factory.add("ShuffleDataset", ints, factory.add("MapDataset", append(graph.Attrs{callee("f", double.Function), graph.Types("Targuments")}, ints...), factory.count(400)), 50, 1, 2))
	b := newBody(t, "main")
	it := b.add("OneShotIterator", append(graph.Attrs{callee("dataset_factory", factory.Function)}, ints...))
	b.AddResult("", b.add("IteratorGetNext", ints, it))
	plan, err := engine.Compile(b.Function, &engine.CompileOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	o := &engine.RunOptions{Instance: new(engine.Instance)}
	var mu sync.Mutex
	var all []int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				out, err := plan.Run(context.Background(), nil, o)
				if err != nil {
					if !errors.Is(err, data.ErrEndOfSequence) {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				all = append(all, tensor.Values[int64](out[0].Tensor)[0])
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(all)
	for i, v := range all {
		if v != int64(2*i) {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	if len(all) != 400 {
		t.Errorf("%d elements, want 400", len(all))
	}
}

// TestInstancesHaveIteratorsOfTheirOwn runs one plan on two instances.
func TestInstancesHaveIteratorsOfTheirOwn(t *testing.T) {
	factory := newBody(t, "factory")
	factory.AddResult("", factory.count(3))
	b := newBody(t, "main")
	it := b.add("OneShotIterator", append(graph.Attrs{callee("dataset_factory", factory.Function)}, ints...))
	b.AddResult("", b.add("IteratorGetNext", ints, it))
	plan, err := engine.Compile(b.Function, &engine.CompileOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	x, y := &engine.RunOptions{Instance: new(engine.Instance)}, &engine.RunOptions{Instance: new(engine.Instance)}
	for i, o := range []*engine.RunOptions{x, x, y, x, y} {
		out, err := plan.Run(context.Background(), nil, o)
		if want := []int64{0, 1, 0, 2, 1}[i]; err != nil || tensor.Values[int64](out[0].Tensor)[0] != want {
			t.Errorf("call %d: %v (%v), want %d", i, out, err, want)
		}
	}
}

// TestRandomSeedGenerators checks that generators of fixed seeds agree, and
// that zeros mean other seeds each time.
func TestRandomSeedGenerators(t *testing.T) {
	orders := func(a, b int64) (string, string) {
		s := function.Eager(context.Background())
		var out [2]string
		for i := range out {
			h := s.Emit("AnonymousRandomSeedGenerator", nil, tensor.Scalar(a), tensor.Scalar(b))
			d := s.Emit("RangeDataset", ints, tensor.Scalar[int64](0), tensor.Scalar[int64](30), tensor.Scalar[int64](1))[0]
			d = s.Emit("ShuffleDatasetV2", ints, d, tensor.Scalar[int64](30), h[0])[0]
			d = s.Emit("BatchDataset", ints, d, tensor.Scalar[int64](30))[0]
			out[i] = text(t, s.Emit("DatasetToSingleElement", ints, d)[0])
			s.Emit("DeleteRandomSeedGenerator", nil, h[0], h[1])
		}
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		return out[0], out[1]
	}
	if a, b := orders(1, 2); a != b {
		t.Errorf("%s and %s of the same seeds", a, b)
	}
	if a, b := orders(0, 0); a == b {
		t.Errorf("%s twice of no seeds", a)
	}
}

func text(t *testing.T, v *ops.Value) string {
	x, err := v.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	return x.String()
}
