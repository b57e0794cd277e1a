package base

import (
	"fmt"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// Outside returns an error if it is called inside of a function that is being traced,
// nil elsewhere. A Go number that a function reads there would keep its value in all
// later calls. The error wraps [trackable.ErrInTrace]; it names the package and the
// method, and the method's form that takes a scope. Methods of metrics and optimizers that
// return Go numbers begin with it.
func Outside(pkg, method, scoped string) error {
	site, ok := ops.InTrace()
	if !ok {
		return nil
	}
	return fmt.Errorf("%s: %s: %s %w; use %s, which does it in every call of the traced function", site, pkg, method, trackable.ErrInTrace, scoped)
}
