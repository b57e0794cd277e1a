package layers

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Merge is the way in which the outputs of the two directions are joined.
type Merge string

// The ways to join the outputs of the two directions.
const (
	MergeConcat Merge = "concat" // one after the other, along the last dimension
	MergeSum    Merge = "sum"
	MergeMul    Merge = "mul"
	MergeAve    Merge = "ave"  // the mean
	MergeNone   Merge = "none" // two outputs; null in a config
)

// MarshalConfig returns the name, nil for MergeNone.
func (m Merge) MarshalConfig() (any, error) {
	if m == MergeNone {
		return nil, nil
	}
	return string(m), nil
}

// UnmarshalConfig reads the name or null.
func (m *Merge) UnmarshalConfig(v any) error {
	switch v {
	case nil:
		*m = MergeNone
	case "concat", "sum", "mul", "ave":
		*m = Merge(v.(string))
	default:
		return fmt.Errorf("got %v, want concat, sum, mul, ave or null", v)
	}
	return nil
}

// Bidirectional calls a recurrent layer and a copy that goes over the time steps in
// reverse order, and joins their outputs in the order of the steps. At steps that a mask
// ignores a sequence of outputs is 0.
type Bidirectional struct {
	base.Layer
	// Inner is the recurrent layer: an [LSTM], [GRU], [SimpleRNN], [RNN] or ConvLSTM, or a
	// program's layer with fields GoBackwards, ReturnSequences, ReturnState and Stateful.
	// It is required. The layer calls copies of it, so that its variables are not used.
	Inner base.Callable `keras:"layer" cairn:"-"`
	// MergeMode determines how the outputs are joined. Default: MergeConcat.
	MergeMode Merge `keras:",default=concat"`
	// NumConstants is the number of constants at the end of a call's inputs.
	NumConstants int `keras:",omitempty"`
	// BackwardLayer is copied for the reverse direction. Default: Inner, with the other
	// GoBackwards.
	BackwardLayer base.Callable `keras:",omitempty" cairn:"-"`

	// Forward and Backward are the layers that are called. The layer makes them.
	Forward, Backward directed `keras:"-" cairn:"-"`

	seq sequence
}

// directed is a layer for one direction.
type directed interface {
	base.LayerLike
	base.Callable
}

// CompleteLayer makes the layers of the two directions. Their names begin with "forward_" and
// "backward_", and their edges are forward_layer and backward_layer, as in tf_keras.
func (b *Bidirectional) CompleteLayer() error {
	forward, err := b.direction(b.Inner, "forward_")
	if err != nil {
		return err
	}
	source := b.BackwardLayer
	if source == nil {
		source = b.Inner
	} else if l, ok := source.(base.LayerLike); ok && l.AsLayer().Built() {
		return errors.New("the backward layer is built; the layer copies it without its variables")
	}
	backward, err := b.direction(source, "backward_")
	if err != nil {
		return err
	}
	var back sequence
	config.CopyFields(&b.seq, forward)
	config.CopyFields(&back, backward)
	if b.BackwardLayer == nil {
		back.GoBackwards = !b.seq.GoBackwards
	}
	switch {
	case b.seq.GoBackwards == back.GoBackwards:
		return fmt.Errorf("both layers have GoBackwards %v", back.GoBackwards)
	case b.seq.Stateful != back.Stateful || b.seq.ReturnSequences != back.ReturnSequences || b.seq.ReturnState != back.ReturnState:
		return errors.New("the layers differ in Stateful, ReturnSequences or ReturnState")
	}
	b.seq.ZeroOutputForMask, back.ZeroOutputForMask = b.seq.ReturnSequences, back.ReturnSequences
	config.CopyFields(forward, &b.seq)
	config.CopyFields(backward, &back)
	node := b.TrackableNode()
	if err := node.Attach("forward_layer", forward); err != nil {
		return err
	}
	if err := node.Attach("backward_layer", backward); err != nil {
		return err
	}
	b.Forward, b.Backward = forward, backward
	return nil
}

// direction returns a copy of a layer with a prefix to its name.
func (b *Bidirectional) direction(of base.Callable, prefix string) (directed, error) {
	l, ok := of.(directed)
	if !ok || !config.HasField(l, "go_backwards") {
		return nil, fmt.Errorf("the inner layer is a %T, want a recurrent layer, which has a field GoBackwards", of)
	}
	copied := config.Copy(l)
	name := l.AsLayer().Name
	if name == "" {
		name = base.AutomaticName(l)
	}
	copied.AsLayer().Name = prefix + name
	return copied, nil
}

