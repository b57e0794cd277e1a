package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// step is a row about a program that runs. peer/tf_steps.py has the same verbs and counts.
type step struct {
	words string      // the row's name
	verb  string      // of the protocol
	count float64     // the pieces of work of a request; the row has the time of one
	make  func() verb // of Cairn's peer
	// withBefore has the row measured in the same rounds as the one before, with
	// which it is compared.
	withBefore bool
	// peers do the work if they are the row's own. Default: those of all rows.
	peers map[string]*process
	// products is the number of multiply-adds of matrix products in one piece of work; 0 if
	// that isn't known.
	products float64
}

// chained is the number of additions of the row about a chain.
const chained = 200

// steps are the rows about programs.
var steps = []step{
	{words: "train step of the guide's Net, eager", verb: "eager", count: 200, make: func() verb { return guideVerb(function.Eagerly, 200) }},
	{words: "train step of the guide's Net, traced", verb: "traced", count: 200, make: func() verb { return guideVerb(function.Traced, 200) }, withBefore: true},
	{words: "train step of an MLP 784-512-256-10, batch 128, traced", verb: "mlp", count: 20, make: func() verb { return classifierVerb(mlp(), 20, 128, 784) }, products: mlpProducts},
	{words: "train step of a CNN of 2 convolutions, batch 32, traced", verb: "cnn", count: 5, make: func() verb { return classifierVerb(cnn(), 5, 32, 28, 28, 1) }},
	{words: "addition of 4 elements, eager", verb: "add", count: 10_000, make: func() verb { return smallVerb(10, add) }},
	{words: "StridedSlice of 4 elements, eager", verb: "slice", count: 10_000, make: func() verb { return smallVerb(10, slice) }, withBefore: true},
	{words: "Concat of twice 4 elements, eager", verb: "concat", count: 10_000, make: func() verb { return smallVerb(10, concat) }, withBefore: true},
	{words: "Reshape of 4 elements, eager", verb: "reshape", count: 10_000, make: func() verb { return smallVerb(10, reshape) }, withBefore: true},
	{words: "200 chained additions of 4 MiB, traced", verb: "chain", count: 1, make: func() verb { return chainVerb(chained) }},
	{words: "call of a traced function on one core, one caller", verb: "one", count: 200, make: func() verb { return callersVerb(1, 200) }},
	{words: "the same from two callers at once", verb: "two", count: 400, make: func() verb { return callersVerb(2, 200) }, withBefore: true},
	{words: "round of a loop over two scalars, traced", verb: "loop", count: 10000, make: func() verb { return loopVerb(10000) }},
}

// repeat calls f n times with the same input and reads the last result.
func repeat[In any](f *function.Func[In, *ops.Value], in In, n int) verb {
	return func(ctx context.Context) error {
		var last *ops.Value
		for range n {
			var err error
			if last, err = f.Call(ctx, in); err != nil {
				return err
			}
		}
		_, err := last.Tensor()
		return err
	}
}

// net is the guide's model.
type net struct {
	keras.Model
	L1 *layers.Dense
}

func (n *net) Call(s *ops.Scope, x ops.Input) *ops.Value { return n.L1.Call(s, x) }

// example is a batch of inputs and labels.
type example struct{ X, Y *ops.Value }

// guideVerb returns a verb that makes n steps of the guide's training.
func guideVerb(mode function.Mode, n int) verb {
	model, adam := &net{L1: &layers.Dense{Units: 5}}, optimizers.NewAdam(0.1)
	step := function.New(func(s *ops.Scope, ex example) *ops.Value {
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			return ops.Mean(s, ops.Abs(s, ops.Sub(s, model.Call(s, ex.X), ex.Y)))
		})
		adam.Apply(s, tape.Gradient(loss, keras.Trainable(model)))
		return loss
	}, &function.Options{Mode: mode})
	return repeat(step, example{
		X: ops.ValueOf(tensor.Must(tensor.New([]float32{0, 1}, 2, 1))),
		Y: ops.ValueOf(tensor.Must(tensor.New([]float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 2, 5))),
	}, n)
}

func add(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, x) }

func slice(s *ops.Scope, x *ops.Value) *ops.Value { return ops.StridedSlice(s, x, ops.Span(1, 3)) }

func concat(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Concat(s, []*ops.Value{x, x}, 0) }

func reshape(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Reshape(s, x, 2, 2) }

