// Package image implements the kernels of image processing: resizing, cropping,
// colours, boxes, moving windows, and the formats of files. The pixels, and the
// bytes of encoded images, are those of TensorFlow and its libraries.
package image

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table. Package kernel adds the checks of inputs' ranks.
func Kernels() []engine.Kernel {
	numbers := toFloat.Types()
	return []engine.Kernel{
		{Op: "ResizeBilinear", Types: engine.Types{"T": numbers}, Prepare: prepareResize(bilinear), Precision: engine.Accumulated},
		{Op: "ResizeBicubic", Types: engine.Types{"T": numbers}, Prepare: prepareResize(bicubic), Precision: engine.Accumulated},
		{Op: "ResizeArea", Types: engine.Types{"T": numbers}, Prepare: prepareResize(area), Precision: engine.Accumulated},
		{Op: "ResizeBilinearGrad", Types: engine.Types{"T": elementwise.Floating()}, Prepare: prepareResizeGrad(bilinear), Precision: engine.Accumulated},
		{Op: "ResizeBicubicGrad", Prepare: prepareResizeGrad(bicubic), Precision: engine.Accumulated},
		{Op: "ResizeNearestNeighbor", Types: engine.Types{"T": numbers}, Run: resizeNearest},
		{Op: "ResizeNearestNeighborGrad", Types: engine.Types{"T": adders.Types()}, Run: resizeNearestGrad, Precision: engine.Accumulated},
		{Op: "CropAndResize", Types: engine.Types{"T": numbers}, Run: cropAndResize, Precision: engine.Accumulated},

		{Op: "RGBToHSV", Types: engine.Types{"T": elementwise.Floating()}, Run: pixels(rgbToHSV), Precision: engine.Accumulated},
		{Op: "HSVToRGB", Types: engine.Types{"T": elementwise.Floating()}, Run: pixels(hsvToRGB), Precision: engine.Accumulated},
		{Op: "AdjustHue", Run: adjust(shiftHue), Precision: engine.Accumulated},
		{Op: "AdjustSaturation", Run: adjust(scaleSaturation), Precision: engine.Accumulated},
		{Op: "AdjustContrast", Types: engine.Types{"T": contrastTypes}, Run: limitedContrast, Precision: engine.Accumulated},
		{Op: "AdjustContrastv2", Run: adjustContrast, Precision: engine.Accumulated},

		{Op: "NonMaxSuppression", Run: suppress(1)},
		{Op: "NonMaxSuppressionV2", Run: suppress(2)},
		{Op: "NonMaxSuppressionV3", Run: suppress(3)},
		{Op: "NonMaxSuppressionV4", Run: suppress(4)},
		{Op: "NonMaxSuppressionV5", Run: suppress(5), Precision: engine.Accumulated},
		{Op: "CombinedNonMaxSuppression", Run: suppressCombined},
		{Op: "NonMaxSuppressionWithOverlaps", Run: suppressByOverlaps},

		{Op: "Dilation2D", Types: engine.Types{"T": dilations.Types()}, Run: dilation2D(dilationForward)},
		{Op: "Dilation2DBackpropInput", Types: engine.Types{"T": dilations.Types()}, Run: dilation2D(dilationToInput), Precision: engine.Accumulated},
		{Op: "Dilation2DBackpropFilter", Types: engine.Types{"T": dilations.Types()}, Run: dilation2D(dilationToFilter), Precision: engine.Accumulated},
		{Op: "ExtractImagePatches", Run: extractPatches(2)},
		{Op: "ExtractVolumePatches", Run: extractPatches(3)},
		{Op: "CropAndResizeGradImage", Types: engine.Types{"T": cropTypes}, Run: cropGradImage, Precision: engine.Accumulated},
		{Op: "CropAndResizeGradBoxes", Run: cropGradBoxes, Precision: engine.Accumulated},
		{Op: "DrawBoundingBoxes", Run: drawBoxes},
		{Op: "DrawBoundingBoxesV2", Run: drawBoxes},
		{Op: "ImageProjectiveTransformV2", Types: engine.Types{"dtype": projectors.Types()}, Prepare: prepareProject, Precision: engine.Accumulated},
		{Op: "ImageProjectiveTransformV3", Types: engine.Types{"dtype": projectors.Types()}, Prepare: prepareProject, Precision: engine.Accumulated},
		{Op: "ScaleAndTranslate", Run: scaleAndTranslate, Precision: engine.Accumulated},
		{Op: "ScaleAndTranslateGrad", Run: scaleAndTranslateGrad, Precision: engine.Accumulated},
		{Op: "NearestNeighbors", Run: nearestNeighbors, Precision: engine.Accumulated},

		{Op: "SampleDistortedBoundingBox", Prepare: prepareSample(2)},
		{Op: "SampleDistortedBoundingBoxV2", Prepare: prepareSample(3)},
		{Op: "StatelessSampleDistortedBoundingBox", Prepare: prepareStatelessSample},
		{Op: "ExtractGlimpse", Prepare: prepareGlimpse},
		{Op: "ExtractGlimpseV2", Prepare: prepareGlimpse},

		{Op: "DecodeAndCropJpeg", Prepare: prepareDecode},
		{Op: "DecodeWebP", Types: engine.Types{"dtype": {tensor.Uint8}}, Prepare: prepareDecode},
		{Op: "DecodeJpeg", Prepare: prepareDecode},
		{Op: "DecodePng", Types: engine.Types{"dtype": {tensor.Uint8, tensor.Uint16}}, Prepare: prepareDecode},
		{Op: "DecodeGif", Prepare: prepareDecode},
		{Op: "DecodeBmp", Prepare: prepareDecode},
		{Op: "DecodeImage", Types: engine.Types{"dtype": {tensor.Float32, tensor.Uint8, tensor.Uint16}}, Prepare: prepareDecode},
		{Op: "ExtractJpegShape", Run: extractShape},
		{Op: "WriteImageSummary", Types: engine.Types{"T": summarized}, Prepare: writeSummary},
		{Op: "ImageSummary", Types: engine.Types{"T": summarized}, Prepare: prepareSummary},
		{Op: "EncodePng", Types: engine.Types{"T": pngTypes}, Prepare: prepareEncodePNG},
		{Op: "EncodeJpeg", Prepare: prepareEncodeJPEG},
		{Op: "EncodeJpegVariableQuality", Run: encodeVariableQuality},
	}
}
