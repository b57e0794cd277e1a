package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// imageRules returns the rules of image processing.
func imageRules() map[string]Rule {
	return join(
		rules(resize, "ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"),
		rules(resizeGrad, "ResizeBilinearGrad", "ResizeBicubicGrad"),
		rules(adjusted, "AdjustHue", "AdjustSaturation", "AdjustContrastv2"),
		rules(colours, "RGBToHSV", "HSVToRGB"),
		rules(suppress, "NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5"),
		rules(pictureRule, "DecodeJpeg", "DecodeAndCropJpeg", "DecodeWebP", "DecodePng", "DecodeBmp", "DecodeGif", "DecodeImage", "ExtractJpegShape"),
		rules(sampledBox, "SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2", "StatelessSampleDistortedBoundingBox"),
		rules(glimpse, "ExtractGlimpse", "ExtractGlimpseV2"),
		rules(encoded(3), "EncodeJpeg", "EncodeJpegVariableQuality"),
		rules(transformed, "ImageProjectiveTransformV2", "ImageProjectiveTransformV3"),
		rules(drawnBoxes, "DrawBoundingBoxes", "DrawBoundingBoxesV2"),
		map[string]Rule{"Dilation2D": dilation, "Dilation2DBackpropInput": like(0), "Dilation2DBackpropFilter": like(1),
			"ExtractImagePatches": extractPatches(2), "ExtractVolumePatches": extractPatches(3), "CropAndResizeGradImage": cropGradImage,
			"CropAndResizeGradBoxes": cropGradBoxes, "NonMaxSuppressionWithOverlaps": suppressByOverlaps, "ScaleAndTranslate": scaled,
			"ScaleAndTranslateGrad": like(1), "NearestNeighbors": nearestNeighbors},
		map[string]Rule{"ResizeNearestNeighborGrad": resize, "EncodePng": encodedEach, "CropAndResize": cropAndResize, "CombinedNonMaxSuppression": suppressCombined})
}

func resize(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	return c.resizedTo(1)
}

// resizedTo infers the images of input 0, with the height and width in input i,
// for output 0.
func (c *Inference) resizedTo(i int) error {
	x, err := c.ranked(0, 4)
	if err != nil {
		return err
	}
	size, err := c.rankedSizes(i, 2, "the size")
	if err == nil {
		c.setDims(0, x.Dim(0), size.Dim(0), size.Dim(1), x.Dim(3))
	}
	return err
}

func resizeGrad(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	// TensorFlow infers only the rank if the sizes of input 1 are unknown.
	return c.sameAs(1, 4)
}

func adjusted(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	if err := c.scalar(1); err != nil {
		return err
	}
	s, err := c.minRank(0, 3)
	if err == nil {
		c.set(0, s)
	}
	return err
}

func colours(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, err := c.minRank(0, 1)
	if err != nil || !s.HasRank() {
		return err
	}
	if d := s.Dim(-1); d >= 0 && d != 3 {
		return fmt.Errorf("images of shape %v, where the last dimension has to be red, green and blue", s)
	}
	c.set(0, s.With(s.Rank()-1, 3))
	return nil
}

func cropAndResize(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	x, err := c.ranked(0, 4)
	if err != nil {
		return err
	}
	boxes, err := c.ranked(1, 2)
	if err != nil {
		return err
	}
	if boxes, err = boxes.Merge(graph.ShapeOf(boxes.Dim(0), 4)); err != nil {
		return err
	}
	m, err := c.vector(2)
	if err != nil {
		return err
	}
	n, ok := graph.MergeDim(boxes.Dim(0), m)
	if !ok {
		return fmt.Errorf("%d boxes and %d numbers of images", boxes.Dim(0), m)
	}
	size, err := c.rankedSizes(3, 2, "the size")
	if err == nil {
		c.setDims(0, n, size.Dim(0), size.Dim(1), x.Dim(3))
	}
	return err
}

func suppress(c *Inference) error {
	if err := c.atLeast(3); err != nil {
		return err
	}
	boxes, err := c.ranked(0, 2)
	if err != nil {
		return err
	}
	if _, err := boxes.Merge(graph.ShapeOf(boxes.Dim(0), 4)); err != nil {
		return err
	}
	m, err := c.vector(1)
	if err != nil {
		return err
	}
	if _, ok := graph.MergeDim(boxes.Dim(0), m); !ok {
		return fmt.Errorf("%d boxes and %d scores", boxes.Dim(0), m)
	}
	for i := 2; i < len(c.In); i++ {
		if err := c.scalar(i); err != nil {
			return err
		}
	}
	n := graph.NewDim()
	if v, ok := c.knownInts(2); ok && c.Attrs.Bool("pad_to_max_output_size") {
		if v[0] < 0 {
			return fmt.Errorf("at most %d boxes", v[0])
		}
		n = int(v[0])
	}
	c.setDims(0, n)
	switch c.Op {
	case "NonMaxSuppressionV4":
		c.setDims(1)
	case "NonMaxSuppressionV5":
		c.setDims(1, n)
		c.setDims(2)
	}
	return nil
}

// Detections returns the number of boxes that CombinedNonMaxSuppression returns
// for each image.
func Detections(boxes, scores tensor.Shape, perClass, total int64, padPerClass bool) (int, error) {
	if len(boxes) != 4 || len(scores) != 3 || boxes[3] != 4 {
		return 0, fmt.Errorf("boxes of shape %v with scores of shape %v", boxes, scores)
	}
	for i := range 2 {
		if _, ok := graph.MergeDim(boxes[i], scores[i]); !ok {
			return 0, fmt.Errorf("boxes of shape %v with scores of shape %v", boxes, scores)
		}
	}
	if _, ok := graph.MergeDim(boxes[2], scores[2]); !ok && boxes[2] != 1 {
		return 0, fmt.Errorf("boxes of shape %v with scores of shape %v", boxes, scores)
	}
	if perClass < 1 || total < 1 || total != int64(int(total)) {
		return 0, fmt.Errorf("at most %d boxes a class and %d in all", perClass, total)
	}
	if !padPerClass {
		return int(total), nil
	}
	if scores[2] < 0 || perClass > 1<<31 {
		return graph.NewDim(), nil
	}
	n, err := MulDims(int(perClass), scores[2])
	return int(min(int64(n), total)), err
}

func suppressCombined(c *Inference) error {
	if err := c.need(6); err != nil {
		return err
	}
	boxes, err := c.ranked(0, 4)
	if err != nil {
		return err
	}
	if boxes, err = boxes.Merge(graph.ShapeOf(boxes.Dim(0), boxes.Dim(1), boxes.Dim(2), 4)); err != nil {
		return err
	}
	scores, err := c.ranked(1, 3)
	if err != nil {
		return err
	}
	for i := 2; i < 6; i++ {
		if err := c.scalar(i); err != nil {
			return err
		}
	}
	n := graph.NewDim()
	perClass, ok := c.knownInts(2)
	total, known := c.knownInts(3)
	padded := c.Attrs.Bool("pad_per_class")
	if !padded {
		perClass, ok = []int64{1}, true
	}
	if ok && known {
		if n, err = Detections(boxes.Dims(), scores.Dims(), perClass[0], total[0], padded); err != nil {
			return err
		}
	}
	b := boxes.Dim(0)
	c.setDims(0, b, n, 4)
	c.setDims(1, b, n)
	c.setDims(2, b, n)
	c.setDims(3, b)
	return nil
}
