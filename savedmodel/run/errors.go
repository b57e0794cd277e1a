package run

import (
	"fmt"

	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/savedmodel"
)

// SaverError reports variables whose values a registered saver wrote, so that
// the checkpoint has no entries for them. Only a program with that saver can
// read them. Such a program loads the model with LoadOptions.Partial and
// restores the variables' directory into [Model.Variable] with
// checkpoint.Savers.
type SaverError struct {
	// Saver is the saver's name, "package.name".
	Saver string
	// Paths are the paths of the variables to its objects.
	Paths []string
}

// Error returns the paths of the variables and a hint.
func (e *SaverError) Error() string {
	return fmt.Sprintf("savedmodel: the registered saver %q wrote the values of %s; load the model with LoadOptions.Partial, and restore %s with a saver of that name in checkpoint.Savers", e.Saver, nearest.Few(e.Paths), savedmodel.VariablesPrefix)
}
