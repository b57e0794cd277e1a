package main

import (
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// model is the function of a gradient program.
type model = func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value

// rowsTwice are numbers of rows to gather, one of them twice.
var rowsTwice = tensor.Vector[int32](2, 0, 2, 1, 0)

// judgedClip keeps gradients within 0.1.
var judgedClip = grad.NewCustom("JudgedClip",
	func(s *ops.Scope, x []*ops.Value) []*ops.Value { return []*ops.Value{ops.Square(s, x[0])} },
	func(s *ops.Scope, _, _, dy []*ops.Value) []*ops.Value {
		return []*ops.Value{ops.Minimum(s, ops.Maximum(s, dy[0], float32(-0.1)), float32(0.1))}
	})

// judgedScaled is x·y·z and sin x. Its gradients use arguments and results, and the one
// with regard to y is missing.
var judgedScaled = grad.NewCustom("Judged/Scaled",
	func(s *ops.Scope, x []*ops.Value) []*ops.Value {
		return []*ops.Value{ops.Mul(s, ops.Mul(s, x[0], x[1]), x[2]), ops.Sin(s, x[0])}
	},
	func(s *ops.Scope, x, y, dy []*ops.Value) []*ops.Value {
		return []*ops.Value{ops.Mul(s, ops.Mul(s, dy[0], x[1]), 3), nil, ops.Add(s, ops.Mul(s, y[0], dy[0]), ops.Mul(s, dy[1], y[1]))}
	})

// models are functions that programs differentiate. Their inputs are x, five rows of four
// numbers, and a label for each row; vars are the variables of mlpVars.
var models = []struct {
	name string
	run  model
}{
	{"the loss of an MLP", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return mlpLoss(s, vars, in[0], in[1])
	}},
	{"a loop with a variable", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return rounds(s, in[0], 4, func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Tanh(s, ops.MatMul(s, ops.Add(s, ops.MatMul(s, x, vars[0]), vars[1]), ops.Mul(s, ops.Transpose(s, vars[4]), 0.1)))
		})
	}},
	{"a loop with a limit", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.While(s, in[0],
			func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Less(s, ops.Sum(s, ops.Square(s, x)), 1e6) },
			func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, ops.Mul(s, x, 1.5), ops.Sin(s, x)) },
			&ops.WhileOptions{MaxIterations: 3})
	}},
	{"a loop that makes no round", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return rounds(s, in[0], 0, func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Square(s, x) })
	}},
	{"a loop in a loop", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return rounds(s, in[0], 2, func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Add(s, x, rounds(s, ops.Cos(s, x), 3, func(s *ops.Scope, y *ops.Value) *ops.Value {
				return ops.Mul(s, ops.Tanh(s, y), ops.Sin(s, x))
			}))
		})
	}},
	{"a branch in a loop", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return rounds(s, in[0], 4, func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.If(s, ops.Greater(s, ops.Sum(s, x), 1),
				func(s *ops.Scope) *ops.Value { return ops.Mul(s, ops.Cos(s, x), ops.Mean(s, vars[0])) },
				func(s *ops.Scope) *ops.Value { return ops.Add(s, ops.Exp(s, x), ops.Sum(s, vars[1])) })
		})
	}},
	{"a loop in a branch", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.If(s, ops.Less(s, ops.Sum(s, in[0]), 1e6),
			func(s *ops.Scope) *ops.Value {
				return rounds(s, in[0], 3, func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Mul(s, ops.Sin(s, x), ops.Mean(s, vars[4])) })
			},
			func(s *ops.Scope) *ops.Value { return ops.Neg(s, in[0]) })
	}},
	{"a choice", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.Case(s, ops.Cast(s, ops.Reshape(s, ops.SliceOf(s, in[1], []int{1}, []int{1})), tensor.Int32),
			func(s *ops.Scope) *ops.Value { return ops.Tanh(s, in[0]) },
			func(s *ops.Scope) *ops.Value {
				return ops.MatMul(s, in[0], ops.MatMul(s, vars[0], ops.Transpose(s, vars[4])))
			},
			func(s *ops.Scope) *ops.Value { return ops.Mul(s, ops.Sigmoid(s, in[0]), ops.Mean(s, vars[5])) })
	}},
	{"a list that is filled and read", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		squares := ops.Map(s, in[0], func(s *ops.Scope, row *ops.Value) *ops.Value {
			return ops.Add(s, ops.MatMul(s, ops.ExpandDims(s, row, 0), vars[0]), vars[1])
		})
		return ops.Scan(s, ops.Zeros(s, tensor.Float32, 1, 8), squares, func(s *ops.Scope, acc, x *ops.Value) *ops.Value {
			return ops.Tanh(s, ops.Add(s, acc, ops.Square(s, x)))
		})
	}},
	{"rows of a table", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.Mul(s, ops.Gather(s, vars[0], rowsTwice), ops.Sum(s, in[0]))
	}},
	{"rows of a table, three times", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		a, b := ops.Gather(s, vars[0], rowsTwice), ops.Gather(s, vars[0], []int64{3, 3, 1, 0, 2})
		return ops.Mul(s, ops.Mul(s, a, b), ops.Gather(s, vars[0], [][]int32{{1}, {0}}))
	}},
	{"rows of a table and the table", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.Add(s, ops.Mean(s, ops.Gather(s, vars[0], rowsTwice)), ops.MatMul(s, in[0], vars[0]))
	}},
	{"rows of a negation", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.Square(s, ops.Gather(s, ops.Neg(s, vars[0]), rowsTwice))
	}},
	{"rows of a cast", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.Square(s, ops.Gather(s, ops.Cast(s, ops.Cast(s, vars[0], tensor.Float64), tensor.Float32), rowsTwice))
	}},
	{"rows of a product", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.Square(s, ops.Gather(s, ops.Mul(s, vars[0], 0.5), rowsTwice))
	}},
	{"rows of a sum", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.Square(s, ops.Gather(s, ops.Add(s, vars[0], vars[4]), rowsTwice))
	}},
	{"rows of a difference", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.Square(s, ops.Gather(s, ops.Sub(s, vars[0], vars[4]), rowsTwice))
	}},
	{"rows of an identity", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.Square(s, ops.Gather(s, ops.Identity(s, vars[0]), rowsTwice))
	}},
	{"rows of a reshape", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.Square(s, ops.Gather(s, ops.Reshape(s, vars[0], 8, 4), rowsTwice))
	}},
	{"rows of a check", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.Square(s, ops.Gather(s, s.Emit1("CheckNumerics", graph.Attrs{graph.String("message", "")}, vars[0]), rowsTwice))
	}},
	{"rows of an AddN", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.Square(s, ops.Gather(s, ops.AddN(s, []ops.Input{vars[0], vars[4]}), rowsTwice))
	}},
	{"rows of a value", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.Square(s, ops.Gather(s, in[0], rowsTwice))
	}},
	{"rows of a table in a branch", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.If(s, ops.Less(s, ops.Sum(s, in[0]), 1e6),
			func(s *ops.Scope) *ops.Value { return ops.Square(s, ops.Gather(s, vars[0], rowsTwice)) },
			func(s *ops.Scope) *ops.Value { return ops.Gather(s, vars[0], rowsTwice) })
	}},
	{"rows of a table in a loop", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return rounds(s, ops.Zeros(s, tensor.Float32, 5, 8), 3, func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Add(s, ops.Tanh(s, x), ops.Square(s, ops.Gather(s, vars[0], rowsTwice)))
		})
	}},
	{"rows of a value in a loop", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return rounds(s, ops.Zeros(s, tensor.Float32, 5, 4), 3, func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Add(s, ops.Tanh(s, x), ops.Square(s, ops.Gather(s, in[0], rowsTwice)))
		})
	}},
	{"a custom gradient", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.Mul(s, judgedClip.Call(s, ops.MatMul(s, in[0], vars[0]))[0], 0.3)
	}},
	{"a custom gradient in a loop", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return rounds(s, in[0], 3, func(s *ops.Scope, x *ops.Value) *ops.Value { return judgedClip.Call(s, x)[0] })
	}},
	{"custom gradients that capture values", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		a := judgedScaled.Call(s, ops.MatMul(s, in[0], vars[0]), vars[1], ops.MatMul(s, ops.Tanh(s, in[0]), vars[0]))
		b := judgedScaled.Call(s, a[0], ops.Mul(s, vars[1], 2), a[1])
		return ops.Add(s, b[0], ops.Mul(s, b[1], a[0]))
	}},
	{"a stopped gradient", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		return ops.Mul(s, ops.StopGradient(s, ops.MatMul(s, in[0], vars[0])), vars[1])
	}},
	{"convolution, pooling and normalization", func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		image := ops.Reshape(s, ops.MatMul(s, in[0], vars[0]), 1, 5, 4, 2)
		filter := ops.Reshape(s, vars[4], 2, 2, 2, 4)
		y := ops.Conv2D(s, image, filter, nil)
		out := s.EmitN(6, "FusedBatchNormV3", nil, y, ops.Reshape(s, ops.SliceOf(s, vars[1], []int{0}, []int{4}), 4), ops.Zeros(s, tensor.Float32, 4),
			ops.Zeros(s, tensor.Float32, 0), ops.Zeros(s, tensor.Float32, 0))
		return ops.Relu(s, out[0])
	}},
}

