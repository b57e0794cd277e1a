//go:build !unix

package main

import "time"

var began = time.Now()

// cpuTime returns the seconds since the process began, if the system's count of busy
// processors isn't known.
func cpuTime() float64 { return time.Since(began).Seconds() }
