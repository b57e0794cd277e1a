package demo

import (
	"context"
	"path/filepath"
	"testing"
)

func TestTheExportedModelServesAndTrainsOn(t *testing.T) {
	ctx := context.Background()
	r, err := New(t.TempDir(), &Options{Epochs: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Train(ctx, 0, nil); err != nil {
		t.Fatal(err)
	}
	want, err := r.Accuracy(ctx)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "export")
	if err := r.Export(ctx, dir); err != nil {
		t.Fatal(err)
	}
	got, err := Reload(ctx, dir, 30)
	if err != nil {
		t.Fatal(err)
	}
	if got.Accuracy != want {
		t.Errorf("the exported model reads %v of the digits right, the trained one %v", got.Accuracy, want)
	}
	if got.Last >= got.First {
		t.Errorf("the loss went from %v to %v", got.First, got.Last)
	}
}
