package restoring

import "context"

// Watcher delivers the restores of one root for the steps that run under a
// trackable.Gate. A step may belong to another root, so errors of a watcher's objects are
// returned by these objects (SetVariableFault and SetNodeFault of trackable.Internal) when they are
// used.
type Watcher interface {
	// BeforeStep delivers pending values to objects that have appeared.
	BeforeStep(ctx context.Context) Watch
	// AfterStep delivers them too. The error means that the step made variables
	// which a restore should have filled before they were used. before is the number
	// of variables that the process had made when the step began.
	AfterStep(ctx context.Context, before uint64) (Watch, error)
}

// Watch is the time at which a [Watcher] must be called again.
type Watch uint8

const (
	WatchEnded     Watch = iota // never: nothing is pending and nothing guarded
	WatchVariables              // once variables have been made
	WatchSteps                  // at every step
)
