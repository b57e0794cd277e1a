package keras

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/internal/optimizertest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/optimizers/schedules"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// watched is a model that counts its losses.
type watched struct {
	Model
	L1   *layers.Dense
	Seen *metrics.Mean
}

func (w *watched) Call(s *ops.Scope, x ops.Input) *ops.Value { return w.L1.Call(s, x) }

// averages are moving averages of a model's variables, made at the first step.
type averages struct {
	trackable.Base
	Of *trackable.List[*trackable.Variable]
}

// trackedTraining holds all that gen_keras.py's "tracked" tracks.
type trackedTraining struct {
	Averages  *averages
	Optimizer *optimizers.Adam
	Net       *watched
}

func newTracked() *trackedTraining {
	return &trackedTraining{
		&averages{Of: trackable.NewList[*trackable.Variable]()},
		optimizertest.Makes["adam_rated"]().(*optimizers.Adam),
		&watched{L1: &layers.Dense{Units: 5}, Seen: new(metrics.Mean)},
	}
}

// step takes the step of that number.
func (tr *trackedTraining) step(t *testing.T, i int) float64 {
	t.Helper()
	x, y := toy()
	at := i * 2 % 10
	run := func(f func(s *ops.Scope) *ops.Value) *ops.Value {
		v, err := function.New(func(s *ops.Scope, _ struct{}) *ops.Value { return f(s) }).Call(context.Background(), struct{}{})
		must(t, err)
		return v
	}
	loss := run(func(s *ops.Scope) *ops.Value {
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			return ops.Mean(s, ops.Abs(s, ops.Sub(s, tr.Net.Call(s, rowsOf(t, x, at, at+2)), rowsOf(t, y, at, at+2))))
		})
		tr.Optimizer.Apply(s, tape.Gradient(loss, Trainable(tr.Net)))
		tr.Net.Seen.Update(s, loss, nil)
		return loss
	})
	vars := Trainable(tr.Net)
	for j := tr.Averages.Of.Len(); j < len(vars); j++ {
		must(t, tr.Averages.Of.Append(trackable.NewVariable(vars[j].Load().Clone()).SetTrainable(false)))
	}
	run(func(s *ops.Scope) *ops.Value {
		for j, v := range vars {
			a := tr.Averages.Of.At(j)
			ops.AssignSub(s, a, ops.Mul(s, ops.Sub(s, a, v), 0.5))
		}
		rate := &tr.Optimizer.Schedule.(*optimizertest.Rated).Of.Variable
		ops.AssignAdd(s, rate, 0.25)
		return ops.ReadVariable(s, rate)
	})
	l, err := ops.Item[float32](loss)
	must(t, err)
	return float64(l)
}

