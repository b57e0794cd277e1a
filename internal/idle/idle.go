// Package idle keeps memory that nobody uses at the moment for whoever asks next.
package idle

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// List keeps objects until the garbage collector finds them unused between two of its
// rounds. It is for few and large ones: they are for everybody who asks, the last one
// first. A caller who goes on at another processor, where [sync.Pool] would have none for
// it, finds the memory of the call before; no more are made than are in use at once; and a
// round of the collector takes none that is in steady use. The zero value is empty.
type List[T any] struct {
	many atomic.Int32 // how many there are

	mu      sync.Mutex
	items   []T  // the last one given back is the last
	unused  int  // of items, from the first on, since the collector's last round
	watched bool // there is a round to come that gives up what is unused
}

// Get takes the object that was given back last; ok is false where there is none.
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

// Put gives an object back.
func (l *List[T]) Put(x T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, x)
	l.many.Store(int32(len(l.items)))
	l.watch()
}

// Len returns how many objects are kept.
func (l *List[T]) Len() int { return int(l.many.Load()) }

// watch has the collector's next round give up what is unused then.
func (l *List[T]) watch() {
	if !l.watched {
		l.watched = true
		runtime.AddCleanup(new(*T), (*List[T]).age, l)
	}
}

// age gives up what nobody took since the collector's last round.
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
