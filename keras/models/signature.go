package models

import (
	"strconv"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// sign traces the signature of the model: inputs and outputs by name, for inference. The names are
// those that tf_keras's default_save_signature gives: of the layers if the model knows them, else
// input_1 and output_1.
func (x *exporter) sign() error {
	c := x.calls[any(x.model)][0]
	inputs, outputs := make([]string, len(c.inputs)), []string(nil)
	for i := range inputs {
		inputs[i] = "input_" + strconv.Itoa(i+1)
	}
	switch m := x.model.(type) {
	case *keras.Functional:
		inputs, outputs = m.InputNames(), m.OutputNames()
	case *keras.Sequential:
		inputs[0] = m.InputName()
		if len(m.Layers) == 0 {
			break
		}
		if l, ok := m.Layers[len(m.Layers)-1].(base.LayerLike); ok {
			outputs = []string{l.AsLayer().Name}
		}
	}
	specs := map[string]*ops.Value{}
	for i, v := range specsOf(c.inputs) {
		specs[inputs[i]] = v
	}
	f := function.New(func(s *ops.Scope, in map[string]*ops.Value) map[string]*ops.Value {
		args := make([]*ops.Value, len(inputs))
		for i, name := range inputs {
			args[i] = in[name]
		}
		s = base.InterceptCalls(s, x.callShared(nil))
		out := map[string]*ops.Value{}
		for i, v := range base.CallAll(s, x.model, args, nil) {
			name := "output_" + strconv.Itoa(i+1)
			if i < len(outputs) {
				name = outputs[i]
			}
			out[name] = v
		}
		return out
	}, nil)
	var err error
	if x.signature, err = f.TraceContext(x.ctx, specs); err == nil {
		in := x.signature.In
		x.signature.Call = graph.TupleOf(graph.TupleOf(), in) // by name
		x.signature.In = graph.NamedOf("Inputs", in.Keys, in.Elems)
	}
	return err
}
