package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// residentNow returns what the process takes in memory, after what can be given
// back has been.
func residentNow() (int64, error) {
	debug.FreeOSMemory()
	return status("VmRSS:")
}

// residentPeak returns the most that the process has taken since forgetPeak, or ever.
func residentPeak() (int64, error) { return status("VmHWM:") }

// forgetPeak begins the peak anew at what the process takes after what can be given back
// has been: memory that earlier work used is no part of what comes.
func forgetPeak() error {
	debug.FreeOSMemory()
	return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// status reads a line of Linux's /proc; elsewhere it is an error.
func status(field string) (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("no %s in /proc/self/status", field)
}
