// Package quant implements the kernels of quantization: floats rounded to the levels
// of an integer, and integers, called codes, that represent the floats of a
// range.
//
// Products are rounded before the addition, even if the processor could fuse
// both, because the level of an element depends on it.
package quant

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	floats := []tensor.DType{tensor.Float32, tensor.Float64}
	wide := []tensor.DType{tensor.QInt32}
	narrow := []tensor.DType{tensor.QUint8}
	short := []tensor.DType{tensor.QInt8, tensor.QUint8}
	return append(append(fusedKernels(), listedKernels()...), []engine.Kernel{
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
		{Op: "Requantize", Types: engine.Types{"Tinput": wide, "out_type": {tensor.QInt8, tensor.QUint8}}, Run: requantize},
		{Op: "QuantizeDownAndShrinkRange", Types: engine.Types{"Tinput": wide, "out_type": narrow}, Run: shrinkRange},

		{Op: "RequantizationRangePerChannel", Types: engine.Types{"T": wide}, Run: rangePerChannel},
		{Op: "RequantizePerChannel", Types: engine.Types{"T": wide, "out_type": short}, Run: requantizePerChannel},

		{Op: "QuantizedAdd", Types: engine.Types{"T1": narrow, "T2": narrow, "Toutput": wide}, Run: quantizedAdd},
		{Op: "QuantizedMul", Types: engine.Types{"T1": narrow, "T2": narrow, "Toutput": wide}, Run: quantizedMul},
		{Op: "QuantizedBiasAdd", Types: engine.Types{"T1": short, "T2": short, "out_type": wide}, Run: quantizedBiasAdd},
		{Op: "QuantizedMatMul", Types: engine.Types{"T1": narrow, "T2": narrow, "Toutput": wide}, Run: quantizedMatMul},
		{Op: "QuantizedConv2D", Types: engine.Types{"Tinput": short, "Tfilter": short, "out_type": wide}, Prepare: prepareConv},
		{Op: "_QuantizedMaxPool3D", Types: engine.Types{"T": short}, Prepare: prepareVolumePool},
		{Op: "QuantizedMaxPool", Types: engine.Types{"T": short}, Prepare: prepareWindows(quantizedPool(false))},
		{Op: "QuantizedAvgPool", Types: engine.Types{"T": short}, Prepare: prepareWindows(quantizedPool(true))},
		{Op: "QuantizedRelu", Types: engine.Types{"Tinput": rectified.Types(), "out_type": rectified.Types()}, Run: quantizedRelu(0)},
		{Op: "QuantizedRelu6", Types: engine.Types{"Tinput": rectified.Types(), "out_type": rectified.Types()}, Run: quantizedRelu(6)},
		{Op: "QuantizedReshape", Run: quantizedReshape},
		{Op: "QuantizedConcat", Types: engine.Types{"T": {tensor.QUint8, tensor.QInt32}}, Run: quantizedConcat},
		{Op: "QuantizedConcatV2", Types: engine.Types{"T": short}, Run: quantizedConcatV2},
		{Op: "QuantizedInstanceNorm", Types: engine.Types{"T": narrow}, Prepare: prepareInstanceNorm, Precision: engine.Accumulated},
		{Op: "QuantizedBatchNormWithGlobalNormalization", Types: engine.Types{"Tinput": narrow, "out_type": wide}, Run: quantizedBatchNorm},

		{Op: "QuantizedResizeBilinear", Types: engine.Types{"T": {tensor.Float32, tensor.QUint8, tensor.QInt32}}, Run: resizeBilinear, Precision: engine.Rounded},

		{Op: "UniformRequantize", Types: engine.Types{"Tin": uniformCodes.Types(), "Tout": {tensor.QInt8}}, Run: uniformRequantize},
		{Op: "UniformQuantizedAdd", Run: uniformAdd},
		{Op: "UniformQuantizedClipByValue", Run: uniformClip},
		{Op: "UniformQuantizedDot", Run: uniformDot},
		{Op: "UniformQuantizedDotHybrid", Run: uniformDotHybrid, Precision: engine.Accumulated},

		{Op: "UniformQuantize", Types: engine.Types{"Tout": uniform.Types()}, Prepare: prepareUniform(uniformQuantize)},
		{Op: "UniformDequantize", Types: engine.Types{"Tin": uniform.Types()}, Prepare: prepareUniform(uniformDequantize)},
	}...)
}

