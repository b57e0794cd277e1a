package fingerprint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/cairnml/cairn/internal/chunked"
	"github.com/cairnml/cairn/internal/pb"
)

// TestModelsInChunksHaveTensorFlowsFingerprints: testdata/chunked.json holds the
// fingerprints that TensorFlow computed of the files that this test writes, for models
// and sizes of chunks. With CAIRN_CHUNKED=DIR it writes the files into DIR, from which
// testdata/gen_chunked.py makes chunked.json.
func TestModelsInChunksHaveTensorFlowsFingerprints(t *testing.T) {
	to := os.Getenv("CAIRN_CHUNKED")
	want := map[string]map[string]string{}
	if to == "" {
		text, err := os.ReadFile("testdata/chunked.json")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"module", "hub", "keras_mlp", "tables", "transformer", "finetune_outer"} {
		dir := filepath.Join("../../savedmodel/testdata/models", name)
		raw, err := os.ReadFile(filepath.Join(dir, "saved_model.pb"))
		if err != nil {
			t.Fatal(err)
		}
		index, err := os.ReadFile(filepath.Join(dir, "variables/variables.index"))
		if err != nil {
			t.Fatal(err)
		}
		for _, most := range []int64{100, 1000, 20_000, 1 << 20} {
			var m pb.SavedModel
			if err := m.Unmarshal(raw); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			var c Chunks
			if err := chunked.Write(&b, &m, most, c.Add); err != nil {
				t.Fatal(err)
			}
			got, err := c.Fingerprint(index)
			if err != nil {
				t.Fatal(err)
			}
			// The file that is read has the fingerprint of the one that was written.
			var again Chunks
			if err := chunked.Each(b.Bytes(), 1<<30, again.Add); err != nil {
				t.Fatal(err)
			}
			if read, err := again.Fingerprint(index); err != nil || read.Uuid != got.Uuid || read.SavedModelChecksum != got.SavedModelChecksum {
				t.Errorf("%s in chunks of %d: read again the fingerprint is %+v, want %+v, error %v", name, most, read, got, err)
			}
			key := fmt.Sprintf("%s-%d", name, most)
			if to != "" {
				folder := filepath.Join(to, key)
				if err := os.MkdirAll(filepath.Join(folder, "variables"), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(folder, "saved_model.cpb"), b.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(folder, "variables/variables.index"), index, 0o666); err != nil {
					t.Fatal(err)
				}
				continue
			}
			for field, v := range map[string]uint64{
				"saved_model_checksum": got.SavedModelChecksum, "graph_def_program_hash": got.GraphDefProgramHash,
				"signature_def_hash": got.SignatureDefHash, "saved_object_graph_hash": got.SavedObjectGraphHash,
				"checkpoint_hash": got.CheckpointHash, "producer": uint64(got.Version.Producer),
			} {
				if v := strconv.FormatUint(v, 10); v != want[key][field] {
					t.Errorf("%s: %s is %s, TensorFlow's is %s", key, field, v, want[key][field])
				}
			}
		}
	}
}
