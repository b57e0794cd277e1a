// Command resume shows that a training run can change between this module and
// TensorFlow at any checkpoint without its losses showing it.
//
//	go run ./interop/resume -python PYTHON [-work DIRECTORY]
//
// PYTHON has TensorFlow 2.21, with its Keras 3, and tf_keras 2.21. The command starts
// resume.py, which trains every case for forty steps without a break, and then compares
// with its losses:
//
//   - TensorFlow for twenty steps, ours for twenty more;
//   - TensorFlow, ours, TensorFlow, ours, ten steps each;
//   - ours for twenty steps, then TensorFlow and ours for twenty more each.
//
// Every leg is a new program state: a model whose layers aren't built when the
// checkpoint is restored. Losses have to agree to 1e-5 of their value for the
// mean squared error and 1e-4 for the mean absolute error. Last, TensorFlow
// computes the accuracy of the demo's net from the demo's checkpoint.
//
// A line is printed for each case; the exit code is 1 if one fails, 2 if the
// program can't run. Models, optimizers, batches and the names of files must stay
// the same as in resume.py.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/internal/demo"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// cases are "model-loss-optimizer", as in resume.py. Models whose names end in 3, and their
// optimizers, are Keras 3's.
var cases = []string{
	"guide-mse-adam", "guide-mae-adam", "deep-mse-adam_small", "deep-mae-adam_small",
	"guide-mse-sgd", "deep-mse-rmsprop", "deep-mse-adagrad", "deep-mse-adamw",
	"guide3-mse-adam3", "guide3-mse-rmsprop3",
}

// Net is the guide's model.
type Net struct {
	keras.Model
	L1 *layers.Dense
}

// Call computes the model's output.
func (n *Net) Call(s *ops.Scope, x ops.Input) *ops.Value { return n.L1.Call(s, x) }

// Deep has layers in a list and in a sequential model.
type Deep struct {
	keras.Model
	Hidden []*layers.Dense
	Head   *keras.Sequential
}

// Call computes the model's output.
func (d *Deep) Call(s *ops.Scope, x ops.Input) *ops.Value {
	v := ops.Const(s, x)
	for _, h := range d.Hidden {
		v = h.Call(s, v)
	}
	return d.Head.Call(s, v)
}

// newModel returns a model that isn't built. keras3 makes it one of Keras 3 from the start.
func newModel(name string, keras3 bool) keras.Callable {
	if strings.HasPrefix(name, "guide") {
		return &Net{L1: &layers.Dense{Units: 5, Keras3: keras3}}
	}
	return &Deep{
		Hidden: []*layers.Dense{{Units: 8, Activation: activations.Tanh}, {Units: 8, Activation: activations.Relu}},
		Head:   keras.NewSequential(&layers.Dense{Units: 6, Activation: activations.Sigmoid}, &layers.Dense{Units: 3}),
	}
}

// newOptimizer returns a fresh optimizer with the settings of resume.py.
func newOptimizer(name string) optimizers.Optimizer {
	switch name {
	case "adam", "adam3":
		return optimizers.NewAdam(0.1)
	case "adam_small":
		o := optimizers.NewAdam(0.01)
		o.AMSGrad = true
		return o
	case "sgd":
		o := optimizers.NewSGD(0.01)
		o.Momentum, o.Nesterov = 0.9, true
		return o
	case "rmsprop":
		o := optimizers.NewRMSprop(0.01)
		o.Centered = true
		return o
	case "rmsprop3":
		return optimizers.NewRMSprop(0.01)
	case "adagrad":
		return optimizers.NewAdagrad(0.1)
	case "adamw":
		return optimizers.NewAdamW(0.01)
	}
	panic("no optimizer " + name)
}

// training is one leg: a fresh model and optimizer.
type training struct {
	Step      *trackable.Scalar[int64]
	Optimizer optimizers.Optimizer
	Net       keras.Callable

	model, loss string                 // parts of the case's name
	seed        uint64                 // of the first values; 0 for any
	ckpt        *checkpoint.Checkpoint `cairn:"-"`
}

// newTraining returns the objects of a run. One that continues doesn't know whether
// the checkpoint is of Keras 3; one that begins does.
func newTraining(name string, begins bool) (*training, error) {
	part := strings.Split(name, "-")
	keras3 := begins && part[0] == "guide3"
	t := &training{
		Step: trackable.NewScalar[int64](0), Optimizer: newOptimizer(part[2]), Net: newModel(part[0], keras3),
		model: part[0], loss: part[1],
	}
	if keras3 {
		o, ok := t.Optimizer.(interface{ SetLayout(optimizers.Layout) error })
		if !ok {
			return nil, fmt.Errorf("%T has one layout only", t.Optimizer)
		}
		if err := o.SetLayout(optimizers.Keras3Layout); err != nil {
			return nil, err
		}
	}
	var err error
	t.ckpt, err = checkpoint.New(t, nil)
	return t, err
}

