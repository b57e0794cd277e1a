package engine_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/tensor"
)

func nothing(*engine.Call) error { return nil }

func ExampleKernelSet_With() {
	base, err := engine.NewKernelSet([]engine.Kernel{{Op: "MatMul", Run: nothing}})
	if err != nil {
		fmt.Println(err)
		return
	}
	larger, err := base.With(engine.Kernel{Op: "MyOp", Run: nothing})
	fmt.Println(base.Ops(), larger.Ops(), err)
	_, err = larger.With(engine.Kernel{Op: "MyOp", Run: nothing})
	fmt.Println(err)
	fmt.Println(larger.Missing("Myop"))
	// Output:
	// [MatMul] [MatMul MyOp] <nil>
	// engine: op "MyOp" has a kernel already; KernelSet.Replace takes another one for it
	// no kernel for op "Myop"; similar names: [MyOp]; engine.KernelSet.With adds one
}

func TestKernelSetsRefuseWhatIsWrong(t *testing.T) {
	for name, table := range map[string][]engine.Kernel{
		"no name":  {{Run: nothing}},
		"no run":   {{Op: "A"}},
		"two runs": {{Op: "A", Run: nothing, Prepare: func(*engine.Node) (func(*engine.Call) error, error) { return nothing, nil }}},
		"twice":    {{Op: "A", Run: nothing}, {Op: "A", Run: nothing}},
	} {
		if _, err := engine.NewKernelSet(table); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	set, err := engine.NewKernelSet([]engine.Kernel{{Op: "A", Run: nothing}})
	if err != nil {
		t.Fatal(err)
	}
	if set, err = set.Replace(engine.Kernel{Op: "A", Run: nothing, Precision: engine.Rounded}); err != nil || set.Lookup("A").Precision != engine.Rounded {
		t.Errorf("Replace: %v", err)
	}
	var none *engine.KernelSet
	if none.Lookup("A") != nil || none.Len() != 0 {
		t.Error("a nil set has kernels")
	}
}

func TestWorkersCoverEveryIndexOnce(t *testing.T) {
	w := engine.NewWorkers(4)
	for _, n := range []int{0, 1, 2, 7, 1000, 12345} {
		for _, ns := range []float64{0.1, 50, 1e6} {
			hits := make([]atomic.Int32, n)
			w.Run(n, ns, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					hits[i].Add(1)
				}
			})
			for i := range hits {
				if hits[i].Load() != 1 {
					t.Fatalf("n %d, %v ns: index %d was visited %d times", n, ns, i, hits[i].Load())
				}
			}
		}
	}
}

func TestWorkersKeepToTheirBudget(t *testing.T) {
	w := engine.NewWorkers(3)
	var running, most atomic.Int32
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			w.Run(16, 1e6, func(lo, hi int) {
				n := running.Add(1)
				for {
					m := most.Load()
					if n <= m || most.CompareAndSwap(m, n) {
						break
					}
				}
				time.Sleep(time.Millisecond)
				running.Add(-1)
			})
		})
	}
	wg.Wait()
	if got := most.Load(); got > 4+2 { // four callers and two helpers
		t.Errorf("%d ran at once", got)
	}
}

