package state

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// The kernels of the fused optimizer steps over rows of variables,
// ResourceSparseApply*; references (reference.go) makes SparseApply* of them.
// If an index repeats, its row takes several steps in the order of the indices.

// sparseOptimizers are the fused steps that change the rows of variables for
// which there are gradients, one row after the other. The input after the
// gradient has the rows' indices.
var sparseOptimizers = func() []engine.Kernel {
	var table []engine.Kernel
	for _, o := range []optimizer{
		{"ResourceSparseApplyMomentum", 2, 6, 3, momentum[float32], momentum[float64], false},
		{"ResourceSparseApplyKerasMomentum", 2, 6, 3, kerasMomentum[float32], kerasMomentum[float64], false},
		{"ResourceSparseApplyAdagrad", 2, 5, 3, adagradV1[float32], adagradV1[float64], false},
		{"ResourceSparseApplyAdagradV2", 2, 6, 4, adagrad[float32], adagrad[float64], false},
		{"ResourceSparseApplyAdadelta", 3, 8, 6, adadelta[float32], adadelta[float64], false},
		{"ResourceSparseApplyRMSProp", 3, 9, 7, rmsProp[float32], rmsProp[float64], false},
		{"ResourceSparseApplyCenteredRMSProp", 4, 10, 8, centered[float32], centered[float64], false},
		{"ResourceSparseApplyFtrl", 3, 9, 3, ftrlV1[float32], ftrlV1[float64], false},
		{"ResourceSparseApplyFtrlV2", 3, 10, 3, ftrl[float32], ftrl[float64], false},
		{"ResourceSparseApplyAdagradDA", 3, 9, 3, adagradDA[float32], adagradDA[float64], true},
		{"ResourceSparseApplyProximalAdagrad", 2, 7, 5, proximalAdagrad[float32], proximalAdagrad[float64], false},
		{"ResourceSparseApplyProximalGradientDescent", 1, 6, 4, proximal[float32], proximal[float64], false},
	} {
		table = append(table, engine.Kernel{Op: o.op, Run: o.runSparse, Types: engine.Types{"T": o.types()}, Precision: engine.Accumulated})
	}
	return table
}()

// runSparse checks the inputs and runs the step.
func (o *optimizer) runSparse(c *engine.Call) error {
	if c.NumIn() != o.in {
		return fmt.Errorf("takes %d inputs, %d were given", o.in, c.NumIn())
	}
	if err := c.NeedTensors(o.vars); err != nil {
		return err
	}
	g, indices := c.In(o.grad), c.In(o.grad+1)
	for i := o.vars; i < o.in; i++ {
		if i != o.grad && i != o.grad+1 {
			if err := o.scalar(c, i, g.DType()); err != nil {
				return err
			}
		}
	}
	rows, err := shapes.Ints(indices, "the indices")
	if err != nil {
		return err
	}
	if len(g.Shape()) == 0 || g.Shape()[0] != len(rows) {
		return fmt.Errorf("the gradient has shape %v for %d indices", g.Shape(), len(rows))
	}
	vars := make([]*trackable.Variable, o.vars)
	for i := range vars {
		v, err := c.NeedVar(i)
		if err != nil {
			return err
		}
		if d, s := v.DType(), v.Shape(); d != g.DType() || len(s) == 0 || !s[1:].Equal(g.Shape()[1:]) || !s.Equal(vars0(vars, v).Shape()) {
			return fmt.Errorf("the variable %q is %v%v, the gradient's rows %v%v", v.Name(), d, s, g.DType(), g.Shape()[1:])
		}
		vars[i] = v
	}
	switch g.DType() {
	case tensor.Float32:
		return sparseStep(c, o, o.single, vars, rows)
	case tensor.Float64:
		return sparseStep(c, o, o.double, vars, rows)
	case tensor.Float16:
		return sparseStepHalf[tensor.F16](c, o, vars, rows)
	case tensor.BFloat16:
		return sparseStepHalf[tensor.BF16](c, o, vars, rows)
	case tensor.Complex64:
		return complexStep[complex64](c, o, vars, rows)
	case tensor.Complex128:
		return complexStep[complex128](c, o, vars, rows)
	}
	return &engine.UnsupportedTypeError{Type: g.DType(), Known: o.types()}
}

