package ops_test

import (
	"math"
	"slices"
	"testing"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestFunctionsOfMatricesEmitTensorFlowsOps compares the ops with those of TensorFlow 2.21's
// Python functions, and the values of complex matrices with its values.
func TestFunctionsOfMatricesEmitTensorFlowsOps(t *testing.T) {
	complexes := tensor.Must(tensor.New([]complex64{4, 2 - 2i, 2 + 2i, 4}, 1, 2, 2))
	below := complex(4, float32(math.Copysign(0, -1)))
	bands := tensor.Must(tensor.New([]float32{1, 2, 0, 3, 4, 5, 0, 6, 7}, 3, 3))
	right := tensor.Must(tensor.New([]float32{1, 2, 3}, 3, 1))
	for name, c := range map[string]struct {
		in   []*tensor.Tensor
		f    func(s *ops.Scope, x []*ops.Value) *ops.Value
		ops  []string // in the order of the nodes, without constants
		want *tensor.Tensor
	}{
		"Adjoint": {
			[]*tensor.Tensor{complexes}, func(s *ops.Scope, x []*ops.Value) *ops.Value { return ops.Adjoint(s, x[0]) },
			[]string{"ConjugateTranspose"}, tensor.Must(tensor.New([]complex64{below, 2 - 2i, 2 + 2i, below}, 1, 2, 2)),
		},
		"Adjoint of a real matrix": {
			[]*tensor.Tensor{right}, func(s *ops.Scope, x []*ops.Value) *ops.Value { return ops.Adjoint(s, x[0]) },
			[]string{"Transpose"}, tensor.Must(right.Reshape(1, 3)),
		},
		"LogDet": {
			[]*tensor.Tensor{complexes}, func(s *ops.Scope, x []*ops.Value) *ops.Value { return ops.LogDet(s, x[0]) },
			[]string{"Cholesky", "MatrixDiagPartV3", "Real", "Log", "Sum", "Mul"}, tensor.Vector[float32](2.0794415),
		},
		"TridiagonalMatMul": {
			[]*tensor.Tensor{bands, right}, func(s *ops.Scope, x []*ops.Value) *ops.Value { return ops.TridiagonalMatMul(s, x[0], x[1]) },
			[]string{"StridedSlice", "ExpandDims", "StridedSlice", "ExpandDims", "StridedSlice", "ExpandDims", "TridiagonalMatMul"},
			tensor.Must(tensor.New([]float32{5, 20, 29}, 3, 1)),
		},
		"NormOf 2": {
			[]*tensor.Tensor{complexes}, func(s *ops.Scope, x []*ops.Value) *ops.Value { return ops.NormOf(s, x[0], 2, -1) },
			[]string{"Conj", "Mul", "Sum", "Sqrt"}, tensor.Must(tensor.New([]complex64{4.8989797, 4.8989797}, 1, 2)),
		},
		"MatrixTrace": {
			[]*tensor.Tensor{bands}, func(s *ops.Scope, x []*ops.Value) *ops.Value { return ops.MatrixTrace(s, x[0]) },
			[]string{"MatrixDiagPartV3", "Sum"}, tensor.Scalar[float32](12),
		},
		"Pinv": {
			[]*tensor.Tensor{right}, func(s *ops.Scope, x []*ops.Value) *ops.Value { return ops.Shape(s, ops.Pinv(s, x[0], 0.5)) },
			[]string{"Svd", "Max", "Mul", "ExpandDims", "Greater", "SelectV2", "ExpandDims", "RealDiv", "MatMul", "Shape"}, tensor.Vector[int32](1, 3),
		},
		"MatrixNorm": {
			[]*tensor.Tensor{complexes}, func(s *ops.Scope, x []*ops.Value) *ops.Value { return ops.MatrixNorm(s, x[0], ops.FrobeniusNorm) },
			[]string{"Conj", "Mul", "Sum", "Sqrt"}, tensor.Vector[complex64](6.928203),
		},
	} {
		in := inputs{}
		for i, x := range c.in {
			in[string(rune('a'+i))] = ops.ValueOf(x)
		}
		f := func(s *ops.Scope, in inputs) []*ops.Value {
			list := []*ops.Value{in["a"], in["b"]}
			return values(c.f(s, list[:len(c.in)]))
		}
		for told, spec := range knowledge {
			trace := sameTraced(t, in, spec, f)
			var got []string
			for _, n := range trace.Function.Graph.Nodes() {
				if !n.IsArg() && n.Op != "Const" {
					got = append(got, n.Op)
				}
			}
			if told != "ranks unknown" && !slices.Equal(got, c.ops) {
				t.Errorf("%s, %s: the ops are %q, want %q", name, told, got, c.ops)
			}
		}
		s := eager()
		var args []*ops.Value
		for _, x := range c.in {
			args = append(args, ops.Const(s, x))
		}
		if got, err := c.f(s, args).Tensor(); err != nil || !got.Equal(c.want) {
			t.Errorf("%s: %v %v, want %v", name, got, err, c.want)
		}
	}
}