// resume returns a run that continues from a checkpoint; done checks that
// nothing of it was left out.
func resume(ctx context.Context, name, path string) (t *training, done func() error, err error) {
	if t, err = newTraining(name, false); err != nil {
		return nil, nil, err
	}
	report, err := t.ckpt.Read(ctx, path, nil)
	if err != nil {
		return nil, nil, err
	}
	return t, report.AssertConsumed, nil
}

// example is a batch of inputs and labels.
type example struct{ X, Y *ops.Value }

// step makes one step of training and returns the loss.
func (t *training) step(s *ops.Scope, ex example) *ops.Value {
	if t.seed != 0 {
		s = keras.WithSeed(s, t.seed)
	}
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		diff := ops.Sub(s, t.Net.Call(s, ex.X), ex.Y)
		if t.loss == "mse" {
			return ops.Mean(s, ops.Square(s, diff))
		}
		return ops.Mean(s, ops.Abs(s, diff))
	})
	t.Optimizer.Apply(s, tape.Gradient(loss, keras.Trainable(t.Net)))
	return loss
}

// batch returns the batch of a step, as in resume.py.
func batch(model string, step int) (example, error) {
	rows, in, out := 4, 4, 3
	guide := strings.HasPrefix(model, "guide")
	if guide {
		rows, in, out = 2, 1, 5
	}
	x, y := make([]float32, 0, rows*in), make([]float32, 0, rows*out)
	for r := range rows {
		if guide {
			v := float32((2*step + r) % 10)
			x = append(x, v)
			for k := range out {
				y = append(y, 5*v+float32(k))
			}
			continue
		}
		i := 4*step + r
		for j := range in {
			x = append(x, float32((i*7+j*3+i*j)%16-8)/8)
		}
		for k := range out {
			y = append(y, float32((i*5+k*7)%8-4)/4)
		}
	}
	xt, err := tensor.New(x, rows, in)
	if err != nil {
		return example{}, err
	}
	yt, err := tensor.New(y, rows, out)
	return example{ops.ValueOf(xt), ops.ValueOf(yt)}, err
}

// train makes some more steps and returns their losses.
func (t *training) train(ctx context.Context, steps int) ([]float64, error) {
	f := function.New(t.step)
	losses := make([]float64, 0, steps)
	for range steps {
		ex, err := batch(t.model, int(t.Step.Get()))
		if err != nil {
			return nil, err
		}
		v, err := f.Call(ctx, ex)
		if err != nil {
			return nil, err
		}
		t.Step.Add(1)
		l, err := ops.Item[float32](v)
		if err != nil {
			return nil, err
		}
		losses = append(losses, float64(l))
	}
	return losses, nil
}

// runner is one run of the program. script is the path of resume.py.
type runner struct {
	work, python, script string
	failed               bool
}

// path returns a path in the work directory.
func (r *runner) path(part ...string) string {
	return filepath.Join(append([]string{r.work}, part...)...)
}

// peer runs resume.py, of which what is "first" or "second": before or after our legs.
func (r *runner) peer(what string) error {
	cmd := exec.Command(r.python, r.script, what, r.work)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", r.script, what, err)
	}
	return nil
}

