//go:build !linux

package main

import "os"

// maxRSS returns 0, because the memory isn't known here.
func maxRSS(*os.ProcessState) int64 { return 0 }
