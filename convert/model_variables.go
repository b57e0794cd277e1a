package convert

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// storage is the new form of a variable that functions read: a constant, or a variable of
// another element type.
type storage struct {
	frozen bool
	fact   graph.Fact   // of the value, as functions see it
	to     tensor.DType // the stored type, unless frozen
}

func (s *storage) String() string {
	switch {
	case s == nil:
		return "-"
	case s.frozen:
		return fmt.Sprintf("frozen %v%v", s.fact.DType, s.fact.Shape)
	}
	return s.to.String()
}

// functionRewriter makes functions whose variables are stored in another way. A function
// and its callees change along the handles of such variables; all else is shared.
type functionRewriter struct {
	made map[string]*rewritten // by function and the storage of its arguments
	ids  map[*graph.Function]int

	depth int // of the calls that are being rewritten
}

// maxCalls is the largest depth of calls along which a variable's handle is handed on. The executor refuses half of
// it; the limit keeps a hostile model from exhausting the stack.
const maxCalls = 1000

// rewritten is a function with the storage of its results: nil for a result that isn't the handle of a
// changed variable.
type rewritten struct {
	function *graph.Function
	results  []*storage
}

// shapesAttr is an attribute that TensorFlow adds to nodes: the shapes of their outputs.
const shapesAttr = "_output_shapes"

// rewrite returns f for arguments with the storage args, one for each argument; nil means that
// the argument is unchanged. If all are, the function is f itself.
func (w *functionRewriter) rewrite(f *graph.Function, args []*storage) (*rewritten, error) {
	if !slices.ContainsFunc(args, func(s *storage) bool { return s != nil }) {
		return &rewritten{f, make([]*storage, len(f.Results))}, nil
	}
	if len(args) != len(f.Args) {
		return nil, fmt.Errorf("the function %s has %d arguments (got %d)", f.Name, len(f.Args), len(args))
	}
	if w.made == nil {
		w.made, w.ids = map[string]*rewritten{}, map[*graph.Function]int{}
	}
	if _, ok := w.ids[f]; !ok {
		w.ids[f] = len(w.ids)
	}
	key := fmt.Sprint(w.ids[f], args)
	if have, ok := w.made[key]; ok {
		if have == nil {
			return nil, fmt.Errorf("the function %s calls itself", f.Name)
		}
		return have, nil
	}
	if w.depth == maxCalls {
		return nil, fmt.Errorf("more than %d calls of functions in one another hand the variable on: %w", maxCalls, errors.ErrUnsupported)
	}
	w.depth++
	defer func() { w.depth-- }()
	w.made[key] = nil
	copied, err := f.Clone()
	if err != nil {
		return nil, err
	}
	b := &bodyRewriter{w: w, f: copied, state: map[graph.Output]*storage{}, instead: map[graph.Output]graph.Output{}}
	for i, s := range args {
		if s == nil {
			continue
		}
		a := copied.Args[i]
		b.state[a.Output(0)] = s
		if s.frozen {
			a.Out[0] = s.fact
			a.Attrs = a.Attrs.Set(graph.Type("T", s.fact.DType)).Without(shapesAttr)
			if len(copied.ArgAttrs) > 0 {
				copied.ArgAttrs = maps.Clone(copied.ArgAttrs)
				delete(copied.ArgAttrs, i)
			}
		}
	}
	copied.Attrs = argumentAttrs(copied.Attrs, args)
	for _, n := range slices.Clone(copied.Graph.Nodes()) {
		if err := b.node(n); err != nil {
			return nil, fmt.Errorf("the op %s (%s) of the function %s: %w", n.Op, n.Name, f.Name, err)
		}
	}
	out := &rewritten{copied, make([]*storage, len(copied.Results))}
	for i := range copied.Results {
		o := &copied.Results[i].Output
		if x, ok := b.instead[*o]; ok {
			*o = x
		}
		out.results[i] = b.state[*o]
	}
	w.made[key] = out
	return out, nil
}

// argumentAttrs returns attributes of a function, or of a call, that describe its
// arguments.
func argumentAttrs(as graph.Attrs, args []*storage) graph.Attrs {
	if shapes := as.Shapes("_input_shapes"); len(shapes) == len(args) {
		shapes = slices.Clone(shapes)
		for i, s := range args {
			if s != nil && s.frozen {
				shapes[i] = s.fact.Shape
			}
		}
		as = as.Set(graph.Shapes("_input_shapes", shapes...))
	}
	if places := as.Ints("_read_only_resource_inputs"); len(places) > 0 {
		places = slices.DeleteFunc(slices.Clone(places), func(i int64) bool {
			return i >= 0 && i < int64(len(args)) && args[i] != nil && args[i].frozen
		})
		as = as.Set(graph.Ints("_read_only_resource_inputs", places...))
	}
	return as
}

