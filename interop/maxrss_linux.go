package main

import (
	"os"
	"syscall"
)

// maxRSS returns the most memory that a process had, in bytes.
func maxRSS(p *os.ProcessState) int64 { return int64(p.SysUsage().(*syscall.Rusage).Maxrss) << 10 }
