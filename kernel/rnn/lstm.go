package rnn

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of LSTMBlockCell, BlockLSTM and BlockLSTMV2, and of their gradients. The order of
// gates is an op's and must stay.

// layout has the place of each gate among the four blocks of columns of a
// weight matrix.
type layout struct{ input, cell, forget, output int }

var (
	// icfo is the layout of LSTMBlockCell and BlockLSTM, ifco that of BlockLSTMV2.
	icfo = layout{0, 1, 2, 3}
	ifco = layout{0, 2, 1, 3}
)

// lstm is a layer of an LSTM with the weights of one call.
type lstm struct {
	layout
	batch, inputs, units int

	w, b             []float32
	peepholes        bool
	wci, wcf, wco    []float32
	forgetBias, clip float32
	gates, xh        []float32 // scratch memory of a step
}

// newLSTM reads the weights, which begin at the given input: w, wci, wcf, wco
// and b.
func newLSTM(c *engine.Call, l layout, batch, inputs, units, from int) (*lstm, error) {
	d := c.In(from).DType()
	if d != tensor.Float32 && d != tensor.Float16 {
		return nil, &engine.UnsupportedTypeError{Attr: "T", Type: d, Known: []tensor.DType{tensor.Float16, tensor.Float32}}
	}
	if err := all(dims(c, from, "w", d, inputs+units, 4*units), dims(c, from+1, "wci", d, units), dims(c, from+2, "wcf", d, units),
		dims(c, from+3, "wco", d, units), dims(c, from+4, "b", d, 4*units)); err != nil {
		return nil, err
	}
	a := c.Attrs()
	return &lstm{
		layout: l, batch: batch, inputs: inputs, units: units,
		w: values[float32](c, c.In(from)), b: values[float32](c, c.In(from+4)), peepholes: a.Bool("use_peephole"),
		wci: values[float32](c, c.In(from+1)), wcf: values[float32](c, c.In(from+2)), wco: values[float32](c, c.In(from+3)),
		gates: zeroed[float32](c, batch*4*units), xh: zeroed[float32](c, batch*(inputs+units)),
	}, nil
}

// step is the state of a layer at one time: matrices with a row for each
// example. The fields are the outputs of the ops, in their order.
type step struct{ i, cs, f, o, ci, co, h []float32 }

// join writes rows of x, each followed by a row of h, to xh.
func (l *lstm) join(x, h []float32) {
	for r := range l.batch {
		row := l.xh[r*(l.inputs+l.units):]
		copy(row, x[r*l.inputs:][:l.inputs])
		copy(row[l.inputs:], h[r*l.units:][:l.units])
	}
}

// forward computes a step from the input and the state before it.
func (l *lstm) forward(c *engine.Call, x, csPrev, hPrev []float32, s step) {
	n := l.units
	l.join(x, hPrev)
	clear(l.gates)
	addProduct(c, l.gates, l.xh, l.inputs+n, false, l.w, 4*n, false, l.batch, 4*n, l.inputs+n)
	addRow(l.gates, l.b)
	c.Parallel(l.batch, float64(n)*60, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row := l.gates[r*4*n:][:4*n]
			for u := range n {
				k := r*n + u
				i, f, o := row[l.input*n+u], row[l.layout.forget*n+u]+l.forgetBias, row[l.output*n+u]
				if l.peepholes {
					i += csPrev[k] * l.wci[u]
					f += csPrev[k] * l.wcf[u]
				}
				s.i[k], s.f[k], s.ci[k] = sigmoid(i), sigmoid(f), tanh(row[l.cell*n+u])
				cs := s.i[k]*s.ci[k] + s.f[k]*csPrev[k]
				if l.clip > 0 {
					cs = max(min(cs, l.clip), -l.clip)
				}
				if l.peepholes {
					o += cs * l.wco[u]
				}
				s.cs[k], s.co[k], s.o[k] = cs, tanh(cs), sigmoid(o)
				s.h[k] = s.o[k] * s.co[k]
			}
		}
	})
}

