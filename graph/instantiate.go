package graph

import "fmt"

// CallOp is the op that replaces an op with the name of a library function.
const CallOp = "PartitionedCall"

// StatefulCallOp is [CallOp] for functions with effects.
const StatefulCallOp = "StatefulPartitionedCall"

// Instantiate sets the function's attributes: it replaces every placeholder in
// the attributes of its nodes. A node whose op is the name of a library
// function becomes a call of that function. A placeholder without a value is an
// error.
func (fn *Function) Instantiate(attrs Attrs) error {
	for _, n := range fn.Graph.nodes {
		if err := n.substitute(attrs); err != nil {
			return fmt.Errorf("node %q of function %s: %w", n.Name, fn.Name, err)
		}
		if f := fn.Graph.Library.Lookup(n.Op); f != nil {
			n.becomeCall(f)
		}
	}
	return nil
}

func (n *Node) substitute(values Attrs) error {
	copied := false
	for i, a := range n.Attrs {
		v, changed, err := a.substituted(values)
		if err != nil {
			return err
		}
		if !changed {
			continue
		}
		if !copied {
			n.Attrs, copied = append(Attrs(nil), n.Attrs...), true
		}
		n.Attrs[i] = v
	}
	return nil
}

// substituted returns the attribute with the values of placeholders, those in
// the attributes of functions included.
func (a Attr) substituted(values Attrs) (Attr, bool, error) {
	switch v := a.value.(type) {
	case Callee:
		c, changed, err := v.substituted(values)
		a.value = c
		return a, changed, err
	case []Callee:
		out, changed := make([]Callee, len(v)), false
		for i := range v {
			c, ch, err := v[i].substituted(values)
			if err != nil {
				return a, false, err
			}
			out[i], changed = c, changed || ch
		}
		if changed {
			a.value = out
		}
		return a, changed, nil
	}
	if a.Kind != AttrPlaceholder {
		return a, false, nil
	}
	v, ok := values.Lookup(a.str)
	if !ok {
		return a, false, fmt.Errorf("attribute %s refers to the function's attribute %s, which has no value", a.Name, a.str)
	}
	return v.Named(a.Name), true, nil
}

func (c Callee) substituted(values Attrs) (Callee, bool, error) {
	changed := false
	for i, a := range c.Attrs {
		v, ch, err := a.substituted(values)
		if err != nil {
			return c, false, err
		}
		if !ch {
			continue
		}
		if !changed {
			c.Attrs, changed = append(Attrs(nil), c.Attrs...), true
		}
		c.Attrs[i] = v
	}
	return c, changed, nil
}

// becomeCall makes a node that names a function as its op an explicit call.
func (n *Node) becomeCall(f *Function) {
	callee := Callee{Function: f, Attrs: n.Attrs}
	tin, tout := Attr{Name: "Tin", Kind: AttrTypes}, Attr{Name: "Tout", Kind: AttrTypes}
	in, out := ArgTypes(f.ArgFacts()), ArgTypes(f.ResultFacts())
	tin.value, tout.value = in, out
	n.Op, n.Def = CallOp, nil
	if n.graph.kept().Stateful(f) {
		n.Op = StatefulCallOp
	}
	n.Attrs = Attrs{tin, tout, Call("f", callee), String("config", ""), String("config_proto", ""), String("executor_type", "")}
	n.Out = f.ResultFacts()
}
