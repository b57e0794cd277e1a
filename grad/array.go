package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// arrayRules are the rules of ops that move elements: each moves the gradient
// back.
var arrayRules = map[string]Rule{
	"Identity":    pass,
	"IdentityN":   passAll,
	"Snapshot":    pass,
	"EnsureShape": pass,
	"Reshape":     likeInput,
	"ExpandDims":  likeInput,
	"Squeeze":     likeInput,
	"Bitcast":     none,
	"ZerosLike":   none,
	"OnesLike":    none,
	"OneHot":      none,
	"Transpose": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("Transpose", nil, op.Grad(0), ops.InvertPermutation(s, op.In(1))))
	},
	"BroadcastTo": func(s *ops.Scope, op *Op) {
		op.Give(0, Unbroadcast(s, op.Grad(0), op.In(0).Shape()))
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
	"Slice": func(s *ops.Scope, op *Op) {
		begin := ints(op.In(1))
		in, out := op.In(0).Shape(), op.Grad(0).Shape()
		pads := make([][2]int, len(in))
		for i := range in {
			pads[i] = [2]int{begin[i], in[i] - begin[i] - out[i]}
		}
		op.Give(0, ops.Pad(s, op.Grad(0), pads...))
	},
	"StridedSlice": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("StridedSliceGrad", op.Attrs(), shapeLike(op.In(0), op.In(1)), op.In(1), op.In(2), op.In(3), op.Grad(0)))
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
			inside := ops.Pad(s, ops.OnesLike(s, op.In(0)), pairs(op.In(1))...)
			op.Give(2, ops.Reshape(s, ops.Sum(s, ops.Mul(s, dy, ops.Sub(s, 1, inside))), op.In(2).Shape()...))
		}
	},
	"MirrorPad": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("MirrorPadGrad", op.Attrs(), op.Grad(0), op.In(1)))
	},
	"MirrorPadGrad": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("MirrorPad", op.Attrs(), op.Grad(0), op.In(1)))
	},
	"GatherV2": gradGather,
	"GatherNd": func(s *ops.Scope, op *Op) {
		op.Give(0, ops.ScatterND(s, op.In(1), op.Grad(0), op.In(0).Shape()...))
	},
	"ScatterNd": func(s *ops.Scope, op *Op) {
		op.Give(1, ops.GatherND(s, op.Grad(0), op.In(0)))
	},
	"UnsortedSegmentSum": func(s *ops.Scope, op *Op) {
		op.Give(0, pickSegments(s, op.Grad(0), op.In(1), op.In(0).Shape()))
	},
	"Fill": func(s *ops.Scope, op *Op) { op.Give(1, ops.Sum(s, op.Grad(0))) },
	"MatrixDiag": func(s *ops.Scope, op *Op) {
		op.Give(0, ops.DiagPart(s, op.Grad(0)))
	},
	"MatrixDiagPart": gradDiagPart,
	"MatrixBandPart": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("MatrixBandPart", nil, op.Grad(0), op.In(1), op.In(2)))
	},
	"TopKV2": gradTopK,
}

func pass(s *ops.Scope, op *Op) { op.Give(0, op.Grad(0)) }

func passAll(s *ops.Scope, op *Op) {
	for i := range op.NumIn() {
		op.Give(i, op.Grad(i))
	}
}

// likeInput gives the gradient the input's shape.
func likeInput(s *ops.Scope, op *Op) {
	op.Give(0, ops.Reshape(s, op.Grad(0), op.In(0).Shape()...))
}

func cumulativeAttrs(exclusive, reverse bool) graph.Attrs {
	return graph.Attrs{graph.Bool("exclusive", exclusive), graph.Bool("reverse", reverse)}
}

// parts are the gradients of all outputs.
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

// ints are the elements of an integer input.
func ints(v *ops.Value) []int {
	t, err := v.Tensor()
	if err != nil {
		return nil
	}
	list, err := t.Int64s()
	if err != nil {
		return nil
	}
	out := make([]int, len(list))
	for i, x := range list {
		out[i] = int(x)
	}
	return out
}

func pairs(v *ops.Value) [][2]int {
	list := ints(v)
	out := make([][2]int, len(list)/2)
	for i := range out {
		out[i] = [2]int{list[2*i], list[2*i+1]}
	}
	return out
}

// shapeLike is x's shape in the integer type of like.
func shapeLike(x, like *ops.Value) *tensor.Tensor {
	s := x.Shape()
	if like.DType() == tensor.Int64 {
		v := make([]int64, len(s))
		for i, n := range s {
			v[i] = int64(n)
		}
		return tensor.Vector(v...)
	}
	v := make([]int32, len(s))
	for i, n := range s {
		v[i] = int32(n)
	}
	return tensor.Vector(v...)
}

func gradConcat(s *ops.Scope, op *Op) {
	n := op.NumIn() - 1
	axis := ints(op.In(n))[0]
	if axis < 0 {
		axis += len(op.In(0).Shape())
	}
	begin := make([]int, len(op.In(0).Shape()))
	for i := range n {
		size := op.In(i).Shape()
		if op.Needs(i) {
			op.Give(i, ops.SliceOf(s, op.Grad(0), begin, size))
		}
		begin[axis] += size[axis]
	}
}

func gradTile(s *ops.Scope, op *Op) {
	shape, times := op.In(0).Shape(), ints(op.In(1))
	split, axes := make([]int, 0, 2*len(shape)), make([]int, 0, len(shape))
	for i := range shape {
		axes = append(axes, len(split))
		split = append(split, times[i], shape[i])
	}
	if len(axes) == 0 {
		op.Give(0, op.Grad(0))
		return
	}
	op.Give(0, ops.Sum(s, ops.Reshape(s, op.Grad(0), split...), axes...))
}