// bodyRewriter changes the body of a copied function. Its nodes come in an order in which
// each follows those from which it takes something.
type bodyRewriter struct {
	w       *functionRewriter
	f       *graph.Function
	state   map[graph.Output]*storage     // of handles, or of their replacements
	instead map[graph.Output]graph.Output // the replacements of outputs
}

// errTaken is the error of any other op. Package convert knows the ops that TensorFlow's functions
// use for variables; to guess about others could change results.
var errTaken = errors.New("it takes the handle of a variable, which only reads, assignments and calls may")

// node rewrites one node for the storage of its inputs. To support a further op that takes a
// handle, add a case: it must compute the values and types that the original op computes.
func (b *bodyRewriter) node(n *graph.Node) error {
	states := make([]*storage, len(n.In))
	touched := false
	for i, in := range n.In {
		if x, ok := b.instead[in]; ok {
			n.In[i] = x
		}
		states[i] = b.state[n.In[i]]
		touched = touched || states[i] != nil
	}
	if !touched || n.IsArg() {
		return nil
	}
	for _, s := range states[1:] {
		if s != nil && !calls(n.Op) {
			return errTaken
		}
	}
	s := states[0]
	switch n.Op {
	case "ReadVariableOp":
		if s.frozen {
			return b.become(n, "Identity", graph.Attrs{graph.Type("T", s.fact.DType)}, n.In[0])
		}
		return b.widen(n, s, "dtype")
	case "ResourceGather":
		if s.frozen {
			axis, err := b.add("Const", n.Name+"/axis", graph.Attrs{graph.Tensor("value", tensor.Scalar[int32](0)), graph.Type("dtype", tensor.Int32)})
			if err != nil {
				return err
			}
			return b.become(n, "GatherV2", graph.Attrs{graph.Int("batch_dims", n.Attrs.Int("batch_dims", 0))}, n.In[0], n.In[1], axis.Output(0))
		}
		return b.widen(n, s, "dtype")
	case "VarIsInitializedOp":
		if !s.frozen {
			return nil
		}
		n.Control = append(n.Control, b.origins(n.In[0])...)
		return b.become(n, "Const", graph.Attrs{graph.Tensor("value", tensor.Scalar(true)), graph.Type("dtype", tensor.Bool)})
	case "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp":
		if s.frozen {
			return errors.New("it changes the variable, which can't become a constant")
		}
		cast, err := b.add("Cast", n.Name+"/Cast", graph.Attrs{graph.Type("DstT", s.to)}, n.In[1])
		if err != nil {
			return err
		}
		n.In[1] = cast.Output(0)
		n.Attrs = n.Attrs.Set(graph.Type("dtype", s.to))
		return nil
	case "VariableShape":
		if !s.frozen {
			return nil
		}
		return b.become(n, "Shape", graph.Attrs{graph.Type("out_type", n.Attrs.Type("out_type", tensor.Int32))}, n.In[0])
	case "Identity":
		b.state[n.Output(0)] = s
		if s.frozen {
			n.Attrs = n.Attrs.Set(graph.Type("T", s.fact.DType)).Without(shapesAttr)
			n.Out[0] = s.fact
		}
		return nil
	}
	if calls(n.Op) {
		return b.call(n, states)
	}
	return errTaken
}

// origins returns the node of an output, unless it is an argument.
func (b *bodyRewriter) origins(o graph.Output) []*graph.Node {
	if o.Node.IsArg() {
		return nil
	}
	return []*graph.Node{o.Node}
}

// calls reports whether an op calls functions with its inputs.
func calls(op string) bool {
	switch op {
	case "PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile":
		return true
	}
	return false
}

// add adds a node to the function's graph.
func (b *bodyRewriter) add(op, name string, attrs graph.Attrs, in ...graph.Output) (*graph.Node, error) {
	n := &graph.Node{Op: op, Name: b.f.Graph.UniqueName(name), Attrs: attrs, In: in}
	if err := bind(n); err != nil {
		return nil, err
	}
	return n, b.f.Graph.Add(n)
}

// become makes a node another op.
func (b *bodyRewriter) become(n *graph.Node, op string, attrs graph.Attrs, in ...graph.Output) error {
	facts := slices.Clone(n.Out)
	n.Op, n.Def, n.Attrs, n.In, n.Extra = op, nil, attrs, in, nil
	if err := bind(n); err != nil {
		return err
	}
	for i := range facts {
		if !n.Out[i].Shape.HasRank() {
			n.Out[i].Shape = facts[i].Shape
		}
	}
	return nil
}

