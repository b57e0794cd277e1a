package keras

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/internal/restoring"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/internal/optimizertest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// rowsOf returns rows lo to hi of a matrix.
func rowsOf(t testing.TB, x *tensor.Tensor, lo, hi int) *tensor.Tensor {
	t.Helper()
	w := x.Shape()[1]
	r, err := tensor.New(tensor.Values[float32](x)[lo*w:hi*w], hi-lo, w)
	must(t, err)
	return r
}

// guides lists the fixtures: the guide's objects, trained by TensorFlow for ten
// steps with each optimizer and then for ten more.
func guides(t *testing.T, f func(t *testing.T, dir string, mk func() optimizers.Optimizer)) {
	dirs, err := filepath.Glob(filepath.Join(fixtures, "guide_*"))
	must(t, err)
	if len(dirs) < 14 {
		t.Fatalf("fixtures: %q", dirs)
	}
	for _, dir := range dirs {
		name := strings.TrimPrefix(filepath.Base(dir), "guide_")
		if strings.HasPrefix(name, "keras3_") {
			continue
		}
		t.Run(name, func(t *testing.T) { f(t, dir, optimizertest.Makes[name]) })
		if base, ok := strings.CutPrefix(name, "new_"); ok && base != "adamw" {
			// An optimizer that was told nothing finds the layout out.
			t.Run(name+" not told", func(t *testing.T) { f(t, dir, optimizertest.Makes[base]) })
		}
	}
}

// batch is the input of a step of the guide's training.
type batch struct{ X, Y *ops.Value }

// stepOf returns a step of the guide's training, one function for all of them.
func stepOf(t testing.TB, model Callable, o optimizers.Optimizer, m function.Mode) func(x, y *tensor.Tensor) float32 {
	f := function.New(func(s *ops.Scope, in batch) *ops.Value {
		s = s.WithTraining(true)
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			return ops.Mean(s, ops.Abs(s, ops.Sub(s, model.Call(s, in.X), in.Y)))
		})
		o.Apply(s, tape.Gradient(loss, Trainable(model)))
		return loss
	}, &function.Options{Mode: m})
	return func(x, y *tensor.Tensor) float32 {
		t.Helper()
		v, err := f.Call(context.Background(), batch{ops.ValueOf(x), ops.ValueOf(y)})
		must(t, err)
		l, err := ops.Item[float32](v)
		must(t, err)
		return l
	}
}

// inBothModes runs a program eagerly and traced.
func inBothModes(t *testing.T, program func(t *testing.T, m function.Mode)) {
	t.Run("eager", func(t *testing.T) { program(t, function.Eagerly) })
	t.Run("traced", func(t *testing.T) { program(t, function.Traced) })
}

// goOn restores the guide's checkpoint in dir before any variable exists,
// trains ten steps more, and compares losses and weights with TensorFlow's.
func goOn(t *testing.T, dir string, o optimizers.Optimizer, m function.Mode) {
	t.Helper()
	x, y := toy()
	tr := newTraining(o)
	train := stepOf(t, tr.Net, o, m)
	ck, err := checkpoint.New(tr, nil)
	must(t, err)
	report, err := ck.Restore(context.Background(), filepath.Join(dir, "ckpt-1"), nil)
	must(t, err)
	after := npz(t, filepath.Join(filepath.Base(dir), "after.npz"))
	want := floats(t, array(t, after, "losses"))
	for step := 10; step < 20; step++ {
		i := step * 2 % 10
		got := float64(train(rowsOf(t, x, i, i+2), rowsOf(t, y, i, i+2)))
		near(t, fmt.Sprintf("loss of step %d", step+1), tensor.Scalar(got), tensor.Scalar(want[step]), 1e-5, 1e-3)
		if step == 10 {
			must(t, report.AssertConsumed())
		}
	}
	near(t, "kernel", tr.Net.L1.Kernel.Load(), array(t, after, "kernel"), 1e-5, 1e-2)
	near(t, "bias", tr.Net.L1.Bias.Load(), array(t, after, "bias"), 1e-5, 1e-2)
	if n := tr.Step.Get(); n != 11 {
		t.Errorf("step is %d, the checkpoint has 11", n)
	}
}

// TestTrainingGoesOnAsInTensorFlow: ten steps of TensorFlow's, ten of ours.
func TestTrainingGoesOnAsInTensorFlow(t *testing.T) {
	guides(t, func(t *testing.T, dir string, mk func() optimizers.Optimizer) {
		inBothModes(t, func(t *testing.T, m function.Mode) { goOn(t, dir, mk(), m) })
	})
}

