package bundle

import (
	"fmt"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// openCount counts the files that are open for writing.
type openCount struct {
	vfs.Dir
	open, most, synced int
}

type countedWrite struct {
	vfs.File
	d *openCount
}

func (d *openCount) Create(name string) (vfs.File, error) {
	f, err := d.Dir.Create(name)
	if err != nil {
		return nil, err
	}
	d.open++
	d.most = max(d.most, d.open)
	return &countedWrite{f, d}, nil
}

func (f *countedWrite) Sync() error {
	f.d.synced++
	return f.File.Sync()
}

func (f *countedWrite) Close() error {
	f.d.open--
	return f.File.Close()
}

// TestManyDataFilesAreNotAllHeldOpen: a copy of a checkpoint of many data files
// holds few of them open, and every one of them is made durable once.
func TestManyDataFilesAreNotAllHeldOpen(t *testing.T) {
	const n = 3*handles + 1
	ctx := t.Context()
	from := vfs.MemDir()
	w, err := NewWriter(from, "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := w.NextShard(); err != nil {
			t.Fatal(err)
		}
		if err := w.Add(ctx, fmt.Sprint(i), tensor.Vector[float32](float32(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(ctx); err != nil {
		t.Fatal(err)
	}
	r, err := Open(ctx, from, "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	to := &openCount{Dir: vfs.MemDir()}
	if w, err = NewWriter(to, "b", &WriterOptions{Like: r}); err != nil {
		t.Fatal(err)
	}
	if err := w.CopyAll(ctx, r, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(ctx); err != nil {
		t.Fatal(err)
	}
	if to.most > handles+1 || to.open != 0 {
		t.Errorf("%d files are open at once, %d at the end", to.most, to.open)
	}
	if to.synced != n+1 {
		t.Errorf("%d of %d files are made durable", to.synced, n+1)
	}
	if r, err = Open(ctx, to, "b", nil); err != nil || r.Len() != n {
		t.Fatal(r, err)
	}
	if err := r.Verify(ctx, nil); err != nil {
		t.Error(err)
	}
}
