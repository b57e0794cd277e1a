// Package array holds the kernels that look at shapes and move elements without
// computing with them: reshape, transpose, slices, joins, gathers, pads, fills.
package array

import "github.com/cairnml/cairn/engine"

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	return []engine.Kernel{
		{Op: "Identity", Run: identity},
		{Op: "StopGradient", Run: identity},
		{Op: "Snapshot", Run: identity},
		{Op: "EnsureShape", Run: ensureShape},
		{Op: "Shape", Run: shapeOf},
		{Op: "ShapeN", Run: shapeN},
		{Op: "Size", Run: size},
		{Op: "Rank", Run: rank},
		{Op: "Reshape", Prepare: settled(reshape)},
		{Op: "ExpandDims", Prepare: settled(expandDims)},
		{Op: "Squeeze", Prepare: settled(squeeze)},
		{Op: "Transpose", Run: transpose},
		{Op: "BroadcastTo", Run: broadcastTo},
		{Op: "BroadcastArgs", Run: broadcastArgs},
		{Op: "BroadcastGradientArgs", Run: broadcastGradientArgs},
		{Op: "ConcatV2", Run: concat},
		{Op: "Pack", Run: pack},
		{Op: "Unpack", Run: unpack},
		{Op: "Split", Run: split},
		{Op: "SplitV", Run: splitV},
		{Op: "Slice", Run: slice},
		{Op: "StridedSlice", Run: stridedSlice},
		{Op: "StridedSliceGrad", Run: stridedSliceGrad},
		{Op: "ReverseV2", Run: reverse},
		{Op: "Tile", Run: tile},
		{Op: "Pad", Run: pad},
		{Op: "PadV2", Run: pad},
		{Op: "MirrorPad", Run: mirrorPad},
		{Op: "MirrorPadGrad", Run: mirrorPadGrad, Precision: engine.Accumulated},
		{Op: "GatherV2", Run: gather},
		{Op: "GatherNd", Run: gatherND},
		{Op: "ScatterNd", Run: scatterND, Precision: engine.Accumulated},
		{Op: "UnsortedSegmentSum", Run: segmentSum, Precision: engine.Accumulated},
		{Op: "Unique", Run: unique},
		{Op: "UniqueWithCounts", Run: unique},
		{Op: "OneHot", Run: oneHot},
		{Op: "Fill", Run: fill},
		{Op: "ZerosLike", Run: zerosLike},
		{Op: "OnesLike", Run: onesLike},
		{Op: "Range", Run: rangeOp.Run, Precision: engine.Rounded},
		{Op: "LinSpace", Run: linSpace.Run, Precision: engine.Rounded},
		{Op: "InvertPermutation", Run: invertPermutation},
		{Op: "MatrixDiag", Run: matrixDiag},
		{Op: "MatrixDiagPart", Run: matrixDiagPart},
		{Op: "MatrixBandPart", Run: matrixBandPart},
		{Op: "Where", Run: where},
		{Op: "TopKV2", Run: topK.Run},
	}
}
