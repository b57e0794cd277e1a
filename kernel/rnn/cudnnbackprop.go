package rnn

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of CudnnRNNBackprop, CudnnRNNBackpropV2 and CudnnRNNBackpropV3. "By" means "with
// regard to": the gradients by the input, by the states.
//
// TensorFlow has these ops for GPUs only. kernel/testdata/tf2.21/gen_rnn.py records the gradients of
// layers of tf_keras with the same weights, and TestKernelsEqualTensorFlow compares with these. They
// are equal up to rounding (Accumulated), so the last bits may change. The outputs must stay: the
// gradients by input, input_h, input_c and params, the derivative of batch.run. newBatch refuses
// dropout between layers, so no mask is needed.

// steps has the numbers of a forward pass that a backward pass needs. batch.layer writes the rows
// and layerBack reads them: change both together. A row has the state before the step and then
//   - of an LSTM: gates i, f, g and o, the memory before the step, tanh of the memory after it;
//   - of a GRU: the reset gate, the gate for keeping, the new state's gate, and the product with
//     the state (with its bias) that the reset gate scales;
//   - of a plain network: the output.
type steps[T float] struct {
	in [][]T // by layers
	of [][]T // by cells: each step's rows of valuesPerUnit()·units numbers, which begin with the state before the step
}

// valuesPerUnit returns the number of values that are stored for each unit and step.
func (n *network) valuesPerUnit() int {
	switch n.mode {
	case "lstm":
		return 7
	case "gru":
		return 5
	}
	return 2
}

// prepareCudnnBackprop returns the kernel of the gradient of one of cuDNN's
// networks. It computes the forward pass again, and reads neither its results
// nor its reserved output.
func prepareCudnnBackprop(n *engine.Node) (func(*engine.Call) error, error) {
	call, err := newCudnn(n)
	if err != nil {
		return nil, err
	}
	inputs := 11
	if n.Op != "CudnnRNNBackprop" {
		inputs++
	}
	return call.kernel(inputs, runCudnnBackprop[float32], runCudnnBackprop[float64]), nil
}

// runCudnnBackprop returns the gradients by the input, the states, the memories and the parameters.
func runCudnnBackprop[T float](c *engine.Call, net *cudnn) error {
	b, err := newBatch[T](c, net)
	if err != nil {
		return err
	}
	at, d := 7, c.In(0).DType() // at is the number of output_backprop; sequence_lengths come before it
	if net.lengths {
		at++
	}
	err = all(dims(c, at, "output_backprop", d, b.outs...), dims(c, at+1, "output_h_backprop", d, b.state...))
	if err != nil {
		return err
	}
	out, h, cs := b.timed(c, c.In(at)), copied(c, b.timed(c, c.In(at+1))), []T(nil)
	if b.mode == "lstm" {
		if err := dims(c, at+2, "output_c_backprop", d, b.state...); err != nil {
			return err
		}
		cs = copied(c, b.timed(c, c.In(at+2)))
	}
	var kept steps[T]
	if _, _, _, err := b.run(c, cells(b.sized, b.p), &kept); err != nil {
		return err
	}
	params := zeroed[T](c, len(b.p))
	in, err := b.back(c, &kept, cells(b.sized, b.p), cells(b.sized, params), out, h, cs)
	if err == nil {
		err = b.give(c, 0, in, c.In(0).Shape())
	}
	if err == nil {
		err = b.give(c, 1, h, b.state)
	}
	if err == nil {
		err = b.give(c, 2, cs, c.In(2).Shape()) // zeros if the network has no memory
	}
	if err == nil {
		err = b.give(c, 3, params, tensor.Shape{len(params)})
	}
	return err
}

// copied returns a copy of v in the call's memory.
func copied[T float](c *engine.Call, v []T) []T {
	out := zeroed[T](c, len(v))
	copy(out, v)
	return out
}

// back returns the gradient by the input, from that by the outputs. It replaces
// the gradients by the last states with those by the first ones, and adds those
// by the parameters to grads.
func (b *batch[T]) back(c *engine.Call, kept *steps[T], list, grads []cell[T], out, h, cs []T) ([]T, error) {
	n := b.rows * b.units
	for l := b.layers - 1; l >= 0; l-- {
		in := zeroed[T](c, len(kept.in[l]))
		for d := range b.directions {
			i := l*b.directions + d
			var memory []T
			if b.mode == "lstm" {
				memory = cs[i*n:][:n]
			}
			err := b.layerBack(c, list[i], grads[i], kept.in[l], kept.of[i], out[d*min(b.units, len(out)):], h[i*n:][:n], memory, in, d == 1)
			if err != nil {
				return nil, err
			}
		}
		out = in
	}
	return out, nil
}

