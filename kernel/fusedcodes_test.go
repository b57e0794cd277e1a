package kernel_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// smooth are the activations that TensorFlow's oneDNN approximates.
var smooth = []string{"Elu", "Tanh", "Sigmoid", "GeluApproximate", "GeluExact"}

// TestProductsOfCodesEqualTensorFlowToTheBit compares the floats of _QuantizedMatMul more
// closely than its precision: to the bit without a smooth activation, else to 1e-6 of
// the values, or to a step of bfloat16.
func TestProductsOfCodesEqualTensorFlowToTheBit(t *testing.T) {
	exact, near := 0, 0
	for _, f := range opfixture.Load(t, "testdata/tf2.21")["_QuantizedMatMul"] {
		want := f.Out[0].Tensor(t)
		if !want.DType().IsFloating() {
			continue
		}
		var in []ops.Input
		for _, x := range f.In {
			in = append(in, x.Tensor(t))
		}
		attrs := f.EngineAttrs(t)
		s := function.Eager(context.Background())
		out := s.Emit(f.Op, attrs, in...)
		if s.Err() != nil {
			t.Fatalf("%v: %v", f, s.Err())
		}
		got, err := out[0].Tensor()
		if err != nil {
			t.Fatal(err)
		}
		steps := attrs.Strings("fused_ops")
		if !slices.ContainsFunc(smooth, func(a string) bool { return slices.Contains(steps, a) }) {
			exact++
			if !got.Equal(want) {
				t.Errorf("%v: %v, want %v", f, got, want)
			}
			continue
		}
		near++
		limit := 1e-6
		if want.DType() == tensor.BFloat16 {
			limit = 1.0 / 128
		}
		g, w := opfixture.Numbers(got), opfixture.Numbers(want)
		for i := range w {
			if !(math.Abs(g[i]-w[i]) <= limit*max(1, math.Abs(w[i]))) {
				t.Errorf("%v: element %d: %v, want %v", f, i, g[i], w[i])
			}
		}
	}
	if exact < 20 || near < 10 {
		t.Errorf("%d products of exact floats and %d of activated ones were compared", exact, near)
	}
}

