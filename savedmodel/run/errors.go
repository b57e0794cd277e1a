package run

import (
	"fmt"

	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/savedmodel"
)

// SaverError says that variables have no values of their own in the checkpoint: a
// registered saver wrote them, which only the program that has it can read. Such a
// program loads the model with LoadOptions.Partial and restores the variables'
// folder into [Model.Variable] with checkpoint.Savers.
type SaverError struct {
	// Saver is the saver's name, "package.name".
	Saver string
	// Paths are the paths of the variables to its objects.
	Paths []string
}

// Error returns what is missing and what to do.
func (e *SaverError) Error() string {
	return fmt.Sprintf("savedmodel: the registered saver %q wrote the values of %s: load the model with LoadOptions.Partial, and restore %s with a saver of that name in checkpoint.Savers", e.Saver, nearest.Few(e.Paths), savedmodel.VariablesPrefix)
}
