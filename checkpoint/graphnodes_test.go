package checkpoint

import (
	"testing"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/trackable"
)

// TestVariablesNodesAreReadAlike checks that the fast path for variables' nodes returns
// the same as decoding the fields, also if a byte of the message is changed or missing.
func TestVariablesNodesAreReadAlike(t *testing.T) {
	known := 0
	check := func(message []byte) {
		t.Helper()
		graphOf := func() *objectGraph {
			return &objectGraph{text: message, nodes: []nodeRow{{size: uint32(len(message))}}}
		}
		quick, slow := graphOf(), graphOf()
		need, ok := quick.nodes[0].plainVariable(quick.text)
		if !ok {
			return
		}
		known++
		var b nodeBatch
		if err := slow.checkFields(0, &b); err != nil || len(b.owners) > 0 || need != b.need || quick.nodes[0] != slow.nodes[0] {
			t.Fatalf("%q: %d, %+v; by its fields %+v, %+v, %v", message, need, quick.nodes[0], b, slow.nodes[0], err)
		}
	}
	for _, full := range []string{"", "dense/kernel"} {
		for _, has := range []*pb.BoolValue{nil, {Value: true}, {}} {
			node := (&pb.TrackableObject{
				Attributes:          []*pb.SerializedTensor{{Name: trackable.VariableValue, FullName: full, CheckpointKey: "v/.ATTRIBUTES/VARIABLE_VALUE"}},
				HasCheckpointValues: has,
			}).Marshal()
			before := known
			check(node)
			if simple := has == nil || has.Value; simple != (known > before) {
				t.Errorf("%q: known is %t", node, !simple)
			}
			for i := range node {
				check(node[:i])
				for b := range 256 {
					other := append([]byte(nil), node...)
					other[i] = byte(b)
					check(other)
					check(append(other, other...))
				}
			}
		}
	}
	if known < 1000 {
		t.Errorf("%d messages were known", known)
	}
}
