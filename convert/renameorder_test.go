package convert

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/testkit/processor"
)

// lone returns a graph of variables below the root, with an edge and a tensor of each name.
func lone(names ...string) *pb.TrackableObjectGraph {
	root := &pb.TrackableObject{}
	g := &pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{root}}
	for _, name := range names {
		root.Children = append(root.Children, &pb.ObjectReference{NodeId: int32(len(g.Nodes)), LocalName: name})
		g.Nodes = append(g.Nodes, &pb.TrackableObject{Attributes: []*pb.SerializedTensor{{Name: "VARIABLE_VALUE", CheckpointKey: name + valueKey}}})
	}
	return g
}

const valueKey = "/.ATTRIBUTES/VARIABLE_VALUE"

// TestEdgesOfOneObjectAreRenamedTogether: an edge may get a name that another one gives up, and what happens doesn't
// depend on which is looked at first.
func TestEdgesOfOneObjectAreRenamedTogether(t *testing.T) {
	for _, c := range []struct{ name, from, to, want, notes string }{
		{"a chain", "a b c", "b c d", "b c d", ""},
		{"a chain backwards", "c b a", "d c b", "d c b", ""},
		{"a swap", "a b", "b a", "b a", ""},
		{"an edge in the way", "a b c x", "b c x ", "a b c x", "3 edges of the object graph stay"},
		{"an edge in the way of some", "a b y z", "b x z ", "b x y z", "1 edge of the object graph stays"},
	} {
		for range 10 {
			from, to := strings.Split(c.from, " "), strings.Split(c.to, " ")
			e := graphEdit{g: lone(from...), names: map[string]string{}}
			for i := range from {
				if to[i] != "" { // otherwise the edge has no value of a known tensor
					e.names[from[i]+valueKey] = to[i] + valueKey
				}
			}
			notes := e.run()
			var got []string
			for _, r := range e.g.Nodes[0].Children {
				got = append(got, r.LocalName)
			}
			if strings.Join(got, " ") != c.want {
				t.Fatalf("%s: %s is %s, want %s", c.name, c.from, got, c.want)
			}
			if s := strings.Join(notes, "; "); !strings.HasPrefix(s, c.notes) || (s == "") != (c.notes == "") {
				t.Fatalf("%s: notes %q, want %q", c.name, s, c.notes)
			}
		}
	}
}

// TestLongListsAreRenamedInLinearTime: many edges of one object, many objects of one registered saver, and many tables
// of one stem.
func TestLongListsAreRenamedInLinearTime(t *testing.T) {
	const n = 20_000
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("v%06d", i)
	}
	e := graphEdit{g: lone(names...), names: map[string]string{}}
	for i, name := range names {
		e.names[name+valueKey] = "w" + name[1:] + valueKey
		e.names[fmt.Sprintf("saved/%d", i)] = fmt.Sprintf("kept/%d", i)
		e.names[fmt.Sprintf("t/.ATTRIBUTES/table-%d", i)] = fmt.Sprintf("u/.ATTRIBUTES/table-%d", i)
		e.g.Nodes = append(e.g.Nodes, &pb.TrackableObject{
			RegisteredSaver: &pb.RegisteredSaver{ObjectName: "saved"},
			Attributes:      []*pb.SerializedTensor{{Name: "table", CheckpointKey: "t/.ATTRIBUTES/table"}},
		})
	}
	end := processor.Begin(t, "the work", 5*time.Second)
	e.run()
	end()
	last := e.g.Nodes[len(e.g.Nodes)-1]
	if r := e.g.Nodes[0].Children[n-1]; r.LocalName != "w019999" || last.RegisteredSaver.ObjectName != "kept" || last.Attributes[0].CheckpointKey != "u/.ATTRIBUTES/table" {
		t.Errorf("%q, %q, %q", r.LocalName, last.RegisteredSaver.ObjectName, last.Attributes[0].CheckpointKey)
	}
}
