package rnn

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of GRUBlockCell and GRUBlockCellGrad. The columns of w_ru are
// those of gate r, then those of gate u, as in TensorFlow.

// gru is a cell of gated recurrent units with the weights of one call. x is
// [batch, inputs], h [batch, units], wru [inputs+units, 2*units], wc
// [inputs+units, units].
type gru struct {
	batch, inputs, units int
	x, h, wru, wc        []float32
	bru, bc              []float32
}

// newGRU checks and reads inputs 0 to 5.
func newGRU(c *engine.Call) (*gru, error) {
	x, h := c.In(0).Shape(), c.In(1).Shape()
	if len(x) != 2 || len(h) != 2 {
		return nil, fmt.Errorf("x has shape %v and h_prev %v, both must be matrices", x, h)
	}
	n, d := h[1], tensor.Float32
	if err := all(dims(c, 0, "x", d, x...), dims(c, 1, "h_prev", d, x[0], n), dims(c, 2, "w_ru", d, x[1]+n, 2*n),
		dims(c, 3, "w_c", d, x[1]+n, n), dims(c, 4, "b_ru", d, 2*n), dims(c, 5, "b_c", d, n)); err != nil {
		return nil, err
	}
	v := func(i int) []float32 { return tensor.Values[float32](c.In(i)) }
	return &gru{x[0], x[1], n, v(0), v(1), v(2), v(3), v(4), v(5)}, nil
}

// join returns rows of x, each followed by a row of h.
func (g *gru) join(c *engine.Call, h []float32) []float32 {
	out := zeroed[float32](c, g.batch*(g.inputs+g.units))
	for r := range g.batch {
		row := out[r*(g.inputs+g.units):]
		copy(row, g.x[r*g.inputs:][:g.inputs])
		copy(row[g.inputs:], h[r*g.units:][:g.units])
	}
	return out
}

// gruCell returns r, u, c and the new state, each [batch, units].
func gruCell(c *engine.Call) error {
	if err := c.Need(6); err != nil {
		return err
	}
	g, err := newGRU(c)
	if err != nil {
		return err
	}
	var outs [4][]float32
	for i := range outs {
		if outs[i], _, err = output[float32](c, i, tensor.Float32, g.batch, g.units); err != nil {
			return err
		}
	}
	r, u, cell, h := outs[0], outs[1], outs[2], outs[3]
	n, k := g.units, g.inputs+g.units
	ru := zeroed[float32](c, g.batch*2*n)
	addProduct(c, ru, g.join(c, g.h), k, false, g.wru, 2*n, false, g.batch, 2*n, k)
	addRow(ru, g.bru)
	reset := zeroed[float32](c, g.batch*n)
	for i := range reset {
		row := ru[i/n*2*n:]
		r[i], u[i] = sigmoid(row[i%n]), sigmoid(row[n+i%n])
		reset[i] = r[i] * g.h[i]
	}
	addProduct(c, cell, g.join(c, reset), k, false, g.wc, n, false, g.batch, n, k)
	addRow(cell, g.bc)
	for i := range cell {
		cell[i] = tanh(cell[i])
		h[i] = u[i]*(g.h[i]-cell[i]) + cell[i]
	}
	return nil
}

// gruCellGrad returns the gradients by x, by the state, by c before its tanh,
// and by both gates before their sigmoids.
func gruCellGrad(c *engine.Call) error {
	if err := c.Need(10); err != nil {
		return err
	}
	g, err := newGRU(c)
	if err != nil {
		return err
	}
	n, k := g.units, g.inputs+g.units
	for i, name := range []string{"r", "u", "c", "d_h"} {
		err = all(err, dims(c, 6+i, name, tensor.Float32, g.batch, n))
	}
	if err != nil {
		return err
	}
	var outs [4][]float32
	for i, w := range []int{g.inputs, n, n, 2 * n} {
		if outs[i], _, err = output[float32](c, i, tensor.Float32, g.batch, w); err != nil {
			return err
		}
	}
	v := func(i int) []float32 { return tensor.Values[float32](c.In(i)) }
	r, u, cell, dh := v(6), v(7), v(8), v(9)
	dx, dhPrev, dc, dru := outs[0], outs[1], outs[2], outs[3]
	for i := range dc {
		dc[i] = dh[i] * (1 - u[i]) * (1 - cell[i]*cell[i])
	}
	byCell := zeroed[float32](c, g.batch*k) // by x and r∘h
	addProduct(c, byCell, dc, n, false, g.wc, n, true, g.batch, k, n)
	for i := range dc {
		dhr := byCell[i/n*k+g.inputs+i%n]
		dru[i/n*2*n+i%n] = dhr * g.h[i] * r[i] * (1 - r[i])
		dru[i/n*2*n+n+i%n] = dh[i] * (g.h[i] - cell[i]) * u[i] * (1 - u[i])
	}
	byGates := zeroed[float32](c, g.batch*k)
	addProduct(c, byGates, dru, 2*n, false, g.wru, 2*n, true, g.batch, k, 2*n)
	for i := range dx {
		at := i/g.inputs*k + i%g.inputs
		dx[i] = byCell[at] + byGates[at]
	}
	for i := range dhPrev {
		at := i/n*k + g.inputs + i%n
		dhPrev[i] = byGates[at] + byCell[at]*r[i] + dh[i]*u[i]
	}
	return nil
}
