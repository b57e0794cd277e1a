package rnn

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of CudnnRNN, CudnnRNNV2 and CudnnRNNV3. The order of parameters
// and gates is cuDNN's and must stay: models store parameters so.
//
// TensorFlow has these ops for GPUs only. kernel/testdata/tf2.21/gen_rnn.py records the values of
// layers of tf_keras with the same weights, and TestKernelsEqualTensorFlow compares with these.

// network has the properties that all of cuDNN's networks share: layers of one
// kind of cell, each in one direction or two.
type network struct {
	mode           string // lstm, gru, rnn_relu or rnn_tanh
	gates          int
	directions     int
	skips, chooses bool // skips: the input has no weights; chooses: nor if it has as many elements as there are units
}

// newNetwork reads the attributes. It refuses forms whose results TensorFlow
// can't confirm without a GPU.
func newNetwork(a graph.Attrs) (*network, error) {
	n := &network{mode: a.String("rnn_mode", "lstm"), directions: 1}
	switch n.mode {
	case "lstm":
		n.gates = 4
	case "gru":
		n.gates = 3
	case "rnn_relu", "rnn_tanh":
		n.gates = 1
	default:
		return nil, fmt.Errorf("rnn_mode %q is none of lstm, gru, rnn_relu and rnn_tanh", n.mode)
	}
	switch d := a.String("direction", "unidirectional"); d {
	case "unidirectional":
	case "bidirectional":
		n.directions = 2
	default:
		return nil, fmt.Errorf("direction %q is neither unidirectional nor bidirectional", d)
	}
	switch m := a.String("input_mode", "linear_input"); m {
	case "linear_input":
	case "skip_input":
		n.skips = true
	case "auto_select":
		n.chooses = true
	default:
		return nil, fmt.Errorf("input_mode %q is none of linear_input, skip_input and auto_select", m)
	}
	if p := a.Int("num_proj", 0); p != 0 {
		return nil, fmt.Errorf("num_proj is %d: projections are not supported", p)
	}
	return n, nil
}

// sized is a network of known sizes.
type sized struct {
	*network
	layers, units, inputs int
}

// most bounds sizes, so that products don't overflow.
const most = 1 << 24

// sized checks the sizes of a network.
func (n *network) sized(layers, units, inputs int64) (*sized, error) {
	if layers < 1 || units < 1 || inputs < 1 || layers > most || units > most || inputs > most {
		return nil, fmt.Errorf("a network of %d layers of %d units for inputs of %d elements", layers, units, inputs)
	}
	if n.skips || n.chooses && units == inputs {
		return nil, fmt.Errorf("inputs that go in without weights (input_mode skip_input, or auto_select where there are as many inputs as units) are not supported")
	}
	return &sized{n, int(layers), int(units), int(inputs)}, nil
}

// region is a matrix or a bias among the parameters.
type region struct{ at, rows, columns int }

// regions calls matrix for each matrix of weights and bias for each bias, in
// the order in which the parameters hold them: first all matrices, then all
// biases. Both are ordered by layer and direction. Within a direction, the
// regions for the input come before those for the state, each by gates. It
// stops at the first false, and returns the number of parameters.
func (s *sized) regions(matrix, bias func(region) bool) int {
	at := 0
	for l := range s.layers {
		width := s.inputs
		if l > 0 {
			width = s.units * s.directions
		}
		for range s.directions {
			for g := range 2 * s.gates {
				if g == s.gates {
					width = s.units
				}
				if !matrix(region{at, s.units, width}) {
					return at
				}
				at += s.units * width
			}
			if width = s.inputs; l > 0 {
				width = s.units * s.directions
			}
		}
	}
	for range s.layers * s.directions * 2 * s.gates {
		if !bias(region{at, s.units, 1}) {
			return at
		}
		at += s.units
	}
	return at
}

// count returns the number of parameters.
func (s *sized) count() (int64, error) {
	per := func(inputs int) float64 { return float64(s.units) * float64(inputs+s.units+2) }
	n := float64(s.gates*s.directions) * (per(s.inputs) + float64(s.layers-1)*per(s.units*s.directions))
	if n > 1<<50 {
		return 0, fmt.Errorf("a network of %d layers of %d units for inputs of %d elements", s.layers, s.units, s.inputs)
	}
	return int64(n), nil
}

