package grad

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// WithLibrary returns the set with the gradients that a graph's library holds:
// those of functions (GradientDef, TensorFlow 1's) and those that nodes name in
// their attribute _gradient_op_type (RegisteredGradient, TensorFlow 2's custom
// gradients). A rule of the set goes before one of the library. [Library] makes the
// gradients that are saved.
func (r *Rules) WithLibrary(lib *graph.Library) *Rules {
	next := &Rules{byOp: map[string]Rule{}, ofFunction: map[*graph.Function]*graph.Function{}, captures: map[string][]graph.Output{}}
	if lib != nil {
		for _, g := range lib.Registered {
			next.byOp[g.Type] = registeredRule(g)
			next.captures[g.Type] = g.Captures
		}
		for _, g := range lib.Gradients {
			if g.Function.Function != nil && g.Gradient.Function != nil {
				next.ofFunction[g.Function.Function] = g.Gradient.Function
			}
		}
	}
	if r != nil {
		maps.Copy(next.byOp, r.byOp)
		maps.Copy(next.ofFunction, r.ofFunction)
		maps.Copy(next.captures, r.captures)
	}
	return next
}

// registeredRule returns the rule of a custom gradient that was saved as a function. Its
// arguments are the gradients with regard to the node's outputs, and then the captures.
func registeredRule(g graph.RegisteredGradient) Rule {
	return func(s *ops.Scope, op *Op) {
		f := g.Gradient.Function
		if f == nil {
			s.Fail(op.Name(), fmt.Errorf("the gradient %s is the function %s, which the library lacks", g.Type, g.Gradient.FuncName()))
			return
		}
		if n := len(f.Args) - op.NumOut(); n != len(g.Captures) {
			s.Fail(op.Name(), fmt.Errorf("the gradient %s takes %d values of the traced function in addition to the %d gradients, of which %d are known; "+
				"grad.Rules.With adds a rule of that name", g.Type, n, op.NumOut(), len(g.Captures)))
			return
		}
		in := make([]ops.Input, op.NumOut(), len(f.Args))
		for i := range in {
			if isHandle(op.Out(i)) {
				in[i] = op.Out(i) // its elements have no gradient
			} else {
				in[i] = op.GradOrZero(i)
			}
		}
		for _, x := range g.Captures {
			v := op.values[original(x)]
			if v == nil {
				s.Fail(op.Name(), fmt.Errorf("the gradient %s takes the value %s:%d of a function that doesn't call that of its node; "+
					"grad.Rules.With adds a rule of that name", g.Type, x.Node.Name, x.Index))
				return
			}
			in = append(in, v)
		}
		giveResults(s, op, f, in, g.Gives)
	}
}

// giveResults calls a function whose results are gradients. gives has the number of the
// op's input for each result. nil means the last inputs.
func giveResults(s *ops.Scope, op *Op, f *graph.Function, in []ops.Input, gives []int) {
	facts := f.ResultFacts()
	if gives == nil {
		for i := range facts {
			gives = append(gives, op.NumIn()-len(facts)+i)
		}
	}
	if len(gives) != len(facts) || len(facts) > op.NumIn() || slices.ContainsFunc(gives, func(i int) bool { return i < 0 || i >= op.NumIn() }) {
		s.Fail(op.Name(), fmt.Errorf("its gradient %s has %d results for %d inputs", f.Name, len(facts), op.NumIn()))
		return
	}
	name, attrs := "PartitionedCall", graph.Attrs{graph.Func("f", f)}
	if f.Stateful() {
		name = "StatefulPartitionedCall"
	}
	attrs = attrs.Set(graph.Types("Tout", typesOf(facts)...))
	for i, dx := range s.EmitN(len(facts), name, attrs, in...) {
		op.Give(gives[i], dx)
	}
}

// givenGradient is the derivative of a call of a function whose gradient the
// library holds: a function of its arguments and of the gradients with regard to
// its results.
type givenGradient struct{ f *graph.Function }

// rewrite implements derivative.
func (givenGradient) rewrite(_ *ops.Scope, _ string, attrs graph.Attrs, _ []*ops.Value) (graph.Attrs, []*ops.Value) {
	return attrs, nil
}

// apply implements derivative.
func (g givenGradient) apply(s *ops.Scope, op *Op) {
	var in []ops.Input
	for i := range op.NumIn() {
		in = append(in, op.In(i))
	}
	for i := range op.NumOut() {
		in = append(in, op.GradOrZero(i))
	}
	giveResults(s, op, g.f, in, nil)
}

func typesOf(facts []graph.Fact) []tensor.DType {
	types := make([]tensor.DType, len(facts))
	for i, f := range facts {
		types[i] = f.DType
	}
	return types
}
