// Package demo is the program of `cairn demo`: a small classifier of
// handwritten digits that is trained, saved through a checkpoint manager, and
// resumes when it is started again in the same directory. Packages cmd/cairn
// and interop/resume use it.
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
// divided by 16. Names of fields are edges of the checkpoint: interop/resume
// restores it in Python, so they must stay.
package demo

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/dataset"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/internal/digits"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/callbacks"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/training"
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

// Training is the contents of a checkpoint of the demo. The position in the
// data and the generator of the dropout masks are part of it, so that a run
// that was stopped continues exactly as it would have.
type Training struct {
	Step      *trackable.Scalar[int64]
	Optimizer *optimizers.Adam
	Net       *Net
	Data      *dataset.Iterator[Batch]
	Random    *ops.Random
}

// Options are the options of a training.
type Options struct {
	// Epochs is the number of epochs of a whole run. Default: 6.
	Epochs int
	// EpochSteps is the number of steps of an epoch, after which a checkpoint is saved.
	// Default: 200.
	EpochSteps int
	// MaxToKeep is the number of checkpoints that are kept. Default: 3.
	MaxToKeep int
	// BatchSize is the number of images of a step. Default: 32.
	BatchSize int
	// LearningRate is Adam's. Default: 0.003.
	LearningRate float64
	// Seed determines the initial weights, the order of the images and the elements
	// that dropout drops. Default: 1.
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
	set(&out.Epochs, 6)
	set(&out.EpochSteps, 200)
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

	train, heldOut Batch // all images, of Split
	trainer        *keras.Trainer
	logits         *function.Func[*ops.Value, *ops.Value] // of images [n, 64], as [n, 10]
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
	r.trainer, err = keras.Compile(r.Training.Net, &keras.CompileOptions{
		Optimizer: r.Training.Optimizer, Loss: loss, Metrics: "accuracy", Seed: &opts.Seed,
	})
	if err != nil {
		return nil, err
	}
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

// loss is the mean cross-entropy of logits.
var loss = losses.SparseCategoricalCrossentropy{FromLogits: true}

// Resume restores the directory's latest checkpoint and returns its path, "" if
// there is none.
func (r *Run) Resume(ctx context.Context) (path string, err error) {
	report, err := r.Manager.RestoreOrInitialize(ctx)
	if err != nil {
		return "", err
	}
	return report.Path, nil
}

// Epoch returns the number of whole epochs that were trained.
func (r *Run) Epoch() int { return int(r.Training.Step.Get()) / r.Options.EpochSteps }

// Train trains up to the end of epoch until, or of the run if that comes first or until is 0.
// It saves after each epoch. The output and the callbacks of opts are used. The logs are
// those of the last epoch.
func (r *Run) Train(ctx context.Context, until int, opts *keras.FitOptions) (logs map[string]float64, err error) {
	if until <= 0 || until > r.Options.Epochs {
		until = r.Options.Epochs
	}
	var o keras.FitOptions
	if opts != nil {
		o = *opts
	}
	o.Epochs, o.InitialEpoch, o.StepsPerEpoch = until, r.Epoch(), r.Options.EpochSteps
	save := &callbacks.LambdaCallback{EpochEnd: func(ctx context.Context, _ *callbacks.Run, _ int, l callbacks.Logs) error {
		logs = l
		r.Training.Step.Add(int64(r.Options.EpochSteps))
		_, err := r.Manager.Save(ctx)
		return err
	}}
	o.Callbacks = append([]callbacks.Callback{save}, o.Callbacks...)
	_, err = r.trainer.Fit(ctx, training.Sequence(func(yield func(Batch, error) bool) {
		for {
			b, err := r.Training.Data.Next(ctx)
			if !yield(b, err) || err != nil {
				return
			}
		}
	}), &o)
	return logs, err
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

// guess returns the digit with the largest logit for each of images [n, 64].
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

// Guess returns the net's guesses for n held-out images, from the first one,
// with the images [64] as in the data (0 to 16) and the truth. It is for
// display.
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

// Guess is one image, the net's guess and the true digit.
type Guess struct {
	Image        []uint8
	Guess, Truth int
}

// Split returns the training images and the held-out ones: every fifth, from
// the fifth on.
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
