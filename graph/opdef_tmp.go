package graph

// OpDef is temporary.
type OpDef struct{}
