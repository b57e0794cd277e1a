// Package idle keeps unused memory for the next caller that needs it. Packages
// engine and kernel/internal/gemm use it.
package idle

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// List keeps objects until the garbage collector finds them unused between two
// of its cycles. It is for few and large objects, shared by all callers, the
// last one first. A caller that continues on another processor, for which
// [sync.Pool] would have none, finds the memory of the previous call; no more
// are created than are in use at once; and a cycle of the collector removes
// none that is in steady use. The zero value is empty.
type List[T any] struct {
	many atomic.Int32 // len(items), read without the lock

	mu      sync.Mutex
	items   []T  // the last one given back is the last
	unused  int  // of items, from the first on, since the collector's last round
	watched bool // a coming cycle drops unused objects
}

// Get removes and returns the object that was put last; ok is false if there is
// none.
func (l *List[T]) Get() (x T, ok bool) {
	if l.many.Load() == 0 {
		return x, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.items) - 1
	if n < 0 {
		return x, false
	}
	var none T
	x, l.items[n] = l.items[n], none
	l.items = l.items[:n]
	l.unused = min(l.unused, n)
	l.many.Store(int32(n))
	return x, true
}

// Put adds an object that is no longer used.
func (l *List[T]) Put(x T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, x)
	l.many.Store(int32(len(l.items)))
	l.watch()
}

// Len returns how many objects are kept.
func (l *List[T]) Len() int { return int(l.many.Load()) }

// watch makes the collector's next cycle drop objects that are unused then.
func (l *List[T]) watch() {
	if !l.watched {
		l.watched = true
		runtime.AddCleanup(new(*T), (*List[T]).age, l)
	}
}

// age drops objects that weren't used since the collector's last cycle.
func (l *List[T]) age() {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := copy(l.items, l.items[l.unused:])
	clear(l.items[n:])
	l.items = l.items[:n]
	l.unused = n
	l.many.Store(int32(n))
	l.watched = false
	if n > 0 {
		l.watch()
	}
}
