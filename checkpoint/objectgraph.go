package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/arena"
	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/internal/objects"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Limits on an object graph from a file. A real one has a node for each object
// of a program.
const (
	maxGraphNodes = 1 << 21
	maxHumanDepth = 64 // path components shown to people
	maxHumanName  = 256
	maxHumanBytes = 32 << 20 // all paths of one graph together
)

// readGraph reads the object graph of a checkpoint; nil where it has none, as
// TF1's.
func readGraph(ctx context.Context, src source) (*objectGraph, error) {
	e, ok := src.reader.Entry(trackable.ObjectGraphKey)
	if !ok {
		return nil, nil
	}
	if e.DType != tensor.String || len(e.Shape) != 0 {
		return nil, src.corrupt("it is a %s, not a string", describe(e.DType, e.Shape))
	}
	t, err := src.reader.Read(ctx, trackable.ObjectGraphKey)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: reading the object graph: %w", err)
	}
	text := t.Strings()[0]
	g, err := parseGraph(text, max(limit.Memory(int64(len(text))), src.maxMemory)/graphShare)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil, fmt.Errorf("checkpoint: %s: %w; ReaderOptions.MaxMemory raises it", src.path, err)
	case err != nil:
		return nil, src.corrupt("%v", err)
	}
	return g, nil
}

func (s source) corrupt(format string, args ...any) error {
	return &bundle.CorruptError{File: s.path + ".index", Offset: -1, Name: trackable.ObjectGraphKey, What: fmt.Sprintf(format, args...)}
}

// graphShare is how many times the memory of its messages a graph takes while
// objects are matched with it.
const graphShare = 2

// parseGraph decodes and checks an object graph, whose messages may take most
// bytes. All walks over the result are
// iterative and visit a node once, so that cycles and depth are harmless.
func parseGraph(text string, most int64) (*objectGraph, error) {
	b := unsafe.Slice(unsafe.StringData(text), len(text)) // the messages refer to it
	n := 0
	for rest := b; len(rest) > 0; n++ {
		num, typ, k := protowire.ConsumeTag(rest)
		if k < 0 {
			return nil, fmt.Errorf("field %d can't be decoded: %w", n, protowire.ParseError(k))
		}
		k2 := protowire.ConsumeFieldValue(num, typ, rest[k:])
		if k2 < 0 {
			return nil, fmt.Errorf("field %d can't be decoded: %w", n, protowire.ParseError(k2))
		}
		rest = rest[k+k2:]
		if n > maxGraphNodes {
			return nil, fmt.Errorf("it has more than %d nodes", maxGraphNodes)
		}
	}
	decoded, err := objects.Decode(b, most)
	if err != nil {
		return nil, err
	}
	g := &objectGraph{pb: decoded}
	g.nodes = g.pb.Nodes
	if len(g.nodes) == 0 {
		return nil, fmt.Errorf("it has no node, not even a root")
	}
	for id, node := range g.nodes {
		if name, ok := repeated(node.Attributes); ok {
			return nil, fmt.Errorf("node %d has two attributes called %.100q", id, name)
		}
		for _, c := range node.Children {
			if !g.has(c.NodeId) {
				return nil, fmt.Errorf("child %q of node %d is node %d, there are %d", c.LocalName, id, c.NodeId, len(g.nodes))
			}
		}
		for _, s := range node.SlotVariables {
			if !g.has(s.OriginalVariableNodeId) || !g.has(s.SlotVariableNodeId) {
				return nil, fmt.Errorf("slot %q of node %d joins nodes %d and %d, there are %d", s.SlotName, id, s.OriginalVariableNodeId, s.SlotVariableNodeId, len(g.nodes))
			}
		}
	}
	return g, nil
}

// repeated finds an attribute name that stands twice: one value read for each
// of very many mentions would take time out of all proportion.
func repeated(list []*pb.SerializedTensor) (string, bool) {
	switch len(list) {
	case 0, 1:
		return "", false
	}
	seen := make(map[string]bool, len(list))
	for _, a := range list {
		if seen[a.Name] {
			return a.Name, true
		}
		seen[a.Name] = true
	}
	return "", false
}

