package inspect

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// opensFS counts how often a file is opened.
type opensFS struct {
	fs.FS
	opened int
}

func (f *opensFS) Open(name string) (fs.File, error) {
	f.opened++
	return f.FS.Open(name)
}

// TestManyTensorsAreSummedUpInFewOpens: a data file isn't opened again for each of
// its tensors, and the sums are those of one tensor at a time.
func TestManyTensorsAreSummedUpInFewOpens(t *testing.T) {
	const n = 5000
	tensors := map[string]*tensor.Tensor{"s": tensor.Scalar("text"), "large": tensor.Must(tensor.Zeros(tensor.Float32, 600_000))}
	for i := range n {
		tensors[fmt.Sprintf("v%04d", i)] = tensor.Vector[float32](float32(i), 1)
	}
	prefix := write(t, tensors).Prefix
	f := &opensFS{FS: os.DirFS(filepath.Dir(prefix))}
	s, err := tensorfile.Open(t.Context(), filepath.Base(prefix), &tensorfile.Options{FS: f})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f.opened = 0
	var got []Stats
	if err := StatEach(t.Context(), s, s.Entries(), func(_ tensorfile.Entry, sum Stats) { got = append(got, sum) }); err != nil {
		t.Fatal(err)
	}
	if f.opened > 10 {
		t.Errorf("files are opened %d times for %d tensors", f.opened, len(got))
	}
	var c tensorfile.Scratch
	for i := range s.Entries().Len() {
		e := s.Entries().At(i)
		want, err := StatEntry(t.Context(), s, e, &c)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got[i]); d != "" {
			t.Fatal(d)
		}
	}
}

// TestManyScalarsShowTheirValues: among some thousand scalars none is shown with
// its value and its neighbour without.
func TestManyScalarsShowTheirValues(t *testing.T) {
	tensors := map[string]*tensor.Tensor{}
	for i := range 3000 {
		tensors[fmt.Sprintf("v%d", i)] = tensor.Scalar(float32(i))
	}
	values := SmallValues(t.Context(), write(t, tensors))
	if len(values) != len(tensors) || values["v2999"] != "2999" {
		t.Errorf("%d of %d scalars have a value, v2999 is %q", len(values), len(tensors), values["v2999"])
	}
}
