package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/internal/enginetest"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// flattening returns a function that asks for its argument's sizes, makes a
// matrix of it, and puts it back into its shape several times.
func flattening(t testing.TB) *graph.Function {
	b := enginetest.Build(t, "flattening")
	x := b.Arg(tensor.Float32)
	shape := b.Op("Shape", x)
	for range 8 {
		n := b.Node("StridedSlice", graph.Attrs{graph.Int("shrink_axis_mask", 1)}, shape, b.Value(tensor.Vector[int32](0)), b.Value(tensor.Vector[int32](1)), b.Value(tensor.Vector[int32](1))).Output(0)
		rows := b.Node("Pack", nil, n, b.Scalar(-1)).Output(0)
		x = b.Op("Tanh", b.Op("Reshape", b.Op("AddV2", x, x), rows))
		x = b.Op("Reshape", x, shape)
	}
	return b.Return(x)
}

func compileAll(t testing.TB, f *graph.Function, most int) *engine.Plan {
	t.Helper()
	p, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), MaxSpecializations: most})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSpecializationsOfAPlanEqualIt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	general, p := compileAll(t, flattening(t), -1), compileAll(t, flattening(t), 3)
	for round := range 4 {
		for _, dims := range [][]int{{2, 3}, {3, 2, 4}, {7}} {
			x := enginetest.Floats(r, dims...)
			enginetest.Same(t, fmt.Sprintf("round %d, %v", round, dims), enginetest.Run(t, p, nil, x), enginetest.Run(t, general, nil, x))
		}
	}
	if got := p.Specializations(); len(got) != 3 {
		t.Fatalf("%d specializations: %v", len(got), got)
	}
	for _, in := range p.Specializations() {
		want := 32 // four in a round
		if len(in.Shapes[0]) == 2 {
			want = 1 // a matrix stays as it is, and the rest is one chain
		}
		if in.Ops != want || p.Len() != 35 { // the ops that compute the shape
			t.Errorf("the specialization for %v runs %d ops, the plan for all shapes %d", in.Shapes, in.Ops, p.Len())
		}
	}
	if general.Specializations() != nil {
		t.Error("a plan without specializations has some")
	}
}

func TestShapesThatAreNotAskedForAreForgotten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := compileAll(t, flattening(t), 2)
	for _, n := range []int{1, 1, 2, 2, 1, 3, 3, 4} {
		enginetest.Run(t, p, nil, enginetest.Floats(r, n))
	}
	var got []string
	for _, in := range p.Specializations() {
		got = append(got, fmt.Sprint(in.Shapes))
	}
	if fmt.Sprint(got) != "[[[3]]]" { // 2 went for 3, 1 for 4, which was asked for once
		t.Errorf("specializations for %v", got)
	}
}

func TestACallOfKnownShapesAllocatesLittle(t *testing.T) {
	if detector.Racing {
		t.Skip("the race detector allocates")
	}
	r := rand.New(rand.NewPCG(1, 2))
	x := enginetest.Floats(r, 40, 50)
	general, p := compileAll(t, flattening(t), -1), compileAll(t, flattening(t), 0)
	args := []engine.Value{x}
	allocs := func(p *engine.Plan) float64 {
		enginetest.Run(t, p, nil, x)
		enginetest.Run(t, p, nil, x)
		return testing.AllocsPerRun(20, func() {
			if _, err := p.Run(context.Background(), args, nil); err != nil {
				t.Fatal(err)
			}
		})
	}
	before, after := allocs(general), allocs(p)
	t.Logf("%v allocations for all shapes, %v for known ones", before, after)
	if after >= before || after > 40 {
		t.Errorf("%v allocations for all shapes, %v for known ones", before, after)
	}
}

func TestSpecializationsShareTheStateOfTheirNodes(t *testing.T) {
	b := enginetest.Build(t, "noise")
	x := b.Arg(tensor.Float32)
	noise := b.Node("RandomUniform", graph.Attrs{graph.Int("seed", 3), graph.Int("seed2", 4), graph.Type("dtype", tensor.Float32)}, b.Op("Shape", x)).Output(0)
	f := b.Return(b.Op("AddV2", x, noise))
	r := rand.New(rand.NewPCG(1, 2))
	x5, x6 := enginetest.Floats(r, 5), enginetest.Floats(r, 6)
	a, c := &engine.RunOptions{Instance: new(engine.Instance)}, &engine.RunOptions{Instance: new(engine.Instance)}
	general, p := compileAll(t, f, -1), compileAll(t, f, 0)
	for i, x := range []engine.Value{x5, x5, x6, x5, x6, x6} {
		enginetest.Same(t, fmt.Sprint("call ", i), enginetest.Run(t, p, a, x), enginetest.Run(t, general, c, x))
	}
	if len(p.Specializations()) != 2 {
		t.Errorf("specializations %v", p.Specializations())
	}
}

func TestGoroutinesShareSpecializations(t *testing.T) {
	p, general := compileAll(t, flattening(t), 2), compileAll(t, flattening(t), -1)
	r := rand.New(rand.NewPCG(1, 2))
	var xs []engine.Value
	var want [][]engine.Value
	for n := range 4 {
		xs = append(xs, enginetest.Floats(r, n+1, 3))
		want = append(want, enginetest.Run(t, general, nil, xs[n]))
	}
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			for i := range 30 {
				k := (g + i/5) % len(xs)
				out, err := p.Run(context.Background(), xs[k:k+1], nil)
				if err != nil || !out[0].Tensor.Equal(want[k][0].Tensor) {
					t.Errorf("shape %d: %v", k, err)
					return
				}
			}
		})
	}
	wg.Wait()
}