// cell is a layer in one direction: its parts of the parameters.
type cell[T float] struct {
	w, r   []T // matrices for the input and for the state: one a gate, with one row a unit
	bw, br []T // biases for the input and for the state
	width  int // of the input
}

// cells returns the cells of all layers and directions.
func cells[T float](s *sized, params []T) []cell[T] {
	n := s.layers * s.directions
	out := make([]cell[T], n)
	i := 0
	s.regions(func(r region) bool {
		c := &out[i/(2*s.gates)]
		m := params[r.at:][:r.rows*r.columns]
		switch g := i % (2 * s.gates); {
		case g == 0:
			c.width, c.w = r.columns, params[r.at:][:s.gates*len(m)]
		case g == s.gates:
			c.r = params[r.at:][:s.gates*len(m)]
		}
		i++
		return true
	}, func(r region) bool {
		c := &out[i/(2*s.gates)-n]
		switch g := i % (2 * s.gates); g {
		case 0:
			c.bw = params[r.at:][:s.gates*s.units]
		case s.gates:
			c.br = params[r.at:][:s.gates*s.units]
		}
		i++
		return true
	})
	return out
}

// prepareCudnn returns the kernel of one of cuDNN's networks. The outputs that
// cuDNN reserves for a backward pass stay empty, because ours computes them
// again.
func prepareCudnn(n *engine.Node) (func(*engine.Call) error, error) {
	call, err := newCudnn(n)
	if err != nil {
		return nil, err
	}
	if n.Attrs.Has("is_training") && !n.Attrs.Bool("is_training") {
		call.dropout = 0
	}
	return call.kernel(4, runCudnn[float32], runCudnn[float64]), nil
}

// cudnn has the attributes of an op on networks.
type cudnn struct {
	*network
	major   bool // the first dimension is the time, as in all ops except V3
	lengths bool // an input after the parameters has the sequences' lengths
	dropout float64
}

// newCudnn reads the attributes of a node.
func newCudnn(n *engine.Node) (*cudnn, error) {
	net, err := newNetwork(n.Attrs)
	if err != nil {
		return nil, err
	}
	return &cudnn{
		network: net, dropout: n.Attrs.Float("dropout", 0), lengths: strings.HasSuffix(n.Op, "V3"),
		major: !strings.HasSuffix(n.Op, "V3") || !n.Attrs.Has("time_major") || n.Attrs.Bool("time_major"),
	}, nil
}

// kernel returns the function that runs an op of so many inputs, without the
// lengths.
func (n *cudnn) kernel(inputs int, single func(*engine.Call, *cudnn) error, double func(*engine.Call, *cudnn) error) func(*engine.Call) error {
	if n.lengths {
		inputs++
	}
	return func(c *engine.Call) error {
		if err := c.Need(inputs); err != nil {
			return err
		}
		switch d := c.In(0).DType(); d {
		case tensor.Float64:
			return double(c, n)
		case tensor.Float32, tensor.Float16, tensor.BFloat16:
			return single(c, n)
		default:
			return &engine.UnsupportedTypeError{Attr: "T", Type: d, Known: []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Float16}}
		}
	}
}

// batch is one call of a network. Each of its steps has a row for every
// sequence.
type batch[T float] struct {
	*sized
	major         bool // the op's tensors begin with the time; the slices always begin with the time or the state
	times, rows   int
	lengths       []int32
	outs, state   tensor.Shape // shapes of the op's outputs and states
	in, h0, c0, p []T          // the inputs; c0 is nil without a memory
}

