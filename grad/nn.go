package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// nnRules are the rules of matrix products, activations and losses. The ops
// that compute a first derivative have rules too, for the second one.
var nnRules = map[string]Rule{
	"MatMul":        gradMatMul,
	"BatchMatMul":   gradBatchMatMul,
	"BatchMatMulV2": gradBatchMatMul,
	"BatchMatMulV3": gradBatchMatMul,
	"Einsum":        gradEinsum,
	"SparseMatMul":  gradManyZeros,

	"Relu":      byFused("ReluGrad", true),
	"Relu6":     byFused("Relu6Grad", true),
	"Elu":       byFused("EluGrad", true),
	"Selu":      byFused("SeluGrad", true),
	"Softplus":  byFused("SoftplusGrad", false),
	"Softsign":  byFused("SoftsignGrad", false),
	"LeakyRelu": byFused("LeakyReluGrad", false),

	"ReluGrad":      byMask("ReluGrad"),
	"Relu6Grad":     byMask("Relu6Grad"),
	"LeakyReluGrad": byMask("LeakyReluGrad"),

	"TanhGrad": func(s *ops.Scope, op *Op) {
		y, dy, g := conj(s, op.In(0)), conj(s, op.In(1)), op.Grad(0)
		giveAt(s, op, 0, func() *ops.Value { return ops.Mul(s, ops.Mul(s, g, -2), ops.Mul(s, dy, y)) })
		giveAt(s, op, 1, func() *ops.Value { return s.Emit1("TanhGrad", nil, y, g) })
	},
	"SigmoidGrad": func(s *ops.Scope, op *Op) {
		y, dy, g := conj(s, op.In(0)), conj(s, op.In(1)), op.Grad(0)
		giveAt(s, op, 0, func() *ops.Value {
			gdy := ops.Mul(s, g, dy)
			return ops.Sub(s, gdy, ops.Mul(s, ops.Mul(s, 2, gdy), y))
		})
		giveAt(s, op, 1, func() *ops.Value { return s.Emit1("SigmoidGrad", nil, y, g) })
	},
	"SqrtGrad": func(s *ops.Scope, op *Op) {
		y, g := op.In(0), op.Grad(0)
		gy := ops.Div(s, g, y)
		giveAt(s, op, 0, func() *ops.Value { return ops.Neg(s, ops.Mul(s, conj(s, gy), op.Out(0))) })
		giveAt(s, op, 1, func() *ops.Value { return ops.Mul(s, 0.5, gy) })
	},
	"RsqrtGrad": func(s *ops.Scope, op *Op) {
		y, dy, g := conj(s, op.In(0)), op.In(1), op.Grad(0)
		giveAt(s, op, 0, func() *ops.Value { return ops.Mul(s, ops.Mul(s, ops.Mul(s, -1.5, conj(s, g)), dy), ops.Square(s, y)) })
		giveAt(s, op, 1, func() *ops.Value { return s.Emit1("RsqrtGrad", nil, y, g) })
	},
	"ReciprocalGrad": gradReciprocalGrad,
	"InvGrad":        gradReciprocalGrad,
	"SoftplusGrad": func(s *ops.Scope, op *Op) {
		dy, x, g := op.In(0), op.In(1), op.Grad(0)
		giveAt(s, op, 0, func() *ops.Value { return s.Emit1("SoftplusGrad", nil, g, x) })
		giveAt(s, op, 1, func() *ops.Value {
			sg := ops.Sigmoid(s, x)
			return ops.Mul(s, ops.Mul(s, g, dy), ops.Mul(s, sg, ops.Sub(s, 1, sg)))
		})
	},
	"SoftsignGrad": func(s *ops.Scope, op *Op) {
		dy, x, g := op.In(0), op.In(1), op.Grad(0)
		giveAt(s, op, 0, func() *ops.Value { return s.Emit1("SoftsignGrad", nil, g, x) })
		giveAt(s, op, 1, func() *ops.Value {
			d := ops.Add(s, 1, ops.Abs(s, x))
			return ops.Mul(s, ops.Mul(s, g, dy), ops.Div(s, ops.Mul(s, -2, ops.Sign(s, x)), ops.Mul(s, d, ops.Mul(s, d, d))))
		})
	},
	"EluGrad": func(s *ops.Scope, op *Op) {
		dy, y, g := op.In(0), op.In(1), op.Grad(0)
		giveAt(s, op, 0, func() *ops.Value { return s.Emit1("EluGrad", nil, g, y) })
		giveAt(s, op, 1, func() *ops.Value {
			return ops.Where(s, ops.Less(s, y, 0), ops.Mul(s, g, dy), ops.ZerosLike(s, y))
		})
	},
	"SeluGrad": func(s *ops.Scope, op *Op) {
		dy, y, g := op.In(0), op.In(1), op.Grad(0)
		giveAt(s, op, 0, func() *ops.Value { return s.Emit1("SeluGrad", nil, g, y) })
		giveAt(s, op, 1, func() *ops.Value {
			return ops.Where(s, ops.Less(s, y, 0), ops.Mul(s, g, dy), ops.ZerosLike(s, y))
		})
	},

	"Softmax": func(s *ops.Scope, op *Op) {
		y, dy := op.Out(0), op.Grad(0)
		op.Give(0, ops.Mul(s, ops.Sub(s, dy, ops.SumKeep(s, ops.Mul(s, dy, y), -1)), y))
	},
	"LogSoftmax": func(s *ops.Scope, op *Op) {
		dy := op.Grad(0)
		op.Give(0, ops.Sub(s, dy, ops.Mul(s, ops.SumKeep(s, dy, -1), ops.Exp(s, op.Out(0)))))
	},
	"SoftmaxCrossEntropyWithLogits":       gradCrossEntropy,
	"SparseSoftmaxCrossEntropyWithLogits": gradCrossEntropy,

	"BiasAddGrad": func(s *ops.Scope, op *Op) {
		x, g := op.In(0), op.Grad(0)
		if op.Attrs().String("data_format", "NHWC") == "NCHW" {
			g = s.Emit1("Reshape", nil, g, channelsFirst(s, x, g))
		}
		op.Give(0, broadcastLike(s, g, x))
	},
}

