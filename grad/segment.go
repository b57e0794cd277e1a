package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// segmentRules are the rules of reductions over segments.
var segmentRules = map[string]Rule{
	"SegmentSum": func(s *ops.Scope, op *Op) { op.Give(0, segmentsOf(s, op).pick(op.Grad(0))) },
	"SegmentMean": func(s *ops.Scope, op *Op) {
		g := segmentsOf(s, op)
		counts := ops.Maximum(s, realPart(s, g.sum(ops.OnesLike(s, op.In(0)))), 1)
		op.Give(0, g.pick(ops.Div(s, op.Grad(0), ops.Cast(s, counts, op.Grad(0).DType()))))
	},
	"SegmentMin":          gradSegmentExtremum,
	"SegmentMax":          gradSegmentExtremum,
	"SegmentProd":         gradSegmentProd,
	"UnsortedSegmentMin":  gradSegmentExtremum,
	"UnsortedSegmentMax":  gradSegmentExtremum,
	"UnsortedSegmentProd": gradSegmentProd,
	"IsotonicRegression":  gradIsotonic,
}

// realPart returns the real part of a complex number, and a real one itself.
func realPart(s *ops.Scope, x *ops.Value) *ops.Value {
	if x.DType().IsComplex() {
		return realOf(s, x)
	}
	return x
}

// segmented maps rows to segments, and segments back to rows.
type segmented struct {
	s        *ops.Scope
	ids, num *ops.Value // num is nil for sorted segments
	prod     string     // the op's own name, to run it again
}

func segmentsOf(s *ops.Scope, op *Op) segmented {
	g := segmented{s: s, ids: op.In(1), prod: op.Name()}
	if op.NumIn() == 3 {
		g.num = op.In(2)
	}
	return g
}

// sum adds the rows of each segment up.
func (g segmented) sum(x *ops.Value) *ops.Value {
	if g.num == nil {
		return g.s.Emit1("SegmentSum", nil, x, g.ids)
	}
	return g.s.Emit1("UnsortedSegmentSum", nil, x, g.ids, g.num)
}

// pick returns for each row the row of its segment.
func (g segmented) pick(x *ops.Value) *ops.Value {
	if g.num == nil {
		return ops.Gather(g.s, x, g.ids)
	}
	return pickSegments(g.s, x, g.ids)
}

// again reduces other rows as the op does.
func (g segmented) again(x *ops.Value) *ops.Value {
	if g.num == nil {
		return g.s.Emit1(g.prod, nil, x, g.ids)
	}
	return g.s.Emit1(g.prod, nil, x, g.ids, g.num)
}

// gradSegmentExtremum shares the gradient among the elements that are their
// segment's extreme.
func gradSegmentExtremum(s *ops.Scope, op *Op) {
	g, x := segmentsOf(s, op), op.In(0)
	hits := ops.Equal(s, x, g.pick(op.Out(0)))
	n := g.sum(ops.Cast(s, hits, x.DType()))
	op.Give(0, ops.Where(s, hits, g.pick(ops.DivNoNan(s, op.Grad(0), n)), ops.ZerosLike(s, x)))
}

// gradSegmentProd divides the product by each element, except for zeros: if a
// segment has one zero, it alone has a gradient, if it has more, none has.
func gradSegmentProd(s *ops.Scope, op *Op) {
	g, x := segmentsOf(s, op), op.In(0)
	zero := ops.Equal(s, x, ops.ZerosLike(s, x))
	zeros := g.sum(ops.Cast(s, zero, tensor.Int32))
	dy := ops.Where(s, ops.Greater(s, zeros, int32(1)), ops.ZerosLike(s, op.Grad(0)), op.Grad(0))
	others := ops.Where(s, zero, ops.OnesLike(s, x), x)
	product := g.pick(g.again(others))
	partial := ops.Where(s, zero, product, ops.Div(s, g.pick(op.Out(0)), others))
	op.Give(0, ops.Mul(s, g.pick(dy), conj(s, partial)))
}

