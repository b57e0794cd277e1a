package ops

import (
	"runtime"
	"strings"
	"sync/atomic"
)

// tracing counts the functions that are being traced in all goroutines: where
// there is none, [InTrace] need not look.
var tracing atomic.Int32

// Run calls f, the Go function that is being traced; until it returns, [InTrace]
// holds for what f calls.
//
//go:noinline
func (t *Trace) Run(f func()) {
	tracing.Add(1)
	defer tracing.Add(-1)
	f()
}

// InTrace reports whether its caller runs inside of a Go function that is being
// traced, and on which line of the program. What is done there to anything but
// values is done once, and not by the calls of the traced function: functions
// that read or write a number without a scope refuse to.
func InTrace() (site string, ok bool) {
	if traces(1) == 0 {
		return "", false
	}
	return callSite(), true
}

// TraceDepth returns how many Go functions that are being traced its caller runs
// inside of: one that is traced may apply another.
func TraceDepth() int { return traces(1 << 30) }

// traces returns how many functions this goroutine is tracing, at most most.
func traces(most int) (n int) {
	if tracing.Load() == 0 {
		return 0
	}
	// The stack is that of this goroutine: a trace of another one isn't on it.
	pcs := make([]uintptr, 64)
	for {
		n := runtime.Callers(3, pcs)
		if n < len(pcs) {
			pcs = pcs[:n]
			break
		}
		pcs = make([]uintptr, 2*len(pcs))
	}
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "/ops.(*Trace).Run") {
			if n++; n == most {
				return n
			}
		}
		if !more {
			return n
		}
	}
}
