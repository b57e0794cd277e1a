package rnn

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// raisedDef returns the definition of an op that plans make of a loop.
func raisedDef(op string, states int, in ...string) *graph.OpDef {
	d := &graph.OpDef{Name: op, Attrs: []graph.AttrDef{
		{Name: "T", Kind: graph.AttrType, AllowedTypes: []tensor.DType{tensor.Float32}},
		{Name: "steps", Kind: graph.AttrInt}, {Name: "sequence", Kind: graph.AttrBool}, {Name: "gates", Kind: graph.AttrInts},
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
	raisedLSTM = raisedDef(engine.LSTMOp, 2, "x", "h", "c", "weights", "state_weights", "bias")
	raisedGRU  = raisedDef(engine.GRUOp, 1, "x", "h", "weights", "state_weights", "bias", "state_bias")
)

// recurrence is a prepared node of a raised loop.
type recurrence struct {
	steps    int
	sequence bool
	order    []int // where the gates stand
	forget   float32
	lstm     bool
}

// layer is one call of a recurrence.
type layer struct {
	*recurrence
	batch, in, width int
	x, left, right   []float32
	bias, stateBias  []float32 // that of the state is nil in an LSTM
	h, c             []float32 // of the step at hand; c is nil in a GRU
	all              []float32 // of all steps; nil where nobody asks for them

	together            int       // steps whose inputs are multiplied at once
	gates, state, spare []float32 // scratch memory, example by example
	inputs              []float32
}

func prepareRaised(n *engine.Node) (func(*engine.Call) error, error) {
	r := &recurrence{steps: int(n.Attrs.Int("steps", 0)), sequence: n.Attrs.Bool("sequence"), lstm: n.Op == engine.LSTMOp, forget: float32(n.Attrs.Float("forget_bias", 0))}
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
	return r.run, nil
}

func (r *recurrence) run(c *engine.Call) error {
	l, err := r.layer(c)
	if err != nil || l.batch == 0 || l.width == 0 {
		return err
	}
	columns := len(r.order) * l.width
	l.together = min(l.steps, max(1, chunk/(l.batch*columns)))
	l.gates, _ = engine.Scratch[float32](c, l.together*l.batch*columns)
	l.state, _ = engine.Scratch[float32](c, l.batch*columns)
	l.spare, _ = engine.Scratch[float32](c, l.batch*l.width)
	l.inputs, _ = engine.Scratch[float32](c, l.together*l.batch*l.in)
	// Rows that share a product take less time than one by one.
	groups := min(l.batch/leastRows, c.Workers().Count())
	each := float64(r.steps) * float64(l.batch) * (gemm.Cost(4, 1, columns, l.in+l.width) + 2*float64(l.width))
	if groups < 2 || !c.Large(1, each) {
		l.rows(0, l.batch)
		return nil
	}
	c.Parallel(groups, each/float64(groups), func(lo, hi int) {
		l.rows(lo*l.batch/groups, hi*l.batch/groups)
	})
	return nil
}

// leastRows is how many rows a worker takes at least.
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
	if len(x) != 3 || len(h) != 2 || x[1] != h[0] || x[0] < r.steps {
		return l, fmt.Errorf("%d steps of inputs of %v and a state of %v", r.steps, x, h)
	}
	l.batch, l.in, l.width = x[1], x[2], h[1]
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
	l.x = f(0)
	steps := 0
	if r.sequence {
		steps = r.steps
	}
	all, err := c.Alloc(0, tensor.Float32, tensor.Shape{steps, l.batch, l.width})
	if err != nil {
		return l, err
	}
	if r.sequence {
		l.all = tensor.Values[float32](all)
	}
	state := func(i int) ([]float32, error) {
		y, err := c.AllocOver(i, i, tensor.Float32, h)
		if err != nil {
			return nil, err
		}
		v := tensor.Values[float32](y)
		copy(v, f(i))
		return v, nil
	}
	if l.h, err = state(1); err != nil {
		return l, err
	}
	if r.lstm {
		l.left, l.right, l.bias = f(3), f(4), f(5)
		l.c, err = state(2)
		return l, err
	}
	l.left, l.right, l.bias, l.stateBias = f(2), f(3), f(4), f(5)
	return l, nil
}

// chunk is about how many numbers the gates of some steps take: they stay in the
// cache.
const chunk = 1 << 16

// rows runs all steps for examples lo to hi of the batch: each has the bits that it
// has alone.
func (l *layer) rows(lo, hi int) {
	n, columns := hi-lo, len(l.order)*l.width
	gates := l.gates[l.together*lo*columns : l.together*hi*columns]
	state, spare := l.state[lo*columns:hi*columns], l.spare[lo*l.width:hi*l.width]
	for t := 0; t < l.steps; t += l.together {
		k := min(l.together, l.steps-t)
		for i := range k * n {
			copy(gates[i*columns:(i+1)*columns], l.bias)
		}
		x := l.x[t*n*l.in:]
		if n < l.batch { // these examples, one step after the other
			x = l.inputs[l.together*lo*l.in : l.together*hi*l.in]
			for s := range k {
				copy(x[s*n*l.in:(s+1)*n*l.in], l.x[((t+s)*l.batch+lo)*l.in:])
			}
		}
		gemm.F32(gates, columns, x, l.in, false, l.left, columns, false, k*n, columns, l.in, true, nil)
		for s := range k {
			l.step(gates[s*n*columns:(s+1)*n*columns], state, spare, lo, hi)
			if l.all != nil {
				copy(l.all[((t+s)*l.batch+lo)*l.width:], l.h[lo*l.width:hi*l.width])
			}
		}
	}
}

// step takes the gates of a step, to which the state's part is missing.
func (l *layer) step(gates, state, spare []float32, lo, hi int) {
	u, n, columns := l.width, hi-lo, len(l.order)*l.width
	h := l.h[lo*u : hi*u]
	to := gates
	if l.stateBias != nil {
		to = state
		for i := range n {
			copy(to[i*columns:(i+1)*columns], l.stateBias)
		}
	}
	gemm.F32(to, columns, h, u, false, l.right, columns, false, n, columns, u, true, nil)
	for i := range n {
		g, h := gates[i*columns:(i+1)*columns], h[i*u:(i+1)*u]
		if l.lstm {
			l.lstmCell(g, h, l.c[(lo+i)*u:(lo+i+1)*u])
		} else {
			l.gruCell(g, state[i*columns:(i+1)*columns], h, spare[:u])
		}
	}
}

// part returns the numbers of a gate.
func (l *layer) part(v []float32, gate int) []float32 {
	at := l.order[gate] * l.width
	return v[at : at+l.width]
}

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
