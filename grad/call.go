package grad

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// functionRules are the rules of ops that call functions.
var functionRules = map[string]Rule{
	"PartitionedCall":         gradCall,
	"StatefulPartitionedCall": gradCall,
	"If":                      gradCall,
	"StatelessIf":             gradCall,
	"Case":                    gradCall,
	"StatelessCase":           gradCall,
	"While":                   gradCall,
	"StatelessWhile":          gradCall,
}

// callees returns the functions that an op calls, and which input is the first
// argument.
func callees(op string, attrs graph.Attrs) (fs []*graph.Function, first int, err error) {
	var list []graph.Callee
	add := func(name string) {
		c, ok := attrs.Func(name)
		if !ok {
			err = fmt.Errorf("needs the attribute %s", name)
		}
		list = append(list, c)
	}
	switch op {
	case "PartitionedCall", "StatefulPartitionedCall":
		add("f")
	case "If", "StatelessIf":
		add("then_branch")
		add("else_branch")
		first = 1
	case "Case", "StatelessCase":
		list, first = attrs.Funcs("branches"), 1
	case "While", "StatelessWhile":
		add("cond")
		add("body")
	}
	if err != nil {
		return nil, 0, err
	}
	for _, c := range list {
		f := c.Function
		if f == nil {
			return nil, 0, fmt.Errorf("the function %s isn't known", c.FuncName())
		}
		if len(c.Attrs) > 0 {
			if f, err = f.Clone(); err != nil {
				return nil, 0, err
			}
			if err := f.Instantiate(c.Attrs); err != nil {
				return nil, 0, err
			}
		}
		fs = append(fs, f)
	}
	return fs, first, nil
}

// withFunctions returns the attributes of a call of other functions.
func withFunctions(op string, attrs graph.Attrs, fs []*graph.Function, out []tensor.DType) graph.Attrs {
	attrs = attrs.Without("output_shapes", "Tin").Set(graph.Types("Tout", out...))
	switch op {
	case "PartitionedCall", "StatefulPartitionedCall":
		return attrs.Set(graph.Func("f", fs[0]))
	case "If", "StatelessIf":
		return attrs.Set(graph.Func("then_branch", fs[0])).Set(graph.Func("else_branch", fs[1]))
	}
	branches := make([]graph.Callee, len(fs))
	for i, f := range fs {
		branches[i].Function = f
	}
	return attrs.Set(graph.Funcs("branches", branches...))
}

// Rewrite implements [ops.Rewriter]: the forward functions take the place of
// those that the op calls.
func (t *Tape) Rewrite(op string, attrs graph.Attrs, in []*ops.Value) (graph.Attrs, []*ops.Value, error) {
	t.pending = nil
	if t.rules.Lookup(op) == nil || t.rules.named(attrs.String(gradientType, "")) != nil {
		return attrs, nil, nil
	}
	fs, first, err := callees(op, attrs)
	if err != nil || len(fs) == 0 {
		return attrs, nil, err // the op itself reports the fault
	}
	if g := t.rules.given(fs[0]); g != nil && len(fs) == 1 {
		t.pending = givenGradient{g}
		return attrs, nil, nil
	}
	outer, outerValues := t.outerOf(fs)
	in = append(in[:len(in):len(in)], outerValues...)
	tracked := make([]bool, len(in)-first)
	facts := make([]graph.Fact, len(tracked))
	for i, v := range in[first:] {
		tracked[i] = t.slotOf(v) >= 0
		facts[i] = v.Fact()
	}
	d, err := t.derivativeOf(isLoop(op), fs, first, facts, tracked, outer)
	if err != nil {
		return nil, nil, fmt.Errorf("its gradient: %w", err)
	}
	t.pending = d
	attrs, more := d.rewrite(t.scope, op, attrs, in)
	return attrs, append(outerValues, more...), nil
}

func isLoop(op string) bool { return op == "While" || op == "StatelessWhile" }

// gradCall differentiates calls: the rule of all ops that call functions.
func gradCall(s *ops.Scope, op *Op) {
	if op.node.call == nil {
		s.Fail(op.Name(), errors.New("the call was recorded without its backward function"))
		return
	}
	op.node.call.apply(s, op)
}

// rewrite implements derivative.
func (p *pair) rewrite(_ *ops.Scope, op string, attrs graph.Attrs, _ []*ops.Value) (graph.Attrs, []*ops.Value) {
	return withFunctions(op, attrs, p.forward, p.results), nil
}

// apply implements derivative: it calls the backward function of the one that
// was called.
func (p *pair) apply(s *ops.Scope, op *Op) {
	if len(p.gives) == 0 {
		return
	}
	var in []ops.Input
	if p.first > 0 {
		in = append(in, op.In(0))
	}
	for _, i := range p.dys {
		in = append(in, op.GradOrZero(i))
	}
	for _, i := range p.uses {
		in = append(in, op.In(p.first+i))
	}
	for i := op.NumOut() - p.extras; i < op.NumOut(); i++ {
		in = append(in, op.Out(i))
	}
	stateful := false
	for _, f := range p.backward {
		stateful = stateful || f.Stateful()
	}
	name := variantOf(op.Name(), stateful)
	out := s.EmitN(len(p.given), name, withFunctions(name, nil, p.backward, p.given), in...)
	for k, i := range p.gives {
		if !p.sliced[k] {
			op.Give(p.first+i, out[0])
			out = out[1:]
			continue
		}
		slices := ops.IndexedSlices{Values: out[0], Indices: out[1], Shape: valueShape(s, op.In(p.first+i))}
		op.Give(p.first+i, slices.Value(s))
		out = out[2:]
	}
}

// variantOf returns the form of op that calls stateful functions, or the one
// that calls stateless ones.
func variantOf(op string, stateful bool) string {
	switch op {
	case "PartitionedCall", "StatefulPartitionedCall":
		if stateful {
			return "StatefulPartitionedCall"
		}
		return "PartitionedCall"
	case "If", "StatelessIf":
		if stateful {
			return "If"
		}
		return "StatelessIf"
	}
	if stateful {
		return "Case"
	}
	return "StatelessCase"
}