func (g *objectGraph) has(node int32) bool { return node >= 0 && int(node) < len(g.nodes) }

// hasValue reports what TensorFlow takes as worth waiting for: the file's own
// word, or in older files whatever isn't empty.
func (g *objectGraph) hasValue(node int32) bool {
	n := g.nodes[node]
	if n.HasCheckpointValues != nil {
		return n.HasCheckpointValues.Value
	}
	return len(n.Children) > 0 || len(n.Attributes) > 0 || len(n.SlotVariables) > 0 || n.RegisteredSaver != nil
}

// paths finds the first path to each node, breadth first.
func (g *objectGraph) paths() {
	g.once.Do(func() {
		g.parent = make([]int32, len(g.nodes))
		g.edge = make([]string, len(g.nodes))
		g.slotOf, g.slots = map[int32][2]int32{}, map[int32]string{}
		for i := range g.parent {
			g.parent[i] = -1
		}
		seen := make([]bool, len(g.nodes))
		seen[0] = true
		for queue := []int32{0}; len(queue) > 0; queue = queue[1:] {
			for _, c := range g.nodes[queue[0]].Children {
				if !seen[c.NodeId] {
					seen[c.NodeId] = true
					g.parent[c.NodeId], g.edge[c.NodeId] = queue[0], c.LocalName
					queue = append(queue, c.NodeId)
				}
			}
		}
		for id, n := range g.nodes {
			for _, s := range n.SlotVariables {
				if !seen[s.SlotVariableNodeId] {
					if _, ok := g.slotOf[s.SlotVariableNodeId]; !ok {
						g.slotOf[s.SlotVariableNodeId] = [2]int32{int32(id), s.OriginalVariableNodeId}
						g.slots[s.SlotVariableNodeId] = s.SlotName
					}
				}
			}
		}
	})
}

// human returns a node's path for people.
func (g *objectGraph) human(node int32) string {
	g.paths()
	if of, ok := g.slotOf[node]; ok {
		name := g.slots[node]
		if len(name) > maxHumanName {
			name = name[:maxHumanName] + "…"
		}
		return fmt.Sprintf("%s's slot %q for %s", g.direct(of[0]), name, g.direct(of[1]))
	}
	return g.direct(node)
}

// siblings finds the paths of many nodes, of which most have the parent of the one
// before.
type siblings struct {
	g      *objectGraph
	paths  arena.Strings
	parent int32
	prefix string // what the parent's children's paths begin with, "" where that isn't known
}

// human returns a node's path for people.
func (s *siblings) human(node int32) string {
	g := s.g
	g.paths()
	parent := g.parent[node]
	if _, slot := g.slotOf[node]; slot || parent <= 0 || len(g.edge[node]) > maxHumanName || g.spent.Load() > maxHumanBytes {
		return g.human(node)
	}
	if parent != s.parent || s.prefix == "" {
		path := g.direct(parent)
		if strings.HasPrefix(path, "(") || strings.Count(path, ".") > maxHumanDepth/2 {
			return g.human(node)
		}
		s.parent, s.prefix = parent, path+"."
	}
	path := s.paths.Join(s.prefix, g.edge[node])
	g.spent.Add(int64(len(path)))
	return path
}

func (g *objectGraph) direct(node int32) string {
	if node == 0 {
		return "(root)"
	}
	// Names and depth come from the file: a long chain of long names must not
	// multiply in a report.
	if g.spent.Load() > maxHumanBytes {
		return fmt.Sprintf("(node %d)", node)
	}
	var names []string
	for at := node; g.parent[at] >= 0; at = g.parent[at] {
		if len(names) == maxHumanDepth {
			names = append(names, "…")
			break
		}
		name := g.edge[at]
		if len(name) > maxHumanName {
			name = name[:maxHumanName] + "…"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return fmt.Sprintf("(node %d, which nothing leads to)", node)
	}
	slices.Reverse(names)
	path := strings.Join(names, ".")
	g.spent.Add(int64(len(path)))
	return path
}
