// Package demo is what `cairn demo` runs: a small classifier of handwritten
// digits that is trained, saved through a checkpoint manager, and goes on where
// it was when it is made anew in the same directory.
//
// In Python the same objects are
//
//	class Net(tf_keras.Model):
//	    def __init__(self):
//	        super().__init__()
//	        self.hidden = tf_keras.layers.Dense(64, activation="relu")
//	        self.drop = tf_keras.layers.Dropout(0.2)
//	        self.out = tf_keras.layers.Dense(10)
//
//	tf.train.Checkpoint(step=…, optimizer=tf_keras.optimizers.legacy.Adam(), net=Net())
//
// and held-out are the images whose number leaves 4 when divided by 5, pixels
// divided by 16.
package demo

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/dataset"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/internal/digits"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Net is the classifier: 64 pixels in, a logit for each of the ten digits out.
type Net struct {
	keras.Model
	Hidden *layers.Dense
	Drop   *layers.Dropout
	Out    *layers.Dense
}

// Call computes the logits for a batch of images.
func (n *Net) Call(s *ops.Scope, x ops.Input) *ops.Value {
	return n.Out.Call(s, n.Drop.Call(s, n.Hidden.Call(s, x)))
}

// Batch is images [n, 64], each pixel from 0 to 1, and their digits [n].
type Batch struct{ Images, Labels *ops.Value }

// Training is what a checkpoint of the demo holds. The place in the data and
// the generator of the dropout masks are part of it, so that a run that was
// stopped goes on exactly as it would have.
type Training struct {
	Step      *trackable.Scalar[int64]
	Optimizer *optimizers.Adam
	Net       *Net
	Data      *dataset.Iterator[Batch]
	Random    *ops.Random
}

// Options say how to train.
type Options struct {
	// Steps is how many steps a whole run has. Default: 1200.
	Steps int
	// SaveEvery is how many steps lie between two checkpoints. Default: 200.
	SaveEvery int
	// MaxToKeep is how many checkpoints are kept. Default: 3.
	MaxToKeep int
	// BatchSize is how many images a step sees. Default: 32.
	BatchSize int
	// LearningRate is Adam's. Default: 0.003.
	LearningRate float64
	// Seed fixes the first weights, the order of the images and what dropout
	// drops. Default: 1.
	Seed uint64
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	set := func(p *int, def int) {
		if *p == 0 {
			*p = def
		}
	}
	set(&out.Steps, 1200)
	set(&out.SaveEvery, 200)
	set(&out.MaxToKeep, 3)
	set(&out.BatchSize, 32)
	if out.LearningRate == 0 {
		out.LearningRate = 0.003
	}
	if out.Seed == 0 {
		out.Seed = 1
	}
	return out
}

// Run is a training run in a directory. It isn't safe for use by many
// goroutines.
type Run struct {
	Training *Training
	Manager  *checkpoint.Manager
	Options  Options // with the defaults filled in

	train, heldOut Batch
	step           *function.Func[Batch, *ops.Value]
	logits         *function.Func[*ops.Value, *ops.Value]
}

// New makes a run that saves in dir; nothing is read or written yet. Close
// releases the directory.
func New(dir string, o *Options) (*Run, error) {
	opts := o.withDefaults()
	train, heldOut, err := Split()
	if err != nil {
		return nil, err
	}
	random := ops.NewRandom(opts.Seed)
	order := dataset.FromSlices(train).
		Shuffle(digits.Count, &dataset.ShuffleOptions{Seed: opts.Seed}).
		Batch(opts.BatchSize, &dataset.BatchOptions{DropRemainder: true}).
		Repeat(-1)
	r := &Run{
		Training: &Training{
			Step:      trackable.NewScalar[int64](0),
			Optimizer: optimizers.NewAdam(opts.LearningRate),
			Net: &Net{
				Hidden: &layers.Dense{Units: 64, Activation: activations.Relu},
				Drop:   &layers.Dropout{Rate: 0.2, Random: random},
				Out:    &layers.Dense{Units: digits.Classes},
			},
			Data:   order.Iterator(),
			Random: random,
		},
		Options: opts,
		train:   train, heldOut: heldOut,
	}
	r.step = function.New(func(s *ops.Scope, b Batch) *ops.Value {
		return r.Training.step(keras.WithSeed(s.WithTraining(true), opts.Seed), b)
	})
	r.logits = function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return r.Training.Net.Call(s, x) })
	ckpt, err := checkpoint.New(r.Training, nil)
	if err != nil {
		return nil, err
	}
	r.Manager, err = checkpoint.NewManager(ckpt, dir, &checkpoint.ManagerOptions{MaxToKeep: opts.MaxToKeep})
	return r, err
}

// Close releases the directory.
func (r *Run) Close() error { return r.Manager.Close() }

