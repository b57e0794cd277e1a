package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The rules of Dilation2D, ExtractImagePatches and ExtractVolumePatches; the table is in image.go.

// Moves describes how a window moves over the spatial dimensions of images with
// the channels last, and the distance between the elements in the window.
type Moves struct {
	Strides, Rates, Before, Out []int // by spatial dimension; Before is the padding before it, Out the number of places
}

// MovesOf returns the moves of a window of a size over images of shape s, by
// the attributes strides, rates and padding.
func MovesOf(a graph.Attrs, s tensor.Shape, size []int) (m Moves, err error) {
	rank := len(size) + 2
	if len(s) != rank {
		return m, fmt.Errorf("images of shape %v, where %d dimensions are needed", s, rank)
	}
	strides, err := perDim(a, "strides", rank)
	if err != nil {
		return m, err
	}
	rates := make([]int, rank)
	for i := range rates {
		rates[i] = 1
	}
	if a.Has("rates") {
		if rates, err = perDim(a, "rates", rank); err != nil {
			return m, err
		}
	}
	if strides[0] != 1 || strides[rank-1] != 1 || rates[0] != 1 || rates[rank-1] != 1 {
		return m, fmt.Errorf("strides and rates along the batch and the channels have to be 1")
	}
	same := false
	switch p := a.String("padding", ""); p {
	case "SAME":
		same = true
	case "VALID":
	default:
		return m, fmt.Errorf("padding %q is neither SAME nor VALID", p)
	}
	m = Moves{strides[1 : rank-1], rates[1 : rank-1], make([]int, rank-2), make([]int, rank-2)}
	for i, k := range size {
		n := s[1+i]
		if n < 0 || k < 0 {
			m.Out[i] = graph.NewDim()
			continue
		}
		wide := 1 - m.Rates[i] // the window is empty
		if k > 0 {
			if wide, err = MulDims(k-1, m.Rates[i]); err != nil {
				return m, err
			}
			wide++
		}
		if same {
			m.Out[i] = (n + m.Strides[i] - 1) / m.Strides[i]
			m.Before[i] = max(0, (m.Out[i]-1)*m.Strides[i]+wide-n) / 2
			continue
		}
		// A window that reaches over the end by less than a stride finds no place,
		// which TensorFlow's division takes for an empty output.
		if wide-n >= 2*m.Strides[i] {
			return m, fmt.Errorf("a window of %d elements is larger than the dimension's %d", wide, n)
		}
		m.Out[i] = max(0, n-wide+m.Strides[i]) / m.Strides[i]
	}
	return m, nil
}

// PatchSize returns the attribute ksizes without the batch and the channels.
func PatchSize(a graph.Attrs, spatial int) ([]int, error) {
	k, err := perDim(a, "ksizes", spatial+2)
	if err != nil {
		return nil, err
	}
	if k[0] != 1 || k[spatial+1] != 1 {
		return nil, fmt.Errorf("ksizes along the batch and the channels have to be 1")
	}
	return k[1 : spatial+1], nil
}

// Patches returns the shape of the patches in a window of a size.
func Patches(s tensor.Shape, size []int, m Moves) (tensor.Shape, error) {
	n := s[len(s)-1]
	var err error
	for _, k := range size {
		if n, err = MulDims(n, k); err != nil {
			return nil, err
		}
	}
	return append(append(tensor.Shape{s[0]}, m.Out...), n), nil
}

func extractPatches(spatial int) Rule {
	return func(c *Inference) error {
		if err := c.need(1); err != nil {
			return err
		}
		x, err := c.ranked(0, spatial+2)
		if err != nil {
			return err
		}
		size, err := PatchSize(c.Attrs, spatial)
		if err != nil {
			return err
		}
		m, err := MovesOf(c.Attrs, x.Dims(), size)
		if err != nil {
			return err
		}
		dims, err := Patches(x.Dims(), size, m)
		if err == nil {
			c.setDims(0, dims...)
		}
		return err
	}
}

func dilation(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	x, err := c.ranked(0, 4)
	if err != nil {
		return err
	}
	f, err := c.ranked(1, 3)
	if err != nil {
		return err
	}
	d, ok := graph.MergeDim(x.Dim(3), f.Dim(2))
	if !ok {
		return fmt.Errorf("images of shape %v and a filter of shape %v", x, f)
	}
	m, err := MovesOf(c.Attrs, x.Dims(), []int{f.Dim(0), f.Dim(1)})
	if err == nil {
		c.setDims(0, x.Dim(0), m.Out[0], m.Out[1], d)
	}
	return err
}
