package convert

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensorfile"
)

// sharedTensors are the names of tensors that a pattern drops, each with a path
// of the object graph that no pattern drops.
type sharedTensors map[string]string

// SharedError is the error of tensors which a pattern drops by their names but
// which are in use elsewhere. TensorFlow names a variable by the shortest path
// to it, which in Keras 3's checkpoints leads through the optimizer.
type SharedError struct {
	Path   string
	Shared map[string]string // names, and the paths that aren't dropped
}

// Error names the shared tensors that the patterns drop, and the options that decide.
func (e *SharedError) Error() string {
	n := len(e.Shared)
	return fmt.Sprintf("%s: %s that other objects use too, %s; Edits.KeepShared keeps %s, Options.Lossy drops %s",
		e.Path, plural(n, "a pattern drops 1 tensor", fmt.Sprintf("patterns drop %d tensors", n)), sharedTensors(e.Shared).some(), plural(n, "it", "them"), plural(n, "it", "them"))
}

// some returns the names and paths of the first few.
func (s sharedTensors) some() string {
	const most = 3
	var words []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if len(words) == most {
			words = append(words, "…")
			break
		}
		words = append(words, fmt.Sprintf("%s as %s", tensorfile.Short(name), s[name]))
	}
	return strings.Join(words, ", ")
}

// maxSharedDepth bounds the number of edges in a path of the search for shared tensors. It may
// change: no known model is deeper, and in a hostile graph longer paths would take too much memory.
const maxSharedDepth = 200

// shared finds the tensors whose names Drop matches, and to which a path of the object
// graph leads that Drop doesn't match.
func (e Edits) shared(ctx context.Context, s *tensorfile.File) (sharedTensors, error) {
	if len(e.Drop) == 0 || !s.Has(tensorfile.GraphKey) || matches(e.Drop, tensorfile.GraphKey) {
		return nil, nil
	}
	g, err := s.Graph(ctx)
	if err != nil || g == nil || len(g.Nodes) == 0 {
		return nil, err
	}
	owners := map[int32]string{} // nodes whose value is dropped by its name
	for i, n := range g.Nodes {
		for _, a := range n.Attributes {
			if s.Has(a.CheckpointKey) && matches(e.Drop, a.CheckpointKey) {
				owners[int32(i)] = a.CheckpointKey
			}
		}
	}
	out := sharedTensors{}
	if len(owners) == 0 {
		return out, nil
	}
	// An object is dropped, with all that only it holds, if the patterns match one of the
	// paths to it. A variable isn't, because other objects use it.
	meant := make([]bool, len(g.Nodes))
	walk := func(edge func(to int32, path string, dropped bool)) error {
		type place struct {
			node  int32
			path  string
			depth int
		}
		seen := make([]bool, len(g.Nodes))
		seen[0] = true
		for queue := []place{{}}; len(queue) > 0; queue = queue[1:] {
			at := queue[0]
			if err := ctx.Err(); err != nil {
				return err
			}
			for _, c := range g.Nodes[at.node].Children {
				if c.NodeId < 0 || int(c.NodeId) >= len(g.Nodes) || seen[c.NodeId] || at.depth == maxSharedDepth {
					continue
				}
				path := escape(c.LocalName)
				if at.path != "" {
					path = at.path + "/" + path
				}
				dropped := matches(e.Drop, path) || matches(e.Drop, path+valueOf(g.Nodes[c.NodeId]))
				edge(c.NodeId, path, dropped)
				if !dropped && !meant[c.NodeId] {
					seen[c.NodeId] = true
					queue = append(queue, place{c.NodeId, path, at.depth + 1})
				}
			}
		}
		return nil
	}
	err = walk(func(to int32, _ string, dropped bool) {
		if dropped && len(g.Nodes[to].Attributes) == 0 {
			meant[to] = true
		}
	})
	if err != nil {
		return nil, err
	}
	err = walk(func(to int32, path string, dropped bool) {
		if key, ours := owners[to]; ours && !dropped {
			out[key] = path
		}
	})
	return out, err
}

// valueOf returns the end of the key of an object's value, such as
// "/.ATTRIBUTES/VARIABLE_VALUE"; "/" for an object without one.
func valueOf(n *pb.TrackableObject) string {
	if len(n.Attributes) > 0 {
		if _, attribute, ok := strings.Cut(n.Attributes[0].CheckpointKey, attributesMark); ok {
			return attributesMark + attribute
		}
	}
	return "/"
}

func matches(patterns []*regexp.Regexp, name string) bool {
	return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(name) })
}
