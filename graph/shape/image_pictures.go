package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
)

// The rules of ops that decode, encode, crop and mark images; the table is in image.go.

// pictureRule infers a decoded image from the attributes.
func pictureRule(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	if err := c.scalar(0); err != nil {
		return err
	}
	channels := graph.NewDim()
	switch n := c.Attrs.Int("channels", 0); {
	case n < 0:
		return fmt.Errorf("channels must be non-negative, got %d", n)
	case n > 0:
		channels = int(n)
	}
	switch c.Op {
	case "ExtractJpegShape":
		c.setDims(0, 3)
	case "DecodeAndCropJpeg":
		if err := c.need(2); err != nil {
			return err
		}
		h, w := graph.NewDim(), graph.NewDim()
		if v, ok := c.knownInts(1); ok && len(v) == 4 && v[2] >= 0 && v[3] >= 0 {
			h, w = int(v[2]), int(v[3])
		}
		c.setDims(0, h, w, channels)
	case "DecodeWebP":
		c.setDims(0, graph.NewDim(), graph.NewDim(), graph.NewDim(), channels)
	case "DecodeGif":
		c.setDims(0, graph.NewDim(), graph.NewDim(), graph.NewDim(), 3)
	case "DecodeImage":
		if c.Attrs.Has("expand_animations") && !c.Attrs.Bool("expand_animations") {
			c.setDims(0, graph.NewDim(), graph.NewDim(), channels)
		}
	default:
		c.setDims(0, graph.NewDim(), graph.NewDim(), channels)
	}
	return nil
}

// encoded infers one string for an image of a rank, whatever other inputs
// contain.
func encoded(rank int) Rule {
	return func(c *Inference) error {
		if err := c.atLeast(1); err != nil {
			return err
		}
		if _, err := c.ranked(0, rank); err != nil {
			return err
		}
		for i := 1; i < len(c.In); i++ {
			if err := c.scalar(i); err != nil {
				return err
			}
		}
		c.setDims(0)
		return nil
	}
}

// encodedEach infers a string for each image, the last three dimensions of
// input 0.
func encodedEach(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, err := c.minRank(0, 3)
	if err != nil || !s.HasRank() {
		return err
	}
	c.setDims(0, s.Dims()[:s.Rank()-3]...)
	return nil
}

// like sets output 0's shape to that of an input.
func like(i int) Rule {
	return func(c *Inference) error {
		if err := c.atLeast(i + 1); err != nil {
			return err
		}
		c.set(0, c.shape(i))
		return nil
	}
}

func transformed(c *Inference) error {
	if err := c.atLeast(3); err != nil {
		return err
	}
	return c.resizedTo(2)
}

func drawnBoxes(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	s, err := c.minRank(0, 3)
	if err == nil {
		c.set(0, s)
	}
	return err
}

func scaled(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	return c.resizedTo(1)
}

func cropGradImage(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	size, err := c.rankedSizes(3, 4, "the images' size")
	if err == nil {
		c.set(0, size)
	}
	return err
}

func cropGradBoxes(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	s, err := c.ranked(2, 2)
	if err == nil {
		c.set(0, s)
	}
	return err
}

func suppressByOverlaps(c *Inference) error {
	if err := c.need(5); err != nil {
		return err
	}
	c.setDims(0, graph.NewDim())
	return nil
}

func nearestNeighbors(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	p, err := c.ranked(0, 2)
	if err != nil {
		return err
	}
	n := graph.NewDim()
	for i := range c.Out {
		c.setDims(i, p.Dim(0), n)
	}
	return nil
}

// sampledBox infers a begin and a size, and a box.
func sampledBox(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	s, err := c.ranked(0, 1)
	if err != nil {
		return err
	}
	if _, err := s.Merge(graph.ShapeOf(3)); err != nil {
		return err
	}
	b, err := c.ranked(1, 3)
	if err != nil {
		return err
	}
	if _, err := b.Merge(graph.ShapeOf(b.Dim(0), b.Dim(1), 4)); err != nil {
		return err
	}
	if len(c.In) > 2 {
		if err := c.scalar(2); err != nil {
			return err
		}
	}
	c.setDims(0, 3)
	c.setDims(1, 3)
	c.setDims(2, 1, 1, 4)
	return nil
}

func glimpse(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	x, err := c.ranked(0, 4)
	if err != nil {
		return err
	}
	o, err := c.ranked(2, 2)
	if err != nil {
		return err
	}
	if o, err = o.Merge(graph.ShapeOf(x.Dim(0), 2)); err != nil {
		return err
	}
	size, err := c.rankedSizes(1, 2, "the size")
	if err == nil {
		c.setDims(0, o.Dim(0), size.Dim(0), size.Dim(1), x.Dim(3))
	}
	return err
}
