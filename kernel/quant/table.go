// Package quant holds the kernels of quantization: floats rounded to the levels
// of an integer, and integers that stand for floats of a range.
//
// Products are rounded before they are added to, also where the machine could
// fuse the two: which level an element falls to depends on it.
package quant

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	floats := []tensor.DType{tensor.Float32, tensor.Float64}
	wide := []tensor.DType{tensor.QInt32}
	narrow := []tensor.DType{tensor.QUint8}
	return []engine.Kernel{
		{Op: "FakeQuantWithMinMaxArgs", Prepare: prepareFake(fakeArgs)},
		{Op: "FakeQuantWithMinMaxArgsGradient", Prepare: prepareFake(fakeArgsGrad)},
		{Op: "FakeQuantWithMinMaxVars", Prepare: prepareFake(fakeVars)},
		{Op: "FakeQuantWithMinMaxVarsGradient", Prepare: prepareFake(fakeVarsGrad), Precision: engine.Accumulated},
		{Op: "FakeQuantWithMinMaxVarsPerChannel", Prepare: prepareFake(fakeVars)},
		{Op: "FakeQuantWithMinMaxVarsPerChannelGradient", Prepare: prepareFake(fakeVarsGrad), Precision: engine.Accumulated},

		{Op: "QuantizeAndDequantizeV2", Types: engine.Types{"T": floats}, Prepare: prepareRound},
		{Op: "QuantizeAndDequantizeV3", Types: engine.Types{"T": floats}, Prepare: prepareRound},
		{Op: "QuantizeAndDequantizeV4", Types: engine.Types{"T": floats}, Prepare: prepareRound},
		{Op: "QuantizeAndDequantizeV4Grad", Types: engine.Types{"T": floats}, Run: roundGrad},

		{Op: "QuantizeV2", Types: engine.Types{"T": quantizers.Types()}, Prepare: prepareQuantize},
		{Op: "Dequantize", Types: engine.Types{"T": dequantizers.Types()}, Prepare: prepareDequantize},

		{Op: "RequantizationRange", Types: engine.Types{"Tinput": wide}, Run: requantizationRange},
		{Op: "Requantize", Types: engine.Types{"Tinput": wide, "out_type": narrow}, Run: requantize},
		{Op: "QuantizeDownAndShrinkRange", Types: engine.Types{"Tinput": wide, "out_type": narrow}, Run: shrinkRange},

		{Op: "UniformQuantize", Types: engine.Types{"Tout": uniform.Types()}, Prepare: prepareUniform(uniformQuantize)},
		{Op: "UniformDequantize", Types: engine.Types{"Tin": uniform.Types()}, Prepare: prepareUniform(uniformDequantize)},
	}
}
