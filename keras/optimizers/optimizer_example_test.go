package optimizers_test

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// Signs is an optimizer of a program's own: a step of fixed size against the sign of the
// gradients' running mean, which it keeps in a slot.
type Signs struct {
	optimizers.Base
	Keep float64 // the part of the last mean in the next one
}

// NewSigns makes a Signs with a learning rate.
func NewSigns(rate float64) *Signs {
	o := &Signs{Keep: 0.5}
	o.Init(o, rate)
	return o
}

func (o *Signs) SlotKinds() []optimizers.SlotKind { return []optimizers.SlotKind{{Name: "mean"}} }

func (o *Signs) UpdateStep(s *ops.Scope, u *optimizers.Update) {
	mean := u.Slot("mean")
	ops.Assign(s, mean, ops.Add(s, ops.Mul(s, mean, o.Keep), ops.Mul(s, u.Gradient, 1-o.Keep)))
	ops.AssignSub(s, u.Variable, ops.Mul(s, ops.Sign(s, mean), u.LearningRate()))
}

// SignsTraining has the objects of a checkpoint.
type SignsTraining struct {
	Opt *Signs
	W   *trackable.Variable
}

func newSignsTraining() (*SignsTraining, *function.Func[*ops.Value, *ops.Value]) {
	t := &SignsTraining{NewSigns(0.5), trackable.NewVariable(tensor.Vector[float32](1, 2)).Named("w")}
	return t, function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, ops.Mul(s, t.W, x)) })
		t.Opt.Apply(s, tape.Gradient(loss, keras.Trainable(t)))
		return loss
	})
}

// A program's optimizer implements Rule. Its slots are saved and restored, and its options
// are its config.
func ExampleRule() {
	ctx, dir := context.Background(), vfs.MemDir()
	t, step := newSignsTraining()
	if _, err := step.Call(ctx, ops.ValueOf(tensor.Vector[float32](3, -3))); err != nil {
		panic(err)
	}
	ckpt, err := checkpoint.New(t, nil)
	if err != nil {
		panic(err)
	}
	if err := ckpt.WriteTo(ctx, dir, "ckpt"); err != nil {
		panic(err)
	}
	fmt.Println(tensor.Values[float32](t.W.Load()))

	again, step := newSignsTraining()
	if ckpt, err = checkpoint.New(again, nil); err != nil {
		panic(err)
	}
	if _, err := ckpt.ReadFS(ctx, dir, "ckpt", nil); err != nil {
		panic(err)
	}
	if _, err := step.Call(ctx, ops.ValueOf(tensor.Vector[float32](1, 1))); err != nil {
		panic(err)
	}
	fmt.Println(tensor.Values[float32](again.W.Load()), tensor.Values[float32](again.Opt.Slot(again.W, "mean").Load()))

	signs := config.Registered[*Signs]("Example", "Signs")
	signs.New = func() any { return NewSigns(0.01) }
	classes, err := keras.Classes().With([]config.Class{signs})
	if err != nil {
		panic(err)
	}
	data, err := keras.Config(again.Opt, &keras.ConfigOptions{Classes: classes, Legacy: true})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(data))
	// Output:
	// [0.5 2.5]
	// [0 3] [1.25 -0.25]
	// {"class_name": "Example>Signs", "config": {"name": "Signs", "learning_rate": 0.5, "decay": 0.0, "keep": 0.5}}
}

func ExampleAdam() {
	opt := optimizers.NewAdam(0.001)
	opt.ClipNorm = new(1.0)
	rate, err := opt.LearningRate()
	fmt.Printf("%.4f %v\n", rate, err)
	if err := opt.SetLearningRate(0.01); err != nil {
		panic(err)
	}
	rate, err = opt.LearningRate()
	fmt.Printf("%.4f %v\n", rate, err)
	// Output:
	// 0.0010 <nil>
	// 0.0100 <nil>
}

func ExampleGet() {
	opt, err := optimizers.Get("rmsprop")
	if err != nil {
		panic(err)
	}
	rate, err := opt.LearningRate()
	fmt.Printf("%T %.4f %v\n", opt, rate, err)
	// Output:
	// *optimizers.RMSprop 0.0010 <nil>
}
