package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/internal/pb"
)

// node makes an object with edges "name", to, "name", to, …
func node(edges ...any) *pb.TrackableObject {
	n := &pb.TrackableObject{}
	for i := 0; i < len(edges); i += 2 {
		n.Children = append(n.Children, &pb.ObjectReference{LocalName: edges[i].(string), NodeId: int32(edges[i+1].(int))})
	}
	return n
}

func value(n *pb.TrackableObject) *pb.TrackableObject {
	n.Attributes = append(n.Attributes, &pb.SerializedTensor{Name: "VARIABLE_VALUE"})
	return n
}

func slot(n *pb.TrackableObject, variable int, name string, slot int) *pb.TrackableObject {
	n.SlotVariables = append(n.SlotVariables, &pb.SlotVariableReference{OriginalVariableNodeId: int32(variable), SlotName: name, SlotVariableNodeId: int32(slot)})
	return n
}

func savedBy(saver string) *pb.TrackableObject {
	return &pb.TrackableObject{RegisteredSaver: &pb.RegisteredSaver{Name: saver}}
}

// Each pair is compared both ways: an object only in A is only in B then.
func TestGraphsDifferByEdgesAndWhatTheyLeadTo(t *testing.T) {
	type nodes = []*pb.TrackableObject
	for _, c := range []struct {
		name string
		a, b nodes
		want [][3]string // path, A, B
	}{
		{"slots, and an optimizer's own",
			nodes{node("w", 1, "opt", 2), value(node()), slot(node("rate", 4), 1, "m", 3), value(node()), value(node())},
			nodes{node("w", 1, "opt", 2), value(node()), slot(node(), 1, "v", 3), value(node())},
			[][3]string{{"opt/rate", "VARIABLE_VALUE", ""}, {"w/(slot) m", "VARIABLE_VALUE", ""}, {"w/(slot) v", "", "VARIABLE_VALUE"}}},
		{"savers",
			nodes{node("x", 1, "y", 2, "z", 3), savedBy("my.saver"), savedBy(""), value(savedBy("my.saver"))},
			nodes{node("x", 1, "y", 2, "z", 3), savedBy("other"), node(), value(node())},
			[][3]string{{"x", "saved by my.saver", "saved by other"}, {"z", "VARIABLE_VALUE, saved by my.saver", "VARIABLE_VALUE"}}},
		{"all below what one of them has",
			nodes{node("x", 1), node("y", 2), node("v", 3), value(node())},
			nodes{node()},
			[][3]string{{"x", "object", ""}, {"x/y", "object", ""}, {"x/y/v", "VARIABLE_VALUE", ""}}},
		{"one object, and two of its kind",
			nodes{node("x", 1, "y", 1), node("k", 2), node()},
			nodes{node("x", 1, "y", 2), node("k", 3), node("k", 4), node(), node()},
			[][3]string{{"y", "the object x", "object"}, {"y/k", "", "object"}}},
		{"the same object twice, by another first way",
			nodes{node("x", 1, "y", 2, "z", 1), node(), node()},
			nodes{node("x", 1, "y", 2, "z", 2), node(), node()},
			[][3]string{{"z", "the object x", "the object y"}}},
		{"the same object twice",
			nodes{node("x", 1, "y", 2, "z", 2), node(), node()},
			nodes{node("y", 1, "x", 2, "z", 1), node(), node()},
			nil},
		{"the root, and an object that only one of them has",
			nodes{node("x", 1, "z", 1), node()},
			nodes{node("z", 0)},
			[][3]string{{"x", "object", ""}, {"z", "the object x", "the root"}}},
		{"the roots themselves", nodes{value(node("x", 1)), node()}, nodes{node("x", 1), node()}, [][3]string{{"(root)", "VARIABLE_VALUE", "object"}}},
		{"no graph at all", nodes{}, nodes{}, nil},
		{"a root, and not even that", nodes{node("x", 1), value(node())}, nodes{}, [][3]string{{"(root)", "object", ""}, {"x", "VARIABLE_VALUE", ""}}},
	} {
		a, b := graphStore(t, &pb.TrackableObjectGraph{Nodes: c.a}), graphStore(t, &pb.TrackableObjectGraph{Nodes: c.b})
		for _, back := range []bool{false, true} {
			x, y := a, b
			var want []Difference
			for _, w := range c.want {
				d := Difference{Kind: Objects, Name: w[0], A: w[1], B: w[2]}
				if back {
					d.A, d.B = d.B, d.A
				}
				want = append(want, d)
			}
			if back {
				x, y = b, a
			}
			got, err := Diff(t.Context(), x, y, &DiffOptions{Graph: true})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, back %v (-want +got):\n%s", c.name, back, d)
			}
		}
	}
}
