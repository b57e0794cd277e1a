package engine

import (
	"runtime"
	"testing"
	"time"
)

// TestLargeArenasFollowTheirCallers checks that the memory of an arena is
// available to the next caller on any processor.
func TestLargeArenasFollowTheirCallers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var l idleArenas
	a := l.get()
	a.Alloc(2 * largeArena)
	a.Close()
	got := make(chan *Arena)
	go func() { got <- l.get() }()
	// The other goroutine runs on another processor, because this one does not
	// yield.
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
	b.Close()
	c, d := l.get(), l.get()
	if c != a || d == a {
		t.Errorf("of two calls at once one gets the arena: %v, %v", c == a, d == a)
	}
}

// TestScratchMakesNoGarbage checks that the next op reuses the memory that a
// kernel borrows, and the function that returns it.
func TestScratchMakesNoGarbage(t *testing.T) {
	env := &Env{Arena: NewArena()}
	defer env.Arena.Close()
	var c Call
	c.begin(t.Context(), env)
	round := func() {
		c.next()
		for range 3 {
			_, free := c.Scratch(1000)
			defer free()
		}
		Scratch[float64](&c, 100) // left to the call
		c.freeScratch()
	}
	round()
	before := env.Arena.inUse
	if n := testing.AllocsPerRun(20, round); n > 0 {
		t.Errorf("%v allocations for memory that was borrowed before", n)
	}
	if now := env.Arena.inUse; now != before {
		t.Errorf("%d bytes in use behind it, %d before", now, before)
	}
}

// TestScratchIsGivenBackOnce checks that a second call of free has no effect.
func TestScratchIsGivenBackOnce(t *testing.T) {
	env := &Env{Arena: NewArena()}
	defer env.Arena.Close()
	var c Call
	c.begin(t.Context(), env)
	_, free := c.Scratch(1000)
	free()
	free()
	a, _ := c.Scratch(1000)
	b, _ := c.Scratch(1000)
	if &a[0] == &b[0] {
		t.Error("memory that was given back twice is lent twice")
	}
	c.freeScratch()
}
