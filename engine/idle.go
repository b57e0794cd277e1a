package engine

import (
	"sync"

	"github.com/cairnml/cairn/internal/idle"
)

// idleArenas keeps arenas that no call uses. Any call may take a large one. Small ones are
// in a sync.Pool, with a list for each processor, because a lock costs more than a small
// arena is worth.
type idleArenas struct {
	home  bool // the arenas serve one plan, whose calls all need the same sizes
	small sync.Pool
	large idle.List[*Arena]
}

// largeArena is the number of bytes from which an arena is large.
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
