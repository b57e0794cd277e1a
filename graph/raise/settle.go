package raise

import "github.com/cairnml/cairn/graph"

// settle replaces each Switch that only runs when its predicate is known by an
// Identity of its input. TensorFlow's gradients of loops in a branch of a
// conditional contain such nodes: the loop evaluates the predicate again in
// every round, and no Merge joins the two sides.
func (r *raiser) settle() {
	c := r.newConder()
	c.raiser = &raiser{g: r.g, out: map[graph.Output]graph.Output{}, nodes: map[*graph.Node]*graph.Node{}}
	for _, n := range c.order {
		switch {
		case kindOf(n.Op) == "Merge" && len(n.In) == 2 && kindOf(n.In[1].Node.Op) == "NextIteration":
			c.guards[n] = c.output(n.In[0])
		case kindOf(n.Op) == "Exit" && len(n.In) == 1 && kindOf(n.In[0].Node.Op) == "Switch":
			// After the loop its condition is unknown.
			turn := n.In[0].Node
			c.guards[n] = c.guards[turn].without(c.pred(turn))
		default:
			c.visit(n)
		}
		if n.Op != "Switch" || len(n.In) != 2 {
			continue
		}
		pred := c.pred(n)
		on, known := c.guards[n].find(pred)
		if !known || pred.Node.Op == "LoopCond" {
			continue
		}
		side := 0
		if on {
			side = 1
		}
		same := &graph.Node{
			Name: r.g.UniqueName(n.Name + "/known"), Op: "Identity", Def: graph.LookupOp("Identity"), In: []graph.Output{n.In[0]}, Control: n.Control,
			Attrs: graph.Attrs{graph.Type("T", n.Output(0).Fact().DType)}, Out: []graph.Fact{{DType: n.Output(0).Fact().DType}},
		}
		if r.g.Add(same) == nil {
			r.out[n.Output(side)] = same.Output(0)
		}
	}
}
