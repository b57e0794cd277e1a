package objects

import (
	"testing"

	"github.com/cairnml/cairn/internal/pb"
)

func edge(name string, to int32) *pb.ObjectReference {
	return &pb.ObjectReference{LocalName: name, NodeId: to}
}

func variable(key string) *pb.TrackableObject {
	return &pb.TrackableObject{Attributes: []*pb.SerializedTensor{{Name: Value, CheckpointKey: key}}}
}

// keras3 returns a graph as Keras 3 saves it: the optimizer's list is the
// shorter path to the kernel, and determines its key.
func keras3() []*pb.TrackableObject {
	return []*pb.TrackableObject{
		{Children: []*pb.ObjectReference{edge("optimizer", 1), edge("model", 2)}},
		{Children: []*pb.ObjectReference{edge("_variables", 3), edge("_iterations", 6), edge("_learning_rate", 7)}},
		{Children: []*pb.ObjectReference{edge("layers", 4), edge("optimizer", 1)}},
		{Children: []*pb.ObjectReference{edge("0", 5), edge("1", 8)}},
		{Children: []*pb.ObjectReference{edge("a/b", 9)}},
		variable("optimizer/_variables/0/V"),
		variable("optimizer/_iterations/V"),
		variable("optimizer/_learning_rate/V"),
		variable("optimizer/_variables/1/V"),
		{Children: []*pb.ObjectReference{edge("kernel", 5), edge("up", 4)}},
	}
}

func TestVariablesHangOnWhatUsesThem(t *testing.T) {
	tree := NewTree(keras3())
	for node, want := range map[int]string{0: "", 1: "optimizer", 5: "model/layers/a/b/kernel", 8: "optimizer/_variables/1", 6: "optimizer/_iterations", 9: "model/layers/a/b"} {
		if got := tree.Path(node); got != want {
			t.Errorf("node %d: %q, want %q", node, got, want)
		}
	}
	if !tree.Optimizer[1] || tree.Optimizer[2] || !tree.State[8] || tree.State[5] {
		t.Error(tree.Optimizer, tree.State)
	}
}

func TestKeyTakesAnyPath(t *testing.T) {
	nodes := keras3()
	nodes[1].SlotVariables = []*pb.SlotVariableReference{{OriginalVariableNodeId: 5, SlotName: "m", SlotVariableNodeId: 8}}
	for path, want := range map[string]string{
		"model/layers/a/b/kernel":         "optimizer/_variables/0/V",
		"model/layers/a/b/up/a/b/kernel":  "optimizer/_variables/0/V", // round a cycle
		"optimizer/_variables/0":          "optimizer/_variables/0/V",
		"model/optimizer/_variables/0":    "optimizer/_variables/0/V",
		"model/layers/a/b/kernel/m":       "optimizer/_variables/1/V",
		"model/layers/a/b":                "",
		"model/layers/a":                  "",
		"":                                "",
		"kernel":                          "",
		"model/layers/a/b/kernel/nothing": "",
	} {
		if got, ok := Key(nodes, path); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", path, got, ok, want)
		}
	}
}

// Edges that lead nowhere, and cycles, end neither in a panic nor never.
func TestBrokenGraphsAreWalked(t *testing.T) {
	nodes := []*pb.TrackableObject{{Children: []*pb.ObjectReference{edge("a", 0), edge("b", 7), edge("", 0), edge("c", -1)}}}
	if tree := NewTree(nodes); len(tree.Order) != 1 {
		t.Error(tree.Order)
	}
	for _, p := range []string{"a/a/a/a", "b", "c", "/", "a/"} {
		if k, ok := Key(nodes, p); ok {
			t.Errorf("%q: %q", p, k)
		}
	}
	if tree := NewTree(nil); len(tree.Order) != 0 {
		t.Error(tree.Order)
	}
}
