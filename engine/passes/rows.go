package passes

import (
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// RowsOp is the op that the pass "rows" makes of products with weights and of
// layer normalizations that follow each other. Each row of a result depends on
// the same row of earlier results alone, so a core can execute all steps on
// some rows while these are in its cache.
//
// Its attributes are lists over the steps, each of them a _FusedMatMul or a
// [LayerNormOp]: steps, fused_ops joined by commas, transposed, alphas and
// epsilons. operands has the operands of all steps and counts the number for
// each: the index of an input or, from the number of inputs on, of an earlier
// step. results lists the steps whose results are the outputs, and shapes has
// their shapes.
const RowsOp = "_Rows"

const (
	minRows = 32 // fewer rows are not worth it
	// minColumns is how many columns weights have at least: narrower ones take a multiple of
	// their memory in packed form, which isn't kept then.
	minColumns = 16
	// maxRowSteps bounds the searches for groups that a node is computed from. Nodes after it
	// stay as they are.
	maxRowSteps = 1 << 20
)

// fuseRows makes one op of each group of at least two ops that go over the same rows.
func fuseRows(u *Unit) error {
	r, err := newRewriter(u)
	if err != nil || !r.has(RowsOp) {
		return err
	}
	g := rowGroups{rewriter: r, left: maxRowSteps, of: map[*graph.Node]int{}, dependsOn: map[*graph.Node]map[int]bool{}, over: map[rowsKey]int{}, replaced: map[graph.Output]graph.Output{}}
	for _, n := range r.nodes {
		if g.left < 0 {
			break
		}
		g.place(n)
	}
	for _, group := range g.groups {
		if len(group.steps) > 1 {
			if err := g.fuse(group); err != nil {
				return err
			}
		}
	}
	rewire(r.Function, g.replaced)
	return r.finish()
}

// rowGroup is some steps over the same rows, in order.
type rowGroup struct {
	rows      int
	steps     []*graph.Node
	dependsOn map[int]bool // the groups whose results its inputs are computed from
}

// rowGroups finds the groups.
type rowGroups struct {
	*rewriter
	groups    []*rowGroup
	of        map[*graph.Node]int          // the group of a step
	dependsOn map[*graph.Node]map[int]bool // the groups that any other node is computed from
	over      map[rowsKey]int              // the last group that goes over a value
	left      int                          // the rest of maxRowSteps
	replaced  map[graph.Output]graph.Output
}

// rowsKey is a value, without the Reshapes that keep its rows, and a number of rows.
type rowsKey struct {
	value graph.Output
	rows  int
}

// rowsOf returns the number of a value's rows, the product of all its sizes but the last, and their
// width. An unknown number is 0.
func rowsOf(f graph.Fact) (rows, width int) {
	dims, known := f.Shape.Tensor()
	if !known || len(dims) == 0 || f.DType != tensor.Float32 || f.Ref {
		return 0, 0
	}
	if rows = count(dims[:len(dims)-1]); rows < 0 {
		return 0, 0
	}
	return rows, dims[len(dims)-1]
}

// sameRows returns the value before the Reshapes of o that keep its rows.
func (g *rowGroups) sameRows(o graph.Output) graph.Output {
	rows, width := rowsOf(o.Fact())
	for o.Node.Op == "Reshape" && !g.pinned[o.Node] {
		if m, w := rowsOf(o.Node.In[0].Fact()); m != rows || w != width {
			break
		}
		o = o.Node.In[0]
	}
	return o
}

// step returns how many rows n goes over and which of its inputs have these; 0 where n is
// no step.
func (g *rowGroups) step(n *graph.Node) (rows int, over []int) {
	if len(n.Out) != 1 || g.pinned[n] || g.invariant(n.Output(0)) {
		return 0, nil
	}
	rows, width := rowsOf(n.Out[0])
	if rows < minRows || width < 1 {
		return 0, nil
	}
	over = []int{0}
	switch n.Op {
	case LayerNormOp:
	case "MatMul", "_FusedMatMul":
		if n.Attrs.Bool("transpose_a") || !g.invariant(n.In[1]) || width < minColumns {
			return 0, nil
		}
		if k, ok := n.In[1].Fact().Shape.NumElements(); !ok || k == 0 {
			return 0, nil
		}
		for i, op := range slices.DeleteFunc(slices.Clone(n.Attrs.Strings("fused_ops")), func(op string) bool { return op != "BiasAdd" && op != "Add" }) {
			if op == "Add" {
				over = append(over, 2+i)
			}
		}
	default:
		return 0, nil
	}
	for _, i := range over {
		if m, w := rowsOf(n.In[i].Fact()); m != rows || w < 1 {
			return 0, nil
		}
	}
	return rows, over
}

// place puts n into a group, or notes which groups it is computed from.
func (g *rowGroups) place(n *graph.Node) {
	rows, over := g.step(n)
	if rows > 0 {
		in := -1
		for _, i := range over {
			if k, ok := g.of[g.sameRows(n.In[i]).Node]; ok && k > in && g.groups[k].rows == rows {
				in = k
			}
		}
		if in < 0 {
			// Products of one value go over it together.
			if k, ok := g.over[rowsKey{g.sameRows(n.In[0]), rows}]; ok {
				in = k
			}
		}
		if in >= 0 && g.join(n, over, in) {
			return
		}
		g.groups = append(g.groups, &rowGroup{rows: rows, dependsOn: map[int]bool{}})
		g.join(n, over, len(g.groups)-1)
		g.over[rowsKey{g.sameRows(n.In[0]), rows}] = len(g.groups) - 1
		return
	}
	from := map[int]bool{}
	for _, o := range n.In {
		g.add(from, o.Node)
	}
	for _, c := range n.Control {
		g.add(from, c)
	}
	if len(from) > 0 {
		g.dependsOn[n] = from
	}
}

// add adds the groups that n's results are computed from.
func (g *rowGroups) add(from map[int]bool, n *graph.Node) {
	g.left -= len(g.dependsOn[n])
	if k, ok := g.of[n]; ok {
		from[k] = true
	}
	for k := range g.dependsOn[n] {
		from[k] = true
	}
}

// join makes n a step of group k, unless n depends on the group's results in
// another way than row by row.
func (g *rowGroups) join(n *graph.Node, over []int, k int) bool {
	from := map[int]bool{}
	for i, o := range n.In {
		if at, ok := g.of[g.sameRows(o).Node]; ok && at == k && slices.Contains(over, i) {
			continue
		}
		g.add(from, o.Node)
	}
	seen := map[int]bool{}
	for other := range from {
		if g.reaches(other, k, seen) {
			return false
		}
	}
	for other := range from {
		g.groups[k].dependsOn[other] = true
	}
	g.groups[k].steps = append(g.groups[k].steps, n)
	g.of[n] = k
	return true
}

// reaches reports whether group k is computed from group to, or is it.
func (g *rowGroups) reaches(k, to int, seen map[int]bool) bool {
	if k == to {
		return true
	}
	if seen[k] {
		return false
	}
	seen[k] = true
	g.left -= len(g.groups[k].dependsOn)
	for other := range g.groups[k].dependsOn {
		if g.reaches(other, to, seen) {
			return true
		}
	}
	return false
}

// seen reports whether anything but steps of group k takes o, or o under another shape.
func (g *rowGroups) seen(o graph.Output, k int) bool {
	if g.results[o] {
		return true
	}
	for _, n := range g.users[o] {
		if at, ok := g.of[n]; ok && at == k {
			continue
		}
		if n.Op == "Reshape" && n.In[0] == o && g.sameRows(n.Output(0)) != n.Output(0) && !g.seen(n.Output(0), k) {
			continue
		}
		return true
	}
	return false
}

// fuse adds one node for the steps of a group, whose outputs replace the results
// that other nodes use.
func (g *rowGroups) fuse(group *rowGroup) error {
	var in []graph.Output
	var rows, vectors = map[graph.Output]int{}, map[graph.Output]int{}
	input := func(o graph.Output, place map[graph.Output]int) {
		if _, ok := place[o]; !ok {
			place[o] = len(in)
			in = append(in, o)
		}
	}
	k := g.of[group.steps[0]]
	own := func(o graph.Output) bool { at, ok := g.of[o.Node]; return ok && at == k }
	for _, n := range group.steps {
		_, over := g.step(n)
		for i, o := range n.In {
			if !slices.Contains(over, i) {
				input(o, vectors)
			} else if o = g.sameRows(o); !own(o) {
				input(o, rows)
			}
		}
	}
	var steps, fused []string
	var operands, counts, results []int64
	var transposed []bool
	var alphas, epsilons []float64
	var shapes []graph.PartialShape
	var outputs []*graph.Node
	for s, n := range group.steps {
		_, over := g.step(n)
		for i, o := range n.In {
			if !slices.Contains(over, i) {
				operands = append(operands, int64(vectors[o]))
			} else {
				operands = append(operands, int64(rows[g.sameRows(o)]))
			}
		}
		op := n.Op
		if op == "MatMul" {
			op = "_FusedMatMul"
		}
		steps, counts = append(steps, op), append(counts, int64(len(n.In)))
		fused = append(fused, strings.Join(n.Attrs.Strings("fused_ops"), ","))
		transposed = append(transposed, n.Attrs.Bool("transpose_b"))
		alphas, epsilons = append(alphas, n.Attrs.Float("leakyrelu_alpha", 0.2)), append(epsilons, n.Attrs.Float("epsilon", 0))
		if g.seen(n.Output(0), k) {
			results, shapes, outputs = append(results, int64(s)), append(shapes, n.Out[0].Shape), append(outputs, n)
		}
		rows[n.Output(0)] = len(in) + s
	}
	m, err := g.rewriter.add(group.steps[len(group.steps)-1], RowsOp, graph.Attrs{
		graph.Int("N", int64(len(in))), graph.Int("M", int64(len(outputs))), graph.Strings("steps", steps...), graph.Strings("fused_ops", fused...), graph.Bools("transposed", transposed...),
		graph.Floats("alphas", alphas...), graph.Floats("epsilons", epsilons...), graph.Ints("operands", operands...), graph.Ints("counts", counts...),
		graph.Ints("results", results...), graph.Shapes("shapes", shapes...),
	}, in...)
	if err != nil {
		return err
	}
	for i, n := range outputs {
		g.replaced[n.Output(0)] = m.Output(i)
	}
	return nil
}
