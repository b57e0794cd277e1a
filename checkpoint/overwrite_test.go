package checkpoint

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/tensor"
)

// TestEveryFaultOfAWriteKeepsTheCheckpointThatWasThere makes each file operation
// fail of a write over a checkpoint of the same name and as many data files.
func TestEveryFaultOfAWriteKeepsTheCheckpointThatWasThere(t *testing.T) {
	values := func(dir *faultfs.FS) (string, error) {
		r, err := bundle.Open(ctx, dir, "ckpt", nil)
		if err != nil {
			return "", err
		}
		defer r.Close()
		if err := r.Verify(ctx, nil); err != nil {
			return "", err
		}
		text := ""
		for _, name := range r.Names() {
			v, err := r.Read(ctx, name)
			if err != nil {
				return "", err
			}
			if v.DType() == tensor.Float32 {
				text += fmt.Sprintln(name, tensor.Values[float32](v))
			}
		}
		return text, nil
	}
	for name, o := range map[string]*Options{
		"one data file":                             nil,
		"several data files":                        {Shards: MaxShardSize(16)},
		"a registered saver":                        {Savers: stackSavers(t)},
		"a registered saver and several data files": {Savers: stackSavers(t), Shards: MaxShardSize(8)},
	} {
		t.Run(name, func(t *testing.T) {
			base := faultfs.New()
			live := newStacks()
			ck := newCheckpoint(t, live, o)
			if err := ck.WriteTo(ctx, base, "ckpt"); err != nil {
				t.Fatal(err)
			}
			old, err := values(base)
			if err != nil {
				t.Fatal(err)
			}
			files := base.Names()
			live.Stack.Parts[2].Variable.Init(tensor.Vector[float32](-5, -6))
			live.Plain.Init(tensor.Vector[float32](-9))
			whole := base.AfterCrash(faultfs.LoseNone, 0)
			whole.Hook(func(faultfs.Op) error { return nil })
			if err := ck.WriteTo(ctx, whole, "ckpt"); err != nil {
				t.Fatal(err)
			}
			ops := whole.Ops()
			whole.Hook(nil)
			now, err := values(whole)
			if err != nil || now == old || !slices.Equal(whole.Names(), files) {
				t.Fatalf("the new one: %v\n%s%q", err, now, whole.Names())
			}
			for _, op := range ops {
				for how, fault := range map[string]error{"fails": faultfs.ErrFault, "fails, done": faultfs.Afterwards(faultfs.ErrFault)} {
					disk := base.AfterCrash(faultfs.LoseNone, 0)
					disk.FailAt(op.N, fault)
					err := ck.WriteTo(ctx, disk, "ckpt")
					disk.Hook(nil)
					got, readErr := values(disk)
					switch {
					case err != nil && !errors.Is(err, faultfs.ErrFault):
						t.Errorf("%v %s: %v", op, how, err)
					case readErr != nil:
						t.Errorf("%v %s: the checkpoint can't be read: %v; the disk holds %q", op, how, readErr, disk.Names())
					case err == nil && got != now, err != nil && got != old && got != now:
						t.Errorf("%v %s: after %v the checkpoint holds\n%s", op, how, err, got)
					case err != nil && got == now && op.Kind != faultfs.Remove:
						t.Errorf("%v %s: %v, but the checkpoint is the new one", op, how, err)
					}
				}
			}
		})
	}
}
