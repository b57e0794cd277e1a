package scan

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
)

// maxSerialized is the number of serialized graphs that may contain each other; the next one is a finding.
// The number is Cairn's and may change.
const maxSerialized = 8

// serialized scans a graph that a string of the model holds, which the node of f
// runs. A graph that many nodes run is scanned once.
func (s *scanner) serialized(f Finding, text string) {
	place := s.within + f.Place() + ": "
	bad := func(message string) {
		f.Rule, f.Severity, f.Message = ruleMalformed, High, message
		s.add(f)
	}
	if s.depth == maxSerialized {
		bad(fmt.Sprintf("%d serialized graphs lie in each other, and there is one more", maxSerialized))
		return
	}
	if s.graphs[text] {
		return
	}
	if s.graphs == nil {
		s.graphs = map[string]bool{}
	}
	s.graphs[text] = true
	g, err := graph.Unmarshal([]byte(text), nil)
	if err != nil {
		bad(fmt.Sprintf("the serialized graph can't be read: %v", err))
		return
	}
	within, assets := s.within, s.assets
	s.within, s.assets = place, nil
	s.depth++
	s.graph(g, &reach{all: f.Reached})
	s.depth--
	s.within, s.assets = within, assets
}