// TestEverythingTrackedGoesOn checks that a metric, moving averages and a schedule's
// variable continue from TensorFlow's checkpoint, whenever they were made and whatever
// they had counted, and from the checkpoint of another manager.
func TestEverythingTrackedGoesOn(t *testing.T) {
	ctx := context.Background()
	theirs := filepath.Join(fixtures, "tracked", "ckpt-1")
	after := npz(t, filepath.Join("tracked", "after.npz"))
	goOn := func(t *testing.T, tr *trackedTraining) {
		t.Helper()
		losses := floats(t, array(t, after, "losses"))
		for i := 5; i < 10; i++ {
			near(t, "loss", tensor.Scalar(tr.step(t, i)), tensor.Scalar(losses[i]), 1e-5, 1e-3)
		}
		for name, got := range map[string]*trackable.Variable{
			"kernel": tr.Net.L1.Kernel, "bias": tr.Net.L1.Bias, "kernel_average": tr.Averages.Of.At(0), "bias_average": tr.Averages.Of.At(1),
			"total": tr.Net.Seen.Total, "count": tr.Net.Seen.Count, "rate": &tr.Optimizer.Schedule.(*optimizertest.Rated).Of.Variable,
		} {
			near(t, name, got.Load(), array(t, after, name), 1e-5, 1e-3)
		}
	}
	restore := func(t *testing.T, tr *trackedTraining) (*checkpoint.Checkpoint, *checkpoint.Report) {
		t.Helper()
		ck, err := checkpoint.New(tr, nil)
		must(t, err)
		report, err := ck.Restore(ctx, theirs, nil)
		must(t, err)
		return ck, report
	}
	t.Run("before anything is made", func(t *testing.T) {
		tr := newTracked()
		_, report := restore(t, tr)
		goOn(t, tr)
		must(t, report.AssertConsumed())
	})
	t.Run("after training", func(t *testing.T) {
		tr := newTracked()
		tr.step(t, 0)
		tr.step(t, 1)
		_, report := restore(t, tr)
		must(t, report.AssertConsumed())
		goOn(t, tr)
	})
	t.Run("before the schedule is set", func(t *testing.T) {
		tr := newTracked()
		tr.Optimizer.Schedule = nil
		_, report := restore(t, tr)
		tr.Optimizer.Schedule = optimizertest.NewRated(7)
		goOn(t, tr)
		must(t, report.AssertConsumed())
	})
	t.Run("saved by another manager", func(t *testing.T) {
		dirs := []*vfs.Mem{vfs.MemDir(), vfs.MemDir()}
		first := newTracked()
		ck, _ := restore(t, first)
		first.step(t, 5)
		must(t, ck.Sync(ctx))
		_, err := ck.Restore(ctx, theirs, nil) // and back to step 5
		must(t, err)
		var saved []string
		for i := range 3 {
			m, err := checkpoint.NewManager(ck, "run", &checkpoint.ManagerOptions{Dir: dirs[i%2]})
			must(t, err)
			path, err := m.Save(ctx)
			must(t, err)
			saved = append(saved, path)
			must(t, m.Close())
		}
		// One Checkpoint counts for both, as in TensorFlow.
		if d := cmp.Diff([]string{"run/ckpt-2", "run/ckpt-3", "run/ckpt-4"}, saved); d != "" {
			t.Errorf("saved (-want +got):\n%s", d)
		}
		tr := newTracked()
		again, err := checkpoint.New(tr, nil)
		must(t, err)
		_, err = again.RestoreFS(ctx, dirs[1], "ckpt-3", nil)
		must(t, err)
		goOn(t, tr)
	})
	t.Run("of the objects, only the model's", func(t *testing.T) {
		net := newTracked().Net
		ck, err := checkpoint.New(&struct{ Net *watched }{net}, nil)
		must(t, err)
		_, err = ck.Restore(ctx, theirs, nil)
		if err == nil {
			t.Error("a strict restore leaves the optimizer's values")
		}
		_, err = ck.Restore(ctx, theirs, &checkpoint.RestoreOptions{Partial: true})
		must(t, err)
		if n := tensor.Values[float32](net.Seen.Count.Load())[0]; n != 5 {
			t.Errorf("the metric has counted %v", n)
		}
	})
}

// TestASchedulesVariablesAreSaved checks that the variables of a schedule by value,
// which no restore could reach, are an error; a schedule without variables is no
// node.
func TestASchedulesVariablesAreSaved(t *testing.T) {
	for name, c := range map[string]struct {
		s       schedules.Schedule
		tracked bool
	}{
		"none": {nil, false}, "without variables": {optimizertest.Halving, false}, "by pointer, without variables": {&optimizertest.Halving, false},
		"nil": {(*optimizertest.Rated)(nil), false}, "with one": {optimizertest.NewRated(1), true},
	} {
		o := optimizers.NewAdam(1)
		o.Schedule = c.s
		if got := len(o.TrackableChildren()) > 0; got != c.tracked {
			t.Errorf("%s: tracked %v", name, got)
		}
	}
	for i, o := range []*optimizers.Adam{optimizers.NewAdam(1), optimizertest.With(optimizers.NewAdam(1), func(o *optimizers.Adam) { must(t, o.SetLayout(optimizers.NewLayout)) })} {
		w := trackable.NewVariable(tensor.Vector[float32](1))
		o.Schedule = optimizertest.NewRated(1)
		root := &struct{ O *optimizers.Adam }{o}
		ck, err := checkpoint.New(root, nil)
		must(t, err)
		must(t, o.Build([]*trackable.Variable{w}))
		_, err = ck.SaveTo(context.Background(), vfs.MemDir(), "first")
		must(t, err)
		o.Schedule = optimizertest.NewRated(2)
		if _, err := ck.SaveTo(context.Background(), vfs.MemDir(), "second"); err == nil {
			t.Errorf("layout %d: saved with another schedule than it was made with", i)
		}
	}
	o := optimizers.NewAdam(1)
	o.Schedule = byValue{trackable.NewScalar[float32](1)}
	if _, err := checkpoint.New(&struct{ O *optimizers.Adam }{o}, nil); err == nil {
		t.Error("variables of a schedule by value are left out")
	}
}

