package image

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/kernel/internal/draws"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of SampleDistortedBoundingBox, SampleDistortedBoundingBoxV2 and
// StatelessSampleDistortedBoundingBox. The order of draws and each rounding to
// float32 are TensorFlow's (sample_distorted_bounding_box_op.cc): for a seed
// they decide the region.

// sampling is a node that draws a random part of an image, which covers enough
// of an object.
type sampling struct {
	covered       float32 // of SampleDistortedBoundingBox; later versions have an input
	aspects, area [2]float32
	attempts      int
	whole         bool // without boxes, the image counts as the object
}

func samplingOf(n *engine.Node) (*sampling, error) {
	a := n.Attrs
	s := &sampling{covered: float32(a.Float("min_object_covered", 0.1)), whole: a.Bool("use_image_if_no_bounding_boxes")}
	for _, r := range []struct {
		name  string
		to    *[2]float32
		usual [2]float32
	}{{"aspect_ratio_range", &s.aspects, [2]float32{0.75, 1.33}}, {"area_range", &s.area, [2]float32{0.05, 1}}} {
		*r.to = r.usual
		if !a.Has(r.name) {
			continue
		}
		v := a.Floats(r.name)
		if len(v) != 2 || !(v[0] > 0 && v[1] > 0) {
			return nil, fmt.Errorf("%s must be two positive numbers, got %v", r.name, v)
		}
		*r.to = [2]float32{float32(v[0]), float32(v[1])}
	}
	if s.area[0] > 1 || s.area[1] > 1 {
		return nil, fmt.Errorf("area_range must be at most 1, got %v", s.area)
	}
	attempts := a.Int("max_attempts", 100)
	if attempts < 1 || attempts > math.MaxInt32 {
		return nil, fmt.Errorf("max_attempts must be positive, got %d", attempts)
	}
	s.attempts = int(attempts)
	return s, nil
}

// prepareSample draws from the node's random state.
func prepareSample(inputs int) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		s, err := samplingOf(n)
		if err != nil {
			return nil, err
		}
		find := draws.Of(n)
		return func(c *engine.Call) error {
			if err := c.Need(inputs); err != nil {
				return err
			}
			return s.run(c, find(c).Reserve(uint64(s.attempts)))
		}, nil
	}
}

// prepareStatelessSample draws from the seed in input 3.
func prepareStatelessSample(n *engine.Node) (func(*engine.Call) error, error) {
	s, err := samplingOf(n)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if err := c.Need(4); err != nil {
			return err
		}
		seed, err := shapes.Ints(c.In(3), "the seed")
		if err != nil {
			return err
		}
		if len(c.In(3).Shape()) != 1 || len(seed) != 2 {
			return fmt.Errorf("seed must have shape [2], not %v", c.In(3).Shape())
		}
		return s.run(c, philox.FromSeed(uint64(seed[0]), uint64(seed[1])))
	}, nil
}

// region is a rectangle of pixels.
type region struct{ left, top, right, bottom int32 }

func (a region) size() float32 { return float32((a.right - a.left) * (a.bottom - a.top)) }

func (a region) intersect(b region) region {
	r := region{max(a.left, b.left), max(a.top, b.top), min(a.right, b.right), min(a.bottom, b.bottom)}
	if r.left > r.right || r.top > r.bottom {
		return region{}
	}
	return r
}

// objects returns the boxes in input 1 as pixels.
func (s *sampling) objects(c *engine.Call, h, w int32) ([]region, error) {
	t := c.In(1)
	if d := t.Shape(); t.DType() != tensor.Float32 || len(d) != 3 || d[2] != 4 {
		return nil, fmt.Errorf("the boxes are %v%v; they must be float32 of shape [batch, boxes, 4]", t.DType(), d)
	}
	v := tensor.Values[float32](t)
	var out []region
	for ; len(v) > 0; v = v[4:] {
		for _, x := range v[:4] {
			if !(x >= 0 && x <= 1) {
				return nil, fmt.Errorf("all coordinates of boxes must be in [0, 1], got %v", x)
			}
		}
		out = append(out, region{int32(v[1] * float32(w)), int32(v[0] * float32(h)), int32(v[3] * float32(w)), int32(v[2] * float32(h))})
	}
	if len(out) == 0 {
		if !s.whole {
			return nil, fmt.Errorf("no boxes are given; use_image_if_no_bounding_boxes takes the image in their place")
		}
		out = append(out, region{0, 0, w, h})
	}
	return out, nil
}

