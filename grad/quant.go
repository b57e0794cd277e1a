package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// quantRules are the rules of rounding to levels. As in TensorFlow, the gradient
// passes where the input is in the range, or, by the rule straight, everywhere.
var quantRules = map[string]Rule{
	"FakeQuantWithMinMaxArgs": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("FakeQuantWithMinMaxArgsGradient", op.Attrs(), op.Grad(0), op.In(0)))
	},
	"FakeQuantWithMinMaxVars":           byRange("FakeQuantWithMinMaxVarsGradient", "num_bits", "narrow_range"),
	"FakeQuantWithMinMaxVarsPerChannel": byRange("FakeQuantWithMinMaxVarsPerChannelGradient", "num_bits", "narrow_range"),
	"QuantizeAndDequantizeV4":           byRange("QuantizeAndDequantizeV4Grad", "axis"),

	"QuantizeAndDequantize":   straight,
	"QuantizeAndDequantizeV2": straight,
	"QuantizeAndDequantizeV3": straight,

	"FakeQuantWithMinMaxArgsGradient":           none,
	"FakeQuantWithMinMaxVarsGradient":           none,
	"FakeQuantWithMinMaxVarsPerChannelGradient": none,
	"QuantizeAndDequantizeV4Grad":               straight,
}

// straight hands the gradient on to the first input, as if the op were the
// identity.
func straight(_ *ops.Scope, op *Op) { op.Give(0, op.Grad(0)) }

// byRange returns the rule of an op whose inputs are the values and the two ends
// of the range. The op called name computes the gradient; it takes the attributes
// in attrs.
func byRange(name string, attrs ...string) Rule {
	return func(s *ops.Scope, op *Op) {
		var as graph.Attrs
		for _, a := range attrs {
			if v, ok := op.Attrs().Lookup(a); ok {
				as = append(as, v)
			}
		}
		for i, d := range s.EmitN(3, name, as, op.Grad(0), op.In(0), op.In(1), op.In(2)) {
			op.Give(i, d)
		}
	}
}
