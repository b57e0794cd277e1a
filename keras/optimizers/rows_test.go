package optimizers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/internal/optimizertest"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

type rowsIn struct{ Values, Indices *ops.Value }

// rowsTrainer takes steps with gradients that are slices of a table.
func rowsTrainer(t testing.TB, opt optimizers.Optimizer, mode function.Mode, d tensor.DType) (*trackable.Variable, func(n int)) {
	z := npz(t, "rows.npz")
	cast := func(x *tensor.Tensor) *tensor.Tensor {
		y, err := tensor.Cast(x, d)
		must(t, err)
		return y.Clone()
	}
	table := trackable.NewVariable(cast(array(t, z, "table")))
	f := function.New(func(s *ops.Scope, in rowsIn) *ops.Value {
		g := ops.IndexedSlices{Values: in.Values, Indices: in.Indices, Shape: ops.Const(s, []int{5, 3})}
		opt.Apply(s, grad.Gradients{{Variable: table, Grad: g.Value(s)}})
		return ops.Sum(s, table)
	}, &function.Options{Mode: mode})
	values, indices := array(t, z, "values"), array(t, z, "indices")
	return table, func(n int) {
		t.Helper()
		_, err := f.Call(context.Background(), rowsIn{ops.ValueOf(cast(rowOf(t, values, n))), ops.ValueOf(rowOf(t, indices, n))})
		must(t, err)
	}
}

// TestOptimizersFollowTensorFlowBySlices: the gradients are slices, some of them
// of one row, which several optimizers treat otherwise than the whole tensor.
func TestOptimizersFollowTensorFlowBySlices(t *testing.T) {
	z := npz(t, "rows.npz")
	covered := map[string]bool{}
	for _, name := range z.Names() {
		key, ok := strings.CutSuffix(name, "/table")
		if !ok {
			continue
		}
		t.Run(key, func(t *testing.T) {
			d, tol := tensor.Float32, 4e-6
			base, exact := strings.CutSuffix(key, "_float64")
			if exact {
				d, tol = tensor.Float64, 1e-12
			}
			covered[base] = true
			mk := optimizertest.Makes[base]
			if mk == nil {
				t.Fatalf("no optimizer here for TensorFlow's %q", base)
			}
			want := array(t, z, name)
			eager, step := rowsTrainer(t, mk(), function.Eagerly, d)
			traced, stepTraced := rowsTrainer(t, mk(), function.Traced, d)
			for n := range 10 {
				step(n)
				stepTraced(n)
				near(t, fmt.Sprintf("the table after step %d", n+1), eager.Load(), rowOf(t, want, n), tol, 0.1)
				if !eager.Load().Equal(traced.Load()) {
					t.Fatalf("after step %d the table is %v eagerly, %v traced", n+1, eager.Load(), traced.Load())
				}
			}
		})
	}
	for name := range optimizertest.Makes {
		if !covered[name] {
			t.Errorf("rows.npz has nothing of %q", name)
		}
	}
}
