package grad_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// sparseOperand is a sparse matrix, or a batch, for tests: values at places.
type sparseOperand struct{ at, shape *tensor.Tensor }

func (m sparseOperand) csr(s *ops.Scope, values *ops.Value) *ops.Value {
	return s.Emit1("SparseTensorToCSRSparseMatrix", nil, m.at, values, m.shape)
}

func (m sparseOperand) dense(s *ops.Scope, values *ops.Value) *ops.Value {
	return s.Emit1("ScatterNd", nil, m.at, values, m.shape)
}

// randomNumbers returns numbers of d from -1 to 1.
func randomNumbers(d tensor.DType, r *rand.Rand, dims ...int) *tensor.Tensor {
	t := tensor.Must(tensor.Zeros(tensor.Complex128, dims...))
	for i := range tensor.Values[complex128](t) {
		tensor.Values[complex128](t)[i] = complex(2*r.Float64()-1, 2*r.Float64()-1)
	}
	return tensor.Must(tensor.Cast(t, d))
}

// TestGradientsOfSparseMatrices compares products of sparse matrices with the same
// products of dense ones, in all forms.
func TestGradientsOfSparseMatrices(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	batch := func(n int, at *tensor.Tensor, rows, cols int64) sparseOperand {
		if n == 0 {
			return sparseOperand{at, tensor.Vector(rows, cols)}
		}
		in := tensor.Values[int64](at)
		var out []int64
		for i := 0; i < len(in); i += 2 {
			out = append(out, int64(i/2*n/(len(in)/2)), in[i], in[i+1])
		}
		return sparseOperand{tensor.Must(tensor.New(out, len(in)/2, 3)), tensor.Vector(int64(n), rows, cols)}
	}
	for _, d := range []tensor.DType{tensor.Float64, tensor.Complex128} {
		for n := range 3 {
			for form := range 64 {
				bit := func(i int) bool { return form>>i&1 == 1 }
				ta, aa, tb, ab, to, co := bit(0), bit(1), bit(2), bit(3), bit(4), bit(5)
				if ta && aa || tb && ab {
					continue
				}
				rows, cols := int64(3), int64(4)
				at := tensor.Must(tensor.New([]int64{0, 1, 0, 3, 2, 0, 2, 1}, 4, 2))
				if ta || aa {
					rows, cols = cols, rows
					at = tensor.Must(tensor.New([]int64{0, 2, 1, 0, 1, 2, 3, 0}, 4, 2))
				}
				a := batch(n, at, rows, cols)
				bt := []int{4, 2}
				bAt := tensor.Must(tensor.New([]int64{0, 0, 1, 1, 2, 0, 3, 1}, 4, 2))
				if tb || ab {
					bt = []int{2, 4}
					bAt = tensor.Must(tensor.New([]int64{0, 0, 0, 2, 1, 1, 1, 3}, 4, 2))
				}
				if n > 0 {
					bt = append([]int{n}, bt...)
				}
				b := batch(n, bAt, int64(bt[len(bt)-2]), int64(bt[len(bt)-1]))
				values := randomNumbers(d, r, 4)
				for _, sparse := range []bool{false, true} {
					if sparse && (to || co) {
						continue
					}
					second := randomNumbers(d, r, bt...)
					if sparse {
						second = randomNumbers(d, r, 4)
					}
					weights := randomNumbers(d, r, append(append([]int{}, bt[:len(bt)-2]...), 3, 2)...)
					both := func(ofSparse bool) [2]*tensor.Tensor {
						s := function.Eager(context.Background())
						x, y := ops.Const(s, values), ops.Const(s, second)
						loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
							forms := graph.Attrs{graph.Bool("transpose_a", ta), graph.Bool("adjoint_a", aa), graph.Bool("transpose_b", tb), graph.Bool("adjoint_b", ab)}
							dense := graph.Attrs{graph.Type("type", d)}
							var out *ops.Value
							switch {
							case ofSparse && sparse:
								// Through both orders, so that matrices are turned too.
								m := s.Emit1("SparseMatrixSparseMatMul", append(forms, dense...), a.csr(s, x), b.csr(s, y))
								turn := append(graph.Attrs{graph.Bool("conjugate", true)}, dense...)
								m = s.Emit1("SparseMatrixTranspose", turn, s.Emit1("SparseMatrixTranspose", turn, m))
								parts := s.EmitN(3, "CSRSparseMatrixToSparseTensor", dense, m)
								out = s.Emit1("CSRSparseMatrixToDense", dense, s.Emit1("SparseTensorToCSRSparseMatrix", nil, parts[0], parts[1], parts[2]))
							case ofSparse:
								out = s.Emit1("SparseMatrixMatMul", append(forms, graph.Bool("transpose_output", to), graph.Bool("conjugate_output", co)), a.csr(s, x), y)
								if to {
									out = s.Emit1("CSRSparseMatrixToDense", dense, s.Emit1("DenseToCSRSparseMatrix", nil, out, s.Emit1("Where", nil, s.Emit1("OnesLike", nil, out))))
								}
							default:
								da, db := a.dense(s, x), y
								if sparse {
									db = b.dense(s, y)
								}
								last := func(v *ops.Value, conjugate bool) *ops.Value {
									perm := []int{1, 0}
									if n > 0 {
										perm = []int{0, 2, 1}
									}
									v = ops.Transpose(s, v, perm...)
									if conjugate && d == tensor.Complex128 {
										v = ops.Conj(s, v)
									}
									return v
								}
								if ta || aa {
									da = last(da, aa)
								}
								if tb || ab {
									db = last(db, ab)
								}
								out = s.Emit1("BatchMatMulV2", nil, da, db)
								if to {
									out = last(out, false)
								}
								if co && d == tensor.Complex128 {
									out = ops.Conj(s, out)
								}
							}
							w := ops.Const(s, weights)
							if to {
								w = ops.Reshape(s, w, append(append([]int{}, bt[:len(bt)-2]...), 2, 3)...)
							}
							out = ops.Mul(s, out, w)
							if d == tensor.Complex128 {
								out = s.Emit1("Real", graph.Attrs{graph.Type("Tout", tensor.Float64)}, out)
							}
							return ops.Sum(s, ops.Reshape(s, out, -1), 0)
						}, &grad.Options{Watch: []*ops.Value{x, y}})
						if err := s.Err(); err != nil {
							t.Fatal(err)
						}
						var got [2]*tensor.Tensor
						grads := tape.GradientOf(loss, x, y)
						if err := s.Err(); err != nil {
							t.Fatal(err)
						}
						for i, g := range grads {
							var err error
							if got[i], err = g.Tensor(); err != nil {
								t.Fatalf("%v, %d matrices, form %06b, sparse %v, operand %d: %v", d, n, form, ofSparse, i, err)
							}
						}
						return got
					}
					got, want := both(true), both(false)
					for i := range got {
						if diff := opfixture.Differ(engine.Accumulated, got[i], want[i], 4); diff != "" {
							t.Errorf("%v, %d matrices, form %06b, sparse %v: operand %d: %s", d, n, form, sparse, i, diff)
						}
					}
				}
			}
		}
	}
}
