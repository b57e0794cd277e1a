package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// controlRules returns the rules of ops that call functions, and of TensorFlow 1's control flow.
func controlRules() map[string]Rule {
	return join(
		rules(nothing, "SymbolicGradient", "Abort", "For"),
		rules(scalarOut, "DeviceIndex"),
		rules(placeholder, "FakeParam"),
		rules(nothing, "_Arg", "_Retval", "_DeviceArg", "_DeviceRetval"),
		rules(pass, "Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration", "LoopCond"),
		rules(branches, "If", "StatelessIf", "Case", "StatelessCase"),
		rules(while, "While", "StatelessWhile"),
		rules(call, "PartitionedCall", "StatefulPartitionedCall", "TPUPartitionedCall"),
		map[string]Rule{
			"Switch": switchRule, "RefSwitch": switchRule, "Merge": merge, "RefMerge": merge, "RefSelect": nothing,
		})
}

// setFact sets all properties of output i.
func (c *Inference) setFact(i int, f graph.Fact) {
	if i >= len(c.Out) {
		return
	}
	o := &c.Out[i]
	o.Shape, o.Value, o.Elems, o.Handle = f.Shape.Identified(), f.Value, f.Elems, f.Handle
	if o.DType == tensor.Invalid {
		o.DType = f.DType
	}
}

// setFacts sets the facts of the outputs. It merges each shape with that in the
// attribute output_shapes. A shape there that contradicts the inferred one is
// ignored, because the attribute is only a note.
func (c *Inference) setFacts(facts []graph.Fact) {
	noted := c.Attrs.Shapes("output_shapes")
	for i := range c.Out {
		var f graph.Fact
		if i < len(facts) {
			f = facts[i]
		}
		if i < len(noted) {
			if s, err := f.Shape.Merge(noted[i]); err == nil {
				f.Shape = s
			}
		}
		c.setFact(i, f)
	}
}

// switchRule sets both outputs to the input.
func switchRule(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	c.pass(0, 0)
	c.pass(1, 0)
	return c.scalar(1)
}

// merge sets output 0 to the facts that all inputs have in common. Output 1, the
// index of the input that exists, is a scalar.
func merge(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	f := c.In[0]
	for _, o := range c.In[1:] {
		f = f.Relax(o)
	}
	c.setFact(0, f)
	c.setDims(1)
	return nil
}

func call(c *Inference) error {
	f, ok := c.Attrs.Func("f")
	if !ok {
		return fmt.Errorf("needs the attribute f")
	}
	if c.Call == nil {
		return nil
	}
	out, err := c.results(f, c.In)
	if err != nil {
		return err
	}
	c.setFacts(out)
	return nil
}

// results returns the results of a function for as many outputs as the op has.
func (c *Inference) results(f graph.Callee, args []graph.Fact) ([]graph.Fact, error) {
	out, err := c.Call(f, args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.FuncName(), err)
	}
	if len(out) != len(c.Out) {
		return nil, fmt.Errorf("the function %s has %d results, the op %d outputs", f.FuncName(), len(out), len(c.Out))
	}
	return out, nil
}

// branches infers the outputs of If and Case: the facts that all branches that
// may run have in common.
func branches(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	list := c.Attrs.Funcs("branches")
	if c.Op == "If" || c.Op == "StatelessIf" {
		then, ok := c.Attrs.Func("then_branch")
		other, ook := c.Attrs.Func("else_branch")
		if !ok || !ook {
			return fmt.Errorf("needs the attributes then_branch and else_branch")
		}
		list = []graph.Callee{then, other}
	}
	if len(list) == 0 {
		return fmt.Errorf("needs at least one branch")
	}
	if c.Call == nil {
		c.setFacts(nil)
		return nil
	}
	if i, ok := c.taken(len(list)); ok {
		list = list[i : i+1]
	}
	var common []graph.Fact
	var first error
	for _, f := range list {
		out, err := c.results(f, c.In[1:])
		switch {
		case err != nil:
			// It can't run with these inputs, so another branch computes the
			// outputs.
			if first == nil {
				first = err
			}
		case common == nil:
			common = out
			if common == nil {
				common = []graph.Fact{}
			}
		default:
			next := make([]graph.Fact, len(out))
			for i := range out {
				next[i] = common[i].Relax(out[i])
			}
			common = next
		}
	}
	if common == nil {
		return first
	}
	c.setFacts(common)
	return nil
}

// taken returns the branch of n that input 0 selects, if that is known.
func (c *Inference) taken(n int) (int, bool) {
	if c.Op == "Case" || c.Op == "StatelessCase" {
		i, ok := c.In[0].Int()
		if ok && (i < 0 || i >= int64(n)) {
			i = int64(n - 1)
		}
		return int(i), ok
	}
	v := c.In[0].Value
	if v == nil || v.DType() != tensor.Bool || len(v.Shape()) != 0 {
		return 0, false
	}
	if tensor.Values[bool](v)[0] {
		return 0, true
	}
	return 1, true
}

// rounds bounds the inferences of a loop's body. After that, facts that still
// change are unknown. After twice as many rounds, all facts are.
const rounds = 8

// while infers the outputs of loops: the facts of the variables that hold
// before the first and after every round.
func while(c *Inference) error {
	body, ok := c.Attrs.Func("body")
	if !ok {
		return fmt.Errorf("needs the attribute body")
	}
	if len(c.Out) != len(c.In) {
		return fmt.Errorf("a loop of %d inputs has %d outputs", len(c.In), len(c.Out))
	}
	if c.Call == nil {
		c.setFacts(nil)
		return nil
	}
	vars := make([]graph.Fact, len(c.In))
	for i, f := range c.In {
		f.Ref = false
		vars[i] = f
	}
	for round := 0; ; round++ {
		out, err := c.results(body, vars)
		if err != nil {
			return err
		}
		next := make([]graph.Fact, len(vars))
		for i, f := range vars {
			next[i] = f.Relax(out[i])
			next[i].DType = f.DType
			if round >= rounds && !graph.Alike(vars[i:i+1], next[i:i+1]) || round >= 2*rounds {
				next[i] = graph.Fact{DType: f.DType}
			}
		}
		if graph.Alike(vars, next) || round >= 2*rounds {
			c.setFacts(next)
			return nil
		}
		vars = next
	}
}
