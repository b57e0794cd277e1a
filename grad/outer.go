package grad

import (
	"weak"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// A custom gradient that was saved as a function may capture values of functions that
// call the one that contains its node: TensorFlow's does if Python's function closes
// over them. A call that is differentiated passes such outer values as further
// arguments.

// outerOf returns the values of the replayed function that are captured by gradients
// in fs, or in functions that these call.
func (t *Tape) outerOf(fs []*graph.Function) (outer []graph.Output, values []*ops.Value) {
	if t.values == nil || len(t.rules.captures) == 0 {
		return nil, nil
	}
	for _, o := range t.rules.capturesOf(fs) {
		if v := t.values[o]; v != nil {
			outer, values = append(outer, o), append(values, v)
		}
	}
	return outer, values
}

// libraryOf returns the part of f's library of gradients that a copy of f needs: the
// gradients that its nodes name, or nodes of the functions that it calls, with their
// captures among the copy's values. It returns nil if f names none.
func libraryOf(f *graph.Function, values map[graph.Output]*ops.Value) *graph.Library {
	lib := f.Graph.Library
	if lib == nil || len(lib.Registered) == 0 {
		return nil
	}
	named := map[string]bool{}
	eachNamed([]*graph.Function{f}, func(name string) { named[name] = true })
	var copied *graph.Library
	for _, g := range lib.Registered {
		if !named[g.Type] {
			continue
		}
		captures := g.Captures
		g.Captures = make([]graph.Output, len(captures))
		for i, o := range captures {
			g.Captures[i] = o
			if v := values[original(o)]; v != nil {
				g.Captures[i] = v.Output()
			}
		}
		if copied == nil {
			copied = &graph.Library{}
		}
		copied.Registered = append(copied.Registered, g)
	}
	return copied
}

// capturesOf returns the captures of the gradients that nodes of the functions name,
// or nodes of functions that these call.
func (r *Rules) capturesOf(fs []*graph.Function) []graph.Output {
	var out []graph.Output
	taken := map[graph.Output]bool{}
	eachNamed(fs, func(name string) {
		for _, o := range r.captures[name] {
			if o = original(o); !taken[o] {
				taken[o] = true
				out = append(out, o)
			}
		}
	})
	return out
}

// eachNamed calls f with the gradients that nodes of the functions name, or nodes of
// functions that these call.
func eachNamed(fs []*graph.Function, f func(name string)) {
	entered := map[*graph.Function]bool{}
	for todo := fs; len(todo) > 0; todo = todo[1:] {
		fn := todo[0]
		if fn == nil || entered[fn] {
			continue
		}
		entered[fn] = true
		for _, n := range fn.Graph.Nodes() {
			if name := n.Attrs.String(gradientType, ""); name != "" {
				f(name)
			}
		}
		todo = append(todo[:len(todo):len(todo)], fn.Graph.Callees()...)
	}
}

// capturedIn returns the nodes of f whose outputs are captured by gradients of f, or
// of functions that it calls.
func (r *Rules) capturedIn(f *graph.Function) []*graph.Node {
	if len(r.captures) == 0 {
		return nil
	}
	captured := map[*graph.Node]bool{}
	for _, o := range r.capturesOf([]*graph.Function{f}) {
		captured[o.Node] = true
	}
	var out []*graph.Node
	for _, n := range f.Graph.Nodes() {
		if captured[n.Origin()] {
			out = append(out, n)
		}
	}
	return out
}

// widen returns f with one more argument for each fact. With giveBack it returns them
// as further results, as the body of a loop must.
func widen(f *graph.Function, more []graph.Fact, giveBack bool) (*graph.Function, error) {
	if len(more) == 0 {
		return f, nil
	}
	f, err := f.Clone()
	if err != nil {
		return nil, err
	}
	for _, fact := range more {
		fact = fact.WithoutValue()
		fact.Shape = fact.Shape.Anonymous()
		arg, err := f.AddArg(f.Graph.UniqueName("outer"), fact)
		if err != nil {
			return nil, err
		}
		if giveBack {
			f.AddResult("", arg)
		}
	}
	return f, nil
}

// outerKey identifies an outer value without a reference to its graph.
type outerKey struct {
	node  weak.Pointer[graph.Node]
	index int
}

func keysOf(outer []graph.Output) []outerKey {
	keys := make([]outerKey, len(outer))
	for i, o := range outer {
		keys[i] = outerKey{weak.Make(o.Node), o.Index}
	}
	return keys
}
