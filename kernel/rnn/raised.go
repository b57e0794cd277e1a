package rnn

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of _LSTM and _GRU, ops that the pass engine/passes/recurrence.go
// makes of loops. Their definitions here and that pass change together.

// raisedDef returns the definition of an op that plans make of a loop over an
// LSTM or a GRU.
func raisedDef(op string, states int, in ...string) *graph.OpDef {
	d := &graph.OpDef{Name: op, Attrs: []graph.AttrDef{
		{Name: "T", Kind: graph.AttrType, AllowedTypes: []tensor.DType{tensor.Float32}},
		{Name: "steps", Kind: graph.AttrInt}, {Name: "sequence", Kind: graph.AttrBool}, {Name: "gates", Kind: graph.AttrInts},
		{Name: "layouts", Kind: graph.AttrStrings}, {Name: "backwards", Kind: graph.AttrBools},
	}}
	if states == 2 {
		d.Attrs = append(d.Attrs, graph.AttrDef{Name: "forget_bias", Kind: graph.AttrFloat})
	}
	for _, name := range in {
		d.Inputs = append(d.Inputs, graph.ArgDef{Name: name, TypeAttr: "T"})
	}
	for _, name := range []string{"sequence", "h", "c"}[:1+states] {
		d.Outputs = append(d.Outputs, graph.ArgDef{Name: name, TypeAttr: "T"})
	}
	return d
}

var (
	raisedLSTM = raisedDef(passes.LSTMOp, 2, "x", "h", "c", "weights", "state_weights", "bias")
	raisedGRU  = raisedDef(passes.GRUOp, 1, "x", "h", "weights", "state_weights", "bias", "state_bias")
)

// recurrence is a prepared node of such an op.
type recurrence struct {
	steps      int
	sequence   bool
	order      []int // the place of each gate
	forget     float32
	lstm       bool
	from, into direction // of x and of the states after every step
}

// direction is the layout and the order of a sequence.
type direction struct {
	examples  bool // the steps of an example are adjacent
	backwards bool
}

// at returns the offset of an example's step t in a batch of so many examples.
// A step has width numbers.
func (d direction) at(t, example, steps, batch, width int) int {
	if d.backwards {
		t = steps - 1 - t
	}
	if d.examples {
		return (example*steps + t) * width
	}
	return (t*batch + example) * width
}

// layer is one call of a recurrence.
type layer struct {
	*recurrence
	batch, in, width int
	xSteps           int // number of steps in x
	inputs           []float32
	left, right      []float32    // weights for the input and for the state
	bias, stateBias  []float32    // stateBias is nil in an LSTM
	first, last      [2][]float32 // the states h and c before and after all steps; a GRU has no c
	all              []float32    // h after each step; nil if no op reads it

	together int       // number of steps whose inputs are multiplied at once
	scratch  []float32 // memory of all workers
	each     int       // length of one worker's part
}

// worker runs some of the examples, with memory for the gates and the inputs of
// several steps, for the state's part of the gates, and for h and c.
type worker struct {
	*layer
	lo, hi                              int
	gates, state, spare, sequence, h, c []float32
}

// prepareRaised checks the attributes, which the pass writes.
func prepareRaised(n *engine.Node) (func(*engine.Call) error, error) {
	r := &recurrence{steps: int(n.Attrs.Int("steps", 0)), sequence: n.Attrs.Bool("sequence"), lstm: n.Op == passes.LSTMOp, forget: float32(n.Attrs.Float("forget_bias", 0))}
	for _, g := range n.Attrs.Ints("gates") {
		r.order = append(r.order, int(g))
	}
	want := 3
	if r.lstm {
		want = 4
	}
	if len(r.order) != want || r.steps < 1 {
		return nil, fmt.Errorf("%d steps of %d gates", r.steps, len(r.order))
	}
	for i, g := range r.order {
		for _, o := range r.order[:i] {
			if g == o {
				return nil, fmt.Errorf("the gates %v", r.order)
			}
		}
		if g < 0 || g >= want {
			return nil, fmt.Errorf("the gates %v", r.order)
		}
	}
	layouts, backwards := n.Attrs.Strings("layouts"), n.Attrs.Bools("backwards")
	if len(layouts) != 2 || len(backwards) != 2 {
		return nil, fmt.Errorf("%d layouts and %d directions, where the inputs and the states have one each", len(layouts), len(backwards))
	}
	for i, d := range []*direction{&r.from, &r.into} {
		if layouts[i] != "tbw" && layouts[i] != "btw" {
			return nil, fmt.Errorf("the layout %q is none of a sequence", layouts[i])
		}
		*d = direction{layouts[i] == "btw", backwards[i]}
	}
	return r.run, nil
}

