package state

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// The kernels of the fused optimizer steps over whole variables,
// ResourceApply*; references (reference.go) makes Apply* of them. The order of
// the scalars is that of the ops' inputs.

// rule is an optimizer's step. vars are the variable and its slots, g is the gradient, h the other
// scalars in TensorFlow's order of inputs. nesterov is the op's flag. For some ops it
// has another meaning; see flag in sparse.go.
type rule[T vec.Float] func(vars [][]T, g, h []T, nesterov bool)

// optimizer describes a fused op: the number of variables, which come first,
// the number of inputs, and the index of the gradient.
type optimizer struct {
	op             string
	vars, in, grad int
	single         rule[float32]
	double         rule[float64]
	counts         bool // the last input is the step's number, an int64
}

// sparse reports whether the op changes rows. Their indices then follow the
// gradient.
func (o *optimizer) sparse() bool { return strings.HasPrefix(o.op, "ResourceSparse") }

// plain returns the op's name without "Resource" and "Sparse".
func (o *optimizer) plain() string {
	return strings.TrimPrefix(strings.TrimPrefix(o.op, "Resource"), "Sparse")
}

// optimizers has the kernels. The rows have the fields of optimizer in order.
var optimizers = func() []engine.Kernel {
	var table []engine.Kernel
	for _, o := range []optimizer{
		{"ResourceApplyGradientDescent", 1, 3, 2, descend[float32], descend[float64], false},
		{"ResourceApplyMomentum", 2, 5, 3, momentum[float32], momentum[float64], false},
		{"ResourceApplyKerasMomentum", 2, 5, 3, kerasMomentum[float32], kerasMomentum[float64], false},
		{"ResourceApplyAdam", 3, 10, 9, adam[float32], adam[float64], false},
		{"ResourceApplyAdamWithAmsgrad", 4, 11, 10, amsgrad[float32], amsgrad[float64], false},
		{"ResourceApplyAdaMax", 3, 9, 8, adaMax[float32], adaMax[float64], false},
		{"ResourceApplyAdagrad", 2, 4, 3, adagradV1[float32], adagradV1[float64], false},
		{"ResourceApplyAdagradV2", 2, 5, 4, adagrad[float32], adagrad[float64], false},
		{"ResourceApplyAdadelta", 3, 7, 6, adadelta[float32], adadelta[float64], false},
		{"ResourceApplyRMSProp", 3, 8, 7, rmsProp[float32], rmsProp[float64], false},
		{"ResourceApplyCenteredRMSProp", 4, 9, 8, centered[float32], centered[float64], false},
		{"ResourceApplyFtrl", 3, 8, 3, ftrlV1[float32], ftrlV1[float64], false},
		{"ResourceApplyFtrlV2", 3, 9, 3, ftrl[float32], ftrl[float64], false},
		{"ResourceApplyAdagradDA", 3, 8, 3, adagradDA[float32], adagradDA[float64], true},
		{"ResourceApplyAddSign", 2, 7, 6, addSign[float32], addSign[float64], false},
		{"ResourceApplyPowerSign", 2, 7, 6, powerSign[float32], powerSign[float64], false},
		{"ResourceApplyProximalAdagrad", 2, 6, 5, proximalAdagrad[float32], proximalAdagrad[float64], false},
		{"ResourceApplyProximalGradientDescent", 1, 5, 4, proximal[float32], proximal[float64], false},
	} {
		table = append(table, engine.Kernel{Op: o.op, Run: o.run, Types: engine.Types{"T": o.types()}, Precision: engine.Accumulated})
	}
	return table
}()

