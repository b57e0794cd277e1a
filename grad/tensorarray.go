package grad

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// An array of TensorFlow 1 is an object that ops change, in the order of a float,
// its flow. In a function that is differentiated an array becomes a list, as
// TensorFlow 2 traces one. The list replaces the flow, also in the functions that
// the function calls, and the rules of lists apply.

// flowKind reports whether a value is the flow of an array that has become a
// list.
type flowKind byte

const (
	noFlow    flowKind = iota
	fixedFlow          // of an array whose size is given
	growing            // of an array that grows with writes
)

// flowInput is the index of the flow among the inputs of ops on arrays.
var flowInput = map[string]int{
	"TensorArrayReadV3": 2, "TensorArrayGatherV3": 2, "TensorArrayConcatV3": 1, "TensorArraySizeV3": 1,
	"TensorArrayWriteV3": 3, "TensorArrayScatterV3": 3, "TensorArraySplitV3": 3,
}

// array emits a node that makes an array or works on one that has become a list.
// It returns the values of the node's outputs, and false for any other node.
func (r *replayer) array(n *graph.Node) ([]*ops.Value, bool) {
	if n.Op == "TensorArrayV3" {
		return r.newArray(n), true
	}
	at, ok := flowInput[n.Op]
	if !ok || at >= len(n.In) {
		return nil, false
	}
	kind := r.flows[n.In[at]]
	if kind == noFlow {
		return nil, false
	}
	s, list := r.s, r.values[n.In[at]]
	in := func(i int) *ops.Value { return r.values[n.In[i]] }
	shaped := func(name string) ops.Input { shape, _ := n.Attrs.Shape(name); return sizesAsOpsTake(shape) }
	changed := func(list *ops.Value) []*ops.Value {
		r.flows[n.Output(0)] = kind
		return []*ops.Value{list}
	}
	switch n.Op {
	case "TensorArrayReadV3":
		return []*ops.Value{s.Emit1("TensorListGetItem", elementType(n.Attrs.Type("dtype", tensor.Invalid)), list, in(1), anyShape)}, true
	case "TensorArrayGatherV3":
		return []*ops.Value{s.Emit1("TensorListGather", elementType(n.Attrs.Type("dtype", tensor.Invalid)), list, in(1), shaped("element_shape"))}, true
	case "TensorArrayConcatV3":
		row, ok := n.Attrs.Shape("element_shape_except0")
		var shape ops.Input = anyShape
		if ok && row.HasRank() {
			shape = sizesAsOpsTake(graph.ShapeOf(-1).Concat(row))
		}
		attrs := elementType(n.Attrs.Type("dtype", tensor.Invalid)).Set(graph.Type("shape_type", tensor.Int32))
		return s.EmitN(2, "TensorListConcatV2", attrs, list, shape, tensor.Vector[int64]()), true
	case "TensorArraySizeV3":
		return []*ops.Value{listLength(s, list)}, true
	case "TensorArrayWriteV3":
		attrs := elementType(in(2).DType())
		if kind == growing {
			attrs = attrs.Set(graph.Bool("resize_if_index_out_of_bounds", true))
		}
		return changed(s.Emit1("TensorListSetItem", attrs, list, in(1), in(2))), true
	case "TensorArrayScatterV3":
		return changed(s.Emit1("TensorListScatterIntoExistingList", elementType(in(2).DType()), list, in(2), in(1))), true
	default: // TensorArraySplitV3
		return changed(s.Emit1("TensorListSplit", elementType(in(1).DType()), in(1), anyShape, in(2))), true
	}
}

// newArray emits the list of an array, and the array itself, because functions may
// take and return its handle.
func (r *replayer) newArray(n *graph.Node) []*ops.Value {
	shape, ok := n.Attrs.Shape("element_shape")
	if !ok {
		shape = graph.UnknownShape
	}
	size := r.values[n.In[0]]
	out := r.s.Emit(n.Op, n.Attrs, size)
	list := r.s.Emit1("TensorListReserve", elementType(n.Attrs.Type("dtype", tensor.Invalid)), sizesAsOpsTake(shape), size)
	if r.s.Err() != nil {
		return nil
	}
	r.flows[n.Output(1)] = fixedFlow
	if n.Attrs.Bool("dynamic_size") {
		r.flows[n.Output(1)] = growing
	}
	return []*ops.Value{out[0], list}
}