// BuildLayer builds the layers of the two directions.
func (b *Bidirectional) BuildLayer(s *ops.Scope, in base.Shapes) error {
	if err := base.Build(s, b.Forward, in[0]); err != nil {
		return err
	}
	return base.Build(s, b.Backward, in[0])
}

// ResetStates sets the states of stateful layers. The first half of the arguments is for the
// forward layer. Without arguments all states become zeros.
func (b *Bidirectional) ResetStates(states ...*tensor.Tensor) error {
	if len(states)%2 != 0 {
		return fmt.Errorf("ResetStates: got %d states, want as many for each direction", len(states))
	}
	for i, l := range []directed{b.Forward, b.Backward} {
		r, ok := l.(interface {
			ResetStates(states ...*tensor.Tensor) error
		})
		if !ok {
			return fmt.Errorf("ResetStates: the layer is a %T, which has no states or isn't built", l)
		}
		half := len(states) / 2
		if err := r.ResetStates(states[i*half : (i+1)*half]...); err != nil {
			return err
		}
	}
	return nil
}

// Call returns the joined output, with MergeNone the forward one.
func (b *Bidirectional) Call(s *ops.Scope, x ops.Input) *ops.Value { return b.Run(s, b, x, nil) }

// ComputeMask returns the mask of the input for sequences of outputs.
func (b *Bidirectional) ComputeMask(_ *ops.Scope, c *base.Invocation, _ []*ops.Value) []*ops.Value {
	switch {
	case !b.seq.ReturnSequences:
		return nil
	case b.MergeMode == MergeNone:
		return []*ops.Value{c.Masks[0], c.Masks[0]}
	}
	return c.Masks[:1]
}

// FoldCall moves initial states from the arguments to the inputs, as tf_keras does.
func (b *Bidirectional) FoldCall(inputs []ops.Input, args map[string]any) ([]ops.Input, map[string]any) {
	return foldStates(inputs, args)
}

// RaggedSteps returns how many outputs for a ragged input are ragged.
func (b *Bidirectional) RaggedSteps() (outputs int, backwards bool, err error) {
	if b.MergeMode == MergeNone {
		return b.seq.ragged(2)
	}
	return b.seq.ragged(1)
}

// ComputeAll returns the joined output, or with MergeNone the two outputs, and with
// ReturnState the states of the forward and the backward layer. Further inputs are those of
// the inner layer. The initial states of the forward layer come first.
func (b *Bidirectional) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail("Bidirectional", err)} }
	if err := c.CheckArgs("initial_state", "constants"); err != nil {
		return fail(err)
	}
	states, err := argument(s, b.AsLayer(), c, "initial_state")
	if err != nil {
		return fail(err)
	}
	constants, err := argument(s, b.AsLayer(), c, "constants")
	if err != nil {
		return fail(err)
	}
	if more := c.Inputs[1:]; len(more) > 0 {
		n := len(more) - b.NumConstants
		if states != nil || constants != nil || n < 0 {
			return fail(fmt.Errorf("got %d inputs, want one, the initial states and %d constants, either as inputs or as arguments", len(c.Inputs), b.NumConstants))
		}
		states, constants = more[:n], more[n:]
	}
	if len(states)%2 != 0 {
		return fail(fmt.Errorf("got %d initial states, want as many for each direction", len(states)))
	}
	call := func(l directed, states []*ops.Value) []*ops.Value {
		opts := &base.CallOptions{Masks: c.Masks[:1], Args: map[string]any{}}
		if len(states) > 0 {
			opts.Args["initial_state"] = states
		}
		if len(constants) > 0 {
			opts.Args["constants"] = constants
		}
		return base.CallAll(s, l, c.Inputs[:1], opts)
	}
	half := len(states) / 2
	y, back := call(b.Forward, states[:half]), call(b.Backward, states[half:])
	if s.Err() != nil {
		return y
	}
	if b.seq.ReturnSequences {
		axis := 1
		if b.seq.TimeMajor {
			axis = 0
		}
		back[0] = ops.Reverse(s, back[0], axis)
	}
	var out []*ops.Value
	switch one, two := y[0], back[0]; b.MergeMode {
	case MergeConcat:
		out = []*ops.Value{ops.Concat(s, []*ops.Value{one, two}, -1)}
	case MergeSum:
		out = []*ops.Value{ops.Add(s, one, two)}
	case MergeMul:
		out = []*ops.Value{ops.Mul(s, one, two)}
	case MergeAve:
		out = []*ops.Value{ops.Div(s, ops.Add(s, one, two), 2)}
	case MergeNone:
		out = []*ops.Value{one, two}
	default:
		return fail(fmt.Errorf("unknown merge mode %q", b.MergeMode))
	}
	if b.seq.ReturnState {
		out = append(append(out, y[1:]...), back[1:]...)
	}
	return out
}