// smallVerb returns a verb that runs op on four elements, n times a thousand.
func smallVerb(n int, op func(*ops.Scope, *ops.Value) *ops.Value) verb {
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		y := x
		for range 1000 {
			y = op(s, x)
		}
		return y
	}, &function.Options{Mode: function.Eagerly})
	return repeat(f, ops.ValueOf(tensor.Vector[float32](1, 2, 3, 4)), n)
}

// chain returns a function that makes n additions one after the other.
func chain(n int) *function.Func[*ops.Value, *ops.Value] {
	return function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		y := x
		for range n {
			y = ops.Add(s, y, x)
		}
		return y
	}, &function.Options{Mode: function.Traced})
}

// chainVerb returns a verb that calls a chain of n additions of 4 MiB once.
func chainVerb(n int) verb {
	return repeat(chain(n), ops.ValueOf(tensor.Must(tensor.Zeros(tensor.Float32, 1<<20))), 1)
}

// chainMemory returns the most MiB that a chain's call holds at once.
func chainMemory(ctx context.Context, n int) (float64, error) {
	c, err := chain(n).TraceContext(ctx, ops.Spec(tensor.Float32, 1<<20))
	if err != nil {
		return 0, err
	}
	p, err := engine.Compile(c.Function, &engine.CompileOptions{Kernels: kernel.All()})
	if err != nil {
		return 0, err
	}
	var used engine.Usage
	x := engine.ValueOf(tensor.Must(tensor.Zeros(tensor.Float32, 1<<20)))
	_, err = p.Run(ctx, []engine.Value{x}, &engine.RunOptions{Used: &used})
	return float64(used.Peak) / (1 << 20), err
}

// onOneCore returns a verb that calls a function n times, each call on one core.
func onOneCore(n int) verb {
	w := trackable.NewVariable(tensor.Must(tensor.Zeros(tensor.Float32, 128, 128)))
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		for range 8 {
			x = ops.Tanh(s, ops.MatMul(s, x, w))
		}
		return ops.Sum(s, x)
	}, &function.Options{Mode: function.Traced, Workers: engine.NewWorkers(1)})
	return repeat(f, ops.ValueOf(tensor.Must(tensor.Zeros(tensor.Float32, 32, 128))), n)
}

// callersVerb returns a verb in which as many goroutines call one function n times each.
func callersVerb(callers, n int) verb { return atOnce(slices.Repeat([]verb{onOneCore(n)}, callers)) }

// atOnce returns a verb that does works in parallel.
func atOnce(works []verb) verb {
	return func(ctx context.Context) error {
		errs := make(chan error, len(works))
		for _, work := range works {
			go func() { errs <- work(ctx) }()
		}
		var err error
		for range works {
			err = errors.Join(err, <-errs)
		}
		return err
	}
}

// twoCores returns the work of two goroutines, as a multiple of the work of one. They share
// nothing, each with a separate function: the limit for two callers of one function on
// this machine.
func twoCores(ctx context.Context) (float64, error) {
	a, b := onOneCore(200), onOneCore(200)
	both := atOnce([]verb{a, b})
	var one, two []float64
	for range 41 {
		time.Sleep(rest)
		d, err := timed(func() error { return a(ctx) })
		one = append(one, d)
		if err != nil {
			return 0, err
		}
		if d, err = timed(func() error { return both(ctx) }); err != nil {
			return 0, err
		}
		two = append(two, d)
	}
	slices.Sort(one)
	slices.Sort(two)
	return 2 * one[len(one)/2] / two[len(two)/2], nil
}

// loopVerb returns a verb that calls a function whose loop makes n rounds.
func loopVerb(n int) verb {
	f := function.New(func(s *ops.Scope, limit *ops.Value) *ops.Value {
		vars := []*ops.Value{ops.Const(s, 0), ops.Const(s, 0.0)}
		return ops.While(s, vars,
			func(s *ops.Scope, v []*ops.Value) *ops.Value { return ops.Less(s, v[0], limit) },
			func(s *ops.Scope, v []*ops.Value) []*ops.Value {
				return []*ops.Value{ops.Add(s, v[0], 1), ops.Add(s, v[1], 0.5)}
			})[1]
	}, &function.Options{Mode: function.Traced})
	return repeat(f, ops.ValueOf(tensor.Scalar(int32(n))), 1)
}
