package keras

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Dense is a fully connected layer: activation(x·kernel + bias). It is built at
// its first call, when the size of x's last dimension is known:
//
//	l1 := &keras.Dense{Units: 5}
//
// x has a batch's dimension first and the features last; dimensions in between
// are kept.
type Dense struct {
	Layer
	// Units is the number of outputs.
	Units int
	// Activation is applied to the outputs. Default: none.
	Activation Activation `cairn:"-"`
	// NoBias leaves the bias out. Default: there is one.
	NoBias bool
	// KernelInit makes the kernel's first value. Default: GlorotUniform{}.
	KernelInit Initializer `cairn:"-"`
	// BiasInit makes the bias's first value. Default: Zeros{}.
	BiasInit Initializer `cairn:"-"`
	// DType is the type of the variables. Default: float32.
	DType tensor.DType
	// Name is the layer's part of its variables' full names. Default: dense,
	// dense_1, …
	Name string
	// Keras3 calls the kernel's edge "_kernel", as Keras 3 does. Default: it is
	// "kernel", unless the layer takes its value from a checkpoint of Keras 3.
	Keras3 bool

	// Kernel [inputs, units] and Bias [units] are nil until the layer is built;
	// then they are the edges "kernel" and "bias".
	Kernel, Bias *trackable.Variable `cairn:"-"`
}

// ScopeName returns the layer's name, "" for the automatic one.
func (d *Dense) ScopeName() string { return d.Name }

// keras3Kernel is the kernel's edge in a checkpoint of Keras 3. A layer that is
// built from one keeps it.
const keras3Kernel = "_kernel"

// AcceptsChild reports whether a checkpoint's value for edge may still find its
// variable: before the layer is built, kernel and bias can.
func (d *Dense) AcceptsChild(edge string) bool {
	return !d.Built() && (edge == "kernel" || edge == keras3Kernel || edge == "bias" && !d.NoBias)
}

// SetName gives the layer the name that its variables' full names contain.
func (d *Dense) SetName(name string) { d.Name = name }

// DeclareVariables lists what Build will make.
func (d *Dense) DeclareVariables(inFile func(edge string) bool) []trackable.Declared {
	if d.Built() || d.Units < 1 {
		return nil
	}
	dtype := d.DType
	if dtype == tensor.Invalid {
		dtype = tensor.Float32
	}
	edge := "kernel"
	if d.Keras3 || inFile(keras3Kernel) && !inFile(edge) {
		edge = keras3Kernel
	}
	var list []trackable.Declared
	// The fields are for Build, which may be running.
	made := d.TrackableNode().Edges()
	has := func(edge string) bool {
		return slices.ContainsFunc(made, func(e trackable.Edge) bool { return e.Name == edge })
	}
	if !has("kernel") && !has(keras3Kernel) {
		list = append(list, trackable.Declared{Edge: edge, Name: "kernel", DType: dtype, Shape: tensor.Shape{-1, d.Units}})
	}
	if !has("bias") && !d.NoBias {
		list = append(list, trackable.Declared{Edge: "bias", DType: dtype, Shape: tensor.Shape{d.Units}})
	}
	return list
}

// Build makes the variables for inputs of a shape whose last size is known. A
// call does it by itself.
func (d *Dense) Build(s *ops.Scope, in tensor.Shape) error {
	n, err := lastDim("Dense", in)
	switch {
	case err != nil:
		return err
	case d.Units < 1:
		return fmt.Errorf("Dense: %w, not %d", errNoUnits, d.Units)
	case n < 0:
		return fmt.Errorf("Dense: the last size of the input isn't known, and the kernel needs it; trace with a spec that has it, or call Build")
	}
	bias := d.BiasInit
	if bias == nil {
		bias = Zeros{}
	}
	edge := "kernel"
	if d.Keras3 || d.TrackableNode().HasPending(keras3Kernel) {
		edge = keras3Kernel
	}
	// What is there already was made by a build that failed at the bias.
	if d.Kernel == nil {
		err = d.AddWeight(s, &d.Kernel, edge, Weight{Shape: tensor.Shape{n, d.Units}, DType: d.DType, Init: d.KernelInit, Name: "kernel"})
	}
	if err == nil && d.Bias == nil && !d.NoBias {
		err = d.AddWeight(s, &d.Bias, "bias", Weight{Shape: tensor.Shape{d.Units}, DType: d.DType, Init: bias})
	}
	return err
}

var errDenseRank = errors.New("the input needs two dimensions or more, a batch's first")

// Call returns activation(x·kernel + bias).
func (d *Dense) Call(s *ops.Scope, x ops.Input) *ops.Value {
	v, ok := d.Prepare(s, x, d.Build)
	if !ok {
		return v
	}
	in := v.Fact().Shape
	rank := in.Rank()
	if rank == 0 || rank == 1 {
		return s.Fail("Dense", fmt.Errorf("%w; its shape is %v", errDenseRank, in))
	}
	rows := v
	switch {
	case rank == 2:
	// One product over all rows is faster than one for each.
	case in.HasRank() && in.Dim(-1) >= 0:
		rows = ops.Reshape(s, v, -1, in.Dim(-1))
	default:
		last := ops.StridedSlice(s, ops.Shape(s, v), ops.From(-1))
		rows = ops.ReshapeTo(s, v, ops.Concat(s, []ops.Input{[]int32{-1}, last}, 0))
	}
	y := ops.MatMul(s, rows, d.Kernel)
	if d.Bias != nil {
		y = ops.BiasAdd(s, y, d.Bias)
	}
	switch {
	case rank == 2:
	case in.Known():
		out := append(in.Dims()[:rank-1:rank-1], d.Units)
		y = ops.Reshape(s, y, out...)
	default:
		outer := ops.StridedSlice(s, ops.Shape(s, v), ops.To(-1))
		y = ops.ReshapeTo(s, y, ops.Concat(s, []ops.Input{outer, []int32{int32(d.Units)}}, 0))
	}
	if d.Activation != nil {
		y = d.Activation(s, y)
	}
	return y
}
