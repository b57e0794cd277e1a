package checkpoint

import (
	"fmt"

	"github.com/cairnml/cairn/trackable"
)

// WrittenError reports that values of a restore came too late for their
// variables. Training or an assignment had written these after their creation
// and before they became part of the object graph that the restore uses.
// Nothing was overwritten. Calls and saves are refused until the caller decides
// which value counts.
type WrittenError struct {
	Path    string // the checkpoint
	Written []Item // the variables
	InStep  bool   // the step that has just run made them and computed with them

	variables []*trackable.Variable
}

// Error names the variables and the remedies.
func (e *WrittenError) Error() string {
	if e.InStep {
		return fmt.Sprintf("checkpoint: this call made %s and computed with first values, while %s holds others: put objects into their fields before the call:%s",
			inWords(len(e.Written), "variable"), e.Path, list(e.Written))
	}
	return fmt.Sprintf("checkpoint: %s holds values for %s written since being made, and not restored for that: put objects into their fields before they are used, restore again to take the checkpoint's values, or keep the variables' own with Report.ExpectPartial:%s",
		e.Path, inWords(len(e.Written), "variable"), list(e.Written))
}

// UnfilledError reports that a variable was created below an object that a
// strict restore filled, and that the checkpoint has no value for it. It would
// be used with its initial, mostly random, value.
type UnfilledError struct {
	Path     string // the checkpoint
	Unfilled []Item // the variables

	variables []*trackable.Variable
}

// Error names the variables and the remedies.
func (e *UnfilledError) Error() string {
	return fmt.Sprintf("checkpoint: no value in %[2]s for %[1]s made since it was restored, which would be used with initial values; RestoreOptions.AllowMissing and Report.AllowMissing allow that:%[3]s",
		inWords(len(e.Unfilled), "variable"), e.Path, list(e.Unfilled))
}
