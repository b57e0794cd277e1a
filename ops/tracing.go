package ops

import "github.com/cairnml/cairn/internal/callers"

// Run calls f, the Go function that is being traced. Until it returns, [InTrace]
// reports true for functions that f calls.
func (t *Trace) Run(f func()) { callers.Trace(f) }

// InTrace reports whether its caller runs inside of a Go function that is being
// traced, and on which line of the program. An operation there on anything but
// values happens once, and not in the calls of the traced function: functions
// that read or write a number without a scope refuse to.
func InTrace() (site string, ok bool) { return callers.InTrace() }

// InitScope calls f as if it were outside of all functions that are being
// traced, as TensorFlow's init_scope does: for operations that have to happen
// once, such as making a variable whose first value is that of others. The
// values of a trace can't be used in it.
func InitScope(f func()) { callers.Outside(f) }

// TraceDepth returns how many Go functions that are being traced its caller runs
// inside of: one that is traced may apply another.
func TraceDepth() int { return callers.Traces() }
