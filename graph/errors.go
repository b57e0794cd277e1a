package graph

import (
	"fmt"
	"strings"
)

// NodeError names the node of a graph that failed. If the node is in a function
// that another node calls, the error of that node wraps it.
type NodeError struct {
	Node     string // the node's name
	Op       string // the op's name
	Function string // the function that contains the node; empty for a graph
	Site     string // the line of the Go program that made the node, if it is known
	Err      error  // the cause
}

// Error returns "model.go:12: MatMul node "dense/MatMul": cause".
func (e *NodeError) Error() string {
	var b strings.Builder
	if e.Site != "" {
		b.WriteString(e.Site + ": ")
	}
	fmt.Fprintf(&b, "%s node %q", e.Op, e.Node)
	if e.Function != "" {
		fmt.Fprintf(&b, " of function %s", e.Function)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

// Unwrap returns the cause.
func (e *NodeError) Unwrap() error { return e.Err }
