package engine

import (
	"runtime"
	"testing"
	"time"
)

// TestLargeArenasFollowTheirCallers holds an arena's memory to go on to whoever asks next,
// on any processor.
func TestLargeArenasFollowTheirCallers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var l idleArenas
	a := l.get()
	a.Alloc(2 * largeArena)
	a.Release()
	got := make(chan *Arena)
	go func() { got <- l.get() }()
	// The other goroutine runs elsewhere: this one doesn't give its processor away.
	var b *Arena
	for deadline := time.Now().Add(10 * time.Second); b == nil && time.Now().Before(deadline); {
		select {
		case b = <-got:
		default:
		}
	}
	if a != b {
		t.Errorf("another goroutine got another arena")
	}
	b.Release()
	c, d := l.get(), l.get()
	if c != a || d == a {
		t.Errorf("of two calls at once one gets the arena: %v, %v", c == a, d == a)
	}
}

// TestUnusedArenasEnd holds large arenas to be given up when they weren't used between two
// rounds of the garbage collector, and those that were to stay.
func TestUnusedArenasEnd(t *testing.T) {
	l := new(idleArenas)
	var all []*Arena
	for range 5 {
		a := l.get()
		a.Alloc(2 * largeArena)
		all = append(all, a)
	}
	for _, a := range all {
		a.Release()
	}
	idle := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.large)
	}
	// round collects until arenas were looked at.
	round := func(use int) {
		var used []*Arena
		for range use {
			used = append(used, l.get())
		}
		for _, a := range used {
			a.Release()
		}
		l.mu.Lock()
		unused := l.unused
		l.mu.Unlock()
		for range 1000 {
			runtime.GC()
			time.Sleep(time.Millisecond)
			l.mu.Lock()
			looked := l.unused != unused || len(l.large) == 0
			l.mu.Unlock()
			if looked {
				return
			}
		}
		t.Fatal("the collector never came")
	}
	round(0) // all were just used
	if n := idle(); n != 5 {
		t.Fatalf("%d arenas after the first round, want 5", n)
	}
	round(2)
	if n := idle(); n != 2 {
		t.Fatalf("%d arenas after a round in which two were used, want 2", n)
	}
	round(0)
	if n := idle(); n != 0 {
		t.Fatalf("%d arenas after a round in which none was used", n)
	}
}
