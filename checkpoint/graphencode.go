package checkpoint

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/trackable"
)

// savedGraph is the object graph that a snapshot writes: the walk, and the
// attributes of each object. There may be very many objects, most of them
// variables. Protobuf messages for them would take several times the memory of
// their encoding.
type savedGraph struct {
	walk *trackable.Graph
	// The keys of the variables' values, by node; "" for all else.
	keys []string
	// The attributes of the other objects, and their registered savers, by node.
	attributes map[int][]pb.SerializedTensor
	savers     map[int]pb.RegisteredSaver
}

// saves reports whether a node itself has values in the checkpoint. An optimizer with slot
// variables has.
func (g *savedGraph) saves(id int) bool {
	_, saver := g.savers[id]
	return g.keys[id] != "" || len(g.walk.Nodes[id].Slots) > 0 || saver || len(g.attributes[id]) > 0
}

// The numbers of the fields of TrackableObjectGraph and TrackableObject
// (trackable_object_graph.proto). Those of their parts are numbers in encode.
const (
	graphNodes = 1

	nodeChildren   = 1
	nodeAttributes = 2
	nodeSlots      = 3
	nodeSaver      = 4
	nodeHasValues  = 5
)

// encode returns the encoded message. Fields are in the order of their numbers, as protobuf writes them: the
// bytes of checkpoints depend on it.
func (g *savedGraph) encode() []byte {
	has := g.hasValues()
	size := 0
	for id := range g.walk.Nodes {
		size += len(g.walk.Nodes[id].FullName) + len(g.keys[id]) + 56 // bytes of a node, about
	}
	out := make([]byte, 0, size)
	var node, part []byte
	for id := range g.walk.Nodes {
		n := &g.walk.Nodes[id]
		node = slices.Grow(node[:0], 20*len(n.Edges))
		for _, e := range n.Edges {
			part = appendNumber(part[:0], 1, e.ID)
			part = appendText(part, 2, e.Name)
			node = appendPart(node, nodeChildren, part)
		}
		if key := g.keys[id]; key != "" {
			part = appendText(part[:0], 1, trackable.VariableValue)
			part = appendText(part, 2, n.FullName)
			part = appendText(part, 3, key)
			node = appendPart(node, nodeAttributes, part)
		}
		for i := range g.attributes[id] {
			part = g.attributes[id][i].AppendTo(part[:0])
			node = appendPart(node, nodeAttributes, part)
		}
		for _, s := range n.Slots {
			part = appendNumber(part[:0], 1, s.Variable)
			part = appendText(part, 2, s.Name)
			part = appendNumber(part, 3, s.ID)
			node = appendPart(node, nodeSlots, part)
		}
		if r, ok := g.savers[id]; ok {
			part = r.AppendTo(part[:0])
			node = appendPart(node, nodeSaver, part)
		}
		part = part[:0] // an empty message is false: TensorFlow writes it too
		if has[id] {
			part = appendNumber(part, 1, 1)
		}
		node = appendPart(node, nodeHasValues, part)
		out = appendPart(out, graphNodes, node)
	}
	return out
}

// hasValues returns has_checkpoint_values of every node: true of those that save
// something, and of all from which one of them can be reached.
func (g *savedGraph) hasValues() []bool {
	nodes := g.walk.Nodes
	// At the end, the parents of node i are parents[first[i]:first[i+1]]. Until then, counts are
	// two places further on, and then starts one place.
	first := make([]int32, len(nodes)+2)
	for id := range nodes {
		for _, e := range nodes[id].Edges {
			first[e.ID+2]++
		}
	}
	for i := range nodes {
		first[i+2] += first[i+1]
	}
	parents := make([]int32, first[len(nodes)+1])
	for id := range nodes {
		for _, e := range nodes[id].Edges {
			parents[first[e.ID+1]] = int32(id)
			first[e.ID+1]++
		}
	}
	has := make([]bool, len(nodes))
	queue := make([]int32, 0, len(nodes))
	for id := range nodes {
		if g.saves(id) {
			has[id] = true
			queue = append(queue, int32(id))
		}
	}
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, p := range parents[first[id]:first[id+1]] {
			if !has[p] {
				has[p] = true
				queue = append(queue, p)
			}
		}
	}
	return has
}

// appendPart appends a field that holds a message.
func appendPart(b []byte, field protowire.Number, part []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), part)
}

// appendText appends a field that holds a string, unless it is empty.
func appendText(b []byte, field protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

// appendNumber appends a field that holds a number, unless it is 0.
func appendNumber(b []byte, field protowire.Number, n int) []byte {
	if n == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(n))
}
