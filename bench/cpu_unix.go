//go:build unix

package main

import "golang.org/x/sys/unix"

// cpuTime returns the seconds that the process has kept processors busy, 0 if the system
// has no answer.
func cpuTime() float64 {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) * 1e-9
}