// channelsFirst returns the shape [channels, 1, 1, …] by which a bias broadcasts
// against x. Dimension 1 of x is the channels.
func channelsFirst(s *ops.Scope, x, bias *ops.Value) *ops.Value {
	if shape, ok := known(x); ok {
		dims := make([]int32, len(shape)-1)
		for i := range dims {
			dims[i] = 1
		}
		dims[0] = int32(shape[1])
		return ops.Const(s, dims)
	}
	return joinVectors(s, sizesOf(s, bias), onesVector(s, ops.Sub(s, rankValue(s, x), int32(2))))
}

// byFused returns the rule of an activation. The op called name computes its
// gradient from dy and the activation's output, or its input if output is false.
func byFused(name string, output bool) Rule {
	return func(s *ops.Scope, op *Op) {
		x := op.In(0)
		if output {
			x = op.Out(0)
		}
		op.Give(0, s.Emit1(name, op.Attrs(), op.Grad(0), x))
	}
}

// byMask returns the rule of a gradient op that is linear in the gradient and
// constant almost everywhere in the feature.
func byMask(name string) Rule {
	return func(s *ops.Scope, op *Op) {
		giveAt(s, op, 0, func() *ops.Value { return s.Emit1(name, op.Attrs(), op.Grad(0), op.In(1)) })
		if op.Needs(1) {
			op.Give(1, ops.ZerosLike(s, op.In(1)))
		}
	}
}

func gradReciprocalGrad(s *ops.Scope, op *Op) {
	y, dy, g := conj(s, op.In(0)), op.In(1), op.Grad(0)
	giveAt(s, op, 0, func() *ops.Value { return ops.Mul(s, ops.Mul(s, ops.Mul(s, -2, conj(s, g)), dy), y) })
	giveAt(s, op, 1, func() *ops.Value { return s.Emit1("ReciprocalGrad", nil, y, g) })
}

var (
	transposeA  = graph.Attrs{graph.Bool("transpose_a", true)}
	transposeB  = graph.Attrs{graph.Bool("transpose_b", true)}
	transposeAB = graph.Attrs{graph.Bool("transpose_a", true), graph.Bool("transpose_b", true)}
	adjointX    = graph.Attrs{graph.Bool("adj_x", true)}
	adjointY    = graph.Attrs{graph.Bool("adj_y", true)}
	adjointXY   = graph.Attrs{graph.Bool("adj_x", true), graph.Bool("adj_y", true)}
)

