package raise

import (
	"strings"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
)

func parse(t *testing.T, text string) *graph.Graph {
	t.Helper()
	var p pb.GraphDef
	if err := pb.UnmarshalText([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	g, err := graphInternals.FromProto(&p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func node(name, op, attrs string, in ...string) string {
	s := "node { name: '" + name + "' op: '" + op + "'"
	for _, i := range in {
		s += " input: '" + i + "'"
	}
	for _, a := range strings.Fields(attrs) {
		k, v, _ := strings.Cut(a, "=")
		s += " attr { key: '" + k + "' value { " + v + " } }"
	}
	return s + " }\n"
}

const float, boolean = "T=type:DT_FLOAT", "T=type:DT_BOOL"

var placeholders = node("x", "Placeholder", "dtype=type:DT_FLOAT") + node("p", "Placeholder", "dtype=type:DT_BOOL") + node("q", "Placeholder", "dtype=type:DT_BOOL")

func ops(g *graph.Graph) (s string) {
	for _, n := range g.Nodes() {
		s += n.Op + " "
	}
	return s
}

func TestWhatIsNoConditionalStays(t *testing.T) {
	for _, c := range []struct{ name, text, node, want string }{
		{"one branch of each of two", node("s", "Switch", float, "x", "p") + node("r", "Switch", float, "x", "q") + node("m", "Merge", float+" N=i:2", "s", "r:1"), "m", "two branches"},
		{"the same branch twice", node("s", "Switch", float, "x", "p") + node("n", "Neg", float, "s") + node("m", "Merge", float+" N=i:2", "s", "n"), "m", "two branches"},
		{"a loop without a condition", node("e", "Enter", float+" frame_name=s:'f'", "x") + node("m", "Merge", float+" N=i:2", "e", "n") + node("n", "NextIteration", float, "m"), "m", "no condition"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := parse(t, placeholders+c.text)
			problems := Graph(g)
			if err := problems[c.node]; err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("problems %v, want one of node %q: %s", problems, c.node, c.want)
			}
			if strings.Contains(ops(g), "If") || strings.Contains(ops(g), "While") {
				t.Error(ops(g))
			}
		})
	}
}

// TestTheMergesOfAConditionalAreOneIf: an op with an effect in a branch with two
// results must run once.
func TestTheMergesOfAConditionalAreOneIf(t *testing.T) {
	g := parse(t, placeholders+node("id", "Identity", boolean, "p")+
		node("s", "Switch", float, "x", "id")+node("neg", "Neg", float, "s")+node("sq", "Square", float, "s:1")+
		node("m", "Merge", float+" N=i:2", "neg", "sq")+node("m2", "Merge", float+" N=i:2", "s:1", "s")+
		node("later", "Switch", float, "m", "p")+node("abs", "Abs", float, "later:1")+node("m3", "Merge", float+" N=i:2", "later", "abs"))
	if problems := Graph(g); len(problems) > 0 {
		t.Fatal(problems)
	}
	if n := strings.Count(ops(g), "If "); n != 2 {
		t.Errorf("%d Ifs, want one of m and m2, and one that needs m: %s", n, ops(g))
	}
	if m := g.Lookup("m2"); m.Op != "IdentityN" || m.In[0].Node != g.Lookup("m").In[0].Node {
		t.Error(m)
	}
}

func TestGraphsWithoutItAreLeftAlone(t *testing.T) {
	g := parse(t, placeholders+node("n", "Neg", float, "x"))
	if Needed(g) {
		t.Error("it is said to need raising")
	}
}

// TestWhatAControlTriggerWaitsForRunsInItsBranch: a node of a branch may have
// an effect and no value that the conditional returns.
func TestWhatAControlTriggerWaitsForRunsInItsBranch(t *testing.T) {
	inner := node("q2", "Switch", boolean, "q", "p") + node("s2", "Switch", float, "s:1", "q2:1") + node("deep", "Neg", float, "s2:1")
	for _, c := range []struct{ name, text string }{
		{"alone", node("t", "ControlTrigger", "", "^neg")},
		{"beside a result", node("m", "Merge", float+" N=i:2", "s", "neg") + node("t", "ControlTrigger", "", "^neg")},
		{"in a branch of a branch", inner + node("t", "ControlTrigger", "", "^deep")},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := parse(t, placeholders+node("s", "Switch", float, "x", "p")+node("neg", "Neg", float, "s:1")+c.text)
			if problems := Graph(g); len(problems) > 0 {
				t.Fatal(problems)
			}
			trigger := g.Lookup("t")
			if trigger.Op != "NoOp" || len(trigger.Control) != 1 || trigger.Control[0].Op != "If" {
				t.Fatalf("it waits for %v", trigger.Control)
			}
			then := func(n *graph.Node) *graph.Function {
				branch, _ := n.Attrs.Func("then_branch")
				f := branch.Function
				if f == nil || len(f.Control) != 1 {
					t.Fatalf("the branch of %v runs nothing: %v", n, f)
				}
				return f
			}
			effect := then(trigger.Control[0]).Control[0].Node
			if strings.Contains(c.text, "deep") {
				effect = then(effect).Control[0].Node
			}
			if effect.Op != "Neg" {
				t.Errorf("the branch runs %v", effect)
			}
		})
	}
}

// TestASwitchWhosePredicateIsKnownHandsOn: in a branch of the same predicate a
// Switch has one side only.
func TestASwitchWhosePredicateIsKnownHandsOn(t *testing.T) {
	g := parse(t, placeholders+node("s", "Switch", float, "x", "p")+node("again", "Switch", float, "s:1", "p")+
		node("neg", "Neg", float, "again:1")+node("m", "Merge", float+" N=i:2", "s", "neg"))
	if problems := Graph(g); len(problems) > 0 {
		t.Fatal(problems)
	}
	if in := g.Lookup("neg").In[0].Node; in.Op != "Identity" || in.In[0].Node != g.Lookup("s") {
		t.Errorf("it takes %v", in)
	}
}
