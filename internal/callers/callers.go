// Package callers inspects the stack of the calling goroutine: the line of the
// program that calls, the depth of nested calls, and whether the call is inside
// a Go function that is being traced. Many packages use it.
package callers

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
)

// modulePath begins the names of functions in the packages below the root. The root package doesn't
// match. A fork under another path changes it.
const modulePath = "github.com/cairnml/cairn/"

// inLibrary reports whether a frame is this library's. Its tests count as programs.
func inLibrary(f runtime.Frame) bool {
	return strings.HasPrefix(f.Function, modulePath) && !strings.HasSuffix(f.File, "_test.go")
}

// Site returns the innermost line of the program outside of this library, as
// "file.go:12"; "" if none of the innermost 64 frames is a program's.
func Site() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if !inLibrary(f) && !strings.HasPrefix(f.Function, "runtime.") && f.File != "" {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// IsProgram reports whether the function that asks was called by the program
// itself, not by this library.
func IsProgram() bool {
	var pcs [1]uintptr
	if runtime.Callers(3, pcs[:]) == 0 {
		return true
	}
	f, _ := runtime.CallersFrames(pcs[:]).Next()
	return !inLibrary(f)
}

// DeeperThan reports whether the stack has more than so many frames, about: those of this function count.
func DeeperThan(frames int) bool {
	var pcs [1]uintptr
	return runtime.Callers(frames, pcs[:]) > 0
}

// Goroutine returns the number of the goroutine that asks, as stack traces show it.
func Goroutine() (n uint64) {
	var buf [32]byte
	for _, c := range buf[len("goroutine "):runtime.Stack(buf[:], false)] {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + uint64(c-'0')
	}
	return n
}

// tracing counts the functions that are being traced in all goroutines. If it
// is zero, no look at the stack is needed.
var tracing atomic.Int32

// Trace calls f, a Go function that is being traced; until it returns, [InTrace]
// is true for code called by f.
//
//go:noinline
func Trace(f func()) {
	tracing.Add(1)
	defer tracing.Add(-1)
	f()
}

// Outside calls f, for which [InTrace] is false even if it is true for the
// caller: f is meant to run once.
//
//go:noinline
func Outside(f func()) { f() }

// InTrace reports whether its caller runs inside of a Go function that is being
// traced, and on which line of the program.
func InTrace() (site string, ok bool) {
	if tracing.Load() == 0 {
		return "", false
	}
	walk(func(function string) bool {
		ok = strings.HasSuffix(function, traceFrame)
		return ok || strings.HasSuffix(function, outsideFrame)
	})
	if !ok {
		return "", false
	}
	return Site(), true
}

// The names of Trace and Outside in stack frames. The two must not be inlined or renamed alone.
const (
	traceFrame   = "internal/callers.Trace"
	outsideFrame = "internal/callers.Outside"
)

// RecordingKey is the key in the context of a scope whose ops are recorded. Its value has
// the method Recording, which reports whether that applies to the caller.
type RecordingKey struct{}

// Recording reports whether ctx comes from a scope whose ops are recorded.
func Recording(ctx context.Context) bool {
	r, ok := ctx.Value(RecordingKey{}).(interface{ Recording() bool })
	return ok && r.Recording()
}

// Traces returns how many functions this goroutine is tracing: one that is
// traced may apply another.
func Traces() int {
	if tracing.Load() == 0 {
		return 0
	}
	return Count(traceFrame)
}

// Count returns how often a function is on the stack, known by the end of its
// name.
func Count(name string) (n int) {
	walk(func(function string) bool {
		if strings.HasSuffix(function, name) {
			n++
		}
		return false
	})
	return n
}

// walk calls f for the functions on the stack, the innermost first, until it
// returns true.
func walk(f func(function string) (stop bool)) {
	// The wanted frame is mostly near.
	pcs := make([]uintptr, 64)
	for skip := 3; ; {
		found := runtime.Callers(skip, pcs)
		frames := runtime.CallersFrames(pcs[:found])
		for {
			frame, more := frames.Next()
			if f(frame.Function) {
				return
			}
			if !more {
				break
			}
		}
		if found < len(pcs) {
			return
		}
		skip += found
		pcs = make([]uintptr, min(4*len(pcs), 4096))
	}
}