func readJSON(path string, into any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

func (r *runner) result(name, detail string, err error) {
	word := "ok  "
	if err != nil {
		word, detail, r.failed = "FAIL", err.Error(), true
	}
	fmt.Printf("%s %s: %s\n", word, name, detail)
}

// compare returns the largest relative difference of two runs of losses, or an
// error if it is too large.
func compare(name string, got, want []float64) (string, error) {
	tolerance := 1e-5
	if strings.Contains(name, "-mae-") {
		tolerance = 1e-4
	}
	if len(got) != len(want) {
		return "", fmt.Errorf("%d losses, want %d", len(got), len(want))
	}
	worst := 0.0
	for i := range got {
		d := math.Abs(got[i]-want[i]) / math.Abs(want[i])
		if !(d <= tolerance) {
			return "", fmt.Errorf("step %d of the leg: the loss is %v, TensorFlow's %v, a relative difference of %.2g; allowed are %.0e", i+1, got[i], want[i], d, tolerance)
		}
		worst = max(worst, d)
	}
	return fmt.Sprintf("%d losses, largest relative difference %.2g", len(got), worst), nil
}

// leg restores from, trains and saves to, unless that is "", and returns the losses.
func (r *runner) leg(ctx context.Context, name, from, to string, steps int) ([]float64, error) {
	t, done, err := resume(ctx, name, from)
	if err != nil {
		return nil, err
	}
	losses, err := t.train(ctx, steps)
	if err == nil {
		err = done()
	}
	if err == nil && to != "" {
		err = t.ckpt.Write(ctx, to)
	}
	return losses, err
}

// firstLegs makes our legs before TensorFlow's second start, and records in fresh the losses of
// the run that begins here. whole are TensorFlow's losses of forty steps.
func (r *runner) firstLegs(ctx context.Context, name string, whole []float64, fresh map[string][]float64) error {
	losses, err := r.leg(ctx, name, r.path("tf", name, "20"), "", 20)
	detail := ""
	if err == nil {
		detail, err = compare(name, losses, whole[20:])
	}
	r.result(name+" TensorFlow, ours", detail, err)

	losses, err = r.leg(ctx, name, r.path("tf", name, "10"), r.path("mixed", name, "20"), 10)
	if err == nil {
		detail, err = compare(name, losses, whole[10:20])
	}
	r.result(name+" in turn, ours' first leg", detail, err)

	t, err := newTraining(name, true)
	if err != nil {
		return err
	}
	t.seed = 7
	if _, err = t.train(ctx, 20); err != nil {
		return err
	}
	if err := t.ckpt.Write(ctx, r.path("ours", name, "20")); err != nil {
		return err
	}
	fresh[name], err = t.train(ctx, 20)
	return err
}

// lastLegs makes our legs after TensorFlow's second start, and compares those of TensorFlow.
func (r *runner) lastLegs(ctx context.Context, name string, whole []float64, fresh map[string][]float64) error {
	var tf []float64
	if err := readJSON(r.path("mixed", name, "tf.json"), &tf); err != nil {
		return err
	}
	detail, err := compare(name, tf, whole[20:30])
	r.result(name+" in turn, TensorFlow's second leg", detail, err)

	losses, err := r.leg(ctx, name, r.path("mixed", name, "30"), "", 10)
	if err == nil {
		detail, err = compare(name, losses, whole[30:])
	}
	r.result(name+" in turn, ours' second leg", detail, err)

	if err := readJSON(r.path("ours", name, "tf.json"), &tf); err != nil {
		return err
	}
	detail, err = compare(name, fresh[name], tf)
	r.result(name+" ours, TensorFlow", detail, err)
	return nil
}

func (r *runner) run(ctx context.Context) error {
	if err := r.peer("first"); err != nil {
		return err
	}
	whole, fresh := map[string][]float64{}, map[string][]float64{}
	for _, name := range cases {
		var losses []float64
		if err := readJSON(r.path("tf", name, "losses.json"), &losses); err != nil {
			return err
		}
		if len(losses) != 40 {
			return fmt.Errorf("%s: TensorFlow's run has %d losses, want 40", name, len(losses))
		}
		whole[name] = losses
		if err := r.firstLegs(ctx, name, losses, fresh); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	accuracy, steps, err := r.demo(ctx)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if err := r.peer("second"); err != nil {
		return err
	}
	for _, name := range cases {
		if err := r.lastLegs(ctx, name, whole[name], fresh); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	var tf struct{ Right, All, Step int }
	if err := readJSON(r.path("demo", "accuracy.json"), &tf); err != nil {
		return err
	}
	if got := float64(tf.Right) / float64(tf.All); got != accuracy || tf.Step != steps {
		err = fmt.Errorf("ours says %.4f at step %d, TensorFlow %.4f at step %d", accuracy, steps, got, tf.Step)
	}
	r.result("the demo's accuracy", fmt.Sprintf("%d of %d right, in TensorFlow too", tf.Right, tf.All), err)
	return nil
}

// demo trains the demo's net, and leaves its checkpoint for resume.py.
func (r *runner) demo(ctx context.Context) (accuracy float64, steps int, err error) {
	d, err := demo.New(r.path("demo"), nil)
	if err != nil {
		return 0, 0, err
	}
	defer d.Close()
	if _, err := d.Train(ctx, 0, nil); err != nil {
		return 0, 0, err
	}
	accuracy, err = d.Accuracy(ctx)
	return accuracy, int(d.Training.Step.Get()), err
}

func main() {
	r := &runner{}
	flag.StringVar(&r.python, "python", "python3", "python with TensorFlow and tf_keras")
	flag.StringVar(&r.work, "work", "", "`directory` for the checkpoints; default: a temporary one")
	flag.Parse()
	_, file, _, _ := runtime.Caller(0)
	r.script = filepath.Join(filepath.Dir(file), "resume.py")
	err := func() error {
		if r.work == "" {
			dir, err := os.MkdirTemp("", "resume")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			r.work = dir
		}
		return r.run(context.Background())
	}()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "resume:", err)
		os.Exit(2)
	case r.failed:
		os.Exit(1)
	}
}
