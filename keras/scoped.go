package keras

import "github.com/cairnml/cairn/trackable"

// ErrInTrace reports a call of a method without a scope inside of a function that is
// being traced. A Go number that a function reads there would keep its value in all later
// calls.
var ErrInTrace = trackable.ErrInTrace
