package describe

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/raise"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/savedmodel"
)

// The rules by which nodes share a box, and the limits of boxes and of depth, are Cairn's and may change.
// Goldens of cmd/cairn have pictures, so they must be regenerated in the same commit.

// maxDrawn is the largest number of boxes, inputs included, at one depth of the scopes; with more, a
// smaller depth is tried. It may exceed render.MaxBoxes, because repeated parts are folded later.
const maxDrawn = 2000

// Network returns the computation of a signature, ready to be drawn: the
// layers, or name scopes, between its inputs and outputs, and the tensors that
// flow between them. An empty name means serving_default, or else the first
// signature. A GraphDef is drawn from its feeds to its fetches. The picture
// leaves out variables, constants, nodes that depend on them alone, and nodes
// that save and restore. If no node depends on an input, it shows all that the
// outputs need except variables and constants. It is empty if there are too many
// boxes at every depth of the scopes.
func (x *MetaGraph) Network(signature string) (*render.Network, error) {
	inputs, outputs, err := x.ends(signature)
	if err != nil {
		return nil, err
	}
	gr, err := x.meta.Graph()
	if err != nil {
		return nil, err
	}
	if raise.Needed(gr) {
		// Loops of TensorFlow 1 are cycles. A copy of the graph has loops and
		// branches as single nodes.
		if gr, err = modelInternals.DecodeGraph(x.meta, nil, nil); err != nil {
			return nil, err
		}
		raise.Graph(gr) // control flow that can't be raised stays, and may lead to a CycleError
	}
	w := &networkWalk{classes: map[string]string{}, alias: map[graph.Output]graph.Output{}}
	for _, l := range x.Layers {
		w.classes[l.Name] = l.Class
	}
	var feeds, fetches []graph.Output
	for _, t := range inputs {
		o, err := gr.Find(t.Tensor)
		if err != nil {
			return nil, fmt.Errorf("input %s: %w", t.Name, err)
		}
		if !slices.Contains(feeds, o) {
			feeds = append(feeds, o)
			w.inputs = append(w.inputs, t)
		}
	}
	for _, t := range outputs {
		if t.IsOp() {
			continue
		}
		o, err := gr.Find(t.Tensor)
		if err != nil {
			return nil, fmt.Errorf("output %s: %w", t.Name, err)
		}
		fetches = append(fetches, o)
		w.outputs = append(w.outputs, t)
	}
	fn, err := graph.Prune(gr, feeds, fetches, nil)
	if err != nil {
		return nil, err
	}
	if fn, err = fn.Inline(nil); err != nil {
		return nil, err
	}
	for i, t := range w.inputs {
		fn.Args[i].Out[0].Shape = t.Shape
	}
	// Tensors whose shapes inference can't find have no shape in the picture.
	_ = shape.All().InferFunction(fn)
	return w.network(fn), nil
}

// ends returns the inputs and outputs of a signature, or of a GraphDef, with the tensors of
// composites in their place.
func (x *MetaGraph) ends(signature string) (in, out []savedmodel.TensorInfo, err error) {
	if x.meta.SavedModel().IsGraphDef() {
		return x.meta.Endpoints()
	}
	if signature == "" && len(x.meta.Signatures) > 0 {
		signature = x.meta.Signatures[0].Name
		for _, s := range x.meta.Signatures {
			if s.Name == "serving_default" {
				signature = s.Name
			}
		}
	}
	if signature == "" {
		return nil, nil, fmt.Errorf("the model has no signature whose network could be drawn")
	}
	s, err := x.meta.Signature(signature)
	if err != nil {
		return nil, nil, err
	}
	return savedmodel.PlainTensors(s.Inputs), savedmodel.PlainTensors(s.Outputs), nil
}

// networkWalk makes boxes of a function's nodes.
type networkWalk struct {
	inputs, outputs []savedmodel.TensorInfo       // of the function's arguments and results
	classes         map[string]string             // of layers, by name
	alias           map[graph.Output]graph.Output // of an output of a passing op, the output whose value it has
}

// passing are ops that return their input unchanged.
var passing = map[string]bool{"Identity": true, "IdentityN": true, "StopGradient": true, "PreventGradient": true, "Snapshot": true, "CheckNumerics": true, "EnsureShape": true}

// real returns the output whose value o has.
func (w *networkWalk) real(o graph.Output) graph.Output {
	if r, ok := w.alias[o]; ok {
		return r
	}
	return o
}

