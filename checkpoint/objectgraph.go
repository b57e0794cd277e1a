package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/arena"
	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Limits on an object graph from a file, against hostile ones. They are ours and may change. A real graph
// has a node for each object of a program. The last three bound the paths in reports and errors.
const (
	maxGraphNodes = 1 << 21
	maxHumanDepth = 64       // components of a path
	maxHumanName  = 256      // bytes of a component
	maxHumanBytes = 32 << 20 // bytes of all paths of one graph together
)

// readGraph reads the object graph of a checkpoint, or returns nil if it has
// none, such as those of TF1.
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
	g, err := parseGraph(text, src.reader, max(limit.Memory(int64(len(text))), src.maxMemory)/graphShare)
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

// paths finds the first path to each node, breadth first.
func (g *objectGraph) paths() {
	g.once.Do(func() {
		g.parent = make([]int32, len(g.nodes))
		g.edge = make([]string, len(g.nodes))
		g.slotOf, g.slotNames = map[int32][2]int32{}, map[int32]string{}
		for i := range g.parent {
			g.parent[i] = -1
		}
		seen := make([]bool, len(g.nodes))
		seen[0] = true
		queue := []int32{0} // nodes with children
		for i := 0; i < len(queue); i++ {
			for c := range g.children(queue[i]) {
				if !seen[c.node] {
					seen[c.node] = true
					g.parent[c.node], g.edge[c.node] = queue[i], c.name
					if !g.nodes[c.node].leaf {
						queue = append(queue, c.node)
					}
				}
			}
		}
		for _, id := range g.owners {
			for s := range g.slots(id) {
				if !seen[s.slot] {
					if _, ok := g.slotOf[s.slot]; !ok {
						g.slotOf[s.slot] = [2]int32{id, s.variable}
						g.slotNames[s.slot] = s.name
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
		name := g.slotNames[node]
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
	prefix string // prefix of the paths of the parent's children, "" if unknown
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

// direct returns the path of a node by its edges, for people. A slot variable may have none.
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
