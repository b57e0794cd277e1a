// Package image holds the kernels of image processing: resizing, cropping,
// colours, boxes.
package image

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
)

// Kernels returns the family's table.
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
	}
}
