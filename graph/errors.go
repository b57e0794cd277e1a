package graph

import (
	"fmt"
	"strings"
)

// NodeError says which node of a graph failed. Where the node stands in a
// function that another node calls, that one's error wraps it.
type NodeError struct {
	Node     string // the node's name
	Op       string // the op's name
	Function string // the function that the node stands in; empty for a graph
	Site     string // the line of the Go program that made the node, where known
	Err      error  // what is wrong
}

// Error returns "model.go:12: MatMul node "dense/MatMul": what is wrong".
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

// Unwrap returns what is wrong.
func (e *NodeError) Unwrap() error { return e.Err }
