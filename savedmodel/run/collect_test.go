package run

import (
	"runtime"
	"runtime/debug"
	"testing"
)

var kept [][]byte

// TestGarbageIsCollectedBeforeWeightsAreRead checks that garbage is collected before
// weights are read, even if other models in the heap are larger than the
// weights; and that the collector doesn't run if there is little garbage.
func TestGarbageIsCollectedBeforeWeightsAreRead(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	const weights = 16 << 20
	kept = [][]byte{make([]byte, 4*weights)}
	defer func() { kept = nil }()
	runs := func(garbage int) uint32 {
		runtime.GC()
		for range garbage >> 10 {
			kept = append(kept[:1], make([]byte, 1<<10))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		collectBefore(weights)
		runtime.ReadMemStats(&after)
		return after.NumGC - before.NumGC
	}
	if n := runs(weights / 2); n == 0 {
		t.Error("half as much as the weights is left, and nothing is collected")
	}
	if n := runs(weights / 32); n != 0 {
		t.Errorf("little is left, and the collector runs %d times", n)
	}
}
