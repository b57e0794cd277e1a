package checkpoint

import (
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

func TestReportSumsUp(t *testing.T) {
	type model struct{ A, B, C *trackable.Variable }
	one := func() *trackable.Variable { return trackable.NewVariable(tensor.Vector[float32](1)) }
	dir := vfs.MemDir()
	if err := newCheckpoint(t, &model{one(), one(), nil}, nil).WriteTo(t.Context(), dir, "ckpt"); err != nil {
		t.Fatal(err)
	}
	r, err := newCheckpoint(t, &model{A: one()}, nil).ReadFS(t.Context(), dir, "ckpt", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "1 value restored from ckpt\n1 deferred, for objects still to come:\n\tb float32[1]"
	if got := r.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := new(Report).String(); got != "nothing restored" {
		t.Errorf("got %q", got)
	}
}
