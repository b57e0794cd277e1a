//go:build !unix

package main

import "time"

var began = time.Now()

// cpuTime returns the seconds since the process began, because the processors' time isn't
// known on these systems.
func cpuTime() float64 { return time.Since(began).Seconds() }