// run divides the examples among workers. The bits don't depend on their
// number.
func (r *recurrence) run(c *engine.Call) error {
	l, err := r.layer(c)
	if err != nil || l.batch == 0 || l.width == 0 {
		return err
	}
	columns := len(r.order) * l.width
	l.together = min(l.steps, max(1, chunk/(l.batch*columns)))
	// Rows that are multiplied together take less time than one by one.
	groups := max(1, min(l.batch/leastRows, c.Workers().Count()))
	cost := float64(r.steps) * float64(l.batch) * (gemm.Cost(4, 1, columns, l.in+l.width) + 2*float64(l.width))
	if groups > 1 && !c.Large(1, cost) {
		groups = 1
	}
	most := (l.batch + groups - 1) / groups // number of examples of a worker
	l.each = most * (l.together*(columns+l.in) + columns + 3*l.width)
	if groups > 1 {
		l.each += apart
	}
	l.scratch, _ = engine.Scratch[float32](c, groups*l.each)
	if groups == 1 {
		l.rows(0, 0, l.batch)
		return nil
	}
	c.Parallel(groups, cost/float64(groups), func(lo, hi int) {
		for g := lo; g < hi; g++ {
			l.rows(g, g*l.batch/groups, (g+1)*l.batch/groups)
		}
	})
	return nil
}

// apart is the number of floats between the memory of two workers, a page.
// Processors prefetch within a page, and would take each other's cache lines.
const apart = 1 << 10

// leastRows is the least number of rows of a worker.
const leastRows = 4

// layer checks the inputs and makes the outputs.
func (r *recurrence) layer(c *engine.Call) (layer, error) {
	l := layer{recurrence: r}
	if err := c.Need(6); err != nil {
		return l, err
	}
	for i := range 6 {
		if d := c.In(i).DType(); d != tensor.Float32 {
			return l, &engine.UnsupportedTypeError{Attr: "T", Type: d, Known: []tensor.DType{tensor.Float32}}
		}
	}
	x, h := c.In(0).Shape(), c.In(1).Shape()
	if len(x) != 3 || len(h) != 2 {
		return l, fmt.Errorf("inputs of %v and a state of %v", x, h)
	}
	l.xSteps, l.batch, l.in, l.width = x[0], x[1], x[2], h[1]
	if r.from.examples {
		l.xSteps, l.batch = x[1], x[0]
	}
	if l.batch != h[0] || l.xSteps < r.steps {
		return l, fmt.Errorf("%d steps of inputs of %v and a state of %v", r.steps, x, h)
	}
	columns := len(r.order) * l.width
	want := []tensor.Shape{{l.in, columns}, {l.width, columns}, {columns}, {columns}}
	first := 2
	if r.lstm {
		want, first = append([]tensor.Shape{h}, want[:3]...), 2
	}
	for i, s := range want {
		if got := c.In(first + i).Shape(); !got.Equal(s) {
			return l, fmt.Errorf("input %d has the shape %v, not %v", first+i, got, s)
		}
	}
	f := func(i int) []float32 { return tensor.Values[float32](c.In(i)) }
	l.inputs = f(0)
	steps := 0
	if r.sequence {
		steps = r.steps
	}
	shape := tensor.Shape{steps, l.batch, l.width}
	if r.into.examples {
		shape = tensor.Shape{l.batch, steps, l.width}
	}
	all, err := c.Alloc(0, tensor.Float32, shape)
	if err != nil {
		return l, err
	}
	if r.sequence {
		l.all = tensor.Values[float32](all)
	}
	states := 1
	if r.lstm {
		states = 2
	}
	for i := range states {
		y, err := c.AllocOver(1+i, 1+i, tensor.Float32, h)
		if err != nil {
			return l, err
		}
		l.first[i], l.last[i] = f(1+i), tensor.Values[float32](y)
	}
	if r.lstm {
		l.left, l.right, l.bias = f(3), f(4), f(5)
		return l, nil
	}
	l.left, l.right, l.bias, l.stateBias = f(2), f(3), f(4), f(5)
	return l, nil
}

// chunk is about how many floats the gates of the steps in one product have:
// they fit in the cache.
const chunk = 1 << 16

