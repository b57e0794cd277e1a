package objects

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/internal/pb"
)

// TestGraphsDecodedInPartsAreTheSame as those decoded whole, fields that aren't
// known included.
func TestGraphsDecodedInPartsAreTheSame(t *testing.T) {
	want := new(pb.TrackableObjectGraph)
	for i := range 9000 {
		n := &pb.TrackableObject{Attributes: []*pb.SerializedTensor{{Name: Value, FullName: fmt.Sprint("v", i), CheckpointKey: fmt.Sprint("model/", i)}}}
		if i%7 == 0 {
			n.Children = append(n.Children, &pb.ObjectReference{NodeId: int32(i), LocalName: "a"})
		}
		want.Nodes = append(want.Nodes, n)
	}
	want.Unknown = []byte{15 << 3, 7, 15 << 3, 8}
	raw := want.Marshal()
	for _, most := range []int{2, 3, 4} {
		parts := split(raw, most)
		if len(parts) != most || !bytes.Equal(bytes.Join(parts, nil), raw) {
			t.Fatalf("%d parts of %d bytes, want %d", len(parts), len(raw), most)
		}
		for _, p := range parts {
			if len(p) > len(raw)/most+1000 {
				t.Errorf("a part of %d bytes out of %d", len(p), len(raw))
			}
		}
		if d := cmp.Diff(want, decodeParts(parts)); d != "" {
			t.Error(d)
		}
	}
	for _, at := range []int{10, len(raw) / 2, len(raw) - 10} {
		cut := raw[:at]
		g, err := Decode(cut, 1<<30)
		whole := new(pb.TrackableObjectGraph)
		if wantErr := whole.Unmarshal(cut); (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Errorf("cut off at %d: %v, want %v", at, err, wantErr)
		} else if err == nil && len(g.Nodes) != len(whole.Nodes) {
			t.Errorf("cut off at %d: %d nodes, want %d", at, len(g.Nodes), len(whole.Nodes))
		}
	}
}
