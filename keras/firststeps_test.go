package keras

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// firstFile writes the checkpoint that TensorFlow 1's Saver makes of a layer
// that Adam trains: variables, slots, powers and, if steps is set, the count of
// steps.
func firstFile(t *testing.T, counts map[string]*tensor.Tensor) *vfs.Mem {
	t.Helper()
	dir := vfs.MemDir()
	w, err := bundle.NewWriter(dir, "ckpt-1", nil)
	must(t, err)
	ctx := context.Background()
	for i, n := range append([]string{"places/dense/kernel", "places/dense/bias"}, firstNames...) {
		f := float32(i + 1)
		x := vec(f, 2*f, 3*f)
		if strings.Contains(n, "kernel") {
			x = mat(3, 3, f, 2*f, 3*f, 4*f, 5*f, 6*f, 7*f, 8*f, 9*f)
		}
		must(t, w.Add(ctx, n, x))
	}
	for name, x := range counts {
		must(t, w.Add(ctx, name, x))
	}
	must(t, w.Finish(ctx))
	return dir
}

// powers returns the powers of Adam's rates after n steps, as float32 products.
func powers(scope string, n int) map[string]*tensor.Tensor {
	one, two := float32(0.9), float32(0.999)
	for range n {
		one, two = one*0.9, two*0.999
	}
	return map[string]*tensor.Tensor{scope + "beta1_power": tensor.Scalar(one), scope + "beta2_power": tensor.Scalar(two)}
}

// TestFirstTrainingRunsGoOn checks that a strict restore takes all of a training
// checkpoint of TensorFlow 1, and that the optimizer continues to count, in
// whatever order objects are made.
func TestFirstTrainingRunsGoOn(t *testing.T) {
	ctx := context.Background()
	with := func(counts map[string]*tensor.Tensor, name string, x *tensor.Tensor) map[string]*tensor.Tensor {
		counts[name] = x
		return counts
	}
	for _, c := range []struct {
		name   string
		counts map[string]*tensor.Tensor
		want   int64
	}{
		{"powers", powers("", 7), 7},
		{"powers in a scope", powers("train/", 300), 300},
		{"powers of many steps", powers("", 2500), 2500},
		{"powers and a count", with(powers("", 7), "global_step", tensor.Scalar(int64(7))), 7},
		{"a count", map[string]*tensor.Tensor{"global_step": tensor.Scalar(int64(123456789))}, 123456789},
		{"a count of int32", map[string]*tensor.Tensor{"global_step": tensor.Scalar(int32(9))}, 9},
	} {
		dir := firstFile(t, c.counts)
		var want []float64
		inEveryMode(t, func(t *testing.T, m mode) {
			for _, order := range []string{"build, restore", "restore, build", "train, restore"} {
				r := newRun(t, m)
				r.Step = nil
				must(t, fills["field"](r.Net))
				for _, step := range strings.Split(order, ", ") {
					switch step {
					case "build":
						_, err := r.out(ctx, batchOf2)
						must(t, err)
					case "train":
						_, err := r.step(ctx, batchOf2)
						must(t, err)
					case "restore":
						r.restore(dir, nil)
					}
				}
				if n, err := r.Optimizer.Iterations(); n != c.want || err != nil {
					t.Errorf("%s, %s: %d steps, %v; want %d", c.name, order, n, err, c.want)
				}
				_, err := r.step(ctx, batchOf2)
				must(t, err)
				got := floats(t, r.Net.Field.Kernel.Load())
				if want == nil {
					want = got
				} else if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s, %s: after a step (-want +got):\n%s", c.name, order, d)
				}
				must(t, r.ck.WriteTo(ctx, vfs.MemDir(), "x"))
			}
		})
	}
}

// TestFirstCountsAreRefusedByName checks that the error names counts that no
// optimizer takes, and that a wrong count is an error.
func TestFirstCountsAreRefusedByName(t *testing.T) {
	ctx := context.Background()
	build := func() *run {
		r := newRun(t, modes[0])
		r.Step = nil
		must(t, fills["field"](r.Net))
		_, err := r.out(ctx, batchOf2)
		must(t, err)
		return r
	}
	r := build()
	r.Optimizer.SetLayout(optimizers.NewLayout)
	var refused *checkpoint.RestoreError
	_, err := r.ck.RestoreFS(ctx, firstFile(t, powers("", 3)), "ckpt-1", nil)
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "TensorFlow 1") || !strings.Contains(err.Error(), "legacy layout") {
		t.Errorf("the new layout: %v", err)
	}
	for _, counts := range []map[string]*tensor.Tensor{
		{"global_step": tensor.Scalar(int64(-1))},
		{"global_step": tensor.Scalar(float32(1.5))},
		{"beta1_power": tensor.Scalar(float32(math.NaN())), "beta2_power": tensor.Scalar(float32(2))},
	} {
		r := build()
		if _, err := r.ck.RestoreFS(ctx, firstFile(t, counts), "ckpt-1", nil); err == nil || !strings.Contains(err.Error(), "optimizers: ") {
			t.Errorf("%v: %v", counts, err)
		}
	}
}

// TestFirstTrainingGoesOnAsInTensorFlow holds three steps from a checkpoint of
// TensorFlow 1 to those that TensorFlow made; testdata/tf2.21/gen_first.py records
// them.
func TestFirstTrainingGoesOnAsInTensorFlow(t *testing.T) {
	ctx := context.Background()
	after := npz(t, "first_adam/after.npz")
	want := func(name string) []float64 {
		x, err := after.Read(ctx, name)
		must(t, err)
		return floats(t, x)
	}
	inEveryMode(t, func(t *testing.T, m mode) {
		r := newRun(t, m)
		r.Step = nil
		must(t, fills["field"](r.Net))
		_, err := r.ck.RestoreFS(ctx, os.DirFS("testdata/tf2.21/first_adam"), "ckpt-1", nil)
		must(t, err)
		var losses []float64
		for range 3 {
			v, err := r.step(ctx, batchOf2)
			must(t, err)
			x, err := v.Tensor()
			must(t, err)
			losses = append(losses, floats(t, x)...)
		}
		for _, c := range []struct {
			name string
			got  []float64
		}{
			{"losses", losses},
			{"kernel", floats(t, r.Net.Field.Kernel.Load())},
			{"bias", floats(t, r.Net.Field.Bias.Load())},
		} {
			if d := cmp.Diff(want(c.name), c.got, cmpopts.EquateApprox(1e-6, 1e-6)); d != "" {
				t.Errorf("%s (-TensorFlow +here):\n%s", c.name, d)
			}
		}
	})
}
