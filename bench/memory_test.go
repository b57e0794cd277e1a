package main

import (
	"os"
	"runtime"
	"testing"
)

// A peak is that of the work since it was begun, not of memory that the work before
// left to the collector.
func TestAPeakBeginsWithoutWhatWasUsedBefore(t *testing.T) {
	if _, err := residentPeak(); err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat("/proc/self/clear_refs"); err != nil {
		t.Skip(err)
	}
	used := make([]byte, 256<<20)
	for i := 0; i < len(used); i += 4096 {
		used[i] = 1
	}
	runtime.KeepAlive(used)
	used = nil
	if err := forgetPeak(); err != nil {
		t.Skip(err) // not every sandbox has peaks begun anew
	}
	peak, err := residentPeak()
	if err != nil {
		t.Fatal(err)
	}
	// The memory in use is measured after the work: the race detector keeps the shadow
	// of memory that was returned to the system.
	now, err := residentNow()
	if err != nil {
		t.Fatal(err)
	}
	if above := peak - now; above > 128<<20 {
		t.Errorf("the peak begins %d MiB above what is in use", above>>20)
	}
}