// layerBack visits the steps of a layer in one direction from the last to the
// first. It changes the gradients by state and memory, and adds to those by the
// input and by the cell.
func (b *batch[T]) layerBack(c *engine.Call, w, grad cell[T], in, kept, out, state, memory, dIn []T, backwards bool) error {
	n, wide, each := b.units, b.gates*b.units, b.units*b.valuesPerUnit()
	rows := b.times * b.rows
	x, before := zeroed[T](c, rows*wide), zeroed[T](c, rows*n)
	r := x // gradients by the product with the state: in a GRU alone they differ from x, those by the product with the input
	if b.mode == "gru" {
		r = zeroed[T](c, rows*wide)
	}
	for i := range b.times {
		if err := c.Context().Err(); err != nil {
			return err
		}
		t := b.times - 1 - i
		if backwards {
			t = i
		}
		c.Parallel(b.rows, float64(wide)*20, func(lo, hi int) {
			for row := lo; row < hi; row++ {
				if b.ended(t, row) {
					continue // the state didn't change
				}
				at := t*b.rows + row
				k, dh := kept[at*each:][:each], state[row*n:][:n]
				copy(before[at*n:][:n], k)
				for u, v := range out[at*n*b.directions:][:n] {
					dh[u] += v
				}
				dx, dr := x[at*wide:][:wide], r[at*wide:][:wide]
				switch b.mode {
				case "lstm":
					lstmBack(k[n:], dh, memory[row*n:][:n], dx)
				case "gru":
					gruBack(k, dh, dx, dr)
				case "rnn_relu":
					for u := range dh {
						if dx[u] = 0; k[n+u] > 0 {
							dx[u] = dh[u]
						}
						dh[u] = 0
					}
				case "rnn_tanh":
					for u := range dh {
						dx[u], dh[u] = dh[u]*(1-k[n+u]*k[n+u]), 0
					}
				}
			}
		})
		addProduct(c, state, r[t*b.rows*wide:][:b.rows*wide], wide, false, w.r, n, false, b.rows, n, wide)
	}
	addProduct(c, grad.w, x, wide, true, in, w.width, false, wide, w.width, rows)
	addProduct(c, grad.r, r, wide, true, before, n, false, wide, n, rows)
	addProduct(c, dIn, x, wide, false, w.w, w.width, false, rows, w.width, wide)
	sumRows(grad.bw, x)
	sumRows(grad.br, r)
	return nil
}

// sumRows adds each of the rows to sum.
func sumRows[T float](sum, rows []T) {
	for ; len(rows) >= len(sum) && len(sum) > 0; rows = rows[len(sum):] {
		for i, v := range rows[:len(sum)] {
			sum[i] += v
		}
	}
}

// lstmBack computes the gradients of a step by the gates, and replaces those by
// the state and the memory after the step with those before it. The state's
// gradient lacks the part that comes from its product with the weights.
func lstmBack[T float](kept, dh, dm, gates []T) {
	n := len(dh)
	for u := range dh {
		i, f, g, o, before, m := kept[u], kept[n+u], kept[2*n+u], kept[3*n+u], kept[4*n+u], kept[5*n+u]
		d := dm[u] + dh[u]*o*(1-m*m)
		gates[u], gates[n+u] = d*g*i*(1-i), d*before*f*(1-f)
		gates[2*n+u], gates[3*n+u] = d*i*(1-g*g), dh[u]*m*o*(1-o)
		dm[u], dh[u] = d*f, 0
	}
}

// gruBack works as lstmBack, for a GRU. Its gates have two gradients: by the product
// with the input, and by the product with the state.
func gruBack[T float](kept, dh, dx, dr []T) {
	n := len(dh)
	for u := range dh {
		before, reset, keep, next, product := kept[u], kept[n+u], kept[2*n+u], kept[3*n+u], kept[4*n+u]
		d := dh[u] * (1 - keep) * (1 - next*next)
		dx[u], dx[n+u], dx[2*n+u] = d*product*reset*(1-reset), dh[u]*(before-next)*keep*(1-keep), d
		dr[u], dr[n+u], dr[2*n+u] = dx[u], dx[n+u], d*reset
		dh[u] *= keep
	}
}
