package bundle

import (
	"errors"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/tensor"
)

// TestATensorIsReadAhead checks that the first Read returns the value or error that
// Open read, and that later ones, and those of other tensors, read the file.
func TestATensorIsReadAhead(t *testing.T) {
	disk := faultfs.New()
	write(t, disk, "p", nil, func(w *Writer) {
		w.Add(t.Context(), "a", tensor.Vector(int32(1), 2))
		w.Add(t.Context(), "b", tensor.Vector("x", "y"))
	})
	open := func(ahead string) *Reader {
		t.Helper()
		r, err := Open(t.Context(), disk, "p", &ReaderOptions{Ahead: ahead})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	const data = "p.data-00000-of-00001"
	r, none, closed := open("b"), open("c"), open("b")
	size := 2 * 4
	disk.Damage(data, size, size+1)
	if v, err := r.Read(t.Context(), "b"); err != nil || v.Strings()[1] != "y" {
		t.Errorf("what was read before the damage: %v, %v", v, err)
	}
	var corrupt *CorruptError
	if _, err := r.Read(t.Context(), "b"); !errors.As(err, &corrupt) || corrupt.Name != "b" {
		t.Errorf("the second read: %v", err)
	}
	for range 2 {
		if v, err := r.Read(t.Context(), "a"); err != nil || tensor.Values[int32](v)[1] != 2 {
			t.Errorf("another tensor: %v, %v", v, err)
		}
	}
	if _, err := none.Read(t.Context(), "c"); !errors.As(err, new(*NotFoundError)) {
		t.Errorf("a tensor that isn't there: %v", err)
	}
	closed.Close()
	if _, err := closed.Read(t.Context(), "b"); err == nil {
		t.Error("a closed reader reads")
	}
	// A fault doesn't keep Open from its work.
	r = open("b")
	if _, err := r.Read(t.Context(), "b"); !errors.As(err, &corrupt) || corrupt.Name != "b" {
		t.Errorf("damaged when it is read ahead: %v", err)
	}
}
