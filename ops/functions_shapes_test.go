package ops_test

import (
	"slices"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

func shapeCalls() map[string]call {
	return map[string]call{
		"Shape": unary(ops.Shape, "cube"), "Size": unary(ops.Size, "cube"), "Rank": unary(ops.Rank, "cube"),
		"Reshape":   func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.Reshape(s, in["cube"], 4, -1)) },
		"ReshapeTo": func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.ReshapeTo(s, in["cube"], []int{6, 4})) },
		"Transpose": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.Transpose(s, in["cube"]), ops.Transpose(s, in["cube"], 1, 0, 2))
		},
		"ExpandDims": func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.ExpandDims(s, in["x"], 1)) },
		"Squeeze": func(s *ops.Scope, in inputs) []*ops.Value {
			x := ops.Reshape(s, in["x"], 1, 8, 1)
			return values(ops.Squeeze(s, x), ops.Squeeze(s, x, 2))
		},
		"Concat": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.Concat(s, []*ops.Value{in["x"], in["z"], in["x"]}, 0), ops.Concat(s, []*ops.Value{in["x"], in["z"]}, -1))
		},
		"Split":      func(s *ops.Scope, in inputs) []*ops.Value { return ops.Split(s, in["cube"], 2, -1) },
		"SplitSizes": func(s *ops.Scope, in inputs) []*ops.Value { return ops.SplitSizes(s, in["cube"], []int{1, 0, 2}, 1) },
		"Stack": func(s *ops.Scope, in inputs) []*ops.Value {
			both := []*ops.Value{in["x"], in["z"]}
			return values(ops.Stack(s, both), ops.Stack(s, both, -1))
		},
		"Unstack": func(s *ops.Scope, in inputs) []*ops.Value {
			return slices.Concat(ops.Unstack(s, in["cube"], 2), ops.Unstack(s, in["cube"], 3, 1))
		},
		"Tile":        func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.Tile(s, in["x"], 2, 3)) },
		"BroadcastTo": func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.BroadcastTo(s, in["vector"], 2, 3, 4)) },
		"Pad": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.Pad(s, in["x"], [2]int{1, 0}, [2]int{2, 1}))
		},
		"PadWith": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.PadWith(s, in["x"], -7, [2]int{0, 2}, [2]int{1, 1}))
		},
		"MirrorPad": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.MirrorPad(s, in["x"], ops.Reflect, [2]int{1, 0}, [2]int{2, 3}), ops.MirrorPad(s, in["x"], ops.Symmetric, [2]int{2, 1}, [2]int{0, 4}))
		},
		"Reverse": func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.Reverse(s, in["cube"], 0, 2)) },
		"Range": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.Range(s, 3, 18, 4), ops.Range(s, 1.0, 0.0, -0.25))
		},
		"LinSpace": func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.LinSpace(s, 1.0, 3.0, 7)) },
		"Fill":     func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.Fill(s, 2.5, 2, 3)) },
		"Zeros": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.Zeros(s, tensor.Int64, 2, 2), ops.Zeros(s, tensor.Bool))
		},
		"Ones": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.Ones(s, tensor.Float64, 2, 3), ops.Ones(s, tensor.Bool, 2))
		},
		"ZerosLike": unary(ops.ZerosLike, "ints"), "OnesLike": unary(ops.OnesLike, "ints"),
		"Eye":  func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.Eye(s, tensor.Float32, 3)) },
		"Diag": unary(ops.Diag, "x"), "DiagPart": unary(ops.DiagPart, "batch"),
		"BandPart": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.BandPart(s, in["square"], 1, 0), ops.BandPart(s, in["square"], -1, 2))
		},
		"TopK":     func(s *ops.Scope, in inputs) []*ops.Value { return pair(ops.TopK(s, in["cube"], 2)) },
		"Sort":     unary(ops.Sort, "cube"),
		"Identity": unary(ops.Identity, "x"), "StopGradient": unary(ops.StopGradient, "x"),
		"EnsureShape":       func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.EnsureShape(s, in["x"], 2, -1)) },
		"InvertPermutation": unary(ops.InvertPermutation, "perm"),
		"WhereIndices": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.WhereIndices(s, in["flags"]), ops.WhereIndices(s, in["ints"]))
		},
		"Const": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.Const(s, 3), ops.Const(s, 2.5), ops.Const(s, [][]int{{1, 2}, {3, 4}}), ops.Const(s, "text"))
		},
		"ConstOf": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.ConstOf(s, tensor.Int64, 3), ops.ConstOf(s, tensor.Float64, []float64{1.5, 2}))
		},
	}
}