// TestHelpersAreStartedWithoutMemory: the call of a large model starts a helper
// for many of its ops, if other goroutines are running.
func TestHelpersAreStartedWithoutMemory(t *testing.T) {
	if detector.Racing {
		t.Skip("the race detector empties pools")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which empties pools
	w := engine.NewWorkers(2)
	var begun atomic.Int32
	meet := func(lo, hi int) {
		begun.Add(1)
		for at := time.Now(); begun.Load() < 2 && time.Since(at) < time.Second; {
			runtime.Gosched()
		}
	}
	if n := testing.AllocsPerRun(20, func() {
		begun.Store(0)
		w.Run(2, 1e6, meet)
		time.Sleep(2 * time.Millisecond) // until the helper has ended
	}); n > 0 {
		t.Errorf("%v allocations to start a helper", n)
	}
}

func TestAWorkersPanicReachesTheCaller(t *testing.T) {
	w := engine.NewWorkers(4)
	defer func() {
		p, ok := recover().(*engine.WorkerPanic)
		if !ok || p.Value != "no" || len(p.Stack) == 0 {
			t.Errorf("got %v", p)
		}
		// The budget must be whole again.
		var most atomic.Int32
		w.Run(100, 1e6, func(lo, hi int) { most.Add(1) })
		if most.Load() < 2 {
			t.Error("the helpers are gone")
		}
	}()
	w.Run(100, 1e6, func(lo, hi int) { panic("no") })
}

func TestArenasRecycleWhatWasNotKept(t *testing.T) {
	a := engine.NewArena()
	big, kept := a.Alloc(1 << 20)
	other, _ := a.Alloc(1 << 20)
	small, _ := a.Alloc(100)
	if len(small) != 100 || len(big) != 1<<20 {
		t.Fatal("wrong sizes")
	}
	kept.Keep()
	a.Recycle()
	again, _ := a.Alloc(1<<20 - 5)
	if &again[0] != &other[0] {
		t.Error("a free buffer wasn't handed out again")
	}
	fresh, _ := a.Alloc(1 << 20)
	if &fresh[0] == &big[0] {
		t.Error("a kept buffer was handed out again")
	}
	var none *engine.Arena
	if mem, b := none.Alloc(10); len(mem) != 10 || b != nil {
		t.Error("a nil arena makes no memory")
	}
	none.Recycle()
	none.Close()
}

func TestACallReportsPanicsAndSizes(t *testing.T) {
	var c engine.Runner
	set, err := engine.NewKernelSet([]engine.Kernel{{Op: "X", Run: func(*engine.Call) error { panic(errors.ErrUnsupported) }}})
	if err != nil {
		t.Fatal(err)
	}
	c.Begin(context.Background(), &engine.Env{MaxOutput: 100})
	k, err := set.PrepareEager("X", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Run(k)
	var p *engine.PanicError
	if !errors.As(err, &p) || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	alloc := func(shape ...int) (n int, err error) {
		set, err := engine.NewKernelSet([]engine.Kernel{{Op: "X", Run: func(c *engine.Call) error {
			out, err := c.Alloc(0, tensor.Float32, shape)
			if err == nil {
				n = out.Len()
			}
			return err
		}}})
		if err != nil {
			t.Fatal(err)
		}
		k, err := set.PrepareEager("X", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Begin(context.Background(), &engine.Env{MaxOutput: 100})
		err = c.Run(k)
		return n, err
	}
	if _, err := alloc(26); err == nil {
		t.Error("an output of 104 bytes exceeds MaxOutput = 100, want an error")
	}
	if _, err := alloc(1<<30, 1<<30); err == nil {
		t.Error("the size of an output overflows, want an error")
	}
	if n, err := alloc(25); err != nil || n != 25 {
		t.Errorf("alloc 100 bytes: %d elements, %v", n, err)
	}
}

// TestHelpersEnd runs loops in quick succession, for which helpers wait, and
// checks that the helpers end after the last one.
func TestHelpersEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	w := engine.NewWorkers(4)
	var sum atomic.Int64
	for range 200 {
		w.Run(64, 1e4, func(lo, hi int) { sum.Add(int64(hi - lo)) })
	}
	if sum.Load() != 200*64 {
		t.Errorf("%d indexes were visited, want %d", sum.Load(), 200*64)
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left of %d", runtime.NumGoroutine(), before)
		}
	}
}

// BenchmarkWorkers measures the cost of sharing: two pieces of equal length,
// each a few microseconds, against one of them alone.
func BenchmarkWorkers(b *testing.B) {
	work := func(n int) {
		x := uint64(1)
		for range n * 4000 {
			x ^= x << 13
			x ^= x >> 7
		}
		sink.Store(x)
	}
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			work(1)
		}
	})
	b.Run("two", func(b *testing.B) {
		w := engine.NewWorkers(2)
		for b.Loop() {
			w.Run(2, 1e6, func(lo, hi int) { work(hi - lo) })
		}
	})
}

var sink atomic.Uint64

// TestScratchCountsUntilTheKernelReturns runs a kernel that returns half of its
// scratch memory itself.
func TestScratchCountsUntilTheKernelReturns(t *testing.T) {
	ks, err := engine.NewKernelSet([]engine.Kernel{{Op: "Busy", Run: func(c *engine.Call) error {
		_, free := engine.Scratch[float32](c, 1<<18)
		free()
		x, _ := engine.Scratch[float32](c, 1<<18)
		if len(x) != 1<<18 {
			t.Errorf("got %d elements", len(x))
		}
		return nil
	}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := ks.PrepareEager("Busy", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	env := &engine.Env{Arena: engine.NewArena()}
	defer env.Arena.Close()
	var c engine.Runner
	for range 3 {
		c.Begin(context.Background(), env)
		if err := c.Run(p); err != nil {
			t.Fatal(err)
		}
	}
	if got := env.Arena.Peak(); got != 1<<20 {
		t.Errorf("%d bytes were in use at most, want %d", got, 1<<20)
	}
}

// TestACallHasFewMethods bounds the number of methods that a kernel author meets.
// References are on Refs, and the executor's methods on Runner.
func TestACallHasFewMethods(t *testing.T) {
	const most = 40
	if n := reflect.TypeFor[*engine.Call]().NumMethod(); n > most {
		t.Errorf("*Call has %d methods, want at most %d", n, most)
	}
}
