//go:build !unix

// Package processor measures how long this process has worked. Tests with deadlines use it,
// because other processes may keep the machine busy. Tests of algorithms that must be linear use it too.
package processor

import "time"

// Time returns the time since the process started, because this system has no better measure.
func Time() time.Duration { return time.Since(start) }

var start = time.Now() // of the process, nearly
