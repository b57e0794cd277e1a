package engine

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Workers is a budget of helpers that calls share, so that many calls at once
// don't start more goroutines than there are cores. The caller always works
// itself; helpers are borrowed while a loop runs. A helper that has finished
// its part waits a while for another loop, because ops follow each other
// closely and waking a processor takes longer than a short loop. Then it ends.
type Workers struct {
	limit int32
	busy  atomic.Int32
	slots []slot // one for each helper
	// patience is the time that a helper waits, in nanoseconds. It grows while
	// waiting helpers find loops.
	patience atomic.Int32
	loops    sync.Pool // of *loop

	call *Call // the call whose context ends its loops; nil if there is none
}

// slot is the place in which a helper waits: it contains looking meanwhile, and
// then a loop that a caller has put there.
type slot struct {
	next atomic.Pointer[loop]
	_    [56]byte // a cache line for each
}

var looking = new(loop)

// NewWorkers makes a budget of n workers, the caller included; n < 1 means
// GOMAXPROCS.
func NewWorkers(n int) *Workers {
	if n < 1 {
		n = runtime.GOMAXPROCS(0)
	}
	w := &Workers{limit: int32(n - 1), slots: make([]slot, n-1)}
	w.patience.Store(minPatience)
	w.loops.New = func() any {
		l := &loop{shares: make([]share, n), last: make(chan struct{}, 1)}
		for k := range l.shares {
			l.shares[k].help = func() { w.help(l, k) }
		}
		return l
	}
	return w
}

var sharedWorkers = sync.OnceValue(func() *Workers { return NewWorkers(0) })

// SharedWorkers returns the process's budget of GOMAXPROCS workers, which is
// the default of options.
func SharedWorkers() *Workers { return sharedWorkers() }

// Count returns how many goroutines are asked to work on one loop, the caller included;
// 1 for a nil w. One that was late for an earlier loop may come besides them.
func (w *Workers) Count() int {
	if w == nil {
		return 1
	}
	return int(w.limit) + 1
}

// In nanoseconds.
const (
	// piece is the length of one piece at most: the scheduler and the garbage
	// collector never wait long for an assembly loop.
	piece = 20_000
	// worthwhile is the shortest loop that is shared with a waiting helper.
	// worthWaking is the shortest loop for which a helper is started.
	worthwhile  = 10_000
	worthWaking = 60_000

	// minPatience is longer than the last pieces of a loop. So the helper that is done first
	// still waits when the next loop begins, after the last helper is done.
	minPatience = 50_000
	maxPatience = 500_000

	// awake is the time that a caller waits actively for its last helpers
	// before it sleeps. A caller that is woken continues on the core of a
	// helper, whose cache does not contain the data of the caller's share.
	awake = 200_000
)

// Run calls fn over pieces that cover [0, n). nsEach is an estimate of the
// nanoseconds for one index. If the work is too short to share, fn is called
// once, on this goroutine; otherwise on several goroutines at once. The bounds
// of pieces differ from run to run, so no result may depend on them. If fn
// panics in a loop that is shared, Run panics with a *[WorkerPanic].
func (w *Workers) Run(n int, nsEach float64, fn func(lo, hi int)) {
	if n <= 0 {
		return
	}
	if w != nil && w.call != nil {
		w.call.Parallel(n, nsEach, fn)
		return
	}
	if n == 1 || !w.worth(float64(n)*nsEach) {
		fn(0, n)
		return
	}
	total := float64(n) * nsEach
	helpers := w.borrow(min(n-1, int(min(total/(worthwhile/2)-1, float64(w.limit)))))
	if helpers == 0 {
		fn(0, n)
		return
	}
	l := w.loops.Get().(*loop)
	l.begin(n, max(1, int(piece/nsEach)), helpers, fn)
	for i := range helpers {
		w.start(l, i+1, total >= worthWaking)
	}
	l.work(0)
	w.busy.Add(l.wait() - int32(helpers)) // of those that never joined
	p := l.panicked.Load()
	l.fn = nil
	w.loops.Put(l)
	if p != nil {
		panic(p)
	}
}

// Check leaves the kernel, as [Call.Check] does, if w comes from [Call.Workers]
// and the context of that call has ended. On other workers it does nothing.
func (w *Workers) Check() {
	if w != nil && w.call != nil {
		w.call.Check()
	}
}

// worth reports whether a loop of so many nanoseconds is to be shared.
func (w *Workers) worth(total float64) bool {
	if w != nil && w.call != nil {
		w = w.call.env.Workers
	}
	if w == nil || w.limit < 1 || total < worthwhile {
		return false
	}
	if total >= worthWaking {
		return true
	}
	for i := range w.slots {
		if w.slots[i].next.Load() == looking {
			return true
		}
	}
	return false
}

// start passes l to a waiting helper, or to a new one if that is worthwhile.
// The helper begins with share k.
func (w *Workers) start(l *loop, k int, wake bool) {
	for i := range w.slots {
		if w.slots[i].next.CompareAndSwap(looking, l) {
			return
		}
	}
	if wake {
		go l.shares[k].help()
	}
}

func (w *Workers) help(l *loop, k int) {
	for l != nil {
		if !l.join() {
			return // the loop was done before this goroutine ran
		}
		at := l.help(w, k)
		if l = nil; at >= 0 {
			// A helper that waits at a slot gets the same share of successive
			// loops, so that successive ops find their data in its cache.
			l, k = w.lookOut(&w.slots[at]), at+1
		}
	}
}