// newBatch reads and checks the inputs.
func newBatch[T float](c *engine.Call, net *cudnn) (*batch[T], error) {
	x, h := c.In(0).Shape(), c.In(1).Shape()
	if len(x) != 3 || len(h) != 3 {
		return nil, fmt.Errorf("input has shape %v and input_h %v; both must have 3 dimensions", x, h)
	}
	times, rows, states := x[0], x[1], h[0]
	if !net.major {
		times, rows, states = x[1], x[0], h[1]
	}
	if states%net.directions != 0 {
		return nil, fmt.Errorf("input_h has %d states, which don't belong to layers of %d directions", states, net.directions)
	}
	s, err := net.sized(int64(states/net.directions), int64(h[2]), int64(x[2]))
	if err != nil {
		return nil, err
	}
	if net.dropout > 0 && s.layers > 1 {
		return nil, fmt.Errorf("dropout of %v between layers can't be drawn as cuDNN draws it; set is_training to false", net.dropout)
	}
	d := c.In(0).DType()
	b := &batch[T]{
		sized: s, major: net.major, times: times, rows: rows,
		state: tensor.Shape{states, rows, s.units}, outs: tensor.Shape{times, rows, s.units * s.directions},
	}
	if !b.major {
		b.state, b.outs = tensor.Shape{rows, states, s.units}, tensor.Shape{rows, times, s.units * s.directions}
	}
	params, err := s.count()
	if err != nil {
		return nil, err
	}
	if err := all(dims(c, 1, "input_h", d, b.state...), dims(c, 3, "params", d, int(params))); err != nil {
		return nil, err
	}
	b.in, b.h0, b.p = b.timed(c, c.In(0)), b.timed(c, c.In(1)), values[T](c, c.In(3))
	if s.mode == "lstm" {
		if err := dims(c, 2, "input_c", d, b.state...); err != nil {
			return nil, err
		}
		b.c0 = b.timed(c, c.In(2))
	}
	if net.lengths {
		if err := dims(c, 4, "sequence_lengths", tensor.Int32, rows); err != nil {
			return nil, err
		}
		b.lengths = tensor.Values[int32](c.In(4))
		for i, n := range b.lengths {
			if n < 0 || int(n) > times {
				return nil, fmt.Errorf("sequence_lengths(%d) is %d, of an input of %d steps", i, n, times)
			}
		}
	}
	return b, nil
}

// timed returns the elements of a tensor of the op, with the time or the state
// as first dimension.
func (b *batch[T]) timed(c *engine.Call, t *tensor.Tensor) []T {
	v := values[T](c, t)
	if s := t.Shape(); !b.major {
		return swapped(c, v, s[0], s[1], s[2])
	}
	return v
}

// give stores v, whose first dimension is the time or the state, as output i.
func (b *batch[T]) give(c *engine.Call, i int, v []T, shape tensor.Shape) error {
	out, done, err := output[T](c, i, c.In(0).DType(), shape...)
	if err != nil {
		return err
	}
	if !b.major && len(shape) == 3 {
		v = swapped(c, v, shape[1], shape[0], shape[2])
	}
	copy(out, v)
	done()
	return nil
}

// runCudnn runs the forward pass in type T. Inputs are the input, the states,
// the memories and the parameters.
func runCudnn[T float](c *engine.Call, net *cudnn) error {
	b, err := newBatch[T](c, net)
	if err != nil {
		return err
	}
	out, h, cs, err := b.run(c, cells(b.sized, b.p), nil)
	if err == nil {
		err = b.give(c, 0, out, b.outs)
	}
	if err == nil {
		err = b.give(c, 1, h, b.state)
	}
	if err == nil && b.mode == "lstm" {
		err = b.give(c, 2, cs, b.state)
	} else if err == nil {
		err = b.give(c, 2, nil, nil)
	}
	if err == nil {
		_, err = c.Alloc(3, c.In(0).DType(), tensor.Shape{0})
	}
	if err == nil && c.Op() != "CudnnRNN" {
		_, err = c.Alloc(4, tensor.Int8, tensor.Shape{0})
	}
	return err
}

// swapped returns x, of shape a×b×n, as b×a×n; nil stays nil.
func swapped[T float](c *engine.Call, x []T, a, b, n int) []T {
	if len(x) == 0 {
		return x
	}
	out := zeroed[T](c, len(x))
	for i := range a {
		for j := range b {
			copy(out[(j*a+i)*n:][:n], x[(i*b+j)*n:][:n])
		}
	}
	return out
}

// run returns the outputs of the last layer, and the last states of all layers.
// It stores each layer's input and the steps of each cell in kept, unless that
// is nil.
func (b *batch[T]) run(c *engine.Call, list []cell[T], kept *steps[T]) (out, h, cs []T, err error) {
	n := b.rows * b.units
	h, cs = zeroed[T](c, len(b.h0)), zeroed[T](c, len(b.c0))
	copy(h, b.h0)
	copy(cs, b.c0)
	in := b.in
	for l := range b.layers {
		if kept != nil {
			kept.in = append(kept.in, in)
		}
		out = zeroed[T](c, b.times*n*b.directions)
		for d := range b.directions {
			i := l*b.directions + d
			state := h[i*n:][:n]
			var memory, steps []T
			if b.mode == "lstm" {
				memory = cs[i*n:][:n]
			}
			if kept != nil {
				steps = zeroed[T](c, b.times*n*b.valuesPerUnit())
				kept.of = append(kept.of, steps)
			}
			if err := b.layer(c, list[i], in, state, memory, out[d*min(b.units, len(out)):], d == 1, steps); err != nil {
				return nil, nil, nil, err
			}
		}
		in = out
	}
	return out, h, cs, nil
}