// rows runs all steps for examples lo to hi of the batch, in the scratch memory
// of a group. The bits of an example don't depend on the others.
func (l *layer) rows(group, lo, hi int) {
	n, columns := hi-lo, len(l.order)*l.width
	mem := l.scratch[group*l.each : (group+1)*l.each]
	take := func(n int) []float32 {
		part := mem[:n]
		mem = mem[n:]
		return part
	}
	w := worker{layer: l, lo: lo, hi: hi}
	for i, state := range []*[]float32{&w.h, &w.c} {
		if l.first[i] != nil {
			*state = take(n * l.width)
			copy(*state, l.first[i][lo*l.width:])
		}
	}
	w.state, w.spare = take(n*columns), take(l.width)
	w.gates, w.sequence = take(l.together*n*columns), take(l.together*n*l.in)
	for t := 0; t < l.steps; t += l.together {
		k := min(l.together, l.steps-t)
		for i := range k * n {
			copy(w.gates[i*columns:(i+1)*columns], l.bias)
		}
		gemm.F32(w.gates, columns, w.x(t, k), l.in, false, l.left, columns, false, k*n, columns, l.in, true, nil)
		for s := range k {
			w.step(w.gates[s*n*columns : (s+1)*n*columns])
			if l.all == nil {
				continue
			}
			for i := range n {
				copy(l.all[l.into.at(t+s, lo+i, l.steps, l.batch, l.width):], w.h[i*l.width:(i+1)*l.width])
			}
		}
	}
	for i, state := range [][]float32{w.h, w.c} {
		copy(l.last[i][min(lo*l.width, len(l.last[i])):], state)
	}
}

// x returns the inputs of k steps, from t on, step after step.
func (w *worker) x(t, k int) []float32 {
	l, n := w.layer, w.hi-w.lo
	if n == l.batch && !l.from.backwards && (!l.from.examples || n == 1) {
		return l.inputs[t*n*l.in:]
	}
	for s := range k {
		for i := range n {
			copy(w.sequence[(s*n+i)*l.in:(s*n+i+1)*l.in], l.inputs[l.from.at(t+s, w.lo+i, l.xSteps, l.batch, l.in):])
		}
	}
	return w.sequence
}

// step computes a step from its gates, which don't include the state's part
// yet.
func (w *worker) step(gates []float32) {
	u, n, columns := w.width, w.hi-w.lo, len(w.order)*w.width
	to := gates
	if w.stateBias != nil {
		to = w.state
		for i := range n {
			copy(to[i*columns:(i+1)*columns], w.stateBias)
		}
	}
	gemm.F32(to, columns, w.h, u, false, w.right, columns, false, n, columns, u, true, nil)
	for i := range n {
		g, h := gates[i*columns:(i+1)*columns], w.h[i*u:(i+1)*u]
		if w.lstm {
			w.lstmCell(g, h, w.c[i*u:(i+1)*u])
		} else {
			w.gruCell(g, w.state[i*columns:(i+1)*columns], h, w.spare)
		}
	}
}

// part returns the numbers of a gate.
func (l *layer) part(v []float32, gate int) []float32 {
	at := l.order[gate] * l.width
	return v[at : at+l.width]
}

// lstmCell computes the units of one example from its gates g. It replaces the
// states h and c.
func (l *layer) lstmCell(g, h, c []float32) {
	in, forget, fresh, out := l.part(g, 0), l.part(g, 1), l.part(g, 2), l.part(g, 3)
	if l.forget != 0 {
		vec.AddVS(forget, forget, l.forget)
	}
	vec.FastSigmoid(in, in)
	vec.FastSigmoid(forget, forget)
	vec.FastTanh(fresh, fresh)
	vec.FastSigmoid(out, out)
	vec.MulVV(c, c, forget)
	vec.MulVV(fresh, fresh, in)
	vec.AddVV(c, c, fresh)
	vec.FastTanh(h, c)
	vec.MulVV(h, h, out)
}

// gruCell does so for a GRU; s has the state's parts of the gates.
func (l *layer) gruCell(g, s, h, spare []float32) {
	update, reset, fresh := l.part(g, 0), l.part(g, 1), l.part(g, 2)
	vec.AddVV(update, update, l.part(s, 0))
	vec.FastSigmoid(update, update)
	vec.AddVV(reset, reset, l.part(s, 1))
	vec.FastSigmoid(reset, reset)
	vec.MulVV(spare, reset, l.part(s, 2))
	vec.AddVV(fresh, fresh, spare)
	vec.FastTanh(fresh, fresh)
	// z·h + (1-z)·g
	vec.MulVV(h, h, update)
	vec.SubSV(update, 1, update)
	vec.MulVV(fresh, fresh, update)
	vec.AddVV(h, h, fresh)
}
