package idle

import (
	"runtime"
	"testing"
	"time"
)

// TestLastIsFirst checks that the next caller gets the last object, on any
// processor.
func TestLastIsFirst(t *testing.T) {
	var l List[*int]
	a, b := new(int), new(int)
	l.Put(a)
	l.Put(b)
	got := make(chan *int)
	go func() {
		x, _ := l.Get()
		got <- x
	}()
	if x := <-got; x != b {
		t.Errorf("another goroutine didn't get what was given back last")
	}
	if x, ok := l.Get(); !ok || x != a {
		t.Errorf("then comes %p, %v, want the one before", x, ok)
	}
	if x, ok := l.Get(); ok || x != nil {
		t.Errorf("an empty list gave %p, %v", x, ok)
	}
}

// TestUnusedEnd holds objects to be given up when they weren't used between two rounds of
// the garbage collector, and those that were to stay.
func TestUnusedEnd(t *testing.T) {
	l := new(List[*int])
	for range 5 {
		l.Put(new(int))
	}
	// round collects until the objects were looked at.
	round := func(use int) {
		var used []*int
		for range use {
			x, _ := l.Get()
			used = append(used, x)
		}
		for _, x := range used {
			l.Put(x)
		}
		l.mu.Lock()
		unused := l.unused
		l.mu.Unlock()
		for range 1000 {
			runtime.GC()
			time.Sleep(time.Millisecond)
			l.mu.Lock()
			looked := l.unused != unused || len(l.items) == 0
			l.mu.Unlock()
			if looked {
				return
			}
		}
		t.Fatal("the collector never came")
	}
	for _, test := range []struct{ used, want int }{
		{0, 5}, // all were just put there
		{2, 2},
		{0, 0},
	} {
		round(test.used)
		if n := l.Len(); n != test.want {
			t.Fatalf("%d objects after a round in which %d were used, want %d", n, test.used, test.want)
		}
	}
}
