package shape_test

import (
	"fmt"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/testkit/packed"
)

// TestShapesComputedFromShapesAreTensorFlows: random programs take sizes out of
// shapes, compute with them, put them together and make tensors of such shapes.
// The inferred facts of each node never contradict TensorFlow's, and are never
// less specific.
func TestShapesComputedFromShapesAreTensorFlows(t *testing.T) {
	var p pb.GraphDef
	if err := p.Unmarshal(packed.Read(t, "testdata/tf2.21/partial.pb.gz")); err != nil {
		t.Fatal(err)
	}
	g, err := graphInternals.FromProto(&p, nil)
	if err != nil {
		t.Fatal(err)
	}
	rules, compared := shape.All(), 0
	refused := map[*graph.Node]bool{} // nodes that can't run, and their users: TensorFlow reports the error when it runs them
	for _, n := range g.Nodes() {
		in := make([]graph.Fact, len(n.In))
		for i, o := range n.In {
			in[i] = o.Fact()
			if refused[o.Node] {
				refused[n] = true
			}
		}
		n.Def = graph.LookupOp(n.Op)
		attrs, out, err := n.Def.Bind(n.Attrs, in)
		if err != nil {
			t.Fatal(err)
		}
		c := &shape.Inference{Op: n.Op, Attrs: attrs, In: in, Out: out}
		if err := rules.Infer(c); err != nil {
			refused[n] = true
		}
		n.Out = c.Out
		for i, theirs := range n.Attrs.Shapes("_output_shapes") {
			if refused[n] {
				continue
			}
			compared++
			if ours := n.Out[i].Shape; !tells(ours, theirs) {
				t.Errorf("%s is %v, TensorFlow says %v\n%s", n.Name, ours, theirs, history(n, 4))
			}
		}
	}
	if compared < 5000 {
		t.Errorf("only %d outputs were compared", compared)
	}
}

// tells reports whether ours is at least as specific as theirs.
func tells(ours, theirs graph.PartialShape) bool {
	if !theirs.HasRank() {
		return true
	}
	if !ours.HasRank() || ours.Rank() != theirs.Rank() {
		return false
	}
	for i, d := range theirs.Dims() {
		if o := ours.Dim(i); d >= 0 && o != d {
			return false
		}
	}
	return true
}

// history describes the inputs of a node, and theirs.
func history(n *graph.Node, depth int) string {
	s := fmt.Sprintf("  %s = %s %v", n.Name, n.Op, n.Out)
	for _, in := range n.In {
		s += " " + in.Node.Name
	}
	if depth > 0 {
		for _, in := range n.In {
			s += "\n" + history(in.Node, depth-1)
		}
	}
	return s
}
