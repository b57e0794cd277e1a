package bundle

import (
	"errors"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/tensor"
)

// TestNothingIsWrittenAfterAbort checks that every later call returns the cause, and
// that no file is created again.
func TestNothingIsWrittenAfterAbort(t *testing.T) {
	for what, fails := range map[string]bool{"a sound writer": false, "one that failed": true} {
		t.Run(what, func(t *testing.T) {
			disk := faultfs.New()
			w, err := NewWriter(disk, "ckpt", nil)
			if err != nil {
				t.Fatal(err)
			}
			x := tensor.Vector[float32](1, 2)
			if err := w.Add(t.Context(), "a", x); err != nil {
				t.Fatal(err)
			}
			want := "aborted"
			if fails {
				want = faultfs.ErrFault.Error()
				disk.Hook(func(op faultfs.Op) error { return faultfs.ErrFault })
				if err := w.NextShard(); err == nil {
					err = w.Add(t.Context(), "b", tensor.Must(tensor.Zeros(tensor.Float32, 1<<20)))
					if !errors.Is(err, faultfs.ErrFault) {
						t.Fatalf("error %v", err)
					}
				}
				disk.Hook(nil)
			}
			if err := w.Abort(); err != nil {
				t.Fatal(err)
			}
			for call, f := range map[string]func() error{
				"Add":       func() error { return w.Add(t.Context(), "c", x) },
				"NextShard": w.NextShard,
				"Finish":    func() error { return w.Finish(t.Context()) },
			} {
				if err := f(); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %q", call, err, want)
				}
			}
			if names := disk.Names(); len(names) > 0 {
				t.Errorf("the disk holds %q", names)
			}
			if err := w.Abort(); err != nil {
				t.Errorf("a second Abort: %v", err)
			}
		})
	}
}

// TestAbortTellsOfEachFileThatStays checks that the index is removed before its data,
// and that a file that can't be removed doesn't prevent the removal of the others.
func TestAbortTellsOfEachFileThatStays(t *testing.T) {
	for _, stays := range []string{".index", ".data-"} {
		disk := faultfs.New()
		w, err := NewWriter(disk, "ckpt", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(t.Context(), "a", tensor.Vector[float32](1, 2)); err != nil {
			t.Fatal(err)
		}
		disk.Hook(func(op faultfs.Op) error {
			if op.Kind == faultfs.Rename {
				return faultfs.ErrFault
			}
			return nil
		})
		if err := w.Finish(t.Context()); !errors.Is(err, faultfs.ErrFault) {
			t.Fatalf("error %v", err)
		}
		var removed []string
		disk.Hook(func(op faultfs.Op) error {
			if op.Kind != faultfs.Remove {
				return nil
			}
			removed = append(removed, op.Name)
			if strings.Contains(op.Name, stays) {
				return faultfs.ErrFault
			}
			return nil
		})
		if err := w.Abort(); !errors.Is(err, faultfs.ErrFault) {
			t.Errorf("%s stays: error %v", stays, err)
		}
		if len(removed) != 2 || !strings.Contains(removed[0], ".index") || !strings.Contains(removed[1], ".data-") {
			t.Errorf("%s stays: removed %q", stays, removed)
		}
		if names := disk.Names(); len(names) != 1 || !strings.Contains(names[0], stays) {
			t.Errorf("%s stays: the disk holds %q", stays, names)
		}
	}
}
