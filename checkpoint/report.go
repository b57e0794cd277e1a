package checkpoint

import (
	"github.com/cairnml/cairn/tensor"
)

// Report says what a restore did and what it left open.
type Report struct {
	// Path is the checkpoint's prefix; "" where nothing was restored.
	Path string
	// Restored are the values that objects have now.
	Restored []Item
	// Deferred are values that wait for an object that doesn't exist yet.
	Deferred []Item
	// Missing are objects for which the checkpoint holds no value.
	Missing []Item
	// Mismatched are values of another type or shape than the object's.
	Mismatched []Item
	// Unused are values that no object can claim.
	Unused []Item
}

// Item is one value of a [Report].
type Item struct {
	// Path is the object's path with dots, "(root)" for the root.
	Path string
	// Attribute is the attribute's name, "VARIABLE_VALUE" for variables.
	Attribute string
	// Key is the tensor's name in the checkpoint, "" where there is none.
	Key string
	// DType and Shape are the checkpoint's.
	DType tensor.DType
	Shape tensor.Shape
	// Why says what is wrong, "" where nothing is.
	Why string
	// Nearest are similar names on the other side, best first.
	Nearest []string
}

// AssertConsumed is nil if every value of the checkpoint was restored and every
// object found one.
func (r *Report) AssertConsumed() error { return nil }

// AssertExistingObjectsMatched is nil if every object that exists has its value
// from the checkpoint.
func (r *Report) AssertExistingObjectsMatched() error { return nil }

// AssertNontrivialMatch is nil if something below the root matched.
func (r *Report) AssertNontrivialMatch() error { return nil }

// ExpectPartial says that what still waits needn't ever be delivered, so that
// the next save isn't refused; it returns r.
func (r *Report) ExpectPartial() *Report { return r }

// Current is the report as it stands now, after deliveries.
func (r *Report) Current() *Report { return r }

// RestoreError says why a restore was refused before anything changed.
type RestoreError struct {
	Path       string
	Missing    []Item
	Mismatched []Item
	Unused     []Item
}

// Error lists the faults and what to do.
func (e *RestoreError) Error() string { return "" }

// PendingError says that a save was refused because values of an earlier restore
// still wait for their objects.
type PendingError struct {
	Path     string
	Deferred []Item
}

// Error lists what waits.
func (e *PendingError) Error() string { return "" }
