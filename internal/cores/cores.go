// Package cores shares work among the processor's cores. Packages bundle,
// checkpoint, hdf5 and trackable use it.
package cores

import (
	"sync"
	"sync/atomic"
)

// Each calls f once with each number below n, and returns when all calls have. n is the number of
// workers, such as GOMAXPROCS, since it starts n-1 goroutines. They and the caller take the numbers in
// order. The caller takes those that no goroutine has begun, so that it doesn't wait for a core that is
// busy with other work, such as collecting garbage. A panic of f ends the program.
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