// TestTrainingGoesOnAsInKeras3 checks that a program without knowledge of Keras
// 3 continues from checkpoints of TensorFlow 2.21's own tf.keras, and that its
// next checkpoints have the same keys and values.
func TestTrainingGoesOnAsInKeras3(t *testing.T) {
	ctx := context.Background()
	x, _ := toy()
	for _, name := range []string{"adam", "adamw", "sgd_momentum", "rmsprop_centered_momentum", "adagrad"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(fixtures, "guide_keras3_"+name)
			mk := optimizertest.Makes[name]
			if name == "adamw" {
				mk = optimizertest.Makes["new_adamw"]
			}
			inBothModes(t, func(t *testing.T, m function.Mode) { goOn(t, dir, mk(), m) })

			tr := newTraining(mk())
			ck, err := checkpoint.New(tr, nil)
			must(t, err)
			_, err = ck.Restore(ctx, filepath.Join(dir, "ckpt-1"), nil)
			must(t, err)
			tr.Net.Call(scope(t), x)
			must(t, tr.Optimizer.Build(Trainable(tr.Net)))
			out := vfs.MemDir()
			must(t, ck.WriteTo(ctx, out, "ckpt-1"))
			ours, err := bundle.Open(ctx, out, "ckpt-1", nil)
			must(t, err)
			defer ours.Close()
			theirs, err := bundle.OpenFile(ctx, filepath.Join(dir, "ckpt-1"), nil)
			must(t, err)
			defer theirs.Close()
			if diff := cmp.Diff(theirs.Names(), ours.Names()); diff != "" {
				t.Errorf("keys (-TensorFlow +Cairn):\n%s", diff)
			}
			for _, key := range ours.Names() {
				if key == trackable.ObjectGraphKey {
					continue
				}
				a, err := ours.Read(ctx, key)
				must(t, err)
				b, err := theirs.Read(ctx, key)
				must(t, err)
				if !a.Equal(b) {
					t.Errorf("%s is %v, TensorFlow's %v", key, a, b)
				}
			}
		})
	}
}

// TestRestoredGuideIsWrittenByteForByte restores TensorFlow's checkpoint and
// writes it again: the files are the same.
func TestRestoredGuideIsWrittenByteForByte(t *testing.T) {
	x, _ := toy()
	ctx := context.Background()
	guides(t, func(t *testing.T, dir string, mk func() optimizers.Optimizer) {
		tr := newTraining(mk())
		ck, err := checkpoint.New(tr, nil)
		must(t, err)
		report, err := ck.Restore(ctx, filepath.Join(dir, "ckpt-1"), nil)
		must(t, err)
		tr.Net.Call(scope(t), x)
		must(t, tr.Optimizer.Build(Trainable(tr.Net)))
		must(t, report.AssertConsumed())
		out := vfs.MemDir()
		must(t, ck.WriteTo(ctx, out, "ckpt-1"))
		for _, file := range []string{"ckpt-1.index", "ckpt-1.data-00000-of-00001"} {
			got, err := fs.ReadFile(out, file)
			must(t, err)
			want, err := os.ReadFile(filepath.Join(dir, file))
			must(t, err)
			if !bytes.Equal(got, want) {
				at := 0
				for at < len(got) && at < len(want) && got[at] == want[at] {
					at++
				}
				t.Errorf("%s: %d bytes, TensorFlow's %d; they differ from byte %d on", file, len(got), len(want), at)
			}
		}
	})
}

// TestRestoredRateCanBeReadAndChanged checks that a rate that a user sets after
// a restore wins.
func TestRestoredRateCanBeReadAndChanged(t *testing.T) {
	for name, mk := range map[string]func() optimizers.Optimizer{
		"adam":     func() optimizers.Optimizer { return optimizers.NewAdam(0.5) },
		"new_adam": func() optimizers.Optimizer { return optimizers.NewAdam(0.5) },
	} {
		o := mk()
		tr := newTraining(o)
		ck, err := checkpoint.New(tr, nil)
		must(t, err)
		_, err = ck.Restore(context.Background(), filepath.Join(fixtures, "guide_"+name, "ckpt-1"), nil)
		must(t, err)
		if r, err := o.LearningRate(); err != nil || float32(r) != 0.1 {
			t.Errorf("%s: the restored rate is %v (%v), not 0.1", name, r, err)
		}
		if n, err := o.Iterations(); err != nil || n != 10 {
			t.Errorf("%s: %d iterations (%v), not 10", name, n, err)
		}
		must(t, o.SetLearningRate(0.25))
		x, y := toy()
		train(t, tr.Net, o, x, y)
		if r, err := o.LearningRate(); err != nil || r != 0.25 {
			t.Errorf("%s: the rate is %v (%v) after it was set to 0.25", name, r, err)
		}
	}
}

