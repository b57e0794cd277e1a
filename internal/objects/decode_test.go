package objects

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
)

// TestGraphsAreDecodedWithinTheirMemory: nodes of two bytes each take sixty times
// that once they are decoded, which is known before.
func TestGraphsAreDecodedWithinTheirMemory(t *testing.T) {
	const n = 10_000
	raw := bytes.Repeat([]byte{1<<3 | 2, 0}, n)
	need := Memory(raw)
	if need < 100*n {
		t.Errorf("%d bytes for %d nodes", need, n)
	}
	var much *LimitError
	if _, err := Decode(raw, need-1); !errors.As(err, &much) || !errors.Is(err, errors.ErrUnsupported) || much.Need != need {
		t.Errorf("one byte too few: %v", err)
	}
	if allocs := testing.AllocsPerRun(1, func() { Decode(raw, need-1) }); allocs > 2 {
		t.Errorf("%v allocations before the graph is refused", allocs)
	}
	g, err := Decode(raw, need)
	if err != nil || len(g.Nodes) != n {
		t.Errorf("within the limit: %v", err)
	}
}

func TestMemoryCountsEveryMessage(t *testing.T) {
	empty := Memory((&pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{{}}}).Marshal())
	for name, n := range map[string]*pb.TrackableObject{
		"children":   {Children: []*pb.ObjectReference{{}, {LocalName: "a"}}},
		"attributes": {Attributes: []*pb.SerializedTensor{{}}},
		"slots":      {SlotVariables: []*pb.SlotVariableReference{{}}},
		"saver":      {RegisteredSaver: &pb.RegisteredSaver{}},
		"has":        {HasCheckpointValues: &pb.BoolValue{}},
	} {
		raw := (&pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{n}}).Marshal()
		if got := Memory(raw); got <= empty {
			t.Errorf("%s: %d bytes, an empty node takes %d", name, got, empty)
		}
		for i := range raw { // a truncated message never causes a panic
			Memory(raw[:i])
		}
	}
}
