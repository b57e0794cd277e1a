// Package cores shares work among the processor's cores. Packages bundle,
// checkpoint, hdf5 and trackable use it.
package cores

import (
	"sync"
	"sync/atomic"
)

// Each calls f once with each number below n, and returns when all calls have. The caller
// makes calls as n-1 goroutines do, in the order of the numbers. It takes over the calls
// that no goroutine has begun when it is free, so that it doesn't wait for a core that is
// busy with other work, such as collecting garbage.
func Each(n int, f func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			f(i)
		}
	}
	var others sync.WaitGroup
	for range n - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}
