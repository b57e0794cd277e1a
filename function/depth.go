package function

import (
	"runtime"
	"strings"
	"sync/atomic"
)

// running counts the calls that run in all goroutines: where they are few, none can
// have called itself without end.
var running atomic.Int64

// manyCalls is how many calls may lie in each other.
const manyCalls = 500

// nestedCalls returns how many calls this goroutine is in.
func nestedCalls() (n int) {
	pcs := make([]uintptr, 1024)
	for skip := 2; ; skip += len(pcs) {
		found := runtime.Callers(skip, pcs)
		frames := runtime.CallersFrames(pcs[:found])
		for {
			f, more := frames.Next()
			if strings.HasSuffix(f.Function, "/function.(*Func[...]).Call") {
				n++
			}
			if !more {
				break
			}
		}
		if found < len(pcs) {
			return n
		}
	}
}
