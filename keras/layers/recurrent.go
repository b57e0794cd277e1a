package layers

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// sequence has the settings that all recurrent layers share. config.CopyFields copies them by their
// names, so the fields must have the names of the layers' fields.
type sequence struct {
	ReturnSequences, ReturnState, GoBackwards, Stateful, Unroll, TimeMajor, ZeroOutputForMask bool
	NumConstants                                                                              int
}

// recurrent is the part that all recurrent layers share: it goes over the time steps of
// the input with a cell.
type recurrent struct {
	// States are the states of a stateful layer, nil until it is built. tf_keras doesn't
	// count them as weights.
	States []*trackable.Variable `cairn:"-" keras:"-"`

	cell  Cell        `cairn:"-"`
	layer *base.Layer `cairn:"-"`
	seq   sequence
	whole bool // dropout has masks for all steps, as in tf_keras's LSTM and GRU
}

// begin sets the state that the methods need, from the fields of the layer
// self.
func (r *recurrent) begin(self base.LayerLike, cell Cell) {
	config.CopyFields(&r.seq, self)
	r.layer, r.cell = self.AsLayer(), cell
}

// adopt makes cell the inner layer of l, with the settings that both have and a name.
func adopt[C interface {
	Cell
	comparable
}](l base.LayerLike, to *C, cell C, name string) error {
	config.CopyFields(cell, l)
	c := cell.AsLayer()
	c.Name, c.BatchInputShape = name, nil
	return l.AsLayer().TrackableNode().Add(cell, func() (string, error) {
		*to = cell
		return "cell", nil
	})
}

// axes returns the dimensions of the batch and of the time.
func (r *recurrent) axes() (batch, time int) {
	if r.seq.TimeMajor {
		return 1, 0
	}
	return 0, 1
}

// BuildLayer builds the cell, and the states of a stateful layer.
func (r *recurrent) BuildLayer(s *ops.Scope, in base.Shapes) error {
	if len(in) == 0 || in[0] == nil {
		return errors.New("the rank of the input isn't known")
	}
	if len(in[0]) < 3 {
		return fmt.Errorf("the input has the shape %v, want a batch's dimension, time and features", in[0])
	}
	batch, _ := r.axes()
	step := append(tensor.Shape{in[0][batch]}, in[0][2:]...)
	if given := r.layer.BatchInputShape; step[0] < 0 && len(given) == len(in[0]) {
		step[0] = given[batch]
	}
	if err := base.Build(s, r.cell, step); err != nil {
		return err
	}
	if !r.seq.Stateful {
		return nil
	}
	if step[0] < 0 {
		return errors.New("a stateful layer must know the batch's size; trace with a spec that has it, or build the layer before")
	}
	var states []*trackable.Variable
	for _, shape := range r.cell.StateShapes(step) {
		zero, err := tensor.Zeros(r.layer.DType.Variables(), append(tensor.Shape{step[0]}, shape...)...)
		if err != nil {
			return err
		}
		states = append(states, trackable.NewVariable(zero).SetTrainable(false))
	}
	r.States = states
	return nil
}

// RaggedSteps returns how many outputs for a ragged input are ragged.
func (r *recurrent) RaggedSteps() (outputs int, backwards bool, err error) { return r.seq.ragged(1) }

// ragged returns n as outputs if sequences are returned, else 0, and whether the layer goes
// backwards.
func (q *sequence) ragged(n int) (outputs int, backwards bool, err error) {
	switch {
	case q.TimeMajor || q.Unroll:
		return 0, false, errors.New("the input is ragged, and TimeMajor or Unroll is set")
	case q.ReturnSequences:
		return n, q.GoBackwards, nil
	}
	return 0, false, nil
}

// IsStateful reports whether the layer is stateful and built.
func (r *recurrent) IsStateful() bool { return r.States != nil }

// StateVariables returns the states of a stateful layer that is built, nil for others.
func (r *recurrent) StateVariables() []*trackable.Variable { return r.States }

// ResetStates sets the states of a stateful layer. Without arguments they become zeros. The layer
// must be built and stateful.
func (r *recurrent) ResetStates(states ...*tensor.Tensor) error {
	switch {
	case r.layer == nil || r.States == nil:
		return errors.New("ResetStates: the layer isn't built or isn't stateful")
	case len(states) > 0 && len(states) != len(r.States):
		return fmt.Errorf("ResetStates: got %d states, want %d", len(states), len(r.States))
	}
	for i, v := range r.States {
		value, err := tensor.Zeros(v.DType(), v.Shape()...)
		if len(states) > 0 {
			value, err = states[i].Clone(), nil
		}
		if err == nil {
			err = v.Store(value)
		}
		if err != nil {
			return fmt.Errorf("ResetStates: state %d: %w", i, err)
		}
	}
	return nil
}

