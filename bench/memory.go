package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// residentNow returns the resident memory of the process in bytes, after unused memory
// has been returned.
func residentNow() (int64, error) {
	debug.FreeOSMemory()
	return status("VmRSS:")
}

// residentPeak returns the greatest resident memory in bytes since the last forgetPeak, or
// since the process began.
func residentPeak() (int64, error) { return status("VmHWM:") }

// forgetPeak resets the peak to the resident memory after unused memory has been
// returned: memory of earlier work doesn't count.
func forgetPeak() error {
	debug.FreeOSMemory()
	return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// status returns a field of Linux's /proc/self/status, converted from KiB to bytes. On other
// systems it returns an error.
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
