package restoring

// Acceptance is an answer to whether an object can still get a child on an
// edge.
type Acceptance uint8

const (
	AcceptNo    Acceptance = iota // nothing can appear there
	AcceptMaybe                   // anything can be attached to the object
	AcceptYes                     // the object has a place for it
)
