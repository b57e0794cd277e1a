package math

import (
	"errors"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table.
func Kernels() []engine.Kernel { return slices.Concat(generated, others, specials(), words()) }

// others are the kernels that gen.go doesn't generate, except those in specials and words.
var others = []engine.Kernel{
	{Op: "AddN", Run: addN, Types: engine.Types{"T": append(addNs.Types(), tensor.Variant)}, Precision: engine.Accumulated},
	{Op: passes.ElementwiseOp, Def: chainDef, Prepare: prepareChain, Fuses: chainOps(), Types: engine.Types{"T": chainTypes}, Precision: engine.Rounded},
	{Op: passes.UpdateOp, Def: updateDef, Prepare: prepareUpdate, Fuses: chainOps(), Types: engine.Types{"T": chainTypes}, Precision: engine.Rounded},
	{Op: "BiasAdd", Run: biasAdd, Types: engine.Types{"T": byAddV2.Types()}},
	{Op: "BiasAddV1", Run: biasAdd, Types: engine.Types{"T": byAddV2.Types()}},
	clips.Before(clippable).Kernel("ClipByValue", "T", engine.Exact),
	{Op: "Cast", Run: cast},
	{Op: "Bitcast", Run: bitcast},
	{Op: "Select", Run: selectV1},
	{Op: "SelectV2", Run: selectV2},
	relu6.Kernel("Relu6", "T", engine.Exact),
	leaky.Kernel("LeakyRelu", "T", engine.Exact),
	leakyGrad.Kernel("LeakyReluGrad", "T", engine.Exact),
	complexAbs.Kernel("ComplexAbs", "T", engine.Rounded),
	realPart.Kernel("Real", "T", engine.Exact),
	imagPart.Kernel("Imag", "T", engine.Exact),
	angle.Kernel("Angle", "T", engine.Rounded),
	makeComplex.Kernel("Complex", "T", engine.Exact),
}

var (
	errZero     = errors.New("integer division by zero")
	errNegative = errors.New("integers to negative integer powers are not allowed")
)

// comparable answers for inputs whose shapes don't broadcast, if the node's
// attribute incompatible_shape_error is false: they differ.
func comparable(c *engine.Call) (bool, error) {
	if c.NumIn() != 2 || !c.Attrs().Has("incompatible_shape_error") || c.Attrs().Bool("incompatible_shape_error") {
		return false, nil
	}
	if err := elementwise.Same(c); err != nil {
		return false, err
	}
	if _, err := shape.Broadcast(c.In(0).Shape(), c.In(1).Shape()); err == nil {
		return false, nil
	}
	out, err := c.Alloc(0, tensor.Bool, tensor.Shape{})
	if err == nil {
		tensor.Values[bool](out)[0] = c.Op() == "NotEqual"
	}
	return true, err
}

// divisible refuses a zero divisor before the loop runs into it.
func divisible[T vec.Int](f elementwise.Func) elementwise.Func {
	return func(c *engine.Call) error {
		if err := elementwise.Same(c); err != nil {
			return err
		}
		if c.In(0).Len() == 0 {
			return f(c)
		}
		for _, y := range tensor.Values[T](c.In(1)) {
			if y == 0 {
				return errZero
			}
		}
		return f(c)
	}
}

// nonNegative refuses a negative exponent.
func nonNegative[T vec.Int](f elementwise.Func) elementwise.Func {
	return func(c *engine.Call) error {
		if err := elementwise.Same(c); err != nil {
			return err
		}
		for _, y := range tensor.Values[T](c.In(1)) {
			if y < 0 && c.In(0).Len() > 0 {
				return errNegative
			}
		}
		return f(c)
	}
}

// joined refuses inputs whose joined strings are longer than an output may be.
func joined[T ~string](f elementwise.Func) elementwise.Func {
	return func(c *engine.Call) error {
		if err := elementwise.Same(c); err != nil {
			return err
		}
		dims, err := shape.Broadcast(c.In(0).Shape(), c.In(1).Shape())
		if err != nil {
			return err
		}
		n, err := tensor.Shape(dims).NumElements()
		if err != nil {
			return err
		}
		var bytes int64
		for i := range 2 {
			if x := c.In(i); x.Len() > 0 {
				var each int64
				for _, s := range x.Strings() {
					each += int64(len(s))
				}
				bytes += each * int64(n/x.Len()) // broadcasting repeats each element equally often
			}
		}
		if err := c.Afford(bytes); err != nil {
			return err
		}
		return f(c)
	}
}

// asIntegers runs a loop over integers on the codes of quantized types.
func asIntegers[T tensor.Element](f elementwise.Func) elementwise.Func {
	return func(c *engine.Call) error {
		if err := elementwise.Same(c); err != nil {
			return err
		}
		for i := range 2 {
			x, err := tensor.FromBytes(tensor.TypeOf[T](), c.In(i).Bytes(), c.In(i).Shape()...)
			if err != nil {
				return err
			}
			c.Substitute(i, x)
		}
		return f(c)
	}
}

// same returns the input itself: rounding an integer, conjugating a real
// number.
func same(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	return c.Forward(0, 0, c.In(0).Shape())
}

// zero returns zeros: TensorFlow's Round op returns them for int32 and int64. Its Python function
// returns the input and runs no op.
func zero(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	out, err := c.Alloc(0, c.In(0).DType(), c.In(0).Shape())
	if err == nil {
		clear(out.Bytes())
	}
	return err
}

var relu6 = elementwise.ByType{
	tensor.Float32:  elementwise.Unary(relu6Of[float32], 1),
	tensor.Float64:  elementwise.Unary(relu6Of[float64], 1),
	tensor.Float16:  elementwise.UnaryHalf[tensor.F16](relu6Of[float32], 1),
	tensor.BFloat16: elementwise.UnaryHalf[tensor.BF16](relu6Of[float32], 1),
	tensor.Int8:     elementwise.Unary(relu6Of[int8], 1),
	tensor.Int16:    elementwise.Unary(relu6Of[int16], 1),
	tensor.Int32:    elementwise.Unary(relu6Of[int32], 1),
	tensor.Int64:    elementwise.Unary(relu6Of[int64], 1),
	tensor.Uint8:    elementwise.Unary(relu6Of[uint8], 1),
	tensor.Uint16:   elementwise.Unary(relu6Of[uint16], 1),
	tensor.Uint32:   elementwise.Unary(relu6Of[uint32], 1),
	tensor.Uint64:   elementwise.Unary(relu6Of[uint64], 1),
}

func relu6Of[T vec.Real](dst, x []T) {
	vec.Relu(dst, x)
	vec.Relu6Low(dst, dst)
}