// TestAScheduleWithVariablesNeedsItsLayoutSet: an optimizer without the layout of the
// file refuses it whole, and takes it once SetLayout was called.
func TestAScheduleWithVariablesNeedsItsLayoutSet(t *testing.T) {
	ctx := context.Background()
	type root struct {
		O *optimizers.Adam
		W *trackable.Variable
	}
	made := func(rate, w float32) *root {
		o := optimizers.NewAdam(1)
		o.Schedule = optimizertest.NewRated(rate)
		return &root{o, trackable.NewVariable(tensor.Vector(w))}
	}
	for name, layout := range map[string]optimizers.Layout{"new": optimizers.NewLayout, "Keras 3": optimizers.Keras3Layout} {
		t.Run(name, func(t *testing.T) {
			old := made(3, 5)
			must(t, old.O.SetLayout(layout))
			must(t, old.O.Build([]*trackable.Variable{old.W}))
			ck, err := checkpoint.New(old, nil)
			must(t, err)
			dir := t.TempDir()
			path, err := ck.Save(ctx, filepath.Join(dir, "ckpt"))
			must(t, err)

			r := made(1, 2)
			ck, err = checkpoint.New(r, nil)
			must(t, err)
			var refused *checkpoint.RestoreError
			if _, err := ck.Restore(ctx, path, nil); !errors.As(err, &refused) {
				t.Fatalf("restored without SetLayout: %v", err)
			}
			values := func() [2]float32 {
				return [2]float32{tensor.Values[float32](r.O.Schedule.(*optimizertest.Rated).Of.Load())[0], tensor.Values[float32](r.W.Load())[0]}
			}
			if got := values(); got != [2]float32{1, 2} {
				t.Errorf("the refused restore changed rate and variable to %v", got)
			}
			must(t, r.O.SetLayout(layout))
			report, err := ck.Restore(ctx, path, nil)
			must(t, err)
			must(t, r.O.Build([]*trackable.Variable{r.W}))
			must(t, report.AssertConsumed())
			if got := values(); got != [2]float32{3, 5} {
				t.Errorf("restored %v, wants the file's 3 and 5", got)
			}
		})
	}
}

// TestAScheduleInKeras3sLayout: the edges are TensorFlow 2.21's, in its order.
func TestAScheduleInKeras3sLayout(t *testing.T) {
	o := optimizers.NewAdam(1)
	o.Schedule = optimizertest.NewRated(1)
	must(t, o.SetLayout(optimizers.Keras3Layout))
	must(t, o.Build([]*trackable.Variable{trackable.NewVariable(tensor.Vector[float32](1))}))
	edges, err := trackable.Children(o)
	must(t, err)
	var got []string
	for _, e := range edges {
		got = append(got, e.Name)
	}
	want := []string{"_variables", "_trainable_variables", "_trainable_variables_indices", "_iterations", "_learning_rate", "_momentums", "_velocities"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("edges (-TensorFlow +ours):\n%s", d)
	}
}

type byValue struct{ Of *trackable.Scalar[float32] }

func (b byValue) Rate(s *ops.Scope, _ *ops.Value) *ops.Value { return ops.ReadVariable(s, b.Of) }
