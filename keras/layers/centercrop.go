package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// CenterCrop cuts the middle out of images [height, width, channels] or batches of them.
// Images that are too small are resized without distortion.
type CenterCrop struct {
	base.Layer
	// Height and Width are the size of the output. They are required.
	Height, Width int
}

// Call returns the middle of x.
func (c *CenterCrop) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// Compute returns the middle of x.
func (c *CenterCrop) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if err := checkSize(c.Height, c.Width); err != nil {
		return s.Fail("CenterCrop", err)
	}
	x = ops.Cast(s, x, c.DType.Compute())
	return onBatch(s, "CenterCrop", x, func(x *ops.Value) *ops.Value {
		return cropOrResize(s, x, c.Height, c.Width, func(s *ops.Scope, height, width *ops.Value) (top, left *ops.Value) {
			return ops.FloorDiv(s, height, int32(2)), ops.FloorDiv(s, width, int32(2))
		})
	})
}

// cropOrResize cuts a part out of a batch of images, at the place that at returns for the
// surplus height and width. Images that are too small are resized without distortion, and
// all are if at is nil. CenterCrop and RandomCrop use it.
func cropOrResize(s *ops.Scope, x *ops.Value, height, width int, at func(s *ops.Scope, height, width *ops.Value) (top, left *ops.Value)) *ops.Value {
	resize := func(s *ops.Scope) *ops.Value {
		return ops.Cast(s, smartResize(s, x, height, width, ops.Bilinear), x.DType())
	}
	if at == nil {
		return resize(s)
	}
	if shape := x.Shape(); len(shape) == 4 && (shape[1] >= 0 && shape[1] < height || shape[2] >= 0 && shape[2] < width) {
		return resize(s) // no part can be cut out, which a branch for it would report
	}
	h, w := imageSize(s, x)
	surplusHeight, surplusWidth := ops.Sub(s, h, int32(height)), ops.Sub(s, w, int32(width))
	enough := ops.GreaterEqual(s, ops.Minimum(s, surplusHeight, surplusWidth), int32(0))
	return ops.If(s, enough, func(s *ops.Scope) *ops.Value {
		top, left := at(s, surplusHeight, surplusWidth)
		return cropAt(s, x, top, left, int32(height), int32(width))
	}, resize)
}
