package graph

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// ArgOp is the op of the nodes that are a function's arguments. TensorFlow's
// runtime has the same name for it. Files never contain it.
const ArgOp = "_Arg"

// MustCompile is the attribute of functions, and of nodes that call them, that TensorFlow
// compiles with XLA. Engines of Cairn run them as all others.
const MustCompile = "_XlaMustCompile"

// Function is a graph with arguments and results.
type Function struct {
	// Name is the function's own name. A library may write it under another
	// ([Library.NameOf]).
	Name string
	// Graph is the body. Its nodes include the arguments.
	Graph *Graph
	// Args are the arguments: nodes of the body whose op is [ArgOp] and whose only
	// output is the argument.
	Args []*Node
	// Results are the outputs, each with its name.
	Results []Result
	// Control are the nodes that run in every call, even if no result needs
	// them. A caller can ask for each by its name.
	Control []ControlResult
	// Attrs are the function's attributes, such as _construction_context or
	// forward_function_name.
	Attrs Attrs
	// ArgAttrs are attributes of arguments, by the argument's index, such as
	// _output_shapes; nil if there are none.
	ArgAttrs map[int]Attrs
	// Extra keeps the rest of the function's message in a file.
	Extra *FunctionExtra

	resultNames  map[string]int // of results, each with the last number that was appended to it
	resultsNamed int            // how many results resultNames covers
}

// Result is an output of a function.
type Result struct {
	Name   string
	Output Output
}

// ControlResult is a node of a function's body that runs in every call.
type ControlResult struct {
	Name string
	Node *Node
}

// FunctionExtra is the part of a function's message in a file that this module
// doesn't use: descriptions, definitions of its attributes, and the numbers by
// which TensorFlow marks arguments that are the same resource.
type FunctionExtra struct {
	signature *OpDef
	resources []*pb.Uint32Uint32Entry
	args      map[int][]byte // unknown fields of the arguments' attributes
	unknown   []byte
}

// NewFunction returns a function without arguments and results.
func NewFunction(name string) *Function { return &Function{Name: name, Graph: new(Graph)} }

// AddArg appends an argument with the fact f. An empty name is replaced by a
// generated one.
func (fn *Function) AddArg(name string, f Fact) (Output, error) {
	if name == "" {
		name = fn.Graph.UniqueName("arg")
	}
	n := &Node{Name: name, Op: ArgOp, Attrs: Attrs{Type("T", f.DType), Int("index", int64(len(fn.Args)))}, Out: []Fact{f}}
	if err := fn.Graph.Add(n); err != nil {
		return Output{}, err
	}
	fn.Args = append(fn.Args, n)
	return n.Output(0), nil
}

// AddResult appends a result. An empty name is replaced by a generated one; a
// name that is taken gets a number.
func (fn *Function) AddResult(name string, o Output) {
	if name == "" {
		name = "output_" + fmt.Sprint(len(fn.Results))
	}
	if fn.resultNames == nil || fn.resultsNamed != len(fn.Results) { // Results may have been set by others
		fn.resultNames = make(map[string]int, len(fn.Results)+1)
		for _, r := range fn.Results {
			fn.resultNames[r.Name] = 0
		}
	}
	unique := name
	if last, taken := fn.resultNames[name]; taken {
		for taken {
			last++
			unique = name + "_" + strconv.Itoa(last)
			_, taken = fn.resultNames[unique]
		}
		fn.resultNames[name] = last
	}
	fn.resultNames[unique] = 0
	fn.Results = append(fn.Results, Result{unique, o})
	fn.resultsNamed = len(fn.Results)
}

// NumberArgs sets the index attribute of each argument after the order of Args
// has changed.
func (fn *Function) NumberArgs() {
	for i, a := range fn.Args {
		a.Attrs = a.Attrs.Set(Int("index", int64(i)))
	}
}

// ArgFacts returns the facts of the arguments.
func (fn *Function) ArgFacts() []Fact {
	out := make([]Fact, len(fn.Args))
	for i, a := range fn.Args {
		out[i] = a.Out[0]
	}
	return out
}

// ResultFacts returns the facts of the results.
func (fn *Function) ResultFacts() []Fact {
	out := make([]Fact, len(fn.Results))
	for i, r := range fn.Results {
		out[i] = r.Output.Fact()
	}
	return out
}

// String returns the function as text: its arguments, one node per line, its
// results.
func (fn *Function) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "func %s(", fn.Name)
	for i, a := range fn.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %v", a.Name, a.Out[0])
	}
	b.WriteString(") {\n")
	for _, n := range fn.Graph.Nodes() {
		if n.IsArg() {
			continue
		}
		b.WriteString("\t" + n.String())
		if n.Site != "" {
			b.WriteString("  // " + n.Site)
		}
		b.WriteByte('\n')
	}
	b.WriteString("\treturn ")
	for i, r := range fn.Results {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s=%v", r.Name, r.Output)
	}
	for _, c := range fn.Control {
		fmt.Fprintf(&b, " ^%s", c.Node.Name)
	}
	b.WriteString("\n}\n")
	return b.String()
}

// Callees returns the functions that the nodes of g refer to by their
// attributes, each once, in the order of first mention.
func (g *Graph) Callees() []*Function {
	seen := map[*Function]bool{}
	var out []*Function
	add := func(c Callee) {
		if c.Function != nil && !seen[c.Function] {
			seen[c.Function] = true
			out = append(out, c.Function)
		}
	}
	for _, n := range g.nodes {
		for _, a := range n.Attrs {
			switch v := a.value.(type) {
			case Callee:
				add(v)
			case []Callee:
				for _, c := range v {
					add(c)
				}
			}
		}
		if f := g.Library.Lookup(n.Op); f != nil {
			add(Callee{Function: f})
		}
	}
	return out
}

// Reachable returns the functions that g refers to, directly or through others,
// each once, callees after their first caller.
func (g *Graph) Reachable() []*Function {
	seen := map[*Function]bool{}
	var out []*Function
	for queue := g.Callees(); len(queue) > 0; queue = queue[1:] {
		f := queue[0]
		if seen[f] {
			continue
		}
		seen[f] = true
		out = append(out, f)
		queue = append(queue, f.Graph.Callees()...)
	}
	return out
}

// ArgTypes returns the element types of facts.
func ArgTypes(facts []Fact) []tensor.DType {
	out := make([]tensor.DType, len(facts))
	for i, f := range facts {
		out[i] = f.DType
	}
	return out
}

// Stateful reports whether TensorFlow calls an op of the function stateful, or one
// of a function that it calls. effect.go has the exact effects.
func (fn *Function) Stateful() bool { return fn.Graph.kept().Stateful(fn) }

// ownState reports whether TensorFlow calls an op of the function stateful, calls aside.
// It returns the functions that nodes refer to if none is.
func (fn *Function) ownState() (bool, []*Function) {
	for _, n := range fn.Graph.nodes {
		d := n.Def
		if n.IsArg() {
			continue // TensorFlow calls arguments stateful, to keep them in a graph
		}
		if d == nil {
			d = LookupOp(n.Op)
		}
		if d != nil && d.Stateful && !isCall(n.Op) {
			return true, nil
		}
	}
	return false, fn.Graph.Callees()
}

// isCall reports whether the op's effects are those of the functions that it
// calls.
func isCall(op string) bool {
	switch op {
	case "If", "While", "Case", StatefulCallOp:
		return true
	}
	return false
}