// network draws the nodes that depend on inputs, and on which outputs depend.
func (w *networkWalk) network(fn *graph.Function) *render.Network {
	needed := map[*graph.Node]bool{}
	var stack []*graph.Node
	for _, r := range fn.Results {
		stack = append(stack, r.Output.Node)
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !needed[n] {
			needed[n] = true
			for _, in := range n.In {
				stack = append(stack, in.Node)
			}
		}
	}
	moving := map[*graph.Node]bool{} // depends on an input
	for _, a := range fn.Args {
		moving[a] = true
	}
	var ops []*graph.Node
	each := func(all bool) {
		for _, n := range fn.Graph.Nodes() { // inputs before users
			if n.IsArg() || !needed[n] {
				continue
			}
			if !moving[n] {
				moving[n] = all && !weightOp(n) || slices.ContainsFunc(n.In, func(o graph.Output) bool { return moving[o.Node] })
			}
			switch {
			case !moving[n]:
			case passing[n.Op] && len(n.In) >= len(n.Out):
				for i := range n.Out {
					w.alias[n.Output(i)] = w.real(n.In[i])
				}
			default:
				ops = append(ops, n)
			}
		}
	}
	if each(false); len(ops) == 0 {
		each(true) // nothing depends on an input
	}
	scopes := make([][]string, len(ops))
	deepest := 1
	for i, n := range ops {
		scopes[i] = scopeOf(n)
		deepest = max(deepest, len(scopes[i]))
	}
	deepest -= trimCommon(scopes)
	var best *render.Network
	for depth := max(min(deepest, 12), 1); depth >= 1; depth-- {
		n := w.draw(fn, ops, scopes, depth)
		if n == nil {
			continue
		}
		if best == nil || n.Drawn() < best.Drawn() {
			best = n
		}
		if n.Drawn() <= render.MaxBoxes {
			return n
		}
	}
	if best == nil {
		best = &render.Network{}
	}
	return best
}

// weightOp reports whether a node is a variable, its read or a constant, or computes nothing
// from other tensors (NoOp, a Placeholder that isn't fed).
func weightOp(n *graph.Node) bool {
	switch n.Op {
	case "Const", "VarHandleOp", "VariableV2", "ReadVariableOp", "NoOp", "Placeholder":
		return true
	}
	return false
}

// callName matches the names that TensorFlow gives to calls of functions, which say nothing to people.
var callName = regexp.MustCompile(`^(Stateful)?PartitionedCall(_\d+)?$`)

// scopeOf returns the parts of a node's name, with those of the calls that led to it; the
// last part is the node's own.
func scopeOf(n *graph.Node) []string {
	var parts []string
	for _, c := range append(slices.Clone(n.Path()), n.Origin()) {
		for p := range strings.SplitSeq(c.Name, "/") {
			if !callName.MatchString(p) {
				parts = append(parts, p)
			}
		}
	}
	if len(parts) == 0 {
		parts = []string{n.Op}
	}
	return parts
}

// trimCommon takes away the scopes that all names share, and returns how many.
func trimCommon(scopes [][]string) int {
	for k := 0; ; k++ {
		for _, s := range scopes {
			if len(s) < k+2 || s[k] != scopes[0][k] {
				for i := range scopes {
					scopes[i] = scopes[i][k:]
				}
				return k
			}
		}
		if len(scopes) == 0 {
			return 0
		}
	}
}

// draw makes a box of each scope, cut off at a depth; nil if there are more than maxDrawn.
func (w *networkWalk) draw(fn *graph.Function, ops []*graph.Node, scopes [][]string, depth int) *render.Network {
	out := &render.Network{}
	at := map[*graph.Node]int{}
	for i, a := range fn.Args {
		at[a] = len(out.Boxes)
		out.Boxes = append(out.Boxes, render.Box{Kind: render.InputBox, Name: w.inputs[i].Name})
	}
	boxes := map[string]int{}
	kinds := map[int][]string{}
	for i, n := range ops {
		s := scopes[i]
		key := strings.Join(s[:min(depth, max(len(s)-1, 1))], "/")
		b, ok := boxes[key]
		if !ok {
			b = len(out.Boxes)
			if b > maxDrawn {
				return nil
			}
			boxes[key] = b
			out.Boxes = append(out.Boxes, render.Box{Name: key})
		}
		at[n] = b
		if !slices.Contains(kinds[b], n.Op) {
			kinds[b] = append(kinds[b], n.Op)
		}
	}
	for b, k := range kinds {
		x := &out.Boxes[b]
		last := x.Name[strings.LastIndex(x.Name, "/")+1:]
		switch class := w.classes[last]; {
		case class != "":
			x.Info = class
		case len(k) > 4:
			x.Info = strings.Join(k[:3], ", ") + fmt.Sprintf(", %d more", len(k)-3)
		case len(k) > 1 || k[0] != x.Name:
			x.Info = strings.Join(k, ", ")
		}
	}
	type pair struct{ from, to int }
	labels := map[pair][]string{}
	var order []pair
	flow := func(o graph.Output, to int) {
		o = w.real(o)
		from, ok := at[o.Node]
		if !ok || from == to {
			return
		}
		p := pair{from, to}
		if labels[p] == nil {
			order = append(order, p)
		}
		f := o.Fact()
		l := dtypeWords(f.DType) + " " + Shape{f.Shape}.String()
		if f.Shape.HasRank() && f.Shape.Rank() == 0 {
			l = dtypeWords(f.DType)
		}
		if !slices.Contains(labels[p], l) {
			labels[p] = append(labels[p], l)
		}
	}
	for _, n := range ops {
		for _, in := range n.In {
			flow(in, at[n])
		}
	}
	for i, r := range fn.Results {
		out.Boxes = append(out.Boxes, render.Box{Kind: render.OutputBox, Name: w.outputs[i].Name})
		flow(r.Output, len(out.Boxes)-1)
	}
	for _, p := range order {
		l := labels[p]
		if len(l) > 2 {
			l = append(l[:2:2], fmt.Sprintf("%d more", len(l)-2))
		}
		out.Arrows = append(out.Arrows, render.Arrow{From: p.from, To: p.to, Label: strings.Join(l, ", ")})
	}
	return out
}
