package grad

import (
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// signalRules returns the rules of Fourier transforms.
func signalRules() map[string]Rule {
	out := map[string]Rule{}
	for i, rank := range []string{"", "2D", "3D"} {
		out["FFT"+rank] = func(s *ops.Scope, op *Op) {
			dy := op.Grad(0)
			op.Give(0, ops.Mul(s, s.Emit1("IFFT"+rank, nil, dy), spanned(s, dy, i+1)))
		}
		out["IFFT"+rank] = func(s *ops.Scope, op *Op) {
			dy := op.Grad(0)
			op.Give(0, ops.Div(s, s.Emit1("FFT"+rank, nil, dy), spanned(s, dy, i+1)))
		}
	}
	for i, rank := range []string{"", "2D"} {
		out["RFFT"+rank] = func(s *ops.Scope, op *Op) { gradRFFT(s, op, i+1) }
		out["IRFFT"+rank] = func(s *ops.Scope, op *Op) { gradIRFFT(s, op) }
	}
	return out
}

// spanned returns how many elements the last dimensions of x span, in x's type.
func spanned(s *ops.Scope, x *ops.Value, rank int) *ops.Value {
	n := productOf(s, lastSizes(s, x, rank))
	if x.DType() == tensor.Complex128 {
		return ops.Cast(s, ops.Cast(s, n, tensor.Float64), x.DType())
	}
	return ops.Cast(s, ops.Cast(s, n, tensor.Float32), x.DType())
}

// lastSizes returns the sizes of the last dimensions of x.
func lastSizes(s *ops.Scope, x *ops.Value, rank int) *ops.Value {
	return ops.StridedSlice(s, sizesOf(s, x), ops.From(-rank))
}

// withLast returns x's shape with other last sizes.
func withLast(s *ops.Scope, x, last *ops.Value, rank int) *ops.Value {
	return joinVectors(s, ops.StridedSlice(s, sizesOf(s, x), ops.To(-rank)), last)
}

// padBehind returns v with zeros after it, to the sizes.
func padBehind(s *ops.Scope, v, sizes *ops.Value) *ops.Value {
	behind := ops.Sub(s, sizes, sizesOf(s, v))
	return s.Emit1("Pad", nil, v, ops.Stack(s, []*ops.Value{ops.ZerosLike(s, behind), behind}, 1))
}

// gradRFFT transforms the gradient, with zeros for the half that was left out,
// back.
func gradRFFT(s *ops.Scope, op *Op, rank int) {
	dy := op.Grad(0)
	whole := padBehind(s, dy, withLast(s, dy, op.In(1), rank))
	back := s.Emit1("I"+strings.TrimPrefix(op.Name(), "R"), nil, whole)
	dx := realOf(s, ops.Mul(s, back, spanned(s, whole, rank)))
	op.Give(0, padBehind(s, dx, sizesOf(s, op.In(0))))
}

// gradIRFFT transforms the gradient; frequencies that represent two halves
// count twice.
func gradIRFFT(s *ops.Scope, op *Op) {
	dy, n := op.Grad(0), op.In(1)
	d := op.In(0).DType()
	half := s.Emit1("RFFT"+strings.TrimPrefix(op.Name(), "IRFFT"), graph.Attrs{graph.Type("Tcomplex", d)}, dy, n)
	last := ops.StridedSlice(s, n, ops.At(-1))
	k := upTo(s, lastSize(s, half))
	single := ops.Or(s, ops.Equal(s, k, int32(0)), ops.Equal(s, ops.Mul(s, k, int32(2)), last))
	twice := ops.Where(s, single, int32(1), int32(2))
	by := ops.Div(s, ops.Cast(s, twice, dy.DType()), ops.Cast(s, productOf(s, n), dy.DType()))
	dx := ops.Mul(s, half, complexOf(s, by, ops.ZerosLike(s, by)))
	op.Give(0, padBehind(s, dx, sizesOf(s, op.In(0))))
}
