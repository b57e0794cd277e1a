package chunked_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/chunked"
	"github.com/cairnml/cairn/internal/pb"
)

// TestAWrittenModelComesBack: with limits below which every kind of chunk is written.
func TestAWrittenModelComesBack(t *testing.T) {
	kinds := map[string]bool{}
	for _, name := range []string{"module", "hub", "keras_mlp", "tables", "transformer", "tf1_graphs", "finetune_outer"} {
		raw, err := os.ReadFile("../../savedmodel/testdata/models/" + name + "/saved_model.pb")
		if err != nil {
			t.Fatal(err)
		}
		var want pb.SavedModel
		if err := errors.Join(want.Unmarshal(raw), pb.Canonical(&want)); err != nil {
			t.Fatal(err)
		}
		wanted := want.Marshal()
		for _, most := range []int64{1, 100, 1000, 20_000, 0} {
			var m, got pb.SavedModel
			if err := m.Unmarshal(raw); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			large := 0
			err := chunked.Write(&b, &m, most, func(path []*pb.FieldIndex, chunk []byte) {
				var words []string
				for _, p := range path {
					if p.Which == pb.FieldIndexMapKey {
						words = append(words, p.MapKey.S)
					} else if p.Which == pb.FieldIndexField {
						words = append(words, string(rune('0'+p.Field)))
					}
				}
				kinds[strings.Join(words, " ")] = true
				if most >= 20_000 && int64(len(chunk)) > most {
					large++
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			joined, err := chunked.Join(b.Bytes(), 1<<30)
			if err != nil {
				t.Fatalf("%s in chunks of %d: %v", name, most, err)
			}
			if err := errors.Join(got.Unmarshal(joined), pb.Canonical(&got)); err != nil {
				t.Fatalf("%s in chunks of %d: %v", name, most, err)
			}
			if !bytes.Equal(got.Marshal(), wanted) {
				t.Errorf("%s in chunks of %d came back as another model", name, most)
			}
			if large > 2 { // the object graph, and the model without its graphs
				t.Errorf("%s has %d chunks above %d bytes", name, large, most)
			}
		}
	}
	for _, kind := range []string{
		"", "2 2", "2 7", "2 2 1 5 value 8 4", // graphs, objects, constants
		"2 2 2", "2 2 2 1", "2 2 2 1 3 5 value 8 4", // and of functions
	} {
		if !kinds[kind] {
			t.Errorf("no chunk has the path %q", kind)
		}
	}
}