// run draws regions until one covers enough. After too many attempts the region
// is the whole image.
func (s *sampling) run(c *engine.Call, g philox.Generator) error {
	size, err := shapes.Ints(c.In(0), "the image's size")
	if err != nil {
		return err
	}
	if len(c.In(0).Shape()) != 1 || len(size) != 3 {
		return fmt.Errorf("image_size must contain 3 elements, has shape %v", c.In(0).Shape())
	}
	for _, n := range size[:2] {
		if n < 0 || n >= math.MaxInt32 {
			return fmt.Errorf("an image of %d×%d pixels", size[0], size[1])
		}
	}
	h, w := int32(size[0]), int32(size[1])
	covered := s.covered
	if c.NumIn() > 2 {
		if covered, err = tensor.Item[float32](c.In(2)); err != nil {
			return fmt.Errorf("min_object_covered: %w", err)
		}
	}
	if !(covered >= 0) {
		return fmt.Errorf("min_object_covered must be non-negative, is %v", covered)
	}
	objects, err := s.objects(c, h, w)
	if err != nil {
		return err
	}
	words := draws.NewStream(g)
	part := region{0, 0, w, h}
	pace := engine.NewPace(c)
	for range s.attempts {
		pace.Work(64 * (1 + len(objects)))
		aspect := float32(words.Float32()*(s.aspects[1]-s.aspects[0])) + s.aspects[0]
		if drawn, ok := s.draw(words, h, w, aspect); ok && covers(drawn, covered, objects) {
			part = drawn
			break
		}
	}
	return s.output(c, part, h, w)
}

// covers reports whether a region covers enough of one of the objects.
func covers(part region, least float32, objects []region) bool {
	if part.size() < 1 {
		return false
	}
	for _, o := range objects {
		if n := o.size(); n >= 1 && part.intersect(o).size()/n >= least {
			return true
		}
	}
	return false
}

// nearestInt returns the nearest integer, the even one of two.
func nearestInt(v float32) int32 {
	r := math.RoundToEven(float64(v))
	if !(r >= math.MinInt32 && r <= math.MaxInt32) {
		return math.MinInt32
	}
	return int32(r)
}

func root(v float32) float32 { return float32(math.Sqrt(float64(v))) }

// draw draws a rectangle with an aspect ratio. Its area is within the range if
// rounding to pixels allows that.
func (s *sampling) draw(words *draws.Stream, h, w int32, aspect float32) (region, bool) {
	if aspect <= 0 || h <= 0 || w <= 0 || s.area[0] > s.area[1] {
		return region{}, false
	}
	least, most := float32(s.area[0]*float32(w))*float32(h), float32(s.area[1]*float32(w))*float32(h)
	width := func(height int32) int32 { return nearestInt(float32(height) * aspect) }
	height, highest := nearestInt(root(least/aspect)), nearestInt(root(most/aspect))
	if width(highest) > w {
		const epsilon = float32(0.0000001)
		if highest = int32((float64(w) + 0.5 - float64(epsilon)) / float64(aspect)); width(highest) > w {
			highest--
		}
	}
	highest = min(highest, h)
	if height = min(height, highest); height < highest {
		height += int32(words.Below32(uint32(highest - height + 1)))
	}
	wide := width(height)
	size := func() float32 { return float32(wide * height) }
	if size() < least {
		height++
		wide = width(height)
	}
	if size() > most {
		height--
		wide = width(height)
	}
	if size() < least || size() > most || wide > w || height > h || wide <= 0 || height <= 0 {
		return region{}, false
	}
	var x, y int32
	if height < h {
		y = int32(words.Below32(uint32(h - height)))
	}
	if wide < w {
		x = int32(words.Below32(uint32(w - wide)))
	}
	return region{x, y, x + wide, y + height}, true
}

// output writes the first pixel of the region, its size, and the region as a
// box.
func (s *sampling) output(c *engine.Call, part region, h, w int32) error {
	d := c.In(0).DType()
	begin := []int64{int64(part.top), int64(part.left), 0}
	size := []int64{int64(part.bottom - part.top), int64(part.right - part.left), -1}
	for i, v := range [][]int64{begin, size} {
		t, err := tensor.Cast(tensor.Vector(v...), d)
		if err != nil {
			return err
		}
		c.Set(i, t)
	}
	box, err := c.Alloc(2, tensor.Float32, tensor.Shape{1, 1, 4})
	if err != nil {
		return err
	}
	copy(tensor.Values[float32](box), []float32{float32(part.top) / float32(h), float32(part.left) / float32(w), float32(part.bottom) / float32(h), float32(part.right) / float32(w)})
	return nil
}
