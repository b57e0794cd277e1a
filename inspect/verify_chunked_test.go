package inspect

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/internal/chunked"
	"github.com/cairnml/cairn/internal/fingerprint"
	"github.com/cairnml/cairn/internal/pb"
)

// TestVerifyComparesTheFingerprintOfChunks writes a model in chunks with a fingerprint,
// and then with that of other chunks.
func TestVerifyComparesTheFingerprintOfChunks(t *testing.T) {
	files := modelFiles(t, "module")
	index := files["m/variables/variables.index"].Data
	raw := files["m/saved_model.pb"].Data
	delete(files, "m/saved_model.pb")
	write := func(name string) []byte {
		var m pb.SavedModel
		if err := m.Unmarshal(raw); err != nil {
			t.Fatal(err)
		}
		m.MetaGraphs[0].MetaInfoDef.TensorflowVersion = name
		m.MetaGraphs[0].SignatureDef[0].Value.MethodName += name
		var b bytes.Buffer
		var c fingerprint.Chunks
		if err := chunked.Write(&b, &m, 500, c.Add); err != nil {
			t.Fatal(err)
		}
		f, err := c.Fingerprint(index)
		if err != nil {
			t.Fatal(err)
		}
		files["m/saved_model.cpb"] = &fstest.MapFile{Data: b.Bytes(), Mode: 0o666}
		return f.Marshal()
	}
	verify := func(mark []byte) []string {
		files["m/fingerprint.pb"] = &fstest.MapFile{Data: mark, Mode: 0o666}
		_, faults, err := Verify(t.Context(), "m", in(files))
		if err != nil {
			t.Fatal(err)
		}
		var what []string
		for _, f := range faults {
			what = append(what, f.What)
		}
		return what
	}
	other := write("b")
	own := write("a")
	if faults := verify(own); len(faults) > 0 {
		t.Errorf("faults of a sound model: %q", faults)
	}
	if faults := verify(other); len(faults) == 0 || !strings.Contains(strings.Join(faults, " "), "the signatures") {
		t.Errorf("faults with another model's fingerprint: %q", faults)
	}
}
