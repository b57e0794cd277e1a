package main

import (
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/optimizers/schedules"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// ramp returns a tensor of the given shape whose elements are small and differ.
func ramp(from float32, dims ...int) *tensor.Tensor {
	n, err := tensor.Shape(dims).NumElements()
	if err != nil {
		panic(err)
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = from + float32(i*7%11)/8 - 0.5
	}
	return tensor.Must(tensor.New(v, dims...))
}

// named returns a variable of that name.
func named(name string, t *tensor.Tensor) *trackable.Variable {
	return trackable.NewVariable(t).Named(name)
}

// dense returns the product and bias of two variables.
func dense(s *ops.Scope, x ops.Input, w, b *trackable.Variable) *ops.Value {
	return ops.BiasAdd(s, ops.MatMul(s, x, w), b)
}

// mlpVars returns the weights of a small network, and two variables of the size of the first
// for an optimizer. Programs use them by their places.
func mlpVars() []*trackable.Variable {
	return []*trackable.Variable{
		named("w1", ramp(0.1, 4, 8)), named("b1", ramp(0, 8)), named("w2", ramp(-0.1, 8, 3)), named("b2", ramp(0, 3)),
		named("m", ramp(1, 4, 8)), named("v", ramp(1.5, 4, 8)),
	}
}

// mlpLoss returns the cross-entropy of a small network against three classes.
func mlpLoss(s *ops.Scope, vars []*trackable.Variable, x, labels *ops.Value) *ops.Value {
	h := ops.Relu(s, dense(s, x, vars[0], vars[1]))
	return ops.Mean(s, ops.SparseSoftmaxCrossEntropy(s, labels, dense(s, h, vars[2], vars[3])))
}

// tracePrograms returns functions of more than one op.
func tracePrograms() []*program {
	x, labels := ramp(0.3, 5, 4), tensor.Vector[int32](0, 2, 1, 1, 0)
	const close = 1e-5
	return append(append(optimizerPrograms(x, labels), tablePrograms()...), []*program{
		{name: "inference of an MLP", vars: mlpVars, in: []*tensor.Tensor{x}, tolerance: close,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				return []*ops.Value{ops.Softmax(s, dense(s, ops.Tanh(s, dense(s, in[0], vars[0], vars[1])), vars[2], vars[3]))}
			}},
		{name: "20 steps of gradient descent", vars: mlpVars, in: []*tensor.Tensor{x, labels}, calls: 20, tolerance: close,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return mlpLoss(s, vars, in[0], in[1]) })
				for _, g := range tape.Gradient(loss, vars[:4]) {
					ops.ApplyGradientDescent(s, g.Variable, 0.1, g.Grad)
				}
				return []*ops.Value{loss}
			}},
		{name: "20 steps by plain assignments", vars: mlpVars, in: []*tensor.Tensor{x, labels}, calls: 20, tolerance: close,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return mlpLoss(s, vars, in[0], in[1]) })
				for _, g := range tape.Gradient(loss, vars[:4]) {
					ops.AssignSub(s, g.Variable, ops.Mul(s, g.Grad, 0.05))
				}
				return []*ops.Value{loss}
			}},
		{name: "Adam on one kernel", vars: mlpVars, in: []*tensor.Tensor{x, labels}, calls: 20, tolerance: close,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return mlpLoss(s, vars, in[0], in[1]) })
				g := tape.Gradient(loss, vars[:1])[0]
				ops.ApplyAdam(s, vars[0], vars[4], vars[5], 0.9, 0.999, 0.01, 0.9, 0.999, 1e-7, g.Grad)
				return []*ops.Value{loss, g.Grad}
			}},
		{name: "momentum and Adagrad by their ops", vars: mlpVars, in: []*tensor.Tensor{x}, calls: 5, tolerance: close,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				g := ops.Mul(s, vars[0], 0.1)
				ops.ApplyMomentum(s, vars[0], vars[4], 0.1, g, 0.9, &ops.MomentumOptions{Nesterov: true})
				ops.ApplyAdagrad(s, vars[0], vars[5], 0.1, 1e-7, g)
				return []*ops.Value{g}
			}},
		{name: "second derivatives", vars: mlpVars, in: []*tensor.Tensor{x}, tolerance: close,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				outer, tape := grad.Record(s, &grad.Options{Persistent: true})
				tape.Watch(in[0])
				inner, first := grad.Record(outer)
				first.Watch(in[0])
				y := ops.Sum(inner, ops.Mul(inner, ops.Tanh(inner, in[0]), ops.Square(inner, in[0])))
				g := first.GradientOf(y, in[0])[0]
				gg := tape.GradientOf(ops.Sum(outer, ops.Square(outer, g)), in[0])[0]
				return []*ops.Value{y, g, gg}
			}},
		{name: "reads and writes in order", vars: mlpVars, in: []*tensor.Tensor{ramp(2, 8)}, calls: 3,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				before := ops.ReadVariable(s, vars[1])
				ops.AssignAdd(s, vars[1], in[0])
				between := ops.ReadVariable(s, vars[1])
				ops.Assign(s, vars[1], ops.Mul(s, vars[1], 0.5))
				return []*ops.Value{before, between, ops.ReadVariable(s, vars[1])}
			}},
		{name: "a captured tensor that is too large for a constant", vars: mlpVars, in: []*tensor.Tensor{ramp(0, 20, 30)},
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				return []*ops.Value{ops.Add(s, in[0], ramp(1, 20, 30)), ops.Mul(s, in[0], ramp(1, 30))}
			}},
		{name: "random numbers of a generator", vars: func() []*trackable.Variable {
			return []*trackable.Variable{ops.NewRandom(42).State.Named("state")}
		}, in: []*tensor.Tensor{ramp(0, 3)}, calls: 2, tolerance: close,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				r := &ops.Random{State: vars[0]}
				return []*ops.Value{ops.RandomUniform(s, r, tensor.Float32, 5), ops.RandomNormal(s, r, tensor.Float32, 2, 3), ops.Neg(s, in[0])}
			}},
		{name: "a branch and its gradient", vars: mlpVars, in: []*tensor.Tensor{x, tensor.Scalar(true)}, tolerance: close,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
					return ops.Sum(s, ops.If(s, in[1],
						func(s *ops.Scope) *ops.Value { return ops.Tanh(s, ops.MatMul(s, in[0], vars[0])) },
						func(s *ops.Scope) *ops.Value { return ops.MatMul(s, in[0], vars[0]) }))
				})
				return []*ops.Value{loss, tape.Gradient(loss, vars[:1])[0].Grad}
			}},
		{name: "a branch that writes", vars: mlpVars, in: []*tensor.Tensor{ramp(2, 8), tensor.Scalar(false)}, calls: 3,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				y := ops.If(s, in[1],
					func(s *ops.Scope) *ops.Value { return ops.Neg(s, in[0]) },
					func(s *ops.Scope) *ops.Value {
						ops.AssignAdd(s, vars[1], in[0])
						return ops.ReadVariable(s, vars[1])
					})
				return []*ops.Value{y, ops.ReadVariable(s, vars[1])}
			}},
		{name: "a loop and its gradient", vars: mlpVars, in: []*tensor.Tensor{ramp(0.2, 3, 3), tensor.Scalar[int32](4)}, tolerance: close,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
					out := ops.While(s, []*ops.Value{ops.Const(s, 0), in[0]},
						func(s *ops.Scope, v []*ops.Value) *ops.Value { return ops.Less(s, v[0], in[1]) },
						func(s *ops.Scope, v []*ops.Value) []*ops.Value {
							return []*ops.Value{ops.Add(s, v[0], 1), ops.Tanh(s, ops.MatMul(s, v[1], in[0]))}
						})
					return ops.Sum(s, out[1])
				}, &grad.Options{Watch: []*ops.Value{in[0]}})
				return []*ops.Value{loss, tape.GradientOf(loss, in[0])[0]}
			}},
		{name: "strings", vars: mlpVars, in: []*tensor.Tensor{tensor.Vector("b", "a", "c")},
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				return []*ops.Value{ops.Concat(s, []ops.Input{in[0], []string{"x"}}, 0), ops.Gather(s, in[0], []int{2, 0})}
			}},
		{name: "shapes as values", vars: mlpVars, in: []*tensor.Tensor{ramp(0, 2, 3, 4)},
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				rows := ops.StridedSlice(s, ops.Shape(s, in[0]), ops.To(1))
				flat := ops.ReshapeTo(s, in[0], ops.Concat(s, []ops.Input{rows, []int32{-1}}, 0))
				return []*ops.Value{flat, ops.Transpose(s, in[0]), ops.Sum(s, in[0]), ops.Max(s, in[0], 1)}
			}},
		{name: "a function inside a function", vars: mlpVars, in: []*tensor.Tensor{x}, tolerance: close,
			with: func() any {
				return function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Square(s, ops.Tanh(s, x)) })
			},
			runWith: func(s *ops.Scope, with any, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				inner := with.(*function.Func[*ops.Value, *ops.Value])
				loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
					return ops.Sum(s, inner.Apply(s, inner.Apply(s, ops.MatMul(s, in[0], vars[0]))))
				})
				return []*ops.Value{loss, tape.Gradient(loss, vars[:1])[0].Grad}
			}},
		{name: "a choice of three and its gradient", vars: mlpVars, in: []*tensor.Tensor{x, tensor.Scalar[int32](2)}, tolerance: close,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
					return ops.Sum(s, ops.Case(s, in[1],
						func(s *ops.Scope) *ops.Value { return ops.Tanh(s, in[0]) },
						func(s *ops.Scope) *ops.Value { return ops.Neg(s, in[0]) },
						func(s *ops.Scope) *ops.Value { return ops.Sigmoid(s, in[0]) }))
				}, &grad.Options{Watch: []*ops.Value{in[0]}})
				return []*ops.Value{loss, tape.GradientOf(loss, in[0])[0]}
			}},
		{name: "a function of each row", vars: mlpVars, in: []*tensor.Tensor{x}, tolerance: close,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				return []*ops.Value{ops.Map(s, in[0], func(s *ops.Scope, row *ops.Value) *ops.Value {
					return ops.Mul(s, ops.Sum(s, row), row)
				})}
			}},
		{name: "running products of the rows", vars: mlpVars, in: []*tensor.Tensor{x}, tolerance: close,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				return []*ops.Value{ops.Scan(s, ops.Const(s, []float32{1, 1, 1, 1}), in[0], func(s *ops.Scope, acc, row *ops.Value) *ops.Value {
					return ops.Mul(s, acc, row)
				})}
			}},
		{name: "dropout of a generator", vars: func() []*trackable.Variable {
			return []*trackable.Variable{ops.NewRandom(7).State.Named("state")}
		}, in: []*tensor.Tensor{ramp(0.2, 6, 5)}, calls: 2, tolerance: close,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
					return ops.Sum(s, ops.Square(s, ops.Dropout(s, &ops.Random{State: vars[0]}, in[0], 0.4)))
				}, &grad.Options{Watch: []*ops.Value{in[0]}})
				return []*ops.Value{loss, tape.GradientOf(loss, in[0])[0]}
			}},
	}...)
}