// help works on l and returns the slot at which the helper waits afterwards, or
// -1 if there is none.
func (l *loop) help(w *Workers, k int) (at int) {
	defer l.leave()
	defer func() {
		w.busy.Add(-1)
		// The slot is taken before the caller continues, so that the caller
		// finds it.
		for at = range w.slots {
			if w.slots[at].next.CompareAndSwap(nil, looking) {
				return
			}
		}
		at = -1
	}()
	l.work(k)
	return -1
}

// lookOut waits at a slot for another loop; nil when patience is at its end. It
// lets other goroutines run meanwhile.
func (w *Workers) lookOut(at *slot) *loop {
	patience := w.patience.Load()
	start := time.Now()
	for {
		for range 32 {
			if l := at.next.Load(); l != looking {
				at.next.Store(nil)
				w.patience.Store(min(2*patience, maxPatience))
				return l
			}
		}
		if time.Since(start) < time.Duration(patience) {
			runtime.Gosched()
			continue
		}
		if at.next.CompareAndSwap(looking, nil) {
			w.patience.Store(max(patience/2, minPatience))
			return nil
		}
	}
}

// loop is one [Workers.Run], and later another one. A helper joins it before it
// calls fn. Once it is closed, no helper joins, so that the caller never waits
// for a helper that has not begun. Such a helper may join a later run of the
// same loop.
type loop struct {
	step     int64   // the length of a piece
	shares   []share // one for each worker; the first parts of them are in use
	back     bool    // shares are gone over from their ends
	parts    int     // shares in use, one more than helpers were asked for
	fn       func(lo, hi int)
	helpers  atomic.Int64  // oneJoined for each helper that has joined, and 1 for each that hasn't left; less than 0 once closed
	last     chan struct{} // tells the caller that the last helper has left
	panicked atomic.Pointer[WorkerPanic]
}

// share is the part of a loop that one worker begins with. A worker that is done
// with its own takes pieces of others.
type share struct {
	done   atomic.Int64 // how many indices of it are taken
	lo, hi int64
	help   func()   // the function of a new helper that begins with it
	_      [32]byte // a cache line for each
}

const (
	closed    = math.MinInt64
	awaited   = 1 << 62 // the caller sleeps until the last helper has left
	oneJoined = 1 << 32 // a helper that has joined, in helpers
)

// begin prepares the loop for helpers to join. Every other loop processes its
// shares backwards: a core's cache still contains the end of the previous op's
// output, but perhaps not its beginning.
func (l *loop) begin(n, step, helpers int, fn func(lo, hi int)) {
	l.step, l.fn, l.parts, l.back = int64(step), fn, helpers+1, !l.back
	for k := range l.parts {
		s := &l.shares[k]
		s.lo, s.hi = int64(n)*int64(k)/int64(l.parts), int64(n)*int64(k+1)/int64(l.parts)
		s.done.Store(0)
	}
	l.panicked.Store(nil)
	l.helpers.Store(0)
}

func (l *loop) join() bool {
	for {
		n := l.helpers.Load()
		if n < 0 {
			return false
		}
		if l.helpers.CompareAndSwap(n, n+oneJoined+1) {
			return true
		}
	}
}

func (l *loop) leave() {
	if n := l.helpers.Add(-1); n < 0 && n&awaited != 0 && n%oneJoined == 0 {
		l.last <- struct{}{}
	}
}

// wait closes the loop, waits until all helpers have left, for a while without
// giving its processor away, and returns how many had joined.
func (l *loop) wait() int32 {
	n := l.helpers.Add(closed)
	had := int32((n - closed) / oneJoined)
	for begin := time.Now(); time.Since(begin) < awake; {
		for range 1024 {
			if l.helpers.Load()%oneJoined == 0 {
				return had
			}
		}
	}
	if l.helpers.Add(awaited)%oneJoined != 0 {
		<-l.last
	}
	return had
}

// work does the rest of share k, and then of all others.
func (l *loop) work(k int) {
	defer func() {
		if r := recover(); r != nil {
			l.panicked.CompareAndSwap(nil, &WorkerPanic{Value: r, Stack: debug.Stack()})
			for k := range l.parts {
				l.shares[k].done.Store(l.shares[k].hi - l.shares[k].lo)
			}
		}
	}()
	for i := range l.parts {
		l.finish(&l.shares[(k+i)%l.parts])
	}
}

func (l *loop) finish(s *share) {
	all := s.hi - s.lo
	for {
		done := s.done.Load()
		if done >= all {
			return
		}
		// The last pieces are small, so that all come to their ends together.
		size := min(max(1, l.step/8, min(l.step, (all-done)/2)), all-done)
		if !s.done.CompareAndSwap(done, done+size) {
			continue
		}
		lo := s.lo + done
		if l.back {
			lo = s.hi - done - size
		}
		l.fn(int(lo), int(lo+size))
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

// WorkerPanic is a panic in a shared loop. [Workers.Run] panics with it on the
// goroutine of its caller.
type WorkerPanic struct {
	Value any    // the argument of panic
	Stack []byte // the stack of the goroutine that panicked first
}

// Error returns the panic's value.
func (p *WorkerPanic) Error() string { return fmt.Sprintf("panic in a worker: %v", p.Value) }
