package keras_test

import (
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// scale is a user's own kind of variable.
type scale struct {
	trackable.Variable
	Note string
}

type scaled struct {
	trackable.Base
	W   *scale
	Opt optimizers.Optimizer
}

// TestAStructThatEmbedsAVariableIsOne checks that such a struct can be an
// input, and that gradients, optimizers, Assign and checkpoints take it.
func TestAStructThatEmbedsAVariableIsOne(t *testing.T) {
	ctx := t.Context()
	for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
		made := func() *scaled {
			w := &scale{Note: "mine"}
			w.Init(tensor.Vector[float32](3, 5))
			return &scaled{W: w, Opt: optimizers.NewAdam(0.5)}
		}
		m := made()
		step := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, ops.Mul(s, x, m.W)) })
			m.Opt.Apply(s, tape.Gradient(loss, keras.Trainable(m)))
			ops.AssignAdd(s, m.W, []float32{10, 10})
			ops.Assign(s, m.W, ops.Mul(s, m.W, 2.0))
			return loss
		}, &function.Options{Mode: mode})
		for i, want := range []float32{3 + 5, 25 + 29} { // Adam's steps are as long as its rate
			got, err := step.Call(ctx, ops.ValueOf(tensor.Vector[float32](1, 1)))
			if err != nil {
				t.Fatal(mode, err)
			}
			if loss := tensor.Values[float32](tensor.Must(got.Tensor()))[0]; loss < want-0.01 || loss > want+0.01 {
				t.Errorf("%v: loss %d is %v, want %v", mode, i, loss, want)
			}
		}
		ck, err := checkpoint.New(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		dir := vfs.MemDir()
		if err := ck.WriteTo(ctx, dir, "ckpt"); err != nil {
			t.Fatal(err)
		}
		other := made()
		into, err := checkpoint.New(other, nil)
		if err != nil {
			t.Fatal(err)
		}
		report, err := into.ReadFS(ctx, dir, "ckpt", &checkpoint.RestoreOptions{Partial: true}) // the optimizer has made nothing yet
		if err != nil {
			t.Fatal(err)
		}
		if !other.W.Load().Equal(m.W.Load()) || other.W.Note != "mine" {
			t.Errorf("%v: restored %v, saved %v (%v)", mode, other.W.Load(), m.W.Load(), report)
		}
	}
}
