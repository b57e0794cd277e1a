package graph

import (
	"fmt"
	"slices"
	"sort"

	"github.com/cairnml/cairn/internal/pb"
)

// Library is a function library: functions by name, as in a file.
type Library struct {
	functions map[string]*Function
	order     []string
	// Gradients are the gradients of functions, as TensorFlow 1 registered them.
	Gradients []FunctionGradient
	// Registered are the custom gradients that TensorFlow 2 registers by op type.
	Registered []RegisteredGradient

	names     map[*Function]string // of functions whose name in the library differs from Function.Name
	gradients map[*Node]string     // by node, the type that Register chose; the node's _gradient_op_type may differ
}

// FunctionGradient is a pair of a function and its gradient.
type FunctionGradient struct {
	Function, Gradient Callee

	unknown []byte
}

// RegisteredGradient is the gradient function of nodes whose attribute
// _gradient_op_type is Type.
type RegisteredGradient struct {
	Type     string
	Gradient Callee
	// Captures are values of the function that contains the nodes. The gradient
	// takes them after the gradients of a node's outputs. They come from the
	// objects of a SavedModel, because a library's message doesn't contain
	// them.
	Captures []Output
	// Gives are the indices of the node's inputs whose gradients the function
	// returns, in the order of its results. Nil means the last inputs. They come
	// from the objects of a SavedModel, too.
	Gives []int

	unknown []byte
}

// Add adds f to the library. A name that is taken by another function is an
// error.
func (l *Library) Add(f *Function) error {
	if other := l.functions[f.Name]; other != nil {
		if other == f {
			return nil
		}
		return fmt.Errorf("graph: there are two functions called %q", f.Name)
	}
	if l.functions == nil {
		l.functions = make(map[string]*Function)
	}
	l.functions[f.Name] = f
	l.order = append(l.order, f.Name)
	return nil
}

// Lookup returns the function called name, or nil.
func (l *Library) Lookup(name string) *Function {
	if l == nil {
		return nil
	}
	return l.functions[name]
}

// Functions returns the functions in the order in which they were added.
func (l *Library) Functions() []*Function {
	if l == nil {
		return nil
	}
	out := make([]*Function, len(l.order))
	for i, name := range l.order {
		out[i] = l.functions[name]
	}
	return out
}

// Names returns the functions' names in alphabetical order.
func (l *Library) Names() []string {
	if l == nil {
		return nil
	}
	names := append([]string(nil), l.order...)
	sort.Strings(names)
	return names
}

// Assemble returns the function library of some functions and of all that they refer
// to, directly or through others. References include function names in
// attributes. Each function keeps its name. If two functions have the same
// name, or an op has it, the later one gets a number: [Library.NameOf] returns
// the result.
func Assemble(roots ...*Function) *Library {
	l := &Library{}
	l.assemble(roots)
	return l
}

// assemble adds functions and all that they, and those that are there, refer
// to.
func (l *Library) assemble(roots []*Function) {
	queue := slices.Clone(roots)
	for _, f := range l.Functions() {
		queue = append(queue, f.callees()...)
	}
	l.extend(l.held(), queue)
}

// held returns the set of the library's functions.
func (l *Library) held() map[*Function]bool {
	held := make(map[*Function]bool, len(l.order))
	for _, f := range l.functions {
		held[f] = true
	}
	return held
}

// extend adds functions that are not in held, which it updates, and all that they refer to.
// Functions in held are expected to have theirs in the library.
func (l *Library) extend(held map[*Function]bool, queue []*Function) {
	for ; len(queue) > 0; queue = queue[1:] {
		f := queue[0]
		if f == nil || held[f] {
			continue
		}
		held[f] = true
		l.addUnique(f)
		queue = append(queue, f.callees()...)
	}
}

// callees returns the functions that a function's nodes and attributes name.
func (fn *Function) callees() []*Function { return append(fn.Graph.Callees(), fn.named()...) }

// addUnique adds a function under its own name or one with a number.
func (l *Library) addUnique(f *Function) { l.addAs(f, f.Name) }

// addAs adds a function under a name or that name with a number.
func (l *Library) addAs(f *Function, base string) {
	if base == "" {
		base = "function"
	}
	name := base
	for i := 1; l.functions[name] != nil || LookupOp(name) != nil; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	if l.functions == nil {
		l.functions = make(map[string]*Function)
	}
	if name != f.Name {
		if l.names == nil {
			l.names = make(map[*Function]string)
		}
		l.names[f] = name
	}
	l.functions[name] = f
	l.order = append(l.order, name)
}

