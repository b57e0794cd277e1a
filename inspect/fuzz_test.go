package inspect

import (
	"io"
	"testing"

	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

func FuzzObjectGraph(f *testing.F) {
	for _, prefix := range []string{"guide/ckpt-1", "objects/o", "saved_model"} {
		s, err := tensorfile.Open(f.Context(), "../cmd/cairn/testdata/tf2.21/"+prefix, nil)
		if err != nil {
			f.Fatal(err)
		}
		t, err := s.Read(f.Context(), tensorfile.GraphKey)
		s.Close()
		if err != nil {
			f.Fatal(err)
		}
		raw, err := tensor.Item[string](t)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		g := new(pb.TrackableObjectGraph)
		if g.Unmarshal(raw) != nil || len(g.Nodes) == 0 || len(checkGraph(g)) > 0 {
			return
		}
		d := objectGraph(&tensorfile.File{}, g, nil)
		for _, err := range []error{d.SVG(io.Discard), d.DOT(io.Discard), d.Text(io.Discard, &render.TextOptions{})} {
			if err != nil {
				t.Fatal(err)
			}
		}
		side, err := newGraphSide(&tensorfile.File{}, g)
		if err != nil {
			t.Fatal(err)
		}
		itself := &graphDiff{ctx: t.Context(), a: side, b: side}
		if err := itself.walk(); err != nil || len(itself.out)+itself.more > 0 {
			t.Fatalf("a graph differs from itself: %v, %v", itself.out, err)
		}
	})
}