// fusedKernels returns the kernels of oneDNN's ops, whose filters are symmetric codes.
func fusedKernels() (list []engine.Kernel) {
	matrices := func(op string, bias []tensor.DType, out tensor.DType) {
		list = append(list, engine.Kernel{Op: op, Prepare: prepareFusedMatMul, Types: engine.Types{"T1": {tensor.QUint8}, "T2": {tensor.QInt8}, "Tbias": bias, "Toutput": {out}}})
	}
	either := []tensor.DType{tensor.Float32, tensor.QInt32}
	matrices("QuantizedMatMulWithBias", either, tensor.QInt32)
	matrices("QuantizedMatMulWithBiasAndRelu", nil, tensor.QInt32)
	matrices("QuantizedMatMulWithBiasAndReluAndRequantize", either, tensor.QUint8)
	matrices("QuantizedMatMulWithBiasAndRequantize", either, tensor.QUint8)
	matrices("QuantizedMatMulWithBiasAndDequantize", either, tensor.Float32)
	images := func(op string, in []tensor.DType, out tensor.DType, more engine.Types) {
		types := engine.Types{"Tinput": in, "Tfilter": {tensor.QInt8}, "out_type": {out}}
		for name, list := range more {
			types[name] = list
		}
		list = append(list, engine.Kernel{Op: op, Prepare: prepareFusedConv, Types: types})
	}
	unsigned, both := []tensor.DType{tensor.QUint8}, []tensor.DType{tensor.QUint8, tensor.QInt8}
	images("QuantizedConv2DPerChannel", both, tensor.QInt32, nil)
	images("QuantizedConv2DAndRelu", unsigned, tensor.QInt32, nil)
	images("QuantizedConv2DAndReluAndRequantize", unsigned, tensor.QUint8, nil)
	images("QuantizedConv2DAndRequantize", unsigned, tensor.QInt8, nil)
	images("QuantizedConv2DWithBias", both, tensor.QInt32, nil)
	images("QuantizedConv2DWithBiasAndRelu", both, tensor.QInt32, nil)
	images("QuantizedConv2DWithBiasAndReluAndRequantize", both, tensor.QUint8, engine.Types{"Tbias": either})
	images("QuantizedConv2DWithBiasAndRequantize", both, tensor.QInt8, engine.Types{"Tbias": either})
	images("QuantizedConv2DWithBiasSumAndRelu", unsigned, tensor.QInt32, nil)
	images("QuantizedConv2DWithBiasSumAndReluAndRequantize", unsigned, tensor.QUint8, engine.Types{"Tbias": either, "Tsummand": unsigned})
	images("QuantizedConv2DWithBiasSignedSumAndReluAndRequantize", unsigned, tensor.QUint8, engine.Types{"Tbias": either, "Tsummand": {tensor.QInt8}})
	images("QuantizedDepthwiseConv2D", unsigned, tensor.QInt32, nil)
	images("QuantizedDepthwiseConv2DWithBias", unsigned, tensor.QInt32, nil)
	images("QuantizedDepthwiseConv2DWithBiasAndRelu", unsigned, tensor.QInt32, nil)
	images("QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", unsigned, tensor.QUint8, engine.Types{"Tbias": either})
	for i := range list {
		for name, types := range list[i].Types {
			if types == nil {
				delete(list[i].Types, name)
			}
		}
	}
	return list
}

// prepareConv prepares a convolution: oneDNN's if the filter has symmetric codes.
func prepareConv(n *engine.Node) (func(*engine.Call) error, error) {
	switch filter, in := n.Attrs.Type("Tfilter", tensor.QUint8), n.Attrs.Type("Tinput", tensor.QUint8); {
	case filter == tensor.QInt8:
		return prepareFusedConv(n)
	case in != filter:
		return nil, fmt.Errorf("an input of %v with a filter of %v; such a filter takes inputs of the same type", in, filter)
	}
	return prepareWindows(quantizedConv)(n)
}
