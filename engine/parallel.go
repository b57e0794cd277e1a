package engine

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Workers is a budget of helpers that calls share, so that many calls at once
// don't start more goroutines than there are cores. The caller always works
// itself; helpers are borrowed while a loop runs and no goroutine outlives it.
type Workers struct {
	limit int32
	busy  atomic.Int32
}

// NewWorkers makes a budget of n workers, the caller included; n < 1 means
// GOMAXPROCS.
func NewWorkers(n int) *Workers {
	if n < 1 {
		n = runtime.GOMAXPROCS(0)
	}
	return &Workers{limit: int32(n - 1)}
}

var sharedWorkers = sync.OnceValue(func() *Workers { return NewWorkers(0) })

// SharedWorkers returns the process's budget of GOMAXPROCS workers, what nil
// options mean.
func SharedWorkers() *Workers { return sharedWorkers() }

// grain is about how many nanoseconds of work are worth a helper, and the
// length of one piece: short enough that the scheduler and the garbage
// collector never wait long for an assembly loop.
const grain = 40_000

// Run calls fn over pieces that cover [0, n). nsEach is roughly how many
// nanoseconds one index takes; where the whole is too little to share, fn runs
// once, here. fn runs on several goroutines at once otherwise. A panic in a
// helper comes out in the caller.
func (w *Workers) Run(n int, nsEach float64, fn func(lo, hi int)) {
	if n <= 0 {
		return
	}
	total := float64(n) * nsEach
	if w == nil || w.limit < 1 || n == 1 || total < 2*grain {
		fn(0, n)
		return
	}
	step := max(1, int(grain/nsEach))
	pieces := (n + step - 1) / step
	helpers := w.borrow(min(pieces-1, int(w.limit)))
	if helpers == 0 {
		fn(0, n)
		return
	}
	var l loop
	l.n, l.step, l.fn = int64(n), int64(step), fn
	l.wg.Add(helpers)
	for range helpers {
		go func() {
			defer l.wg.Done()
			defer w.busy.Add(-1)
			l.work()
		}()
	}
	l.work()
	l.wg.Wait()
	if p := l.panicked.Load(); p != nil {
		panic(p)
	}
}

type loop struct {
	n, step  int64
	next     atomic.Int64
	fn       func(lo, hi int)
	wg       sync.WaitGroup
	panicked atomic.Pointer[WorkerPanic]
}

func (l *loop) work() {
	defer func() {
		if r := recover(); r != nil {
			l.panicked.CompareAndSwap(nil, &WorkerPanic{Value: r, Stack: debug.Stack()})
			l.next.Store(l.n)
		}
	}()
	for {
		lo := l.next.Add(l.step) - l.step
		if lo >= l.n {
			return
		}
		l.fn(int(lo), int(min(lo+l.step, l.n)))
	}
}

// borrow takes up to want helpers from the budget.
func (w *Workers) borrow(want int) int {
	for {
		busy := w.busy.Load()
		got := min(int32(want), w.limit-busy)
		if got <= 0 {
			return 0
		}
		if w.busy.CompareAndSwap(busy, busy+got) {
			return int(got)
		}
	}
}

// WorkerPanic is a panic of a helper, carried to the goroutine that asked for
// the work.
type WorkerPanic struct {
	Value any    // what was panicked with
	Stack []byte // the helper's stack
}

// Error returns the panic's value.
func (p *WorkerPanic) Error() string { return fmt.Sprintf("panic in a worker: %v", p.Value) }