// rounds calls f n times.
func rounds(s *ops.Scope, x *ops.Value, n int32, f func(s *ops.Scope, x *ops.Value) *ops.Value) *ops.Value {
	return ops.While(s, []*ops.Value{ops.Const(s, int32(0)), x},
		func(s *ops.Scope, v []*ops.Value) *ops.Value { return ops.Less(s, v[0], n) },
		func(s *ops.Scope, v []*ops.Value) []*ops.Value { return []*ops.Value{ops.Add(s, v[0], 1), f(s, v[1])} })[1]
}

// gradientPrograms returns four programs for each model: the model, a call of it as a
// function, and the gradients of both. The gradient of a gradient is the second derivative.
func gradientPrograms() []*program {
	in := []*tensor.Tensor{ramp(0.3, 5, 4), tensor.Vector[int32](0, 2, 1, 1, 0)}
	var out []*program
	for _, m := range models {
		out = append(out, &program{name: m.name, vars: mlpVars, in: in, run: single(m.run)},
			&program{name: m.name + ", called", vars: mlpVars, in: in, run: single(called(m.run))},
			&program{name: m.name + ", second derivative", vars: mlpVars, in: in, run: gradientOf(m.run)},
			&program{name: m.name + ", called, second derivative", vars: mlpVars, in: in, run: gradientOf(called(m.run))})
	}
	return out
}

// single makes a program's function of a model.
func single(f model) func(*ops.Scope, []*trackable.Variable, []*ops.Value) []*ops.Value {
	return func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
		return []*ops.Value{f(s, vars, in)}
	}
}

// called makes a model that calls f as a function.
func called(f model) model {
	return func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) *ops.Value {
		inner := function.New(func(s *ops.Scope, in programIn) *ops.Value { return f(s, vars, in.X) })
		return inner.Apply(s, programIn{X: in})
	}
}

// gradientOf makes a program's function of a model's gradient: that with regard to the
// variables, or to the first input if there is none.
func gradientOf(f model) func(*ops.Scope, []*trackable.Variable, []*ops.Value) []*ops.Value {
	return func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, ops.Square(s, f(s, vars, in))) },
			&grad.Options{Watch: in[:1], Persistent: true})
		var out []*ops.Value
		for _, g := range tape.Gradient(loss, vars) {
			if g.Grad != nil {
				out = append(out, g.Grad)
			}
		}
		if len(out) == 0 && s.Err() == nil { // it has no variables
			out = tape.GradientOf(loss, in[0])
		}
		for i, g := range out {
			out[i] = ops.Identity(s, g)
		}
		return out
	}
}
