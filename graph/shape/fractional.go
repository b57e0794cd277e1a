package shape

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// fractionalRules returns the rules of pooling by ratios that needn't be whole.
func fractionalRules() map[string]Rule {
	return join(rules(fractionalPool, "FractionalAvgPool", "FractionalMaxPool"),
		map[string]Rule{"FractionalMaxPoolGrad": fractionalMaxGrad, "FractionalAvgPoolGrad": fractionalAvgGrad})
}

// Ratios returns the ratios of a fractional pooling, for batch, height, width
// and channels. Those of batch and channels are 1.
func Ratios(a graph.Attrs) (out [4]float32, err error) {
	v := a.Floats("pooling_ratio")
	if len(v) != 4 {
		return out, fmt.Errorf("pooling_ratio must have 4 elements, got %v", v)
	}
	for i, r := range v {
		if out[i] = float32(r); !(out[i] >= 1) {
			return out, fmt.Errorf("pooling_ratio is %v; none may be smaller than 1", v)
		}
	}
	if out[0] != 1 || out[3] != 1 {
		return out, fmt.Errorf("pooling_ratio is %v; images and channels can't be pooled", v)
	}
	return out, nil
}

// Fractions returns the shape of images of shape s (batch, height, width,
// channels) after pooling. Sizes of s may be unknown. The division is rounded to
// float32, which decides the size.
func Fractions(s tensor.Shape, ratios [4]float32) (tensor.Shape, error) {
	out := s.Clone()
	for i, n := range s {
		switch {
		case ratios[i] == 1:
		case n < 0:
			out[i] = graph.NewDim()
		default:
			out[i] = int(math.Floor(float64(float32(n) / ratios[i])))
		}
		if (i == 1 || i == 2) && out[i] == 0 {
			return nil, fmt.Errorf("images of shape %v have nothing left when pooled by %v", s, ratios)
		}
	}
	return out, nil
}

func fractionalPool(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	r, err := Ratios(c.Attrs)
	if err != nil {
		return err
	}
	x, err := c.ranked(0, 4)
	if err != nil {
		return err
	}
	s, err := Fractions(x.Dims(), r)
	if err != nil {
		return err
	}
	c.setDims(0, s...)
	for i := 1; i < 3; i++ { // the beginnings of the windows along rows and columns, and the end
		n, err := AddDims(s[i], 1)
		if err != nil {
			return err
		}
		c.setDims(i, n)
	}
	return nil
}

func fractionalMaxGrad(c *Inference) error {
	if err := c.need(5); err != nil {
		return err
	}
	return c.sameAs(0, 4)
}

func fractionalAvgGrad(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	s, err := c.rankedSizes(0, 4, "the images' shape")
	if err == nil {
		c.set(0, s)
	}
	return err
}