// TestSlotsOfAnOtherOptimizerAreRefused: SGD can't take Adam's state silently.
func TestSlotsOfAnOtherOptimizerAreRefused(t *testing.T) {
	tr := newTraining(optimizers.NewSGD(0.1))
	x, y := toy()
	train(t, tr.Net, tr.Optimizer, x, y)
	before := tr.Net.L1.Kernel.Load()
	ck, err := checkpoint.New(tr, nil)
	must(t, err)
	if _, err := ck.Restore(context.Background(), filepath.Join(fixtures, "guide_adam", "ckpt-1"), nil); err == nil {
		t.Error("no error")
	}
	if !tr.Net.L1.Kernel.Load().Equal(before) {
		t.Error("the refused restore changed the kernel")
	}
}

// TestRestoreReplacesTheStateOfARunThatHasBegun: slots and counters that exist
// are set, not made anew.
func TestRestoreReplacesTheStateOfARunThatHasBegun(t *testing.T) {
	x, y := toy()
	guides(t, func(t *testing.T, dir string, mk func() optimizers.Optimizer) {
		if strings.Contains(t.Name(), "not_told") {
			t.Skip("an optimizer that has begun keeps its layout")
		}
		inBothModes(t, func(t *testing.T, m function.Mode) {
			tr := newTraining(mk())
			train := stepOf(t, tr.Net, tr.Optimizer, m)
			for range 3 {
				train(x, y)
			}
			ck, err := checkpoint.New(tr, nil)
			must(t, err)
			report, err := ck.Restore(context.Background(), filepath.Join(dir, "ckpt-1"), nil)
			must(t, err)
			must(t, report.AssertConsumed())
			z, err := os.ReadFile(filepath.Join(dir, "after.npz"))
			must(t, err)
			after, err := tensor.OpenNPZ(bytes.NewReader(z), int64(len(z)), nil)
			must(t, err)
			for step := 10; step < 20; step++ {
				i := step * 2 % 10
				train(rowsOf(t, x, i, i+2), rowsOf(t, y, i, i+2))
			}
			near(t, "kernel", tr.Net.L1.Kernel.Load(), array(t, after, "kernel"), 1e-5, 1e-2)
		})
	})
}

// TestTheOtherLayoutIsRefusedOnceARunHasBegun: the state would be lost.
func TestTheOtherLayoutIsRefusedOnceARunHasBegun(t *testing.T) {
	x, y := toy()
	for file, o := range map[string]optimizers.Optimizer{"guide_new_adam": optimizers.NewAdam(0.1), "guide_adam": optimizertest.ToNew(optimizers.NewAdam(0.1))} {
		tr := newTraining(o)
		train(t, tr.Net, o, x, y)
		before := tr.Net.L1.Kernel.Load()
		ck, err := checkpoint.New(tr, nil)
		must(t, err)
		if _, err := ck.Restore(context.Background(), filepath.Join(fixtures, file, "ckpt-1"), nil); err == nil {
			t.Errorf("%s: no error", file)
		}
		if !tr.Net.L1.Kernel.Load().Equal(before) {
			t.Errorf("%s: the refused restore changed the kernel", file)
		}
	}
}

