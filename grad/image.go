package grad

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// imageRules are the rules of ops that resize, crop and dilate images, or convert
// their colors. Ops that select boxes have no gradient: none.go lists those that
// TensorFlow registers so.
var imageRules = map[string]Rule{
	"ResizeBilinear": byImage("ResizeBilinearGrad"),
	"ResizeBicubic": func(s *ops.Scope, op *Op) {
		if d := op.In(0).DType(); d == tensor.Float32 || d == tensor.Float64 { // the types that ResizeBicubicGrad takes
			byImage("ResizeBicubicGrad")(s, op)
		}
	},
	"ResizeNearestNeighbor": func(s *ops.Scope, op *Op) {
		size := s.Emit1("Slice", nil, sizesOf(s, op.In(0)), []int32{1}, []int32{2})
		op.Give(0, s.Emit1("ResizeNearestNeighborGrad", resizeAttrs(op), op.Grad(0), size))
	},
	"CropAndResize":       gradCrop,
	"Dilation2D":          gradDilation,
	"ScaleAndTranslate":   gradScaleAndTranslate,
	"RGBToHSV":            gradHue,
	"NonMaxSuppressionV3": none, // TensorFlow registers neither this version nor the next
	"NonMaxSuppressionV4": none,
}

// byImage returns the rule of an op whose gradient the op called name computes from
// the output's gradient and the images. Images of integers have none.
func byImage(name string) Rule {
	return func(s *ops.Scope, op *Op) {
		if op.In(0).DType().IsFloating() {
			op.Give(0, s.Emit1(name, resizeAttrs(op), op.Grad(0), op.In(0)))
		}
	}
}

// resizeAttrs returns the attributes that determine the positions of pixels.
func resizeAttrs(op *Op) graph.Attrs { return attrsOf(op, "align_corners", "half_pixel_centers") }

// attrsOf returns the op's attributes with these names.
func attrsOf(op *Op, names ...string) graph.Attrs {
	var out graph.Attrs
	for _, a := range op.Attrs() {
		if slices.Contains(names, a.Name) {
			out = append(out, a)
		}
	}
	return out
}

// gradCrop computes gradients of the images, if they are of floating point, and of
// the boxes. As in TensorFlow, that of the boxes is the one of bilinear interpolation
// under any method, so it isn't the derivative for the method nearest.
func gradCrop(s *ops.Scope, op *Op) {
	images, boxes, index := op.In(0), op.In(1), op.In(2)
	if d := images.DType(); d.IsFloating() && op.Needs(0) {
		attrs := append(attrsOf(op, "method"), graph.Type("T", d))
		op.Give(0, s.Emit1("CropAndResizeGradImage", attrs, op.Grad(0), boxes, index, sizesOf(s, images)))
	}
	if op.Needs(1) {
		op.Give(1, s.Emit1("CropAndResizeGradBoxes", nil, op.Grad(0), images, boxes, index))
	}
}

// gradDilation computes the gradients of the images and of the filter.
func gradDilation(s *ops.Scope, op *Op) {
	attrs := attrsOf(op, "strides", "rates", "padding")
	for i, name := range []string{"Dilation2DBackpropInput", "Dilation2DBackpropFilter"} {
		if op.Needs(i) {
			op.Give(i, s.Emit1(name, attrs, op.In(0), op.In(1), op.Grad(0)))
		}
	}
}

// gradScaleAndTranslate computes gradients of the images. The gradient's op takes
// and returns float32 only, the type of the op's output.
func gradScaleAndTranslate(s *ops.Scope, op *Op) {
	x := op.In(0)
	if op.Needs(0) {
		dx := s.Emit1("ScaleAndTranslateGrad", attrsOf(op, "kernel_type", "antialias"), op.Grad(0), ops.Cast(s, x, tensor.Float32), op.In(2), op.In(3))
		op.Give(0, ops.Cast(s, dx, x.DType()))
	}
}
