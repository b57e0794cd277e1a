package inspect

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// contents computes digests of functions from their content: ops, attributes, edges, and the functions that
// they call. Names of nodes, devices and colocations are left out, as notes of shapes are, and so are shared
// names of resources and the process-wide numbers at the ends of functions' names. Two exports of one program
// have equal digests. [Compare] and Cairn's own tests compare digests within one process, and nothing
// stores them: the form that is hashed may change.
type contents struct {
	known map[*graph.Function]string // digests in hexadecimal; a function's name while it is being computed
	depth int                        // of calls of functions in each other

	effects graph.Effects
}

// maxCalls bounds the depth of calls of functions in each other, so that a hostile library doesn't
// fill the stack. Below it, a function counts by its name. The number is ours and may change.
const maxCalls = 1000

// function returns the digest of a function.
func (c *contents) function(f *graph.Function) string {
	if d, ok := c.known[f]; ok {
		return d
	}
	if c.known == nil {
		c.known = map[*graph.Function]string{}
	}
	byName := "function " + withoutNumbers(f.Name)
	if c.depth >= maxCalls {
		return byName
	}
	c.known[f] = byName // if f calls itself
	c.depth++
	w := &contentWriter{c: c, h: sha256.New(), number: map[*graph.Node]int{}}
	w.write(f)
	c.depth--
	d := hex.EncodeToString(w.h.Sum(nil))
	c.known[f] = d
	return d
}

// contentWriter writes a function's content to a hash.
type contentWriter struct {
	c      *contents
	h      hash.Hash
	number map[*graph.Node]int // the places of nodes in order
	order  []*graph.Node       // the nodes, in the order in which visit reaches them
	names  map[string]string   // shared names of resources, by the order in which nodes have them
}

// shared returns the replacement of a shared name: a number for each different name.
// TensorFlow makes such names of paths and process-wide numbers, which change no result.
func (w *contentWriter) shared(name string) string {
	if w.names == nil {
		w.names = map[string]string{}
	}
	if w.names[name] == "" {
		w.names[name] = fmt.Sprintf("name %d", len(w.names))
	}
	return w.names[name]
}

// write writes the nodes that f's arguments, results and effects need, in the order in which visit
// reaches them. Other nodes change no result and are left out.
func (w *contentWriter) write(f *graph.Function) {
	for i, a := range f.Args {
		w.visit(a)
		w.text("arg", fmt.Sprint(i), a.Output(0).Fact().DType.String())
	}
	for _, r := range f.Results {
		w.visit(handleOf(r.Output).Node)
	}
	for _, r := range f.Control {
		w.visit(r.Node)
	}
	for _, n := range f.Graph.Nodes() {
		if w.c.effects.OfNode(n) != 0 {
			w.visit(n)
		}
	}
	for _, n := range w.order {
		w.node(n)
	}
	for _, r := range f.Results {
		w.text("result", withoutNumbers(r.Name))
		w.output(r.Output)
	}
	for _, r := range f.Control {
		w.text("control", fmt.Sprint(w.number[r.Node]))
	}
}

// visit numbers a node and all that it needs, whatever their order in the file.
func (w *contentWriter) visit(n *graph.Node) {
	for stack := []*graph.Node{n}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if _, seen := w.number[n]; seen {
			continue
		}
		w.number[n] = len(w.order)
		w.order = append(w.order, n)
		for _, c := range slices.Backward(n.Control) {
			stack = append(stack, c)
		}
		for _, in := range slices.Backward(n.In) {
			stack = append(stack, handleOf(in).Node)
		}
	}
}

// node writes a node: its op, inputs and attributes, other than notes and defaults.
func (w *contentWriter) node(n *graph.Node) {
	op := n.Op
	if n.Def == nil {
		op = withoutNumbers(op) // a function that is called by its name
	}
	w.text("node", op)
	for _, in := range n.In {
		w.output(in)
	}
	for _, c := range n.Control {
		w.text("after", fmt.Sprint(w.number[c]))
	}
	attrs := slices.Clone(n.Attrs)
	slices.SortFunc(attrs, func(a, b graph.Attr) int { return strings.Compare(a.Name, b.Name) })
	for _, a := range attrs {
		if notes[a.Name] || isDefault(n.Def, a) {
			continue
		}
		w.text("attr", a.Name, fmt.Sprint(a.Kind))
		w.value(a)
	}
}

// notes are attributes for the placement of a node or the configuration of a session, or that
// follow from the rest of the graph. They change no result, and a program that writes a model
// again may leave them out.
var notes = map[string]bool{
	"_class": true, "_output_shapes": true, "_read_only_resource_inputs": true, "_collective_manager_ids": true, "config_proto": true, "debug_name": true,
}

// isDefault reports whether an attribute has its default value.
func isDefault(d *graph.OpDef, a graph.Attr) bool {
	if d == nil {
		return false
	}
	def := d.Attr(a.Name)
	if def == nil || !def.HasDefault() {
		return false
	}
	v, ok := def.Default()
	return ok && v.Equal(a)
}

// namesWithNumbers are attributes to which TensorFlow appends a process-wide
// number.
var namesWithNumbers = map[string]bool{"_gradient_op_type": true, "forward_function_name": true, "backward_function_name": true}

// value writes the value of an attribute, a function as its digest.
func (w *contentWriter) value(a graph.Attr) {
	switch v := a.Value().(type) {
	case string:
		switch {
		case namesWithNumbers[a.Name]:
			v = withoutNumbers(v)
		case a.Name == "shared_name" && v != "":
			v = w.shared(v)
		}
		w.text(v)
	case *tensor.Tensor:
		w.tensor(v)
	case []*tensor.Tensor:
		for _, t := range v {
			w.tensor(t)
		}
	case graph.Callee:
		w.callee(v)
	case []graph.Callee:
		for _, f := range v {
			w.callee(f)
		}
	default:
		w.text(fmt.Sprintf("%v", v))
	}
}

func (w *contentWriter) callee(f graph.Callee) {
	if f.Function == nil {
		w.text(withoutNumbers(f.FuncName()))
	} else {
		w.text(w.c.function(f.Function))
	}
	for _, a := range f.Attrs {
		w.text(a.Name, a.String())
	}
}

func (w *contentWriter) tensor(t *tensor.Tensor) {
	if t == nil {
		w.text("no tensor")
		return
	}
	w.text(t.DType().String(), t.Shape().String())
	if t.DType().Fixed() {
		w.h.Write(t.Bytes())
		return
	}
	w.text(t.Strings()...)
}

// handleOf returns the output that makes a handle, before all Identity ops that pass it on. Any other
// output is returned unchanged.
func handleOf(o graph.Output) graph.Output {
	for o.Node.Op == "Identity" && len(o.Node.In) == 1 && o.Fact().DType == tensor.Resource {
		o = o.Node.In[0]
	}
	return o
}

func (w *contentWriter) output(o graph.Output) {
	o = handleOf(o)
	w.text("in", fmt.Sprint(w.number[o.Node]), fmt.Sprint(o.Index))
}

// text writes words, each with its length, so that no two lists of words are alike.
func (w *contentWriter) text(words ...string) {
	var n [8]byte
	for _, s := range words {
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		w.h.Write(n[:])
		io.WriteString(w.h, s)
	}
}

// withoutNumbers cuts the digits after "_" or "-" at the end of a name. They are a
// counter of the process.
func withoutNumbers(name string) string {
	for {
		short := strings.TrimRight(name, "0123456789")
		if len(short) == len(name) || !strings.HasSuffix(short, "_") && !strings.HasSuffix(short, "-") {
			return name
		}
		name = short[:len(short)-1]
	}
}