func indexCalls() map[string]call {
	// cut indexes the cube in as many ways as there are lists of terms.
	cut := func(ways ...[]ops.Index) call {
		return func(s *ops.Scope, in inputs) (out []*ops.Value) {
			for _, terms := range ways {
				out = append(out, ops.StridedSlice(s, in["cube"], terms...))
			}
			return out
		}
	}
	type terms = []ops.Index
	return map[string]call{
		"SliceOf": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.SliceOf(s, in["cube"], []int{0, 1, 2}, []int{2, -1, 1}))
		},
		"StridedSlice": cut(terms{ops.Whole(), ops.Span(1, -1), ops.At(0)}),
		"At":           cut(terms{ops.At(1)}, terms{ops.Whole(), ops.At(-1)}),
		"From":         cut(terms{ops.Whole(), ops.From(1)}, terms{ops.Whole(), ops.Whole(), ops.From(-2)}),
		"To":           cut(terms{ops.To(1)}, terms{ops.Whole(), ops.To(-1)}),
		"Span":         cut(terms{ops.Whole(), ops.Span(0, 2)}, terms{ops.Whole(), ops.Whole(), ops.Span(3, 0).Step(-2)}),
		"Whole":        cut(terms{ops.Whole(), ops.At(1)}, terms{ops.Whole().Step(-1)}),
		"NewAxis":      cut(terms{ops.NewAxis()}, terms{ops.Whole(), ops.NewAxis(), ops.At(1)}),
		"Ellipsis":     cut(terms{ops.Ellipsis(), ops.At(1)}, terms{ops.At(1), ops.Ellipsis(), ops.NewAxis()}),
		"Gather": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.Gather(s, in["cube"], []int{1, 0, 1}), ops.Gather(s, in["cube"], [][]int{{3, 0}}, 2))
		},
		"GatherND": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.GatherND(s, in["cube"], [][]int{{0, 1}, {1, 2}}))
		},
		"ScatterND": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.ScatterND(s, [][]int{{4}, {1}, {4}}, []float64{1, 2, 3}, 6))
		},
		"UnsortedSegmentSum": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.UnsortedSegmentSum(s, in["square"], []int{2, 0, -1, 2}, 4))
		},
		"OneHot": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.OneHot(s, []int{1, 0, 5}, 3, tensor.Float32),
				ops.OneHot(s, in["labels"], 3, tensor.Int32, &ops.OneHotOptions{On: 5, Off: -1, Axis: new(1)}),
				ops.OneHot(s, in["labels"], 3, tensor.Bool, &ops.OneHotOptions{Axis: new(0)}))
		},
	}
}

