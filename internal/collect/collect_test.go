package collect

import (
	"runtime"
	"runtime/debug"
	"testing"
)

var kept [][]byte

// collections returns how often the collector runs in a call of f that follows the
// allocation of so many bytes of garbage, beside as many live bytes.
func collections(live, garbage int, f func()) uint32 {
	kept = [][]byte{make([]byte, live)}
	defer func() { kept = nil }()
	runtime.GC()
	for range garbage >> 10 {
		kept = append(kept[:1], make([]byte, 1<<10))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.NumGC - before.NumGC
}

// TestGarbageIsCollectedBeforeWeightsAreRead checks that garbage is collected before
// weights are read, even if other models in the heap are larger than the
// weights; and that the collector doesn't run if there is little garbage.
func TestGarbageIsCollectedBeforeWeightsAreRead(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	const weights = 16 << 20
	before := func() { Before(weights) }
	if n := collections(4*weights, weights/2, before); n == 0 {
		t.Error("half as much as the weights is left, and nothing is collected")
	}
	if n := collections(4*weights, weights/32, before); n != 0 {
		t.Errorf("little is left, and the collector runs %d times", n)
	}
}

// TestGarbageIsCollectedWhenTheHeapHasGrown checks that the live bytes of weights don't
// delay a collection, and that a program's choice to collect nothing is respected.
func TestGarbageIsCollectedWhenTheHeapHasGrown(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	if n := collections(8*Least, 2*Least, Grown); n == 0 {
		t.Error("the heap has grown, and nothing is collected")
	}
	if n := collections(8*Least, Least/2, Grown); n != 0 {
		t.Errorf("little was allocated, and the collector runs %d times", n)
	}
	debug.SetGCPercent(-1)
	if n := collections(Least, 2*Least, Grown); n != 0 {
		t.Errorf("the collector is turned off, and runs %d times", n)
	}
}
