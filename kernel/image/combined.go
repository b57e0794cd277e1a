package image

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// detection is a box selected for a class.
type detection struct {
	box   box
	score float32
	class int
}

// suppressCombined selects boxes for each class of each image, and the best of all classes. It is
// the kernel of CombinedNonMaxSuppression. Boxes are [batch, boxes, 1 or classes, 4], scores
// [batch, boxes, classes].
func suppressCombined(c *engine.Call) error {
	if err := c.Need(6); err != nil {
		return err
	}
	boxes, scores := c.In(0), c.In(1)
	b, s := boxes.Shape(), scores.Shape()
	if boxes.DType() != tensor.Float32 || scores.DType() != tensor.Float32 {
		return fmt.Errorf("boxes of %v with scores of %v, where float32 is needed", boxes.DType(), scores.DType())
	}
	var limits [2]int64
	var thresholds [2]float32
	var err error
	for i := range limits {
		if limits[i], err = shapes.Int(c.In(2+i), "the number of boxes"); err != nil {
			return err
		}
		if limits[i] <= 0 {
			return fmt.Errorf("at most %d boxes", limits[i])
		}
		if thresholds[i], err = scalar(c, 4+i); err != nil {
			return err
		}
	}
	if !(thresholds[0] >= 0 && thresholds[0] <= 1) {
		return fmt.Errorf("an overlap of %v", thresholds[0])
	}
	n, err := shape.Detections(b, s, limits[0], limits[1], c.Attrs().Bool("pad_per_class"))
	if err != nil {
		return err
	}
	shapesOf := []tensor.Shape{{b[0], n, 4}, {b[0], n}, {b[0], n}, {b[0]}}
	var out [4]*tensor.Tensor
	for i, dims := range shapesOf {
		d := tensor.Float32
		if i == 3 {
			d = tensor.Int32
		}
		if out[i], err = c.AllocZero(i, d, dims); err != nil {
			return err
		}
	}
	clip := true
	if c.Attrs().Has("clip_boxes") {
		clip = c.Attrs().Bool("clip_boxes")
	}
	corners, all := tensor.Values[float32](boxes), tensor.Values[float32](scores)
	count, classes, kinds := b[1], s[2], b[2]
	for image := range b[0] {
		// One element for each box that can be selected. TensorFlow sorts the unused ones, too, which decides the order of
		// equal scores.
		most := int(min(limits[0], int64(count)))
		places := make([]detection, classes*most)
		for i := range places {
			places[i] = detection{score: -1, class: -1}
		}
		for class := range classes {
			kind := 0
			if kinds > 1 {
				kind = class
			}
			at := func(i int) box { return box(corners[((image*count+i)*kinds+kind)*4:]) }
			sup := suppression{most: most, overlap: thresholds[0], score: thresholds[1], boxes: at,
				scores: make([]float32, count), interrupted: c.Context().Err}
			for i := range sup.scores {
				sup.scores[i] = all[(image*count+i)*classes+class]
			}
			if err := sup.runByClass(); err != nil {
				return err
			}
			for i, k := range sup.selected {
				places[class*most+i] = detection{at(k), sup.selectedScores[i], class}
			}
		}
		sortByScore(places)
		found := slices.DeleteFunc(places, func(d detection) bool { return d.class < 0 })
		found = found[:min(len(found), n)]
		for i, d := range found {
			for k, v := range d.box {
				if clip {
					v = min(max(v, 0), 1)
				}
				tensor.Values[float32](out[0])[(image*n+i)*4+k] = v
			}
			tensor.Values[float32](out[1])[image*n+i] = d.score
			tensor.Values[float32](out[2])[image*n+i] = float32(d.class)
		}
		tensor.Values[int32](out[3])[image] = int32(len(found))
	}
	return nil
}