// gradIsotonic sets the gradient of each element to the mean of its pool's
// gradients.
func gradIsotonic(s *ops.Scope, op *Op) {
	dy := op.GradOrZero(0)
	sizes := sizesOf(s, dy)
	rows, cols := sizeAt(s, dy, ops.Const(s, int32(0))), sizeAt(s, dy, ops.Const(s, int32(1)))
	first := ops.ExpandDims(s, ops.Mul(s, upTo(s, rows), cols), -1)
	ids := ops.Reshape(s, ops.Add(s, op.Out(1), first), -1)
	flat := ops.Reshape(s, dy, -1)
	sum := func(x *ops.Value) *ops.Value {
		return s.Emit1("UnsortedSegmentSum", nil, x, ids, productOf(s, sizes))
	}
	means := ops.DivNoNan(s, sum(flat), sum(ops.OnesLike(s, flat)))
	dx := s.Emit1("Reshape", nil, ops.Gather(s, means, ids), sizes)
	if x := op.In(0); differentiable(x.DType()) {
		op.Give(0, ops.Cast(s, dx, x.DType()))
	}
}

// scatterRules are the rules of ops that return a copy of a tensor with other
// parts.
var scatterRules = map[string]Rule{
	"TensorScatterUpdate": func(s *ops.Scope, op *Op) {
		dy := op.Grad(0)
		op.Give(0, s.Emit1("TensorScatterUpdate", policy(op), dy, op.In(1), ops.ZerosLike(s, op.In(2))))
		op.Give(2, s.Emit1("GatherNd", policy(op), dy, op.In(1)))
	},
	"TensorScatterAdd":        gradScatterAdd,
	"ScatterNdNonAliasingAdd": gradScatterAdd,
	"TensorScatterSub": func(s *ops.Scope, op *Op) {
		op.Give(0, op.Grad(0))
		op.Give(2, ops.Neg(s, s.Emit1("GatherNd", policy(op), op.Grad(0), op.In(1))))
	},
	"TensorScatterMin": gradScatterExtremum,
	"TensorScatterMax": gradScatterExtremum,
	"TensorStridedSliceUpdate": func(s *ops.Scope, op *Op) {
		dy := op.Grad(0)
		op.Give(0, s.Emit1("TensorStridedSliceUpdate", op.Attrs(), dy, op.In(1), op.In(2), op.In(3), ops.ZerosLike(s, op.In(4))))
		giveAt(s, op, 4, func() *ops.Value { return s.Emit1("StridedSlice", op.Attrs(), dy, op.In(1), op.In(2), op.In(3)) })
	},
}

// policy returns an op's treatment of bad indices.
func policy(op *Op) graph.Attrs {
	return graph.Attrs{graph.String("bad_indices_policy", op.Attrs().String("bad_indices_policy", ""))}
}

func gradScatterAdd(s *ops.Scope, op *Op) {
	op.Give(0, op.Grad(0))
	op.Give(2, s.Emit1("GatherNd", policy(op), op.Grad(0), op.In(1)))
}

// gradScatterExtremum shares the gradient among all that equal the output.
func gradScatterExtremum(s *ops.Scope, op *Op) {
	x, at, updates, dy := op.In(0), op.In(1), op.In(2), op.Grad(0)
	own := ops.Cast(s, ops.Equal(s, x, op.Out(0)), dy.DType())
	hits := ops.Cast(s, ops.Equal(s, updates, s.Emit1("GatherNd", policy(op), op.Out(0), at)), dy.DType())
	all := ops.Add(s, own, s.Emit1("ScatterNd", policy(op), at, hits, shapeAs(s, x, at.DType())))
	share := ops.Div(s, dy, all)
	op.Give(0, ops.Mul(s, share, own))
	op.Give(2, ops.Mul(s, s.Emit1("GatherNd", policy(op), share, at), hits))
}