// TestSavesDuringTrainingShowOneStep trains in one goroutine and saves in
// another: every checkpoint has the weights that belong to its step counter.
func TestSavesDuringTrainingShowOneStep(t *testing.T) {
	ctx := context.Background()
	type root struct {
		V         *trackable.Variable
		Optimizer *optimizers.SGD
	}
	r := &root{trackable.NewVariable(vec(make([]float32, 1000)...)), optimizers.NewSGD(1)}
	ones, err := initializers.Ones{}.Init(nil, tensor.Float32, tensor.Shape{1000})
	must(t, err)
	step := function.New(func(s *ops.Scope, _ struct{}) *ops.Value {
		r.Optimizer.Apply(s, grad.Gradients{{Variable: r.V, Grad: ops.ValueOf(ones)}})
		return ops.Const(s, 0)
	})
	_, err = step.Call(ctx, struct{}{})
	must(t, err)
	ck, err := checkpoint.New(r, nil)
	must(t, err)

	stop, done := make(chan struct{}), make(chan error)
	go func() {
		var err error
		for err == nil {
			select {
			case <-stop:
				done <- nil
				return
			default:
				_, err = step.Call(ctx, struct{}{})
			}
		}
		done <- err
	}()
	dir := vfs.MemDir()
	for range 20 {
		must(t, ck.WriteTo(ctx, dir, "ckpt"))
		b, err := bundle.Open(ctx, dir, "ckpt", nil)
		must(t, err)
		it, err := b.Read(ctx, "optimizer/iter/.ATTRIBUTES/VARIABLE_VALUE")
		must(t, err)
		v, err := b.Read(ctx, "v/.ATTRIBUTES/VARIABLE_VALUE")
		must(t, err)
		must(t, b.Close())
		n := tensor.Values[int64](it)[0]
		for i, x := range tensor.Values[float32](v) {
			if x != -float32(n) {
				t.Fatalf("after %d steps element %d is %v", n, i, x)
			}
		}
	}
	close(stop)
	must(t, <-done)
}

// TestLayersAddedAfterARestoreGetTheirValues: a sequential model and a list
// that grow after the restore.
func TestLayersAddedAfterARestoreGetTheirValues(t *testing.T) {
	ctx := context.Background()
	x := mat(1, 2, 1, 2)
	type root struct {
		Seq  *Sequential
		List *trackable.List[*layers.Dense]
	}
	build := func(r *root) {
		for range 2 {
			must(t, r.Seq.Add(dense(2)))
			must(t, r.List.Append(dense(2)))
		}
	}
	forward := func(r *root, m function.Mode) []float32 {
		f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			v := r.Seq.Call(s, x)
			for _, l := range r.List.All() {
				v = l.Call(s, v)
			}
			return v
		}, &function.Options{Mode: m})
		v, err := f.Call(ctx, ops.ValueOf(x))
		must(t, err)
		return tensor.Values[float32](data(t, v))
	}
	old := &root{NewSequential(), trackable.NewList[*layers.Dense]()}
	build(old)
	want := forward(old, function.Eagerly)
	ck, err := checkpoint.New(old, nil)
	must(t, err)
	dir := vfs.MemDir()
	must(t, ck.WriteTo(ctx, dir, "ckpt"))

	inBothModes(t, func(t *testing.T, m function.Mode) {
		fresh := &root{NewSequential(), trackable.NewList[*layers.Dense]()}
		ck, err = checkpoint.New(fresh, nil)
		must(t, err)
		report, err := ck.ReadFS(ctx, dir, "ckpt", nil)
		must(t, err)
		build(fresh)
		got := forward(fresh, m)
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("output %v, want %v", got, want)
				break
			}
		}
		must(t, report.AssertConsumed())
	})
}

// TestMismatchedAndUnusedValuesAreNamed checks that a layer of another size,
// and values that no layer can ever take, are errors that name them.
func TestMismatchedAndUnusedValuesAreNamed(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(fixtures, "guide_adam", "ckpt-1")
	wide := newTraining(optimizers.NewAdam(0.1))
	ck, err := checkpoint.New(wide, nil)
	must(t, err)
	_, err = ck.Restore(ctx, path, nil)
	must(t, err)
	s := function.Eager(ctx)
	wide.Net.Call(s, mat(1, 2, 1, 2)) // the checkpoint's kernel takes one input
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "kernel") || !strings.Contains(err.Error(), "[1,5]") {
		t.Errorf("a layer of another size: %v", err)
	}
	bare := newTraining(optimizers.NewAdam(0.1))
	bare.Net.L1.NoBias = true
	ck, err = checkpoint.New(bare, nil)
	must(t, err)
	if _, err = ck.Restore(ctx, path, nil); err == nil || !strings.Contains(err.Error(), "net.l1.bias") {
		t.Errorf("a layer without a bias: %v", err)
	}
	// A built layer accepts nothing more, and neither do layers without variables.
	for _, l := range []trackable.Trackable{wide.Net.L1, new(layers.Flatten), new(layers.Dropout), new(layers.InputLayer)} {
		if internals.Accepts(l, "gamma") != restoring.AcceptNo {
			t.Errorf("%T accepts an edge that it can't get", l)
		}
	}
}
