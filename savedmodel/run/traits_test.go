package run_test

import (
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// TestTraitsOfObjectsAreRead checks slot variables, names of classes
// and savers, the user's messages, versions and metadata, and the source lines
// that made the nodes.
func TestTraitsOfObjectsAreRead(t *testing.T) {
	dir := changed(t, "module", func(_ *pb.MetaGraphDef, objects *pb.SavedObjectGraph) {
		root := objects.Nodes[0]
		at := map[string]int32{}
		for _, c := range root.Children {
			at[c.LocalName] = c.NodeId
		}
		root.SlotVariables = []*pb.SlotVariableReference{{OriginalVariableNodeId: at["a"], SlotName: "momentum", SlotVariableNodeId: at["b"]}}
		root.RegisteredName, root.RegisteredSaver = "Custom.Module", "Custom.Saver"
		root.SerializedUserProto = &pb.Any{TypeUrl: "type.example/Config", Value: []byte("\x08\x01")}
		root.UserObject.Version = &pb.VersionDef{Producer: 3, MinConsumer: 2}
		root.UserObject.Metadata = `{"units":4}`
	})
	dir[savedmodel.DebugInfoFile] = &fstest.MapFile{Data: []byte("where the nodes were made")}
	m, err := savedmodel.Read(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := m.MetaGraphs[0]
	root := g.Objects[0]
	if len(root.Slots) != 1 || root.Slots[0] != (savedmodel.Slot{Name: "momentum", Original: root.Child("a"), Slot: root.Child("b")}) {
		t.Errorf("slots %v", root.Slots)
	}
	if root.RegisteredName != "Custom.Module" || root.RegisteredSaver != "Custom.Saver" || root.ProtoType != "type.example/Config" || string(root.Proto) != "\x08\x01" {
		t.Errorf("registered as %q with the saver %q and a %s %q", root.RegisteredName, root.RegisteredSaver, root.ProtoType, root.Proto)
	}
	if root.Version != 3 || root.MinConsumer != 2 || root.Metadata != `{"units":4}` {
		t.Errorf("version %d, for %d and later, %s", root.Version, root.MinConsumer, root.Metadata)
	}
	if b, err := m.DebugInfo(); err != nil || string(b) != "where the nodes were made" {
		t.Errorf("debug info %q, %v", b, err)
	}
	delete(dir, savedmodel.DebugInfoFile)
	if b, err := m.DebugInfo(); err != nil || b != nil {
		t.Errorf("without debug info: %q, %v", b, err)
	}
}

// TestAConstantOfTwoFunctionsIsOneObject: it isn't copied for each that captures it.
func TestAConstantOfTwoFunctionsIsOneObject(t *testing.T) {
	m := load(t, "module")
	captured := func(path string, args ...any) *tensor.Tensor {
		t.Helper()
		f, err := m.Function(path)
		if err != nil {
			t.Fatal(err)
		}
		c, err := f.Concrete(ctx, args, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range c.Captures {
			if x.Tensor != nil && x.Tensor.Len() == 600 {
				return x.Tensor
			}
		}
		t.Fatalf("%s captures no constant of 600 elements", path)
		return nil
	}
	x := graph.TensorOf("", graph.Fact{DType: tensor.Float32, Shape: graph.ShapeOf(2, 3)})
	if a, b := captured("total"), captured("serve", x); a != b {
		t.Errorf("total captures %p, serve %p", a, b)
	}
}
