package fingerprint

import (
	"io/fs"
	"os"
	"path"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
)

func TestFingerprintsAreTensorFlows(t *testing.T) {
	models := os.DirFS("../../savedmodel/testdata/models")
	names, err := fs.Glob(models, "*/fingerprint.pb")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d models have a fingerprint: %v", len(names), err)
	}
	for _, name := range names {
		dir := path.Dir(name)
		t.Run(dir, func(t *testing.T) {
			read := func(name string, m pb.Message) []byte {
				b, err := fs.ReadFile(models, path.Join(dir, name))
				if err != nil {
					return nil
				}
				if m != nil {
					if err := m.Unmarshal(b); err != nil {
						t.Fatal(err)
					}
				}
				return b
			}
			var want pb.FingerprintDef
			var model pb.SavedModel
			read("fingerprint.pb", &want)
			if read("saved_model.pb", &model) == nil {
				t.Skip("no saved_model.pb")
			}
			got, _, err := Compute(&model, read("variables/variables.index", nil))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range []struct {
				name      string
				got, want uint64
			}{
				{"saved_model_checksum", got.SavedModelChecksum, want.SavedModelChecksum},
				{"graph_def_program_hash", got.GraphDefProgramHash, want.GraphDefProgramHash},
				{"signature_def_hash", got.SignatureDefHash, want.SignatureDefHash},
				{"saved_object_graph_hash", got.SavedObjectGraphHash, want.SavedObjectGraphHash},
				{"checkpoint_hash", got.CheckpointHash, want.CheckpointHash},
			} {
				if f.got != f.want {
					t.Errorf("%s is %d, TensorFlow's %d", f.name, f.got, f.want)
				}
			}
		})
	}
}
