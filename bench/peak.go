package main

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

//go:generate sh -c "cd _asm && go run ."

// peakVerb returns the work of as many multiply-adds as the line has, in registers, on
// all cores: no product of matrices with as many takes less time on this machine. It is
// nil if the line has no number or there is no loop for the machine.
func peakVerb(line string) verb {
	const rounds = 1 << 12 // some microseconds
	loop, each := multiplyAdds()
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