// named returns the functions that the function's attributes name.
func (fn *Function) named() []*Function {
	var out []*Function
	for _, a := range fn.Attrs {
		if c, ok := a.value.(Callee); ok && c.Function != nil {
			out = append(out, c.Function)
		}
	}
	return out
}

// NameOf returns the name of a function in the library, or the function's Name
// if the library doesn't have it.
func (l *Library) NameOf(f *Function) string {
	if l != nil {
		if s, ok := l.names[f]; ok {
			return s
		}
	}
	return f.Name
}

// Register adds the gradient of a node of one of the library's functions. Its
// name is g.Type, with a number added if that is taken. Each node needs its own
// gradient, because gradients capture the values around their nodes. The
// attribute _gradient_op_type of the written node has that name. If g has no
// function, no gradient has that name.
func (l *Library) Register(n *Node, g RegisteredGradient) {
	taken := make(map[string]bool, len(l.Registered)+len(l.gradients))
	for _, r := range l.Registered {
		taken[r.Type] = true
	}
	for _, name := range l.gradients {
		taken[name] = true
	}
	base := g.Type
	for i := 1; taken[g.Type]; i++ {
		g.Type = fmt.Sprintf("%s_%d", base, i)
	}
	if l.gradients == nil {
		l.gradients = make(map[*Node]string)
	}
	l.gradients[n] = g.Type
	if g.Gradient.Function != nil {
		l.Registered = append(l.Registered, g)
		l.assemble([]*Function{g.Gradient.Function})
	}
}

// GradientOf returns the name of a node's gradient in the library, or the name
// in the node's attribute if the library has none.
func (l *Library) GradientOf(n *Node) string {
	if l != nil {
		if s, ok := l.gradients[n]; ok {
			return s
		}
	}
	return n.Attrs.String(gradientType, "")
}

// gradientType is the attribute in which a node names its gradient.
const gradientType = "_gradient_op_type"

// nameOf returns the name that a reference to a function has.
func (l *Library) nameOf(c Callee) string {
	if c.Function != nil {
		return l.NameOf(c.Function)
	}
	return c.Name
}

// written returns the library that the graph is written with: that of the
// graph, and after its functions all others that nodes refer to.
func (g *Graph) written() *Library {
	l := &Library{}
	if g.Library != nil {
		l.Gradients, l.Registered = g.Library.Gradients, g.Library.Registered
		l.gradients = g.Library.gradients
		for _, f := range g.Library.Functions() {
			l.addAs(f, g.Library.NameOf(f))
		}
	}
	roots := g.Callees()
	for _, x := range l.Gradients {
		roots = append(roots, x.Function.Function, x.Gradient.Function)
	}
	for _, x := range l.Registered {
		roots = append(roots, x.Gradient.Function)
	}
	l.assemble(roots)
	return l
}

// proto returns the library as a FunctionDefLibrary. finish may be nil. Otherwise it may
// change each function, which is then encoded in its canonical form: one at a time is in
// memory as a message.
func (l *Library) proto(finish func(*pb.FunctionDef) error) (*pb.FunctionDefLibrary, error) {
	effects := new(Effects)
	p := &pb.FunctionDefLibrary{Function: make([]pb.Lazy[pb.FunctionDef], 0, len(l.order))}
	for _, f := range l.Functions() {
		def, err := f.proto(l, effects)
		if err != nil {
			return nil, err
		}
		lazy := pb.LazyOf(def)
		if finish != nil {
			if err := finish(def); err != nil {
				return nil, err
			}
			if lazy, err = pb.CanonicalOf(def); err != nil {
				return nil, err
			}
		}
		p.Function = append(p.Function, lazy)
	}
	for _, g := range l.Gradients {
		p.Gradient = append(p.Gradient, &pb.GradientDef{FunctionName: l.nameOf(g.Function), GradientFunc: l.nameOf(g.Gradient), Unknown: g.unknown})
	}
	for _, g := range l.Registered {
		p.RegisteredGradients = append(p.RegisteredGradients, &pb.RegisteredGradient{GradientFunc: l.nameOf(g.Gradient), RegisteredOpType: g.Type, Unknown: g.unknown})
	}
	return p, nil
}
