package convert

import (
	"testing"

	"github.com/cairnml/cairn/internal/pb"
)

func FuzzGraphEdit(f *testing.F) {
	g := &pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{
		{Children: []*pb.ObjectReference{{NodeId: 1, LocalName: "net"}, {NodeId: 0, LocalName: "me"}}},
		{Attributes: []*pb.SerializedTensor{{Name: "VARIABLE_VALUE", CheckpointKey: "net/.ATTRIBUTES/VARIABLE_VALUE"}},
			SlotVariables:   []*pb.SlotVariableReference{{OriginalVariableNodeId: 1, SlotVariableNodeId: 2, SlotName: "m"}},
			RegisteredSaver: &pb.RegisteredSaver{Name: "p.s", ObjectName: "net"}, HasCheckpointValues: &pb.BoolValue{Value: true}},
		{Attributes: []*pb.SerializedTensor{{Name: "VARIABLE_VALUE", CheckpointKey: "net/.OPTIMIZER_SLOT/opt/m/.ATTRIBUTES/VARIABLE_VALUE"}}},
	}}
	f.Add(g.Marshal(), "net/.ATTRIBUTES/VARIABLE_VALUE", "other/.ATTRIBUTES/VARIABLE_VALUE")
	f.Add(g.Marshal(), "net/.OPTIMIZER_SLOT/opt/m/.ATTRIBUTES/VARIABLE_VALUE", "")
	f.Fuzz(func(t *testing.T, raw []byte, from, to string) {
		g := new(pb.TrackableObjectGraph)
		if g.Unmarshal(raw) != nil {
			return
		}
		e := graphEdit{g: g, names: map[string]string{from: to}}
		e.run()
		again := new(pb.TrackableObjectGraph)
		if err := again.Unmarshal(g.Marshal()); err != nil {
			t.Fatal(err)
		}
		if len(again.Nodes) != len(g.Nodes) {
			t.Fatal("nodes were lost")
		}
	})
}