// gradManyZeros computes the gradients of SparseMatMul, a product of matrices with
// many zeros. It computes in float32, the type of the op's output, whatever types
// the inputs have.
func gradManyZeros(s *ops.Scope, op *Op) {
	a, b, g := ops.Cast(s, op.In(0), tensor.Float32), ops.Cast(s, op.In(1), tensor.Float32), op.Grad(0)
	ta, tb := op.Attrs().Bool("transpose_a"), op.Attrs().Bool("transpose_b")
	product := func(x, y *ops.Value, tx, ty bool) *ops.Value {
		return s.Emit1("MatMul", graph.Attrs{graph.Bool("transpose_a", tx), graph.Bool("transpose_b", ty)}, x, y)
	}
	giveAt(s, op, 0, func() *ops.Value {
		if ta {
			return ops.Cast(s, product(b, g, tb, true), op.In(0).DType())
		}
		return ops.Cast(s, product(g, b, false, !tb), op.In(0).DType())
	})
	giveAt(s, op, 1, func() *ops.Value {
		if tb {
			return ops.Cast(s, product(g, a, true, ta), op.In(1).DType())
		}
		return ops.Cast(s, product(a, g, !ta, false), op.In(1).DType())
	})
}

func gradMatMul(s *ops.Scope, op *Op) {
	a, b, g := conj(s, op.In(0)), conj(s, op.In(1)), op.Grad(0)
	ta, tb := op.Attrs().Bool("transpose_a"), op.Attrs().Bool("transpose_b")
	product(s, op, "MatMul", a, b, g, ta, tb, transposeA, transposeB, transposeAB, func(i int, d *ops.Value) { op.Give(i, d) })
}

func gradBatchMatMul(s *ops.Scope, op *Op) {
	a, b, g := op.In(0), op.In(1), op.Grad(0)
	ta, tb := op.Attrs().Bool("adj_x"), op.Attrs().Bool("adj_y")
	product(s, op, "BatchMatMulV2", a, b, g, ta, tb, adjointX, adjointY, adjointXY, func(i int, d *ops.Value) {
		op.Give(i, Unbroadcast(s, d, op.In(i)))
	})
}

// product computes the gradients of a matrix product, by the product op called
// name. ta and tb report whether the op transposes a and b; flagA, flagB and flagAB
// are the attributes that make name transpose its first input, its second or both.
// give receives the gradient with regard to input i.
func product(s *ops.Scope, op *Op, name string, a, b, g *ops.Value, ta, tb bool, flagA, flagB, flagAB graph.Attrs, give func(int, *ops.Value)) {
	if op.Needs(0) {
		switch {
		case !ta && !tb:
			give(0, s.Emit1(name, flagB, g, b))
		case !ta && tb:
			give(0, s.Emit1(name, nil, g, b))
		case ta && !tb:
			give(0, s.Emit1(name, flagB, b, g))
		default:
			give(0, s.Emit1(name, flagAB, b, g))
		}
	}
	if op.Needs(1) {
		switch {
		case !ta && !tb:
			give(1, s.Emit1(name, flagA, a, g))
		case !ta && tb:
			give(1, s.Emit1(name, flagA, g, a))
		case ta && !tb:
			give(1, s.Emit1(name, nil, a, g))
		default:
			give(1, s.Emit1(name, flagAB, g, a))
		}
	}
}

// gradCrossEntropy uses the derivative that the forward op has computed. If another
// tape records the gradient, the rule computes it by softmax.
func gradCrossEntropy(s *ops.Scope, op *Op) {
	logits := op.In(0)
	dense := op.Name() == "SoftmaxCrossEntropyWithLogits"
	if dl := op.Grad(0); dl != nil {
		wide := ops.ExpandDims(s, dl, -1)
		if op.Needs(0) {
			back := op.Out(1)
			if s.Recording() {
				// The other tape must see how the derivative depends on the logits.
				back = crossDerivative(s, op, dense)
			}
			op.Give(0, Unbroadcast(s, ops.Mul(s, wide, back), logits))
		}
		if dense && op.Needs(1) {
			op.Give(1, Unbroadcast(s, ops.Neg(s, ops.Mul(s, wide, ops.LogSoftmax(s, logits))), op.In(1)))
		}
	}
	// The second output is softmax(logits)-labels.
	if db := op.Grad(1); db != nil {
		if op.Needs(0) {
			p := ops.Softmax(s, logits)
			d := ops.Mul(s, ops.Sub(s, db, ops.SumKeep(s, ops.Mul(s, db, p), -1)), p)
			op.Give(0, Unbroadcast(s, d, logits))
		}
		if dense && op.Needs(1) {
			op.Give(1, Unbroadcast(s, ops.Neg(s, db), op.In(1)))
		}
	}
}

func crossDerivative(s *ops.Scope, op *Op, dense bool) *ops.Value {
	logits, labels := op.In(0), op.In(1)
	if !dense {
		labels = oneHot(s, labels, lastSize(s, logits), logits.DType())
	}
	return ops.Sub(s, ops.Softmax(s, logits), labels)
}