// tablePrograms returns programs that train a table by each optimizer. Each step looks up
// some rows, two of them the same, so that gradients are slices.
func tablePrograms() []*program {
	vars := func() []*trackable.Variable {
		return []*trackable.Variable{named("table", ramp(0.2, 6, 4)), named("w", ramp(-0.1, 4, 3))}
	}
	in := []*tensor.Tensor{tensor.Vector[int32](3, 0, 3, 5), tensor.Vector[int32](0, 2, 1, 1)}
	var out []*program
	for _, o := range append(optimizersToJudge(), judgedOptimizer{"the new SGD with momentum", func() any {
		o := optimizers.NewSGD(0.1)
		o.Momentum, o.Nesterov = 0.9, true
		_ = o.SetLayout(optimizers.NewLayout)
		return o
	}}, judgedOptimizer{"the new Adam", func() any {
		o := optimizers.NewAdam(0.01)
		_ = o.SetLayout(optimizers.NewLayout)
		return o
	}}) {
		out = append(out, &program{name: "10 steps of " + o.name + " on rows of a table", vars: vars, with: o.make, in: in, calls: 10, tolerance: 1e-5,
			runWith: func(s *ops.Scope, with any, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
					rows := ops.Add(s, ops.Gather(s, vars[0], in[0]), ops.Gather(s, vars[0], []int64{1, 1, 2, 0}))
					return ops.Mean(s, ops.SparseSoftmaxCrossEntropy(s, in[1], ops.MatMul(s, rows, vars[1])))
				})
				with.(optimizers.Optimizer).Apply(s, tape.Gradient(loss, vars))
				return []*ops.Value{loss}
			}})
	}
	return out
}

