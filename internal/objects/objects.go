// Package objects finds its way in a checkpoint's object graph: which objects
// are optimizers, the tree that people read the graph as, and the variable that
// a path leads to. Packages checkpoint, convert, inspect and tensorfile use it.
package objects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
)

// Value is the name of the attribute that holds a variable's value.
const Value = "VARIABLE_VALUE"

// IsOptimizer reports whether a node is an optimizer: it owns slot variables, as
// tf_keras's do, or has the children that only optimizers have, a learning rate
// and a count of steps.
func IsOptimizer(n *pb.TrackableObject) bool {
	if len(n.SlotVariables) > 0 {
		return true
	}
	rate, steps := false, false
	for _, c := range n.Children {
		switch c.LocalName {
		case "learning_rate", "_learning_rate":
			rate = true
		case "iter", "iterations", "_iterations":
			steps = true
		}
	}
	return rate && steps
}

// Tree is a spanning tree of the graph, breadth first. The edges of optimizers
// are followed last. Thus an object is below an optimizer only if nothing else
// references it, and a layer's variables are found in the layer.
type Tree struct {
	Parent []int32 // of each node; -1 for the root and for nodes it doesn't reach
	Edge   []int32 // which of the parent's children it is
	Order  []int32 // the nodes that the root reaches, parents first
	// Optimizer reports for each node whether it is an optimizer. The root never
	// is one here, even if it owns slots.
	Optimizer []bool
	// State reports for each node whether it is below an optimizer.
	State []bool

	nodes []*pb.TrackableObject
}

// NewTree makes the tree of nodes. Edges to nodes that don't exist are ignored; package inspect reports
// them. The tree serves listings and pictures. It doesn't decide the keys of checkpoints: package
// checkpoint does, by TensorFlow's first paths.
func NewTree(nodes []*pb.TrackableObject) *Tree {
	n := len(nodes)
	t := &Tree{Parent: make([]int32, n), Edge: make([]int32, n), Optimizer: make([]bool, n), State: make([]bool, n), nodes: nodes}
	if n == 0 {
		return t
	}
	seen := make([]bool, n)
	for i, o := range nodes {
		t.Parent[i] = -1
		t.Optimizer[i] = i > 0 && IsOptimizer(o)
	}
	var held []int32 // optimizers, whose children come last
	walk := func(queue []int32, state bool) {
		for ; len(queue) > 0; queue = queue[1:] {
			at := queue[0]
			for k, c := range nodes[at].Children {
				if c.NodeId < 0 || int(c.NodeId) >= n || seen[c.NodeId] {
					continue
				}
				seen[c.NodeId] = true
				t.Parent[c.NodeId], t.Edge[c.NodeId], t.State[c.NodeId] = at, int32(k), state
				t.Order = append(t.Order, c.NodeId)
				if t.Optimizer[c.NodeId] && !state {
					held = append(held, c.NodeId)
					continue
				}
				queue = append(queue, c.NodeId)
			}
		}
	}
	seen[0] = true
	t.Order = append(t.Order, 0)
	walk([]int32{0}, false)
	walk(held, true)
	return t
}

// MaxPath is the most bytes of a path that [Tree.Path] returns whole, counting a "/" for each edge. "…"
// and the number of a node replace the beginning of a longer one. Files can have graphs so deep that all
// paths together would fill any memory. The number is Cairn's and may change.
const MaxPath = 512

// Path returns the path to a node in the tree, edges joined by "/"; "" for the
// root and for nodes it doesn't reach.
func (t *Tree) Path(i int) string {
	var labels []string
	for n, at := 0, int32(i); t.Parent[at] >= 0; at = t.Parent[at] {
		label := t.nodes[t.Parent[at]].Children[t.Edge[at]].LocalName
		if n += len(label) + 1; n > MaxPath {
			labels = append(labels, fmt.Sprintf("…%d", at))
			break
		}
		labels = append(labels, label)
	}
	slices.Reverse(labels)
	return strings.Join(labels, "/")
}

// Key finds the checkpoint key of the value to which path leads from the root:
// edges joined by "/". The last name may be that of a slot of the variable before
// it. An object's value is its attribute [Value], or its only attribute. Any path
// to the object is accepted. ok is false if there is none.
func Key(nodes []*pb.TrackableObject, path string) (key string, ok bool) {
	type place struct {
		node int32
		at   int // length of the consumed part of the path
	}
	if len(nodes) == 0 || path == "" {
		return "", false
	}
	slots := map[int32][]*pb.SlotVariableReference{}
	for _, n := range nodes {
		for _, s := range n.SlotVariables {
			slots[s.OriginalVariableNodeId] = append(slots[s.OriginalVariableNodeId], s)
		}
	}
	seen := map[place]bool{{}: true}
	queue := []place{{}}
	step := func(from place, label string, to int32) {
		rest, found := strings.CutPrefix(path[from.at:], label)
		if !found || label == "" || to < 0 || int(to) >= len(nodes) || rest != "" && rest[0] != '/' {
			return
		}
		next := place{to, len(path)}
		if rest != "" {
			next.at -= len(rest) - 1
		}
		if !seen[next] {
			seen[next] = true
			queue = append(queue, next)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		n := nodes[p.node]
		if p.at == len(path) {
			for _, a := range n.Attributes {
				if a.Name == Value || len(n.Attributes) == 1 {
					return a.CheckpointKey, true
				}
			}
			continue
		}
		for _, c := range n.Children {
			step(p, c.LocalName, c.NodeId)
		}
		for _, s := range slots[p.node] {
			step(p, s.SlotName, s.SlotVariableNodeId)
		}
	}
	return "", false
}
