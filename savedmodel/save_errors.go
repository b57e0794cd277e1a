package savedmodel

import "fmt"

// A SaveError explains why a model can't be saved. Files that were already
// written are removed, and an older model stays.
type SaveError struct {
	// Path leads from the root to the object, edges joined by dots; "(root)" for the
	// root, "" if the error belongs to no object.
	Path string
	Err  error
}

// Error returns the object's path and the cause.
func (e *SaveError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("savedmodel: save: %v", e.Err)
	}
	return fmt.Sprintf("savedmodel: save %s: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *SaveError) Unwrap() error { return e.Err }

// An UntrackedCaptureError reports a function that captures an object to which
// no edge of the saved graph leads. A loader would have no value for it.
type UntrackedCaptureError struct {
	// Function is the path of the function, Argument its argument for the capture.
	Function, Argument string
	// Capture describes the object: `variable "w"`.
	Capture string
}

// Error returns the function, the captured object and a hint.
func (e *UntrackedCaptureError) Error() string {
	return fmt.Sprintf("savedmodel: save %s: the function captures %s (argument %q), which the root does not reach; make it an exported field of an object that the root reaches, or attach it", e.Function, e.Capture, e.Argument)
}
