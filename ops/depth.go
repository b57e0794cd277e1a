package ops

import (
	"errors"

	"github.com/cairnml/cairn/internal/callers"
)

// ErrRecursive is the error of a function that calls itself without end.
var ErrRecursive = errors.New("function: the function calls itself; ops.While loops")

// A Go function that calls itself without end fills the stack. That ends the process,
// and no program can recover from it. So a scope checks the depth of the stack after each
// checkDepth ops. The numbers are Cairn's. They may change as long as sound programs stay
// below them.
const (
	checkDepth = 1024   // ops between two checks
	maxFrames  = 20_000 // the depth of the stack, in calls

	maxBranches = 200 // the nesting limit of branches that are traced
)

// checkStack panics with [ErrRecursive] if the stack is too deep. Package function recovers
// the panic.
func checkStack() {
	if callers.DeeperThan(maxFrames) {
		panic(ErrRecursive)
	}
}