// run checks the inputs and runs the step. Nothing changes before all checks
// succeed.
func (o *optimizer) run(c *engine.Call) error {
	if c.NumIn() != o.in {
		return fmt.Errorf("takes %d inputs, %d were given", o.in, c.NumIn())
	}
	if err := c.NeedTensors(o.vars); err != nil {
		return err
	}
	g := c.In(o.grad)
	for i := o.vars; i < o.in; i++ {
		if i != o.grad {
			if err := o.scalar(c, i, g.DType()); err != nil {
				return err
			}
		}
	}
	vars := make([]*trackable.Variable, o.vars)
	for i := range vars {
		v, err := c.NeedVar(i)
		if err != nil {
			return err
		}
		if d, s := v.DType(), v.Shape(); d != g.DType() || !s.Equal(g.Shape()) {
			return fmt.Errorf("the variable %q is %v%v, the gradient %v%v", v.Name(), d, s, g.DType(), g.Shape())
		}
		vars[i] = v
	}
	switch g.DType() {
	case tensor.Float32:
		return step(c, o, o.single, vars)
	case tensor.Float64:
		return step(c, o, o.double, vars)
	case tensor.Float16:
		return stepHalf[tensor.F16](c, o, vars)
	case tensor.BFloat16:
		return stepHalf[tensor.BF16](c, o, vars)
	case tensor.Complex64:
		return complexStep[complex64](c, o, vars, nil)
	case tensor.Complex128:
		return complexStep[complex128](c, o, vars, nil)
	}
	return &engine.UnsupportedTypeError{Type: g.DType(), Known: o.types()}
}

// scalar checks that input i is a scalar of the gradient's type, or the step's
// number.
func (o *optimizer) scalar(c *engine.Call, i int, d tensor.DType) error {
	if o.counts && i == o.in-1 {
		d = tensor.Int64
	}
	if x := c.In(i); x.DType() != d || x.Len() != 1 {
		return fmt.Errorf("input %d is %v%v, not a scalar of %v", i, x.DType(), x.Shape(), d)
	}
	return nil
}

// errReshaped is the error if another goroutine assigned a value of another
// size during the step.
var errReshaped = errors.New("the variable or a slot changed its shape during the step")

// hypers appends to h the scalars of type T in the order of the inputs.
func hypers[T tensor.Element](c *engine.Call, o *optimizer, h []T) []T {
	for i := o.vars; i < o.in; i++ {
		if i == o.grad || o.sparse() && i == o.grad+1 || c.In(i).DType() != tensor.TypeOf[T]() {
			continue
		}
		h = append(h, tensor.Values[T](c.In(i))[0])
	}
	return h
}

// number returns the step's number, nil if the op has none.
func (o *optimizer) number(c *engine.Call) []int64 {
	if !o.counts {
		return nil
	}
	return tensor.Values[int64](c.In(o.in - 1))
}

// counted returns h with the step's number appended.
func counted[T vec.Float](h []T, number []int64) []T {
	for _, n := range number {
		h = append(h, T(n))
	}
	return h
}

// step runs f over the variables, which stay locked together for the whole
// step.
func step[T interface {
	vec.Float
	tensor.Element
}](c *engine.Call, o *optimizer, f rule[T], vars []*trackable.Variable) error {
	g := tensor.Values[T](c.In(o.grad))
	h := counted(hypers(c, o, make([]T, 0, 8)), o.number(c))
	nesterov := o.flag(c)
	return trackable.UpdateAll(vars, func(bufs []*tensor.Tensor) error {
		var room [4][]T
		all := room[:len(bufs)]
		for i, b := range bufs {
			// Another goroutine may have changed the variable's shape since the check.
			if b.Len() != len(g) {
				return errReshaped
			}
			all[i] = tensor.Values[T](b)
		}
		if !c.Large(len(g), 3) {
			f(all, g, h, nesterov)
			return nil
		}
		c.Parallel(len(g), 3, func(lo, hi int) {
			var room [4][]T
			part := room[:len(all)]
			for i, v := range all {
				part[i] = v[lo:hi]
			}
			f(part, g[lo:hi], h, nesterov)
		})
		return nil
	})
}