// backward computes the gradients of a step by the gates and by the cell state
// before it. It adds those by the peepholes to their slices. The gradient
// ignores the clip.
func (l *lstm) backward(csPrev []float32, s step, csGrad, hGrad, dgates, csPrevGrad, dwci, dwcf, dwco []float32) {
	n := l.units
	for r := range l.batch {
		row := dgates[r*4*n:][:4*n]
		for u := range n {
			k := r*n + u
			i, f, o, ci, co := s.i[k], s.f[k], s.o[k], s.ci[k], s.co[k]
			do := o * (1 - o) * hGrad[k] * co
			dcs := (1-co*co)*hGrad[k]*o + csGrad[k]
			if l.peepholes {
				dcs += do * l.wco[u]
			}
			dci := (1 - ci*ci) * dcs * i
			df := f * (1 - f) * dcs * csPrev[k]
			di := i * (1 - i) * dcs * ci
			row[l.input*n+u], row[l.cell*n+u], row[l.layout.forget*n+u], row[l.output*n+u] = di, dci, df, do
			csPrevGrad[k] = dcs * f
			if l.peepholes {
				csPrevGrad[k] += di*l.wci[u] + df*l.wcf[u]
				dwci[u] += di * csPrev[k]
				dwcf[u] += df * csPrev[k]
				dwco[u] += do * s.cs[k]
			}
		}
	}
}

// at returns step t of seven sequences of steps.
func at(all [7][]float32, t, size int) step {
	of := func(i int) []float32 { return all[i][t*size:][:size] }
	return step{of(0), of(1), of(2), of(3), of(4), of(5), of(6)}
}

// blockCell checks the inputs that LSTMBlockCell and its gradient share, and returns the
// layer.
func blockCell(c *engine.Call, inputs int) (*lstm, error) {
	if err := c.Need(inputs); err != nil {
		return nil, err
	}
	x, cs := c.In(0).Shape(), c.In(1).Shape()
	if len(x) != 2 || len(cs) != 2 {
		return nil, fmt.Errorf("x has shape %v and cs_prev %v, both must be matrices", x, cs)
	}
	l, err := newLSTM(c, icfo, x[0], x[1], cs[1], 3)
	if err != nil {
		return nil, err
	}
	d := c.In(3).DType()
	return l, all(dims(c, 0, "x", d, l.batch, l.inputs), dims(c, 1, "cs_prev", d, l.batch, l.units), dims(c, 2, "h_prev", d, l.batch, l.units))
}

// lstmCell computes one step.
func lstmCell(c *engine.Call) error {
	l, err := blockCell(c, 8)
	if err != nil {
		return err
	}
	d, batch, units := c.In(3).DType(), l.batch, l.units
	l.forgetBias, l.clip = float32(c.Attrs().Float("forget_bias", 1)), float32(c.Attrs().Float("cell_clip", 3))
	var outs [7][]float32
	for i := range outs {
		var done func()
		if outs[i], done, err = output[float32](c, i, d, batch, units); err != nil {
			return err
		}
		defer done()
	}
	l.forward(c, values[float32](c, c.In(0)), values[float32](c, c.In(1)), values[float32](c, c.In(2)), at(outs, 0, batch*units))
	return nil
}

// lstmCellGrad returns the gradients by the cell state before, by the gates and by the peepholes.
func lstmCellGrad(c *engine.Call) error {
	l, err := blockCell(c, 16)
	if err != nil {
		return err
	}
	d, batch, units := c.In(3).DType(), l.batch, l.units
	for i, name := range []string{"i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"} {
		err = all(err, dims(c, 8+i, name, d, batch, units))
	}
	if err != nil {
		return err
	}
	var outs [5][]float32
	for i, s := range []tensor.Shape{{batch, units}, {batch, 4 * units}, {units}, {units}, {units}} {
		var done func()
		if outs[i], done, err = output[float32](c, i, d, s...); err != nil {
			return err
		}
		defer done()
	}
	v := func(i int) []float32 { return values[float32](c, c.In(i)) }
	l.backward(v(1), step{i: v(8), cs: v(9), f: v(10), o: v(11), ci: v(12), co: v(13)}, v(14), v(15), outs[1], outs[0], outs[2], outs[3], outs[4])
	return nil
}

