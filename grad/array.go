package grad

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// arrayRules are the rules of ops that move elements: each moves the gradient
// back. Ops without a gradient have the rule none.
var arrayRules = map[string]Rule{
	"PlaceholderWithDefault": pass,
	"Print":                  pass,
	"CheckNumerics":          checkNumerics,
	"CheckNumericsV2":        checkNumerics,
	"Diag":                   func(s *ops.Scope, op *Op) { op.Give(0, s.Emit1("DiagPart", nil, op.Grad(0))) },
	"DiagPart":               func(s *ops.Scope, op *Op) { op.Give(0, s.Emit1("Diag", nil, op.Grad(0))) },
	"Identity":               pass,
	"DebugGradientIdentity":  pass,
	"IdentityN":              passAll,
	"Snapshot":               pass,
	"EnsureShape":            pass,
	"PreventGradient": func(s *ops.Scope, op *Op) {
		s.Fail(op.Name(), fmt.Errorf("there is no gradient: %s", op.Attrs().String("message", "the op says so")))
	},
	"Reshape":    likeInput,
	"ExpandDims": likeInput,
	"Squeeze":    likeInput,
	"Bitcast":    none,
	"ZerosLike":  none,
	"OnesLike":   none,
	"OneHot":     none,
	"Transpose": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("Transpose", nil, op.Grad(0), ops.InvertPermutation(s, op.In(1))))
	},
	"BroadcastTo": func(s *ops.Scope, op *Op) {
		op.Give(0, Unbroadcast(s, op.Grad(0), op.In(0)))
	},
	"ConcatV2": gradConcat,
	"Pack": func(s *ops.Scope, op *Op) {
		for i, part := range ops.Unstack(s, op.Grad(0), op.NumIn(), int(op.Attrs().Int("axis", 0))) {
			op.Give(i, part)
		}
	},
	"Unpack": func(s *ops.Scope, op *Op) {
		op.Give(0, ops.Stack(s, parts(op), int(op.Attrs().Int("axis", 0))))
	},
	"Split": func(s *ops.Scope, op *Op) {
		op.Give(1, joined(s, parts(op), op.In(0)))
	},
	"SplitV": func(s *ops.Scope, op *Op) {
		op.Give(0, joined(s, parts(op), op.In(2)))
	},
	"Slice": gradSlice,
	"StridedSlice": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("StridedSliceGrad", op.Attrs(), shapeAs(s, op.In(0), op.In(1).DType()), op.In(1), op.In(2), op.In(3), op.Grad(0)))
	},
	"StridedSliceGrad": func(s *ops.Scope, op *Op) {
		op.Give(4, s.Emit1("StridedSlice", op.Attrs(), op.Grad(0), op.In(1), op.In(2), op.In(3)))
	},
	"ReverseV2": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("ReverseV2", nil, op.Grad(0), op.In(1)))
	},
	"Tile": gradTile,
	"Pad":  gradPad,
	"PadV2": func(s *ops.Scope, op *Op) {
		gradPad(s, op)
		if op.Needs(2) {
			dy := op.Grad(0)
			inside := s.Emit1("Pad", nil, ops.OnesLike(s, op.In(0)), op.In(1))
			op.Give(2, reshapeLike(s, sumAll(s, ops.Mul(s, dy, ops.Sub(s, 1, inside))), op.In(2)))
		}
	},
	"MirrorPad": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("MirrorPadGrad", op.Attrs(), op.Grad(0), op.In(1)))
	},
	"MirrorPadGrad": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("MirrorPad", op.Attrs(), op.Grad(0), op.In(1)))
	},
	"SpaceToDepth":    byInverse("DepthToSpace"),
	"DepthToSpace":    byInverse("SpaceToDepth"),
	"SpaceToBatch":    byInverse("BatchToSpace"),
	"BatchToSpace":    byInverse("SpaceToBatch"),
	"SpaceToBatchND":  byInverse("BatchToSpaceND"),
	"BatchToSpaceND":  byInverse("SpaceToBatchND"),
	"ReverseSequence": byInverse("ReverseSequence"),
	"GatherV2":        gradGather,
	"ScatterNd": func(s *ops.Scope, op *Op) {
		op.Give(1, s.Emit1("GatherNd", policy(op), op.Grad(0), op.In(0)))
	},
	"UnsortedSegmentSum": func(s *ops.Scope, op *Op) {
		op.Give(0, pickSegments(s, op.Grad(0), op.In(1)))
	},
	"Fill": func(s *ops.Scope, op *Op) { op.Give(1, sumAll(s, op.Grad(0))) },
	"MatrixDiag": func(s *ops.Scope, op *Op) {
		op.Give(0, ops.DiagPart(s, op.Grad(0)))
	},
	"MatrixDiagPart": gradDiagPart,
	"MatrixBandPart": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("MatrixBandPart", nil, op.Grad(0), op.In(1), op.In(2)))
	},
	"TopKV2": gradTopK,
}

// byInverse returns the rule of an op that moves elements: its inverse moves the
// gradient back, with the op's attributes and its inputs after the first.
func byInverse(inverse string) Rule {
	return func(s *ops.Scope, op *Op) {
		in := []ops.Input{op.Grad(0)}
		for i := 1; i < op.NumIn(); i++ {
			in = append(in, op.In(i))
		}
		op.Give(0, s.Emit1(inverse, op.Attrs(), in...))
	}
}

func pass(s *ops.Scope, op *Op) { op.Give(0, op.Grad(0)) }

func passAll(s *ops.Scope, op *Op) {
	for i := range op.NumIn() {
		op.Give(i, op.Grad(i))
	}
}

// checkNumerics checks the gradient as the op has checked its input. The message begins with TensorFlow's
// words.
func checkNumerics(s *ops.Scope, op *Op) {
	message := "Not a number (NaN) or infinity (Inf) values detected in gradient. " + op.Attrs().String("message", "")
	op.Give(0, s.Emit1(op.Name(), graph.Attrs{graph.String("message", message)}, op.Grad(0)))
}

// likeInput reshapes the gradient to the input's shape.
func likeInput(s *ops.Scope, op *Op) {
	op.Give(0, reshapeLike(s, op.Grad(0), op.In(0)))
}

func cumulativeAttrs(exclusive, reverse bool) graph.Attrs {
	return graph.Attrs{graph.Bool("exclusive", exclusive), graph.Bool("reverse", reverse)}
}

// parts returns the gradients of all outputs.
func parts(op *Op) []*ops.Value {
	out := make([]*ops.Value, op.NumOut())
	for i := range out {
		out[i] = op.GradOrZero(i)
	}
	return out
}

func inputs(vs []*ops.Value) []ops.Input {
	out := make([]ops.Input, len(vs))
	for i, v := range vs {
		out[i] = v
	}
	return out
}

// joined returns the concatenation of parts along an axis; ConcatV2 takes no
// fewer than two.
func joined(s *ops.Scope, parts []*ops.Value, axis *ops.Value) *ops.Value {
	if len(parts) == 1 {
		return parts[0]
	}
	return s.Emit1("ConcatV2", nil, append(inputs(parts), axis)...)
}
