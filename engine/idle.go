package engine

import (
	"sync"

	"github.com/cairnml/cairn/internal/idle"
)

// idleArenas keeps arenas that no call uses. Large ones are few, and for everybody who
// asks. Small ones cost less than it takes to agree on who gets them; each processor has
// its own.
type idleArenas struct {
	home  bool // all calls need the same sizes
	small sync.Pool
	large idle.List[*Arena]
}

// largeArena is from how many bytes on an arena is large.
const largeArena = 64 << 10

// get takes an arena or makes one.
func (l *idleArenas) get() *Arena {
	if a, ok := l.large.Get(); ok {
		return a
	}
	if a, ok := l.small.Get().(*Arena); ok {
		return a
	}
	return &Arena{idle: l}
}

// put makes an arena idle.
func (l *idleArenas) put(a *Arena) {
	if a.held < largeArena {
		l.small.Put(a)
	} else {
		l.large.Put(a)
	}
}
