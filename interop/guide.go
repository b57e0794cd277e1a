package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Net is the guide's model. Its name and those of its fields are in the checkpoint's object
// graph or in messages, so they must stay as in TensorFlow's guide.
type Net struct {
	keras.Model
	L1 *layers.Dense
}

func (n *Net) Call(s *ops.Scope, x ops.Input) *ops.Value { return n.L1.Call(s, x) }

// example is a batch of inputs and labels.
type example struct{ X, Y *ops.Value }

// training is the guide's checkpoint over any optimizer.
type training struct {
	Step      *trackable.Scalar[int32]
	Optimizer optimizers.Optimizer
	Net       *Net
}

// newTraining returns the state before the first step, with the layer not built yet.
func newTraining(o optimizers.Optimizer) *training {
	return &training{trackable.NewScalar[int32](1), o, &Net{L1: &layers.Dense{Units: 5}}}
}

// step makes one step of training and returns the loss.
func (t *training) step(s *ops.Scope, ex example) *ops.Value {
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		return ops.Mean(s, ops.Abs(s, ops.Sub(s, t.Net.Call(s, ex.X), ex.Y)))
	})
	t.Optimizer.Apply(s, tape.Gradient(loss, keras.Trainable(t.Net)))
	return loss
}

// train takes the guide's steps over its data, from the first batch on. A batch has two of
// the ten numbers 0 to 9, and labels of five columns.
func (t *training) train(ctx context.Context, steps int) error {
	step := function.New(t.step)
	for i := range steps {
		x, y := make([]float32, 2), make([]float32, 10)
		for row := range 2 {
			x[row] = float32((2*i + row) % 10)
			for col := range 5 {
				y[5*row+col] = 5*x[row] + float32(col)
			}
		}
		ex := example{ops.ValueOf(tensor.Must(tensor.New(x, 2, 1))), ops.ValueOf(tensor.Must(tensor.New(y, 2, 5)))}
		if _, err := step.Call(ctx, ex); err != nil {
			return err
		}
		t.Step.Add(1)
	}
	return nil
}

// guideOptimizers are those of peer/models.py, with the same names and settings.
var guideOptimizers = []struct {
	name string
	make func() optimizers.Optimizer
}{
	{"adam", func() optimizers.Optimizer { return optimizers.NewAdam(0.1) }},
	{"sgd", func() optimizers.Optimizer { return optimizers.NewSGD(0.01) }},
	{"momentum", func() optimizers.Optimizer {
		o := optimizers.NewSGD(0.01)
		o.Momentum, o.Nesterov = 0.9, true
		return o
	}},
	{"rmsprop", func() optimizers.Optimizer {
		o := optimizers.NewRMSprop(0.01)
		o.Momentum, o.Centered = 0.5, true
		return o
	}},
	{"adagrad", func() optimizers.Optimizer { return optimizers.NewAdagrad(0.1) }},
	{"nadam", func() optimizers.Optimizer { return optimizers.NewNadam(0.1) }},
}

// guideCases starts from TensorFlow's untrained weights, trains as TensorFlow
// did, and expects TensorFlow's files. Then it continues from TensorFlow's
// checkpoint as TensorFlow's second program did. The values are the same to the
// last bit if the processor has fused multiply-adds, which both sides use.
func guideCases(ctx context.Context, r *run) {
	for _, o := range guideOptimizers {
		theirs, ours := r.tf("guide", o.name), filepath.Dir(r.ours("guide", o.name, "x"))
		r.check("our bytes are TensorFlow's: the guide trained with "+o.name, func() error {
			t := newTraining(o.make())
			ck, err := checkpoint.New(t, nil)
			if err != nil {
				return err
			}
			if _, err := ck.Read(ctx, filepath.Join(theirs, "start"), nil); err != nil {
				return err
			}
			manager, err := checkpoint.NewManager(ck, ours, &checkpoint.ManagerOptions{MaxToKeep: 3})
			if err != nil {
				return err
			}
			defer manager.Close()
			if err := t.train(ctx, 20); err != nil {
				return err
			}
			if _, err := manager.Save(ctx); err != nil {
				return err
			}
			return r.sameCheckpoint(filepath.Join(ours, "ckpt-1"), filepath.Join(theirs, "ckpt-1"))
		})
		r.check("our bytes are TensorFlow's: the guide resumed with "+o.name, func() error {
			return r.resume(ctx, o.make(), ours, theirs)
		})
	}
}