func (t *Training) step(s *ops.Scope, b Batch) *ops.Value {
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		return losses.SparseCategoricalCrossentropy{FromLogits: true}.Loss(s, b.Labels, t.Net.Call(s, b.Images), nil)
	})
	t.Optimizer.Apply(s, tape.Gradient(loss, keras.Trainable(t.Net)))
	return loss
}

// Resume restores the directory's latest checkpoint and gives its path, "" if
// there is none.
func (r *Run) Resume(ctx context.Context) (path string, err error) {
	report, err := r.Manager.RestoreOrInitialize(ctx)
	if err != nil {
		return "", err
	}
	return report.Path, nil
}

// Progress is what a step shows.
type Progress struct {
	Step, Steps int     // this step, from 1, and the whole run's last one
	Loss        float64 // the batch's mean cross-entropy
	Saved       string  // the checkpoint that was saved after the step, "" for none
}

// Train trains up to step until, or the end of the run if that comes first or
// until is 0, and saves on the way and at the end. watch, if not nil, is called
// after every step.
func (r *Run) Train(ctx context.Context, until int, watch func(Progress)) error {
	if until <= 0 || until > r.Options.Steps {
		until = r.Options.Steps
	}
	t := r.Training
	for int(t.Step.Get()) < until {
		b, err := t.Data.Next(ctx)
		if err != nil {
			return err
		}
		loss, err := r.step.Call(ctx, b)
		if err != nil {
			return err
		}
		p := Progress{Step: int(t.Step.Add(1)), Steps: r.Options.Steps}
		l, err := ops.Item[float32](loss)
		if err != nil {
			return err
		}
		p.Loss = float64(l)
		if p.Step%r.Options.SaveEvery == 0 || p.Step == until {
			if p.Saved, err = r.Manager.Save(ctx); err != nil {
				return err
			}
		}
		if watch != nil {
			watch(p)
		}
	}
	return nil
}

// Accuracy returns the part of the held-out digits that the net gets right.
func (r *Run) Accuracy(ctx context.Context) (float64, error) {
	right, all, err := r.score(ctx, r.heldOut)
	if err != nil {
		return 0, err
	}
	return float64(right) / float64(all), nil
}

func (r *Run) score(ctx context.Context, b Batch) (right, all int, err error) {
	guesses, err := r.guess(ctx, b.Images)
	if err != nil {
		return 0, 0, err
	}
	t, err := b.Labels.Tensor()
	if err != nil {
		return 0, 0, err
	}
	truth := tensor.Values[int64](t)
	for i, g := range guesses {
		if g == truth[i] {
			right++
		}
	}
	return right, len(truth), nil
}

func (r *Run) guess(ctx context.Context, images *ops.Value) ([]int64, error) {
	logits, err := r.logits.Call(ctx, images)
	if err != nil {
		return nil, err
	}
	t, err := logits.Tensor()
	if err != nil {
		return nil, err
	}
	v := tensor.Values[float32](t)
	out := make([]int64, t.Shape()[0])
	for i := range out {
		row := v[i*digits.Classes : (i+1)*digits.Classes]
		for j := range row {
			if row[j] > row[out[i]] {
				out[i] = int64(j)
			}
		}
	}
	return out, nil
}

// Guess returns what the net takes n held-out images for, from the first one,
// with the images [64] as they are in the data (0 to 16) and the truth:
// something to show.
func (r *Run) Guess(ctx context.Context, n int) ([]Guess, error) {
	guesses, err := r.guess(ctx, r.heldOut.Images)
	if err != nil {
		return nil, err
	}
	d, err := digits.Load()
	if err != nil {
		return nil, err
	}
	var out []Guess
	for i := range min(n, len(guesses)) {
		at := i*5 + 4
		out = append(out, Guess{Image: d.Image(at), Guess: int(guesses[i]), Truth: int(d.Labels[at])})
	}
	return out, nil
}

// Guess is one image, what the net takes it for and what it is.
type Guess struct {
	Image        []uint8
	Guess, Truth int
}

// Split gives the images to train with and the held-out ones: every fifth,
// from the fifth on.
func Split() (train, heldOut Batch, err error) {
	d, err := digits.Load()
	if err != nil {
		return train, heldOut, err
	}
	var images [2][]float32
	var labels [2][]int64
	for i, l := range d.Labels {
		part := 0
		if i%5 == 4 {
			part = 1
		}
		for _, p := range d.Image(i) {
			images[part] = append(images[part], float32(p)/digits.Black)
		}
		labels[part] = append(labels[part], int64(l))
	}
	var out [2]Batch
	for part := range out {
		x, err := tensor.New(images[part], len(labels[part]), digits.Pixels)
		if err != nil {
			return train, heldOut, fmt.Errorf("demo: %w", err)
		}
		out[part] = Batch{ops.ValueOf(x), ops.ValueOf(tensor.Vector(labels[part]...))}
	}
	return out[0], out[1], nil
}
