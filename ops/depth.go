package ops

import (
	"errors"

	"github.com/cairnml/cairn/internal/callers"
)

// ErrRecursive is the error of a function that calls itself without end.
var ErrRecursive = errors.New("function: the function calls itself; ops.While loops")

// A Go function that calls itself without end takes the process with it when the
// stack is full, which nothing can recover from. So every some thousand ops look
// how deep they are: no sound program comes near.
const (
	checkDepth = 1024   // ops
	maxFrames  = 20_000 // of the stack

	maxBranches = 200 // the nesting limit of branches that are traced
)

// checkStack panics with [ErrRecursive] where the stack is too deep.
func checkStack() {
	if callers.DeeperThan(maxFrames) {
		panic(ErrRecursive)
	}
}
