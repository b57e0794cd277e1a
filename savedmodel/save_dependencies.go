package savedmodel

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/trackable"
)

// dependencies writes the objects that one requires.
func (s *saver) dependencies(o *pb.SavedObject, edges []trackable.Edge) error {
	for _, e := range edges {
		id, ok := s.number(e.Child)
		if !ok {
			return fmt.Errorf("it depends on %q, a %T to which no edge leads; make it a child of an object that is saved", e.Name, e.Child)
		}
		o.Dependencies = append(o.Dependencies, &pb.ObjectReference{NodeId: int32(id), LocalName: e.Name})
	}
	return nil
}

// checkDependencies refuses objects that depend on each other: none can be made first.
func (s *saver) checkDependencies(nodes []*pb.SavedObject) error {
	const (
		unseen = iota
		open
		done
	)
	state := make([]byte, len(nodes))
	for first := range nodes {
		if state[first] != unseen || len(nodes[first].Dependencies) == 0 {
			continue
		}
		type frame struct{ id, next int }
		state[first] = open
		for stack := []frame{{id: first}}; len(stack) > 0; {
			top := &stack[len(stack)-1]
			if top.next == len(nodes[top.id].Dependencies) {
				state[top.id] = done
				stack = stack[:len(stack)-1]
				continue
			}
			id := int(nodes[top.id].Dependencies[top.next].NodeId)
			top.next++
			switch state[id] {
			case unseen:
				state[id] = open
				stack = append(stack, frame{id: id})
			case open:
				var cycle []string
				for _, f := range stack {
					if len(cycle) > 0 || f.id == id {
						cycle = append(cycle, s.human(f.id))
					}
				}
				return s.fail(id, fmt.Errorf("it depends on itself by way of %s; leave one of these dependencies out", strings.Join(append(cycle, s.human(id)), " → ")))
			}
		}
	}
	return nil
}
