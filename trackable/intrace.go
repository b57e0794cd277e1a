package trackable

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/internal/callers"
)

// ErrInTrace is the error of reading or changing data in Go inside a function that
// is being traced: calls of the function would neither read nor change anything.
// Code that must run once belongs in ops.InitScope.
var ErrInTrace = errors.New("would happen once, while the function is traced, and not in its calls")

// refuse returns an error inside a function that is being traced; instead names
// the op that does the same in its calls.
func (v *Variable) refuse(what, instead string) error {
	site, ok := callers.InTrace()
	if !ok {
		return nil
	}
	return fmt.Errorf("%s: trackable: %s of variable %q %w; use %s, which does it in every call of the traced function", site, what, v.Name(), ErrInTrace, instead)
}

// mustBeOutside panics inside of a function that is being traced, which becomes
// the trace's error.
func (v *Variable) mustBeOutside(what, instead string) {
	if err := v.refuse(what, instead); err != nil {
		panic(err)
	}
}

const (
	readInstead  = "ops.ReadVariable, or the variable as an op's input"
	writeInstead = "ops.Assign, or another op that assigns"
)