// bind completes a node's attributes and the types of its outputs.
func bind(n *graph.Node) error {
	if n.Def = graph.LookupOp(n.Op); n.Def == nil {
		return fmt.Errorf("there is no op %s", n.Op)
	}
	facts := make([]graph.Fact, len(n.In))
	for i, in := range n.In {
		facts[i] = in.Fact()
	}
	var err error
	n.Attrs, n.Out, err = n.Def.Bind(n.Attrs, facts)
	return err
}

// widen makes a node read the stored type, and others take its value in the type that
// functions see.
func (b *bodyRewriter) widen(n *graph.Node, s *storage, attr string) error {
	old := n.Output(0)
	fact := n.Out[0]
	n.Attrs = n.Attrs.Set(graph.Type(attr, s.to))
	n.Out[0].DType = s.to
	cast, err := b.add("Cast", n.Name+"/Cast", graph.Attrs{graph.Type("DstT", fact.DType)}, old)
	if err != nil {
		return err
	}
	cast.Out[0] = fact
	b.instead[old] = cast.Output(0)
	return nil
}

// call rewrites the functions that a node calls. states are the storage of the node's inputs.
// Branches must return the same variables, and a loop's body those that it takes, because the
// node's outputs have one storage.
func (b *bodyRewriter) call(n *graph.Node, states []*storage) error {
	first := 0 // the input that is the functions' first argument
	names := []string{"f"}
	types := "Tin"
	switch n.Op {
	case "If", "StatelessIf":
		first, names = 1, []string{"then_branch", "else_branch"}
	case "Case", "StatelessCase":
		first, names = 1, []string{"branches"}
	case "While", "StatelessWhile":
		names, types = []string{"cond", "body"}, "T"
	}
	if slices.ContainsFunc(states[:first], func(s *storage) bool { return s != nil }) {
		return errTaken
	}
	n.Attrs = argumentAttrs(n.Attrs, states)
	var results []*storage
	one := func(name string, c graph.Callee) (graph.Callee, error) {
		if c.Function == nil {
			return c, fmt.Errorf("the graph has no function %s", c.FuncName())
		}
		r, err := b.w.rewrite(c.Function, states[first:])
		if err != nil {
			return c, err
		}
		c.Function = r.function
		if name == "cond" {
			return c, nil
		}
		if results != nil && !slices.EqualFunc(results, r.results, sameStorage) {
			return c, errors.New("its branches return different variables")
		}
		results = r.results
		return c, nil
	}
	for _, name := range names {
		if list := n.Attrs.Funcs(name); list != nil {
			list = slices.Clone(list)
			for i := range list {
				var err error
				if list[i], err = one(name, list[i]); err != nil {
					return err
				}
			}
			n.Attrs = n.Attrs.Set(graph.Funcs(name, list...))
			continue
		}
		c, ok := n.Attrs.Func(name)
		if !ok {
			return fmt.Errorf("it has no attribute %q", name)
		}
		c, err := one(name, c)
		if err != nil {
			return err
		}
		n.Attrs = n.Attrs.Set(graph.Call(name, c))
	}
	if len(results) != len(n.Out) {
		return fmt.Errorf("the functions that it calls return another number of values (got %d, want %d)", len(results), len(n.Out))
	}
	if types == "T" && !slices.EqualFunc(results, states, sameStorage) {
		return errors.New("its body returns another variable than it takes")
	}
	in := make([]tensor.DType, len(n.In)-first)
	for i, o := range n.In[first:] {
		in[i] = o.Fact().DType
	}
	n.Attrs = n.Attrs.Set(graph.Types(types, in...))
	out := make([]tensor.DType, len(n.Out))
	shapes := n.Attrs.Shapes("output_shapes")
	for i := range n.Out {
		if s := results[i]; s != nil {
			b.state[n.Output(i)] = s
			if s.frozen {
				n.Out[i] = s.fact
				n.Attrs = n.Attrs.Without(shapesAttr)
				if i < len(shapes) {
					shapes = slices.Clone(shapes)
					shapes[i] = s.fact.Shape
				}
			}
		}
		out[i] = n.Out[i].DType
	}
	if types == "Tin" {
		n.Attrs = n.Attrs.Set(graph.Types("Tout", out...))
	}
	if shapes != nil {
		n.Attrs = n.Attrs.Set(graph.Shapes("output_shapes", shapes...))
	}
	return nil
}

func sameStorage(a, b *storage) bool {
	return a == b || a.String() == b.String() && a != nil && b != nil
}
