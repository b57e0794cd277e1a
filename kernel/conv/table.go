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
	}
}
