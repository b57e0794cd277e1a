package checkpoint

import (
	"errors"
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// TestSavesHeedTheRestoresOfOtherCheckpoints checks that if one Checkpoint
// restores a part of a program, such as a pretrained encoder, and another one
// saves the whole, the pending values of the first are delivered before the
// second saves, or refuse the save.
func TestSavesHeedTheRestoresOfOtherCheckpoints(t *testing.T) {
	type layer struct {
		trackable.Base
		Kernel *trackable.Variable
	}
	type encoder struct {
		trackable.Base
		Part  *orderPart
		Layer *layer
	}
	type part struct{ Encoder *encoder }
	type whole struct {
		Encoder *encoder
		Head    *trackable.Variable
	}
	src := written(t, &part{&encoder{Part: &orderPart{variable(7)}, Layer: &layer{Kernel: variable(8)}}}, nil)
	for name, o := range map[string]*RestoreOptions{"strict": nil, "allowing what is missing": {AllowMissing: true}} {
		t.Run(name, func(t *testing.T) {
			w := &whole{&encoder{Layer: new(layer)}, variable(1)}
			pretrained, run := newCheckpoint(t, &part{w.Encoder}, nil), newCheckpoint(t, w, nil)
			report := restored(t, pretrained, src, o)
			save := func() error { return run.WriteTo(ctx, vfs.MemDir(), "x") }
			refused := func(when string) {
				t.Helper()
				var pending *PendingError
				if err := save(); !errors.As(err, &pending) {
					t.Errorf("save %s: %v, want a PendingError", when, err)
				}
			}
			refused("before anything is there")
			w.Encoder.Part = &orderPart{variable(0)}
			refused("before the layer is built")
			wantFloats(t, w.Encoder.Part.V, 7)
			if err := w.Encoder.Layer.AddVariable(&w.Encoder.Layer.Kernel, "kernel", trackable.VariableSpec{Init: never(t)}); err != nil {
				t.Fatal(err)
			}
			if err := save(); err != nil {
				t.Error(err)
			}
			if err := report.AssertConsumed(); err != nil {
				t.Error(err)
			}
		})
	}

	t.Run("let go", func(t *testing.T) {
		w := &whole{&encoder{Layer: new(layer)}, variable(1)}
		restored(t, newCheckpoint(t, &part{w.Encoder}, nil), src, nil).ExpectPartial()
		if err := newCheckpoint(t, w, nil).WriteTo(ctx, vfs.MemDir(), "x"); err != nil {
			t.Error(err)
		}
	})

	t.Run("of objects that the save doesn't have", func(t *testing.T) {
		pretrained := newCheckpoint(t, &part{new(encoder)}, nil)
		restored(t, pretrained, src, nil)
		if err := newCheckpoint(t, &whole{new(encoder), variable(1)}, nil).WriteTo(ctx, vfs.MemDir(), "x"); err != nil {
			t.Error(err)
		}
		if pretrained.Root() == nil {
			t.Error("the restore's objects have gone")
		}
	})

	t.Run("written before it was put into place", func(t *testing.T) {
		w := &whole{new(encoder), variable(1)}
		pretrained := newCheckpoint(t, &part{w.Encoder}, nil)
		restored(t, pretrained, src, nil)
		w.Encoder.Part = &orderPart{variable(0)}
		if err := w.Encoder.Part.V.Store(tensor.Scalar[float32](5)); err != nil {
			t.Fatal(err)
		}
		var late *WrittenError
		if err := newCheckpoint(t, w, nil).WriteTo(ctx, vfs.MemDir(), "x"); !errors.As(err, &late) {
			t.Errorf("save: %v, want a WrittenError", err)
		}
		wantFloats(t, w.Encoder.Part.V, 5)
		if pretrained.Root() == nil {
			t.Error("the restore's objects have gone")
		}
	})

	t.Run("by name", func(t *testing.T) {
		dir := vfs.MemDir()
		b, err := bundle.NewWriter(dir, "ckpt", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.Add(ctx, "encoder/layer/kernel", tensor.Vector[float32](8)), b.Finish(ctx)); err != nil {
			t.Fatal(err)
		}
		w := &whole{&encoder{Layer: new(layer)}, variable(1)}
		pretrained := newCheckpoint(t, &part{w.Encoder}, nil)
		report := restored(t, pretrained, dir, &RestoreOptions{AllowMissing: true})
		if len(report.Deferred) != 1 {
			t.Fatalf("deferred %v, want the kernel", report.Deferred)
		}
		var pending *PendingError
		if err := newCheckpoint(t, w, nil).WriteTo(ctx, vfs.MemDir(), "x"); !errors.As(err, &pending) {
			t.Errorf("save: %v, want a PendingError", err)
		}
	})
}
