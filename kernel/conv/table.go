// Package conv contains the kernels that move a window over images:
// convolutions and pooling, in two and three dimensions, with their gradients,
// and the normalizations that are used with them.
//
// Convolutions and pooling work on images of three spatial dimensions with the
// channels last. A two-dimensional image has a depth of 1. Other memory layouts
// are copied.
//
// Convolutions of float32 and float64 are implicit matrix products: the windows
// of an image with a border of zeros, a frame, times the packed filter
// ([gemm.Weights]). Depthwise convolutions need no frame. Their output rows are
// summed one filter position (tap) at a time, in vectors of channels
// ([simd.Taps]). Taps outside the image are left out. The steps of fused ops are
// applied to a result while it is in registers or in the cache ([gemm.Epilogue]).
package conv

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
)

// Package kernel adds this table to those of the other families. The names, types and
// precisions of the ops must stay: they are in docs/ops.md, and tests compare by them.
//
// 4 and 5 are the ranks. The second number of pool is the input with the window sizes, 0
// if they are attributes.

// Kernels returns the family's table. Package kernel adds the checks of inputs' ranks.
func Kernels() []engine.Kernel {
	return []engine.Kernel{
		{Op: "Conv2D", Types: engine.Types{"T": convolutions.Types()}, Prepare: prepare(forward, 4, false), Precision: engine.Accumulated},
		{Op: "Conv2DBackpropInput", Types: engine.Types{"T": convolutions.Types()}, Prepare: prepare(backInput, 4, false), Precision: engine.Accumulated},
		{Op: "Conv2DBackpropFilter", Types: engine.Types{"T": elementwise.Floating()}, Prepare: prepare(backFilter, 4, false), Precision: engine.Accumulated},
		{Op: "Conv3D", Types: engine.Types{"T": convolutions.Types()}, Prepare: prepare(forward, 5, false), Precision: engine.Accumulated},
		{Op: "Conv3DBackpropInputV2", Types: engine.Types{"T": convolutions.Types()}, Prepare: prepare(backInput, 5, false), Precision: engine.Accumulated},
		{Op: "Conv3DBackpropFilterV2", Types: engine.Types{"T": elementwise.Floating()}, Prepare: prepare(backFilter, 5, false), Precision: engine.Accumulated},
		{Op: "DepthwiseConv2dNative", Types: engine.Types{"T": elementwise.Floating()}, Prepare: prepare(forward, 4, true), Precision: engine.Accumulated},
		{Op: "DepthwiseConv2dNativeBackpropInput", Types: engine.Types{"T": elementwise.Floating()}, Prepare: prepare(backInput, 4, true), Precision: engine.Accumulated},
		{Op: "DepthwiseConv2dNativeBackpropFilter", Types: engine.Types{"T": elementwise.Floating()}, Prepare: prepare(backFilter, 4, true), Precision: engine.Accumulated},
		{Op: "_FusedConv2D", Types: engine.Types{"T": fusedTypes}, Prepare: prepare(forward, 4, false), Precision: engine.Accumulated},
		{Op: "_FusedDepthwiseConv2dNative", Types: engine.Types{"T": fusedTypes}, Prepare: prepare(forward, 4, true), Precision: engine.Accumulated},

		{Op: "MaxPool", Types: engine.Types{"T": maxPools.Types()}, Prepare: pool(4, 0, reducing(maxPools, maxChannels))},
		{Op: "MaxPoolV2", Types: engine.Types{"T": maxPools.Types()}, Prepare: pool(4, 1, reducing(maxPools, maxChannels))},
		{Op: "MaxPool3D", Types: engine.Types{"T": maxPools.Types()}, Prepare: pool(5, 0, reducing(maxPools, maxChannels))},
		{Op: "MaxPoolWithArgmax", Types: engine.Types{"T": argmaxes.Types()}, Prepare: pool(4, 0, maxWithArgmax)},
		{Op: "MaxPoolGrad", Types: engine.Types{"T": maxGrads.Types()}, Prepare: pool(4, 0, maxGradient(maxGrads, false)), Precision: engine.Accumulated},
		{Op: "MaxPoolGradV2", Types: engine.Types{"T": maxGrads.Types()}, Prepare: pool(4, 3, maxGradient(maxGrads, false)), Precision: engine.Accumulated},
		{Op: "MaxPoolGradGrad", Types: engine.Types{"T": maxGradGrads.Types()}, Prepare: pool(4, 0, maxGradient(maxGradGrads, true))},
		{Op: "MaxPoolGradGradV2", Types: engine.Types{"T": maxGradGrads.Types()}, Prepare: pool(4, 3, maxGradient(maxGradGrads, true))},
		{Op: "MaxPoolGradWithArgmax", Types: engine.Types{"T": argmaxGrads.Types()}, Prepare: pool(4, 0, argmaxGradient), Precision: engine.Accumulated},
		{Op: "MaxPool3DGrad", Types: engine.Types{"T": maxGrads3D.Types()}, Prepare: pool(5, 0, maxGradient(maxGrads3D, false)), Precision: engine.Accumulated},
		{Op: "MaxPool3DGradGrad", Types: engine.Types{"T": maxGradGrads.Types()}, Prepare: pool(5, 0, maxGradient(maxGradGrads, true))},
		{Op: "AvgPool", Types: engine.Types{"T": avgPools.Types()}, Prepare: pool(4, 0, reducing(avgPools, avgPools)), Precision: engine.Accumulated},
		{Op: "AvgPoolGrad", Types: engine.Types{"T": avgGrads.Types()}, Prepare: pool(4, 0, avgGradient), Precision: engine.Accumulated},
		{Op: "AvgPool3D", Types: engine.Types{"T": avgPools.Types()}, Prepare: pool(5, 0, reducing(avgPools, avgPools)), Precision: engine.Accumulated},
		{Op: "AvgPool3DGrad", Types: engine.Types{"T": avgGrads.Types()}, Prepare: pool(5, 0, avgGradient), Precision: engine.Accumulated},

		{Op: "FractionalMaxPool", Types: engine.Types{"T": fractionalMaxes.Types()}, Prepare: prepareFractional(fractionalMaxes)},
		{Op: "FractionalAvgPool", Types: engine.Types{"T": fractionalMeans.Types()}, Prepare: prepareFractional(fractionalMeans), Precision: engine.Accumulated},
		{Op: "FractionalMaxPoolGrad", Types: engine.Types{"T": fractionalGrads.Types()}, Run: fractionalMaxGradient, Precision: engine.Accumulated},
		{Op: "FractionalAvgPoolGrad", Types: engine.Types{"T": fractionalGrads.Types()}, Run: fractionalMeanGradient, Precision: engine.Accumulated},

		{Op: "FusedBatchNorm", Types: engine.Types{"T": normTypes}, Prepare: prepareNorm(normForward), Precision: engine.Accumulated},
		{Op: "FusedBatchNormV2", Types: engine.Types{"T": normTypes}, Prepare: prepareNorm(normForward), Precision: engine.Accumulated},
		{Op: "FusedBatchNormV3", Types: engine.Types{"T": normTypes}, Prepare: prepareNorm(normForward), Precision: engine.Accumulated},
		{Op: "FusedBatchNormGrad", Types: engine.Types{"T": normTypes}, Prepare: prepareNorm(normBackward), Precision: engine.Accumulated},
		{Op: "FusedBatchNormGradV2", Types: engine.Types{"T": normTypes}, Prepare: prepareNorm(normBackward), Precision: engine.Accumulated},
		{Op: "FusedBatchNormGradV3", Types: engine.Types{"T": normTypes}, Prepare: prepareNorm(normBackward), Precision: engine.Accumulated},
		{Op: "LRN", Prepare: prepareResponse(responseForward), Precision: engine.Accumulated},
		{Op: "LRNGrad", Prepare: prepareResponse(responseBackward), Precision: engine.Accumulated},
	}
}