// judgedOptimizer has a name and a function that makes a new optimizer for each run.
type judgedOptimizer struct {
	name string
	make func() any
}

// optimizerPrograms returns programs that train the MLP by each of optimizersToJudge.
func optimizerPrograms(x, labels *tensor.Tensor) []*program {
	var out []*program
	for _, o := range optimizersToJudge() {
		out = append(out, &program{name: "20 steps of " + o.name, vars: mlpVars, with: o.make, in: []*tensor.Tensor{x, labels}, calls: 20, tolerance: 1e-5,
			runWith: func(s *ops.Scope, with any, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return mlpLoss(s, vars, in[0], in[1]) })
				with.(optimizers.Optimizer).Apply(s, tape.Gradient(loss, vars[:4]))
				return []*ops.Value{loss}
			}})
	}
	return out
}

// optimizersToJudge returns the optimizers of package keras/optimizers, with tf_keras's
// layout of variables unless the name has another.
func optimizersToJudge() []judgedOptimizer {
	return []judgedOptimizer{
		{"SGD", func() any { return optimizers.NewSGD(0.1) }},
		{"SGD with momentum", func() any { o := optimizers.NewSGD(0.1); o.Momentum = 0.9; return o }},
		{"SGD with a schedule", func() any {
			o := optimizers.NewSGD(0.1)
			o.Schedule = schedules.ExponentialDecay{InitialLearningRate: 0.1, DecaySteps: 3, DecayRate: 0.5}
			return o
		}},
		{"Adam", func() any { return optimizers.NewAdam(0.01) }},
		{"AdamW", func() any { return optimizers.NewAdamW(0.01) }},
		{"RMSprop", func() any { return optimizers.NewRMSprop(0.01) }},
		{"Adagrad", func() any { return optimizers.NewAdagrad(0.05) }},
		{"Adadelta", func() any { return optimizers.NewAdadelta(0.5) }},
		{"Adamax", func() any { return optimizers.NewAdamax(0.01) }},
		{"Ftrl", func() any { return optimizers.NewFtrl(0.05) }},
		{"Nadam", func() any { return optimizers.NewNadam(0.01) }},
		{"the new Nadam", func() any { o := optimizers.NewNadam(0.01); _ = o.SetLayout(optimizers.NewLayout); return o }},
		{"Adafactor", func() any { return optimizers.NewAdafactor(0.01) }},
		{"Lion", func() any { return optimizers.NewLion(0.001) }},
	}
}
