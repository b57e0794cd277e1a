package cores_test

import (
	"sync/atomic"
	"testing"

	"github.com/cairnml/cairn/internal/cores"
)

func TestEachNumberComesOnce(t *testing.T) {
	for _, n := range []int{-1, 0, 1, 2, 3, 100} {
		calls := make([]atomic.Int64, max(n, 0))
		cores.Each(n, func(i int) { calls[i].Add(1) })
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Errorf("of %d, number %d came %d times", n, i, got)
			}
		}
	}
}

// TestOneShareDoesntKeepOthersFromTheirs checks that a share that takes long, or whose
// goroutine isn't scheduled, doesn't block the others.
func TestOneShareDoesntKeepOthersFromTheirs(t *testing.T) {
	const n = 3
	rest := make(chan struct{}, n)
	cores.Each(n, func(i int) {
		if i == 0 {
			for range n - 1 {
				<-rest
			}
			return
		}
		rest <- struct{}{}
	})
}
