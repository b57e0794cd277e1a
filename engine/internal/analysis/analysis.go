// Package analysis finds the properties of a function that both the executor and the
// graph passes need: its constants, its branches, and the values that are the same
// in all calls.
package analysis

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// ConstantOf returns the value of a Const node, and whether n is one.
func ConstantOf(n *graph.Node) (*tensor.Tensor, bool) {
	if n.Op != "Const" {
		return nil, false
	}
	t := n.Attrs.Tensor("value")
	return t, t != nil
}

// WantsRef reports whether n accepts input i as a reference to a variable of
// TensorFlow 1, not as the variable's value.
func WantsRef(n *graph.Node, i int) bool {
	return n.Def != nil && n.Def.InputIsRef(n.Attrs, i)
}

// CallsFunctions reports whether n has a function among its attributes.
func CallsFunctions(n *graph.Node) bool {
	return slices.ContainsFunc(n.Attrs, func(a graph.Attr) bool { return a.Kind == graph.AttrFunc || a.Kind == graph.AttrFuncs })
}

// IsBranch reports whether op is Switch or Merge, the conditional ops of
// TensorFlow 1. Graphs contain them if graph/raise could not turn them into an If
// or a While.
func IsBranch(op string) bool {
	switch op {
	case "Switch", "RefSwitch", "Merge", "RefMerge":
		return true
	}
	return false
}

// IsMerge reports whether op is a Merge.
func IsMerge(op string) bool { return op == "Merge" || op == "RefMerge" }

// HasBranches reports whether f contains a Switch or a Merge. The functions that f
// calls are not searched. If f has one, values in it may be dead (engine/dead.go). So
// no pass rewrites f, and nothing in it is invariant.
func HasBranches(f *graph.Function) bool {
	return slices.ContainsFunc(f.Graph.Nodes(), func(n *graph.Node) bool { return IsBranch(n.Op) })
}