// resume trains from TensorFlow's checkpoint in theirs on, and saves in ours.
func (r *run) resume(ctx context.Context, o optimizers.Optimizer, ours, theirs string) error {
	t := newTraining(o)
	ck, err := checkpoint.New(t, nil)
	if err != nil {
		return err
	}
	report, err := ck.Restore(ctx, filepath.Join(theirs, "ckpt-1"), nil)
	if err != nil {
		return err
	}
	if len(report.Deferred) == 0 {
		return errors.New("nothing is deferred, though the layer has no variables yet")
	}
	// The layer is built late, by the first step, and with it the optimizer's
	// slots.
	if err := t.train(ctx, 5); err != nil {
		return err
	}
	if err := report.AssertConsumed(); err != nil {
		return err
	}
	if _, err := ck.Save(ctx, filepath.Join(ours, "ckpt")); err != nil {
		return err
	}
	return r.sameCheckpoint(filepath.Join(ours, "ckpt-2"), filepath.Join(theirs, "ckpt-2"))
}

// managerCases makes the saves of models.py's managers.
func managerCases(ctx context.Context, r *run) {
	for _, m := range []struct{ name, prefix string }{{"relative", "ckpt"}, {"named", "my model é\"x"}} {
		theirs, ours := r.tf("manager", m.name), filepath.Dir(r.ours("manager", m.name, "x"))
		r.check("our state file and checkpoints are TensorFlow's: manager "+m.name, func() error {
			if err := managed(ctx, ours, m.prefix); err != nil {
				return err
			}
			if err := sameState(filepath.Join(ours, "checkpoint"), filepath.Join(theirs, "checkpoint")); err != nil {
				return err
			}
			for i := 3; i <= 5; i++ {
				name := fmt.Sprintf("%s-%d", m.prefix, i)
				if err := r.sameCheckpoint(filepath.Join(ours, name), filepath.Join(theirs, name)); err != nil {
					return err
				}
			}
			return nil
		})
		r.check("our manager takes over TensorFlow's: "+m.name, func() error {
			folder := r.ours("manager", m.name+" taken over")
			if err := copyDirectory(folder, theirs); err != nil {
				return err
			}
			v := vector("v", 0, 0)
			v.Init(tensor.Scalar(float32(0)))
			ck, err := checkpoint.New(&struct{ V *trackable.Variable }{v}, nil)
			if err != nil {
				return err
			}
			manager, err := checkpoint.NewManager(ck, folder, &checkpoint.ManagerOptions{MaxToKeep: 3, CheckpointName: m.prefix})
			if err != nil {
				return err
			}
			defer manager.Close()
			if _, err := manager.RestoreLatest(ctx); err != nil {
				return err
			}
			if got, _ := tensor.Item[float32](v.Load()); got != 4 || len(manager.Checkpoints()) != 3 {
				return fmt.Errorf("restored %v from %q", got, manager.Checkpoints())
			}
			path, err := manager.Save(ctx)
			if err == nil && !strings.HasSuffix(path, m.prefix+"-6") {
				err = fmt.Errorf("the next checkpoint is %s", path)
			}
			return err
		})
	}
}

// managed makes the saves of peer/models.py: four of one manager, then one of another that
// takes over.
func managed(ctx context.Context, folder, prefix string) error {
	open := func() (*trackable.Variable, *checkpoint.Manager, error) {
		v := trackable.NewVariable(tensor.Scalar(float32(0))).Named("v")
		ck, err := checkpoint.New(&struct{ V *trackable.Variable }{v}, nil)
		if err != nil {
			return nil, nil, err
		}
		m, err := checkpoint.NewManager(ck, folder, &checkpoint.ManagerOptions{MaxToKeep: 3, CheckpointName: prefix})
		return v, m, err
	}
	v, m, err := open()
	if err != nil {
		return err
	}
	for i := range 4 {
		if err := v.Store(tensor.Scalar(float32(i))); err != nil {
			return err
		}
		if _, err := m.Save(ctx); err != nil {
			return err
		}
	}
	if err := m.Close(); err != nil {
		return err
	}
	if v, m, err = open(); err != nil {
		return err
	}
	defer m.Close()
	if _, err := m.RestoreLatest(ctx); err != nil {
		return err
	}
	if err := v.Store(tensor.Scalar(float32(4))); err != nil {
		return err
	}
	_, err = m.Save(ctx)
	return err
}
