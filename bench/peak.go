package main

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

//go:generate sh -c "cd _asm && go run ."

// peakVerb returns the work of the peer "peak" (peer.go) for a line of its input: the number
// of float32 multiply-adds. They run in registers, on all cores, so no product of matrices
// with as many takes less time on this machine. It is nil if the line is no number, or if
// there is no loop for the machine; then bench starts no such peer (startPeak).
func peakVerb(line string) verb {
	const rounds = 1 << 12       // of the loop that a worker takes at a time: some microseconds
	loop, each := multiplyAdds() // each: multiply-adds of a round
	n, err := strconv.ParseFloat(line, 64)
	if err != nil || loop == nil {
		return nil
	}
	return func(context.Context) error {
		var left atomic.Int64
		left.Store(int64(n) / int64(each))
		var workers sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				for {
					rest := left.Add(-rounds) + rounds
					if rest <= 0 {
						return
					}
					loop(int(min(rest, rounds)))
				}
			})
		}
		workers.Wait()
		return nil
	}
}
