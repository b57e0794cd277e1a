package passes

import (
	"slices"

	"github.com/cairnml/cairn/engine/internal/analysis"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The ops that the pass "recurrences" makes of loops over a sequence whose body
// is a recurrent cell. Their inputs are x (steps, batch, width), the first
// state, and the weights of the input and of the state, whose columns are the
// gates in order. Their outputs are the states after every step and the last
// states.
//
// The attribute layouts has the layouts of x and of the states after every
// step: "tbw", or "btw" if the steps of an example are adjacent. The attribute
// backwards has for both whether the first step is last.
const (
	// LSTMOp has the inputs x, h, c, the weights and one bias. Its attribute
	// gates lists the positions of the input, forget, new and output gates.
	// forget_bias is added to the forget gate.
	LSTMOp = "_LSTM"
	// GRUOp has the inputs x, h, the weights and a bias for each of the
	// products. Its attribute gates lists the positions of the update, reset
	// and new gates.
	GRUOp = "_GRU"
)

// raiseRecurrences replaces each loop over a list of inputs by one op if its
// body is a cell as Keras writes it: of an LSTM, or of a GRU that resets after
// the product. The number of steps must be known.
func raiseRecurrences(u *Unit) error {
	if !u.Kernels.Has(LSTMOp) || !u.Kernels.Has(GRUOp) {
		return nil
	}
	for work := 0; work < maxRecurrenceWork; { // a raised layer may reveal the shapes of the input of the next
		r, err := newRewriter(u)
		if err != nil {
			return err
		}
		work += len(r.nodes)
		raised := false
		for _, n := range r.nodes {
			if n.Op != "StatelessWhile" || r.pinned[n] {
				continue
			}
			work += maxCell
			l := recurrence{rewriter: r, loop: n}
			if !l.find() {
				continue
			}
			if err := l.raise(); err != nil {
				return err
			}
			raised = true
		}
		if err := r.finish(); err != nil || !raised {
			return err
		}
		if err := u.Shapes.InferFunction(u.Function); err != nil {
			return err
		}
		if err := foldConstants(u); err != nil {
			return err
		}
	}
	return nil
}

const (
	// maxCell is the number of nodes of the largest body that is analyzed.
	maxCell = 200
	// maxRecurrenceWork is the number of nodes that are analyzed, in all rounds, after which
	// no other round begins.
	maxRecurrenceWork = 1 << 20
)

// recurrence is a loop that runs a cell.
type recurrence struct {
	*rewriter
	loop *graph.Node
	body *graph.Function
	args map[graph.Output]int // the number of each argument of the body

	time, list, h, c, x int  // variables of the loop; c is -1 where there is none
	steps               int  // -1 until it is found
	last                bool // the list takes the last state only
	stack               *graph.Node

	gates        []int64        // attribute gates
	forget       float64        // attribute forget_bias
	left, right  int            // the weights of the input and of the state
	biases       []graph.Output // of the loop's inputs: of x's product
	stateBiases  []graph.Output // of the state's product, if the gates are added later
	batch, width int
}

// prepared returns a simplified copy of a function that the loop calls, with
// the facts of the loop's variables.
func (l *recurrence) prepared(attr string) *graph.Function {
	callee, ok := l.loop.Attrs.Func(attr)
	if !ok || callee.Function == nil || len(callee.Function.Args) != len(l.loop.In) || len(callee.Function.Graph.Nodes()) > maxCell {
		return nil
	}
	f, err := callee.Function.Clone()
	if err != nil || f.Instantiate(callee.Attrs) != nil {
		return nil
	}
	for i, a := range f.Args {
		if a.Out[0].DType != l.loop.Out[i].DType {
			return nil
		}
		a.Out[0] = l.loop.Out[i]
	}
	u := &Unit{Function: f, Kernels: l.Kernels, Shapes: l.Shapes, ConstantsOnly: l.ConstantsOnly}
	if l.Shapes.InferFunction(f) != nil || inlineCalls(u) != nil || skipIdentities(u) != nil || foldConstants(u) != nil {
		return nil
	}
	return u.Function
}

// find analyzes the loop and reports whether one op can replace it.
func (l *recurrence) find() bool {
	n := l.loop
	if len(n.Out) != len(n.In) {
		return false
	}
	if l.body = l.prepared("body"); l.body == nil || len(l.body.Results) != len(n.In) || len(l.body.Control) > 0 {
		return false
	}
	l.args = map[graph.Output]int{}
	for i, a := range l.body.Args {
		l.args[a.Output(0)] = i
	}
	return l.variables() && l.rounds() && l.input() && l.output() && l.cell() && l.sizesFit()
}

// arg returns the index of the loop variable whose value before a round is o, or
// -1 if o is no argument of the body.
func (l *recurrence) arg(o graph.Output) int {
	if i, ok := l.args[o]; ok {
		return i
	}
	return -1
}

// result returns the value of a variable after the round.
func (l *recurrence) result(i int) graph.Output { return l.body.Results[i].Output }

// fixed reports whether a variable stays as it is.
func (l *recurrence) fixed(i int) bool { return i >= 0 && l.arg(l.result(i)) == i }

// counts reports whether each round adds one to a variable.
func (l *recurrence) counts(i int) bool {
	n := l.result(i).Node
	if n.Op != "AddV2" && n.Op != "Add" || n.Out[0].DType != tensor.Int32 {
		return false
	}
	for k, x := range n.In {
		if v, ok := intOf(n.In[1-k]); ok && v == 1 && l.arg(x) == i {
			return true
		}
	}
	return false
}

// intOf returns the one integer that o is known to be.
func intOf(o graph.Output) (int, bool) {
	v, ok := o.Fact().Int()
	if t, isConst := analysis.ConstantOf(o.Node); isConst && !ok && t.DType() == tensor.Int32 && t.Len() == 1 && len(t.Shape()) == 0 {
		v, ok = int64(tensor.Values[int32](t)[0]), true
	}
	return int(v), ok && o.Fact().DType == tensor.Int32 && o.Fact().Shape.Rank() == 0
}

// variables classifies the loop's variables: constants, counters, a list, and
// the state of the cell.
func (l *recurrence) variables() bool {
	l.list, l.h, l.c = -1, -1, -1
	var floats []int
	for i, f := range l.loop.Out {
		switch {
		case l.fixed(i) || l.counts(i):
			if len(l.users[l.loop.Output(i)]) > 0 || l.rewriter.results[l.loop.Output(i)] {
				return false
			}
		case f.DType == tensor.Variant && l.list < 0:
			l.list = i
		case f.DType == tensor.Float32:
			floats = append(floats, i)
		default:
			return false
		}
	}
	if l.list < 0 || len(floats) < 1 || len(floats) > 2 {
		return false
	}
	set := l.result(l.list).Node
	if set.Op != "TensorListSetItem" || l.arg(set.In[0]) != l.list {
		return false
	}
	for _, i := range floats {
		if l.result(i) == set.In[2] {
			l.h = i
		} else {
			l.c = i
		}
	}
	at, ok := intOf(set.In[1])
	l.last, l.time = ok && at == 0, l.arg(set.In[1])
	return l.h >= 0 && (len(floats) == 1) == (l.c < 0) && (l.last || l.time >= 0)
}

// rounds finds out how many rounds there are.
func (l *recurrence) rounds() bool {
	cond := l.prepared("cond")
	if cond == nil || len(cond.Results) != 1 || len(cond.Control) > 0 {
		return false
	}
	args := map[graph.Output]int{}
	for i, a := range cond.Args {
		args[a.Output(0)] = i
	}
	l.steps = -1
	var visit func(o graph.Output) bool
	visit = func(o graph.Output) bool {
		switch n := o.Node; n.Op {
		case "LogicalAnd":
			return visit(n.In[0]) && visit(n.In[1])
		case "Less":
			counter, ok := args[n.In[0]]
			limit, fine := intOf(n.In[1])
			if i, is := args[n.In[1]]; is {
				limit, fine = intOf(l.loop.In[i])
				fine = fine && l.fixed(i)
			}
			if !ok || !fine || !l.counts(counter) {
				return false
			}
			first, ok := intOf(l.loop.In[counter])
			if steps := limit - first; ok && (l.steps < 0 || steps < l.steps) {
				l.steps = max(steps, 0)
			}
			return ok
		}
		return false
	}
	return visit(cond.Results[0].Output) && l.steps > 0
}

// input finds the list of inputs, of which each round takes one.
func (l *recurrence) input() bool {
	l.x = -1
	for _, n := range l.body.Graph.Nodes() {
		if n.Op != "TensorListGetItem" {
			continue
		}
		if l.x >= 0 || l.last && l.time >= 0 && l.arg(n.In[1]) != l.time {
			return false
		}
		l.x = l.arg(n.In[0])
		if i := l.arg(n.In[1]); l.time < 0 {
			l.time = i
		} else if i != l.time {
			return false
		}
	}
	if l.x < 0 || l.time < 0 || !l.fixed(l.x) || !l.counts(l.time) {
		return false
	}
	first, ok := intOf(l.loop.In[l.time])
	from := l.loop.In[l.x].Node
	if !ok || first != 0 || from.Op != "TensorListFromTensor" {
		return false
	}
	x := from.In[0].Fact()
	return x.DType == tensor.Float32 && x.Shape.Known() && x.Shape.Rank() == 3 && x.Shape.Dim(0) >= l.steps && settled(x.Shape, 0)
}

// output finds the use of the list after the loop.
func (l *recurrence) output() bool {
	o := l.loop.Output(l.list)
	reserve := l.loop.In[l.list].Node
	if reserve.Op != "TensorListReserve" {
		return false
	}
	want := l.steps
	if l.last {
		want = 1
	}
	if n, ok := intOf(reserve.In[1]); !ok || n != want || l.rewriter.results[o] {
		return false
	}
	switch users := l.users[o]; len(users) {
	case 0:
		return true
	case 1:
		l.stack = users[0]
		return l.stack.Op == "TensorListStack" && !l.pinned[l.stack] && l.stack.Attrs.Type("element_dtype", tensor.Invalid) == tensor.Float32
	}
	return false
}

// sizesFit reports whether the sizes of all inputs agree.
func (l *recurrence) sizesFit() bool {
	x := l.loop.In[l.x].Node.In[0].Fact().Shape
	l.batch = x.Dim(1)
	h := l.loop.In[l.h].Fact()
	if !h.Shape.Known() || h.Shape.Rank() != 2 || h.Shape.Dim(0) != l.batch || h.Ref {
		return false
	}
	l.width = h.Shape.Dim(1)
	columns := l.width * len(l.gates)
	is := func(o graph.Output, dims ...int) bool {
		f := o.Fact()
		return f.DType == tensor.Float32 && !f.Ref && f.Shape.Known() && slices.Equal(f.Shape.Dims(), dims)
	}
	ok := l.width > 0 && is(l.loop.In[l.left], x.Dim(2), columns) && is(l.loop.In[l.right], l.width, columns)
	if l.c >= 0 {
		ok = ok && is(l.loop.In[l.c], l.batch, l.width)
	}
	for _, b := range slices.Concat(l.biases, l.stateBiases) {
		ok = ok && is(b, columns)
	}
	return ok
}

// raise puts the op in the place of the loop.
func (l *recurrence) raise() error {
	n := l.loop
	op, in := GRUOp, []graph.Output{n.In[l.x].Node.In[0], n.In[l.h]}
	attrs := graph.Attrs{graph.Int("steps", int64(l.steps)), graph.Bool("sequence", !l.last && l.stack != nil), graph.Ints("gates", l.gates...),
		graph.Strings("layouts", "tbw", "tbw"), graph.Bools("backwards", false, false)}
	bias, err := l.sum(l.biases)
	if err != nil {
		return err
	}
	if l.c >= 0 {
		op, in = LSTMOp, append(in, n.In[l.c], n.In[l.left], n.In[l.right], bias)
		attrs = append(attrs, graph.Float("forget_bias", l.forget))
	} else {
		second, err := l.sum(l.stateBiases)
		if err != nil {
			return err
		}
		in = append(in, n.In[l.left], n.In[l.right], bias, second)
	}
	m, err := l.add(n, op, attrs, in...)
	if err != nil {
		return err
	}
	replaced := map[graph.Output]graph.Output{n.Output(l.h): m.Output(1)}
	if l.c >= 0 {
		replaced[n.Output(l.c)] = m.Output(2)
	}
	if l.stack != nil {
		replaced[l.stack.Output(0)] = m.Output(0)
		if l.last {
			if replaced[l.stack.Output(0)], err = l.reshaped(n, m.Output(1), 1, l.batch, l.width); err != nil {
				return err
			}
		}
	}
	rewire(l.Function, replaced)
	return nil
}

// sum returns the sum of vectors, zeros if there are none.
func (l *recurrence) sum(vectors []graph.Output) (graph.Output, error) {
	if len(vectors) == 0 {
		return l.constant(l.loop, tensor.Must(tensor.Zeros(tensor.Float32, l.width*len(l.gates))))
	}
	sum := vectors[0]
	for _, v := range vectors[1:] {
		var err error
		if sum, err = l.binary(l.loop, "AddV2", sum, v); err != nil {
			return sum, err
		}
	}
	return sum, nil
}
