package math

import (
	"errors"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table.
func Kernels() []engine.Kernel { return slices.Concat(generated, others, specials(), words()) }

var others = []engine.Kernel{
	{Op: "AddN", Run: addN, Types: engine.Types{"T": append(addNs.Types(), tensor.Variant)}, Precision: engine.Accumulated},
	{Op: engine.ElementwiseOp, Def: chainDef, Prepare: prepareChain, Fuses: chainOps(), Types: engine.Types{"T": chainTypes}, Precision: engine.Rounded},
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

// divisible refuses a zero divisor before the loop runs into it.
func divisible[T vec.Int](f elementwise.Func) elementwise.Func {
	return func(c *engine.Call) error {
		if err := elementwise.Same(c); err != nil {
			return err
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
			if y < 0 {
				return errNegative
			}
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
