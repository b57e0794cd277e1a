package fingerprint

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
)

// TestRareFormsHaveTensorFlowsFingerprints: each file of edges/ has the fingerprint that
// TensorFlow computed for it. A model that TensorFlow refuses or dies of is an error or
// has a fingerprint of ours, never a panic.
func TestRareFormsHaveTensorFlowsFingerprints(t *testing.T) {
	text, err := os.ReadFile("testdata/edges.json")
	if err != nil {
		t.Fatal(err)
	}
	var edges map[string]any
	if err := json.Unmarshal(text, &edges); err != nil {
		t.Fatal(err)
	}
	for name, want := range edges {
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile("testdata/edges/" + name + ".pb")
			if err != nil {
				t.Fatal(err)
			}
			var index []byte // of some models, as gen_edges.py makes it
			if len(b)%2 != 0 {
				for i := range b {
					index = append(index, b[len(b)-1-i])
				}
			}
			var m pb.SavedModel
			err = m.Unmarshal(b)
			var got *pb.FingerprintDef
			if err == nil {
				got, _, err = Compute(&m, index)
			}
			hashes, ok := want.(map[string]any)
			if !ok {
				if want != "crash" && err == nil {
					t.Errorf("a fingerprint, where TensorFlow has an error: %v", want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for name, v := range map[string]uint64{
				"saved_model_checksum": got.SavedModelChecksum, "graph_def_program_hash": got.GraphDefProgramHash,
				"signature_def_hash": got.SignatureDefHash, "saved_object_graph_hash": got.SavedObjectGraphHash,
				"checkpoint_hash": got.CheckpointHash,
			} {
				if v := strconv.FormatUint(v, 10); v != hashes[name] {
					t.Errorf("%s: %s, TensorFlow's is %v", name, v, hashes[name])
				}
			}
		})
	}
}
