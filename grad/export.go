package grad

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// savedOrders is how often the functions that [Library] returns can be
// differentiated with the gradients in it. There is a limit because the gradient
// of a [Custom] may call the Custom itself.
const savedOrders = 2

// Library returns functions and all that they call, ready to be written: the
// gradients of [Custom] that nodes name are functions of the library, as a
// SavedModel holds them. A gradient captures values of the function around its
// node, so each node has a separate one. Its name is that of the Custom,
// followed by a number from the second on. Gradients of gradients are there
// once; a third derivative needs the program.
func Library(ctx context.Context, fs ...*graph.Function) (*graph.Library, error) {
	lib := graph.Assemble(fs...)
	read := map[string]bool{}
	for _, f := range lib.Functions() {
		if from := f.Graph.Library; from != nil {
			for _, g := range from.Registered {
				read[g.Type] = true
			}
		}
	}
	for order, done := 1, 0; done < len(lib.Functions()); order++ {
		for todo := lib.Functions()[done:]; len(todo) > 0; todo = todo[1:] {
			done++
			for _, n := range todo[0].Graph.Nodes() {
				name := n.Attrs.String(gradientType, "")
				c, ok := customs.Load(name)
				if !ok || read[name] {
					continue
				}
				g := graph.RegisteredGradient{Type: name}
				if order <= savedOrders {
					var err error
					if g, err = c.(*Custom).export(ctx, n); err != nil {
						return nil, fmt.Errorf("grad: the gradient %s of the node %s of the function %s: %w", name, n.Name, todo[0].Name, err)
					}
				}
				lib.Register(n, g)
			}
		}
	}
	return lib, nil
}

// export returns the gradient of a node as a function: of the gradients with
// regard to the node's outputs and of those inputs that it uses.
func (c *Custom) export(ctx context.Context, n *graph.Node) (g graph.RegisteredGradient, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = engine.NewPanicError(r)
		}
	}()
	g = graph.RegisteredGradient{Type: c.name}
	k := int(n.Attrs.Int(resultCount, -1))
	if k < 0 || k > len(n.In) {
		return g, fmt.Errorf("the node doesn't say in %s how many of its %d inputs are results", resultCount, len(n.In))
	}
	base := ops.NewScope(ctx)
	defer base.Close()
	s, trace := base.NewFunction("__inference_" + cleanName(c.name) + "_grad")
	defer s.Close()
	in := make([]*ops.Value, 2*len(n.In))
	for i := range in {
		name, fact := "result_grads", graph.Fact{}
		if i < len(n.In) {
			fact = n.In[i].Fact()
		} else {
			name, fact = "captured", n.In[i-len(n.In)].Fact()
		}
		fact = fact.WithoutValue()
		fact.Shape = fact.Shape.Anonymous()
		v, err := trace.Arg(fmt.Sprintf("%s_%d", name, i%len(n.In)), fact)
		if err != nil {
			return g, err
		}
		in[i] = v
	}
	x, y := in[len(n.In)+k:], in[len(n.In):len(n.In)+k]
	var dx []*ops.Value
	trace.Run(func() { dx = c.backward(s, x, y, in[:k]) })
	if err := s.Err(); err != nil {
		return g, err
	}
	if len(dx) != len(x) {
		return g, fmt.Errorf("the gradient has %d results for %d arguments", len(dx), len(x))
	}
	g.Gives = []int{}
	var out []*ops.Value
	for i, d := range dx {
		if d != nil {
			g.Gives, out = append(g.Gives, k+i), append(out, ops.Const(s, d))
		}
	}
	made, err := trace.Finish(out, nil)
	if err != nil {
		return g, err
	}
	if len(made.Captures) > 0 {
		return g, errCaptures(made.Function)
	}
	f := made.Function
	used := map[*graph.Node]bool{}
	for _, m := range f.Graph.Nodes() {
		for _, o := range m.In {
			used[o.Node] = true
		}
	}
	args := f.Args[:len(n.In):len(n.In)]
	for i, a := range f.Args[len(n.In):] {
		if used[a] {
			args, g.Captures = append(args, a), append(g.Captures, n.In[i])
		}
	}
	f.Args = args
	f.Graph.Remove(func(m *graph.Node) bool { return m.IsArg() && !slices.Contains(args, m) })
	g.Gradient = graph.Callee{Function: f}
	return g, nil
}

// cleanName returns a name that a function may have in a file.
func cleanName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-/", r) {
			return r
		}
		return '_'
	}, s)
}