// ComputeMask returns the mask of the input for a sequence of outputs.
func (r *recurrent) ComputeMask(_ *ops.Scope, c *base.Invocation, _ []*ops.Value) []*ops.Value {
	if !r.seq.ReturnSequences {
		return nil
	}
	return c.Masks[:1]
}

// FoldCall moves initial states from the arguments to the inputs, as tf_keras does.
func (r *recurrent) FoldCall(inputs []ops.Input, args map[string]any) ([]ops.Input, map[string]any) {
	return foldStates(inputs, args)
}

// foldStates moves the argument initial_state to the inputs, unless there are constants.
func foldStates(inputs []ops.Input, args map[string]any) ([]ops.Input, map[string]any) {
	if args["constants"] != nil || len(inputs) != 1 {
		return inputs, args
	}
	switch states := args["initial_state"].(type) {
	case *ops.Value:
		inputs = append(inputs, states)
	case []*ops.Value:
		for _, v := range states {
			inputs = append(inputs, v)
		}
	case []ops.Input:
		inputs = append(inputs, states...)
	default:
		return inputs, args
	}
	delete(args, "initial_state")
	return inputs, args
}

// ComputeAll goes over the time steps. The first input is [batch, time, …]; further ones
// are the initial states and then the constants, which can also be the call arguments
// initial_state and constants. The results are the outputs or the last output, and the
// last states if they are to be returned.
func (r *recurrent) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail("RNN", err)} }
	if err := c.CheckArgs("initial_state", "constants"); err != nil {
		return fail(err)
	}
	states, err := argument(s, r.layer, c, "initial_state")
	if err != nil {
		return fail(err)
	}
	constants, err := argument(s, r.layer, c, "constants")
	if err != nil {
		return fail(err)
	}
	if more := c.Inputs[1:]; len(more) > 0 {
		n := len(more) - r.seq.NumConstants
		if states != nil || constants != nil || n < 0 {
			return fail(fmt.Errorf("got %d inputs, want one, the initial states and %d constants, either as inputs or as arguments", len(c.Inputs), r.seq.NumConstants))
		}
		if constants = more[n:]; n > 0 {
			states = more[:n]
		}
	}
	x, mask := c.Inputs[0], c.Masks[0]
	if rank := x.Fact().Shape.Rank(); rank < 3 {
		return fail(fmt.Errorf("the input has the shape %v, want a batch's dimension, time and features", x.Fact().Shape))
	}
	if mask != nil && mask.DType() != tensor.Bool {
		mask = ops.Cast(s, mask, tensor.Bool)
	}
	if r.whole && !r.seq.Unroll {
		if d, ok := r.cell.(wholeDropper); ok {
			x = d.dropWhole(s, x)
		}
	}
	if !r.seq.TimeMajor {
		if x = swapTime(s, x); mask != nil {
			mask = swapTime(s, mask)
		}
	}
	reverse := func(x *ops.Value) *ops.Value {
		if x == nil || !r.seq.GoBackwards {
			return x
		}
		return ops.Reverse(s, x, 0)
	}
	x = reverse(x)
	call := &CellCall{Input: ops.StridedSlice(s, x, ops.At(0)), Constants: constants, dropped: r.whole && !r.seq.Unroll}
	if s.Err() != nil {
		return fail(s.Err())
	}
	call.States = r.firstStates(s, call.Input, states)
	if s.Err() != nil {
		return fail(s.Err())
	}
	if err := checkStates(r.cell, call.Input, call.States, constants); err != nil {
		return fail(err)
	}
	x, call.Input = castTo(s, r.cell.AsLayer(), x), castTo(s, r.cell.AsLayer(), call.Input)
	l := &timeLoop{sequence: r.seq, cell: r.cell, mask: reverse(mask), given: mask}
	out, last := l.run(s, call, x)
	if s.Err() != nil {
		return fail(s.Err())
	}
	if r.seq.Stateful {
		for i, v := range r.States {
			ops.Assign(s, v, ops.Cast(s, last[i], v.DType()))
		}
	}
	if r.seq.ReturnSequences && !r.seq.TimeMajor {
		out = swapTime(s, out)
	}
	if r.seq.ReturnState {
		return append([]*ops.Value{out}, last...)
	}
	return []*ops.Value{out}
}

// wholeDropper is implemented by cells that can drop parts of the inputs of all steps.
type wholeDropper interface {
	dropWhole(s *ops.Scope, x *ops.Value) *ops.Value
}

// swapTime exchanges the first two dimensions.
func swapTime(s *ops.Scope, x *ops.Value) *ops.Value {
	perm := []int{1, 0}
	for i := 2; i < x.Fact().Shape.Rank(); i++ {
		perm = append(perm, i)
	}
	return ops.Transpose(s, x, perm...)
}

