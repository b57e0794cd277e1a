package engine

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// PanicError is a panic that was recovered at the boundary of a call.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // the stack at the panic
}

// NewPanicError wraps a recovered value with the current stack, or with the
// stack of the worker that panicked.
func NewPanicError(r any) *PanicError {
	if p, ok := r.(*WorkerPanic); ok {
		return &PanicError{Value: p.Value, Stack: p.Stack}
	}
	return &PanicError{Value: r, Stack: debug.Stack()}
}

// Error returns the panic's value and the line where it happened; Stack holds
// the way there.
func (e *PanicError) Error() string {
	if site := e.Site(); site != "" {
		return fmt.Sprintf("%s: panic: %v", site, e.Value)
	}
	return fmt.Sprintf("panic: %v", e.Value)
}

// Site returns the innermost line outside of this library that led to the panic,
// such as "model.go:12". If there is none, it is the line of this library that
// panicked, and empty without a stack.
func (e *PanicError) Site() string {
	_, rest, found := strings.Cut("\n"+string(e.Stack), "\npanic(")
	if !found {
		return ""
	}
	lines := strings.Split(rest, "\n")
	first := ""
	for i := 2; i+1 < len(lines); i += 2 { // a function's line, and its file's
		if strings.HasPrefix(lines[i], "runtime.") || strings.HasPrefix(lines[i], "panic(") {
			continue
		}
		if strings.HasPrefix(lines[i], "created by ") {
			break
		}
		at, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
		at = at[strings.LastIndexByte(at, '/')+1:]
		if !strings.HasPrefix(lines[i], "github.com/cairnml/cairn/") || strings.Contains(at, "_test.go:") {
			return at
		}
		if first == "" {
			first = at
		}
	}
	return first
}

// Unwrap returns the panic's value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// MissingError lists the ops of a function, or of a model, that have no kernel.
type MissingError struct {
	Ops []MissingOp
}

// MissingOp is an op without a kernel, and the nodes that use it.
type MissingOp struct {
	Op    string
	Nodes []string // "function/node", the first few
	Count int      // how many nodes
}

// Error lists the ops and a node of each.
func (e *MissingError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no kernel for %d of the ops that are needed:", len(e.Ops))
	for _, m := range e.Ops {
		fmt.Fprintf(&b, "\n  %s (%d nodes: %s)", m.Op, m.Count, strings.Join(m.Nodes, ", "))
	}
	b.WriteString("\nengine.KernelSet.With adds kernels")
	return b.String()
}
