package grad_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
)

// TestArraysThatCannotBecomeLists checks that the error has the reason why
// there is no gradient.
func TestArraysThatCannotBecomeLists(t *testing.T) {
	for want, f := range map[string]func(s *ops.Scope, x *ops.Value) *ops.Value{
		"returns the flow of an array": func(s *ops.Scope, x *ops.Value) *ops.Value {
			handle, flow := raw.TensorArrayV3(s, tensor.Scalar(int32(1)), tensor.Float64, nil)
			return raw.TensorArrayWriteV3(s, handle, tensor.Scalar(int32(0)), x, flow)
		},
		"(Neg) takes the flow of an array": func(s *ops.Scope, x *ops.Value) *ops.Value {
			handle, flow := raw.TensorArrayV3(s, tensor.Scalar(int32(1)), tensor.Float64, nil)
			flow = ops.Neg(s, raw.TensorArrayWriteV3(s, handle, tensor.Scalar(int32(0)), x, flow))
			return s.Emit1("TensorArrayReadV3", graph.Attrs{graph.Type("dtype", tensor.Float64)}, handle, tensor.Scalar(int32(0)), flow)
		},
		"(TensorArrayGradV3) takes the flow of an array": func(s *ops.Scope, x *ops.Value) *ops.Value {
			handle, flow := raw.TensorArrayV3(s, tensor.Scalar(int32(1)), tensor.Float64, nil)
			flow = raw.TensorArrayWriteV3(s, handle, tensor.Scalar(int32(0)), x, flow)
			handle, flow = raw.TensorArrayGradV3(s, handle, flow, "other")
			return s.Emit1("TensorArrayReadV3", graph.Attrs{graph.Type("dtype", tensor.Float64)}, handle, tensor.Scalar(int32(0)), flow)
		},
	} {
		inner := function.New(f)
		outer := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Cast(s, inner.Apply(s, x), tensor.Float64) }, &grad.Options{Watch: []*ops.Value{x}})
			return tape.GradientOf(y, x)[0]
		}, &function.Options{Mode: function.Traced})
		_, err := outer.Call(context.Background(), ops.ValueOf(tensor.Vector(1.0, 2)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one that %s", err, want)
		}
	}
}