// TestFusedStepsThatTensorFlowRefuses shows the lists of steps and the types that have no
// kernel in TensorFlow either.
func TestFusedStepsThatTensorFlowRefuses(t *testing.T) {
	list := func(s string) []graph.Attr {
		return []graph.Attr{graph.Strings("fused_ops", strings.Fields(s)...)}
	}
	f32, bf16, q8, u8, q32 := tensor.Float32, tensor.BFloat16, tensor.QInt8, tensor.QUint8, tensor.QInt32
	scalar := func(v float32) ops.Input { return tensor.Scalar(v) }
	for _, c := range []struct {
		op, steps string
		types     map[string]tensor.DType
		attrs     []graph.Attr
		want      string
	}{
		{op: "_QuantizedMatMul", steps: "", want: "no kernel for the fused ops []"},
		{op: "_QuantizedMatMul", steps: "Dequantize", want: "no kernel for the fused ops [Dequantize]"},
		{op: "_QuantizedMatMul", steps: "BiasAdd Tanh", want: "no kernel for the fused ops [BiasAdd Tanh]"},
		{op: "_QuantizedMatMul", steps: "BiasAdd Add Relu Dequantize", want: "no kernel for the fused ops"},
		{op: "_QuantizedMatMul", steps: "BiasAdd Add Requantize", want: "no kernel for the fused ops"},
		{op: "_QuantizedMatMul", steps: "BiasAdd Requantize Dequantize", want: "no kernel for the fused ops"},
		{op: "_QuantizedMatMul", steps: "BiasAdd Swish Dequantize", want: "no kernel for the fused ops"},
		{op: "_QuantizedMatMul", steps: "BiasAdd", want: "with Tout = float32"},
		{op: "_QuantizedMatMul", steps: "BiasAdd", types: map[string]tensor.DType{"Tout": q32, "Tbias": bf16}, attrs: []graph.Attr{graph.String("input_quant_mode", "MIN_FIRST")}, want: "with Tbias = bfloat16"},
		{op: "_QuantizedMatMul", steps: "BiasAdd Dequantize", attrs: []graph.Attr{graph.Bool("transpose_a", true)}, want: "transpose_a"},
		{op: "_QuantizedMatMul", steps: "BiasAdd Add Dequantize", types: map[string]tensor.DType{"Tout": bf16}, want: "with Tout = bfloat16"},
		{op: "_FusedQuantizedConv2D", steps: "Sum", types: map[string]tensor.DType{"out_type": q32, "Tsummand": f32}, want: "no kernel for the fused ops [Sum]"},
		{op: "_FusedQuantizedConv2D", steps: "BiasAdd LeakyRelu Requantize", types: map[string]tensor.DType{"out_type": u8, "Tsummand": u8}, want: "no kernel for the fused ops"},
		{op: "_FusedQuantizedConv2D", steps: "BiasAdd", types: map[string]tensor.DType{"out_type": u8, "Tsummand": u8}, want: "with out_type = quint8"},
		{op: "_FusedQuantizedConv2D", steps: "BiasAdd Requantize", types: map[string]tensor.DType{"out_type": q32, "Tsummand": q32}, want: "with out_type = qint32"},
		{op: "_FusedQuantizedConv2D", steps: "BiasAdd Requantize", types: map[string]tensor.DType{"out_type": q8, "Tsummand": u8}, want: "with Tsummand = quint8"},
		{op: "_FusedQuantizedDepthwiseConv2D", steps: "BiasAdd Sum Relu Requantize", types: map[string]tensor.DType{"out_type": q8, "Tsummand": q8}, want: "with out_type = qint8"},
		{op: "_FusedQuantizedDepthwiseConv2D", steps: "BiasAdd Sum Relu", types: map[string]tensor.DType{"out_type": q32, "Tsummand": q32}, want: "with Tsummand = qint32"},
	} {
		t.Run(c.op+" "+c.steps, func(t *testing.T) {
			a, b := tensor.Must(tensor.Zeros(u8, 2, 3)), tensor.Must(tensor.Zeros(q8, 3, 2))
			attrs := append(list(c.steps), c.attrs...)
			if c.op != "_QuantizedMatMul" {
				a, b = tensor.Must(tensor.Zeros(u8, 1, 2, 2, 1)), tensor.Must(tensor.Zeros(q8, 1, 1, 1, 1))
				attrs = append(attrs, graph.Ints("strides", 1, 1, 1, 1), graph.String("padding", "SAME"), graph.Type("Tinput", u8), graph.Type("Tfilter", q8))
			} else {
				attrs = append(attrs, graph.Type("T1", u8), graph.Type("T2", q8))
			}
			outputs := 3
			for name, d := range c.types {
				attrs = append(attrs, graph.Type(name, d))
				if name == "Tout" && d.IsFloating() {
					outputs = 1
				}
			}
			in := []ops.Input{a, b}
			types := []tensor.DType{u8, q8}
			if strings.Contains(c.steps, "BiasAdd") {
				bias := tensor.Must(tensor.Zeros(f32, b.Shape()[len(b.Shape())-1]))
				in, types = append(in, bias), append(types, f32)
			}
			for range 6 {
				in = append(in, scalar(1))
			}
			attrs = append(attrs, graph.Types("Tdevice_inputs", types...), graph.Types("Thost_inputs", f32, f32, f32, f32, f32, f32),
				graph.Types("Tdevice_outputs", q32), graph.Types("Thost_outputs", []tensor.DType{f32, f32}[:outputs-1]...))
			s := function.Eager(context.Background())
			s.Emit(c.op, attrs, in...)
			if err := s.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}
