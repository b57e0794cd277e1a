// Package collect runs the garbage collector at points at which little memory is live.
// Packages savedmodel and savedmodel/run use it.
//
// The collector lets a heap grow in proportion to all that is live. If most of that are the
// weights of a model, without pointers to scan, its garbage may become as large as the
// weights. A collection costs little then. The functions here run it earlier, and never if
// the program has turned the collector off.
package collect

import (
	"math"
	"runtime"
	"runtime/metrics"
)

// heap is the state of the heap, in bytes.
type heap struct {
	objects uint64 // live objects, and garbage that wasn't collected
	live    uint64 // live objects after the last collection
	scan    uint64 // the part of objects that the collector scans
}

// read returns the state of the heap. ok is false if the collector is turned off.
func read() (h heap, ok bool) {
	now := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"},
		{Name: "/gc/scan/heap:bytes"}, {Name: "/gc/gogc:percent"},
	}
	metrics.Read(now)
	for _, s := range now {
		if s.Value.Kind() != metrics.KindUint64 {
			return heap{}, false
		}
	}
	h = heap{now[0].Value.Uint64(), now[1].Value.Uint64(), now[2].Value.Uint64()}
	return h, now[3].Value.Uint64() != math.MaxUint64
}

// Before runs the collector before weights of so many bytes are allocated, so that they
// reuse the memory that reading the objects has left as garbage. Otherwise the collector
// would run while they are read, or later, and the peak would include the garbage. It
// doesn't run if there is little garbage in proportion to the weights, or if the collector
// has more to scan than the weights have bytes.
func Before(weights int64) {
	h, ok := read()
	if n := uint64(weights); ok && h.live+n/4 < h.objects && h.scan < n {
		runtime.GC()
	}
}

// Least is the number of bytes that must be allocated between two collections by [Grown].
const Least = 12 << 20

// Grown runs the collector if so much was allocated since its last run that a collection is
// worth its time: [Least] bytes, and a quarter of the bytes that the collector scans. A call takes
// about a microsecond.
func Grown() {
	h, ok := read()
	if ok && h.objects > h.live+max(Least, h.scan/4) {
		runtime.GC()
	}
}