// sequence checks the inputs that BlockLSTM and its gradient share. It returns
// the layer, the number of steps that run and the number of all steps.
func sequence(c *engine.Call, o layout) (l *lstm, steps, times int, err error) {
	most, err := shapes.Int(c.In(0), "seq_len_max")
	if err != nil {
		return nil, 0, 0, err
	}
	x, cs := c.In(1).Shape(), c.In(2).Shape()
	if len(x) != 3 || len(cs) != 2 {
		return nil, 0, 0, fmt.Errorf("x has shape %v and cs_prev %v; they must have 3 and 2 dimensions", x, cs)
	}
	if most < 0 || most > int64(x[0]) {
		return nil, 0, 0, fmt.Errorf("seq_len_max is %d, of a sequence of %d", most, x[0])
	}
	if l, err = newLSTM(c, o, x[1], x[2], cs[1], 4); err != nil {
		return nil, 0, 0, err
	}
	d := c.In(4).DType()
	err = all(dims(c, 1, "x", d, x...), dims(c, 2, "cs_prev", d, l.batch, l.units), dims(c, 3, "h_prev", d, l.batch, l.units))
	return l, int(most), x[0], err
}

// blockLSTM returns the kernel that runs a layer over a sequence. Outputs after
// the last step are zero.
func blockLSTM(o layout) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(9); err != nil {
			return err
		}
		l, steps, times, err := sequence(c, o)
		if err != nil {
			return err
		}
		l.clip = float32(c.Attrs().Float("cell_clip", 0))
		if o == icfo {
			l.forgetBias, l.clip = float32(c.Attrs().Float("forget_bias", 1)), float32(c.Attrs().Float("cell_clip", 3))
		}
		var outs [7][]float32
		for i := range outs {
			var done func()
			if outs[i], done, err = output[float32](c, i, c.In(4).DType(), times, l.batch, l.units); err != nil {
				return err
			}
			defer done()
		}
		x, cs, h := values[float32](c, c.In(1)), values[float32](c, c.In(2)), values[float32](c, c.In(3))
		for t := range steps {
			if err := c.Context().Err(); err != nil {
				return err
			}
			s := at(outs, t, l.batch*l.units)
			l.forward(c, x[t*l.batch*l.inputs:][:l.batch*l.inputs], cs, h, s)
			cs, h = s.cs, s.h
		}
		return nil
	}
}

// blockLSTMGrad returns the kernel that runs a layer backwards.
func blockLSTMGrad(o layout) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(18); err != nil {
			return err
		}
		l, steps, times, err := sequence(c, o)
		if err != nil {
			return err
		}
		d, n := c.In(4).DType(), l.units
		for i, name := range []string{"i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"} {
			err = all(err, dims(c, 9+i, name, d, times, l.batch, n))
		}
		if err != nil {
			return err
		}
		var outs [8][]float32
		for i, s := range []tensor.Shape{{times, l.batch, l.inputs}, {l.batch, n}, {l.batch, n}, {l.inputs + n, 4 * n}, {n}, {n}, {n}, {4 * n}} {
			var done func()
			if outs[i], done, err = output[float32](c, i, d, s...); err != nil {
				return err
			}
			defer done()
		}
		v := func(i int) []float32 { return values[float32](c, c.In(i)) }
		states := [7][]float32{v(9), v(10), v(11), v(12), v(13), v(14), v(15)}
		x, cs0, h0, csGrads, hGrads := v(1), v(2), v(3), v(16), v(17)
		size := l.batch * n
		csGrad, hGrad, dxh := zeroed[float32](c, size), zeroed[float32](c, size), zeroed[float32](c, len(l.xh))
		dcs, dh := outs[1], outs[2]
		for t := steps - 1; t >= 0; t-- {
			if err := c.Context().Err(); err != nil {
				return err
			}
			cs, h := cs0, h0
			if t > 0 {
				before := at(states, t-1, size)
				cs, h = before.cs, before.h
			}
			for i := range size {
				csGrad[i], hGrad[i] = dcs[i]+csGrads[t*size+i], dh[i]+hGrads[t*size+i]
			}
			l.backward(cs, at(states, t, size), csGrad, hGrad, l.gates, dcs, outs[4], outs[5], outs[6])
			clear(dxh)
			addProduct(c, dxh, l.gates, 4*n, false, l.w, 4*n, true, l.batch, l.inputs+n, 4*n)
			for r := range l.batch {
				row := dxh[r*(l.inputs+n):]
				copy(outs[0][(t*l.batch+r)*l.inputs:][:l.inputs], row)
				copy(dh[r*n:][:n], row[l.inputs:])
			}
			l.join(x[t*l.batch*l.inputs:], h)
			addProduct(c, outs[3], l.xh, l.inputs+n, true, l.gates, 4*n, false, l.inputs+n, 4*n, l.batch)
			for r := range l.batch {
				for j, g := range l.gates[r*4*n:][:4*n] {
					outs[7][j] += g
				}
			}
		}
		return nil
	}
}