// firstStates returns the states before the first step: those of a stateful layer, unless
// all are zero and the caller passes others, then those of the caller, then zeros.
func (r *recurrent) firstStates(s *ops.Scope, x *ops.Value, given []*ops.Value) []*ops.Value {
	if !r.seq.Stateful {
		if given != nil {
			return given
		}
		return zeroStates(s, r.cell, x)
	}
	held := make([]*ops.Value, len(r.States))
	var set *ops.Value
	for i, v := range r.States {
		held[i] = ops.Const(s, r.layer.Read(s, v))
		some := ops.Any(s, ops.NotEqual(s, held[i], 0))
		if set == nil {
			set = some
		} else {
			set = ops.Or(s, set, some)
		}
	}
	if given == nil {
		return held
	}
	if len(given) != len(held) {
		s.Fail("RNN", fmt.Errorf("got %d initial states, want %d", len(given), len(held)))
		return held
	}
	return ops.If(s, set, func(*ops.Scope) []*ops.Value { return held }, func(*ops.Scope) []*ops.Value { return given })
}

// timeLoop goes over the time steps of one call. It treats masks, zeros and the output before the
// first step as tf_keras's backend.rnn does.
type timeLoop struct {
	sequence
	cell  Cell
	mask  *ops.Value // [time, batch, …] in the order of the steps, nil for none
	given *ops.Value // the mask in the order of the input
}

// run returns the outputs [time, batch, …] or the last output, and the last states. x is
// [time, batch, …] in the order of the steps.
func (l *timeLoop) run(s *ops.Scope, call *CellCall, x *ops.Value) (out *ops.Value, last []*ops.Value) {
	var step Step
	if p, ok := l.cell.(projector); ok {
		x, step = p.project(s, call, x)
	} else {
		step = l.cell.Begin(s, call)
	}
	return l.over(s, step, x, call.States, func() *ops.Value { return zeroOutput(s, l.cell, call) })
}

// over goes over the slices of x with a step. zero returns the output before the first.
func (l *timeLoop) over(s *ops.Scope, step Step, x *ops.Value, states []*ops.Value, zero func() *ops.Value) (out *ops.Value, last []*ops.Value) {
	if s.Err() != nil {
		return nil, nil
	}
	// tf_keras's unrolled form repeats the last output at masked steps, and puts zeros
	// there at the end; its loop has zeros from the start.
	zeroAtOnce := l.ZeroOutputForMask && !l.Unroll
	carries := !l.ReturnSequences || l.mask != nil
	xs := []*ops.Value{x}
	if l.mask != nil {
		xs = append(xs, l.mask)
	}
	initial := states
	if carries {
		initial = append([]*ops.Value{zero()}, states...)
	}
	end, outs := ops.Loop(s, initial, xs, func(s *ops.Scope, state, x []*ops.Value) (next, out []*ops.Value) {
		before := state
		var previous *ops.Value
		if carries {
			previous, before = state[0], state[1:]
		}
		y, after := step(s, x[0], before)
		if s.Err() != nil {
			return nil, nil
		}
		if l.mask != nil {
			if zeroAtOnce {
				previous = ops.ZerosLike(s, y)
			}
			y = whereMask(s, x[1], y, previous)
			kept := make([]*ops.Value, len(after))
			for i := range after {
				kept[i] = whereMask(s, x[1], after[i], before[i])
			}
			after = kept
		}
		if next = after; carries {
			next = append([]*ops.Value{y}, after...)
		}
		if l.ReturnSequences {
			out = []*ops.Value{y}
		}
		return next, out
	}, &ops.LoopOptions{Unroll: l.Unroll})
	if s.Err() != nil {
		return nil, nil
	}
	if last = end; carries {
		out, last = end[0], end[1:]
	}
	if l.ReturnSequences {
		out = outs[0]
	}
	if l.mask != nil && l.ZeroOutputForMask && l.Unroll {
		// tf_keras doesn't reverse this mask for a sequence that goes backwards.
		mask := l.given
		if !l.ReturnSequences {
			mask = ops.StridedSlice(s, l.mask, ops.At(-1))
		}
		out = whereMask(s, mask, out, ops.ZerosLike(s, out))
	}
	return out, last
}

// whereMask returns x if the mask is true and y otherwise. The mask's dimensions are
// the first ones of x.
func whereMask(s *ops.Scope, mask, x, y *ops.Value) *ops.Value {
	for mask.Fact().Shape.Rank() < x.Fact().Shape.Rank() && s.Err() == nil {
		mask = ops.ExpandDims(s, mask, -1)
	}
	return ops.Where(s, mask, x, y)
}

// zeroOutput returns zeros of the shape of a cell's output.
func zeroOutput(s *ops.Scope, cell Cell, call *CellCall) *ops.Value {
	if _, other := cell.(OutputShaper); other {
		return zerosFor(s, call.States[0], outputShape(cell, call.Input.Shape()))
	}
	return ops.ZerosLike(s, call.States[0])
}
