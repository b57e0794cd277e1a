// Package conv holds the kernels that move a window over images: convolutions
// and pooling, in two and three dimensions, with their gradients, and the
// normalizations that go with them.
//
// All of them work on images of three spatial dimensions with the channels
// last; a flat image has a depth of 1. What lies otherwise in memory is copied.
// Convolutions of float32 and float64 are implicit matrix products: the windows
// of an image with a border of zeros, a frame, times the packed filter
// ([gemm.Weights]).
package conv

import "github.com/cairnml/cairn/engine"

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	return []engine.Kernel{
		{Op: "Conv2D", Prepare: prepare(forward, 4, false), Precision: engine.Accumulated},
		{Op: "Conv2DBackpropInput", Prepare: prepare(backInput, 4, false), Precision: engine.Accumulated},
		{Op: "Conv2DBackpropFilter", Prepare: prepare(backFilter, 4, false), Precision: engine.Accumulated},
		{Op: "Conv3D", Prepare: prepare(forward, 5, false), Precision: engine.Accumulated},
		{Op: "Conv3DBackpropInputV2", Prepare: prepare(backInput, 5, false), Precision: engine.Accumulated},
		{Op: "Conv3DBackpropFilterV2", Prepare: prepare(backFilter, 5, false), Precision: engine.Accumulated},
		{Op: "DepthwiseConv2dNative", Prepare: prepare(forward, 4, true), Precision: engine.Accumulated},
		{Op: "DepthwiseConv2dNativeBackpropInput", Prepare: prepare(backInput, 4, true), Precision: engine.Accumulated},
		{Op: "DepthwiseConv2dNativeBackpropFilter", Prepare: prepare(backFilter, 4, true), Precision: engine.Accumulated},

		{Op: "MaxPool", Prepare: pool(4, 0, reducing(maxPools))},
		{Op: "MaxPoolV2", Prepare: pool(4, 1, reducing(maxPools))},
		{Op: "MaxPool3D", Prepare: pool(5, 0, reducing(maxPools))},
		{Op: "MaxPoolWithArgmax", Prepare: pool(4, 0, maxWithArgmax)},
		{Op: "MaxPoolGrad", Prepare: pool(4, 0, maxGradient(maxGrads, false)), Precision: engine.Accumulated},
		{Op: "MaxPoolGradV2", Prepare: pool(4, 3, maxGradient(maxGrads, false)), Precision: engine.Accumulated},
		{Op: "MaxPoolGradGrad", Prepare: pool(4, 0, maxGradient(maxGradGrads, true))},
		{Op: "MaxPoolGradGradV2", Prepare: pool(4, 3, maxGradient(maxGradGrads, true))},
		{Op: "MaxPoolGradWithArgmax", Prepare: pool(4, 0, argmaxGradient), Precision: engine.Accumulated},
		{Op: "MaxPool3DGrad", Prepare: pool(5, 0, maxGradient(maxGrads3D, false)), Precision: engine.Accumulated},
		{Op: "MaxPool3DGradGrad", Prepare: pool(5, 0, maxGradient(maxGradGrads, true))},
		{Op: "AvgPool", Prepare: pool(4, 0, reducing(avgPools)), Precision: engine.Accumulated},
		{Op: "AvgPoolGrad", Prepare: pool(4, 0, avgGradient), Precision: engine.Accumulated},
		{Op: "AvgPool3D", Prepare: pool(5, 0, reducing(avgPools)), Precision: engine.Accumulated},
		{Op: "AvgPool3DGrad", Prepare: pool(5, 0, avgGradient), Precision: engine.Accumulated},

		{Op: "FusedBatchNorm", Prepare: prepareNorm(normForward), Precision: engine.Accumulated},
		{Op: "FusedBatchNormV2", Prepare: prepareNorm(normForward), Precision: engine.Accumulated},
		{Op: "FusedBatchNormV3", Prepare: prepareNorm(normForward), Precision: engine.Accumulated},
		{Op: "FusedBatchNormGrad", Prepare: prepareNorm(normBackward), Precision: engine.Accumulated},
		{Op: "FusedBatchNormGradV2", Prepare: prepareNorm(normBackward), Precision: engine.Accumulated},
		{Op: "FusedBatchNormGradV3", Prepare: prepareNorm(normBackward), Precision: engine.Accumulated},
		{Op: "LRN", Prepare: prepareResponse(responseForward), Precision: engine.Accumulated},
		{Op: "LRNGrad", Prepare: prepareResponse(responseBackward), Precision: engine.Accumulated},
	}
}
