package opfixture

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/cairnml/cairn/graph"
)

// Program is a small graph that TensorFlow has run a few times in one session;
// testdata/tf2.21/gen_programs.py describes the fields.
type Program struct {
	Name      string
	Functions []Body
	Main      Body
	// Vars are the initial values of the variables that are the first arguments of
	// the main function.
	Vars []Tensor
	// Fused is the number of times that the ops of passes run in a call; -1 means
	// at least once.
	Fused map[string]int
	Runs  []Run
}

// Body is a graph with arguments and results. A pair of numbers is an output: the place of
// its step and the number of the output, or -1 and the place of the argument.
type Body struct {
	Name    string
	Args    []string // element types
	Steps   []Step
	Results [][2]int // a step without outputs is a control result
	Control []int    // the steps that happen in any case
}

// Step is a node. It uses steps before it only.
type Step struct {
	Op      string
	Attrs   []Attr
	In      [][2]int
	Control []int // the places of the steps that happen before it
}

// Run is a call: its results, or a part of TensorFlow's message.
type Run struct {
	In, Out []Tensor
	After   []Tensor // the variables' values, if a run changes them
	Error   string   // "": the call succeeds
}

// LoadPrograms reads the programs in a directory.
func LoadPrograms(t testing.TB, dir string) []Program {
	t.Helper()
	var all []Program
	for _, f := range files(t, dir) {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var list []Program
		if err := json.Unmarshal(b, &list); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		all = append(all, list...)
	}
	return all
}

// Ops returns the ops of the program and its functions, and those that passes
// make of them.
func (p *Program) Ops() map[string]bool {
	out := map[string]bool{}
	for _, b := range append(p.Functions, p.Main) {
		for _, s := range b.Steps {
			out[s.Op] = true
		}
	}
	for op := range p.Fused {
		out[op] = true
	}
	return out
}

// Function returns the program as a function.
func (p *Program) Function(t testing.TB) *graph.Function {
	t.Helper()
	byName := map[string]*graph.Function{}
	for _, b := range p.Functions {
		byName[b.Name] = graph.NewFunction(b.Name)
	}
	for _, b := range p.Functions {
		b.fill(t, byName[b.Name], byName, nil)
	}
	f := graph.NewFunction("main")
	p.Main.fill(t, f, byName, p.Vars)
	return f
}

// fill makes f of the body. The first arguments are handles of vars.
func (b *Body) fill(t testing.TB, f *graph.Function, functions map[string]*graph.Function, vars []Tensor) {
	t.Helper()
	for i, name := range b.Args {
		fact := graph.Fact{DType: dtype(t, name)}
		if i < len(vars) {
			fact.Handle = []graph.Content{{DType: dtype(t, vars[i].DType), Shape: graph.ShapeOf(vars[i].Shape...)}}
		}
		if _, err := f.AddArg("", fact); err != nil {
			t.Fatal(err)
		}
	}
	var nodes []*graph.Node
	output := func(r [2]int) graph.Output {
		if r[0] < 0 {
			return f.Args[r[1]].Output(0)
		}
		return nodes[r[0]].Output(r[1])
	}
	for _, s := range b.Steps {
		n := &graph.Node{Op: s.Op, Attrs: attrs(t, s.Attrs, functions)}
		for _, in := range s.In {
			n.In = append(n.In, output(in))
		}
		for _, c := range s.Control {
			n.Control = append(n.Control, nodes[c])
		}
		facts := make([]graph.Fact, len(n.In))
		for i, in := range n.In {
			facts[i] = in.Fact()
		}
		n.Def = graph.LookupOp(s.Op)
		if n.Def == nil {
			t.Fatalf("op %s is not known", s.Op)
		}
		var err error
		if n.Attrs, n.Out, err = n.Def.Bind(n.Attrs, facts); err != nil {
			t.Fatal(err)
		}
		if err := f.Graph.Add(n); err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	for _, r := range b.Results {
		if o := output(r); r[0] >= 0 && len(o.Node.Out) == 0 {
			f.Control = append(f.Control, graph.ControlResult{Name: o.Node.Name, Node: o.Node})
		} else {
			f.AddResult("", o)
		}
	}
	for _, c := range b.Control {
		f.Control = append(f.Control, graph.ControlResult{Name: nodes[c].Name, Node: nodes[c]})
	}
}
