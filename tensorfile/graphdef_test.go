package tensorfile

import (
	"os"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

// TestAGraphDefsConstantsAreItsTensors opens frozen graphs that TensorFlow wrote.
func TestAGraphDefsConstantsAreItsTensors(t *testing.T) {
	const dir = "../savedmodel/testdata/graphs/"
	for _, name := range []string{"frozen.pb", "frozen_text.pbtxt"} {
		for _, o := range []*Options{nil, {FS: os.DirFS(dir)}} {
			path := dir + name
			if o != nil {
				path = name
			}
			s, err := Open(t.Context(), path, o)
			if err != nil {
				t.Fatal(err)
			}
			e, err := s.Entry("w")
			if err != nil || s.Kind != GraphDef || e.DType != tensor.Float32 || !e.Shape.Equal(tensor.Shape{3, 4}) || e.Bytes != 48 {
				t.Errorf("%s: w is %+v, %v", name, e, err)
			}
			b, err := s.Read(t.Context(), "b")
			if want := tensor.Vector[float32](1, -1, 0.5, 0); err != nil || !b.Equal(want) {
				t.Errorf("%s: b is %v, want %v, %v", name, b, want, err)
			}
			if mark, err := s.Read(t.Context(), "mark"); err != nil || mark.Strings()[0] != "!" {
				t.Errorf("%s: mark is %v, %v", name, mark, err)
			}
			s.Close()
		}
	}
}

// TestFilesThatAreNoGraphDefSayWhatTheyAre: a SavedModel, and bytes cut off.
func TestFilesThatAreNoGraphDefSayWhatTheyAre(t *testing.T) {
	model, err := os.ReadFile("../savedmodel/testdata/models/table/saved_model.pb")
	if err != nil {
		t.Fatal(err)
	}
	graph, err := os.ReadFile("../savedmodel/testdata/graphs/frozen.pb")
	if err != nil {
		t.Fatal(err)
	}
	for want, b := range map[string][]byte{
		"SavedModel":                     model,
		"is no whole GraphDef":           graph[:len(graph)-9],
		"is no GraphDef: it has no node": nil,
	} {
		path := t.TempDir() + "/x.pb"
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