// stepHalf runs a step over 16-bit floats in float32.
func stepHalf[H elementwise.Half](c *engine.Call, o *optimizer, vars []*trackable.Variable) error {
	n := c.In(o.grad).Len()
	c.Reserve(4 * n * len(vars))
	g := engine.Zeroed[float32](c, n)
	elementwise.Widen(g, tensor.Values[H](c.In(o.grad)))
	small := hypers(c, o, make([]H, 0, 8))
	h := make([]float32, len(small))
	elementwise.Widen(h, small)
	h = counted(h, o.number(c))
	nesterov := o.flag(c)
	return trackable.UpdateAll(vars, func(bufs []*tensor.Tensor) error {
		all := make([][]float32, len(bufs))
		for i, b := range bufs {
			if b.Len() != n {
				return errReshaped
			}
			all[i] = make([]float32, n)
			elementwise.Widen(all[i], tensor.Values[H](b))
		}
		o.single(all, g, h, nesterov)
		for i, b := range bufs {
			elementwise.Narrow(tensor.Values[H](b), all[i])
		}
		return nil
	})
}

// descend and the functions below are rules. v[0] is the variable, v[1:] are its slots, and h has the scalars
// in the order of the op's inputs.
func descend[T vec.Float](v [][]T, g, h []T, _ bool) { vec.Descend(v[0], g, h[0]) }

func momentum[T vec.Float](v [][]T, g, h []T, nesterov bool) {
	vec.Momentum(v[0], v[1], g, h[0], h[1], nesterov)
}

func kerasMomentum[T vec.Float](v [][]T, g, h []T, nesterov bool) {
	vec.KerasMomentum(v[0], v[1], g, h[0], h[1], nesterov)
}

// corrected returns Adam's learning rate, from beta1's power, beta2's power and
// the rate.
func corrected[T vec.Float](h []T) T {
	return h[2] * T(math.Sqrt(float64(1-h[1]))) / (1 - h[0])
}

func adam[T vec.Float](v [][]T, g, h []T, nesterov bool) {
	vec.Adam(v[0], v[1], v[2], g, corrected(h), h[3], h[4], h[5], nesterov)
}

func amsgrad[T vec.Float](v [][]T, g, h []T, _ bool) {
	vec.Amsgrad(v[0], v[1], v[2], v[3], g, corrected(h), h[3], h[4], h[5])
}

func adaMax[T vec.Float](v [][]T, g, h []T, _ bool) {
	vec.AdaMax(v[0], v[1], v[2], g, h[1]/(1-h[0]), h[2], h[3], h[4])
}

func adagradV1[T vec.Float](v [][]T, g, h []T, slots bool) {
	vec.Adagrad(v[0], v[1], g, h[0], 0, slots)
}

func adagrad[T vec.Float](v [][]T, g, h []T, slots bool) {
	vec.Adagrad(v[0], v[1], g, h[0], h[1], slots)
}

func adadelta[T vec.Float](v [][]T, g, h []T, _ bool) {
	vec.Adadelta(v[0], v[1], v[2], g, h[0], h[1], h[2])
}

func rmsProp[T vec.Float](v [][]T, g, h []T, _ bool) {
	vec.RMSProp(v[0], nil, v[1], v[2], g, h[0], h[1], h[2], h[3])
}

func centered[T vec.Float](v [][]T, g, h []T, _ bool) {
	vec.RMSProp(v[0], v[1], v[2], v[3], g, h[0], h[1], h[2], h[3])
}

func ftrl[T vec.Float](v [][]T, g, h []T, byRate bool) {
	vec.Ftrl(v[0], v[1], v[2], g, h[0], h[1], h[2], h[3], h[4], byRate)
}

func adagradDA[T vec.Float](v [][]T, g, h []T, _ bool) {
	vec.AdagradDA(v[0], v[1], v[2], g, h[0], h[1], h[2], h[3])
}

func addSign[T vec.Float](v [][]T, g, h []T, _ bool) {
	vec.AddSign(v[0], v[1], g, h[0], h[1], h[2], h[3])
}

func powerSign[T vec.Float](v [][]T, g, h []T, _ bool) {
	vec.PowerSign(v[0], v[1], g, h[0], h[1], h[2], h[3])
}

func proximalAdagrad[T vec.Float](v [][]T, g, h []T, _ bool) {
	vec.ProximalAdagrad(v[0], v[1], g, h[0], h[1], h[2])
}

func proximal[T vec.Float](v [][]T, g, h []T, _ bool) { vec.Proximal(v[0], g, h[0], h[1], h[2]) }