func gradPad(s *ops.Scope, op *Op) {
	if !op.Needs(0) {
		return
	}
	pads := pairs(op.In(1))
	begin := make([]int, len(pads))
	for i := range pads {
		begin[i] = pads[i][0]
	}
	op.Give(0, ops.SliceOf(s, op.Grad(0), begin, op.In(0).Shape()))
}

// gradGather adds the rows of the gradient up where they came from: a dense
// gradient, where TensorFlow makes IndexedSlices.
func gradGather(s *ops.Scope, op *Op) {
	x, indices, dy := op.In(0), op.In(1), op.Grad(0)
	shape, is := x.Shape(), indices.Shape()
	axis := ints(op.In(2))[0]
	if axis < 0 {
		axis += len(shape)
	}
	batch := int(op.Attrs().Int("batch_dims", 0))
	if batch < 0 {
		batch += len(is)
	}
	if batch > 0 {
		gatherBatched(s, op, axis, batch)
		return
	}
	// dy is [outer…, indices…, inner…]: the indices go first, then the rows are
	// summed by index, then the axis goes back.
	k := len(is)
	perm := make([]int, 0, len(dy.Shape()))
	for i := range k {
		perm = append(perm, axis+i)
	}
	for i := range dy.Shape() {
		if i < axis || i >= axis+k {
			perm = append(perm, i)
		}
	}
	if axis > 0 {
		dy = ops.Transpose(s, dy, perm...)
	}
	dx := ops.UnsortedSegmentSum(s, dy, indices, shape[axis])
	if axis > 0 {
		back := make([]int, len(shape))
		for i := range back {
			switch {
			case i < axis:
				back[i] = i + 1
			case i == axis:
				back[i] = 0
			default:
				back[i] = i
			}
		}
		dx = ops.Transpose(s, dx, back...)
	}
	op.Give(0, dx)
}

// gatherBatched runs over the batches one by one.
func gatherBatched(s *ops.Scope, op *Op, axis, batch int) {
	x, indices, dy := op.In(0), op.In(1), op.Grad(0)
	shape, is := x.Shape(), indices.Shape()
	n := count(shape[:batch])
	dys := ops.Reshape(s, dy, append([]int{n}, dy.Shape()[batch:]...)...)
	idx := ops.Reshape(s, indices, append([]int{n}, is[batch:]...)...)
	out := make([]*ops.Value, n)
	inner := shape[batch:]
	a := axis - batch
	k := len(is) - batch
	for b := range n {
		d, i := ops.StridedSlice(s, dys, ops.At(b)), ops.StridedSlice(s, idx, ops.At(b))
		if s.Err() != nil {
			return
		}
		var perm, back []int
		for j := range k {
			perm = append(perm, a+j)
		}
		for j := range d.Shape() {
			if j < a || j >= a+k {
				perm = append(perm, j)
			}
		}
		sum := ops.UnsortedSegmentSum(s, ops.Transpose(s, d, perm...), i, inner[a])
		for j := range inner {
			switch {
			case j < a:
				back = append(back, j+1)
			case j == a:
				back = append(back, 0)
			default:
				back = append(back, j)
			}
		}
		out[b] = ops.Transpose(s, sum, back...)
	}
	op.Give(0, ops.Reshape(s, ops.Stack(s, out), shape...))
}

// pickSegments gives each row the gradient of its segment, and zeros to those
// that were left out.
func pickSegments(s *ops.Scope, dy, ids *ops.Value, shape tensor.Shape) *ops.Value {
	zero := ops.ZerosLike(s, ids)
	dx := ops.Gather(s, dy, ops.Maximum(s, ids, zero))
	kept := ops.GreaterEqual(s, ids, zero)
	dims := kept.Shape().Clone()
	for len(dims) < len(shape) {
		dims = append(dims, 1)
	}
	return ops.Where(s, ops.Reshape(s, kept, dims...), dx, ops.ZerosLike(s, dx))
}

func gradDiagPart(s *ops.Scope, op *Op) {
	shape := op.In(0).Shape()
	rows, cols := shape[len(shape)-2], shape[len(shape)-1]
	n := min(rows, cols)
	d := ops.Diag(s, op.Grad(0))
	if rows != cols {
		pads := make([][2]int, len(shape))
		pads[len(shape)-2][1], pads[len(shape)-1][1] = rows-n, cols-n
		d = ops.Pad(s, d, pads...)
	}
	op.Give(0, d)
}

func gradTopK(s *ops.Scope, op *Op) {
	dy := op.Grad(0)
	if dy == nil {
		return
	}
	shape := op.In(0).Shape()
	n := shape[len(shape)-1]
	k := op.Out(0).Shape()[len(shape)-1]
	hot := ops.OneHot(s, op.Out(1), n, dy.DType()) // […, k, n]
	dims := append(dy.Shape()[:len(shape)-1].Clone(), k, 1)
	op.Give(0, ops.Sum(s, ops.Mul(s, ops.Reshape(s, dy, dims...), hot), -2))
}

// joined is the concatenation of parts along an axis; ConcatV2 takes no fewer
// than two.
func joined(s *ops.Scope, parts []*ops.Value, axis *ops.Value) *ops.Value {
	if len(parts) == 1 {
		return parts[0]
	}
	return s.Emit1("ConcatV2", nil, append(inputs(parts), axis)...)
}