// flowsThrough returns which outputs of n are lists because inputs are, and the
// functions that n calls instead of its own.
func (r *replayer) flowsThrough(n *graph.Node) (attrs graph.Attrs, out []flowKind, err error) {
	kinds, any := make([]flowKind, len(n.In)), false
	for i, o := range n.In {
		kinds[i] = r.flows[o]
		any = any || kinds[i] != noFlow
	}
	if !any {
		return n.Attrs, nil, nil
	}
	switch n.Op {
	case "Identity", "IdentityN":
		return n.Attrs.Without("T"), kinds, nil
	}
	if functionRules[n.Op] == nil {
		return nil, nil, fmt.Errorf("the node %s (%s) takes the flow of an array, of which there is no gradient then", n.Name, n.Op)
	}
	fs, first, err := callees(n.Op, n.Attrs)
	if err != nil {
		return nil, nil, err
	}
	if first > 0 && kinds[0] != noFlow {
		return nil, nil, fmt.Errorf("the node %s (%s) chooses by the flow of an array", n.Name, n.Op)
	}
	args := make([]graph.Fact, len(n.In)-first)
	for i, o := range n.In[first:] {
		args[i] = r.values[o].Fact().WithoutValue()
		args[i].Shape = args[i].Shape.Anonymous()
	}
	kinds = kinds[first:]
	made := make([]*replayed, len(fs))
	for i, f := range fs {
		if made[i], err = r.called(f, kinds, args); err != nil {
			return nil, nil, err
		}
	}
	last := made[len(made)-1] // a loop's body
	if isLoop(n.Op) {
		if !equalKinds(last.flows, kinds) {
			return nil, nil, fmt.Errorf("the body %s doesn't hand on the flow of an array in its place", fs[1].Name)
		}
		in := make([]*ops.Value, len(n.In))
		for i, o := range n.In {
			in[i] = r.values[o]
		}
		return loopAttrs(n.Attrs, made[0].function, last.function, in), kinds, nil
	}
	functions := make([]*graph.Function, len(made))
	for i, m := range made {
		functions[i] = m.function
		if !equalKinds(m.flows, last.flows) {
			return nil, nil, fmt.Errorf("the functions that %s (%s) calls don't all return the flow of an array in the same place", n.Name, n.Op)
		}
	}
	return withFunctions(n.Op, n.Attrs, functions, typesOf(last.function.ResultFacts())), last.flows, nil
}

func equalKinds(a, b []flowKind) bool { return string(flowBytes(a)) == string(flowBytes(b)) }

func flowBytes(kinds []flowKind) []byte {
	b := make([]byte, len(kinds))
	for i, k := range kinds {
		b[i] = byte(k)
	}
	return b
}

// replayed is a function in which lists replace arrays among its arguments.
type replayed struct {
	function *graph.Function
	flows    []flowKind // of its results
}

// called returns f with lists for the flows among its arguments.
func (r *replayer) called(f *graph.Function, kinds []flowKind, facts []graph.Fact) (*replayed, error) {
	if r.depth >= maxDepth {
		return nil, errDepth
	}
	key := calledKey{f, string(flowBytes(kinds))}
	if made := r.made[key]; made != nil {
		return made, nil
	}
	if len(f.Args) != len(facts) {
		return nil, fmt.Errorf("the function %s has %d arguments, not %d", f.Name, len(f.Args), len(facts))
	}
	s, trace := r.s.NewFunction(f.Name)
	inner := newReplayer(s)
	inner.depth, inner.made = r.depth+1, r.made
	args := make([]*ops.Value, len(facts))
	for i, a := range f.Args {
		fact := a.Out[0]
		if kinds[i] != noFlow {
			fact = facts[i]
		} else if fact.Handle == nil {
			fact.Handle = facts[i].Handle
		}
		var err error
		if args[i], err = trace.Arg(a.Name, fact); err != nil {
			return nil, err
		}
		inner.flows[a.Output(0)] = kinds[i]
	}
	results, err := inner.replay(f, args)
	if err != nil {
		return nil, err
	}
	c, err := trace.Finish(results, nil)
	if err != nil {
		return nil, err
	}
	made := &replayed{function: c.Function}
	for _, result := range f.Results {
		made.flows = append(made.flows, inner.flows[result.Output])
	}
	r.made[key] = made
	return made, nil
}

type calledKey struct {
	f     *graph.Function
	flows string
}
