package engine

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// idleArenas keeps arenas that no call uses until the garbage collector finds them unused
// between two of its rounds. Large ones are for everybody who asks, the last one first: a
// caller who goes on at another processor, where [sync.Pool] would have none for it, finds
// the memory of the call before, and there are no more than calls at once. Small ones cost
// less than it takes to agree on who gets them; each processor has its own.
type idleArenas struct {
	home  bool // all calls need the same sizes
	small sync.Pool
	many  atomic.Int32 // how many are large

	mu      sync.Mutex
	large   []*Arena // the last one given back is the last
	unused  int      // of large, from the first on, since the collector's last round
	watched bool     // there is a round to come that gives up what is unused
}

// largeArena is from how many bytes on an arena is large.
const largeArena = 64 << 10

// get takes an arena or makes one.
func (l *idleArenas) get() *Arena {
	if l.many.Load() > 0 {
		if a := l.last(); a != nil {
			return a
		}
	}
	if a, ok := l.small.Get().(*Arena); ok {
		return a
	}
	return &Arena{idle: l}
}

// last takes the large arena that was given back last; nil where there is none.
func (l *idleArenas) last() *Arena {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.large) - 1
	if n < 0 {
		return nil
	}
	a := l.large[n]
	l.large[n] = nil
	l.large = l.large[:n]
	l.unused = min(l.unused, n)
	l.many.Store(int32(n))
	return a
}

// put gives an arena back.
func (l *idleArenas) put(a *Arena) {
	if a.held < largeArena {
		l.small.Put(a)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.large = append(l.large, a)
	l.many.Store(int32(len(l.large)))
	l.watch()
}

// watch has the collector's next round give up what is unused then.
func (l *idleArenas) watch() {
	if !l.watched {
		l.watched = true
		runtime.AddCleanup(new(*Arena), (*idleArenas).age, l)
	}
}

// age gives up the arenas that nobody took since the collector's last round.
func (l *idleArenas) age() {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := copy(l.large, l.large[l.unused:])
	clear(l.large[n:])
	l.large = l.large[:n]
	l.unused = n
	l.many.Store(int32(n))
	l.watched = false
	if n > 0 {
		l.watch()
	}
}
