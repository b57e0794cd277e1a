// Package cores shares work among the processor's cores.
package cores

import (
	"sync"
	"sync/atomic"
)

// Each calls f once with each number below n, and returns when all calls have. The caller
// makes calls as n-1 goroutines do, in the order of the numbers: what none of them has
// begun with when the caller is free is the caller's, so that a core which is busy with
// something else, as collecting garbage, isn't waited for.
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
