package grad

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// Custom is a function with a custom gradient, like TensorFlow's
// tf.custom_gradient. In a trace its results pass through a node IdentityN
// whose attribute _gradient_op_type names the gradient; TensorFlow also finds
// it there.
type Custom struct {
	name     string
	forward  func(s *ops.Scope, x []*ops.Value) []*ops.Value
	backward func(s *ops.Scope, x, y, dy []*ops.Value) []*ops.Value
}

// customs are all [Custom] by name. They are kept for good: a function that was
// traced with one names it, and may be differentiated at any time.
var customs struct {
	sync.Map
	count atomic.Int64
}

// NewCustom makes a function of values whose gradient is backward. backward receives the
// arguments and results of forward, and the gradients with regard to the results. It returns
// those with regard to each of x, nil for none. If it is differentiated again, the results of
// forward have the gradient of forward's ops, as in TensorFlow. Both must compute from their
// arguments alone: a variable that forward uses has to be one of them.
//
// Traced functions contain the name; an empty one is replaced by a generated one. A second
// Custom of the same name panics. A Custom is kept as long as the program runs; make it once,
// not in each step.
func NewCustom(name string, forward func(s *ops.Scope, x []*ops.Value) []*ops.Value, backward func(s *ops.Scope, x, y, dy []*ops.Value) []*ops.Value) *Custom {
	if name == "" {
		name = fmt.Sprintf("CustomGradient-%d", customs.count.Add(1))
	}
	c := &Custom{name: name, forward: forward, backward: backward}
	if _, taken := customs.LoadOrStore(name, c); taken {
		panic("grad: there is a custom gradient " + name + " already")
	}
	return c
}

// Name returns the name of the gradient in traced functions.
func (c *Custom) Name() string { return c.name }

const (
	// gradientType is the attribute that names a node's gradient.
	gradientType = "_gradient_op_type"
	// resultCount is the attribute with the number of inputs of a [Custom]'s node
	// that are results. TensorFlow has that in its closure and reads no attribute.
	resultCount = "_custom_gradient_results"
)

// Call returns the function's results for x.
func (c *Custom) Call(s *ops.Scope, x ...ops.Input) []*ops.Value {
	in := make([]*ops.Value, len(x))
	for i, v := range x {
		in[i] = ops.Const(s, v)
	}
	if s.Err() != nil {
		return nil
	}
	watch := &foreignVariables{given: in, name: c.name}
	inner := s.WithRecorder(watch)
	y := c.forward(inner, in)
	s.EndRecording(watch)
	if s.Err() != nil {
		return nil
	}
	all := make([]ops.Input, 0, len(y)+len(in))
	for i, v := range y {
		if v == nil {
			s.Fail(c.name, fmt.Errorf("result %d is nil", i))
			return nil
		}
		all = append(all, v)
	}
	for _, v := range in {
		all = append(all, v)
	}
	if len(all) == 0 {
		return nil
	}
	return s.EmitN(len(all), "IdentityN", graph.Attrs{graph.String(gradientType, c.name), graph.Int(resultCount, int64(len(y)))}, all...)[:len(y)]
}

// rule computes the gradient as the rule of the IdentityN, whose inputs are the
// results and then the arguments.
func (c *Custom) rule(s *ops.Scope, op *Op) {
	n, k := op.NumIn(), int(op.Attrs().Int(resultCount, -1))
	if k < 0 || k > n {
		s.Fail(c.name, fmt.Errorf("the node doesn't say in %s how many of its %d inputs are results", resultCount, n))
		return
	}
	x, y, dy := make([]*ops.Value, n-k), make([]*ops.Value, k), make([]*ops.Value, k)
	for i := range y {
		y[i], dy[i] = op.In(i), op.GradOrZero(i)
	}
	for i := range x {
		x[i] = op.In(k + i)
	}
	dx := c.backward(s, x, y, dy)
	if s.Err() != nil {
		return
	}
	if len(dx) != len(x) {
		s.Fail(c.name, fmt.Errorf("the gradient has %d results for %d arguments", len(dx), len(x)))
		return
	}
	for i, d := range dx {
		op.Give(k+i, d)
	}
}

// foreignVariables refuses trainable variables that a function uses although
// they aren't among its arguments. Their gradients would silently be missing.
type foreignVariables struct {
	given []*ops.Value
	name  string
}

// Tracks implements [ops.Recorder].
func (f *foreignVariables) Tracks(in []*ops.Value) bool { return slices.ContainsFunc(in, f.foreign) }

func (f *foreignVariables) foreign(v *ops.Value) bool {
	x := v.Variable()
	return x != nil && x.Trainable() && !slices.ContainsFunc(f.given, func(g *ops.Value) bool { return g.Variable() == x })
}

// Record implements [ops.Recorder].
func (f *foreignVariables) Record(_ string, _ graph.Attrs, in, _ []*ops.Value) error {
	x := in[slices.IndexFunc(in, f.foreign)].Variable()
	return fmt.Errorf("the function of %s uses the variable %q, which would get no gradient; pass it to Call as an argument", f.name, x.Name())
}

// Unrecorded implements [ops.Recorder].
func (f *foreignVariables) Unrecorded(string, []*ops.Value, []*ops.Value) {}

// ruleOf returns the rule of a node: the one that it names in an attribute, as
// TensorFlow's custom gradients and gradient_override_map do, else its op's. A
// call whose rule isn't known by that name is differentiated as any other:
// TensorFlow names the gradients of all of them.
func (r *Rules) ruleOf(op string, attrs graph.Attrs) (Rule, error) {
	name := attrs.String(gradientType, "")
	if name != "" {
		if rule := r.named(name); rule != nil {
			return rule, nil
		}
		if functionRules[op] == nil {
			return nil, fmt.Errorf("the node's gradient is %s, which isn't known; grad.Rules.With adds a rule of that name, "+
				"Rules.WithLibrary those that a graph's library holds", name)
		}
	}
	if rule := r.Lookup(op); rule != nil {
		return rule, nil
	}
	return nil, r.missing(op)
}

// named returns the rule of a gradient's name, or nil.
func (r *Rules) named(name string) Rule {
	if name == "" {
		return nil
	}
	if rule := r.Lookup(name); rule != nil {
		return rule
	}
	if c, ok := customs.Load(name); ok {
		return c.(*Custom).rule
	}
	return nil
}