func variableCalls() map[string]call {
	type variables = []*trackable.Variable
	// step takes an optimizer's step and reads the variables afterwards.
	step := func(n int, f func(s *ops.Scope, v variables, g *ops.Value)) call {
		return func(s *ops.Scope, in inputs) (out []*ops.Value) {
			vars := in.variables("v", "s1", "s2", "s3")[:n]
			f(s, vars, in["g"])
			for _, v := range vars {
				out = append(out, ops.ReadVariable(s, v))
			}
			return out
		}
	}
	momentum := func(nesterov bool) call {
		return step(2, func(s *ops.Scope, v variables, g *ops.Value) {
			ops.ApplyMomentum(s, v[0], v[1], 0.1, g, 0.9, &ops.MomentumOptions{Nesterov: nesterov})
		})
	}
	kerasMomentum := func(nesterov bool) call {
		return step(2, func(s *ops.Scope, v variables, g *ops.Value) {
			ops.ApplyKerasMomentum(s, v[0], v[1], 0.1, g, 0.9, &ops.MomentumOptions{Nesterov: nesterov})
		})
	}
	adam := func(nesterov bool) call {
		return step(3, func(s *ops.Scope, v variables, g *ops.Value) {
			ops.ApplyAdam(s, v[0], v[1], v[2], 0.81, 0.998, 0.1, 0.9, 0.999, 1e-3, g, &ops.AdamOptions{Nesterov: nesterov})
		})
	}
	random := func(f func(s *ops.Scope, r *ops.Random) *ops.Value) call {
		return func(s *ops.Scope, _ inputs) []*ops.Value { return values(f(s, ops.NewRandom(1234))) }
	}
	return map[string]call{
		"Assign": step(1, func(s *ops.Scope, v variables, g *ops.Value) { ops.Assign(s, v[0], g) }),
		"AssignAdd": step(1, func(s *ops.Scope, v variables, g *ops.Value) {
			ops.AssignAdd(s, v[0], g)
		}),
		"AssignSub": step(1, func(s *ops.Scope, v variables, g *ops.Value) { ops.AssignSub(s, v[0], g) }),
		"ReadVariable": func(s *ops.Scope, in inputs) []*ops.Value {
			v := in.variables("v")[0]
			ops.AssignAdd(s, v, in["g"])
			ops.AssignSub(s, v, in["s1"])
			read := ops.ReadVariable(s, v)
			ops.Assign(s, v, in["s2"])
			return values(read)
		},
		"ApplyGradientDescent": step(1, func(s *ops.Scope, v variables, g *ops.Value) { ops.ApplyGradientDescent(s, v[0], 0.1, g) }),
		"ApplyMomentum":        momentum(false), "ApplyMomentum nesterov": momentum(true),
		"ApplyKerasMomentum": kerasMomentum(false), "ApplyKerasMomentum nesterov": kerasMomentum(true),
		"ApplyAdam": adam(false), "ApplyAdam nesterov": adam(true),
		"ApplyAdamWithAmsgrad": step(4, func(s *ops.Scope, v variables, g *ops.Value) {
			ops.ApplyAdamWithAmsgrad(s, v[0], v[1], v[2], v[3], 0.81, 0.998, 0.1, 0.9, 0.999, 1e-3, g)
		}),
		"ApplyAdaMax": step(3, func(s *ops.Scope, v variables, g *ops.Value) {
			ops.ApplyAdaMax(s, v[0], v[1], v[2], 0.81, 0.1, 0.9, 0.999, 1e-3, g)
		}),
		"ApplyAdagrad": step(2, func(s *ops.Scope, v variables, g *ops.Value) { ops.ApplyAdagrad(s, v[0], v[1], 0.1, 1e-3, g) }),
		"ApplyAdadelta": step(3, func(s *ops.Scope, v variables, g *ops.Value) {
			ops.ApplyAdadelta(s, v[0], v[1], v[2], 0.1, 0.95, 1e-3, g)
		}),
		"ApplyRMSProp": step(3, func(s *ops.Scope, v variables, g *ops.Value) {
			ops.ApplyRMSProp(s, v[0], v[1], v[2], 0.1, 0.9, 0.5, 1e-3, g)
		}),
		"ApplyCenteredRMSProp": step(4, func(s *ops.Scope, v variables, g *ops.Value) {
			// The mean of the squares starts above the square of the mean.
			ops.Assign(s, v[1], ops.Div(s, g, 4))
			ops.AssignAdd(s, v[2], []float64{10, 10, 10, 10, 10})
			ops.ApplyCenteredRMSProp(s, v[0], v[1], v[2], v[3], 0.1, 0.9, 0.5, 1e-3, g)
		}),
		"ApplyFtrl": step(3, func(s *ops.Scope, v variables, g *ops.Value) {
			ops.ApplyFtrl(s, v[0], v[1], v[2], g, 0.1, 0.01, 0.02, 0.03, -0.5)
		}),
		"RandomUniform": random(func(s *ops.Scope, r *ops.Random) *ops.Value { return ops.RandomUniform(s, r, tensor.Float32, 2, 5) }),
		"RandomNormal":  random(func(s *ops.Scope, r *ops.Random) *ops.Value { return ops.RandomNormal(s, r, tensor.Float32, 2, 5) }),
		"RandomTruncatedNormal": random(func(s *ops.Scope, r *ops.Random) *ops.Value {
			return ops.RandomTruncatedNormal(s, r, tensor.Float32, 2, 5)
		}),
		"RandomInt": random(func(s *ops.Scope, r *ops.Random) *ops.Value { return ops.RandomInt(s, r, tensor.Int32, 0, 1000, 7) }),
		"NewRandom": random(func(s *ops.Scope, r *ops.Random) *ops.Value { return ops.ReadVariable(s, r.State) }),
	}
}
