//go:build !linux

package main

import "os"

// maxRSS isn't known here.
func maxRSS(*os.ProcessState) int64 { return 0 }
