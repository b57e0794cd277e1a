package keras

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// namedFile writes a checkpoint without an object graph: the kernel and bias of a
// layer and the given names, values by the ends of the names.
func namedFile(t *testing.T, names ...string) *vfs.Mem {
	t.Helper()
	dir := vfs.MemDir()
	w, err := bundle.NewWriter(dir, "ckpt-1", nil)
	must(t, err)
	for i, n := range append([]string{"places/dense/kernel", "places/dense/bias"}, names...) {
		f := float32(i + 1)
		var x *tensor.Tensor
		switch {
		case strings.Contains(n, "bias"):
			x = vec(f, 2*f, 3*f)
		case strings.Contains(n, "kernel"):
			x = mat(3, 3, f, 2*f, 3*f, 4*f, 5*f, 6*f, 7*f, 8*f, 9*f)
		default:
			x = tensor.Scalar(f)
		}
		must(t, w.Add(context.Background(), n, x))
	}
	must(t, w.Finish(context.Background()))
	return dir
}

var (
	kerasSlots = []string{"Adam/places/dense/kernel/m", "Adam/places/dense/kernel/v", "Adam/places/dense/bias/m", "Adam/places/dense/bias/v"}
	firstNames = []string{"places/dense/kernel/Adam", "places/dense/kernel/Adam_1", "places/dense/bias/Adam", "places/dense/bias/Adam_1"}
)

// TestSlotsOfNameBasedFilesAreNeverBegunAnew checks that the optimizer's first
// step continues from the slots in the file, whatever comes first: the restore,
// the layer, or that step.
func TestSlotsOfNameBasedFilesAreNeverBegunAnew(t *testing.T) {
	ctx := context.Background()
	values := func(r *run) [][]float64 {
		var out [][]float64
		for _, v := range Variables(r.Net) {
			out = append(out, floats(t, v.Load()))
			for _, slot := range []string{"m", "v"} {
				out = append(out, floats(t, r.Optimizer.Slot(v, slot).Load()))
			}
		}
		return out
	}
	inEveryMode(t, func(t *testing.T, m mode) {
		var want [][]float64
		for _, names := range [][]string{kerasSlots, firstNames} {
			dir := namedFile(t, names...)
			for _, order := range []string{"build, restore", "field, restore", "restore, field", "restore, List", "build, train, restore"} {
				r := newRun(t, m)
				r.Step = nil
				steps := strings.Split(order, ", ")
				for _, step := range steps {
					switch step {
					case "build":
						must(t, fills["field"](r.Net))
						_, err := r.out(ctx, batchOf2)
						must(t, err)
					case "train":
						_, err := r.step(ctx, batchOf2)
						must(t, err)
					case "restore":
						// The optimizer's counters aren't in such a file.
						r.restore(dir, &checkpoint.RestoreOptions{AllowMissing: true})
					default:
						must(t, fills[step](r.Net))
					}
				}
				if steps[1] == "train" {
					// Its counter stays, so that another step would be another one.
					if d := cmp.Diff(floats(t, r.Optimizer.Slot(Variables(r.Net)[0], "m").Load()), []float64{3, 6, 9, 12, 15, 18, 21, 24, 27}); d != "" {
						t.Errorf("%s, %s: m (-got +want):\n%s", names[0], order, d)
					}
					continue
				}
				_, err := r.step(ctx, batchOf2)
				must(t, err)
				must(t, r.ck.WriteTo(ctx, vfs.MemDir(), "x"))
				if got := values(r); want == nil {
					want = got
					if m := got[1][8]; m < 20 { // 0.9 of 27, and a gradient
						t.Errorf("m was begun anew: %v", got[1])
					}
				} else if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s, %s: after a step (-built before +this order):\n%s", names[0], order, d)
				}
			}
		}
	})
}

// TestNamesThatNothingTakesStayPending checks that values that were deferred for
// a layer that might have taken them don't vanish once the layer is built.
func TestNamesThatNothingTakesStayPending(t *testing.T) {
	ctx := context.Background()
	inEveryMode(t, func(t *testing.T, m mode) {
		r := newRun(t, m)
		r.Step = nil
		must(t, fills["field"](r.Net))
		report := r.restore(namedFile(t, append(firstNames, "places/dense/kernel/Adam_2")...), &checkpoint.RestoreOptions{AllowMissing: true})
		_, err := r.step(ctx, batchOf2)
		must(t, err)
		var pending *checkpoint.PendingError
		if err := r.ck.WriteTo(ctx, vfs.MemDir(), "x"); !errors.As(err, &pending) || !strings.Contains(err.Error(), "Adam_2") {
			t.Errorf("save: %v, want a PendingError about Adam_2", err)
		}
		report.ExpectPartial()
		must(t, r.ck.WriteTo(ctx, vfs.MemDir(), "x"))
	})
}

func TestSlotFullNames(t *testing.T) {
	centered := optimizers.NewRMSprop(0.1)
	centered.Centered, centered.Momentum = true, 0.9
	momentum := optimizers.NewSGD(0.1)
	momentum.Momentum = 0.9
	renamed := optimizers.NewAdam(0.1)
	renamed.Name = "Mine"
	for _, c := range []struct {
		o interface {
			SlotFullNames(variable, slot string) []string
		}
		slot string
		want []string
	}{
		{optimizers.NewAdam(0.1), "m", []string{"Adam/k/m", "k/Adam"}},
		{optimizers.NewAdam(0.1), "v", []string{"Adam/k/v", "k/Adam_1"}},
		{optimizers.NewAdam(0.1), "vhat", nil},
		{renamed, "v", []string{"Mine/k/v", "k/Mine_1", "k/Adam_1"}},
		{momentum, "momentum", []string{"SGD/k/momentum", "k/SGD", "k/Momentum"}},
		{optimizers.NewSGD(0.1), "momentum", nil},
		{centered, "rms", []string{"RMSprop/k/rms", "k/RMSprop", "k/RMSProp"}},
		{centered, "mg", []string{"RMSprop/k/mg", "k/RMSprop_1", "k/RMSProp_1"}},
		{centered, "momentum", []string{"RMSprop/k/momentum", "k/RMSprop_2", "k/RMSProp_2"}},
		{optimizers.NewFtrl(0.1), "linear", []string{"Ftrl/k/linear", "k/Ftrl_1"}},
	} {
		if d := cmp.Diff(c.want, c.o.SlotFullNames("k", c.slot)); d != "" {
			t.Errorf("%T, slot %s (-want +got):\n%s", c.o, c.slot, d)
		}
	}
}