// layer runs a layer in one direction over the steps. It changes the state and,
// in an LSTM, the memory. A row of the outputs is units·directions long. steps
// gets the numbers that the backward pass needs of each step, unless it is nil.
func (b *batch[T]) layer(c *engine.Call, w cell[T], in, state, memory, out []T, backwards bool, steps []T) error {
	n, wide := b.units, b.gates*b.units
	x := zeroed[T](c, b.times*b.rows*wide)
	addProduct(c, x, in, w.width, false, w.w, w.width, true, b.times*b.rows, wide, w.width)
	addRow(x, w.bw)
	r := zeroed[T](c, b.rows*wide)
	for i := range b.times {
		if err := c.Context().Err(); err != nil {
			return err
		}
		t := i
		if backwards {
			t = b.times - 1 - i
		}
		clear(r)
		addProduct(c, r, state, n, false, w.r, n, true, b.rows, wide, n)
		addRow(r, w.br)
		c.Parallel(b.rows, float64(wide)*20, func(lo, hi int) {
			for row := lo; row < hi; row++ {
				if b.ended(t, row) {
					continue // the state doesn't change, the output is zero
				}
				to := state[row*n:][:n]
				xr, rr := x[(t*b.rows+row)*wide:][:wide], r[row*wide:][:wide]
				var kept []T
				if steps != nil {
					kept = steps[(t*b.rows+row)*n*b.valuesPerUnit():][:n*b.valuesPerUnit()]
					copy(kept, to)
					kept = kept[n:]
				}
				switch b.mode {
				case "lstm":
					lstmUnits(xr, rr, to, memory[row*n:][:n], kept)
				case "gru":
					gruUnits(xr, rr, to, kept)
				case "rnn_relu":
					for u := range to {
						to[u] = max(xr[u]+rr[u], 0)
					}
					copy(kept, to)
				case "rnn_tanh":
					for u := range to {
						to[u] = tanh(xr[u] + rr[u])
					}
					copy(kept, to)
				}
				copy(out[(t*b.rows+row)*n*b.directions:][:n], to)
			}
		})
	}
	return nil
}

// ended reports whether a row's sequence has no step t.
func (b *batch[T]) ended(t, row int) bool { return b.lengths != nil && t >= int(b.lengths[row]) }

// lstmUnits computes a step. The gates are those for the input, for forgetting,
// for the new memory and for the output. It stores these, the memory before the
// step and the tanh of the memory after it in kept, unless that is nil.
func lstmUnits[T float](x, r, h, memory, kept []T) {
	n := len(h)
	for u := range h {
		i, f := sigmoid(x[u]+r[u]), sigmoid(x[n+u]+r[n+u])
		g, o := tanh(x[2*n+u]+r[2*n+u]), sigmoid(x[3*n+u]+r[3*n+u])
		before := memory[u]
		memory[u] = f*before + i*g
		m := tanh(memory[u])
		h[u] = o * m
		if kept != nil {
			kept[u], kept[n+u], kept[2*n+u], kept[3*n+u], kept[4*n+u], kept[5*n+u] = i, f, g, o, before, m
		}
	}
}

// gruUnits computes a step. The gates are those for resetting, for keeping, and
// for the new state. The reset is applied after the product with the state. It
// stores the gates and that product in kept, unless that is nil.
func gruUnits[T float](x, r, h, kept []T) {
	n := len(h)
	for u := range h {
		reset, keep := sigmoid(x[u]+r[u]), sigmoid(x[n+u]+r[n+u])
		next := tanh(x[2*n+u] + reset*r[2*n+u])
		if kept != nil {
			kept[u], kept[n+u], kept[2*n+u], kept[3*n+u] = reset, keep, next, r[2*n+u]
		}
		h[u] = next + keep*(h[u]-next)
	}
}
