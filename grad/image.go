package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// imageRules are the rules of resizing, colours and boxes.
var imageRules = map[string]Rule{
	"ResizeBilinear": byImage("ResizeBilinearGrad"),
	"ResizeBicubic": func(s *ops.Scope, op *Op) {
		if d := op.In(0).DType(); d == tensor.Float32 || d == tensor.Float64 { // those of the gradient's op
			byImage("ResizeBicubicGrad")(s, op)
		}
	},
	"ResizeNearestNeighbor": func(s *ops.Scope, op *Op) {
		size := s.Emit1("Slice", nil, sizesOf(s, op.In(0)), []int32{1}, []int32{2})
		op.Give(0, s.Emit1("ResizeNearestNeighborGrad", resizeAttrs(op), op.Grad(0), size))
	},
	"RGBToHSV":            gradHue,
	"NonMaxSuppressionV3": none,
	"NonMaxSuppressionV4": none,
}

// byImage returns the rule of an op whose gradient is an op of the gradient and
// the images.
func byImage(name string) Rule {
	return func(s *ops.Scope, op *Op) {
		if op.In(0).DType().IsFloating() {
			op.Give(0, s.Emit1(name, resizeAttrs(op), op.Grad(0), op.In(0)))
		}
	}
}

// resizeAttrs returns the attributes that say where pixels lie.
func resizeAttrs(op *Op) graph.Attrs {
	var out graph.Attrs
	for _, a := range op.Attrs() {
		switch a.Name {
		case "align_corners", "half_pixel_centers":
			out = append(out, a)
		}
	}
	return out
}
