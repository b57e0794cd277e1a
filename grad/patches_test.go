package grad_test

import (
	"context"
	"math"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestGradientsOfProjectiveTransformsEqualTensorFlows compares the rule with
// the results of TensorFlow 2.21: it transforms back, which differences can't
// show.
func TestGradientsOfProjectiveTransformsEqualTensorFlows(t *testing.T) {
	x := tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 1, 3, 4, 1))
	weights := tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6}, 1, 2, 3, 1))
	from := tensor.Must(tensor.New([]float32{1, 0.2, -0.5, 0.1, 0.9, 0.3, 0.01, -0.02}, 1, 8))
	for interpolation, want := range map[string][]float32{
		"BILINEAR": {1.579545497894287, 2.6294589042663574, 3.0, 2.1889023780822754, 3.533259630203247, 4.254769802093506, 4.571590423583984, 3.7606449127197266,
			4.140692710876465, 5.134720802307129, 6.0, 5.803591728210449},
		"NEAREST": {2, 3, 3, 2, 4, 5, 6, 3, 4, 5, 6, 6},
	} {
		for _, op := range []string{"ImageProjectiveTransformV2", "ImageProjectiveTransformV3"} {
			gradient := func(s *ops.Scope, x *ops.Value) *ops.Value {
				rec, tape := grad.Record(s)
				tape.Watch(x)
				images := ops.Cast(rec, x, tensor.Float64) // the transforms are float32 nevertheless
				in := []ops.Input{images, from, tensor.Vector[int32](2, 3)}
				if op == "ImageProjectiveTransformV3" {
					in = append(in, tensor.Scalar[float32](0.5))
				}
				y := rec.Emit1(op, graph.Attrs{graph.String("interpolation", interpolation), graph.String("fill_mode", "REFLECT")}, in...)
				return tape.GradientOf(ops.Sum(rec, ops.Mul(rec, ops.Cast(rec, y, tensor.Float32), weights)), x)[0]
			}
			for _, m := range modes[:4] {
				options := &function.Options{Mode: function.Eagerly}
				if m.traced {
					options.Mode = function.Traced
				}
				f := function.New(gradient, options)
				if m.traced {
					if _, err := f.Trace(m.spec(x)); err != nil {
						t.Errorf("%s, %s: %v", op, m.name, err)
						continue
					}
				}
				dx, err := f.Call(context.Background(), ops.ValueOf(x))
				if err != nil {
					t.Errorf("%s, %s: %v", op, m.name, err)
					continue
				}
				for i, g := range flat(dx) {
					if !(math.Abs(g-float64(want[i])) <= 1e-5*float64(want[i])) {
						t.Errorf("%s, %s, %s: element %d is %v, want %v", op, interpolation, m.name, i, g, want[i])
					}
				}
			}
		}
	}
}
