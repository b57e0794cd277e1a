package vfs_test

import (
	"errors"
	"io"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/vfs"
)

func TestWrittenFilesOutliveACrash(t *testing.T) {
	dir := faultfs.New()
	write := func(w io.Writer) error {
		_, err := io.WriteString(w, "text")
		return err
	}
	if err := errors.Join(vfs.WriteFile(dir, "a/b", write), dir.Sync()); err != nil {
		t.Fatal(err)
	}
	if got := holds(t, dir.AfterCrash(faultfs.LoseAll, 1)); got != "a/b=text" {
		t.Errorf("after a crash there is %q", got)
	}
}

func TestWriteFileTellsWhatFails(t *testing.T) {
	for n := range 4 { // Create, Write, Sync, Close
		dir, fault := faultfs.New(), errors.New("fault")
		dir.FailAt(n, fault)
		err := vfs.WriteFile(dir, "f", func(w io.Writer) error {
			_, err := io.WriteString(w, "text")
			return err
		})
		if !errors.Is(err, fault) {
			t.Errorf("with operation %d failing: %v", n, err)
		}
		if open := dir.Handles(); len(open) > 0 {
			t.Errorf("with operation %d failing, %v stays open", n, open)
		}
	}
}