// vars0 returns the first of the variables, or v if that isn't set yet.
func vars0(vars []*trackable.Variable, v *trackable.Variable) *trackable.Variable {
	if vars[0] != nil {
		return vars[0]
	}
	return v
}

// flag returns the flag of the op's kind: use_nesterov, update_slots or
// multiply_linear_by_lr.
func (o *optimizer) flag(c *engine.Call) bool {
	if slices.Contains([]string{"ResourceApplyAdagrad", "ResourceApplyAdagradV2", "ResourceSparseApplyAdagrad", "ResourceSparseApplyAdagradV2"}, o.op) {
		return !c.Attrs().Has("update_slots") || c.Attrs().Bool("update_slots")
	}
	return c.Attrs().Bool("use_nesterov") || c.Attrs().Bool("multiply_linear_by_lr")
}

// checkRows returns an error if an index is outside of a variable, or if its
// rows don't have n elements.
func checkRows(bufs []*tensor.Tensor, rows []int64, n int) error {
	for _, b := range bufs {
		for _, r := range rows {
			if r < 0 || r >= int64(b.Shape()[0]) {
				return fmt.Errorf("index %d is outside of [0, %d)", r, b.Shape()[0])
			}
		}
		if len(rows) > 0 && b.Len() != b.Shape()[0]*n {
			return errReshaped
		}
	}
	return nil
}

// sparseStep runs f row by row; the variables stay locked together.
func sparseStep[T interface {
	vec.Float
	tensor.Element
}](c *engine.Call, o *optimizer, f rule[T], vars []*trackable.Variable, rows []int64) error {
	g, n := tensor.Values[T](c.In(o.grad)), shapes.Count(c.In(o.grad).Shape()[1:])
	h, flag := counted(hypers(c, o, make([]T, 0, 8)), o.number(c)), o.flag(c)
	return trackable.UpdateAll(vars, func(bufs []*tensor.Tensor) error {
		if err := checkRows(bufs, rows, n); err != nil {
			return err
		}
		var room [4][]T
		part := room[:len(bufs)]
		for i, r := range rows {
			for k, b := range bufs {
				part[k] = tensor.Values[T](b)[int(r)*n : (int(r)+1)*n]
			}
			f(part, g[i*n:(i+1)*n], h, flag)
		}
		return nil
	})
}

// sparseStepHalf runs a step over 16-bit floats in float32.
func sparseStepHalf[H elementwise.Half](c *engine.Call, o *optimizer, vars []*trackable.Variable, rows []int64) error {
	n := shapes.Count(c.In(o.grad).Shape()[1:])
	g := engine.Zeroed[float32](c, c.In(o.grad).Len())
	elementwise.Widen(g, tensor.Values[H](c.In(o.grad)))
	small, flag := hypers(c, o, make([]H, 0, 8)), o.flag(c)
	h := make([]float32, len(small))
	elementwise.Widen(h, small)
	h = counted(h, o.number(c))
	part := make([][]float32, len(vars))
	for k := range part {
		part[k] = make([]float32, n)
	}
	return trackable.UpdateAll(vars, func(bufs []*tensor.Tensor) error {
		if err := checkRows(bufs, rows, n); err != nil {
			return err
		}
		for i, r := range rows {
			for k, b := range bufs {
				elementwise.Widen(part[k], tensor.Values[H](b)[int(r)*n:(int(r)+1)*n])
			}
			o.single(part, g[i*n:(i+1)*n], h, flag)
			for k, b := range bufs {
				elementwise.Narrow(tensor.Values[H](b)[int(r)*n:(int(r)+1)*n], part[k])
			}
		}
		return nil
	})
}

// ftrlV1 runs ftrl without shrinkage.
func ftrlV1[T vec.Float](v [][]T, g, h []T, byRate bool) {
	vec.Ftrl(v[0], v[1], v[2], g, h[0], h[1], h[2], 0, h[3], byRate)
}
