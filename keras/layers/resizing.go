package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Resizing resizes images [height, width, channels] or batches of them.
type Resizing struct {
	base.Layer
	// Height and Width are the size of the output. They are required.
	Height, Width int
	// Interpolation is the way to compute pixels: bilinear, nearest, bicubic, area, lanczos3,
	// lanczos5, gaussian or mitchellcubic. Default: bilinear.
	Interpolation string `keras:",default=bilinear"`
	// CropToAspectRatio cuts the borders of images of other proportions off, so that their middle
	// stays. Default: they are distorted.
	CropToAspectRatio bool
}

// Call returns the resized x.
func (r *Resizing) Call(s *ops.Scope, x ops.Input) *ops.Value { return r.Run(s, r, x, nil) }

// Compute returns the resized x in the compute type. As in tf_keras, pixels are computed in
// float32, and by "nearest" in the compute type.
func (r *Resizing) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	method, err := resizeMethod(r.Interpolation)
	if err == nil {
		err = checkSize(r.Height, r.Width)
	}
	if err != nil {
		return s.Fail("Resizing", err)
	}
	d := tensor.Float32
	if r.Interpolation == "nearest" {
		d = r.DType.Compute()
	}
	y := onBatch(s, "Resizing", ops.Cast(s, x, d), func(x *ops.Value) *ops.Value {
		if r.CropToAspectRatio {
			return smartResize(s, x, r.Height, r.Width, method)
		}
		return ops.Resize(s, x, r.Height, r.Width, &ops.ResizeOptions{Method: method})
	})
	return ops.Cast(s, y, r.DType.Compute())
}
